/**
 * Acts that were denied because nobody could be asked, or not begun for want of the sandbox that they were promised:
 * recorded when it happens, taken back when the agent gets the same done later. An agent that ends with one left has not done its work whole.
 */
import type { AgentId } from '../../domain/ids.ts';
import type { EventBody } from '../../events/event.ts';
import type { RunState, UnansweredAct } from '../../events/state.ts';
import type { Use } from '../gate/tools/permit.ts';
import type { Recorder } from '../run/recorder.ts';

type Acting = Pick<Use, 'order' | 'call' | 'tool' | 'input'>;

/** What the act comes to, equal for acts that come to the same; null for what changes nothing. */
function effectOf({ tool, input }: Acting): string | null {
  switch (tool.capability) {
    case 'write':
      return `write ${writtenPath(input) ?? tool.label(input)}`;
    case 'shell':
      return `run ${tool.label(input)}`;
    case 'git-write':
      return 'commit';
    default:
      return null;
  }
}

/** The file that a tool which writes would change, `./src//a.ts` as `src/a.ts`; null where its input names none. */
export function writtenPath(input: unknown): string | null {
  const path: unknown = typeof input === 'object' && input !== null ? Reflect.get(input, 'path') : null;
  if (typeof path !== 'string') return null;
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  return `${path.startsWith('/') ? '/' : ''}${parts.join('/')}`;
}

/** Records that it was not done: nobody could be asked about it, unless `why` says otherwise. Nothing for acts that only look. */
export function recordNotDone(recorder: Recorder, use: Acting, why?: UnansweredAct['why']): void {
  const { agent } = use.order;
  const effect = effectOf(use);
  if (effect === null || isOpen(recorder.state(), agent, effect)) return;
  const label = use.tool.label(use.input);
  recorder.record({
    type: 'act.unanswered',
    agent,
    call: use.call.id,
    effect,
    label,
    ...(why === undefined ? {} : { why }),
  });
}

/** The event that takes it back, where the act that has just been done had been denied before. */
export function madeGood(recorder: Recorder, use: Acting): readonly EventBody[] {
  const { agent } = use.order;
  const effect = effectOf(use);
  if (effect === null || !isOpen(recorder.state(), agent, effect)) return [];
  return [{ type: 'act.done', agent, call: use.call.id, effect }];
}

const isOpen = (state: RunState, agent: AgentId, effect: string): boolean =>
  unansweredOf(state, agent).some((one) => one.effect === effect);

export const unansweredOf = ({ agents }: RunState, agent: AgentId): readonly UnansweredAct[] =>
  agents.get(agent)?.unanswered ?? [];

/** Why an agent that has answered is partial all the same; null where nothing is left. */
export function unansweredReason(state: RunState, agent: AgentId): string | null {
  const groups = byReason(unansweredOf(state, agent));
  return groups.length === 0 ? null : groups.map(([why, acts]) => `${why}: ${namesOf(acts).join(', ')}`).join('; ');
}

/** Why acts of a kind were not done, and which: kinds without one are left out. */
const byReason = <Act extends UnansweredAct>(acts: readonly Act[]): readonly (readonly [string, readonly Act[]])[] =>
  [
    ['denied, since nobody could be asked', acts.filter(({ why }) => why === undefined)] as const,
    ['not run, since the sandbox could not be started', acts.filter(({ why }) => why === 'no sandbox')] as const,
  ].filter(([, some]) => some.length > 0);

/** A section of the report that names what was not done; empty where there is nothing. */
export function notDoneSection({ agents }: RunState): string {
  const all = [...agents.values()].flatMap(({ name, unanswered = [] }) => unanswered.map((act) => ({ ...act, name })));
  const parts = byReason(all).map(([why, acts]) => {
    const lines = acts.flatMap((act) => namesOf([act]).map((words) => `- ${act.name}: ${words}`));
    return `${why.replace(/^./, (letter) => letter.toUpperCase())}:\n\n${lines.join('\n')}`;
  });
  return parts.length === 0 ? '' : ['## Not done', ...parts].join('\n\n');
}

const LONGEST = 200;

/** The first line of each, in short. */
const namesOf = (acts: readonly UnansweredAct[]): readonly string[] =>
  acts.map(({ label }) => {
    const [line = ''] = label.split('\n');
    return line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line === label ? line : `${line} …`;
  });
