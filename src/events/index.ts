/** The entrance of the events: the catalogue, the state that is folded from them, and questions to that state. */
export { ACT_EVENTS, actsIn, type RecordedActs } from './acts.ts';
export { checkLines, isVerified, plannedChecks, type Verification, verificationOf } from './checks.ts';
export { firstLines, firstNote, firstSummary } from './checks.ts';
export * from './control.ts';
export { withReasons } from './earlier-words.ts';
export * from './event.ts';
export { withoutOutput } from './fold-agent.ts';
export { comparedWith, fold, foldAll, withLostCalls } from './fold.ts';
export { logLine, plainLine, triesText } from './log-line.ts';
export * from './queries.ts';
export * from './reviews.ts';
export { Roster } from './roster.ts';
export { FoldedLog, ReadLater, ResumedLog, type ToolBlock } from './sessions/folded-log.ts';
export * from './sessions/record.ts';
export { sessionEvent } from './sessions/session-events.ts';
export { activeAt, createdTimes, type Naming, recordsWith, sessionDetail, sessionName } from './sessions/sessions.ts';
export * from './state.ts';
export * from './turns.ts';
