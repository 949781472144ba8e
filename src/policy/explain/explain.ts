/**
 * Why policy decides as it does, for people: the decision, every rule that took part, and what would change it. The same
 * functions decide here as at the gate; a change is told only when deciding again with it gives more.
 */
import { type Reason, reasonText } from '../../domain/reason.ts';
import { builtIn } from '../rules.ts';

/** `substitute`: allowed, but with another model than the one asked for. */
/** Where nobody wrote a rule. */
export const NO_RULE = builtIn('no rule speaks against it');

export type Outcome = 'allow' | 'ask' | 'deny' | 'substitute';

export interface TookPart {
  readonly reason: Reason;
  readonly says: Outcome | 'unclear';
  readonly decides: boolean;
}

export interface Explanation {
  /** `model haiku-4.5`, `command npm test`. */
  readonly subject: string;
  readonly decision: Outcome;
  /** The rule that decided; where none speaks against it, the program's own words for that. */
  readonly because: Reason;
  /** The deciding one first; the losing ones too. */
  readonly rules: readonly TookPart[];
  /** Empty when there is nothing more to allow. */
  readonly change: readonly string[];
  /** Names as written and the ids that were judged. */
  readonly resolved: readonly { readonly written: string; readonly id: string }[];
  /** The model that is used in the end; null for anything else. */
  readonly used: string | null;
}

/** One thing that somebody could do about it. */
export interface Change<T> {
  readonly words: string;
  apply(given: T): T;
}

const RANK: Readonly<Record<Outcome, number>> = { deny: 0, substitute: 1, ask: 1, allow: 2 };

/** Those of `changes` that give more, each alone; else as few as do it together; else that there is nothing. */
export function whatHelps<T>(given: T, changes: readonly Change<T>[], judge: (given: T) => Outcome): readonly string[] {
  const now = RANK[judge(given)];
  if (now === RANK.allow) return [];
  const helps = (some: readonly Change<T>[]): boolean =>
    RANK[judge(some.reduce((soFar, change) => change.apply(soFar), given))] > now;
  const alone = changes.filter((change) => helps([change]));
  if (alone.length > 0) return alone.map(({ words }) => words);
  if (!helps(changes)) return ['nothing: it is built in'];
  const needed = changes.toReversed().reduce((soFar, change) => {
    const rest = soFar.filter((each) => each !== change);
    return helps(rest) ? rest : soFar;
  }, changes);
  return [`only together: ${needed.map(({ words }) => words).join('; ')}`];
}

/** The deciding rule first, each once. */
export function ranked(because: Reason, others: readonly Omit<TookPart, 'decides'>[], says: Outcome): TookPart[] {
  const name = reasonText(because);
  const known = new Map(others.map((each) => [`${reasonText(each.reason)} ${each.says}`, each]));
  const own = [...known.values()].find(({ reason }) => reasonText(reason) === name);
  const rest = [...known.values()].filter((each) => each !== own).map((each) => ({ ...each, decides: false }));
  return [{ says, ...own, reason: because, decides: true }, ...rest];
}

/** Can anybody take it away? What is part of the program can't be. */
export const isWritten = ({ layer }: Reason): boolean => layer !== 'default';

/** `take "haiku-4.5" out of enforcement.deniedModels (managed, /etc/mimir/policy.yml:4)`. */
export const takeOut = (entry: string, from: Reason): string => `take "${entry}" out of ${keyWithPlace(from)}`;
export const putInto = (entry: string, from: Reason): string => `add "${entry}" to ${keyWithPlace(from)}`;
export const changeRule = (from: Reason, to: string): string => `set ${to} (${placeText(from)})`;

export const changePlace = (from: Reason): string => `change ${keyWithPlace(from)}`;

/** The key alone: what is written there may be long. */
const keyWithPlace = (from: Reason): string => `${from.rule.split(':')[0] ?? ''} (${placeText(from)})`;

function placeText({ layer, file, line }: Reason): string {
  if (file === null) return layer;
  return `${layer === 'managed' ? 'managed, by an administrator' : layer}, ${file}${line === null ? '' : `:${line}`}`;
}
