/** Loads the configuration of a run: merges layers into rules, roles, prompts and preferences. Invalid input is a list of faults with file, line
 * and remedy, and then nothing may run. Only this file of the configuration reads the environment. */
import { existsSync, lstatSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import type { Prompts, Role } from '../../domain/agents/role.ts';
import { jsonDigest } from '../../domain/digest.ts';
import { isLooser, type Layer as LayerName, placeText, type Reason } from '../../domain/reason.ts';
import { fail, ok, type Result, tried } from '../../domain/result.ts';
import type { Rules } from '../../policy/index.ts';
import type { Flags, Layer, ReadLayer } from '../files/layer.ts';
import { flagLayer, OWN_FILE, readLayer, words, valueAt } from '../files/layer.ts';
import { type Effective, inOrder, merge, settingsFrom, withoutEffect } from '../files/merge.ts';
import * as texts from '../files/read-text.ts';
import { MANAGED_ROOT, managedMark, readManagedLayers } from '../managed/managed.ts';
import { environmentFaults, type Secret, secretsIn, shortSecretNotes } from '../providers/faults.ts';
import { type ConfiguredProvider, providersOf } from '../providers/providers.ts';
import { foreignModelsOf, foreignRoles, foreignSetups } from '../roles/foreign.ts';
import { instructionsOf, readPrompts } from '../roles/instructions.ts';
import { isItself, rolesOf, withSettings } from '../roles/roles.ts';
import { ruleOf, type Settings } from '../schema/schema.ts';
import { inForce, type KnownNames } from './check.ts';
import { managedForced } from './mandatory-reviews.ts';
import { type NamedModel, ownModels } from './model-lists.ts';
import { keptBackNotes, withoutEffectNotes } from './to-rules.ts';

export interface Sources {
  /** The folder of Mimir itself, whose `.mimir` has the defaults. */
  readonly packageRoot: string;
  /** Real path of the project (`findProject`). */
  readonly projectRoot: string;
  readonly env?: texts.Environment;
  readonly flags?: Flags;
  /** The project is trusted: its instructions, preferences and roles count. By default false. */
  readonly trusted?: boolean;
  /** The folder of the administrator's files; given only by tests. */
  readonly managedRoot?: string;
}

/** The part of the configuration that stays fixed during a run, even if an administrator changes files. */
export interface StaticConfig {
  readonly managedRoot: string;
  /** The metadata of the administrator's files, taken before they were read. */
  readonly mark: string;
  readonly layers: readonly Layer[];
  readonly known: KnownNames;
  /** The program's version, requested only if a policy requires one. */
  readonly version: () => string;
}

export interface Loaded {
  readonly rules: Rules;
  /** Built-in and custom roles with settings applied; policy decides which may be used. */
  readonly roles: readonly Role[];
  readonly prompts: Prompts;
  /** Settings that are neither rules nor roles: providers, appearance, keys and the like. */
  readonly preferences: Preferences;
  /** Every provider that can be named, with its key: never print or record these as a whole. */
  readonly providers: readonly ConfiguredProvider[];
  /** The values of environment variables that hold secrets: never print or record these. */
  readonly secrets: readonly Secret[];
  /** Models of the person's own providers, in addition to the catalogue's. */
  readonly models: readonly NamedModel[];
  readonly values: ReadonlyMap<string, Effective>;
  readonly places: texts.Places;
  /** The administrator's files, in order. */
  readonly managed: readonly { readonly shown: string; readonly digest: string }[];
  /** The input of the policy watcher when one of them changes. */
  readonly staticConfig: StaticConfig;
  /** Warnings, one line each. */
  readonly notes: readonly string[];
}

/** Reads and merges all layers. Reads only the named places and writes nothing. */
export function loadConfig(sources: Sources): Result<Loaded, readonly texts.ConfigFault[]> {
  const { packageRoot, projectRoot, env = process.env, flags = {}, trusted = false } = sources;
  const places = texts.placesOf(env, homedir());
  const { managedRoot = MANAGED_ROOT } = sources;
  const version = (): string => versionIn(packageRoot);
  const mark = managedMark(managedRoot, []);
  const managed = readManagedLayers(managedRoot, version);
  const read = readLayers(packageRoot, projectRoot, places, trusted);
  if (!managed.ok || !read.ok) return fail([managed, read].flatMap((each) => (each.ok ? [] : each.fault)));
  const own = [...read.value.map(({ layer }) => layer), flagLayer(flags)];
  const layers = inOrder([...own, ...managed.value.layers.map(({ layer }) => layer)]);
  const notes = [...managed.value.layers, ...read.value].flatMap((each) => each.notes);
  const files = managed.value.files.map(({ shown, text }) => ({ shown, digest: jsonDigest(text) }));
  const staticConfig = { managedRoot, mark, layers: own, version };
  return together(
    { packageRoot, projectRoot, env, flags, trusted, managedRoot },
    { places, layers, notes, files, staticConfig },
  );
}

interface Read extends Pick<Loaded, 'places' | 'notes'> {
  readonly layers: readonly Layer[];
  readonly files: Loaded['managed'];
  readonly staticConfig: Omit<StaticConfig, 'known'>;
}

function together(
  { packageRoot, projectRoot, env, flags, trusted, managedRoot }: Required<Sources>,
  { places, layers, notes, files, staticConfig }: Read,
): Result<Loaded, readonly texts.ConfigFault[]> {
  const roles = rolesOf({ packageRoot, projectRoot, managedRoot, trusted }, places, managedForced(layers));
  if (!roles.ok) return roles;
  const preferences = preferencesOf(merge(layers));
  const models = ownModels(preferences.providers);
  const setups = foreignSetups(preferences);
  const foreign = foreignRoles(setups, roles.value.roles, preferences.agents);
  if (!foreign.ok) return foreign;
  const names = [...roles.value.names, ...foreign.value.map(({ name }) => name)];
  const known: KnownNames = {
    roles: names,
    forcible: roles.value.forcible,
    own: [...models, ...foreignModelsOf(setups)],
    flags,
  };
  const found = inForce(layers, known);
  const faults = [...(found.ok ? [] : found.fault), ...environmentFaults(env)];
  if (!found.ok || faults.length > 0) return fail(faults);
  const { rules, values } = found.value;
  const mode = modeFaults(flags, rules);
  if (mode.length > 0) return fail(mode);
  const instructions = instructionsOf(projectRoot, trusted);
  const secrets = secretsIn(preferences, env);
  return ok({
    rules,
    roles: [...withSettings(roles.value.roles, values, flags.model ?? null), ...foreign.value],
    prompts: readPrompts(packageRoot, instructions.text),
    preferences,
    providers: providersOf(preferences.providers, env, rules),
    secrets,
    models,
    values,
    places,
    managed: files,
    staticConfig: { ...staticConfig, known },
    notes: [
      ...notes,
      ...roles.value.notes,
      ...instructions.notes,
      ...withoutEffectNotes(layers),
      ...withoutEffect(values),
      ...keptBackNotes(layers),
      ...shortSecretNotes(secrets),
    ],
  });
}

/** The version from package.json; `0`, older than any required one, if it is unknown. */
function versionIn(packageRoot: string): string {
  const file = path.join(packageRoot, 'package.json');
  const version = valueAt(
    tried((): unknown => JSON.parse(readFileSync(file, 'utf8')), null),
    ['version'],
  );
  return typeof version === 'string' ? version : '0';
}

function modeFaults({ mode }: Flags, { maxMode }: Rules): readonly texts.ConfigFault[] {
  if (mode === undefined || !isLooser(mode, maxMode.value)) return [];
  const problem = `is less strict than ${maxMode.from.rule} allows (${placeText(maxMode.from)})`;
  return [texts.fileFault(`--mode ${mode}`, problem, `use --mode ${maxMode.value}`)];
}

interface LayerFile {
  readonly name: LayerName;
  readonly path: string;
  readonly shown: string;
}

/** All layers but the administrator's, from the weakest on. */
function readLayers(
  packageRoot: string,
  projectRoot: string,
  places: texts.Places,
  trusted: boolean,
): Result<readonly ReadLayer[], readonly texts.ConfigFault[]> {
  const own = path.join(places.config, 'config.yml');
  const files: readonly LayerFile[] = [
    { name: 'default', path: path.join(packageRoot, '.mimir/config.yml'), shown: OWN_FILE },
    { name: 'user', path: own, shown: texts.shownPath(own, places.home) },
    { name: 'project', path: path.join(projectRoot, '.mimir/config.yml'), shown: '.mimir/config.yml' },
  ];
  // Mimir's own checkout must not use the defaults as a project's settings too.
  const counting = isItself(packageRoot, projectRoot) ? files.slice(0, 2) : files;
  const read = counting.map((file) => readFile(file, trusted));
  const faults = read.flatMap((each) => (each.ok ? [] : each.fault));
  if (faults.length > 0) return fail(faults);
  return ok(read.flatMap((each) => (each.ok && each.value !== null ? [each.value] : [])));
}

function readFile(file: LayerFile, trusted: boolean): Result<ReadLayer | null, readonly texts.ConfigFault[]> {
  const folder = file.name === 'project' ? folderFault(path.dirname(file.path)) : null;
  if (folder !== null) return fail([folder]);
  const other = otherEnding(file);
  if (other !== null) return fail([other]);
  const links = file.name === 'project' ? 'refuse' : 'follow';
  const text = texts.readText({
    path: file.path,
    shown: file.shown,
    links,
    owner: file.name === 'user' ? 'mine' : 'any',
  });
  if (!text.ok) return fail([text.fault]);
  return text.value === null ? ok(null) : readLayer(file.name, file.shown, text.value, trusted);
}

/** A fault for `config.yaml`, whose restrictions would otherwise be ignored silently. */
function otherEnding({ path: place, shown }: LayerFile): texts.ConfigFault | null {
  if (!existsSync(place.replace(/\.yml$/, '.yaml'))) return null;
  return texts.fileFault(shown.replace(/\.yml$/, '.yaml'), texts.OTHER_NAME, 'rename it to config.yml');
}

/** A link in place of `.mimir` would let another directory configure this project. */
function folderFault(folder: string): texts.ConfigFault | null {
  const status = lstatSync(folder, { throwIfNoEntry: false });
  if (status === undefined || status.isDirectory()) return null;
  const problem = status.isSymbolicLink() ? 'is a symbolic link' : texts.NOT_A_DIRECTORY;
  return texts.fileFault('.mimir', problem, `${texts.THE_DIRECTORY}, or remove it`);
}

// Settings that are neither rules nor roles: providers, appearance, keys.

const OF_RUNS = ['agents', 'providers', 'childAgents', 'trees', 'cluster', 'audit'] as const;
const SECTIONS = ['trust', 'ui', 'keys', 'notifications', ...OF_RUNS] as const;
export type Preferences = Pick<Settings, (typeof SECTIONS)[number]>;

/** The merged values of these sections. */
export const preferencesOf = (values: ReadonlyMap<string, Effective>): Preferences =>
  settingsFrom([...values.values()].filter(({ path: [section] }) => SECTIONS.some((one) => one === section)));

/** The output of `mimir config show`: one line per key (one per layer for some lists) with name, value and origin in columns; then an empty line and the notes. */
export function showConfig({ values, notes }: Pick<Loaded, 'values' | 'notes'>): readonly string[] {
  const rows = [...values].flatMap(rowsOf).sort((a, b) => (a.name < b.name ? -1 : 1));
  const nameWidth = Math.max(0, ...rows.map(({ name }) => name.length));
  const valueWidth = Math.min(40, Math.max(0, ...rows.map(({ value }) => value.length)));
  const lines = rows.map(
    ({ name, value, place }) => `${name.padEnd(nameWidth)}  ${value.padEnd(valueWidth)}  ${place}`,
  );
  return notes.length === 0 ? lines : [...lines, '', ...notes];
}

type Row = Readonly<Record<'name' | 'value' | 'place', string>>;

/** Lists of several layers that something must be in stand apart: put together they would look like more than holds. */
function rowsOf([name, { path, value, from, said }]: readonly [string, Effective]): readonly Row[] {
  const isHeader =
    path[0] === 'providers' && path[2] === 'headers' && typeof value === 'string' && path[4] === undefined;
  if (isHeader) return [{ name, value: '(not shown)', place: shownPlace(from) }];
  if (ruleOf(path).merge !== 'each') return [{ name, value: words(value), place: shownPlace(from) }];
  return said.map((one) => ({ name, value: words(one.value), place: shownPlace(one.from) }));
}

const shownPlace = (from: Reason): string =>
  from.layer === 'default' ? 'default' : `${from.layer} (${from.file === null ? from.rule : placeText(from)})`;
