/**
 * A conversation that comes near the model's window goes on as its task, a summary, and its last turns whole. What to
 * keep and how the summary reads is decided here; how much room there is, is the gate's to say, when to look is the loop's.
 */
import type { WorkOrder } from '../../domain/agents/agent.ts';
import { headOf } from '../../domain/text/text.ts';
import type { Turn } from '../../domain/turn.ts';
import { carriedOn, isSummary, outline, summaryTurn, transcript } from './compact-text.ts';
import type { Gate } from '../gate/gate.ts';
import type { AskFault } from '../gate/question.ts';

/** Of the room that a request may fill: what is kept whole, and what a summary may take. */
const [KEPT_SHARE, SUMMARY_SHARE] = [0.25, 0.15];
const LONGEST_SUMMARY = 24_000;
/** Bytes of a token, for estimates on the safe side. */
const BYTES = 3;

export type Compacted =
  | { readonly is: 'done'; readonly turns: readonly Turn[] }
  /** There is nothing left to leave out. */
  | { readonly is: 'nothing to drop' }
  | { readonly is: 'told' }
  | { readonly is: 'stopped'; readonly text: string };

/**
 * Shortens the conversation and records it. `force` is for a request that the model itself found too long: then nothing
 * is believed about the room. A summary that can't be had is replaced by an outline of what was done: never a failure.
 */
export async function compact(
  order: WorkOrder,
  gate: Gate,
  turns: readonly Turn[],
  signal: AbortSignal,
  { force }: { readonly force: boolean },
): Promise<Compacted> {
  const room = gate.room(order, turns);
  const limit = force ? Math.min(room.limit, room.tokens) : room.limit;
  const keep = keepFrom(turns, force ? 0.5 * limit * KEPT_SHARE : limit * KEPT_SHARE);
  const dropped = turns.slice(1, keep);
  const [first] = turns;
  // A summary of a summary alone would gain nothing.
  if (first === undefined || dropped.every((turn) => turn.by === 'user' && isSummary(turn)))
    return { is: 'nothing to drop' };
  const written = await summaryOf(order, gate, turns, { limit, tokens: room.tokens, force }, signal);
  if (!written.ok) return written.fault;
  const longest = Math.min(LONGEST_SUMMARY, Math.max(1000, Math.floor(limit * SUMMARY_SHARE * BYTES)));
  const text = written.text === '' ? outline(dropped) : written.text;
  const summary = summaryTurn({ text: headOf(text, longest), ...carriedOn(dropped, turns[keep]) });
  const kept = turns.slice(keep);
  const next: readonly Turn[] = [first, { by: 'user', text: summary }, ...kept];
  gate.compacted(order, { summary, kept: kept.length, before: room.tokens, turns: next });
  return { is: 'done', turns: next };
}

/** Where the turns that stay begin: as many of the last as fit into `tokens`, no call without its results. 1 or less: all. */
function keepFrom(turns: readonly Turn[], tokens: number): number {
  let at = turns.length;
  let left = tokens * BYTES;
  while (at > 1) {
    // Results belong to the turn before them.
    const from = turns[at - 1]?.by === 'tools' ? at - 2 : at - 1;
    left -= sizeOf(turns.slice(from, at));
    if (left < 0 || from < 1) break;
    at = from;
  }
  return at;
}

const sizeOf = (turns: readonly Turn[]): number => Buffer.byteLength(JSON.stringify(turns));

type Written =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly fault: Extract<Compacted, { is: 'told' | 'stopped' }> };

/** The model's own words; empty when it gave none. Its prompt follows the conversation, so that what is cached stays cached. */
async function summaryOf(
  order: WorkOrder,
  gate: Gate,
  turns: readonly Turn[],
  room: { readonly limit: number; readonly tokens: number; readonly force: boolean },
  signal: AbortSignal,
): Promise<Written> {
  if (order.compact === undefined) return { ok: true, text: '' };
  // What does not fit the window can't be summarised as it is: for this one request it becomes a shortened text.
  const fits = !room.force && room.tokens <= room.limit * 1.15;
  const shortened = `${transcript(turns, room.limit * 0.6 * BYTES)}\n\n# What to do now\n\n${order.compact}`;
  const question = {
    order,
    turns: fits ? [...turns, { by: 'user' as const, text: order.compact }] : [{ by: 'user' as const, text: shortened }],
    purpose: { is: 'compact' as const, task: order.task },
  };
  const reply = await gate.ask(question, signal);
  if (reply.ok) return { ok: true, text: reply.value.stopReason === 'refused' ? '' : reply.value.text.trim() };
  return withoutWords(reply.fault);
}

/** A person's word goes first; with any other fault the work can go on without the model's words. */
function withoutWords(fault: AskFault): Written {
  if (fault.is === 'told') return { ok: false, fault: { is: 'told' } };
  if (fault.is === 'stopped') return { ok: false, fault: { is: 'stopped', text: fault.text } };
  return { ok: true, text: '' };
}
