/** The agent loop: ask the model, use tools, repeat until an answer without calls; messages are read between turns.
 * Knows only the gate: no clock, chance, files or network, so that it can run wherever the gate can be reached. */
import type { WorkOrder, WorkOutcome } from '../../domain/agents/agent.ts';
import { briefText } from '../../domain/agents/brief.ts';
import { unreachable } from '../../domain/result.ts';
import type { ModelReply, ToolCall, ToolResult, Turn } from '../../domain/turn.ts';
import { type AskFault, type Gate, lastFinalOutput, isReviewer, VERDICT_TOOL } from '../gate/index.ts';
import { answersGiven, compact, CUT_OFF } from './compact.ts';

/** After this many compactions in a row without a reply, the agent gives up. */
const MOST_COMPACTIONS = 2;
/** How often a closing answer is requested; a model that only calls tools is asked once more. */
const MOST_CLOSINGS = 2;

/** Carries out `order`. Resolves however the agent ended; rejects only on a bug. */
export const runAgent = (order: WorkOrder, gate: Gate, signal: AbortSignal): Promise<WorkOutcome> =>
  new Loop(order, gate, signal).run();

class Loop {
  private readonly order: WorkOrder;
  private readonly gate: Gate;
  private readonly signal: AbortSignal;
  private readonly turns: Turn[];
  /** A resumed agent continues its count. */
  private iteration: number;
  private compactions = 0;
  /** The model's fault when a request was too long; otherwise null. */
  private tooLong: string | null = null;
  /** Why the next turn is the last one; null while it is not. */
  private closing: string | null = null;
  private closings = 0;
  /** The conversation ends with an earlier closing answer. */
  private closed: boolean;

  constructor(order: WorkOrder, gate: Gate, signal: AbortSignal) {
    this.order = order;
    this.gate = gate;
    this.signal = signal;
    this.turns = [...order.turns];
    this.iteration = order.replies ?? 0;
    this.closed = isClosed(this.turns);
  }

  async run(): Promise<WorkOutcome> {
    const { order, gate, turns } = this;
    if (turns.length === 0) this.tell(briefText(order));
    await this.answerOpenCalls();
    const known = gate.signalled(order) ?? this.answerGiven();
    if (known) return known;
    for (;;) {
      if (this.closed && this.iteration < order.iterations - 1) this.note(GO_ON);
      const outcome = await this.oneTurn();
      // The agent's own report of its end precedes the result of the step.
      const end = (this.signal.aborted ? null : gate.signalled(order)) ?? outcome;
      if (end) return end;
    }
  }

  private tell(text: string): void {
    this.turns.push(this.gate.tell(this.order, text));
  }

  /** Messages, compaction, a reply, its tools. Null: the loop continues. */
  private async oneTurn(): Promise<WorkOutcome | null> {
    const { order, gate, turns, signal } = this;
    if (signal.aborted) return { is: 'stopped', reason: String(signal.reason) };
    const mail = gate.waiting(order, 'between turns');
    if (mail) turns.push(mail);
    const stop = await this.compactIfNeeded();
    if (stop) return stop === 'again' ? null : stop;
    const reason = this.closingReason();
    if (reason !== null) return this.lastTurn(reason);
    if (order.iterations - this.iteration === TOLD_BEFORE && hasReplied(turns)) this.note(FEW_TURNS);
    const reply = await gate.ask({ order, turns }, signal);
    if (!reply.ok) return this.afterFault(reply.fault);
    this.iteration += 1;
    this.compactions = 0;
    this.closed = false;
    return this.takeReply(reply.value);
  }

  /** Why the next turn is the last one; null where it is not. */
  private closingReason(): string | null {
    if (this.iteration >= this.order.iterations - 1) this.closing ??= MAX_ITERATIONS;
    return this.closing;
  }

