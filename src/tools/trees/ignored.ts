/**
 * What mandatory reviews judge of ignored files. The rules are those of the first tree of a run: no agent can ignore
 * what it writes. Folders that those rules ignore hold build output and don't count; single files do once they changed, and so does
 * every file that file tools wrote.
 */
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import path from 'node:path';
import { fail, ok, type Result } from '../../domain/result.ts';
import type { Since } from '../../ports/tree.ts';
import { insideName } from '../paths/path-rules.ts';
import { inIndex, notText, ownExcludes, patternOf, type Staging } from './stage.ts';

/** The names of ignore files that hold, and what they say, in the order in which git reads them. */
export interface IgnoreRules {
  readonly names: readonly string[];
  /** As git takes them from one file. */
  readonly all: string;
  /** Only what ignores whole folders. */
  readonly folders: string;
}

const IGNORE_FILE = '.gitignore';
const MOST_BYTES = 1024 * 1024;
/** How many levels of folders may hold ignore files that others ignore. */
const DEEPEST = 32;
const OWN_FOLDER = '/.mimir/';

/** The rules in force now: at the first look of a run. */
export async function rulesNow(staging: Staging): Promise<Result<IgnoreRules, string>> {
  const cached = await inIndex(staging, ['ls-files', '--cached', '-z']);
  if (!cached.ok) return cached;
  const known = new Map(ignoreFiles(cached.value).map((name) => [name, textOf(staging, name)]));
  for (let level = 0; level < DEEPEST; level += 1) {
    const rules = rulesOf(staging, known);
    const others = await othersUnder(staging, rules.folders, 'folders');
    if (!others.ok) return others;
    const fresh = ignoreFiles(others.value).filter((name) => !known.has(name));
    if (fresh.length === 0) return ok(rules);
    // The upper ones first: they may leave out the others.
    const top = Math.min(...fresh.map(depthOf));
    for (const name of fresh) if (depthOf(name) === top) known.set(name, textOf(staging, name));
  }
  return fail('ignore files lie too deep in ignored folders: what changed there can not be told');
}

/** The rules that held when `tree` was the project. */
export async function rulesOfTree(staging: Staging, tree: string): Promise<Result<IgnoreRules, string>> {
  const { store, facts, signal } = staging;
  const listed = await store.git(facts, ['ls-tree', '-r', '-z', tree], signal);
  if (!listed.ok) return listed;
  const found = listed.value.split('\0').flatMap((line) => {
    const [, object = '', name = ''] = /^100\d{3} blob (\w+)\t(.*)$/s.exec(line) ?? [];
    return path.posix.basename(name) === IGNORE_FILE ? [{ object, name }] : [];
  });
  const known = new Map<string, string>();
  for (const { object, name } of found) {
    const text = await store.git(facts, ['cat-file', 'blob', object], signal);
    if (!text.ok) return text;
    known.set(name, text.value);
  }
  return ok(rulesOf(staging, known));
}

/** Names that belong into the tree although git ignores them now; to be asked for when all others are in the index. */
export async function hiddenNames(
  staging: Staging,
  rules: IgnoreRules,
  since: Since | null,
): Promise<Result<readonly string[], string>> {
  const [others, plain] = await Promise.all([
    othersUnder(staging, rules.folders, 'folders'),
    othersUnder(staging, rules.all, 'all'),
  ]);
  if (!others.ok) return others;
  if (!plain.ok) return plain;
  const notIgnored = new Set(namesIn(plain.value));
  const counts = (name: string): boolean =>
    notIgnored.has(name) || (since !== null && changedAfter(staging, name, since.at));
  const found = namesIn(others.value).filter((name) => !name.endsWith('/') && counts(name));
  const odd = found.find((name) => name.includes('\uFFFD'));
  if (odd !== undefined) return fail(notText(odd, 'a file'));
  const { path: root } = staging.store.root;
  const written = (since?.written ?? []).flatMap((name) => {
    const inside = insideName(root, name);
    return inside.ok ? [inside.value] : [];
  });
  return ok([...new Set([...found, ...[...rules.names, ...written].filter((name) => isOwnFile(root, name))])]);
}

/** What changed after `at` below folders that the rules ignore, in words: each with how many files. Empty for nothing. */
export async function unjudgedWords(staging: Staging, rules: IgnoreRules, at: number): Promise<string> {
  const file = write(staging, 'folders', rules.folders);
  const args = ['ls-files', '--others', '--ignored', '--directory', '-z', `--exclude-from=${file}`];
  const listed = await inIndex(staging, args);
  if (!listed.ok) return '';
  const looked = { left: MOST_LOOKED };
  const words: string[] = [];
  const folders = namesIn(listed.value).filter((name) => name.endsWith('/') && name !== '.mimir/');
  const tops = folders.filter((name) => !folders.some((other) => other !== name && name.startsWith(other)));
  for (const folder of tops) {
    const count = await changedBelow(path.join(staging.store.root.path, folder), at, looked);
    if (count > 0) words.push(`${JSON.stringify(folder)} (${count} ${count === 1 ? 'file' : 'files'})`);
  }
  if (looked.left <= 0) words.push('not all of them were looked at');
  return words.join(', ');
}

