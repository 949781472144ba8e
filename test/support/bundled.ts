/**
 * The program as it is published, made once for all test files: it starts in half the time of the sources. For tests that start many
 * processes; what shows the sources themselves, or puts something into them, starts `src/main.ts`.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { COMPILED } from './compiled.ts';

const ROOT = join(import.meta.dirname, '../..');
const PARTS = ['src', '.mimir', 'themes', '.setup', 'package.json', 'README.md', 'LICENSE'];
/** Where tests look for it. */
const NAME = 'MIMIR_TEST_PROGRAM';

/** Set where test files share a process: what ends their programs would run for the first of them only. */
const SHARED = 'MIMIR_TEST_SHARED';

/** The program to start; the sources where it could not be made, which says more of what is wrong with them. */
export function bundled(): string {
  if (process.env[SHARED] !== undefined) throw new Error('it starts programs: name it in NOT_SHARED, vitest.config.ts');
  return process.env[NAME] ?? join(ROOT, 'src/main.ts');
}

/** Makes it, before the first test file. */
export default function make(): () => void {
  // Ordinary users keep theirs there as well.
  for (const shared of [COMPILED, join(COMPILED, 'mimir')]) {
    if (mkdirSync(shared, { recursive: true }) !== undefined) chmodSync(shared, 0o1777);
  }
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'mimir-bundled-')));
  // Some tests run programs as an ordinary user.
  chmodSync(folder, 0o755);
  try {
    for (const part of PARTS) cpSync(join(ROOT, part), join(folder, part), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    execFileSync(process.execPath, [join(folder, '.setup/bundle.mjs')], { cwd: folder, stdio: 'ignore' });
    process.env[NAME] = join(folder, 'dist/mimir.js');
  } catch {
    delete process.env[NAME];
  }
  return () => rmSync(folder, { recursive: true, force: true });
}
