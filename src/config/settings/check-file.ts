/** Checks one file of settings by itself, as a file of a given layer over the package's defaults: for authors of policies and their CI. Other
 * layers of this machine and the file's owner are ignored. */
import path from 'node:path';
import type { Layer } from '../../domain/reason.ts';
import { type Result, fail, ok } from '../../domain/result.ts';
import { resolvedIn } from '../../policy/explain/explain.ts';
import { type ConfigFault, fileFault, readText } from '../files/read-text.ts';
import { inForce } from './check.ts';
import { type ReadLayer, readLayer } from '../files/layer.ts';
import { loadConfig, preferencesOf, type StaticConfig } from './load.ts';
import { versionFault } from '../managed/managed.ts';
import { merge } from '../files/merge.ts';
import { ownModels } from './model-lists.ts';
import { roleFiles } from '../roles/roles.ts';

export interface FileToCheck {
  readonly path: string;
  /** The file as people name it. */
  readonly shown: string;
  readonly as: Extract<Layer, 'managed' | 'user' | 'project'>;
  readonly packageRoot: string;
}

export interface CheckedFile {
  /** Warnings, one line each. */
  readonly notes: readonly string[];
  /** The names of models in it, with the resolved ids. */
  readonly resolved: readonly { readonly written: string; readonly id: string }[];
}

/** All faults of the file, or its warnings. */
export function checkFile(file: FileToCheck): Result<CheckedFile, readonly ConfigFault[]> {
  const text = readText({ path: file.path, shown: file.shown, links: 'follow', owner: 'any' });
  if (!text.ok) return fail([text.fault]);
  if (text.value === null) return fail([fileFault(file.shown, 'does not exist', 'check the path')]);
  const nowhere = path.join(file.packageRoot, 'nowhere');
  const place = { packageRoot: file.packageRoot, projectRoot: file.packageRoot, managedRoot: nowhere };
  const defaults = loadConfig({ ...place, env: { HOME: nowhere } });
  if (!defaults.ok) return defaults;
  const { staticConfig } = defaults.value;
  const tooOld = file.as === 'managed' ? versionFault(file.shown, text.value, staticConfig.version) : null;
  if (tooOld !== null) return fail([tooOld]);
  const read = readLayer(file.as, file.shown, text.value, true);
  return read.ok ? overDefaults(file, read.value, staticConfig) : read;
}

function overDefaults(
  { path: place }: FileToCheck,
  read: ReadLayer,
  { known, layers }: StaticConfig,
): ReturnType<typeof checkFile> {
  const all = [...layers, read.layer];
  // Roles of the same organisation are in a folder beside its policy.
  const beside = roleFiles(path.join(path.dirname(place), 'agents')).map((name) => path.parse(name).name);
  const found = inForce(all, {
    ...known,
    roles: [...known.roles, ...beside],
    forcible: { sure: [...known.forcible.sure, ...beside], own: [...known.forcible.own, ...beside] },
    own: ownModels(preferencesOf(merge(all)).providers),
  });
  if (!found.ok) return found;
  const resolved = new Map(resolvedIn(found.value.rules).map((one) => [one.written, one]));
  const empty = Object.keys(read.layer.settings).length === 0 ? [`${read.layer.file ?? ''} sets no rule`] : [];
  return ok({ notes: [...read.notes, ...empty], resolved: [...resolved.values()] });
}
