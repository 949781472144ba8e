/** The entrance of the agents: the loop of a turn, the scheduler, and what a person orders an agent to do. */
export { controlAgent } from './agent-control.ts';
export { closeFailed, CUT_OFF, endCallChildren, type EndReason, finishedEvent, INTERRUPTED } from './agent-end.ts';
export { isKilledByAgent, notice, PARENT_STOPPED, RUN_STOPPED, newText } from './agent-end.ts';
export { runAgent } from './agent-loop.ts';
export * from './agent-spec.ts';
export { failureReason } from './checks.ts';
export { type AgentModules, openAgents } from './agents.ts';
export type { Choice, Job } from './scheduler.ts';
