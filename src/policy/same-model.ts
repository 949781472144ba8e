/** Is the model that answered the one that was asked? By name alone: what it really is nobody can see. */
import type { ModelId } from '../domain/ids.ts';
import type { Reason } from '../domain/reason.ts';
import { foldName, isRelease } from './model-identity.ts';
import { modelProblem, resolveModel } from './models.ts';
import type { Rules } from './rules.ts';

/**
 * Equal, or one of them is the other's dated release (`…-20251001`, `-latest`). Servers of one's own may add a tag
 * (`qwen3` -> `qwen3:latest`). Two different dates are two models.
 */
export function isSameModel(asked: ModelId, answered: ModelId): boolean {
  const [ours, theirs] = [foldName(asked), foldName(answered)];
  if (ours === theirs || isRelease(ours, theirs) || isRelease(theirs, ours)) return true;
  return theirs.startsWith(`${ours}:`) && /^[\w.-]+$/.test(theirs.slice(ours.length + 1));
}

/** What a person said of the provider, as far as the names in its replies go. */
interface Terms {
  /** Names under which the model that was asked may answer. */
  readonly answersAs: readonly string[];
  /** A server of the person's own. */
  readonly own: boolean;
}

/** Does the person allow the name, or may a server of theirs call its models as it likes? */
function isTaken(name: string, isKnown: boolean, terms: Terms | null, { allowedModels, deniedModels }: Rules): boolean {
  if (terms === null) return false;
  if (terms.answersAs.some((one) => foldName(one) === foldName(name))) return true;
  return terms.own && !isKnown && allowedModels.length + deniedModels.length === 0;
}

/**
 * What is against a reply in the name of `answered` to a call of `asked`; null when it may be used. Another name has to be one that the
 * person allows for this model, or one that nobody knows, from a server of their own where no rule restricts models. Either way it is
 * judged as if it had been asked for, so that it opens no model that a rule forbids.
 */
export function answerProblem(
  asked: ModelId,
  answered: ModelId,
  terms: Terms | null,
  rules: Rules,
): Reason | 'another model' | null {
  if (isSameModel(asked, answered)) return null;
  const name = answered.slice(answered.indexOf('/') + 1);
  const known = [name, name.slice(name.lastIndexOf('/') + 1)].flatMap((one) => resolveModel(one, []) ?? []);
  if (!isTaken(name, known.length > 0, terms, rules)) return 'another model';
  return modelProblem(answered, rules);
}
