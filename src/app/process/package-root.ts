/**
 * Where Mimir itself lies: its own `.mimir/`, `themes/` and package.json. The same answer from a checkout
 * (`src/app/…`) and from the published bundle (`dist/parts/…`).
 */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of Mimir's own package. Throws when there is none, which is a broken installation. */
export function packageRoot(from: string = import.meta.url): string {
  const start = dirname(fileURLToPath(from));
  for (let folder = start; ; folder = dirname(folder)) {
    if (nameIn(folder) === 'mimir') return folder;
    if (folder === dirname(folder)) throw new Error(`Mimir's own files are missing above ${start}: install it again`);
  }
}

/** The version in Mimir's own package.json. */
export function packageVersion(root: string = packageRoot()): string {
  const version = fieldOf(root, 'version');
  return typeof version === 'string' ? version : 'unknown';
}

const nameIn = (folder: string): unknown => fieldOf(folder, 'name');

function fieldOf(folder: string, field: string): unknown {
  try {
    const found: unknown = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    return typeof found === 'object' && found !== null ? Reflect.get(found, field) : undefined;
  } catch {
    return undefined;
  }
}
