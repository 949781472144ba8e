/** Trust of a project: what it would add, whether exactly that was trusted, and what has changed since. Trust is bound to the folder and to the
 * content of all files that configure Mimir; nothing is inherited from a parent folder. */
import { realpathSync } from 'node:fs';
import path from 'node:path';
import { fail, type Result, tried } from '../../domain/result.ts';
import type { TrustQuestion } from '../../ports/project-service.ts';
import { valueAt, words } from '../files/layer.ts';
import type { Places } from '../files/read-text.ts';
import { INSTRUCTION_FILES } from '../roles/instructions.ts';
import { isRoleFile, roleText } from '../roles/roles.ts';
import { readRole } from '../roles/role-file.ts';
import { ruleOf } from '../schema/schema.ts';
import { PLAN_FOLDER, readTemplate } from '../templates/templates.ts';
import * as trusted from './files.ts';
import { leavesOf, plainOf, readTree, respelled } from '../files/tree.ts';

export interface TrustLook {
  /** `trust:` of the person's own configuration: such a directory is trusted without a first question. */
  readonly listed: readonly string[];
  /** The project is Mimir's own checkout, whose `.mimir` has the defaults and needs no trust. */
  readonly own?: boolean;
  /** Makes the diff; without it, changed files are only named. */
  readonly diff?: Differ;
}

export interface ProjectTrust extends TrustQuestion {
  /** Why the project cannot be trusted at all; null if it can. The state is then `nothing`. */
  readonly problem: string | null;
  /** Trusted by `trust:` but not recorded yet: `giveTrust` records the present content. */
  readonly unrecorded: boolean;
  /** Warnings about the list or the record, one line each. */
  readonly notes: readonly string[];
}

type Where = Pick<Places, 'home' | 'state'>;

/** Changes nothing. Anything that cannot be read or verified is not trusted, and is reported. */
export function trustQuestion(projectRoot: string, places: Where, look: TrustLook): ProjectTrust {
  const root = realpathSync(projectRoot);
  const { trusted: listed, notes } = trustOf(root, look.listed, places.home);
  const nothing: ProjectTrust = { ...NOTHING, notes };
  const files = trusted.trustFiles(root, look.own ?? false);
  if (!files.ok) return { ...nothing, problem: files.fault };
  const brings = bringsOf(files.value);
  if (isTooWide(root, places.home)) return { ...nothing, problem: brings.length === 0 ? null : tooWide(root) };
  const seen = { ...nothing, digest: trusted.digestOf(files.value), brings };
  const stateIf = (state: ProjectTrust['state']): ProjectTrust['state'] => (brings.length === 0 ? 'nothing' : state);
  const record = trusted.readRecord(root, places);
  // Where a record is invalid, a listed folder is new as well: what was shown of it before is not known.
  if (!record.ok) return { ...seen, state: stateIf('new'), notes: [...notes, record.fault] };
  const changes = changesOf(root, record.value, files.value, look.diff);
  const known = changes.length > 0 ? 'changed' : 'trusted';
  const recorded = record.value !== null;
  const state = stateIf(recorded || listed ? known : 'new');
  return { ...seen, state, diff: changes.join('\n'), unrecorded: !recorded && listed };
}

const NOTHING = { state: 'nothing', digest: '', brings: [], diff: '', problem: null, unrecorded: false } as const;

/** Trusts the project as it was shown. Fails if it has changed since, is too wide (home and above), or cannot be recorded. */
export function giveTrust(
  projectRoot: string,
  places: Where,
  digest: string,
  { own = false }: Pick<TrustLook, 'own'> = {},
): Result<void, string> {
  const root = realpathSync(projectRoot);
  if (isTooWide(root, places.home)) return fail(tooWide(root));
  const files = trusted.trustFiles(root, own);
  if (!files.ok) return files;
  if (trusted.digestOf(files.value) !== digest) return fail('it has changed since it was shown: review it again');
  const kept = files.value.map(({ file, digest: one, text }) => ({ file, digest: one, text }));
  return trusted.writeRecord({ version: 1, ...trusted.folderNow(root), digest, files: kept }, places);
}

/** Revokes trust; false if none was given. */
export const takeTrust = (projectRoot: string, places: Where): Result<boolean, string> =>
  trusted.removeRecord(realpathSync(projectRoot), places);

const tooWide = (root: string): string => `${root} cannot be trusted: it is your home directory or contains it`;
const REPLACED = '# the folder itself was replaced after it was trusted';

// The changes since a project was trusted. The caller provides the diff.

/** A unified diff of one file; `before` is null for a new one. */
export type Differ = (change: { name: string; before: string | null; after: string }) => string;

type Side = Pick<trusted.TrustFile, 'digest' | 'text'> | undefined;