/** Files that are looked at, to be counted. */
const MOST_LOOKED = 20_000;

async function changedBelow(folder: string, at: number, looked: { left: number }): Promise<number> {
  let count = 0;
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
    if ((looked.left -= 1) < 0) return count;
    const place = path.join(folder, entry.name);
    if (entry.isDirectory()) count += await changedBelow(place, at, looked);
    else if (((await lstat(place).catch(() => null))?.ctimeMs ?? 0) >= at - COARSE) count += 1;
  }
  return count;
}

const namesIn = (listed: string): readonly string[] => listed.split('\0').filter((name) => name !== '');
const ignoreFiles = (listed: string): readonly string[] =>
  namesIn(listed).filter((name) => path.posix.basename(name) === IGNORE_FILE);
const depthOf = (name: string): number => name.split('/').length;

function write({ index }: Staging, kind: 'all' | 'folders', text: string): string {
  const file = `${index}.${kind}`;
  writeFileSync(file, text, { mode: 0o600 });
  return file;
}

/** Files that are not in the index, but for those that these rules, and no others, leave out. */
const othersUnder = (staging: Staging, text: string, kind: 'all' | 'folders'): Promise<Result<string, string>> =>
  inIndex(staging, ['ls-files', '--others', '-z', `--exclude-from=${write(staging, kind, text)}`]);

/** A file or a link at this very name: no folder on the way is a link, since git goes through none. */
function isOwnFile(root: string, name: string): boolean {
  const parts = name.split('/');
  return parts.every((_, at) => {
    const stats = lstatSync(path.join(root, ...parts.slice(0, at + 1)), { throwIfNoEntry: false });
    return at < parts.length - 1
      ? stats?.isDirectory() === true
      : stats?.isFile() === true || stats?.isSymbolicLink() === true;
  });
}

/** Milliseconds by which the system's times of files lag behind its clock. */
const COARSE = 100;

/** No program can set the time at which the system noted the last change. */
function changedAfter({ store }: Staging, name: string, at: number): boolean {
  const stats = lstatSync(path.join(store.root.path, name), { throwIfNoEntry: false });
  return stats !== undefined && stats.ctimeMs >= at - COARSE;
}

/** As git reads an ignore file: no link is followed. Empty where it can't be read, so that nothing is ignored by it. */
function textOf({ store }: Staging, name: string): string {
  try {
    const handle = openSync(
      path.join(store.root.path, name),
      constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    );
    try {
      const found = fstatSync(handle);
      return found.isFile() && found.size <= MOST_BYTES ? readFileSync(handle, 'utf8') : '';
    } finally {
      closeSync(handle);
    }
  } catch {
    return '';
  }
}

function rulesOf({ facts }: Staging, known: ReadonlyMap<string, string>): IgnoreRules {
  const names = [...known.keys()].toSorted((a, b) => depthOf(a) - depthOf(b));
  const lines = [
    ...linesIn(ownExcludes(facts), ''),
    ...names.flatMap((name) => linesIn(known.get(name) ?? '', path.posix.dirname(name))),
  ];
  const text = (all: readonly string[]): string => [...all, OWN_FOLDER, ''].join('\n');
  return { names, all: text(lines), folders: text(lines.map(folderLine)) };
}

/** The patterns of one ignore file as patterns of the root: the last that matches decides, as git has it. */
function linesIn(text: string, folder: string): readonly string[] {
  const base = folder === '.' || folder === '' ? '' : patternOf(folder);
  return text
    .replace(/^\uFEFF/, '')
    .split('\n')
    .flatMap((raw) => {
      const line = raw.replace(/\r$/, '').replace(/(?<!\\) +$/, '');
      if (line === '' || line.startsWith('#')) return [];
      const not = line.startsWith('!') ? '!' : '';
      const pattern = line.slice(not.length);
      if (base === '') return [line];
      const anchored = pattern.slice(0, -1).includes('/');
      return [`${not}${base}/${anchored ? pattern.replace(/^\//, '') : `**/${pattern}`}`];
    });
}

/** The same pattern for folders alone. What ignores all that lies in a named folder stays as it is. */
function folderLine(line: string): string {
  if (line.startsWith('!') || line.endsWith('/')) return line;
  return /[^*/][^/]*(?:\/\*\*)?\/\*\*?$/.test(line) ? line : `${line}/`;
}
