/**
 * Ask, use, ask … until an answer without calls; messages are looked at between turns. Knows the words and the gate,
 * nothing else: no clock, no chance, no files, no network, so that it can run anywhere the gate can be reached.
 */
import type { WorkOrder, WorkOutcome } from '../../domain/agents/agent.ts';
import { briefText } from '../../domain/agents/brief.ts';
import { unreachable } from '../../domain/result.ts';
import type { ModelReply, ToolCall, ToolResult, Turn } from '../../domain/turn.ts';
import { compact } from './compact.ts';
import { answersCarried, CUT_OFF, wasCut } from './compact-text.ts';
import {
  CIRCLES_REASON,
  circlesText,
  ENDED_AT,
  FEW_TURNS,
  GO_ON,
  interimText,
  isClosed,
  lastTurnText,
  MAX_ITERATIONS,
  sameInARow,
  TOLD_AT,
  TOLD_BEFORE,
  wasTold,
} from './closing-words.ts';
import type { Gate } from '../gate/gate.ts';
import type { AskFault } from '../gate/question.ts';
import { finalOutput, handedOver } from '../gate/text-protocol/read-reply.ts';
import { hasVerdict, isReviewer, lastResults } from '../reviews/verdict-turn.ts';

/** A conversation that was shortened this often in a row without a reply is given up. */
const SHORTENINGS = 2;
/** How often a closing answer is asked for: a model that only calls tools in it is asked once more. */
const CLOSINGS = 2;

/** Carries `order` through. Resolves however the agent ended; rejects only for a bug. */
export async function runAgent(order: WorkOrder, gate: Gate, signal: AbortSignal): Promise<WorkOutcome> {
  const turns: Turn[] = [...order.turns];
  if (turns.length === 0) turns.push(gate.tell(order, briefText(order)));
  await answerOpenCalls(order, gate, turns, signal);
  const known = gate.signalled(order) ?? answerGiven(order, gate, turns);
  if (known) return known;
  for (const pace = paceOf(order, turns); ; ) {
    if (pace.closed && pace.iteration < order.iterations) turns.push(gate.tell(order, GO_ON));
    const outcome = await oneTurn(order, gate, turns, pace, signal);
    // What it said of its own end goes before what came of the step.
    const end = (signal.aborted ? null : gate.signalled(order)) ?? outcome;
    if (end) return end;
  }
}

/** Mail, room, a reply, its tools. Null: it goes on. */
async function oneTurn(
  order: WorkOrder,
  gate: Gate,
  turns: Turn[],
  pace: Pace,
  signal: AbortSignal,
): Promise<WorkOutcome | null> {
  if (signal.aborted) return { is: 'stopped', reason: String(signal.reason) };
  const mail = gate.waiting(order, 'between turns');
  if (mail) turns.push(mail);
  const stop = await makeRoom(order, gate, turns, pace, signal);
  if (stop) return stop === 'again' ? null : stop;
  const reason = closingReason(order, pace);
  if (reason !== null) return lastTurn(order, gate, turns, { pace, reason }, signal);
  if (order.iterations - pace.iteration === TOLD_BEFORE && hasSpoken(turns)) note(order, gate, turns, FEW_TURNS);
  const reply = await gate.ask({ order, turns }, signal);
  if (!reply.ok) return afterFault(reply.fault, turns, pace);
  pace.iteration += 1;
  pace.shortened = 0;
  pace.closed = false;
  return takeReply(order, gate, turns, { reply: reply.value, pace }, signal);
}

/** Why the next turn is the last one; null where it is not. */
function closingReason({ iterations }: WorkOrder, pace: Pace): string | null {
  if (pace.iteration >= iterations - 1) pace.closing ??= MAX_ITERATIONS;
  return pace.closing;
}

const hasSpoken = (turns: readonly Turn[]): boolean => turns.some(({ by }) => by === 'model');

