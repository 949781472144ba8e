/**
 * The roles of a run apart from a project's own: from the package, the administrator and the user, with the settings applied. Policy decides which
 * may be used.
 */
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { EFFORTS, withEffort } from '../../domain/models/provider.ts';
import type { Role } from '../../domain/agents/role.ts';
import { type Result, fail, ok } from '../../domain/result.ts';
import { codeOf, type ConfigFault, type FaultWords, fileFault, readText } from '../files/read-text.ts';
import type { Effective } from '../files/merge.ts';
import { managedFolder, readManagedFile } from '../managed/managed.ts';
import { type RoleText, readRole } from './role-file.ts';
import { capabilitiesOf, isToolName } from '../schema/tool-names.ts';

export interface RoleFolder {
  readonly directory: string;
  /** The folder as people name it. */
  readonly shown: string;
  readonly owner: 'built-in' | 'managed' | 'user';
}

/** The package's own roles, below its root. */
export const OWN_ROLES = '.mimir/agents';

export interface ReadRoles {
  readonly roles: readonly Role[];
  readonly notes: readonly string[];
}

/**
 * The roles of the folders, in their order. A user's file may replace a built-in role of the same name with the same or fewer tools; an
 * administrator's may replace any; only an organisation may describe one of its mandatory reviews (`forced`).
 */
export function readRoles(
  folders: readonly RoleFolder[],
  forced: readonly string[] = [],
): Result<ReadRoles, readonly ConfigFault[]> {
  const roles = new Map<string, Role>();
  const notes: string[] = [];
  const faults: ConfigFault[] = [];
  const listed = folders.map((folder) => ({ folder, names: namesIn(folder) }));
  faults.push(...listed.flatMap(({ names }) => (names.ok ? [] : [names.fault])));
  const files = listed.flatMap(({ folder, names }) => (names.ok ? names.value.map((file) => ({ folder, file })) : []));
  for (const { folder, file } of files) {
    const read = readBeside(folder, file, roles, forced);
    if (!read.ok) {
      faults.push(...read.fault);
      continue;
    }
    roles.set(read.value.role.name, read.value.role);
    if (folder.owner !== 'built-in') notes.push(...read.value.notes);
  }
  if (faults.length > 0) return fail(faults);
  const models = roles.get('main')?.models ?? [];
  const all = [...roles.values()].map((role) => (role.models.length === 0 ? { ...role, models } : role));
  return ok({ roles: all.sort(byRank), notes });
}

function namesIn({ directory, owner }: RoleFolder): Result<readonly string[], ConfigFault> {
  if (owner !== 'managed') return ok(roleFiles(directory));
  const names = managedFolder(directory);
  return names.ok ? ok(roleNames(names.value ?? [])) : names;
}

/** Role files in a folder by name; empty without a folder. */
export function roleFiles(directory: string): readonly string[] {
  try {
    return roleNames(readdirSync(directory));
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EACCES'].includes(codeOf(error))) return [];
    throw error;
  }
}
const roleNames = (names: readonly string[]): readonly string[] =>
  names
    .filter((name) => /\.(?:md|json)$/.test(name) && !name.startsWith('.'))
    .sort()
    .slice(0, MAX_FILES);
const MAX_FILES = 200;

/** The order of the roles: `main`, then those of planners as in the documentation; custom roles last. */
const RANK = 'main finder oracle librarian refactoring rush reviewer security tester code explore plan'.split(' ');
const rankOf = ({ name }: Role): number => (RANK.includes(name) ? RANK.indexOf(name) : RANK.length);
export const byRank = (a: Role, b: Role): number => rankOf(a) - rankOf(b) || (a.name < b.name ? -1 : 1);

const shownFile = (folder: Pick<RoleFolder, 'shown'>, file: string): string => path.join(folder.shown, file);

/** Reads one file, and refuses it if it may not replace the role of its name. */
function readBeside(
  folder: RoleFolder,
  file: string,
  roles: ReadonlyMap<string, Role>,
  forced: readonly string[],
): ReturnType<typeof readRole> {
  const read = readOne(folder, file);
  if (!read.ok) return read;
  const { role } = read.value;
  const before = roles.get(role.name);
  const problem = before === undefined ? null : replacing(before, role, folder.owner, forced);
  if (problem === null) return read;
  return fail([fileFault(shownFile(folder, file), problem.problem, problem.remedy)]);
}

