/** Commands to agents and to the run: messages, interrupt, resume, kill, retry, skip, stop; mode, pin and review, with what they would change. */
import { type Action, type AgentAction, killAgent } from '../../../app/actions/index.ts';
import { type Mode, MODES } from '../../../domain/mode.ts';
import type { AgentState } from '../../../events/state.ts';
import type { Command, Delivery, ModePreview } from '../../../ports/controls.ts';
import { counted } from '../../../app/views/text/format.ts';
import type { Parting } from '../run-ownership.ts';
import { SAYS_YES } from '../../../app/process/asker.ts';
import type { LineCommand, LineDesk, Place } from '../command.ts';
import { headOf } from './edits.ts';
import { agentFor } from './look.ts';
import { numbered, listed } from '../words/agents.ts';

const RUN: readonly Place[] = ['run'];
const GOES_ON: readonly Place[] = ['plan', 'run'];

/** What the full screen calls each delivery, and what it means. */
const DELIVERIES: Readonly<Record<string, Delivery>> = { later: 'sequential', next: 'important', now: 'urgent' };

export const ACT_COMMANDS: readonly LineCommand[] = [
  {
    name: 'message',
    short: ['msg', 'i', 'send'],
    arguments: 'N|all [now|next|later] TEXT',
    help: 'Writes to agent N or all: next is read at its next turn (the default), now interrupts it for that, later waits for the end of its work.',
    where: RUN,
    actions: [
      'run.message',
      'run.messageAll',
      'message.send',
      'message.delivery',
      'message.history',
      'message.editor',
      'message.leave',
      'message.clear',
    ],
    run: sendMessage,
  },
  steering('interrupt', ['pause'], 'Interrupts agent N; it can be resumed.', ['run.interrupt']),
  steering('resume', ['r', 'continue'], 'Lets agent N go on after an interruption.', ['run.resume']),
  steering('retry', ['R'], 'Tries agent N again after it failed.', ['run.retry']),
  steering('skip', [], 'Leaves out agent N, which has not begun, and what depends on it.', []),
  ofAgent(killAgent),
  {
    name: 'stop',
    short: ['X'],
    arguments: '',
    help: 'Stops the whole run, after a question; it can be gone on with later.',
    where: GOES_ON,
    actions: ['run.stop'],
    run: stopRun,
  },
  {
    name: 'detach',
    short: ['d'],
    arguments: '[now|stay]',
    help: 'Lets the run go on without this session, in a process of its own; mimir attach comes back to it. Waits for what runs: now does not, stay takes it back.',
    where: GOES_ON,
    actions: ['run.detach', 'plan.detach'],
    run: (word, desk) => {
      const how = DETACHING[word.trim()];
      return how === undefined ? desk.refuse(`"${word}" is no way to detach: now, stay, or nothing`) : desk.go(how);
    },
  },
  {
    name: 'here',
    short: [],
    arguments: '',
    help: 'Goes on in this process with a run whose own process was lost.',
    where: GOES_ON,
    actions: ['app.goOn'],
    run: goOnHere,
  },
  {
    name: 'mode',
    short: [],
    arguments: 'human|confirm|yolo',
    help: 'Changes how much is asked, for all agents; says first what that changes.',
    where: GOES_ON,
    actions: ['app.mode'],
    run: setMode,
  },
  {
    name: 'pin',
    short: ['P'],
    arguments: 'N human|confirm|yolo',
    help: 'Holds agent N and all below it to a stricter mode than the run; unpin N takes that back.',
    where: RUN,
    actions: ['run.pin'],
    run: (typed, desk) => pin(typed, desk, false),
  },
  {
    name: 'unpin',
    short: [],
    arguments: 'N',
    help: 'Lets agent N follow the mode of the run again.',
    where: RUN,
    actions: ['run.pin'],
    run: (typed, desk) => pin(typed, desk, true),
  },
  {
    name: 'review',
    short: ['V'],
    arguments: '[ROLE]',
    help: 'Starts a review that the rules leave to you, of all that changed in this run.',
    where: RUN,
    actions: ['run.review'],
    run: review,
  },
];

/** The command of an action on the agent whose number is typed. */
function ofAgent(action: AgentAction): LineCommand {
  return {
    name: action.word,
    short: action.short,
    arguments: 'N',
    help: action.help,
    where: RUN,
    actions: [action.id],
    run: (typed, desk) => {
      const agent = agentFor(desk, typed.trim());
      return agent === null ? undefined : confirmed(action, { agent: agent.id }, desk);
    },
  };
}

/** Does what the action says, after its question where it has one; or says why not. */
async function confirmed<Args>(action: Action<Args>, args: Args, desk: LineDesk): Promise<void> {
  const why = action.whyNot(desk.state, args);
  if (why !== null) return desk.refuse(why);
  const question = action.confirm?.(desk.state, args);
  if (question !== undefined) {
    const { title, lines, yes, no, word } = question;
    desk.say(...lines);
    const typed = (await desk.ask(`${title} Type ${word || 'yes'} to ${yes}, anything else to ${no}: `))?.trim() ?? '';
    if (word === '' ? !SAYS_YES.test(typed) : typed !== word) return desk.say('Nothing changed.');
  }
  await desk.submit(action.command(desk.state, args));
}

