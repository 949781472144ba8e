/** Parse results of the package's own files: empty in a checkout, filled in the bundle (prepare.ts), so that a start parses only the
 * person's files. The key includes the whole text, so a changed file is parsed again. */
import type { Role } from '../../domain/agents/role.ts';
import type { Tree } from './tree.ts';
import type { Settings, ThemeFile } from '../schema/schema.ts';

export interface ReadRole {
  /** `models` is empty if the file names none. */
  readonly role: Role;
  readonly notes: readonly string[];
}

/** A valid file, with the place of every key. */
export interface ValidatedLayer {
  readonly tree: Tree;
  readonly settings: Settings;
  readonly notes: readonly string[];
}

/** Plain JSON by `keyOf` its sources; only valid files. */
export interface Prepared {
  readonly layers: Map<string, ValidatedLayer>;
  readonly roles: Map<string, ReadRole>;
  readonly themes: Map<string, ThemeFile>;
}

export const PREPARED: Prepared = { layers: new Map(), roles: new Map(), themes: new Map() };

/** A key of everything that a result depends on. */
export const keyOf = (...parts: readonly string[]): string => parts.join('\0');
