/** The entrance of `app/agents`: drafts, checks, creates and deletes custom agents. */
export { findAgentFile, listAgents, agentsOf, createAgent, deleteAgent, takenNames, whyNoAgent } from './catalogue.ts';
export { openAgentFiles, askingText, draftJson, draftSummary, type DraftResult, makeDraft } from './draft.ts';
export type { DraftContext } from './model.ts';
export { findAgent, AGENTS_HELP, askAgent, askDescription, listLines, parseSentence } from './text.ts';
export { type Questioner, showLines } from './text.ts';
