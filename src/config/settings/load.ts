/**
 * Everything a run is told beforehand: layers read and merged into rules, roles, prompts and preferences. Wrong input is a
 * list of faults with file, line and remedy, and then nothing may run. The only reader of the environment here.
 */
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { jsonDigest } from '../../domain/digest.ts';
import { isLooser } from '../../domain/mode.ts';
import type { Prompts } from '../../domain/prompts.ts';
import type { Role } from '../../domain/agents/role.ts';
import { type Result, fail, ok } from '../../domain/result.ts';
import type { Rules } from '../../policy/rules.ts';
import { networkNotes } from './sandbox.ts';
import { childNotes } from './children.ts';
import type { KnownNames } from './check.ts';
import type { ConfigFault } from '../files/fault.ts';
import { type Flags, flagLayer } from '../files/flags.ts';
import { managedForced } from './mandatory-reviews.ts';
import { inForce } from './check.ts';
import { member } from '../schema/known-keys.ts';
import type { Layer } from '../files/layer.ts';
import { MANAGED_ROOT, managedMark } from '../managed/managed.ts';
import { readManagedLayers } from '../managed/layers-managed.ts';
import { type Effective, inOrder, merge, withoutEffect } from '../files/merge.ts';
import { type NamedModel, ownModels } from './model-lists.ts';
import { type Environment, type Places, placesOf } from '../files/paths.ts';
import { preferencesOf, type Preferences } from './preferences.ts';
import { keptBackNotes } from './to-rules.ts';
import { environmentFaults } from '../providers/faults.ts';
import { type ConfiguredProvider, providersOf } from '../providers/providers.ts';
import { instructionsOf } from '../roles/instructions.ts';
import { readPrompts } from '../roles/prompts.ts';
import { readLayers } from './read-layers.ts';
import { rolesOf } from '../roles/resolve-roles.ts';
import { withSettings } from '../roles/roles.ts';
import { type Secret, secretsIn, shortSecretNotes } from '../providers/secrets.ts';

export interface Sources {
  /** Where Mimir itself is installed: its own `.mimir` holds the defaults. */
  readonly packageRoot: string;
  /** Real path of the project (`findProject`). */
  readonly projectRoot: string;
  readonly env?: Environment;
  readonly flags?: Flags;
  /** The person trusts the project as it is now: its instructions, preferences and roles count. Left out: no. */
  readonly trusted?: boolean;
  /** Where the administrator's files are; left out in the program itself. */
  readonly managedRoot?: string;
}

/** Everything that holds for a whole run, whatever an administrator writes meanwhile. */
export interface Standing {
  readonly managedRoot: string;
  /** Of the administrator's files, from before they were read. */
  readonly mark: string;
  /** All others. */
  readonly layers: readonly Layer[];
  readonly known: KnownNames;
  /** Of this program; asked for only where a policy says which it needs. */
  readonly version: () => string;
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
  /** What the environment holds under names that the configuration has for secrets: never to be printed or recorded. */
  readonly secrets: readonly Secret[];
  /** Models of the person's own providers, beside those that the catalogue knows. */
  readonly models: readonly NamedModel[];
  /** Every key with what holds and where it is written. */
  readonly values: ReadonlyMap<string, Effective>;
  readonly places: Places;
  /** The administrator's files, in order. */
  readonly managed: readonly { readonly shown: string; readonly digest: string }[];
  /** What the law goes on from when one of them changes. */
  readonly standing: Standing;
  /** Warnings, a line each: what was ignored, and why. */
  readonly notes: readonly string[];
}

/** Reads and merges all layers. Nothing outside the named places is read, nothing is written. */
export function loadConfig(sources: Sources): Result<Loaded, readonly ConfigFault[]> {
  const { packageRoot, projectRoot, env = process.env, flags = {}, trusted = false } = sources;
  const places = placesOf(env, homedir());
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
  const standing = { managedRoot, mark, layers: own, version };
  return together(
    { packageRoot, projectRoot, env, flags, trusted, managedRoot },
    { places, layers, notes, files, standing },
  );
}

interface Read extends Pick<Loaded, 'places' | 'notes'> {
  /** In order. */
  readonly layers: readonly Layer[];
  readonly files: Loaded['managed'];
  readonly standing: Omit<Standing, 'known'>;
}

function together(
  { packageRoot, projectRoot, env, flags, trusted, managedRoot }: Required<Sources>,
  { places, layers, notes, files, standing }: Read,
): Result<Loaded, readonly ConfigFault[]> {
  const roles = rolesOf({ packageRoot, projectRoot, managedRoot, trusted }, places, managedForced(layers));
  if (!roles.ok) return roles;
  const preferences = preferencesOf(merge(layers));
  const models = ownModels(preferences.providers);
  const known: KnownNames = { roles: roles.value.names, forcible: roles.value.forcible, own: models, flags };
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
    roles: withSettings(roles.value.roles, values, flags.model ?? null),
    prompts: readPrompts(packageRoot, instructions.text),
    preferences,
    providers: providersOf(preferences.providers, env, rules),
    secrets,
    models,
    values,
    places,
    managed: files,
    standing: { ...standing, known },
    notes: [
      ...notes,
      ...roles.value.notes,
      ...instructions.notes,
      ...networkNotes(layers),
      ...withoutEffect(values),
      ...childNotes(values),
      ...keptBackNotes(layers),
      ...shortSecretNotes(secrets),
    ],
  });
}

/** Unknown counts as older than any that a policy asks for. */
function versionIn(packageRoot: string): string {
  try {
    const version = member(JSON.parse(readFileSync(path.join(packageRoot, 'package.json'), 'utf8')), 'version');
    return typeof version === 'string' ? version : '0';
  } catch {
    return '0';
  }
}

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
