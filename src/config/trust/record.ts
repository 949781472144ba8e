/**
 * Trust of a project: what it would bring, whether exactly that was trusted, and what changed since. Bound
 * to the folder and to the content of all that configures Mimir there; nothing is inherited from a folder above.
 */
import { realpathSync } from 'node:fs';
import path from 'node:path';
import { fail, type Result } from '../../domain/result.ts';
import type { TrustQuestion } from '../../ports/project-service.ts';
import { valueAt } from '../files/issues.ts';
import { words } from '../files/layer.ts';
import type { Places } from '../files/paths.ts';
import { INSTRUCTION_FILES } from '../roles/instructions.ts';
import { isRoleFile, projectRoleText } from '../roles/project-roles.ts';
import { readRole } from '../roles/role-file.ts';
import { ruleOf } from '../schema/keys.ts';
import { PLAN_FOLDER, readTemplate } from '../templates/templates.ts';
import { digestOf, type TrustFile, trustFiles } from './files.ts';
import { folderNow, readRecord, removeRecord, type TrustRecord, writeRecord } from './store.ts';
import { leavesOf, plainOf, respelled } from '../files/tree-walk.ts';
import { readTree } from '../files/tree.ts';

export interface TrustLook {
  /** `trust:` of the person's own configuration: such a directory needs no first question. */
  readonly listed: readonly string[];
  /** The project is Mimir's own checkout: its `.mimir` holds the defaults, and needs no trust. */
  readonly own?: boolean;
  /** Makes the diff; without it, changed files are only named. */
  readonly diff?: Differ;
}

export interface ProjectTrust extends TrustQuestion {
  /** Why nothing here can be trusted at all; null when it can. The state is `nothing` then. */
  readonly problem: string | null;
  /** Trusted by `trust:` and not recorded yet: `giveTrust` binds it to what is there now. */
  readonly unrecorded: boolean;
  /** What is odd about the list or the record, a line each. */
  readonly notes: readonly string[];
}

type Where = Pick<Places, 'home' | 'state'>;

/** Looks only. Anything that can't be read or believed is not trusted, and said. */
export function trustQuestion(projectRoot: string, places: Where, look: TrustLook): ProjectTrust {
  const root = realpathSync(projectRoot);
  const list = trustOf(root, look.listed, places.home);
  const files = trustFiles(root, look.own ?? false);
  if (!files.ok) return refused(files.fault, list.notes);
  const brings = bringsOf(files.value);
  if (isTooWide(root, places.home)) return refused(brings.length === 0 ? null : tooWide(root), list.notes);
  const record = readRecord(root, places);
  const seen = { files: files.value, brings, notes: list.notes };
  if (!record.ok) return unbelieved({ ...seen, notes: [...list.notes, record.fault] });
  const changes = changesOf(root, record.value, files.value, look);
  return compared(seen, { recorded: record.value !== null, listed: list.trusted, changes });
}

interface Seen {
  readonly files: readonly TrustFile[];
  readonly brings: readonly string[];
  readonly notes: readonly string[];
}

interface Known {
  readonly recorded: boolean;
  readonly listed: boolean;
  /** Since it was recorded. */
  readonly changes: readonly string[];
}

function compared({ files, brings, notes }: Seen, { recorded, listed, changes }: Known): ProjectTrust {
  const known = changes.length > 0 ? 'changed' : 'trusted';
  const state = recorded || listed ? known : 'new';
  return {
    state: brings.length === 0 ? 'nothing' : state,
    digest: digestOf(files),
    brings,
    diff: changes.join('\n'),
    problem: null,
    unrecorded: !recorded && listed,
    notes,
  };
}

/**
 * Trusts the project as it was shown. Fails, in words, when it has changed since, when it is too wide (home and above), or
 * when the record can't be written.
 */
export function giveTrust(
  projectRoot: string,
  places: Where,
  digest: string,
  { own = false }: Pick<TrustLook, 'own'> = {},
): Result<void, string> {
  const root = realpathSync(projectRoot);
  if (isTooWide(root, places.home)) return fail(tooWide(root));
  const files = trustFiles(root, own);
  if (!files.ok) return files;
  if (digestOf(files.value) !== digest) return fail('it has changed since it was shown: look again');
  const kept = files.value.map(({ file, digest: one, text }) => ({ file, digest: one, text }));
  return writeRecord({ version: 1, ...folderNow(root), digest, files: kept }, places);
}

/** Takes trust back; false when none was given. */
export const takeTrust = (projectRoot: string, places: Where): Result<boolean, string> =>
  removeRecord(realpathSync(projectRoot), places);

const tooWide = (root: string): string => `${root} is never trusted: it is home, or above it`;

const refused = (problem: string | null, notes: readonly string[]): ProjectTrust => ({
  state: 'nothing',
  digest: '',
  brings: [],
  diff: '',
  problem,
  unrecorded: false,
  notes,
});

/** A record that can't be believed is none; neither must it make a listed folder look seen for the first time. */
const unbelieved = ({ files, brings, notes }: Seen): ProjectTrust => ({
  ...refused(null, notes),
  state: brings.length === 0 ? 'nothing' : 'new',
  digest: digestOf(files),
  brings,
});

const REPLACED = '# the folder itself is another one than the one that was trusted';

