/** Turns a sentence into a custom agent, drafted by a model (model.ts) or left to the user, and says by whom and at what cost. */
import { type AgentDraft, blankAgent } from '../../domain/agents/form.ts';
import { fail, ok, type Result } from '../../domain/result.ts';
import type { Receipt, Refusal } from '../../ports/controls.ts';
import type { AgentFiles, AgentProposal } from '../../ports/project-service.ts';
import { agentNameProblem } from '../../config/index.ts';
import { createAgent, deleteAgent, takenNames } from './catalogue.ts';
import { formatTokens } from '../views/index.ts';
import type { DraftContext, DraftRequest, Spending } from './model.ts';
import { attempt } from '../process/index.ts';
import { costText } from '../reports/index.ts';

export interface DraftResult {
  readonly draft: AgentDraft;
  /** Why no model drafted it, so that the user has to fill in the form. Null if a model did. */
  readonly why: string | null;
  /** Null if no model was called. */
  readonly spending: Spending | null;
}

/** Drafts an agent; `context` may be why no model is to be called. Always resolves, soon after `wish.signal` is aborted. */
export async function makeDraft(context: Result<DraftContext, string>, wish: DraftRequest): Promise<DraftResult> {
  const blank = (why: string, spending: Spending | null = null): DraftResult => ({
    draft: blankAgent(wish.sentence, wish.named),
    why,
    spending,
  });
  if (!context.ok) return blank(context.fault);
  if (context.value.providers.offlineOnly) return blank('no model provider is set up');
  // The engine is loaded only if a model is called.
  const asked = await attempt(async () => (await import('./model.ts')).draftByModel(context.value, wish));
  if (!asked.ok) return blank(asked.fault.text);
  if (!asked.value.ok) return blank(asked.value.fault);
  const { draft, spending } = asked.value.value;
  if (draft.ok) return { draft: draft.value, why: null, spending };
  return blank(wish.signal.aborted ? 'the model was stopped' : draft.fault, spending);
}

/** `Asking Claude Sonnet 4.5 (anthropic) for a draft` */
export const askingText = ({ id, label }: Parameters<DraftRequest['asking']>[0]): string =>
  `Asking ${label} (${id.split('/')[0] ?? id}) for a draft`;

/** Which model drafted it, or why none did, and what that cost, in a line. */
export function draftSummary({ why, spending }: DraftResult): string {
  if (why !== null) return `No model wrote a draft: ${oneLine(why)}${wastedCost(why, spending)}.`;
  if (spending === null) return 'Drafted.';
  const instead = spending.instead === null ? '' : ` in place of ${spending.instead}, which could not be reached`;
  return `Drafted by ${spending.label}${instead}: ${spendingText(spending)}.`;
}

function wastedCost(why: string, spending: Spending | null): string {
  if (spending === null || spending.calls === 0) return '';
  const who = why.startsWith(`${spending.label}:`) ? '' : `${spending.label}: `;
  return ` (${who}${spendingText(spending)})`;
}

const spendingText = ({ tokens, cost, priced, session }: Spending): string =>
  `${formatTokens(tokens)} tokens, ${costText({ cost, priced })}, session ${session}`;

const oneLine = (text: string): string =>
  text
    .replaceAll(/\s*\n\s*/g, '; ')
    .replace(/:;/g, ':')
    .replace(/[.;]+$/, '');

/** What `draftSummary` says, as JSON. */
export const draftJson = ({ why, spending }: DraftResult): object => ({
  by: why === null ? 'model' : 'person',
  why: why === null ? undefined : oneLine(why),
  model: spending?.model,
  calls: spending?.calls,
  tokens: spending?.tokens,
  cost: spending?.cost,
  priced: spending?.priced,
  session: spending?.session,
});

type ReopenResult = { readonly ok: true } | { readonly ok: false; readonly fault: Refusal };

/** Drafts, creates and deletes custom agents for a screen. `reopen` opens the project again, so that the next run has the new
 * configuration; a created or deleted file stays even if the configuration is then faulty. */
export const openAgentFiles = (
  context: () => DraftContext,
  reopen: () => Promise<ReopenResult>,
  pending: Set<Promise<unknown>>,
  closing: AbortSignal,
): AgentFiles => ({
  async draft(sentence, how) {
    const drafting = proposeAgent(context(), sentence, { ...how, signal: AbortSignal.any([how.signal, closing]) });
    pending.add(drafting);
    try {
      return await drafting;
    } finally {
      pending.delete(drafting);
    }
  },
  create: async (wish) => afterReopen(createAgent(context().project, context().config, wish), reopen),
  delete: async (name) => afterReopen(deleteAgent(context().project, context().config, name), reopen),
});

/** Drafts with the models of this session: its `--model` applies. */
async function proposeAgent(
  context: DraftContext,
  sentence: string,
  { model, signal, ...told }: Parameters<AgentFiles['draft']>[1],
): Promise<AgentProposal> {
  const others = takenNames(context.project, context.config);
  const made = await makeDraft(model ? ok(context) : fail('--no-model'), {
    sentence,
    isTaken: (name) => agentNameProblem(name, others) !== null,
    signal,
    asking: (one) => told.asking(askingText(one)),
  });
  return { draft: made.draft, drafted: made.why === null, said: draftSummary(made) };
}

async function afterReopen(
  done: Result<Receipt, Refusal>,
  renew: () => Promise<ReopenResult>,
): Promise<Result<Receipt, Refusal>> {
  if (!done.ok) return done;
  const next = await renew();
  return next.ok ? ok({ text: done.value.text }) : fail({ text: `${done.value.text} ${next.fault.text}` });
}
