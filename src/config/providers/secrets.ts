/**
 * Which variables of the environment hold secrets: one list, whatever key of the configuration names them. They are taken out of
 * the process at the start, and what they hold is kept out of everything that is written or shown.
 */
import { isTooShortToHide, SHORTEST_HIDDEN } from '../../domain/text/redact.ts';
import type { Environment } from '../files/paths.ts';
import { BUILT_IN } from './providers.ts';

export interface Secret {
  /** The variable. */
  readonly name: string;
  readonly value: string;
}

/** Keys whose value is the name of a variable with a secret, wherever they stand. */
const NAMES_ONE: ReadonlySet<string> = new Set(['apiKeyEnv', 'secretEnv', 'botTokenEnv', 'databaseEnv']);

/** Of all variables that `settings` name for a secret, and of the built-in providers' keys: those that are set. */
export function secretsIn(settings: unknown, env: Environment): readonly Secret[] {
  const names = new Set([...BUILT_IN.map(({ keyEnv }) => keyEnv), ...namedIn(settings, false)]);
  return [...names].flatMap((name) => {
    const value = (env[name] ?? '').trim();
    return value === '' ? [] : [{ name, value }];
  });
}

/** A warning for each secret that no filter can take out of texts: it might be a word. */
export const shortSecretNotes = (secrets: readonly Secret[]): readonly string[] =>
  secrets
    .filter(({ value }) => isTooShortToHide(value))
    .map(
      ({ name }) =>
        `${name}: its value is shorter than ${SHORTEST_HIDDEN} characters, which might be a word: it is not taken out of logs, screens and what models read`,
    );

/** `inHeaders`: `{env: NAME}` names a variable here. */
function namedIn(value: unknown, inHeaders: boolean): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, below]: [string, unknown]) => {
    const isName = NAMES_ONE.has(key) || (inHeaders && key === 'env');
    return isName && typeof below === 'string' ? [below] : namedIn(below, inHeaders || key === 'headers');
  });
}
