/** The entrance of `app/agents`: drafts, checks, creates and deletes custom agents. */
export {
  findAgentFile,
  listAgents,
  agentsOf,
  createAgent,
  deleteAgent,
  takenNames,
  whyNoAgent,
} from './catalogue.ts';
export {
  openAgentFiles,
  askingText,
  draftJson,
  draftSummary,
  type DraftResult,
  makeDraft,
  type OpenDraftContext,
} from './draft.ts';
export type { DraftContext } from './model.ts';
export { agentLines, findAgent, AGENTS_HELP, askAgent, listLines, parseSentence, showLines } from './text.ts';
