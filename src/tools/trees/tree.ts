/** The content of the whole project by digest (ports/tree.ts), for mandatory reviews, whose verdicts are bound to it. One scan
 * runs at a time; contents are stored in the state folder. */
import { randomBytes } from 'node:crypto';
import { lstatSync, writeFileSync } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import path from 'node:path';
import type { ChangedFile, FileVersion, VersionChange } from '../../domain/changes/changes.ts';
import { defined, type Result } from '../../domain/result.ts';
import { serialQueue } from '../../domain/serial-queue.ts';
import type { Since, TreeChanges, TreeId, TreePort } from '../../ports/tree.ts';
import type { Change } from '../files/diff.ts';
import { withoutSecrets } from '../git/git.ts';
import { insideName, kindAt } from '../paths/root.ts';
import { toolEnvironment } from '../process/environment.ts';
import { capLines, capText, LINE_COLUMNS } from '../process/output.ts';
import { keepContents, keepFile } from './contents.ts';
import * as staged from './stage.ts';
import type { RepositoryFacts, StoreCall, StoreOptions, TreeStore } from './store.ts';
import { attempted, TreeFault, treeStore } from './store.ts';

/** git's environment is by default the tools' part of this process's environment. */
export type TreeOptions = Omit<StoreOptions, 'environment'> & Partial<StoreOptions>;

type Keep = (change: Change, signal: AbortSignal) => Promise<Result<Pick<VersionChange, 'before' | 'after'>, string>>;

/** The files that git does not ignore, compared between two moments; in a few calls of git, since each command is between two of them. */
export interface Snapshots extends Pick<TreePort, 'changes'> {
  snapshot(signal: AbortSignal): Promise<Result<TreeId, string>>;
  filesBetween(from: TreeId, to: TreeId, signal: AbortSignal): Promise<Result<readonly ChangedFile[], string>>;
  /** Stores the content of a file of the project before and after a change of it, without a look at the project. */
  readonly keep: Keep;
  /** Scans the project and calls `act` with what it found, while no other scan runs. `most` as of `Staging`. */
  within<T>(
    signal: AbortSignal,
    most: staged.Staging['most'],
    act: (at: Scanned) => Promise<T>,
  ): Promise<Result<T, string>>;
}

/** The project right after a scan: the index holds `tree`. */
export interface Scanned {
  readonly staging: staged.Staging;
  readonly tree: TreeId;
}

/** Opens the project's trees; nothing runs before the first scan. Returns a fault, never throws, without git or if content
 * cannot be read. Files in nested repositories count. */
export function openTrees({
  root,
  stateDir,
  environment = toolEnvironment(root.path),
}: TreeOptions): TreePort & Snapshots {
  const store = treeStore({ root, stateDir, environment });
  const session = randomBytes(6).toString('hex');
  const scans = new Scans(staged.takeIndex, staged.leaveIndex);
  // Scans share an index.
  const queued = serialQueue();
  const inOrder = <T>(scan: () => Promise<T>): Promise<Result<T, string>> => queued(() => attempted(scan));
  const rules = rulesKept();

  async function stagingAt(signal: AbortSignal, known?: RepositoryFacts): Promise<staged.Staging> {
    const facts = known ?? (await store.facts(signal));
    const index = path.join(store.folder(facts), `index-${session}`);
    return { store, facts, index, signal, inside: 'counted' };
  }

  return {
    now: (signal, since) =>
      inOrder(async () => {
        const staging = await stagingAt(signal);
        const tree = await scans.scan({ ...staging, hidden: () => rules.hidden(staging, since) });
        if (since === undefined) rules.began(tree);
        return tree;
      }),
    snapshot: (signal) =>
      inOrder(async () => scans.look({ ...(await stagingAt(signal, scans.last?.facts)), most: MOST_NEW })),
    within: (signal, most, act) =>
      inOrder(async () => {
        const staging = { ...(await stagingAt(signal)), ...defined({ most }) };
        return act({ staging, tree: await scans.look(staging) });
      }),
    keep: keeperIn(store),
    filesBetween: (from, to, signal) =>
      attempted(async () =>
        changedFiles(store, scans.last?.facts ?? (await store.facts(signal)), { from, to }, signal),
      ),
    changes: (from, to, signal, since) =>
      attempted<TreeChanges>(async () => {
        const staging = await stagingAt(signal);
        const changes = await changesOf(store, staging.facts, { from, to }, signal);
        if (since === undefined) return changes;
        const found = await attempted(async () => unjudgedWords(staging, await rules.of(staging, since), since.at));
        return found.ok && found.value !== '' ? { ...changes, unjudged: found.value } : changes;
      }),
  };
}

