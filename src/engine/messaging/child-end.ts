/**
 * What the end of an agent brings about beside itself: its owner is told, its own children are adopted, ended or kept. Written in one batch with the end, so that after a crash there is both or neither.
 */
import type { AgentOutcome } from '../../domain/agents/agent.ts';
import type { AgentId } from '../../domain/ids.ts';
import { ROOT } from '../../domain/ids.ts';
import type { EndedBy, EventBody } from '../../events/event.ts';
import { isFinal } from '../../events/queries.ts';
import type { AgentState, RunState } from '../../events/state.ts';
import type { ChildRules } from '../../policy/rules.ts';
import { messageEvent } from './inbox.ts';

/** Why an agent waits that has ended its turn, and has children that it wants to hear of. */
export const WAITS = { reason: 'waits for its children', waitingFor: { is: 'children' } } as const;

/** How the work of an agent has ended, as it will be recorded. */
export interface End {
  readonly agent: AgentId;
  readonly outcome: AgentOutcome;
  readonly summary: string;
  readonly error: string | null;
  readonly endedBy?: EndedBy;
  /** Who ended it knows, or ends as well: nobody needs to be told. */
  readonly silent: boolean;
}

/** Children of `agent` that are not at their end and answer to it. */
export const openChildrenOf = ({ agents }: RunState, agent: AgentId): readonly AgentState[] =>
  [...agents.values()].filter((one) => one.spawned !== null && one.owner === agent && !isFinal(one));

/** Children beyond the plan that are not at their end, however they were asked for. */
export const openBelow = ({ agents }: RunState, parent: AgentId): readonly AgentState[] =>
  [...agents.values()].filter(
    (one) => one.parent === parent && (one.spawned !== null || one.call !== null) && !isFinal(one),
  );

/** Does it want to hear of children that still work? */
export const isOwed = (state: RunState, agent: AgentId): boolean =>
  openChildrenOf(state, agent).some(({ spawned }) => typeof spawned?.wait === 'number');

/** The events to record with the end. */
export const withEnd = (state: RunState, end: End, rules: ChildRules): readonly EventBody[] => [
  ...noticeOf(state, end, rules),
  // Who is killed takes those below along.
  ...(rules.orphans === 'adopt' && end.outcome !== 'killed' ? adopted(state, end.agent) : []),
];

/** ROOT takes on those that `parent` leaves. */
const adopted = (state: RunState, parent: AgentId): readonly EventBody[] =>
  openChildrenOf(state, parent).map(({ id }) => ({ type: 'agent.adopted', agent: id, owner: ROOT }));

function noticeOf(state: RunState, end: End, { notify }: ChildRules): readonly EventBody[] {
  const child = state.agents.get(end.agent);
  if (child === undefined || child.spawned === null || end.silent || end.outcome === 'abandoned') return [];
  const done = end.outcome === 'completed' || end.outcome === 'partial';
  const wanted = child.spawned.wait !== null || (done ? notify.complete : notify.error);
  if (!wanted) return [];
  return notice(state, child, done ? 'completed' : 'error', wordsOf(child, end));
}

/** A notice of `child` to its owner; none where nobody is left to hear it. */
export function notice(
  { agents }: RunState,
  { id, owner }: AgentState,
  is: 'completed' | 'error' | 'idle',
  content: string,
): readonly EventBody[] {
  const reader = owner === null ? undefined : agents.get(owner);
  if (reader === undefined || (isFinal(reader) && reader.id !== ROOT)) return [];
  const kind = is === 'completed' ? 'result' : is === 'error' ? 'error' : 'status';
  return [
    messageEvent({
      from: id,
      sender: id,
      to: reader.id,
      kind,
      delivery: 'important',
      content,
      notice: { of: id, is },
    }),
  ];
}

/** `Child <name> completed: <summary>`, `Child <name> was killed by the person: <last words>`; of one that was revived only what it has said since. */
function wordsOf({ name, summary: before }: AgentState, { outcome, summary, error }: End): string {
  switch (outcome) {
    case 'completed':
      return `Child ${name} completed: ${sinceThen(before, summary)}`;
    case 'partial':
      return `Child ${name} completed: ${sinceThen(before, summary)}\n(Cut off: ${error ?? 'a limit was met'}.)`;
    case 'killed':
      // To a model "you" is the model.
      return `Child ${name} was killed by the person${summary === '' ? '' : `: ${sinceThen(before, summary)}`}`;
    default:
      return `Child ${name} failed: ${error ?? outcome}`;
  }
}

/** What `now` says beyond `before`, where it only goes on. */
export function sinceThen(before: string, now: string): string {
  const rest = before !== '' && now.startsWith(before) ? now.slice(before.length).trim() : '';
  return rest === '' ? now : rest;
}