/** The closing answer: no tool can be called in it, and it is handed over as partial. Null: it is asked for again. */
async function lastTurn(
  order: WorkOrder,
  gate: Gate,
  turns: Turn[],
  { pace, reason }: { readonly pace: Pace; readonly reason: string },
  signal: AbortSignal,
): Promise<WorkOutcome | null> {
  // It had one before, and nothing was done since.
  if (pace.closed) return { is: 'partial', reason, summary: joined(answersIn(turns)) };
  const judges = isReviewer(order);
  note(order, gate, turns, lastTurnText(reason, judges ? 'reviewer' : 'worker'));
  const reply = await gate.ask({ order, turns, closing: true }, signal);
  if (!reply.ok) return afterFault(reply.fault, turns, pace);
  const { text, stopReason } = reply.value;
  const before = answersIn(turns);
  const calls = takeTurn(turns, reply.value);
  pace.iteration += 1;
  pace.closings += 1;
  if (stopReason === 'refused') return { is: 'failed', reason: 'The model refused to go on' };
  if (calls.length > 0) turns.push({ by: 'tools', results: await lastResults(order, gate, calls, signal) });
  if (judges) return judged(turns, pace, reason);
  if (answerOf(text) !== '') return { is: 'partial', reason, summary: joined([...before, answerOf(text)]) };
  return pace.closings < CLOSINGS ? null : { is: 'partial', reason, summary: interimOf(turns) };
}

/** With its verdict a reviewer has done its whole task; without it the last turn is asked for once more. */
function judged(turns: readonly Turn[], pace: Pace, reason: string): WorkOutcome | null {
  if (hasVerdict(turns)) return { is: 'completed', summary: joined(answersIn(turns)) || 'The verdict is given.' };
  return pace.closings < CLOSINGS ? null : { is: 'partial', reason, summary: interimOf(turns) };
}

/** Tells the agent `text` once before its next reply: in its last tool result where there is one. */
function note(order: WorkOrder, gate: Gate, turns: Turn[], text: string): void {
  if (wasTold(turns, text)) return;
  const at = turns.findLastIndex(({ by }) => by !== 'user');
  const last = turns[at];
  if (last?.by === 'tools' && last.results.length > 0) turns[at] = gate.note(order, last, text);
  else turns.push(gate.tell(order, text));
}

/** A message is read, a conversation that is too long is shortened, twice at most; everything else is the end. */
function afterFault(fault: AskFault, turns: readonly Turn[], pace: Pace): WorkOutcome | null {
  if (fault.is === 'told') return null;
  if (fault.is === 'budget' && pace.closing === null && hasSpoken(turns)) {
    pace.closing = fault.text;
    return null;
  }
  if (fault.is !== 'too long' || pace.shortened >= SHORTENINGS) return ended(fault, turns);
  pace.tooLong = fault.text;
  return null;
}

interface Pace {
  iteration: number;
  /** How often the conversation was shortened since the last reply. */
  shortened: number;
  /** What the model said to a request that it found too long; null otherwise. */
  tooLong: string | null;
  /** Why the next turn is the last one; null while it is not. */
  closing: string | null;
  /** Closing answers that were asked for. */
  closings: number;
  /** The conversation ends with a closing answer of before. */
  closed: boolean;
}

/** A resumed agent goes on counting where it was. */
const paceOf = ({ replies = 0 }: WorkOrder, turns: readonly Turn[]): Pace => ({
  iteration: replies,
  shortened: 0,
  tooLong: null,
  closing: null,
  closings: 0,
  closed: isClosed(turns),
});

/** Shortens the conversation when it comes near the window, or when the model found it too long. Null: it may be asked. */
async function makeRoom(
  order: WorkOrder,
  gate: Gate,
  turns: Turn[],
  pace: Pace,
  signal: AbortSignal,
): Promise<WorkOutcome | 'again' | null> {
  const { tooLong } = pace;
  if (tooLong === null) {
    const { tokens, limit } = gate.room(order, turns);
    if (tokens <= limit || pace.shortened > 0) return null;
  }
  const done = await compact(order, gate, turns, signal, { force: tooLong !== null });
  if (done.is === 'told') return 'again';
  if (done.is === 'stopped') return { is: 'stopped', reason: done.text };
  pace.shortened += 1;
  pace.tooLong = null;
  if (done.is === 'done') turns.splice(0, turns.length, ...done.turns);
  else if (tooLong !== null) return ended({ is: 'too long', text: tooLong }, turns);
  return null;
}

/** A resumed conversation may end in calls without an answer: those that may be repeated, or were never begun, run now. */
async function answerOpenCalls(order: WorkOrder, gate: Gate, turns: Turn[], signal: AbortSignal): Promise<void> {
  const at = turns.findLastIndex(({ by }) => by === 'model');
  const asked = turns[at];
  if (asked?.by !== 'model') return;
  const next = turns[at + 1];
  const known: readonly ToolResult[] = next?.by === 'tools' ? next.results : [];
  const open = asked.calls.filter(({ id }) => !known.some(({ call }) => call === id));
  if (open.length === 0) return;
  const all = [...known, ...(await gate.use(order, open, signal))];
  const results = asked.calls.flatMap(({ id }) => all.filter(({ call }) => call === id));
  turns.splice(at + 1, next?.by === 'tools' ? 1 : 0, { by: 'tools', results });
}

