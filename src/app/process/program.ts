/** Finds Mimir's own files, in a checkout (`src/app/…`) as in the published bundle (`dist/parts/…`). */
import { existsSync, readFileSync } from 'node:fs';
import { getCompileCacheDir } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { OwnProgram } from '../../tools/index.ts';
import { tried } from '../../domain/result.ts';

/** The folder of Mimir's own package. Throws if it is missing, which means a broken installation. */
export function packageRoot(from: string = import.meta.url): string {
  const start = dirname(fileURLToPath(from));
  for (let folder = start; ; folder = dirname(folder)) {
    if (fieldOf(folder, 'name') === 'mimir') return folder;
    if (folder === dirname(folder)) throw new Error(`Mimir's own files are missing above ${start}: install it again`);
  }
}

/** The version in Mimir's own package.json. */
export function packageVersion(root: string = packageRoot()): string {
  const version = fieldOf(root, 'version');
  return typeof version === 'string' ? version : 'unknown';
}

const fieldOf = (folder: string, field: string): unknown =>
  tried((): unknown => {
    const found: unknown = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    return typeof found === 'object' && found !== null ? Reflect.get(found, field) : undefined;
  }, undefined);

/** How agents' commands start Mimir itself inside their sandbox: the Node executable, the entry file and the code. */
export function ownProgram(): OwnProgram {
  const root = packageRoot();
  const [code, entry] = import.meta.url.endsWith('.ts') ? ['src', 'src/main.ts'] : ['dist', 'dist/mimir.js'];
  const compiled = getCompileCacheDir();
  return {
    node: process.execPath,
    entry: join(root, entry),
    parts: [code, 'node_modules', 'package.json'].map((name) => join(root, name)).filter((part) => existsSync(part)),
    // `getCompileCacheDir` returns a folder for this version of Node inside the configured one.
    cache: compiled === undefined ? null : dirname(compiled),
  };
}
