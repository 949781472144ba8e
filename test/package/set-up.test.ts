/** The set-up of a checkout with an npm that does what each test says: what is asked of it, and what a person reads. */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Ended } from '../support/child.ts';
import { ended, start } from '../support/child.ts';

const ROOT = join(import.meta.dirname, '../..');
/** What npm has done at its end: a Node 24 where packages put their programs. */
const INSTALLED = `
  mkdirSync('node_modules/.bin', { recursive: true });
  symlinkSync(process.execPath, 'node_modules/.bin/node');`;
const OFFLINE = "if (args.includes('--offline')) {";

interface Checkout {
  readonly setUp: () => Promise<Ended>;
  /** Whom each npm that ran was to ask. */
  readonly asked: () => readonly ('cache' | 'registry')[];
  readonly folder: string;
}

/** A checkout whose npm runs `act`, which finds its arguments in `args`. */
function checkout(act: string): Checkout {
  const folder = mkdtempSync(join(tmpdir(), 'mimir-set-up-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  for (const part of ['.setup', 'package.json', 'package-lock.json'])
    cpSync(join(ROOT, part), join(folder, part), { recursive: true, filter: (from) => !from.includes('install.lock') });
  mkdirSync(join(folder, 'npm'));
  const npm = join(folder, 'npm/npm-cli.mjs');
  writeFileSync(
    npm,
    `import { appendFileSync, mkdirSync, symlinkSync } from 'node:fs';
    const args = process.argv.slice(2);
    appendFileSync('asked', JSON.stringify(args) + '\\n');
    ${act}`,
  );
  return {
    folder,
    setUp: () =>
      ended(start(process.execPath, [join(folder, '.setup/install.mjs')], { ...process.env, npm_execpath: npm })),
    asked: () => {
      const calls = readFileSync(join(folder, 'asked'), 'utf8').trim().split('\n');
      return calls.map((line) => (line.includes('"--offline"') ? 'cache' : 'registry'));
    },
  };
}

const withoutSeconds = ({ err }: Ended): string => err.replace(/\d+ s/, 'N s');

describe('the set-up of a checkout', () => {
  it('installs once, and says nothing the second time', async () => {
    const { setUp, asked } = checkout(INSTALLED);
    const first = await setUp();
    expect([first.code, first.out, withoutSeconds(first)]).toEqual([
      0,
      '',
      'Setting up Mimir (first start only)…\nSet up in N s.\n',
    ]);
    expect(await setUp()).toMatchObject({ code: 0, out: '', err: '' });
    expect(asked()).toEqual(['registry']);
  });

  it('takes the packages from the cache of npm where the registry cannot be reached', async () => {
    const { setUp, asked } = checkout(
      `${OFFLINE} ${INSTALLED} } else { console.error('npm error code ENOTFOUND'); process.exitCode = 1; }`,
    );
    const done = await setUp();
    expect([done.code, withoutSeconds(done)]).toEqual([0, 'Setting up Mimir (first start only)…\nSet up in N s.\n']);
    expect(asked()).toEqual(['registry', 'cache']);
  });

  it('says that the registry cannot be reached where the cache lacks a package, and leaves no lock', async () => {
    const { setUp, folder } = checkout("console.error('npm error code ENOTCACHED'); process.exitCode = 1;");
    expect(await setUp()).toMatchObject({
      code: 1,
      out: '',
      err: [
        'Setting up Mimir (first start only)…',
        'Mimir could not be set up: the npm registry cannot be reached.',
        '  Check the network (or the proxy that npm uses: "npm config get proxy") and start again.\n',
      ].join('\n'),
    });
    expect(existsSync(join(folder, '.setup/install.lock'))).toBe(false);
  });

  it('shows what npm complained of where it failed for another reason, and asks the cache for nothing', async () => {
    const { setUp, asked } = checkout("console.error('npm error code ENOSPC'); process.exitCode = 7;");
    expect(await setUp()).toMatchObject({
      code: 1,
      out: '',
      err: [
        'Setting up Mimir (first start only)…',
        'npm error code ENOSPC',
        'Mimir could not be set up: "npm install" failed (exit code 7); what it said is above.\n',
      ].join('\n'),
    });
    expect(asked()).toEqual(['registry']);
  });
});
