/**
 * What reading the package's own files has given already: empty in a checkout, filled when the program is bundled
 * (prepare.ts), so that a start parses only what a person wrote. Found by the whole text: a changed file is read anew.
 */
import type { Judged } from '../files/layer.ts';
import type { ReadRole } from '../roles/role-file.ts';
import type { ThemeFile } from '../themes.ts';

/** Plain JSON, by `keyOf` what it was read from. Nothing is here that had a fault. */
export interface Prepared {
  readonly layers: Map<string, Judged>;
  readonly roles: Map<string, ReadRole>;
  readonly themes: Map<string, ThemeFile>;
}

export const PREPARED: Prepared = { layers: new Map(), roles: new Map(), themes: new Map() };

/** All that a reading depends on, as one text. */
export const keyOf = (...parts: readonly string[]): string => parts.join('\0');
