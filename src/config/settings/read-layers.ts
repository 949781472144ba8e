/** The files of settings that are no administrator's, each read as its owner's: the defaults, the person's, the project's. */
import { existsSync, lstatSync } from 'node:fs';
import path from 'node:path';
import type { Layer as LayerName } from '../../domain/reason.ts';
import { type Result, fail, ok } from '../../domain/result.ts';
import { type ConfigFault, NOT_A_DIRECTORY, OTHER_NAME, THE_DIRECTORY } from '../files/fault.ts';
import { OWN_FILE, type ReadLayer, readLayer } from '../files/layer.ts';
import { type Places, shownPath } from '../files/paths.ts';
import { readText } from '../files/read-text.ts';
import { isItself } from '../roles/resolve-roles.ts';

interface LayerFile {
  readonly name: LayerName;
  readonly path: string;
  readonly shown: string;
}

/** From the ground up: all but the administrator's. */
export function readLayers(
  packageRoot: string,
  projectRoot: string,
  places: Places,
  trusted: boolean,
): Result<readonly ReadLayer[], readonly ConfigFault[]> {
  const project = path.join(projectRoot, '.mimir/config.yml');
  const files: readonly LayerFile[] = [
    { name: 'default', path: path.join(packageRoot, '.mimir/config.yml'), shown: OWN_FILE },
    {
      name: 'user',
      path: path.join(places.config, 'config.yml'),
      shown: shownPath(path.join(places.config, 'config.yml'), places.home),
    },
    // In Mimir's own checkout the defaults are defaults, never a project's agreement.
    ...(isItself(packageRoot, projectRoot)
      ? []
      : [{ name: 'project', path: project, shown: '.mimir/config.yml' } as const]),
  ];
  const read = files.map((file) => readFile(file, trusted));
  const faults = read.flatMap((each) => (each.ok ? [] : each.fault));
  if (faults.length > 0) return fail(faults);
  return ok(read.flatMap((each) => (each.ok && each.value !== null ? [each.value] : [])));
}

function readFile(file: LayerFile, trusted: boolean): Result<ReadLayer | null, readonly ConfigFault[]> {
  const folder = file.name === 'project' ? folderFault(path.dirname(file.path)) : null;
  if (folder !== null) return fail([folder]);
  const other = otherEnding(file);
  if (other !== null) return fail([other]);
  const text = readText({
    path: file.path,
    shown: file.shown,
    links: file.name === 'project' ? 'refuse' : 'follow',
    owner: file.name === 'user' ? 'mine' : 'any',
  });
  if (!text.ok) return fail([text.fault]);
  if (text.value === null) return ok(null);
  return readLayer(file.name, file.shown, text.value, trusted);
}

/** A file that somebody meant for this one: without a word, what it restricts would hold for nobody. */
function otherEnding({ path: place, shown }: LayerFile): ConfigFault | null {
  if (!existsSync(place.replace(/\.yml$/, '.yaml'))) return null;
  const file = shown.replace(/\.yml$/, '.yaml');
  return { file, line: null, column: null, problem: OTHER_NAME, remedy: 'name it config.yml' };
}

/** A link in place of `.mimir` would let another directory speak for this project. */
function folderFault(folder: string): ConfigFault | null {
  const status = lstatSync(folder, { throwIfNoEntry: false });
  if (status === undefined || status.isDirectory()) return null;
  const problem = status.isSymbolicLink() ? 'is a symbolic link' : NOT_A_DIRECTORY;
  return { file: '.mimir', line: null, column: null, problem, remedy: `${THE_DIRECTORY}, or remove it` };
}
