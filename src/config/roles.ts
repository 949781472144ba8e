/**
 * All roles of a run: the package's own files, the user's, and what the settings say on top. A file of a project is not
 * read before that project is trusted; its name is told. Which roles may be used is policy's to say.
 */
import { readdirSync } from 'node:fs';
import path from 'node:path';
import type { Role } from '../domain/role.ts';
import { type Result, fail, ok } from '../domain/result.ts';
import type { ConfigFault } from './fault.ts';
import type { Effective } from './merge.ts';
import { codeOf, readText } from './read-text.ts';
import { type RoleText, readRole } from './role-file.ts';
import { capabilitiesOf, isToolName } from './tool-names.ts';

export interface RoleFolder {
  readonly directory: string;
  /** As people would name it. */
  readonly shown: string;
  readonly owner: 'built-in' | 'user';
}

/** Of the package's own, below its root. */
export const OWN_ROLES = '.mimir/agents';

export interface ReadRoles {
  readonly roles: readonly Role[];
  readonly notes: readonly string[];
}

/** The roles of the folders, in their order; a user's file replaces a built-in of its name, with the same or fewer tools. */
export function readRoles(folders: readonly RoleFolder[]): Result<ReadRoles, readonly ConfigFault[]> {
  const roles = new Map<string, Role>();
  const notes: string[] = [];
  const faults: ConfigFault[] = [];
  for (const folder of folders) {
    for (const file of roleFiles(folder.directory)) {
      const read = readOne(folder, file);
      if (!read.ok) {
        faults.push(...read.fault);
        continue;
      }
      const { role } = read.value;
      const before = roles.get(role.name);
      const problem = before === undefined ? null : replacing(before, role);
      if (problem === null) roles.set(role.name, role);
      else faults.push({ file: shownFile(folder, file), line: null, column: null, ...problem });
      notes.push(...(folder.owner === 'built-in' ? [] : read.value.notes));
    }
  }
  if (faults.length > 0) return fail(faults);
  const models = roles.get('main')?.models ?? [];
  const all = [...roles.values()].map((role) => (role.models.length === 0 ? { ...role, models } : role));
  return ok({ roles: all.sort(byRank), notes });
}

/** Role files in a folder by name; none where there is no folder. */
export function roleFiles(directory: string): readonly string[] {
  try {
    const names = readdirSync(directory).filter((name) => /\.(?:md|json)$/.test(name) && !name.startsWith('.'));
    return names.sort().slice(0, MAX_FILES);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EACCES'].includes(codeOf(error))) return [];
    throw error;
  }
}
const MAX_FILES = 200;

/** `main` first, then what planners use, in the order people meet them in the documentation; custom roles last. */
const RANK = [
  'main',
  'finder',
  'oracle',
  'librarian',
  'refactoring',
  'rush',
  'reviewer',
  'security',
  'tester',
  'code',
  'explore',
  'plan',
];
const rankOf = ({ name }: Role): number => (RANK.includes(name) ? RANK.indexOf(name) : RANK.length);
const byRank = (a: Role, b: Role): number => rankOf(a) - rankOf(b) || (a.name < b.name ? -1 : 1);

const shownFile = (folder: Pick<RoleFolder, 'shown'>, file: string): string => path.join(folder.shown, file);

function readOne(folder: RoleFolder, file: string): ReturnType<typeof readRole> {
  const shown = shownFile(folder, file);
  const owner = folder.owner === 'user' ? 'mine' : 'any';
  const text = readText({ path: path.join(folder.directory, file), shown, links: 'follow', owner });
  if (!text.ok) return fail([text.fault]);
  return readRole(roleText(folder, file, text.value ?? ''));
}

/** A file of a folder as the reader of roles takes it. */
export function roleText(folder: Pick<RoleFolder, 'shown' | 'owner'>, file: string, text: string): RoleText {
  const shown = shownFile(folder, file);
  return {
    file: shown,
    stem: file.replace(/\.(?:md|json)$/, ''),
    kind: file.endsWith('.json') ? 'json' : 'md',
    text,
    source: folder.owner === 'built-in' ? 'built-in' : shown,
  };
}

function replacing(before: Role, role: Role): Pick<ConfigFault, 'problem' | 'remedy'> | null {
  if (before.source !== 'built-in') {
    return { problem: `role "${role.name}" is described in ${before.source} as well`, remedy: 'keep one of them' };
  }
  const more = role.capabilities.filter((capability) => !before.capabilities.includes(capability));
  if (more.length === 0) return null;
  return {
    problem: `replaces the built-in role "${role.name}" with more than it has: ${more.join(', ')}`,
    remedy: 'take those tools out, or give the role another name',
  };
}

type Values = ReadonlyMap<string, Effective>;

/** The roles with what the settings say of each: its models, its iterations, fewer tools. */
export const withSettings = (roles: readonly Role[], values: Values, everyModel: string | null): readonly Role[] =>
  roles.map((role) => {
    const said = (key: string): Effective | undefined => values.get(`agentOrchestration.roles.${role.name}.${key}`);
    const first = [everyModel, said('defaultModel')?.value].filter((each) => typeof each === 'string');
    const listed = said('fallbackModels') === undefined ? role.models : textsOf(said('fallbackModels')?.value);
    const iterations = said('iterations')?.value;
    const models = [...new Set([...first, ...listed])];
    const fewer = (said('tools')?.said ?? []).reduce((soFar, { value }) => restricted(soFar, textsOf(value)), role);
    return { ...fewer, models, iterations: typeof iterations === 'number' ? iterations : role.iterations };
  });

/** Never more than the role has: tools that it hasn't are no gift. */
function restricted(role: Role, names: readonly string[]): Role {
  const standing = { writes: role.capabilities.includes('write'), root: role.name === 'main' };
  const allowed = capabilitiesOf(names.filter(isToolName), standing);
  const capabilities = role.capabilities.filter((capability) => allowed.includes(capability));
  const tools = names.filter((name) => capabilitiesOf([name], standing).some((each) => capabilities.includes(each)));
  return { ...role, tools, capabilities };
}

const textsOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
