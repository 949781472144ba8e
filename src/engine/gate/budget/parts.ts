/** The collaborators of the gate, opened once for a run and passed to each of its parts. This file is in the gate's
 * lowest folder because all of them import it. */
import type { WorkOrder } from '../../../domain/agents/agent.ts';
import type { AgentId, CallId } from '../../../domain/ids.ts';
import type { Result } from '../../../domain/result.ts';
import type { ToolCall, ToolResult } from '../../../domain/turn.ts';
import type { Tick } from '../../../ports/controls.ts';
import type { ModelPort } from '../../../ports/model.ts';
import type { ToolHost, Proposal, ToolPort } from '../../../ports/tool.ts';
import type { Approvals } from '../approvals.ts';
import type { Budgets } from './budgets.ts';
import type { AgentSetup } from '../context.ts';
import type { DrainLatch } from '../drain-latch.ts';
import type { Inbox } from '../inbox.ts';
import type { ProviderQueues } from '../provider-queue.ts';

/** What the gate asks of mandatory reviews: whether a proposed commit may be made. */
export interface CommitGate {
  /** Ok when every mandatory review with trigger `on-commit` passed exactly `proposal.tree`, or only warns. Otherwise
   * the reason and the needed changes, in words for the model. The asking agent waits and yields its slot meanwhile. */
  beforeCommit(order: WorkOrder, proposal: Proposal, signal: AbortSignal): Promise<Result<void, string>>;
}

/** What the gate needs of higher modules. Each module sets its hooks before the first agent begins. */
export interface GateHooks extends CommitGate {
  /** Answers what the tool of `call` asks of the run. `child`: the one that the call has spawned before the run was resumed. */
  toolHost(order: WorkOrder, call: CallId, child: AgentId | null, signal: AbortSignal): ToolHost;
  /** Ends a child whose parent cannot continue with the call that spawned it. */
  abandon(child: AgentId, why: string): void;
  /** Whether the agent waits for something besides an answer, so that an answer alone does not let it run. */
  waits(agent: AgentId): boolean;
  /** Whether the agent is not working now, so that a question in its name does not change its status. */
  rests(agent: AgentId): boolean;
}

export interface GateParts extends Budgets {
  readonly options: AgentSetup;
  readonly models: ModelPort;
  readonly tools: ToolPort;
  readonly hooks: GateHooks;
  readonly inbox: Inbox;
  readonly approvals: Approvals;
  /** Holds back each model and tool call while the run is handed over. */
  readonly drain: DrainLatch;
  readonly providers: ProviderQueues;
  /** Agents that wait for a provider, with the function that ends the wait when a person gives them another model. */
  readonly modelChanges: Map<AgentId, () => void>;
  readonly tick: (tick: Tick) => void;
  /** Removes the known keys from a text for a model. */
  readonly hide: (text: string) => string;
  /** Runs a command that a person typed in place of the agent's turn. */
  readonly useForPerson: (order: WorkOrder, call: ToolCall, signal: AbortSignal) => Promise<ToolResult | undefined>;
}
