/** One text written by a model outside of a run, in a session of its own with one agent without tools. The gate applies
 * rules, limits, fallbacks and charges. The caller supplies the prompt and checks the answer. */
import type { WorkOrder } from '../../domain/agents/agent.ts';
import { type ModelId, ROOT, type Usd } from '../../domain/ids.ts';
import type { ModelOption } from '../../domain/plan/plan.ts';
import { reasonText } from '../../domain/reason.ts';
import { fail, ok, type Result } from '../../domain/result.ts';
import type { Turn } from '../../domain/turn.ts';
import { spentOf } from '../../events/index.ts';
import { OFFLINE } from '../../policy/index.ts';
import { decide } from '../../policy/decide.ts';
import { LogFault } from '../../ports/log.ts';
import { askRoot, type Question } from '../gate/index.ts';
import { createdEvent, workOrderFor } from '../agents/index.ts';
import { answered } from '../planning/index.ts';
import { ROOT_RUNS } from './idle-session.ts';
import { close } from './report.ts';
import { openRun, rootAgent, type RunModules, type RunOptions, startedEvent } from './open-run.ts';

/** How often a model may correct an unusable answer. */
const REPAIRS = 1;

export interface DraftOrder<T> {
  readonly system: string;
  readonly asked: string;
  readonly form: NonNullable<Question['format']>;
  /** Parses an answer; the fault is told to the model. */
  readonly read: (answer: string) => Result<T, string>;
  readonly textOf: (made: T) => string;
}

export interface Drafted<T> {
  readonly made: Result<T, string>;
  readonly model: ModelId;
  readonly calls: number;
  readonly tokens: number;
  readonly cost: Usd;
  /** False where the price of a call is unknown. */
  readonly priced: boolean;
}

/** The model that would be asked, with the settings of `main`; or why none may be. */
export function drafterFor(options: RunOptions): Result<ModelOption, string> {
  const { rules, mode } = options;
  // Nobody is asked for the turn of a draft.
  const alone = { mode, interactive: false, sandbox: 'none', capabilities: [] } as const;
  const turn = decide({ is: 'turn' }, rules, alone);
  if (turn.verdict !== 'allow') return fail(reasonText(turn.because));
  const root = rootAgent(options);
  if (!root.ok) return root;
  const { used, because } = root.value.model;
  const option = options.models.models().find(({ id }) => id === used);
  return option === undefined || used === OFFLINE
    ? fail(because ?? 'the offline analyst cannot write drafts')
    : ok(option);
}

/** Begins a session and asks. The caller has locked `options.session`; the limits of its options apply to the draft. `result` rejects only on a
 * bug; it resolves soon after `stop`. */
export function startDrafting<T>(options: RunOptions, order: DraftOrder<T>) {
  const root = rootAgent(options);
  if (!root.ok) throw new Error(`nobody can be asked: ${root.fault}`);
  const parts = openRun(options, { ...root.value, capabilities: [] });
  const result = runDraft(parts, order).finally(() => parts.recorder.close());
  return { result, stop: (reason: string): void => parts.stop(reason) };
}

async function runDraft<T>(parts: RunModules, order: DraftOrder<T>): Promise<Drafted<T>> {
  const { options, recorder, root } = parts;
  try {
    recorder.record(startedEvent(options, { draft: true }), createdEvent(options, root), ROOT_RUNS);
    const made = await askForDraft(parts, order);
    if (made.ok) close(parts, 'completed', order.textOf(made.value), 'completed');
    else if (parts.signal.aborted) close(parts, 'rejected', made.fault, 'killed');
    else close(parts, 'failed', made.fault, 'failed');
    return draftResult(parts, made);
  } catch (error) {
    if (!(error instanceof LogFault)) throw error;
    return draftResult(parts, fail(error.message));
  }
}

async function askForDraft<T>(
  { options, root, gate, signal, why }: RunModules,
  { system, asked: request, form, read }: DraftOrder<T>,
): Promise<Result<T, string>> {
  const order: WorkOrder = { ...workOrderFor(options, root, []), system, tools: [], capabilities: [] };
  const purpose = { is: 'draft', task: options.task } as const;
  const turns: Turn[] = [gate.tell(order, request)];
  for (let repairs = 0; ; repairs += 1) {
    const reply = await askRoot(gate, { order, turns, purpose, format: form }, 'between turns', signal);
    if (!reply.ok) return fail(why().text ?? reply.fault.text);
    const { stopReason, text } = reply.value;
    if (stopReason === 'refused') return fail('the model refused to draft it');
    const made = stopReason === 'output limit' ? fail('the answer was cut off at the output limit') : read(text);
    if (made.ok) return made;
    if (repairs === REPAIRS) return fail(`the model's answers were unusable: ${made.fault}`);
    turns.push(answered(reply.value), gate.tell(order, repairText(made.fault)));
  }
}

const repairText = (fault: string): string =>
  `This cannot be used: ${fault}\nAnswer with the whole corrected object as JSON only.`;

function draftResult<T>({ recorder, root }: RunModules, made: Result<T, string>): Drafted<T> {
  const state = recorder.state();
  const main = state.agents.get(ROOT);
  const { cost, tokens } = spentOf(state);
  const calls = [...recorder.each(0, { types: ['model.started'] })].length;
  return { made, model: main?.model.used ?? root.model.used, calls, tokens, cost, priced: main?.priced ?? true };
}
