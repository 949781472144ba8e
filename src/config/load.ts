/**
 * Everything a run is told beforehand: layers read and merged into rules, roles, prompts and preferences. Wrong input is a
 * list of faults with file, line and remedy, and then nothing may run. The only reader of the environment here.
 */
import { lstatSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { isLooser } from '../domain/mode.ts';
import type { Prompts } from '../domain/prompts.ts';
import type { Layer as LayerName } from '../domain/reason.ts';
import type { Role } from '../domain/role.ts';
import { type Result, fail, ok } from '../domain/result.ts';
import type { Rules } from '../policy/rules.ts';
import { checkLayers } from './check.ts';
import type { ConfigFault } from './fault.ts';
import { type Flags, flagLayer } from './flags.ts';
import { OWN_FILE, type ReadLayer, readLayer } from './layer.ts';
import { type Effective, inOrder, merge } from './merge.ts';
import { type NamedModel, modelLists, ownModels } from './model-lists.ts';
import { type Environment, type Places, placesOf, shownPath } from './paths.ts';
import { preferencesOf, type Preferences } from './preferences.ts';
import { environmentFaults } from './provider-faults.ts';
import { type ConfiguredProvider, providersOf } from './providers.ts';
import { instructionsOf } from './instructions.ts';
import { readPrompts } from './prompts.ts';
import { readText } from './read-text.ts';
import { OWN_ROLES, readRoles, roleFiles, withSettings } from './roles.ts';
import { toRules } from './to-rules.ts';
import { withoutEffect } from './without-effect.ts';

export interface Sources {
  /** Where Mimir itself is installed: its own `.mimir` holds the defaults. */
  readonly packageRoot: string;
  /** Real path of the project (`findProject`). */
  readonly projectRoot: string;
  readonly env?: Environment;
  readonly flags?: Flags;
  /** The person trusts the project as it is now: its instructions count. Left out: no. */
  readonly trusted?: boolean;
}

export interface Loaded {
  readonly rules: Rules;
  /** Built-in and the user's own, with settings applied; which may be used is policy's to say. */
  readonly roles: readonly Role[];
  readonly prompts: Prompts;
  /** What is neither a rule nor a role: providers, appearance, keys and the like. */
  readonly preferences: Preferences;
  /** Every provider that can be named, with its key: never to be printed or recorded as a whole. */
  readonly providers: readonly ConfiguredProvider[];
  /** Models of the person's own providers, beside those that the catalogue knows. */
  readonly models: readonly NamedModel[];
  /** Every key with what holds and where it is written. */
  readonly values: ReadonlyMap<string, Effective>;
  readonly places: Places;
  /** Warnings, a line each: what was ignored, and why. */
  readonly notes: readonly string[];
}

/** Reads and merges all layers. Nothing outside the named places is read, nothing is written. */
export function loadConfig(sources: Sources): Result<Loaded, readonly ConfigFault[]> {
  const { packageRoot, projectRoot, env = process.env, flags = {}, trusted = false } = sources;
  const places = placesOf(env, homedir());
  const read = readLayers(packageRoot, projectRoot, places);
  if (!read.ok) return read;
  const layers = inOrder([...read.value.map(({ layer }) => layer), flagLayer(flags)]);
  const files = readRoles([
    { directory: path.join(packageRoot, OWN_ROLES), shown: OWN_ROLES, owner: 'built-in' },
    { directory: path.join(places.config, 'agents'), shown: shownIn(places, 'agents'), owner: 'user' },
  ]);
  if (!files.ok) return files;
  const waiting = isItself(packageRoot, projectRoot) ? [] : untrustedRoles(projectRoot);
  const values = merge(layers);
  const preferences = preferencesOf(values);
  const own = ownModels(preferences.providers);
  const models = modelLists(layers, own);
  const known = [...files.value.roles.map(({ name }) => name), ...waiting.map((file) => path.parse(file).name)];
  const faults = [...models.faults, ...checkLayers(layers, { roles: known, own, flags }), ...environmentFaults(env)];
  if (faults.length > 0) return fail(faults);
  const rules = toRules(layers, values, models);
  const mode = modeFaults(flags, rules);
  if (mode.length > 0) return fail(mode);
  const instructions = instructionsOf(projectRoot, trusted);
  return ok({
    rules,
    roles: withSettings(files.value.roles, values, flags.model ?? null),
    prompts: readPrompts(packageRoot, instructions.text),
    preferences,
    providers: providersOf(preferences.providers, env, rules),
    models: own,
    values,
    places,
    notes: [
      ...read.value.flatMap(({ notes }) => notes),
      ...files.value.notes,
      ...untrustedNote(waiting),
      ...instructions.notes,
      ...withoutEffect(values),
    ],
  });
}

const shownIn = ({ config, home }: Places, name: string): string => shownPath(path.join(config, name), home);

interface LayerFile {
  readonly name: LayerName;
  readonly path: string;
  readonly shown: string;
}

/** From the ground up. A managed layer would be two more entries here, with checks of their own. */
function readLayers(
  packageRoot: string,
  projectRoot: string,
  places: Places,
): Result<readonly ReadLayer[], readonly ConfigFault[]> {
  const project = path.join(projectRoot, '.mimir/config.yml');
  const files: readonly LayerFile[] = [
    { name: 'default', path: path.join(packageRoot, '.mimir/config.yml'), shown: OWN_FILE },
    { name: 'user', path: path.join(places.config, 'config.yml'), shown: shownIn(places, 'config.yml') },
    // In Mimir's own checkout the defaults are defaults, never a project's agreement.
    ...(isItself(packageRoot, projectRoot)
      ? []
      : [{ name: 'project', path: project, shown: '.mimir/config.yml' } as const]),
  ];
  const read = files.map((file) => readFile(file));
  const faults = read.flatMap((each) => (each.ok ? [] : each.fault));
  if (faults.length > 0) return fail(faults);
  return ok(read.flatMap((each) => (each.ok && each.value !== null ? [each.value] : [])));
}

function readFile(file: LayerFile): Result<ReadLayer | null, readonly ConfigFault[]> {
  const folder = file.name === 'project' ? folderFault(path.dirname(file.path)) : null;
  if (folder !== null) return fail([folder]);
  const text = readText({
    path: file.path,
    shown: file.shown,
    links: file.name === 'project' ? 'refuse' : 'follow',
    owner: file.name === 'user' ? 'mine' : 'any',
  });
  if (!text.ok) return fail([text.fault]);
  if (text.value === null) return ok(null);
  return readLayer(file.name, file.shown, text.value);
}

/** A link in place of `.mimir` would let another directory speak for this project. */
function folderFault(folder: string): ConfigFault | null {
  const status = lstatSync(folder, { throwIfNoEntry: false });
  if (status === undefined || status.isDirectory()) return null;
  const problem = status.isSymbolicLink() ? 'is a symbolic link' : 'is a file, not a directory';
  return { file: '.mimir', line: null, column: null, problem, remedy: 'put the directory itself there, or remove it' };
}

const isItself = (packageRoot: string, projectRoot: string): boolean =>
  realpathSync(packageRoot) === realpathSync(projectRoot);

/** Names of role files that wait for trust. `.mini-cc/agents` is another program's place for them. */
const untrustedRoles = (projectRoot: string): readonly string[] =>
  ['.mimir/agents', '.mini-cc/agents'].flatMap((folder) =>
    roleFiles(path.join(projectRoot, folder)).map((file) => path.posix.join(folder, file)),
  );

const untrustedNote = (files: readonly string[]): readonly string[] =>
  files.length === 0 ? [] : [`not loaded, since this project is not trusted: ${files.join(', ')}`];

/** `--mode` may not be looser than the rules allow. */
function modeFaults({ mode }: Flags, { maxMode }: Rules): readonly ConfigFault[] {
  if (mode === undefined || !isLooser(mode, maxMode.value)) return [];
  const { file, layer, line } = maxMode.from;
  const place = file === null ? layer : `${file}${line === null ? '' : `:${line}`}`;
  return [
    {
      file: `--mode ${mode}`,
      line: null,
      column: null,
      problem: `is looser than ${maxMode.from.rule} allows (${place})`,
      remedy: `use --mode ${maxMode.value}`,
    },
  ];
}
