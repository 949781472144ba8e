/** Installed size: the packed program in somebody's folder, with all that it needs. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Measurement } from './run.ts';
import { figure } from './run.ts';

const MB = 1024 * 1024;

export const size: Measurement = {
  name: 'size',
  about: 'the packed program, installed',
  measure({ programs }) {
    const home = join(programs.folder, 'installed');
    mkdirSync(home);
    writeFileSync(join(home, 'package.json'), '{ "name": "somebody", "version": "1.0.0", "private": true }');
    const packed = npm(programs.folder, 'pack', '--silent', '--pack-destination', home);
    const tarball = join(home, packed.trim().split('\n').at(-1) ?? '');
    npm(home, 'install', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error', tarball);
    const installed = sizeOf(join(home, 'node_modules')) / MB;
    const own = sizeOf(join(home, 'node_modules/mimir')) / MB;
    const mb = (value: number) => value;
    return Promise.resolve([
      figure('installed size', 'MB', mb, { mimir: [installed] }),
      figure('of that Mimir itself', 'MB', mb, { mimir: [own] }),
      figure('the tarball', 'MB', mb, { mimir: [statSync(tarball).size / MB] }),
    ]);
  },
};

function npm(folder: string, ...args: readonly string[]): string {
  const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}` };
  return execFileSync('npm', args, { cwd: folder, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

/** Bytes of the files under `folder`. */
const sizeOf = (folder: string): number =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => statSync(join(folder, name)))
    .reduce((sum, found) => sum + (found.isFile() ? found.size : 0), 0);
