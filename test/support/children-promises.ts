/** What must hold of children in every log, whatever came between: none is lost, none is told of twice or not at all, slots hold. */
import { ROOT } from '../../src/domain/ids.ts';
import type { MimirEvent } from '../../src/events/event.ts';
import { fold } from '../../src/events/fold.ts';
import { isFinal } from '../../src/events/queries.ts';
import type { AgentState, RunState } from '../../src/events/state.ts';
import { EMPTY } from '../../src/events/state.ts';

/** A line for each promise that was broken; `whole`: the run has come to its end, and left nobody for later. */
export function brokenByChildren(events: readonly MimirEvent[], whole: boolean): readonly string[] {
  const broken: string[] = [];
  let state = EMPTY;
  for (const [at, event] of events.entries()) {
    const before = state;
    state = fold(state, event);
    if (event.type === 'agent.finished') broken.push(...endProblems(before, event, events[at + 1]));
    if (event.type === 'message.sent' && event.notice !== undefined)
      broken.push(...noticeProblems(event, events[at - 1]));
    const running = [...state.agents.values()].filter(({ id, status }) => id !== ROOT && status === 'running').length;
    if (running > state.maxParallel) broken.push(`${event.seq}: ${running} run in ${state.maxParallel} slots`);
  }
  return whole ? [...broken, ...leftOver(state, events)] : broken;
}

type Finished = Extract<MimirEvent, { readonly type: 'agent.finished' }>;

function endProblems(before: RunState, event: Finished, next: MimirEvent | undefined): readonly string[] {
  const one = before.agents.get(event.agent);
  if (one === undefined) return [`${event.seq}: ${event.agent} ended and was never made`];
  // Who has ended may be closed for good: a word of its own, and the only one that may follow an end.
  if (isFinal(one) && event.outcome === 'killed' && one.outcome !== 'killed') return [];
  const twice = isFinal(one) ? [`${event.seq}: ${event.agent} ended twice`] : [];
  if (one.spawned === null || !['completed', 'partial', 'failed'].includes(event.outcome)) return twice;
  return [...twice, ...toldOf(before, one, next)];
}

/** Told at once, and only to who still listens. */
function toldOf({ agents }: RunState, { id, owner }: AgentState, next: MimirEvent | undefined): readonly string[] {
  const reader = owner === null ? undefined : agents.get(owner);
  const listens = owner === ROOT || (reader !== undefined && !isFinal(reader));
  const told = next?.type === 'message.sent' && next.notice?.of === id && next.to === owner;
  return listens === told ? [] : [`${id}: told is ${told}, listens is ${listens}`];
}

/** It stands right behind the end that it tells of, or it is one of idleness. */
function noticeProblems(
  event: Extract<MimirEvent, { readonly type: 'message.sent' }>,
  last: MimirEvent | undefined,
): readonly string[] {
  if (event.notice?.is === 'idle') return [];
  const behind = last?.type === 'agent.finished' && last.agent === event.notice?.of;
  return behind ? [] : [`${event.seq}: a notice of ${event.notice?.of ?? ''} without an end`];
}

const leftOver = ({ agents, messages }: RunState, events: readonly MimirEvent[]): readonly string[] => [
  ...[...agents.values()].flatMap((one) => (one.id === ROOT || isFinal(one) ? [] : [`${one.id} has no end`])),
  ...messages.flatMap(({ seq, to, delivered }) => {
    const reader = agents.get(to);
    if (delivered || reader === undefined || !reads(reader) || cameTooLate(events, seq, reader)) return [];
    return [`${seq}: ${to} has not read`];
  }),
];

/** Who has ended well has read what it was sent, but for a child of a call that has ended by its own word: that is the last. */
const reads = ({ id, outcome, call, signalled }: AgentState): boolean =>
  id !== ROOT && outcome === 'completed' && (call === null || signalled === null);

/** A child of a call has given its answer with its end: what is sent to it afterwards is kept for people to see. */
const cameTooLate = (events: readonly MimirEvent[], sent: number, { id, call }: AgentState): boolean =>
  call !== null && events.some((event) => event.type === 'agent.finished' && event.agent === id && event.seq < sent);