/** Asks only once how the repository stores contents, which does not change. */
function keeperIn(store: TreeStore): Keep {
  let facts: RepositoryFacts | null = null;
  return (change, signal) =>
    attempted(async () => {
      facts ??= await store.facts(signal);
      return versionsOf(store, facts, change, signal);
    });
}

/** What a look around a command stores at once, so that no data set is copied. */
export const MOST_NEW = {
  files: 5000,
  bytes: 64 * 1024 * 1024,
  fault: 'too many files here are neither committed nor ignored, so changes by commands cannot be shown',
};

/** Ignore rules by the first tree of a run. They are read once: rules outside the files (`info/exclude`) may change later. */
function rulesKept() {
  const kept = new Map<TreeId, IgnoreRules>();
  let newest: IgnoreRules | null = null;
  const of = async (staging: staged.Staging, since: Since | undefined): Promise<IgnoreRules> => {
    if (since === undefined) return (newest = await rulesNow(staging));
    const found = kept.get(since.tree) ?? (await rulesOfTree(staging, since.tree));
    kept.set(since.tree, found);
    return found;
  };
  return {
    of,
    hidden: async (staging: staged.Staging, since: Since | undefined): Promise<readonly string[]> =>
      hiddenNames(staging, await of(staging, since), since ?? null),
    /** Binds the rules of the last scan to `tree`, with which a run begins. */
    began: (tree: TreeId): void => void (newest !== null && kept.set(tree, newest)),
  };
}

interface Seen {
  readonly facts: RepositoryFacts;
  readonly tree: TreeId;
}

/** Scans with one index, one after the other. `take` makes the index of the first one, `leave` keeps it for other programs. */
export class Scans {
  readonly #take: (index: string) => void;
  readonly #leave: (index: string) => void;
  #last: Seen | null = null;

  constructor(take: (index: string) => void, leave: (index: string) => void = () => undefined) {
    this.#take = take;
    this.#leave = leave;
  }

  /** What the last scan found; null before the first, and after a fault. */
  get last(): Seen | null {
    return this.#last;
  }

  /** As `scan`, at once where no file differs from the last one. */
  async look(staging: staged.Staging): Promise<TreeId> {
    const known = this.#last;
    return known !== null && (await staged.isUnchanged(staging)) ? known.tree : this.scan(staging);
  }

