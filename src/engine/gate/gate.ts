/**
 * The one door to the outside: everything an agent does goes through here, always in this order: decide, reserve,
 * record, act, record. Judging and reserving stay one step without `await`. What models and tools are is theirs to say;
 * what is allowed is policy's; how it is done is said in budget/, model/ and tools/.
 */
import type { WorkOrder, WorkOutcome } from '../../domain/agents/agent.ts';
import type { AgentId } from '../../domain/ids.ts';
import type { Result } from '../../domain/result.ts';
import type { ModelReply, ToolCall, ToolResult, Turn } from '../../domain/turn.ts';
import type { RunContext } from './context.ts';
import { lacksVerdict, VERDICT_REMINDER } from '../reviews/record.ts';
import { type Budgets, openBudgets } from './budget/budgets.ts';
import { askModel, type ModelParts } from './model/ask.ts';
import { type Compaction, recordCompaction, type Room, roomOf } from './model/context-budget.ts';
import { openLines } from './model/provider-queue.ts';
import type { AskFault, Question } from './question.ts';
import { noteResults, refuseTools, type ResultsTurn, type ToolParts, useTools } from './tools/use.ts';

export interface Gate {
  /** One reply of the agent's model, within policy and budget; falls back as the order says. Never rejects but for a bug. */
  ask(question: Question, signal: AbortSignal): Promise<Result<ModelReply, AskFault>>;
  /** All calls of one reply: reading ones together, others in the order asked; results in the order asked. */
  use(order: WorkOrder, calls: readonly ToolCall[], signal: AbortSignal): Promise<readonly ToolResult[]>;
  /** Answers calls that may not be carried out; nothing is done. */
  refuse(order: WorkOrder, calls: readonly ToolCall[], text: string): readonly ToolResult[];
  /** The same results with a sentence at their end, recorded. */
  note(order: WorkOrder, turn: ResultsTurn, text: string): Turn;
  /** Puts a user turn into the agent's context and records it. */
  tell(order: WorkOrder, text: string): Turn;
  /** Messages that wait for the agent as one user turn, recorded as delivered; null when there are none. */
  waiting(order: WorkOrder, when: When): Turn | null;
  /** How the agent has said that its work ends; null while it has not. */
  signalled(order: WorkOrder): WorkOutcome | null;
  /** How much of the window of the agent's present model a request with `turns` would fill. */
  room(order: WorkOrder, turns: readonly Turn[]): Room;
  /** Records that the conversation goes on as these turns: the first one, the summary, the last `kept`. */
  compacted(order: WorkOrder, to: Compaction): void;
}

export type { Desk, ToolOutput } from '../../ports/tool.ts';
type When = 'between turns' | 'at the end';

/** What lies outside. */
export type GatePorts = Pick<ModelParts, 'models'> & Pick<ToolParts, 'tools' | 'doors'> & Pick<Budgets, 'day'>;

/** What the gate needs of the run. */
export type GateNeeds = Omit<ModelParts, keyof RunContext | keyof GatePorts | 'budgets' | 'lines' | 'useForPerson'> &
  Omit<ToolParts, keyof RunContext | keyof GatePorts | 'budgets'> & {
    /** What is to be delivered to `agent` now, or null. */
    readonly inbox: { take(agent: AgentId, when: When): { text: string; messages: readonly number[] } | null };
  };

export function openGate(context: RunContext, ports: GatePorts, needs: GateNeeds): Gate {
  const { recorder, world } = context;
  const { inbox, hide } = needs;
  const budgets = openBudgets(context, ports);
  const using: ToolParts = { ...context, ...ports, ...needs, budgets };
  const useForPerson: ModelParts['useForPerson'] = async (order, call, signal) =>
    (await useTools(using, order, [call], signal, 'person'))[0];
  const asking: ModelParts = { ...context, ...ports, ...needs, budgets, lines: openLines(world), useForPerson };
  const tell = (order: WorkOrder, text: string, messages: readonly number[]): Turn => {
    recorder.record({ type: 'agent.told', agent: order.agent, text, messages });
    return { by: 'user', text: hide(text) };
  };
  return {
    ask: (question, signal) => askModel(asking, question, signal),
    use: (order, calls, signal) => useTools(using, order, calls, signal),
    refuse: (order, calls, text) => refuseTools(using, order, calls, text),
    note: (order, turn, text) => noteResults(using, order, turn, text),
    tell: (order, text) => tell(order, text, []),
    waiting(order, when) {
      const mail = inbox.take(order.agent, when);
      if (mail !== null) return tell(order, mail.text, mail.messages);
      return when === 'at the end' && lacksVerdict(recorder.state(), order.agent)
        ? tell(order, VERDICT_REMINDER, [])
        : null;
    },
    signalled({ agent }) {
      const said = recorder.state().agents.get(agent)?.signalled ?? null;
      if (said === null) return null;
      return said.status === 'completed'
        ? { is: 'completed', summary: said.message }
        : { is: 'failed', reason: said.message };
    },
    room: (order, turns) => roomOf(budgets, ports.tools, order, turns),
    compacted: (order, to) => recordCompaction(budgets, ports.tools, order, to),
  };
}
