/** What the gate asks of forced agents: whether a commit that is proposed may be made. Answered by forced.ts. */
import type { WorkOrder } from '../../../domain/agents/agent.ts';
import type { Result } from '../../../domain/result.ts';
import type { Proposal } from '../../../ports/tool.ts';

export interface CommitGate {
  /**
   * Ok: every forced agent whose trigger is `on-commit` let exactly `proposal.tree` pass, or only warns. Otherwise why
   * not, with what has to change, in words for the model. The agent that asks waits, and lends its slot meanwhile.
   */
  beforeCommit(order: WorkOrder, proposal: Proposal, signal: AbortSignal): Promise<Result<void, string>>;
}
