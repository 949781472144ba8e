/**
 * What a person may type wherever line mode asks something, beside the answer: `mode yolo`, `pin ROOT::S4 human`,
 * `unpin ROOT::S4`, `review security`. What a mode would change is said first, and asked.
 */
import { MODES } from '../domain/mode.ts';
import type { Mode } from '../domain/mode.ts';
import type { AgentState, RunState } from '../events/state.ts';
import type { Command, Controls, ModePreview } from '../ports/controls.ts';
import { counted } from '../tui/format.ts';
import type { Io } from './io.ts';
import { harmless } from './io.ts';
import type { Asker } from './line-asker.ts';

/** A command of these, or the words that say what is wrong with it; null when it is something else: an answer. */
export function ruleCommand(typed: string, state: RunState): Command | string | null {
  const [verb = '', ...words] = typed.trim().split(/\s+/);
  const [first = '', second = ''] = words;
  const known = Object.hasOwn(WORDS, verb) && WORDS[verb] === words.length;
  if (!known) return null;
  if (verb === 'mode') return modeCommand(first);
  if (verb === 'review') return reviewCommand(first, state);
  return pinCommand(first, verb === 'unpin' ? null : second, state);
}

/** How many words follow each of them; with more or fewer it is an answer. */
const WORDS: Readonly<Record<string, number>> = { mode: 1, review: 1, unpin: 1, pin: 2 };

const modeOf = (word: string): Mode | undefined => MODES.find((mode) => mode === word);

const NO_MODE = `expected ${MODES.slice(0, -1).join(', ')} or ${MODES.at(-1) ?? ''}`;

function modeCommand(word: string): Command | string {
  const mode = modeOf(word);
  return mode === undefined ? `"${word}" is no mode: ${NO_MODE}` : { do: 'set mode', mode };
}

function pinCommand(path: string, word: string | null, { agents }: RunState): Command | string {
  const agent = [...agents.values()].find(({ id, name }: AgentState) => id === path || name === path);
  if (agent === undefined) return `there is no agent ${path}`;
  if (word === null) return { do: 'pin mode', agent: agent.id, mode: null };
  const mode = modeOf(word);
  return mode === undefined ? `"${word}" is no mode: ${NO_MODE}` : { do: 'pin mode', agent: agent.id, mode };
}

function reviewCommand(name: string, { plan }: RunState): Command | string {
  const forced = plan?.forced?.find(({ role }) => role === name);
  return forced === undefined ? `the rules here know no review ${name}` : { do: 'review', role: forced.role };
}

/** Carries it out, after a yes where it changes what asks. */
export async function carryRule(
  command: Command,
  { controls, asker, io, state }: { controls: Controls; asker: Asker; io: Io; state: RunState },
): Promise<void> {
  const preview = previewOf(command, controls, state);
  if (preview !== null) {
    for (const line of previewLines(command, preview, state)) io.say(line);
    if (preview.refused !== null) return;
    const typed = (await asker.ask('Change it? yes, anything else no: '))?.trim();
    if (typed !== 'yes') return io.say('  nothing changed');
  }
  const done = await controls.submit(command);
  if (done.ok) io.say(`  ${harmless(done.value.text)}`);
  else io.complain(`  ${harmless(done.fault.text)}`);
}

function previewOf(command: Command, controls: Controls, { mode }: RunState): ModePreview | null {
  if (command.do === 'set mode') return controls.previewMode(command.mode);
  return command.do === 'pin mode' ? controls.previewMode(command.mode ?? mode, command.agent) : null;
}

function previewLines(
  command: Command,
  { refused, changes, answers, looser }: ModePreview,
  state: RunState,
): readonly string[] {
  const whom =
    command.do === 'pin mode'
      ? `${command.agent} and all below it`
      : `the whole hierarchy: main, its ${counted(Math.max(0, state.agents.size - 1), 'agent')}, and those to come`;
  if (refused !== null) return [`  Not possible: ${harmless(refused)}`];
  return [
    `  This applies to ${whom}.${looser ? ' It asks less often:' : ''}`,
    ...changes.map((one) => `  - ${harmless(one)}`),
    ...(answers === 0 ? [] : [`  ! ${counted(answers, 'open question')} would be answered with yes at once`]),
  ];
}
