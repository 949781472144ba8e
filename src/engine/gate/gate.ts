/** Every model call and tool call of an agent passes through here, always in this order: decide, reserve, record, act, record. No `await`
 * separates deciding and reserving. Policy decides what is allowed; budget/, model/ and tools/ carry it out. */
import type { WorkOrder, WorkOutcome } from '../../domain/agents/agent.ts';
import type { AgentId } from '../../domain/ids.ts';
import { fail, ok, type Result } from '../../domain/result.ts';
import type { CheckEnd } from '../../domain/plan/task-checks.ts';
import type { ModelReply, ToolCall, ToolResult, Turn } from '../../domain/turn.ts';
import { lacksVerdict, VERDICT_REMINDER } from '../../events/index.ts';
import type { Tick } from '../../ports/controls.ts';
import { openApprovals } from './approvals.ts';
import { limitChanged, openBudgets } from './budget/budgets.ts';
import type { AgentSetup, AskFault, Question, RunContext } from './context.ts';
import { openDrainLatch } from './drain-latch.ts';
import { openInbox } from './inbox.ts';
import { askModel } from './model/ask.ts';
import { type Compaction, recordCompaction, type ContextBudget, contextBudgetOf } from './model/context-budget.ts';
import { openProviderQueues } from './provider-queue.ts';
import type { GateHooks, GateParts } from './budget/parts.ts';
import { redactedTicks } from './recorder.ts';
import { type CheckCall, runCheck, treeNow } from './tools/check.ts';
import { noteResults, refuseTools, type ResultsTurn, useTools } from './tools/use.ts';

export interface Gate {
  /** One reply of the agent's model, within policy and budget; falls back to other models as the order allows. Rejects only on a bug. */
  ask(question: Question, signal: AbortSignal): Promise<Result<ModelReply, AskFault>>;
  /** Carries out all calls of one reply: reads in parallel, other calls in the order asked. Results come in the order asked. */
  use(order: WorkOrder, calls: readonly ToolCall[], signal: AbortSignal): Promise<readonly ToolResult[]>;
  /** Answers calls that must not be carried out. Nothing is done. */
  refuse(order: WorkOrder, calls: readonly ToolCall[], text: string): readonly ToolResult[];
  /** Appends a sentence to the results and records them. */
  note(order: WorkOrder, turn: ResultsTurn, text: string): Turn;
  tell(order: WorkOrder, text: string): Turn;
  /** Undelivered messages to the agent as one user turn, recorded as delivered; null when there are none. */
  waiting(order: WorkOrder, when: When): Turn | null;
  /** How the agent itself has reported its end; null while it has not. */
  signalled(order: WorkOrder): WorkOutcome | null;
  /** How much of the context window of the agent's present model a request with `turns` fills. */
  room(order: WorkOrder, turns: readonly Turn[]): ContextBudget;
  /** Records that the conversation continues as these turns: the first one, the summary, the last `kept`. */
  compacted(order: WorkOrder, to: Compaction): void;
}

export type { ToolHost, ToolOutput } from '../../ports/tool.ts';
type When = 'between turns' | 'at the end';

/** An opened gate: what agents do through it, and what the rest of the run asks of it. */
export interface OpenGate extends Gate, Pick<GateParts, 'inbox' | 'approvals' | 'limits' | 'drain'> {
  /** Calls `listener` for each tick of streamed text; returns the unsubscribe function. */
  ticks(listener: (tick: Tick) => void): () => void;
  /** The agent has another model: an agent that waits for the former one, or for an answer about a limit, is judged again. */
  modelChanged(agent: AgentId): void;
  /** Runs a check of the agent's task, by the rules for its commands. Null: stopped first. Rejects only on a bug. */
  check(order: WorkOrder, call: CheckCall, signal: AbortSignal): Promise<CheckEnd | null>;
  /** Digest of the project's files that git does not ignore; null where it cannot be told. */
  tree(signal: AbortSignal): Promise<string | null>;
  /** Adds the hooks of a higher module when that module is opened. */
  hook(more: Partial<GateHooks>): void;
}

