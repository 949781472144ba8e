/**
 * What reading the package's own files has given already: empty in a checkout, filled when the program is bundled
 * (prepare.ts), so that a start parses only what a person wrote. Found by the whole text: a changed file is read anew.
 */
import type { Role } from '../../domain/agents/role.ts';
import type { Tree } from './tree.ts';
import type { Settings, ThemeFile } from '../schema/schema.ts';

export interface ReadRole {
  /** `models` is empty when the file names none. */
  readonly role: Role;
  readonly notes: readonly string[];
}

/** A file that is right, with the place of every key. */
export interface Judged {
  readonly tree: Tree;
  readonly settings: Settings;
  readonly notes: readonly string[];
}

/** Plain JSON, by `keyOf` what it was read from. Nothing is here that had a fault. */
export interface Prepared {
  readonly layers: Map<string, Judged>;
  readonly roles: Map<string, ReadRole>;
  readonly themes: Map<string, ThemeFile>;
}

export const PREPARED: Prepared = { layers: new Map(), roles: new Map(), themes: new Map() };

/** All that a reading depends on, as one text. */
export const keyOf = (...parts: readonly string[]): string => parts.join('\0');
