/** The entrance of `app/views`: the state of a run in words and lines, equal for all front ends. */
export * from './agent-counts.ts';
export * from './agents/agent-lines.ts';
export * from './agents/transcript-text.ts';
export { diffLinesOf, sumChanges, withAuthors } from './authors.ts';
export * from './review.ts';
export { agentName, type NoticeEvent, noticeEventOf, noticeText } from './notices.ts';
export * from './plan/plan-words.ts';
export * from './questions/question.ts';
export * from './run-summary.ts';
export * from './spending/spending.ts';
export * from './text/format.ts';
export * from './text/line.ts';
export * from './text/sanitise-state.ts';
export { escapeHidden, Sanitiser, splitMarked, toLabel, toTerminal } from './text/sanitise.ts';
export * from './text/width.ts';
