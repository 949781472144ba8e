/**
 * What a risky pattern is: where it is looked for, how, why it matters and what a person should look at. A hit is a place to
 * look, never a proof. The rows are in risks.ts and security-risks.ts.
 */
import type { LanguageName } from './languages.ts';

export type Severity = 'high' | 'medium' | 'low';
export type RiskKind = 'security' | 'errors' | 'speed' | 'leftovers';

export interface Risk {
  readonly id: string;
  readonly kind: RiskKind;
  readonly severity: Severity;
  readonly languages: readonly LanguageName[];
  /** For ripgrep and JavaScript alike: no look-around, no back references. */
  readonly pattern: string;
  /** A line that matches this is no hit after all. */
  readonly unless?: RegExp;
  readonly why: string;
  readonly look: string;
  /** Hits are where something secret may stand: the place is named, the line is not quoted. */
  readonly secret?: true;
  /** Looked for in comments, or in tests: elsewhere these are passed over. */
  readonly inComments?: true;
  readonly inTests?: true;
}

/** For patterns that make sense in every language. */
export const ALL: readonly LanguageName[] = ['js', 'py', 'go', 'rust', 'jvm', 'c', 'ruby', 'php', 'shell'];

type Row = Omit<Risk, 'kind' | 'severity'>;
/** Rows of one kind and severity. */
export const of = (kind: RiskKind, severity: Severity, rows: readonly Row[]): readonly Risk[] =>
  rows.map((row) => ({ kind, severity, ...row }));
