/** What the configuration names as secrets, taken out of this process: no program that it starts inherits them. */
import type { Secret } from '../config/secrets.ts';

const taken = new Set<string>();

/** Removes the variables from the environment of this process, and remembers their values for texts that hold them. */
export function takeSecrets(secrets: readonly Secret[]): void {
  for (const { name, value } of secrets) {
    taken.add(value);
    delete process.env[name];
  }
}

/** The values of all secrets that were taken. */
export const takenSecrets = (): readonly string[] => [...taken];