  /** Requests the closing answer, in which no tool can be called and which counts as partial. Null: it is requested again. */
  private async lastTurn(reason: string): Promise<WorkOutcome | null> {
    const { order, gate, turns, signal } = this;
    // A closing answer was given before, and nothing was done since.
    if (this.closed) return { is: 'partial', reason, summary: joined(answersIn(turns)) };
    this.note(lastTurnText(reason, isReviewer(order)));
    const reply = await gate.ask({ order, turns, closing: true }, signal);
    if (!reply.ok) return this.afterFault(reply.fault);
    const { text, stopReason } = reply.value;
    const before = answersIn(turns);
    const calls = this.takeTurn(reply.value);
    this.closings += 1;
    if (stopReason === 'refused') return { is: 'failed', reason: 'The model refused to continue' };
    if (calls.length > 0) turns.push({ by: 'tools', results: await this.lastResults(calls) });
    return this.afterClosing(reason, before, answerOf(text));
  }

  /** The outcome of the last turn. A reviewer with a verdict has completed its task. Null: the closing answer is requested again. */
  private afterClosing(reason: string, before: readonly string[], answer: string): WorkOutcome | null {
    const { turns } = this;
    const isReviewing = isReviewer(this.order);
    if (isReviewing && hasVerdict(turns))
      return { is: 'completed', summary: joined(answersIn(turns)) || 'Verdict given.' };
    if (!isReviewing && answer !== '') return { is: 'partial', reason, summary: joined([...before, answer]) };
    return this.closings < MOST_CLOSINGS ? null : { is: 'partial', reason, summary: interimOf(turns) };
  }

  /** Tells the agent `text` once before its next reply, in its last tool result if there is one. */
  private note(text: string): void {
    const { order, gate, turns } = this;
    if (endsWithText(turns, text)) return;
    const at = turns.findLastIndex(({ by }) => by !== 'user');
    const last = turns[at];
    if (last?.by === 'tools') turns[at] = gate.note(order, last, text);
    else this.tell(text);
  }

  /** Continues after a message or a too long request (which is compacted, twice at most); any other fault ends the agent. */
  private afterFault(fault: AskFault): WorkOutcome | null {
    if (fault.is === 'told') return null;
    if (fault.is === 'budget' && this.closing === null && hasReplied(this.turns)) {
      this.closing = fault.text;
      return null;
    }
    if (fault.is !== 'too long' || this.compactions >= MOST_COMPACTIONS) return outcomeOf(fault, this.turns);
    this.tooLong = fault.text;
    return null;
  }

  /** Compacts the conversation when it nears the context window, or when the model found it too long. Null: the model may be asked. */
  private async compactIfNeeded(): Promise<WorkOutcome | 'again' | null> {
    const { order, gate, turns, signal, tooLong } = this;
    if (tooLong === null) {
      const { tokens, limit } = gate.room(order, turns);
      if (tokens <= limit || this.compactions > 0) return null;
    }
    const compaction = await compact(order, gate, turns, signal, { force: tooLong !== null });
    if (compaction.is === 'told') return 'again';
    if (compaction.is === 'stopped') return { is: 'stopped', reason: compaction.text };
    this.compactions += 1;
    this.tooLong = null;
    if (compaction.is === 'done') turns.splice(0, turns.length, ...compaction.turns);
    else if (tooLong !== null) return outcomeOf({ is: 'too long', text: tooLong }, turns);
    return null;
  }

  /** A resumed conversation may end in calls without results. Those that may be repeated, or never began, run now. */
  private async answerOpenCalls(): Promise<void> {
    const { order, gate, turns, signal } = this;
    const at = turns.findLastIndex(({ by }) => by === 'model');
    const asked = turns[at];
    if (asked?.by !== 'model') return;
    const next = turns[at + 1];
    const known: readonly ToolResult[] = next?.by === 'tools' ? next.results : [];
    const open = asked.calls.filter(({ id }) => !known.some(({ call }) => call === id));
    if (open.length === 0) return;
    const results = inOrder(asked.calls, [...known, ...(await gate.use(order, open, signal))]);
    turns.splice(at + 1, next?.by === 'tools' ? 1 : 0, { by: 'tools', results });
  }

