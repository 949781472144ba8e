/** The conversation of an agent as recorded in the log, with which a resumed agent continues. */
import type { AgentId, CallId } from '../domain/ids.ts';
import type { StopReason, ToolResult, Turn } from '../domain/turn.ts';
import type { EventOf, MimirEvent } from './event.ts';

/** The result of a tool call that began and did not end: it may or may not have taken effect. */
export const UNKNOWN_EFFECT =
  'Mimir was stopped while this ran. It is not known whether it took effect: look before you do it again.';

/** An agent's position in its conversation. */
export interface AgentPosition {
  /** In order. The last tool calls may have no results: they never began, or may be repeated. A final model turn without calls is the
   * answer; a cut-off or refused reply is left out and requested again. */
  readonly turns: readonly Turn[];
  /** Replies for its work since it last began, without summaries. */
  readonly replies: number;
}

/** The conversation of one agent, built event by event, so that the log is not read again. */
export class Conversation {
  private readonly agent: AgentId;
  private readonly turns: Turn[] = [];
  private lastStop: StopReason = 'end';
  private replies = 0;
  private earlier = 0;
  private readonly work = new Set<CallId>();
  /** Calls for summaries are not part of the conversation; `context.compacted` has their result. */
  private readonly summaries = new Set<CallId>();

  constructor(agent: AgentId) {
    this.agent = agent;
  }

  /** Takes events of all agents in the order of the log; those of others are ignored. */
  take(event: MimirEvent): void {
    // The unfinished reply was left out by the resumed run and requested again.
    if (event.type === 'session.resumed' && this.isUnfinished()) this.turns.pop();
    if (!('agent' in event) || event.agent !== this.agent) return;
    this.count(event);
    if ((event.type === 'model.finished' || event.type === 'agent.message') && this.summaries.has(event.call)) return;
    if (event.type === 'model.finished') this.lastStop = event.stopReason;
    addTurn(this.turns, event);
  }

  position(): AgentPosition {
    return { turns: this.isUnfinished() ? this.turns.slice(0, -1) : [...this.turns], replies: this.replies };
  }

  /** Replies for its work before its last end; 0 without one. */
  repliesBefore(): number {
    return this.earlier;
  }

  private count(event: MimirEvent): void {
    if (event.type === 'agent.status' && event.status === 'pending') this.replies = 0;
    if (event.type === 'model.started' && event.purpose === 'work') this.work.add(event.call);
    if (event.type === 'model.started' && event.purpose === 'compact') this.summaries.add(event.call);
    if (event.type === 'model.finished' && this.work.has(event.call)) this.replies += 1;
    if (event.type === 'agent.finished') this.earlier = this.replies;
  }

  private isUnfinished(): boolean {
    return (this.lastStop === 'output limit' || this.lastStop === 'refused') && this.turns.at(-1)?.by === 'model';
  }
}

function addTurn(turns: Turn[], event: MimirEvent): void {
  // A retry (pending) starts a new conversation.
  if (event.type === 'agent.status' && event.status === 'pending') turns.length = 0;
  if (event.type === 'context.compacted') shorten(turns, event);
  if (event.type === 'agent.told') turns.push({ by: 'user', text: event.text });
  if (event.type === 'model.finished') {
    const calls = event.stopReason === 'tool use' ? event.calls : [];
    turns.push({ by: 'model', text: '', calls, ...(event.opaque === undefined ? {} : { opaque: event.opaque }) });
  }
  if (event.type === 'agent.message') say(turns, event.text);
  addResult(turns, event);
}

function addResult(turns: Turn[], event: MimirEvent): void {
  if (event.type === 'tool.noted') noteResult(turns, event);
  if (event.type === 'tool.finished') answer(turns, { call: event.call, ok: event.ok, text: event.output });
}

/** The conversation continues with its first turn, the summary, and the last turns kept. */
function shorten(turns: Turn[], { summary, kept }: EventOf<'context.compacted'>): void {
  const from = Math.max(1, turns.length - kept);
  turns.splice(1, Math.max(0, from - 1), { by: 'user', text: summary });
}

function say(turns: Turn[], text: string): void {
  const last = turns.at(-1);
  if (last?.by === 'model') turns[turns.length - 1] = { ...last, text };
}

function noteResult(turns: Turn[], { call, text }: EventOf<'tool.noted'>): void {
  const at = turns.findLastIndex((turn) => turn.by === 'tools' && turn.results.some((result) => result.call === call));
  const turn = turns[at];
  if (turn?.by !== 'tools') return;
  const results = turn.results.map((one) => (one.call === call ? { ...one, text: `${one.text}\n\n${text}` } : one));
  turns[at] = { by: 'tools', results };
}

/** Inserts a result into the turn after the model turn that asked, in the order of its calls. */
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
