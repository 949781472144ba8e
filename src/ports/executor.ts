import type { WorkOrder, WorkOutcome } from '../domain/agents/agent.ts';

/**
 * Carries out one work order: in this process today, on another machine behind the same call later.
 *
 * - Resolves when the agent has ended, however it ended; a failed agent is an outcome, not a rejection.
 * - Aborting `signal` ends the agent within two seconds with `{ is: 'stopped' }`; tools are told first.
 * - The order is plain JSON. An executor may send it elsewhere and must not keep references into it.
 * - Called by the scheduler only, once per start or resume of an agent.
 */
export interface Executor {
  run(order: WorkOrder, signal: AbortSignal): Promise<WorkOutcome>;
}