  /** The outcome if the answer was already given when the run was cut off, so that it is not requested twice. */
  private answerGiven(): WorkOutcome | null {
    const { turns } = this;
    const last = turns.at(-1);
    // A closing answer does not end the work; the limits decide whether it continues.
    if (isClosed(turns)) return null;
    const hasAnswered = last?.by === 'model' && last.calls.length === 0;
    return hasAnswered || lastFinalOutput(turns) !== null ? this.endIfNoMail() : null;
  }

  private async takeReply(reply: ModelReply): Promise<WorkOutcome | null> {
    const { order, gate, turns, signal } = this;
    const calls = this.takeTurn(reply);
    if (reply.stopReason === 'refused') return { is: 'failed', reason: 'The model refused to continue' };
    if (reply.stopReason === 'output limit') {
      this.tell(CUT_OFF);
      return null;
    }
    if (calls.length === 0) return this.endIfNoMail();
    turns.push({ by: 'tools', results: await gate.use(order, calls, signal) });
    if (lastFinalOutput(turns) !== null) return this.endIfNoMail();
    const same = signal.aborted ? 0 : sameInARow(turns);
    if (same >= ENDED_AT) this.closing = LOOP_REASON;
    else if (same >= NOTED_AT) this.note(loopText(same));
    return null;
  }

  /** Appends the reply to the conversation; returns the calls to carry out. */
  private takeTurn({ text, calls: asked, stopReason, opaque }: ModelReply): readonly ToolCall[] {
    const calls = stopReason === 'tool use' ? asked : [];
    this.turns.push({ by: 'model', text, calls, ...(opaque === undefined ? {} : { opaque }) });
    return calls;
  }

  /** The model ended its turn without a call, or with its final output: the work is done unless messages have arrived. */
  private endIfNoMail(): WorkOutcome | null {
    const mail = this.gate.waiting(this.order, 'at the end');
    if (mail) {
      this.turns.push(mail);
      return null;
    }
    const summary = joined(answersIn(this.turns));
    return summary === ''
      ? { is: 'failed', reason: 'The model ended without an answer' }
      : { is: 'completed', summary };
  }

  /** The results of calls in a last turn, in which only a reviewer's verdict is carried out. */
  private async lastResults(calls: readonly ToolCall[]): Promise<readonly ToolResult[]> {
    const { order, gate, signal } = this;
    if (!isReviewer(order)) return gate.refuse(order, calls, NOT_IN_LAST_TURN);
    const verdicts = calls.filter(({ tool }) => tool === VERDICT_TOOL);
    const others = calls.filter(({ tool }) => tool !== VERDICT_TOOL);
    const given = await gate.use(order, verdicts, signal);
    return inOrder(calls, [...given, ...gate.refuse(order, others, ONLY_THE_VERDICT)]);
  }
}

const inOrder = (calls: readonly ToolCall[], results: readonly ToolResult[]): readonly ToolResult[] =>
  calls.flatMap(({ id }) => results.filter(({ call }) => call === id));

const hasReplied = (turns: readonly Turn[]): boolean => turns.some(({ by }) => by === 'model');

/** Every answer given, because the answer to a late message must not replace the answer of the work. */
const answersIn = (turns: readonly Turn[]): readonly string[] =>
  answersGiven(turns)
    .map(answerOf)
    .filter((text) => text !== '');

const answerOf = (text: string): string => text.replace(/\n?\s*\[(?:COMPLETE|DONE)\]\s*$/, '').trim();
const joined = (answers: readonly string[]): string => answers.join('\n\n');

