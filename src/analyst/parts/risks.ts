/**
 * The documented list of risky patterns, `data/risks.json`. A hit is a place to look, never a proof. Patterns are for ripgrep and
 * JavaScript alike.
 */
import ROWS from '../data/risks.json' with { type: 'json' };
import { LANGUAGES } from '../languages.ts';
import type { LanguageName } from '../languages.ts';

export interface Risk {
  readonly severity: string;
  readonly languages: readonly LanguageName[];
  readonly name: string;
  readonly group: string;
  readonly pattern: string;
  /** What the following line (comments and blanks passed over) has to be. */
  readonly next: string | null;
  /** What a person should look at. */
  readonly look: string;
  /** Hits are where something secret may be: the place is named, the line is not quoted. */
  readonly secret: boolean;
}

/** Every row of the list. */
export const RISKS: readonly Risk[] = ROWS.map((row) => ({
  ...row,
  languages: LANGUAGES.filter((one) => row.languages === 'all' || row.languages.split(' ').includes(one)),
}));
