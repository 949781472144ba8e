/**
 * The content of the project as a whole, by digest (ports/tree.ts): for forced agents, whose verdicts are bound to it. One
 * look at a time; what is stored of contents lies in the state folder.
 */
import { randomBytes } from 'node:crypto';
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import path from 'node:path';
import { fail, ok, type Result } from '../../domain/result.ts';
import type { Since, TreeChanges, TreeId, TreePort } from '../../ports/tree.ts';
import { insideName } from '../paths/path-rules.ts';
import type { Root } from '../paths/root.ts';
import { type Environment, toolEnvironment } from '../process/environment.ts';
import { changesOf } from './changes.ts';
import { dropIndex, leaveIndex, takeIndex } from './index-file.ts';
import { inIndex, notText, ownExcludes, patternOf, seed, stage, type Staging } from './stage.ts';
import { treeStore } from './store.ts';

export interface TreeOptions {
  readonly root: Root;
  /** Mimir's state directory. */
  readonly stateDir: string;
  /** What git gets; by default the clean part of this process's environment. */
  readonly environment?: Environment;
}

/**
 * Opens the project's trees; nothing is done before the first look. Fails in words, never throws, where there is no git,
 * or its content can't be read. What of ignored files counts is tree-ignored.ts's; what lies in repositories inside the project does.
 */
export function openTrees({ root, stateDir, environment = toolEnvironment(root.path) }: TreeOptions): TreePort {
  const store = treeStore({ root, stateDir, environment });
  const session = randomBytes(6).toString('hex');
  let last: Seen | null = null;
  let queue: Promise<unknown> = Promise.resolve();

  const rules = rulesKept();

  async function look(signal: AbortSignal, since: Since | undefined): Promise<Result<TreeId, string>> {
    const facts = await store.facts(signal);
    if (!facts.ok) return facts;
    const index = path.join(store.folder(facts.value), `index-${session}`);
    if (last === null) takeIndex(index);
    const plain: Staging = { store, facts: facts.value, index, signal, inside: 'counted' };
    const seen = await treeIn({ ...plain, hidden: () => rules.hidden(plain, since) }, last);
    if (seen.ok && since === undefined) rules.began(seen.value.tree);
    // Only after a whole look: the next program starts from what this one found out.
    if (seen.ok && last === null) leaveIndex(index);
    if (!seen.ok) dropIndex(index);
    last = seen.ok ? seen.value : null;
    return seen.ok ? ok(seen.value.tree) : seen;
  }

  return {
    now(signal, since) {
      const looked = queue.then(() => attempted(() => look(signal, since)));
      queue = looked;
      return looked;
    },
    changes: (from, to, signal, since) =>
      attempted<TreeChanges>(async () => {
        const facts = await store.facts(signal);
        if (!facts.ok) return facts;
        const changes = await changesOf(store, facts.value, { from, to }, signal);
        if (!changes.ok || since === undefined) return changes;
        const index = path.join(store.folder(facts.value), `index-${session}`);
        const staging: Staging = { store, facts: facts.value, index, signal, inside: 'counted' };
        const found = await rules.of(staging, since);
        const unjudged = found.ok ? await unjudgedWords(staging, found.value, since.at) : '';
        return ok(unjudged === '' ? changes.value : { ...changes.value, unjudged });
      }),
  };
}

interface KeptRules {
  of(staging: Staging, since: Since | undefined): Promise<Result<IgnoreRules, string>>;
  hidden(staging: Staging, since: Since | undefined): Promise<Result<readonly string[], string>>;
  /** A run begins with `tree`, and with the rules of the look that has just found it. */
  began(tree: TreeId): void;
}

/** By the first tree of a run. Read once: what lies in the repository beside its files (`info/exclude`) may change later. */
function rulesKept(): KeptRules {
  const kept = new Map<TreeId, IgnoreRules>();
  let newest: IgnoreRules | null = null;
  const of: KeptRules['of'] = async (staging, since) => {
    const known = since === undefined ? undefined : kept.get(since.tree);
    if (known !== undefined) return ok(known);
    const found = since === undefined ? await rulesNow(staging) : await rulesOfTree(staging, since.tree);
    if (found.ok && since === undefined) newest = found.value;
    else if (found.ok && since !== undefined) kept.set(since.tree, found.value);
    return found;
  };
  return {
    of,
    async hidden(staging, since) {
      const found = await of(staging, since);
      return found.ok ? hiddenNames(staging, found.value, since ?? null) : found;
    },
    began: (tree) => void (newest !== null && kept.set(tree, newest)),
  };
}

interface Seen {
  readonly head: string | null;
  readonly format: string;
  readonly tree: TreeId;
}

async function treeIn(staging: Staging, last: Seen | null): Promise<Result<Seen, string>> {
  const { head, format } = staging.facts;
  const goesOn = last !== null && last.head === head && last.format === format;
  const before = goesOn ? ok({ tree: last.tree }) : await seed(staging);
  if (!before.ok) return before;
  const tree = await stage(staging, before.value.tree);
  return tree.ok ? ok({ head, format, tree: tree.value }) : tree;
}

/** The state folder may be full or gone: the look fails, the run goes on. */
async function attempted<T>(look: () => Promise<Result<T, string>>): Promise<Result<T, string>> {
  try {
    return await look();
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    return fail(`what changed in the project can't be told: ${error.message}`);
  }
}

// What mandatory reviews judge of ignored files. The rules are those of the first tree of a run: no agent can ignore
// what it writes. Folders that those rules ignore hold build output and don't count; single files do once they changed, and so does
// every file that file tools wrote.

/** The names of ignore files that hold, and what they say, in the order in which git reads them. */
interface IgnoreRules {
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
async function rulesNow(staging: Staging): Promise<Result<IgnoreRules, string>> {
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
async function rulesOfTree(staging: Staging, tree: string): Promise<Result<IgnoreRules, string>> {
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
async function hiddenNames(
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
async function unjudgedWords(staging: Staging, rules: IgnoreRules, at: number): Promise<string> {
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
