/**
 * Judges one file of settings by itself, as if it were of a layer, over the package's own defaults: for those who write
 * policies, and for their CI. What other layers of this machine say, and who owns the file, plays no part.
 */
import path from 'node:path';
import type { Layer } from '../../domain/reason.ts';
import { type Result, fail, ok } from '../../domain/result.ts';
import { resolvedIn } from '../../policy/explain/model.ts';
import type { ConfigFault } from '../files/fault.ts';
import { inForce } from './check.ts';
import { type ReadLayer, readLayer } from '../files/layer.ts';
import { type Standing, loadConfig } from './load.ts';
import { versionFault } from '../managed/layers-managed.ts';
import { merge } from '../files/merge.ts';
import { ownModels } from './model-lists.ts';
import { preferencesOf } from './preferences.ts';
import { readText } from '../files/read-text.ts';
import { roleFiles } from '../roles/roles.ts';

export interface FileToCheck {
  readonly path: string;
  /** How people would name it. */
  readonly shown: string;
  readonly as: Extract<Layer, 'managed' | 'user' | 'project'>;
  readonly packageRoot: string;
}

export interface CheckedFile {
  /** Keys without effect and the like, a line each. */
  readonly notes: readonly string[];
  /** Names of models in it and what they are taken to mean. */
  readonly resolved: readonly { readonly written: string; readonly id: string }[];
}

/** What is wrong with it, everything at once; or what is worth knowing about it. */
export function checkFile(file: FileToCheck): Result<CheckedFile, readonly ConfigFault[]> {
  const text = readText({ path: file.path, shown: file.shown, links: 'follow', owner: 'any' });
  if (!text.ok) return fail([text.fault]);
  if (text.value === null) {
    return fail([{ file: file.shown, line: null, column: null, problem: 'does not exist', remedy: 'check the path' }]);
  }
  const nowhere = path.join(file.packageRoot, 'nowhere');
  const place = { packageRoot: file.packageRoot, projectRoot: file.packageRoot, managedRoot: nowhere };
  const defaults = loadConfig({ ...place, env: { HOME: nowhere } });
  if (!defaults.ok) return defaults;
  const { standing } = defaults.value;
  const tooOld = file.as === 'managed' ? versionFault(file.shown, text.value, standing.version) : null;
  if (tooOld !== null) return fail([tooOld]);
  const read = readLayer(file.as, file.shown, text.value, true);
  return read.ok ? overDefaults(file, read.value, standing) : read;
}

function overDefaults(
  { path: place }: FileToCheck,
  read: ReadLayer,
  { known, layers }: Standing,
): ReturnType<typeof checkFile> {
  const all = [...layers, read.layer];
  // Roles of the same organisation lie beside its policy.
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