/** Empty: what is there is what was trusted, or nothing was. */
function changesOf(
  root: string,
  record: TrustRecord | null,
  files: readonly TrustFile[],
  { diff }: TrustLook,
): readonly string[] {
  if (record === null) return [];
  const now = folderNow(root);
  const isSame = now.device === record.device && now.inode === record.inode;
  return [...(isSame ? [] : [REPLACED]), ...changesSince(record, files, diff ?? null)];
}

// What changed in a project since it was trusted, for the person who is asked again. Which lines differ is the caller's to say.

interface Changed {
  readonly name: string;
  /** Null: it was not there. */
  readonly before: string | null;
  readonly after: string;
}

/** A unified diff of one file. */
export type Differ = (change: Changed) => string;

type Side = Pick<TrustFile, 'digest' | 'text'> | undefined;

/** File by file; one without a text, or without a `differ`, is only named. */
function changesSince(record: TrustRecord, files: readonly TrustFile[], differ: Differ | null): readonly string[] {
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

// Which projects the person trusts: those that `trust` in their own configuration names, or a folder above. Pure but for real paths.

interface Trust {
  readonly trusted: boolean;
  /** Entries that say nothing, a line each, with the reason. */
  readonly notes: readonly string[];
}

/**
 * Compared as real paths, component by component. Home itself and what is above it would trust everything that is ever
 * downloaded: they count for nothing, like relative paths and folders that aren't there.
 */
export function trustOf(projectRoot: string, entries: readonly string[], home: string): Trust {
  const project = realOf(projectRoot) ?? projectRoot;
  const own = realOf(home) ?? home;
  const tooWide = (real: string): boolean => isTooWide(real, own);
  const judged = entries.map((entry): Judged => {
    const named = entry === '~' || entry.startsWith('~/') ? path.join(home, entry.slice(1)) : entry;
    const ignored = (why: string): Judged => ({ real: null, note: `trust: "${entry}" is ignored: ${why}` });
    if (!path.isAbsolute(named)) return ignored('name it from / or ~ on');
    const real = realOf(named);
    return real !== null && tooWide(real) ? ignored('it is too wide') : { real, note: null };
  });
  return {
    trusted: judged.some(({ real }) => real !== null && holds(real, project)),
    notes: judged.flatMap(({ note }) => note ?? []),
  };
}

/** Home, what is above it, and `/`: to trust them would be to trust all that is ever downloaded. Both are real paths. */
const isTooWide = (real: string, home: string): boolean =>
  real === path.parse(real).root || holds(real, realOf(home) ?? home);

interface Judged {
  readonly real: string | null;
  readonly note: string | null;
}

/** The folder itself, or one above. */
const holds = (above: string, below: string): boolean => below === above || below.startsWith(above + path.sep);

/** Null for a folder that isn't there. */
function realOf(folder: string): string | null {
  try {
    return realpathSync(folder);
  } catch {
    return null;
  }
}

// What the files of a project would bring if it were trusted, a line each, for the person who decides. Reads nothing itself.

/** Empty when the project says nothing that needs trust; its restrictions never do. */
export const bringsOf = (files: readonly TrustFile[]): readonly string[] => [
  ...files.flatMap(rolesOf),
  ...files.flatMap(preferencesOf),
  ...files.flatMap(templatesOf),
  ...INSTRUCTION_FILES.flatMap((name) => files.filter(({ file }) => file === name)).map(instructionsLine),
];

function rolesOf({ file, text }: TrustFile): readonly string[] {
  if (!isRoleFile(file)) return [];
  const role = readRole(projectRoleText(file, text ?? ''));
  if (!role.ok) return [`a role file with a fault (${file})`];
  const { name, capabilities } = role.value.role;
  return [`role ${name}: ${capabilities.length === 0 ? 'no tools' : capabilities.join(', ')} (${file})`];
}

/** A plan is text that agents follow: `plan template audit: 3 tasks (.mimir/plans/audit.yml)`. */
function templatesOf({ file, text }: TrustFile): readonly string[] {
  const { dir, ext, name } = path.parse(file);
  if (dir !== PLAN_FOLDER || ext !== '.yml') return [];
  const read = readTemplate({ shown: file, stem: name, text: text ?? '' });
  if (!read.ok) return [`a plan template with a fault (${file})`];
  const { tasks } = read.value.info;
  return [`plan template ${name}: ${tasks === 1 ? '1 task' : `${tasks} tasks`} (${file})`];
}

/** `prefers theme mimir-light`; a file with a fault says nothing here, and refuses to run anyway. */
function preferencesOf({ file, text }: TrustFile): readonly string[] {
  if (file !== '.mimir/config.yml') return [];
  const read = readTree(text ?? '', file);
  if (!read.ok) return [];
  const tree = respelled(read.value);
  const plain = plainOf(tree);
  return leavesOf(tree)
    .filter((key) => ruleOf(key).kind === 'preference')
    .map((key) => {
      const [name, value] = [key.join('.'), words(valueAt(plain, key))];
      return `prefers ${name.replace(SECTION, '')} ${value}${isIgnored(name, value) ? IGNORED : ''}`;
    });
}
/** `withoutYolo` in layer.ts leaves it out, trusted or not. */
const isIgnored = (name: string, value: string): boolean => name === 'mode.default' && value === 'yolo';
const IGNORED = ', which is ignored: what a project prefers is never looser than confirm';
const SECTION = /^(?:agentOrchestration|ui)\./;

const instructionsLine = ({ file, bytes }: TrustFile): string =>
  `instructions ${file} (${bytes < 1000 ? `${bytes} B` : `${(bytes / 1000).toFixed(1)} KB`})`;
