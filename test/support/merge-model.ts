/** A model of a project whose files are merged by lines: what each side changes, and what a merge makes of it. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** The lines of a file that somebody changes; between them are others that nobody does. Null: there is no such file. */
type Slots = readonly string[] | null;
export type Files = Readonly<Record<string, Slots>>;
/** Whose side of a conflict is taken; `patch`: nothing is merged. */
export type Side = 'mine' | 'theirs' | 'patch';

const FILES = ['f0', 'f1', 'f2'];
const NEW = 'new';
export const NAMES: readonly string[] = [...FILES, NEW];
/** The last slot of a file is changed by persons alone. */
export const SLOTS = 4;
export const START: Files = {
  ...Object.fromEntries(FILES.map((name) => [name, Array.from({ length: SLOTS }, (_, at) => `${name} ${at}`)])),
  [NEW]: null,
};

const contentOf = (slots: readonly string[]): string =>
  slots.flatMap((slot, at) => [slot, ...Array.from({ length: 6 }, (_, line) => `same ${at} ${line}`)]).join('\n');
const slotsOf = (content: string): Slots => content.split('\n').filter((line) => !line.startsWith('same'));

/** The contents of the files that there are, by name. */
export const contentsOf = (files: Files): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(files).flatMap(([name, is]) => (is === null ? [] : [[name, contentOf(is)]])));

export function write(folder: string, files: Files): void {
  mkdirSync(folder, { recursive: true });
  for (const [name, content] of Object.entries(contentsOf(files))) writeFileSync(path.join(folder, name), content);
}

export const read = (folder: string): Files =>
  Object.fromEntries(
    NAMES.map((name) => {
      const file = path.join(folder, name);
      return [name, existsSync(file) ? slotsOf(readFileSync(file, 'utf8')) : null];
    }),
  );

const same = (one: Slots | undefined, other: Slots | undefined): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

const slotsIn = (files: Files, name: string): Slots => files[name] ?? null;

/** What a merge makes of one file; null where both sides changed the same. */
function mergedFile(name: string, mine: Files, other: Files, from: Files): { readonly slots: Slots } | null {
  const [base, ours, theirs] = [slotsIn(from, name), slotsIn(mine, name), slotsIn(other, name)];
  if (same(theirs, base) || same(theirs, ours)) return { slots: ours };
  if (same(ours, base)) return { slots: theirs };
  if (base === null || ours === null || theirs === null) return null;
  const slots = base.map((was, at) => {
    const theirsIs = theirs[at] ?? '';
    if (ours[at] === was) return theirsIs;
    return theirsIs === was || theirsIs === ours[at] ? (ours[at] ?? '') : null;
  });
  return slots.includes(null) ? null : { slots: slots.map((slot) => slot ?? '') };
}

/** Whether both sides changed the same since `base`. */
export const isConflict = (ours: Files, theirs: Files, base = START): boolean =>
  NAMES.some((name) => mergedFile(name, ours, theirs, base) === null);

/** The project after the merge. */
export function mergedFiles(ours: Files, theirs: Files, choice: Side, base = START): Files {
  if (choice === 'patch' && isConflict(ours, theirs, base)) return ours;
  const side = choice === 'theirs' ? theirs : ours;
  return Object.fromEntries(
    NAMES.map((name) => [name, (mergedFile(name, ours, theirs, base) ?? { slots: slotsIn(side, name) }).slots]),
  );
}

export interface Edit {
  readonly file: string;
  readonly slot: number;
}

export const changed = (files: Files, { file, slot }: Edit, to: string): Files => {
  const now = files[file] ?? null;
  return { ...files, [file]: now === null ? [to] : now.map((was, at) => (at === slot ? to : was)) };
};
