/**
 * Ask, use, ask … until an answer without calls; messages are looked at between turns. Knows the words and the gate,
 * nothing else: no clock, no chance, no files, no network, so that it can run anywhere the gate can be reached.
 */
import type { WorkOrder, WorkOutcome } from '../domain/agent.ts';
import { briefText } from '../domain/brief.ts';
import { unreachable } from '../domain/result.ts';
import type { ModelReply, ToolCall, ToolResult, Turn } from '../domain/turn.ts';
import { compact } from './compact.ts';
import { answersCarried, CUT_OFF, wasCut } from './compact-text.ts';
import type { AskFault, Gate } from './gate.ts';
import { finalOutput, handedOver } from './text-protocol.ts';

/** The same calls this many times in a row end the agent: it goes in circles (SECURITY 2.6). */
const CIRCLES = 3;
/** A conversation that was shortened this often in a row without a reply is given up. */
const SHORTENINGS = 2;

/** Carries `order` through. Resolves however the agent ended; rejects only for a bug. */
export async function runAgent(order: WorkOrder, gate: Gate, signal: AbortSignal): Promise<WorkOutcome> {
  const turns: Turn[] = [...order.turns];
  if (turns.length === 0) turns.push(gate.tell(order, briefText(order)));
  await answerOpenCalls(order, gate, turns, signal);
  const known = gate.signalled(order) ?? answerGiven(order, gate, turns);
  if (known) return known;
  for (const pace = paceOf(order); pace.iteration < order.iterations; ) {
    const outcome = await oneTurn(order, gate, turns, pace, signal);
    // What it said of its own end goes before what came of the step.
    const end = (signal.aborted ? null : gate.signalled(order)) ?? outcome;
    if (end) return end;
  }
  return { is: 'failed', reason: 'Max iterations reached' };
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
  const reply = await gate.ask({ order, turns }, signal);
  if (!reply.ok) return afterFault(reply.fault, turns, pace);
  pace.iteration += 1;
  pace.shortened = 0;
  return takeReply(order, gate, turns, reply.value, signal);
}

/** A message is read, a conversation that is too long is shortened, twice at most; everything else is the end. */
function afterFault(fault: AskFault, turns: readonly Turn[], pace: Pace): WorkOutcome | null {
  if (fault.is === 'told') return null;
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
}

/** A resumed agent goes on counting where it was. */
const paceOf = ({ replies = 0 }: WorkOrder): Pace => ({
  iteration: replies,
  shortened: 0,
  tooLong: null,
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
  const said = last?.by === 'model' && last.calls.length === 0;
  return said || handedOver(turns) !== null ? atTheEnd(order, gate, turns) : null;
}

async function takeReply(
  order: WorkOrder,
  gate: Gate,
  turns: Turn[],
  reply: ModelReply,
  signal: AbortSignal,
): Promise<WorkOutcome | null> {
  const cut = reply.stopReason === 'output limit';
  const calls = reply.stopReason === 'tool use' ? reply.calls : [];
  turns.push({
    by: 'model',
    text: reply.text,
    calls,
    ...(reply.opaque === undefined ? {} : { opaque: reply.opaque }),
  });
  if (reply.stopReason === 'refused') return { is: 'failed', reason: 'The model refused to go on' };
  if (cut) {
    turns.push(gate.tell(order, CUT_OFF));
    return null;
  }
  if (calls.length === 0) return atTheEnd(order, gate, turns);
  if (inCircles(turns, calls))
    return { is: 'failed', reason: `Loop detected: the same calls ${CIRCLES} times in a row` };
  turns.push({ by: 'tools', results: await gate.use(order, calls, signal) });
  return handedOver(turns) !== null ? atTheEnd(order, gate, turns) : null;
}

/** The model ended its turn without a call, or with its final output: done, unless somebody has written meanwhile (CONTRACT D9). */
function atTheEnd(order: WorkOrder, gate: Gate, turns: Turn[]): WorkOutcome | null {
  const mail = gate.waiting(order, 'at the end');
  if (mail) {
    turns.push(mail);
    return null;
  }
  const summary = answersIn(turns).join('\n\n');
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
    .map((text) => text.replace(/\n?\s*\[(?:COMPLETE|DONE)\]\s*$/, '').trim())
    .filter((text) => text !== '');

function inCircles(turns: readonly Turn[], calls: readonly ToolCall[]): boolean {
  const key = (list: readonly ToolCall[]): string => JSON.stringify(list.map(({ tool, input }) => [tool, input]));
  const now = key(calls);
  for (let same = 0, at = turns.length - 1; at >= 0; at -= 1) {
    const turn = turns[at];
    if (turn?.by !== 'model') continue;
    if (key(turn.calls) !== now) return false;
    same += 1;
    if (same === CIRCLES) return true;
  }
  return false;
}

/** What was said so far is handed over even when the end came early (USERS: results lost). */
function ended(fault: Exclude<AskFault, { is: 'told' }>, turns: readonly Turn[]): WorkOutcome {
  switch (fault.is) {
    case 'stopped':
      return { is: 'stopped', reason: fault.text };
    case 'budget':
      return { is: 'partial', reason: fault.text, summary: lastWords(turns) };
    case 'too long':
      return {
        is: 'partial',
        reason: `The conversation does not fit the model: ${fault.text}`,
        summary: lastWords(turns),
      };
    case 'denied':
    case 'model':
      return { is: 'failed', reason: fault.text };
    default:
      return unreachable(fault);
  }
}

const lastWords = (turns: readonly Turn[]): string =>
  turns.flatMap((turn) => (turn.by === 'model' && turn.text !== '' ? [turn.text] : [])).at(-1) ?? '';