/** One entry per changed file; a file without text, or without a `differ`, is only named. Empty without changes or without a record. */
function changesOf(
  root: string,
  record: trusted.TrustRecord | null,
  files: readonly trusted.TrustFile[],
  differ: Differ | undefined,
): readonly string[] {
  if (record === null) return [];
  const now = trusted.folderNow(root);
  const isSame = now.device === record.device && now.inode === record.inode;
  const before = new Map(record.files.map((one) => [one.file, one]));
  const after = new Map(files.map((one) => [one.file, one]));
  const names = [...new Set([...before.keys(), ...after.keys()])].toSorted();
  const changes = names.flatMap((name) => changeOf(name, before.get(name), after.get(name), differ));
  return [...(isSame ? [] : [REPLACED]), ...changes];
}

function changeOf(name: string, before: Side, after: Side, differ: Differ | undefined): readonly string[] {
  if (before?.digest === after?.digest) return [];
  const isText = [before, after].every((side) => side?.text !== null);
  if (differ === undefined || !isText) return [`# ${name} ${wordFor(before, after)}`];
  return [differ({ name, before: before?.text ?? null, after: after?.text ?? '' })];
}

function wordFor(before: Side, after: Side): string {
  if (before === undefined) return 'is new';
  return after === undefined ? 'is gone' : 'has changed';
}

// Which projects the person trusts in advance: those listed under `trust` in their configuration, with all folders below them.

/** Compares real paths component by component. The home directory and its parents would trust every download, so they are ignored, like relative
 * paths and missing folders. `notes`: ignored entries, one line each, with the reason. */
export function trustOf(projectRoot: string, entries: readonly string[], home: string) {
  const project = realOf(projectRoot) ?? projectRoot;
  const notes: string[] = [];
  const trusted = entries.filter((entry) => {
    const named = entry === '~' || entry.startsWith('~/') ? path.join(home, entry.slice(1)) : entry;
    const real = path.isAbsolute(named) ? realOf(named) : null;
    const tooWide = real !== null && isTooWide(real, home);
    if (tooWide || !path.isAbsolute(named))
      notes.push(`trust: "${entry}" is ignored: ${tooWide ? 'it is too broad' : 'start it with / or ~'}`);
    return real !== null && !tooWide && holds(real, project);
  });
  return { trusted: trusted.length > 0, notes };
}

/** True for the home directory, its parents and `/`, which would include every download. Both paths are real. */
const isTooWide = (real: string, home: string): boolean =>
  real === path.parse(real).root || holds(real, realOf(home) ?? home);

/** True for the folder itself and everything below it. */
const holds = (above: string, below: string): boolean => below === above || below.startsWith(above + path.sep);

const realOf = (folder: string): string | null => tried(() => realpathSync(folder), null);

// What the files of a project would add if it were trusted, one line each. Reads nothing itself.

/** Empty if nothing in the project needs trust; restrictions never do. */
export const bringsOf = (files: readonly trusted.TrustFile[]): readonly string[] => [
  ...files.flatMap(rolesOf),
  ...files.flatMap(preferencesOf),
  ...files.flatMap(templatesOf),
  ...INSTRUCTION_FILES.flatMap((name) => files.filter(({ file }) => file === name)).map(instructionsLine),
];

function rolesOf({ file, text }: trusted.TrustFile): readonly string[] {
  if (!isRoleFile(file)) return [];
  const { dir, base } = path.parse(file);
  const role = readRole(roleText({ shown: dir, owner: 'project' }, base, text ?? ''));
  if (!role.ok) return [`an invalid role file (${file})`];
  const { name, capabilities } = role.value.role;
  return [`role ${name}: ${capabilities.length === 0 ? 'no tools' : capabilities.join(', ')} (${file})`];
}

/** Plans instruct agents, so they need trust: `plan template audit: 3 tasks (.mimir/plans/audit.yml)`. */
function templatesOf({ file, text }: trusted.TrustFile): readonly string[] {
  const { dir, ext, name } = path.parse(file);
  if (dir !== PLAN_FOLDER || ext !== '.yml') return [];
  const read = readTemplate({ shown: file, stem: name, text: text ?? '' });
  if (!read.ok) return [`an invalid plan template (${file})`];
  const { tasks } = read.value.info;
  return [`plan template ${name}: ${tasks === 1 ? '1 task' : `${tasks} tasks`} (${file})`];
}

/** `prefers theme mimir-light`; an invalid file gives nothing here, and prevents a run anyway. */
function preferencesOf({ file, text }: trusted.TrustFile): readonly string[] {
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
/** `withoutYolo` in layer.ts drops it, trusted or not. */
const isIgnored = (name: string, value: string): boolean => name === 'mode.default' && value === 'yolo';
const IGNORED = ', which is ignored: a project cannot prefer a mode less strict than confirm';
const SECTION = /^(?:agentOrchestration|ui)\./;

const instructionsLine = ({ file, bytes }: trusted.TrustFile): string =>
  `instructions ${file} (${bytes < 1000 ? `${bytes} B` : `${(bytes / 1000).toFixed(1)} KB`})`;
