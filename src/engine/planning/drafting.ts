/**
 * One text by a model outside of a run: a session of its own, with one agent without tools. Rules, limits, fallbacks, the log and what is
 * charged are the gate's, as for a plan. What is asked for, and what an answer is worth, comes from the caller.
 */
import type { WorkOrder } from '../../domain/agents/agent.ts';
import { type ModelId, ROOT, type Usd } from '../../domain/ids.ts';
import type { ModelOption } from '../../domain/plan/plan.ts';
import { reasonText } from '../../domain/reason.ts';
import { fail, ok, type Result } from '../../domain/result.ts';
import type { Turn } from '../../domain/turn.ts';
import { spentOf } from '../../events/queries.ts';
import { decide } from '../../policy/decide.ts';
import { OFFLINE } from '../../policy/models.ts';
import { LogFault } from '../../ports/log.ts';
import { askRoot } from '../messaging/ask-root.ts';
import type { Question } from '../gate/question.ts';
import { createdEvent, orderOf, startedEvent } from '../agents/agent-spec.ts';
import { openParts, rootAgent, type RunParts } from '../run/parts.ts';
import { answered } from './planner.ts';
import type { RunOptions } from '../run/run-options.ts';
import { close } from '../run/run-result.ts';

/** How often a model may mend what could not be used. */
const REPAIRS = 1;

export interface DraftOrder<T> {
  readonly system: string;
  readonly asked: string;
  readonly form: NonNullable<Question['format']>;
  /** What an answer makes, or what is wrong with it, in words that the model is told. */
  readonly read: (answer: string) => Result<T, string>;
  /** What was made, for the log. */
  readonly words: (made: T) => string;
}

export interface Drafted<T> {
  /** Or why there is none, for a person. */
  readonly made: Result<T, string>;
  /** Who answered at last. */
  readonly model: ModelId;
  readonly calls: number;
  readonly tokens: number;
  readonly cost: Usd;
  /** False where the price of a call is not known. */
  readonly priced: boolean;
}

export interface Drafting<T> {
  /** Resolves with what was made, or why not; never rejects but for a bug. */
  readonly result: Promise<Drafted<T>>;
  /** Ends the call; `result` resolves soon after. */
  stop(reason: string): void;
}

/** The model that would be asked here, as `main` has it; or why none may be. */
export function drafterFor(options: RunOptions): Result<ModelOption, string> {
  const { rules, mode } = options;
  // Nobody is asked for a turn of a draft.
  const alone = { mode, interactive: false, sandbox: 'none', capabilities: [], granted: false } as const;
  const turn = decide({ is: 'turn' }, rules, alone);
  if (turn.verdict !== 'allow') return fail(reasonText(turn.because));
  const root = rootAgent(options);
  if (!root.ok) return root;
  const { used, because } = root.value.model;
  const option = options.models.models().find(({ id }) => id === used);
  return option === undefined || used === OFFLINE ? fail(because ?? 'the built-in analyst drafts nothing') : ok(option);
}

/** Begins a session and asks. `options.session` is claimed by the caller; its limits are those of the draft. */
export function startDrafting<T>(options: RunOptions, order: DraftOrder<T>): Drafting<T> {
  const root = rootAgent(options);
  if (!root.ok) throw new Error(`nobody can be asked: ${root.fault}`);
  const parts = openParts(options, { ...root.value, capabilities: [] });
  const result = carried(parts, order).finally(() => parts.recorder.close());
  return { result, stop: (reason) => parts.stop(reason) };
}

async function carried<T>(parts: RunParts, order: DraftOrder<T>): Promise<Drafted<T>> {
  const { options, recorder, root } = parts;
  try {
    recorder.record(startedEvent(options, { draft: true }), createdEvent(options, root), {
      type: 'agent.status',
      agent: ROOT,
      status: 'running',
      reason: '',
    });
    const made = await asked(parts, order);
    if (made.ok) close(parts, 'completed', order.words(made.value), 'completed');
    else if (parts.signal.aborted) close(parts, 'rejected', made.fault, 'killed');
    else close(parts, 'failed', made.fault, 'failed');
    return sum(parts, made);
  } catch (error) {
    if (!(error instanceof LogFault)) throw error;
    return sum(parts, fail(error.message));
  }
}

async function asked<T>(
  { options, root, gate, signal, trouble }: RunParts,
  { system, asked: request, form, read }: DraftOrder<T>,
): Promise<Result<T, string>> {
  const order: WorkOrder = { ...orderOf(options, root, []), system, tools: [], capabilities: [] };
  const purpose = { is: 'draft', task: options.task } as const;
  const turns: Turn[] = [gate.tell(order, request)];
  for (let repairs = 0; ; repairs += 1) {
    const reply = await askRoot(gate, { order, turns, purpose, format: form }, 'between turns', signal);
    if (!reply.ok) return fail(trouble.text ?? reply.fault.text);
    const { stopReason, text } = reply.value;
    if (stopReason === 'refused') return fail('the model refused to draft it');
    const made = stopReason === 'output limit' ? fail('the answer was cut off at the output limit') : read(text);
    if (made.ok) return made;
    if (repairs === REPAIRS) return fail(`its answers could not be used: ${made.fault}`);
    turns.push(answered(reply.value), gate.tell(order, repairText(made.fault)));
  }
}

const repairText = (fault: string): string =>
  `This can't be used: ${fault}\nAnswer with the whole corrected object as JSON only.`;

function sum<T>({ recorder, root }: RunParts, made: Result<T, string>): Drafted<T> {
  const state = recorder.state();
  const main = state.agents.get(ROOT);
  const { cost, tokens } = spentOf(state);
  const calls = [...recorder.each({ types: ['model.started'] })].length;
  return { made, model: main?.model.used ?? root.model.used, calls, tokens, cost, priced: main?.priced ?? true };
}