  async scan(staging: staged.Staging): Promise<TreeId> {
    const before = this.#last;
    this.#last = null;
    if (before === null) this.#take(staging.index);
    try {
      this.#last = await treeIn(staging, before);
    } finally {
      if (this.#last === null) staged.dropIndex(staging.index);
    }
    // Only after a complete scan, because the next program starts from this index.
    if (before === null) this.#leave(staging.index);
    return this.#last.tree;
  }
}

async function treeIn(staging: staged.Staging, last: Seen | null): Promise<Seen> {
  const { head, format } = staging.facts;
  const goesOn = last !== null && last.facts.head === head && last.facts.format === format;
  const began = Date.now();
  const before = goesOn ? last : await staged.seed(staging);
  const tree = await staged.stage(staging, before.tree);
  staged.backdate(staging.index, began);
  return { facts: staging.facts, tree };
}

// Which ignored files mandatory reviews see. The rules are those of the first tree of a run, so that no agent can hide a file by
// ignoring it. Ignored folders hold build output and do not count; ignored single files count once they changed, and so does
// every file that a file tool wrote.

/** The ignore files in force and their patterns, in the order in which git reads them. */
interface IgnoreRules {
  readonly names: readonly string[];
  readonly all: string;
  /** Only the patterns that ignore whole folders. */
  readonly folders: string;
}

const IGNORE_FILE = '.gitignore';
const MOST_BYTES = 1024 * 1024;
/** The deepest nesting of ignore files in folders that others ignore. */
const DEEPEST = 32;
const OWN_FOLDER = '/.mimir/';

/** The rules in force now, read at the first scan of a run. */
async function rulesNow(staging: staged.Staging): Promise<IgnoreRules> {
  const cached = await staged.inIndex(staging, ['ls-files', '--cached', '-z']);
  const known = new Map(ignoreFiles(cached).map((name) => [name, textOf(staging, name)]));
  for (let level = 0; level < DEEPEST; level += 1) {
    const rules = rulesOf(staging, known);
    const others = await othersUnder(staging, rules.folders, 'folders');
    const fresh = ignoreFiles(others).filter((name) => !known.has(name));
    if (fresh.length === 0) return rules;
    // Upper ones first, because they may exclude the others.
    const top = Math.min(...fresh.map(depthOf));
    for (const name of fresh) if (depthOf(name) === top) known.set(name, textOf(staging, name));
  }
  throw new TreeFault('ignore files are nested too deeply in ignored folders: the changes there cannot be determined');
}

/** The rules in force when the project had the content of `tree`. */
async function rulesOfTree(staging: staged.Staging, tree: string): Promise<IgnoreRules> {
  const { store, facts, signal } = staging;
  const known = new Map<string, string>();
  for (const [name, { mode, object }] of await staged.filesIn(staging, tree))
    if (path.posix.basename(name) === IGNORE_FILE && mode.startsWith('100'))
      known.set(name, await store.git(facts, ['cat-file', 'blob', object], signal));
  return rulesOf(staging, known);
}

/** Names that belong in the tree although git ignores them now; call it when all others are in the index. */
async function hiddenNames(
  staging: staged.Staging,
  rules: IgnoreRules,
  since: Since | null,
): Promise<readonly string[]> {
  const [others, plain] = await Promise.all([
    othersUnder(staging, rules.folders, 'folders'),
    othersUnder(staging, rules.all, 'all'),
  ]);
  const notIgnored = new Set(namesIn(plain));
  const counts = (name: string): boolean =>
    notIgnored.has(name) || (since !== null && changedAfter(staging, name, since.at));
  const found = namesIn(others).filter((name) => !name.endsWith('/') && counts(name));
  staged.refuseOdd(found, 'a file');
  const { path: root } = staging.store.root;
  const written = (since?.written ?? []).flatMap((name) => {
    const inside = insideName(root, name);
    return inside.ok ? [inside.value] : [];
  });
  return [...new Set([...found, ...[...rules.names, ...written].filter((name) => isOwnFile(root, name))])];
}

/** Text about changes after `at` in ignored folders, with the number of files in each; empty if there are none. */
async function unjudgedWords(staging: staged.Staging, rules: IgnoreRules, at: number): Promise<string> {
  const file = write(staging, 'folders', rules.folders);
  const args = ['ls-files', '--others', '--ignored', '--directory', '-z', `--exclude-from=${file}`];
  const listed = await staged.inIndex(staging, args);
  const looked = { left: MOST_LOOKED };
  const words: string[] = [];
  const folders = namesIn(listed).filter((name) => name.endsWith('/') && name !== '.mimir/');
  const tops = folders.filter((name) => !folders.some((other) => other !== name && name.startsWith(other)));
  for (const folder of tops) {
    const count = await changedBelow(path.join(staging.store.root.path, folder), at, looked);
    if (count > 0) words.push(`${JSON.stringify(folder)} (${count} ${count === 1 ? 'file' : 'files'})`);
  }
  if (looked.left <= 0) words.push('not all of them were checked');
  return words.join(', ');
}

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

function write({ index }: staged.Staging, kind: 'all' | 'folders', text: string): string {
  const file = `${index}.${kind}`;
  writeFileSync(file, text, { mode: 0o600 });
  return file;
}

/** Files that are not in the index, except those that these rules alone exclude. */
const othersUnder = (staging: staged.Staging, text: string, kind: 'all' | 'folders'): Promise<string> =>
  staged.inIndex(staging, ['ls-files', '--others', '-z', `--exclude-from=${write(staging, kind, text)}`]);

/** True for a file or a link with exactly this name and no link on the way, since git follows none. */
export const isOwnFile = (root: string, name: string): boolean => ['file', 'link'].includes(kindAt(root, name) ?? '');

/** How far file timestamps may lag behind the system's clock, in milliseconds. */
const COARSE = 100;

/** Compares the ctime, which no program can set. */
function changedAfter({ store }: staged.Staging, name: string, at: number): boolean {
  const stats = lstatSync(path.join(store.root.path, name), { throwIfNoEntry: false });
  return stats !== undefined && stats.ctimeMs >= at - COARSE;
}

/** Reads an ignore file as git does, without following links. Empty if it cannot be read, so that it ignores nothing. */
const textOf = ({ store }: staged.Staging, name: string): string =>
  staged.plainFile(path.join(store.root.path, name), MOST_BYTES);

function rulesOf({ facts }: staged.Staging, known: ReadonlyMap<string, string>): IgnoreRules {
  const names = [...known.keys()].toSorted((a, b) => depthOf(a) - depthOf(b));
  const lines = [
    ...linesIn(staged.ownExcludes(facts), ''),
    ...names.flatMap((name) => linesIn(known.get(name) ?? '', path.posix.dirname(name))),
  ];
  const text = (all: readonly string[]): string => [...all, OWN_FOLDER, ''].join('\n');
  return { names, all: text(lines), folders: text(lines.map(folderLine)) };
}

/** The patterns of one ignore file, rewritten for the root; as in git, the last matching pattern decides. */
function linesIn(text: string, folder: string): readonly string[] {
  const base = folder === '.' || folder === '' ? '' : staged.patternOf(folder);
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

/** The pattern restricted to folders. A pattern for the whole content of a named folder stays. */
function folderLine(line: string): string {
  if (line.startsWith('!') || line.endsWith('/')) return line;
  return /[^*/][^/]*(?:\/\*\*)?\/\*\*?$/.test(line) ? line : `${line}/`;
}

// The difference between two trees for people and mandatory reviews: names, and a patch of bounded length without secrets.

/** The longest patch in bytes that a model can still read. */
const PATCH_BYTES = 200 * 1024;
const HOW = ['-r', '--no-renames', '--no-ext-diff', '--no-textconv', '--no-color', '--submodule=short'];

/** Names sorted by bytes, and the patch. Attributes of the project are ignored, so that none can hide a file from a review. The
 * content of `.env` files and of what policy hides is left out; a long patch keeps its beginning and end. Throws `TreeFault`. */
export async function changesOf(
  store: TreeStore,
  facts: RepositoryFacts,
  { from, to }: { readonly from: TreeId; readonly to: TreeId },
  signal: AbortSignal,
  where: Pick<StoreCall, 'into'> = {},
): Promise<TreeChanges> {
  if (from === to) return { files: [], patch: '' };
  const [names, patch] = await Promise.all([
    store.git(facts, ['diff-tree', ...HOW, '--name-only', '-z', from, to], signal, where),
    attempted(() => store.git(facts, ['diff-tree', ...HOW, '--patch', from, to], signal, where)),
  ]);
  if (!patch.ok && signal.aborted) throw new TreeFault(patch.fault);
  // Without a patch there is too much to show, but the names are still reported.
  const text = patch.ok ? bounded(withoutSecrets(store.root, patch.value)) : `(no patch: ${patch.fault})`;
  return { files: namesIn(names), patch: text };
}

function bounded(patch: string): string {
  const text = capLines(patch, LINE_COLUMNS);
  const bytes = Buffer.byteLength(text);
  if (bytes <= PATCH_BYTES) return text;
  return `(this patch has ${bytes} bytes; ${PATCH_BYTES} of them are shown, from its start and its end)\n${capText(text, PATCH_BYTES)}`;
}

/** Stores what a file of the project contained, and contains now. */
async function versionsOf(
  store: TreeStore,
  facts: RepositoryFacts,
  { name, before, after }: Change,
  signal: AbortSignal,
): Promise<Pick<VersionChange, 'before' | 'after'>> {
  // A tool that changes the content leaves the mode as it is.
  const mode = ((lstatSync(path.join(store.root.path, name), { throwIfNoEntry: false })?.mode ?? 0) & 0o100) === 0;
  const version = async (text: string): Promise<FileVersion> => ({
    blob: await keepFile(store, facts, { name, text }, signal),
    mode: mode ? '100644' : '100755',
  });
  return { before: before === null ? null : await version(before), after: await version(after) };
}

/** The files in which two trees differ, each with its versions, and with its hunks where the patch is not too large. */
export async function changedFiles(
  store: TreeStore,
  facts: RepositoryFacts,
  { from, to }: { readonly from: TreeId; readonly to: TreeId },
  signal: AbortSignal,
  where: Pick<StoreCall, 'into'> = {},
): Promise<readonly ChangedFile[]> {
  const [listed, patch] = await Promise.all([
    store.git(facts, ['diff-tree', ...HOW, '--raw', '--numstat', '-z', from, to], signal, where),
    attempted(() => store.git(facts, ['diff-tree', ...HOW, '--patch', from, to], signal, where)),
  ]);
  const text = patch.ok ? capLines(withoutSecrets(store.root, patch.value), LINE_COLUMNS) : '';
  const sections = text.split(/^(?=diff --git )/m).filter((section) => section.startsWith('diff '));
  const entries = new Map(staged.entriesOf(listed).map((entry) => [entry.path, entry]));
  const ids = [...entries.values()].flatMap(({ object, newObject }) => [object, newObject]);
  const blobs = ids.filter((id) => !/^0+$/.test(id));
  const isKept = await attempted(() => keepContents(store, facts, blobs, signal));
  const counts = listed.split('\0').flatMap((field) => {
    const [, added = '', removed = '', file = ''] = /^(\d+|-)\t(\d+|-)\t(.+)$/s.exec(field) ?? [];
    return file === '' ? [] : [{ path: file, added: Number(added) || 0, removed: Number(removed) || 0 }];
  });
  return counts.map((count, nth) => {
    const diff = sections.length === counts.length ? hunksOf(sections[nth] ?? '') : undefined;
    const entry = entries.get(count.path);
    const before = version(entry?.mode, entry?.object);
    const after = version(entry?.newMode, entry?.newObject);
    const is = before === null ? 'added' : after === null ? 'removed' : 'changed';
    return { ...count, is, ...defined({ diff }), ...(isKept.ok ? { before, after } : {}) };
  });
}

/** The hunks of a file's section of a patch; undefined where it has none. */
function hunksOf(section: string): string | undefined {
  const start = section.search(/^@@/m);
  return start === -1 ? undefined : section.slice(start).trimEnd();
}

const version = (mode = '', blob = ''): FileVersion | null => (Number(mode) === 0 ? null : { blob, mode });
