/** The entrance of the gate: the only way to models and tools. */
export { type ModeOf, withdrawGrant } from './approvals.ts';
export { setBudget } from './budget/budget-change.ts';
export { spentLimit } from './budget/limits.ts';
export { optionFor } from './budget/reserve.ts';
export { type AgentSetup, type AskFault, isReviewer, type Question, type RunContext } from './context.ts';
export { VERDICT_TOOL, orAborted } from './context.ts';
export { askRoot, type ToolHost, type Gate, type OpenGate, openGate, type ToolOutput } from './gate.ts';
export { hasMail, messageEvent } from './inbox.ts';
export { budgetOf, deniedEvent, fallbacksFor, modelFor, modelNamesOf, ruleAgainst } from './model/model.ts';
export { openRecorder, type Recorder, redactedPlan, steadyWorld } from './recorder.ts';
export { finalOutput, lastFinalOutput } from './text-protocol.ts';
export { canContinue, notDoneSection, openCalls, unansweredOf, unansweredReason } from './tools/interrupted-call.ts';
export type { CommitGate } from './budget/parts.ts';