/** The outcome of a fault. Answers given so far are handed over. */
function outcomeOf(fault: Exclude<AskFault, { is: 'told' }>, turns: readonly Turn[]): WorkOutcome {
  switch (fault.is) {
    case 'stopped':
      return { is: 'stopped', reason: fault.text };
    case 'budget':
      return { is: 'partial', reason: fault.text, summary: interimOf(turns), atLimit: true };
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

/** The answers given, followed by the last text of the model, marked as interim. */
function interimOf(turns: readonly Turn[]): string {
  const answers = answersIn(turns);
  const last = turns
    .flatMap((turn) => (turn.by === 'model' ? [answerOf(turn.text)] : []))
    .findLast((text) => text !== '');
  const interim = last === undefined || last === answers.at(-1) ? '' : interimText(last);
  return joined([...answers, interim].filter((text) => text !== ''));
}

const hasVerdict = (turns: readonly Turn[]): boolean =>
  turns.some((turn, at) => {
    const next = turns[at + 1];
    if (turn.by !== 'model' || next?.by !== 'tools') return false;
    const asked = new Set(turn.calls.flatMap(({ tool, id }) => (tool === VERDICT_TOOL ? [id] : [])));
    return next.results.some(({ call, ok }) => ok && asked.has(call));
  });

/** An agent is told when this many turns are left, the last one included. */
const TOLD_BEFORE = 3;
const MAX_ITERATIONS = 'Max iterations reached';
const FEW_TURNS = `(Mimir: you have ${TOLD_BEFORE} turns left. The last one is for your answer and cannot call tools. Do the most important work now.)`;

const LAST_TURN =
  'This is your last turn; it cannot call tools. Answer now: what you did and found, with `path:line`, and what is left to do.)';

const LAST_TURN_OF_REVIEWER = `This is your last turn; it can call only \`${VERDICT_TOOL}\`. Give your verdict now: without it the change does not pass.)`;

/** The note before the closing answer. `reason`: why there is no further turn. */
const lastTurnText = (reason: string, judges: boolean): string =>
  `(Mimir: ${reason}. ${judges ? LAST_TURN_OF_REVIEWER : LAST_TURN}`;

const NOT_IN_LAST_TURN = 'Not run: no tool can be called in the last turn. Answer in words.';

/** The same for a reviewer. */
const ONLY_THE_VERDICT = `Not run: only \`${VERDICT_TOOL}\` can be called in the last turn.`;

/** The note to an agent that has given its closing answer and may continue. */
const GO_ON = '(Mimir: you can work and call tools again. Continue with what is left to do.)';

/** The last text of an agent that ended without a closing answer. */
const interimText = (words: string): string =>
  words === '' ? '' : `(Partial: no turn was left for a final answer. The last message follows.)\n\n${words}`;

/** The same calls with the same results this often in a row: first a note, then the end. */
const NOTED_AT = 3;
const ENDED_AT = 6;
const LOOP_REASON = `Loop detected: the same calls with the same results ${ENDED_AT} times in a row`;

const loopText = (times: number): string =>
  `(Mimir: the same call has given the same result ${times} times in a row. Do something else, or answer.)`;

const NOTES = /(?:\n\n\(Mimir: [^\n]*\))+$/;

/** The duration of a command in its result, which is ignored when results are compared. */
const TOOK = /(?<=^[^\n]*) after [0-9.]+ s/;

/** How often in a row, up to the last turn, the same calls gave the same results. */
function sameInARow(turns: readonly Turn[]): number {
  let [same, known] = [0, ''];
  for (let at = turns.length - 1; at >= 0; at -= 1) {
    const turn = turns[at];
    if (turn?.by !== 'model') continue;
    const next = turns[at + 1];
    if (next?.by !== 'tools') return same;
    const key = keyOf(turn.calls, next.results);
    if (same > 0 && key !== known) return same;
    known = key;
    same += 1;
  }
  return same;
}

const keyOf = (calls: readonly ToolCall[], results: readonly ToolResult[]): string =>
  JSON.stringify([
    calls.map(({ tool, input }) => [tool, input]),
    results.map(({ ok, text }) => [ok, text.replace(NOTES, '').replace(TOOK, '')]),
  ]);

function isClosed(turns: readonly Turn[]): boolean {
  const at = turns.findLastIndex(({ by }) => by === 'model');
  return at > 0 && endsWithText(turns.slice(0, at), LAST_TURN);
}

function endsWithText(turns: readonly Turn[], text: string): boolean {
  const from = turns.findLastIndex(({ by }) => by === 'model') + 1;
  return turns.slice(from).some((turn) => {
    if (turn.by === 'tools') return turn.results.at(-1)?.text.endsWith(text) === true;
    return turn.by === 'user' && turn.text.endsWith(text);
  });
}
