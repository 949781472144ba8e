/**
 * What a test leaves until it was looked over (every-case.ts): folders that are removed only then, and where else than in
 * the temporary folder its processes may be. Where nobody looks, folders go at once.
 */
import { rmSync } from 'node:fs';

let left: string[] | null = null;
const elsewhere = new Set<string>();

const ends: (() => Promise<void>)[] = [];

/** Whether somebody looks over what is left, and ends it then. */
export const isLookedOver = (): boolean => left !== null;

/** To be done when all tests of the file have ended, before its folders go. */
export function atEndOfFile(end: () => Promise<void>): void {
  ends.push(end);
}

export async function endFile(): Promise<void> {
  for (const end of ends.splice(0)) await end();
}

/** From now on folders stay until `removeLeft`. */
export function keepFolders(): void {
  left ??= [];
}

/** Nobody needs this folder any more. */
export function leaveFolder(folder: string): void {
  if (left === null) remove(folder);
  else left.push(folder);
}

/** Removes what was left so far. */
export function removeLeft(): void {
  for (const folder of left?.splice(0) ?? []) remove(folder);
}

/** Tests work in this folder too. */
export function lookAlsoIn(folder: string): void {
  elsewhere.add(folder);
}

/** The next tests are others. */
export function lookNowhereElse(): void {
  elsewhere.clear();
}

export const lookedInElsewhere = (): readonly string[] => [...elsewhere];

function remove(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}
