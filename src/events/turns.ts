/** The conversation of one agent as the log knows it: what a resumed agent goes on with. */
import type { AgentId, CallId } from '../domain/ids.ts';
import type { StopReason, ToolResult, Turn } from '../domain/turn.ts';
import type { EventOf } from './by-type.ts';
import type { MimirEvent } from './event.ts';

/** What a tool call that was begun and not ended means for the model: it may or may not have happened. */
export const UNKNOWN_EFFECT =
  'Mimir was stopped while this ran. It is not known whether it took effect: look before you do it again.';

/**
 * The turns of `agent`, in order. The last tool calls may be without answers: those were never begun, or may be repeated.
 * A last turn of the model without calls is its answer; one that was cut off or refused is left out, to be asked for again.
 */
export function turnsOf(events: Iterable<MimirEvent>, agent: AgentId): readonly Turn[] {
  const turns: Turn[] = [];
  let lastStop: StopReason = 'end';
  const summaries = new Set<CallId>();
  const own = (event: MimirEvent): boolean => 'agent' in event && event.agent === agent;
  const unfinished = (): boolean =>
    (lastStop === 'output limit' || lastStop === 'refused') && turns.at(-1)?.by === 'model';
  for (const event of events) {
    // It was left out when the run went on there, and asked for again.
    if (event.type === 'session.resumed' && unfinished()) turns.pop();
    if (!own(event) || isOfSummary(event, summaries)) continue;
    if (event.type === 'model.finished') lastStop = event.stopReason;
    addTurn(turns, event);
  }
  return unfinished() ? turns.slice(0, -1) : turns;
}

/** Where an agent stands by the log: what a resumed one goes on with. */
export interface Standing {
  readonly turns: readonly Turn[];
  /** For its work, since it was last begun: summaries are none. */
  readonly replies: number;
}

/** Of each of `agents`, from the log read once. */
export function standingsOf(events: readonly MimirEvent[], agents: Iterable<AgentId>): ReadonlyMap<AgentId, Standing> {
  const byAgent = new Map<AgentId, MimirEvent[]>([...agents].map((agent) => [agent, []]));
  for (const event of events) {
    if ('agent' in event && event.agent !== null) byAgent.get(event.agent)?.push(event);
    if (event.type === 'session.resumed') for (const own of byAgent.values()) own.push(event);
  }
  return new Map([...byAgent].map(([agent, own]) => [agent, { turns: turnsOf(own, agent), replies: repliesIn(own) }]));
}

function repliesIn(own: readonly MimirEvent[]): number {
  let replies = 0;
  const work = new Set<CallId>();
  for (const event of own) {
    if (event.type === 'agent.status' && event.status === 'pending') replies = 0;
    if (event.type === 'model.started' && event.purpose === 'work') work.add(event.call);
    if (event.type === 'model.finished' && work.has(event.call)) replies += 1;
  }
  return replies;
}

/** A call for a summary is no part of the conversation: what it gave comes with `context.compacted`. */
function isOfSummary(event: MimirEvent, summaries: Set<CallId>): boolean {
  if (event.type === 'model.started' && event.purpose === 'compact') summaries.add(event.call);
  return (event.type === 'model.finished' || event.type === 'agent.message') && summaries.has(event.call);
}

/** Calls with an effect that were begun and not ended when the log stops: whether they happened is not known. */
export function uncertainCalls(events: Iterable<MimirEvent>): readonly EventOf<'tool.started'>[] {
  // Ids of calls may be the model's own: another agent may have the same.
  const begun = new Map<string, EventOf<'tool.started'>>();
  for (const event of events) {
    if (event.type === 'tool.started') begun.set(`${event.agent} ${event.call}`, event);
    if (event.type === 'tool.finished') begun.delete(`${event.agent} ${event.call}`);
  }
  return [...begun.values()].filter(({ repeat }) => repeat === 'never');
}

function addTurn(turns: Turn[], event: MimirEvent): void {
  // Back to pending is a retry: it starts with a new conversation.
  if (event.type === 'agent.status' && event.status === 'pending') turns.length = 0;
  if (event.type === 'context.compacted') shorten(turns, event);
  if (event.type === 'agent.told') turns.push({ by: 'user', text: event.text });
  if (event.type === 'model.finished') {
    const calls = event.stopReason === 'tool use' ? event.calls : [];
    turns.push({ by: 'model', text: '', calls, ...(event.opaque === undefined ? {} : { opaque: event.opaque }) });
  }
  if (event.type === 'agent.message') say(turns, event.text);
  if (event.type === 'tool.finished') answer(turns, { call: event.call, ok: event.ok, text: event.output });
}

/** Goes on as its first turn, the summary, and the last turns that were kept. */
function shorten(turns: Turn[], { summary, kept }: EventOf<'context.compacted'>): void {
  const from = Math.max(1, turns.length - kept);
  turns.splice(1, Math.max(0, from - 1), { by: 'user', text: summary });
}

function say(turns: Turn[], text: string): void {
  const last = turns.at(-1);
  if (last?.by === 'model') turns[turns.length - 1] = { ...last, text };
}

/** Puts a result into the answer turn that belongs to the last model turn, in the order of its calls. */
function answer(turns: Turn[], result: ToolResult): void {
  const at = turns.findLastIndex((turn) => turn.by === 'model' && turn.calls.some(({ id }) => id === result.call));
  const asked = turns[at];
  if (asked?.by !== 'model') return;
  const next = turns[at + 1];
  const known = next?.by === 'tools' ? next.results : [];
  const all = [...known.filter(({ call }) => call !== result.call), result];
  const results = asked.calls.flatMap(({ id }) => all.filter(({ call }) => call === id));
  if (next?.by === 'tools') turns[at + 1] = { by: 'tools', results };
  else turns.splice(at + 1, 0, { by: 'tools', results });
}
