/** The programs that are measured: Mimir as it is published, and the floors, bundled in the same way into a folder that is gone afterwards. */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, globSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { rolldown } from 'rolldown';

export interface Programs {
  readonly folder: string;
  /** `node …` up to the arguments. */
  readonly mimir: readonly string[];
  /** The same for `test/bench/floor/NAME.ts`. */
  floor(name: 'loop' | 'screen' | 'letter' | 'read'): readonly string[];
  remove(): void;
}

const ROOT = join(import.meta.dirname, '../..');
/** What the published package is made of. */
const PARTS = ['src', '.mimir', 'themes', '.setup', 'package.json', 'README.md', 'LICENSE'];
/** As its first line says. */
const NODE = [
  process.execPath,
  '--disable-warning=ExperimentalWarning',
  '--max-semi-space-size=8',
  '--no-memory-reducer',
];

/** Copies the sources of `from` (this checkout), so that the checkout stays as it is, and bundles them. */
export async function buildPrograms(from = ROOT): Promise<Programs> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'mimir-bench-')));
  const remove = (): void => rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  process.on('exit', remove);
  for (const part of PARTS) {
    if (existsSync(join(from, part))) cpSync(join(from, part), join(folder, part), { recursive: true });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  execFileSync(process.execPath, [join(folder, '.setup/bundle.mjs')], { cwd: folder });
  await bundleFloors(join(folder, 'floor'));
  return {
    folder,
    mimir: [...NODE, join(folder, 'dist/mimir.js')],
    floor: (name) => [...NODE, join(folder, 'floor', `${name}.js`)],
    remove,
  };
}

async function bundleFloors(outdir: string): Promise<void> {
  const files = globSync(join(import.meta.dirname, 'floor/*.ts'));
  const bundle = await rolldown({
    input: Object.fromEntries(files.map((file) => [basename(file, '.ts'), file])),
    platform: 'node',
    external: [/^blessed(?:\/|$)/],
    transform: { target: 'node24' },
    logLevel: 'warn',
  });
  await bundle.write({
    dir: outdir,
    format: 'esm',
    minify: { compress: true, mangle: false, codegen: { removeWhitespace: true } },
    comments: false,
  });
  await bundle.close();
}