/** It had given its answer when the run was cut off: that is not asked for twice. */
function answerGiven(order: WorkOrder, gate: Gate, turns: Turn[]): WorkOutcome | null {
  const last = turns.at(-1);
  // A closing answer is no end of the work: whether it goes on is seen by its limits.
  if (isClosed(turns)) return null;
  const said = last?.by === 'model' && last.calls.length === 0;
  return said || handedOver(turns) !== null ? atTheEnd(order, gate, turns) : null;
}

async function takeReply(
  order: WorkOrder,
  gate: Gate,
  turns: Turn[],
  { reply, pace }: { readonly reply: ModelReply; readonly pace: Pace },
  signal: AbortSignal,
): Promise<WorkOutcome | null> {
  const cut = reply.stopReason === 'output limit';
  const calls = takeTurn(turns, reply);
  if (reply.stopReason === 'refused') return { is: 'failed', reason: 'The model refused to go on' };
  if (cut) {
    turns.push(gate.tell(order, CUT_OFF));
    return null;
  }
  if (calls.length === 0) return atTheEnd(order, gate, turns);
  turns.push({ by: 'tools', results: await gate.use(order, calls, signal) });
  if (handedOver(turns) !== null) return atTheEnd(order, gate, turns);
  const same = signal.aborted ? 0 : sameInARow(turns);
  if (same >= ENDED_AT) pace.closing = CIRCLES_REASON;
  else if (same >= TOLD_AT) note(order, gate, turns, circlesText(same));
  return null;
}

/** Puts the reply behind the conversation; the calls that it asks for. */
function takeTurn(turns: Turn[], { text, calls: asked, stopReason, opaque }: ModelReply): readonly ToolCall[] {
  const calls = stopReason === 'tool use' ? asked : [];
  turns.push({ by: 'model', text, calls, ...(opaque === undefined ? {} : { opaque }) });
  return calls;
}

/** The model ended its turn without a call, or with its final output: done, unless somebody has written meanwhile. */
function atTheEnd(order: WorkOrder, gate: Gate, turns: Turn[]): WorkOutcome | null {
  const mail = gate.waiting(order, 'at the end');
  if (mail) {
    turns.push(mail);
    return null;
  }
  const summary = joined(answersIn(turns));
  return summary === '' ? { is: 'failed', reason: 'The model ended without an answer' } : { is: 'completed', summary };
}

/** Every answer that was given: one to a message that came late must not take the place of the work itself. */
const answersIn = (turns: readonly Turn[]): readonly string[] =>
  turns
    .flatMap((turn, at) => {
      if (turn.by !== 'model') return answersCarried(turn);
      const next = turns[at + 1];
      if (turn.calls.length > 0) return [finalOutput(turn, next) ?? ''];
      return wasCut(next) ? [] : [turn.text];
    })
    .map(answerOf)
    .filter((text) => text !== '');

/** Without the mark of its end. */
const answerOf = (text: string): string => text.replace(/\n?\s*\[(?:COMPLETE|DONE)\]\s*$/, '').trim();

const joined = (answers: readonly string[]): string => answers.join('\n\n');

/** What was said so far is handed over even when the end came early. */
function ended(fault: Exclude<AskFault, { is: 'told' }>, turns: readonly Turn[]): WorkOutcome {
  switch (fault.is) {
    case 'stopped':
      return { is: 'stopped', reason: fault.text };
    case 'budget':
      return { is: 'partial', reason: fault.text, summary: interimOf(turns) };
    case 'too long':
      return {
        is: 'partial',
        reason: `The conversation does not fit the model: ${fault.text}`,
        summary: interimOf(turns),
      };
    case 'denied':
    case 'model':
      return { is: 'failed', reason: fault.text };
    default:
      return unreachable(fault);
  }
}

/** The answers that it had given, and behind them what it said last, marked as no answer. */
function interimOf(turns: readonly Turn[]): string {
  const answers = answersIn(turns);
  const last = turns
    .flatMap((turn) => (turn.by === 'model' ? [answerOf(turn.text)] : []))
    .findLast((text) => text !== '');
  const interim = last === undefined || last === answers.at(-1) ? '' : interimText(last);
  return joined([...answers, interim].filter((text) => text !== ''));
}