export function openGate(context: RunContext, options: AgentSetup): OpenGate {
  const { recorder, world } = context;
  const { models, tools, day, redactor } = options;
  const hooks = noHooks();
  const approvals = openApprovals(
    recorder,
    world,
    () => context.rules().answerWithin?.value,
    (agent) => hooks.waits(agent),
    (agent) => hooks.rests(agent),
  );
  const listeners = new Set<(tick: Tick) => void>();
  const show = (tick: Tick): void => {
    for (const listener of listeners) listener(tick);
  };
  const opened = {
    hooks,
    inbox: openInbox(recorder),
    approvals,
    drain: openDrainLatch(),
    providers: openProviderQueues(world),
  };
  const parts: GateParts = {
    ...context,
    ...openBudgets(),
    ...opened,
    options,
    models,
    tools,
    day,
    modelChanges: new Map(),
    tick: redactor === undefined ? show : redactedTicks(show, redactor),
    hide: (text) => redactor?.known(text) ?? text,
    useForPerson: async (order, call, signal) => (await useTools(parts, order, [call], signal, 'person'))[0],
  };
  const { limits, modelChanges } = parts;
  const watchAnew = (): void => limits.watchers.forEach((watch) => watch());
  parts.recorder.onRecord(({ type }) => {
    if (type === 'budget.changed') queueMicrotask(watchAnew);
  });
  return {
    ...opened,
    limits,
    ticks(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    modelChanged(agent) {
      limitChanged(limits, agent);
      modelChanges.get(agent)?.();
    },
    tree: (signal) => treeNow(tools, signal),
    check: (order, call, signal) => runCheck(parts, order, call, signal),
    hook: (more) => void Object.assign(hooks, more),
    ...gateOf(parts),
  };
}

function gateOf(parts: GateParts): Gate {
  const { recorder, inbox } = parts;
  const tell = (order: WorkOrder, text: string, messages: readonly number[]): Turn => {
    recorder.record({ type: 'agent.told', agent: order.agent, text, messages });
    return { by: 'user', text: parts.hide(text) };
  };
  return {
    ask: (question, signal) => askModel(parts, question, signal),
    use: (order, calls, signal) => useTools(parts, order, calls, signal),
    refuse: (order, calls, text) => refuseTools(parts, order, calls, text),
    note: (order, turn, text) => noteResults(parts, order, turn, text),
    tell: (order, text) => tell(order, text, []),
    waiting(order, when) {
      const mail = inbox.take(order.agent, when);
      if (mail !== null) return tell(order, mail.text, mail.messages);
      return when === 'at the end' && lacksVerdict(recorder.state(), order.agent)
        ? tell(order, VERDICT_REMINDER, [])
        : null;
    },
    signalled({ agent }) {
      const signal = recorder.state().agents.get(agent)?.signalled ?? null;
      if (signal === null) return null;
      return signal.status === 'completed'
        ? { is: 'completed', summary: signal.message }
        : { is: 'failed', reason: signal.message };
    },
    room: (order, turns) => contextBudgetOf(parts, order, turns),
    compacted: (order, to) => recordCompaction(parts, order, to),
  };
}

const noHooks = (): GateHooks => ({
  beforeCommit: () => Promise.resolve(ok(undefined)),
  toolHost: () => {
    throw new Error('no tool host is set');
  },
  abandon: () => undefined,
  waits: () => false,
  rests: () => false,
});

/** One reply. Messages that arrive meanwhile are appended to the turns of the question. */
export async function askRoot(
  gate: Gate,
  question: Question & { readonly turns: Turn[] },
  when: Parameters<Gate['waiting']>[1],
  signal: AbortSignal,
): Promise<Result<ModelReply, Exclude<AskFault, { readonly is: 'told' }>>> {
  for (;;) {
    const mail = gate.waiting(question.order, when);
    if (mail) question.turns.push(mail);
    const reply = await gate.ask(question, signal);
    if (reply.ok) return reply;
    if (reply.fault.is !== 'told') return fail(reply.fault);
  }
}