type Steer = Extract<Command, { readonly do: 'interrupt' | 'resume' | 'retry' | 'skip' }>['do'];

function steering(act: Steer, short: readonly string[], help: string, actions: readonly string[]): LineCommand {
  return {
    name: act,
    short,
    arguments: 'N',
    help,
    where: RUN,
    actions,
    run: async (typed, desk) => {
      const agent = agentFor(desk, typed.trim());
      if (agent !== null) await desk.submit({ do: act, agent: agent.id });
    },
  };
}

async function sendMessage(typed: string, desk: LineDesk): Promise<void> {
  const [whom, rest] = headOf(typed);
  const [word, after] = headOf(rest);
  const when = DELIVERIES[word];
  const text = when === undefined ? rest : after;
  const to = whom === 'all' ? ('all' as const) : agentFor(desk, whom)?.id;
  if (to === undefined) return;
  const written = text === '' ? ((await desk.ask(`Message to ${whom} (Enter sends none): `)) ?? '').trim() : text;
  if (written === '') return desk.say('Nothing sent.');
  await desk.submit({ do: 'message', to, text: written, delivery: when ?? 'important' });
}

async function stopRun(_: string, desk: LineDesk): Promise<void> {
  desk.say(
    'Every agent is stopped and the run ends. Its state is kept: mimir resume goes on from the last recorded turn.',
  );
  const answer = await desk.ask('Stop the run? Type kill, anything else keeps it running: ');
  if (answer?.trim() !== 'kill') return desk.say('It goes on.');
  await desk.submit({ do: 'stop run', reason: 'stopped by the person' });
}

async function goOnHere(_: string, desk: LineDesk): Promise<void> {
  const { session } = desk.state;
  if (desk.controls?.lost === undefined || session === null) return desk.refuse('this run goes on here already');
  await desk.go({ resume: session });
}

const DETACHING: Readonly<Record<string, Parting>> = { '': 'detach', now: 'detach now', stay: 'detach stay' };

const modeOf = (word: string): Mode | undefined => MODES.find((mode) => mode === word);
const NO_MODE = `expected ${listed(MODES)}`;

async function setMode(word: string, desk: LineDesk): Promise<void> {
  const mode = modeOf(word);
  if (mode === undefined)
    return desk.refuse(word === '' ? `the mode is ${desk.state.mode}; ${NO_MODE}` : `"${word}" is no mode: ${NO_MODE}`);
  const whom = `the whole hierarchy: main, its ${counted(Math.max(0, desk.state.agents.size - 1), 'agent')}, and those to come`;
  await afterPreview({ do: 'set mode', mode }, desk.controls?.previewMode(mode) ?? null, whom, desk);
}

async function pin(typed: string, desk: LineDesk, off: boolean): Promise<void> {
  const [which, word] = headOf(typed);
  const agent = agentFor(desk, which);
  if (agent === null) return;
  const mode = off ? null : modeOf(word);
  if (mode === undefined) return desk.refuse(`"${word}" is no mode: ${NO_MODE}`);
  const preview = desk.controls?.previewMode(mode ?? desk.state.mode, agent.id) ?? null;
  await afterPreview({ do: 'pin mode', agent: agent.id, mode }, preview, `${wordsFor(agent)} and all below it`, desk);
}

const wordsFor = (agent: AgentState): string => `${numbered(agent)} (${agent.id})`;

/** Carries it out after a yes: what a mode would change is said first. */
async function afterPreview(
  command: Command,
  preview: ModePreview | null,
  whom: string,
  desk: LineDesk,
): Promise<void> {
  if (preview === null) return desk.refuse('there is no run');
  const { refused, changes, answers, looser } = preview;
  if (refused !== null) return desk.refuse(`not possible: ${refused}`);
  desk.say(
    `This applies to ${whom}.${looser ? ' It asks less often:' : ''}`,
    ...changes.map((one) => `- ${one}`),
    ...(answers === 0 ? [] : [`! ${counted(answers, 'open question')} would be answered with yes at once`]),
  );
  const typed = await desk.ask('Change it? yes, anything else no: ');
  if (typed?.trim() !== 'yes') return desk.say('Nothing changed.');
  await desk.submit(command);
}

async function review(name: string, desk: LineDesk): Promise<void> {
  const byHand = (desk.state.plan?.forced ?? []).filter(({ triggers }) => triggers.includes('manual'));
  if (byHand.length === 0) return desk.refuse('the rules here leave no review to you');
  const chosen = name === '' && byHand.length === 1 ? byHand[0] : byHand.find(({ role }) => role === name);
  const roles = listed(byHand.map(({ role }) => role));
  if (chosen === undefined)
    return desk.refuse(name === '' ? `which review? ${roles}` : `the rules here know no review ${name}: ${roles}`);
  await desk.submit({ do: 'review', role: chosen.role });
}
