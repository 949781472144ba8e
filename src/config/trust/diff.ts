/** What changed in a project since it was trusted, for the person who is asked again. Which lines differ is the caller's to say. */
import type { TrustFile } from './files.ts';
import type { TrustRecord } from './store.ts';

export interface Changed {
  readonly name: string;
  /** Null: it was not there. */
  readonly before: string | null;
  readonly after: string;
}

/** A unified diff of one file. */
export type Differ = (change: Changed) => string;

type Side = Pick<TrustFile, 'digest' | 'text'> | undefined;

/** File by file; one without a text, or without a `differ`, is only named. */
export function changesSince(
  record: TrustRecord,
  files: readonly TrustFile[],
  differ: Differ | null,
): readonly string[] {
  const before = new Map(record.files.map((one) => [one.file, one]));
  const after = new Map(files.map((one) => [one.file, one]));
  const names = [...new Set([...before.keys(), ...after.keys()])].toSorted();
  return names.flatMap((name) => changeOf(name, before.get(name), after.get(name), differ));
}

function changeOf(name: string, before: Side, after: Side, differ: Differ | null): readonly string[] {
  if (before?.digest === after?.digest) return [];
  const isText = [before, after].every((side) => side?.text !== null);
  if (differ === null || !isText) return [`# ${name} ${wordFor(before, after)}`];
  return [differ({ name, before: before?.text ?? null, after: after?.text ?? '' })];
}

function wordFor(before: Side, after: Side): string {
  if (before === undefined) return 'is new';
  return after === undefined ? 'is gone' : 'has changed';
}
