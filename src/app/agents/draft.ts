/**
 * Who drafts a custom agent from a sentence: a model, or the fixed rules, with the reason; and what is said of it. Never another model than
 * the rules of fallback allow, and then it is told. The call itself is agents-model.ts's.
 */
import type { AgentDraft } from '../../domain/agents/draft.ts';
import { draftAgent } from '../../domain/agents/draft.ts';
import type { Result } from '../../domain/result.ts';
import { formatTokens } from '../views/text/format.ts';
import type { ByModel, DraftGround, DraftWish, Spending } from './model.ts';
import { settled } from '../process/exit-to-result.ts';
import { costWords } from '../reports/spend-text.ts';

export interface MadeDraft {
  readonly draft: AgentDraft;
  /** By the fixed rules: why. Null: by a model. */
  readonly why: string | null;
  /** Null where no model was asked. */
  readonly spending: Spending | null;
}

/** Opens what a model is asked from; or says why none may be. */
export type OpenGround = () => Promise<Result<DraftGround, string>>;

/** Always resolves with a draft. Where `wish.signal` is aborted it is the fixed rules', soon. */
export async function madeDraft(open: OpenGround, wish: DraftWish): Promise<MadeDraft> {
  const byRules = (why: string, spending: Spending | null = null): MadeDraft => ({
    draft: draftAgent(wish.sentence, wish.isTaken, wish.named),
    why,
    spending,
  });
  if (wish.sentence.trim() === '') return byRules('there is nothing to draft from');
  const ground = await open();
  if (!ground.ok) return byRules(ground.fault);
  if (ground.value.providers.offlineOnly) return byRules('no model provider is set up');
  const asked = await settled(() => byModelOf(ground.value, wish));
  if (!asked.ok) return byRules(asked.fault.text);
  if (!asked.value.ok) return byRules(asked.value.fault);
  const { draft, spending } = asked.value.value;
  if (draft.ok) return { draft: draft.value, why: null, spending };
  return byRules(wish.signal.aborted ? 'the model was stopped' : draft.fault, spending);
}

/** Loaded only where a model is asked: the engine comes with it. */
async function byModelOf(ground: DraftGround, wish: DraftWish): Promise<Result<ByModel, string>> {
  return (await import('./model.ts')).draftedByModel(ground, wish);
}

/** `Asking Claude Sonnet 4.5 (anthropic) for a draft` */
export const askingWords = ({ id, label }: Parameters<DraftWish['asking']>[0]): string =>
  `Asking ${label} (${id.split('/')[0] ?? id}) for a draft`;

/** Who drafted it and what that cost, in a line. */
export function draftedWords({ why, spending }: MadeDraft): string {
  if (why !== null) {
    return `Drafted by fixed rules: ${oneLine(why)}${lostWords(why, spending)}.`;
  }
  if (spending === null) return 'Drafted.';
  const instead = spending.instead === null ? '' : ` in place of ${spending.instead}, which could not be reached`;
  return `Drafted by ${spending.label}${instead}: ${spentWords(spending)}.`;
}

/** What a call that came to nothing has cost. */
function lostWords(why: string, spending: Spending | null): string {
  if (spending === null || spending.calls === 0) return '';
  const who = why.startsWith(`${spending.label}:`) ? '' : `${spending.label}: `;
  return ` (${who}${spentWords(spending)})`;
}

const spentWords = ({ tokens, cost, priced, session }: Spending): string =>
  `${formatTokens(tokens)} tokens, ${costWords({ cost, priced })}, session ${session}`;

const oneLine = (text: string): string =>
  text
    .replaceAll(/\s*\n\s*/g, '; ')
    .replace(/:;/g, ':')
    .replace(/[.;]+$/, '');

/** The same for programs. */
export const draftedJson = ({ why, spending }: MadeDraft): object => ({
  by: why === null ? 'model' : 'rules',
  ...(why === null ? {} : { why: oneLine(why) }),
  ...(spending === null ? {} : spendingJson(spending)),
});

const spendingJson = ({ model, calls, tokens, cost, priced, session }: Spending): object => ({
  model,
  calls,
  tokens,
  cost,
  priced,
  session,
});