function readOne(folder: RoleFolder, file: string): ReturnType<typeof readRole> {
  const shown = shownFile(folder, file);
  if (folder.owner === 'managed') {
    const managed = readManagedFile(path.join(folder.directory, file));
    return managed.ok ? readRole(roleText(folder, file, managed.value.text)) : fail([managed.fault]);
  }
  const owner = folder.owner === 'user' ? 'mine' : 'any';
  const text = readText({ path: path.join(folder.directory, file), shown, links: 'follow', owner });
  if (!text.ok) return fail([text.fault]);
  return readRole(roleText(folder, file, text.value ?? ''));
}

/** A file of a folder as input of the role parser. */
export function roleText(folder: Pick<RoleFolder, 'shown' | 'owner'>, file: string, text: string): RoleText {
  const shown = shownFile(folder, file);
  return {
    file: shown,
    stem: file.replace(/\.(?:md|json)$/, ''),
    kind: file.endsWith('.json') ? 'json' : 'md',
    text,
    source: folder.owner === 'built-in' ? 'built-in' : shown,
    ...(folder.owner === 'built-in' ? {} : { commits: true }),
  };
}

function replacing(before: Role, role: Role, owner: RoleFolder['owner'], forced: readonly string[]): FaultWords | null {
  if (owner === 'user' && forced.includes(role.name)) {
    const problem = `the managed policy forces the role "${role.name}", which can't be replaced`;
    return { problem, remedy: 'give this role another name' };
  }
  if (before.source !== 'built-in') {
    return { problem: `role "${role.name}" is described in ${before.source} as well`, remedy: 'keep one of them' };
  }
  if (owner === 'managed') return null;
  const more = role.capabilities.filter((capability) => !before.capabilities.includes(capability));
  if (more.length === 0) return null;
  return {
    problem: `replaces the built-in role "${role.name}" with more than it has: ${more.join(', ')}`,
    remedy: 'take those tools out, or give the role another name',
  };
}

type Values = ReadonlyMap<string, Effective>;

/** The roles with the settings applied: models, iterations, fewer tools, effort. */
export const withSettings = (roles: readonly Role[], values: Values, everyModel: string | null): readonly Role[] =>
  roles.map((role) => {
    const said = (key: string): Effective | undefined => values.get(`agentOrchestration.roles.${role.name}.${key}`);
    const first = [everyModel, said('defaultModel')?.value].filter((each) => typeof each === 'string');
    const listed = said('fallbackModels') === undefined ? role.models : textsOf(said('fallbackModels')?.value);
    const iterations = said('iterations')?.value;
    const models = [...new Set([...first, ...listed])];
    const fewer = (said('tools')?.said ?? []).reduce((soFar, { value }) => restricted(soFar, textsOf(value)), role);
    // Models that a person names override the role's preferred grade.
    const isNamed = first.length > 0 || said('fallbackModels') !== undefined;
    return {
      ...(isNamed ? withoutPreference(fewer) : fewer),
      models,
      ...withEffort(EFFORTS.find((one) => one === said('effort')?.value)),
      iterations: typeof iterations === 'number' ? iterations : role.iterations,
    };
  });

function withoutPreference(role: Role): Role {
  const { prefers, ...others } = role;
  return prefers === undefined ? role : others;
}

/** Intersects the role's tools with `names`; a tool that the role does not have is never added. */
function restricted(role: Role, names: readonly string[]): Role {
  const standing = {
    writes: role.capabilities.includes('write'),
    root: role.name === 'main',
    commits: role.capabilities.includes('git-write'),
  };
  const allowed = capabilitiesOf(names.filter(isToolName), standing);
  const capabilities = role.capabilities.filter((capability) => allowed.includes(capability));
  const tools = names.filter((name) => capabilitiesOf([name], standing).some((each) => capabilities.includes(each)));
  return { ...role, tools, capabilities };
}

const textsOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
