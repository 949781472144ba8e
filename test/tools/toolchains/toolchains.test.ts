/** Toolchains of the machine in the sandbox, without a network: with packages that the person's own home had before. */
import { execFile, execFileSync } from 'node:child_process';
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { giveTo, openPlace, type Place, runCommands, USERS } from '../../support/boxes.ts';
import { skipWithout } from '../../support/needs.ts';
import { configureHome, openRegistry } from '../../support/registry.ts';
import { programOn, toolEnvironment } from '../../../src/tools/process/environment.ts';

/** Toolchains may lie in root's own home. */
const [user = 'ordinary'] = USERS;
const PATH = process.env['PATH'] ?? '';

/** As the person would, with a network. */
const outside = (place: Place, command: string, env: Readonly<Record<string, string>> = {}): Promise<unknown> =>
  promisify(execFile)('bash', ['-c', command], { cwd: place.project, env: { PATH, HOME: place.home, ...env } });

/** Of each command, how it ended and its last words. */
async function ends(
  place: Place,
  commands: readonly string[],
  how: Parameters<typeof runCommands>[2] = {},
): Promise<readonly string[]> {
  const { texts } = await runCommands(place, commands, { timeout: 120, ...how });
  return texts;
}

it('npm installs from the cache of the home and runs the tests of a project, whether it may write or not', async ({
  skip,
}) => {
  skipWithout('npm', skip);
  const place = openPlace(user, {
    'package.json': JSON.stringify({ name: 'p', scripts: { test: 'node --test' } }),
    'a.test.js': "require('node:test')('whole', () => require('node:assert').equal(require('whole'), 42));\n",
  });
  const registry = await openRegistry();
  configureHome(place.home, registry);
  await outside(place, 'npm install whole --no-audit --no-fund');
  await registry.close();
  rmSync(path.join(place.project, 'node_modules'), { recursive: true });
  const [installed, tested] = await ends(place, ['npm ci --no-audit --no-fund', 'npm test']);
  expect(installed).toMatch(/^exit code 0 [^]*added 1 package/);
  expect(tested).toMatch(/^exit code 0 [^]*pass 1/);
  const [judged] = await ends(place, ['npm test'], { box: 'read-only' });
  expect(judged).toMatch(/^exit code 0 [^]*pass 1/);
  const [missing] = await ends(place, ['npm install other']);
  expect(missing).toMatch(/^exit code 1 [^]*ENOTCACHED/);
});

it('pytest runs in a virtual environment of the project, whether it may write or not', async ({ skip }) => {
  skipWithout('pytest', skip);
  const place = openPlace(user, { 'test_a.py': 'def test_a():\n    assert 1 + 1 == 2\n' });
  await outside(place, '/usr/bin/python3 -m venv --system-site-packages --without-pip .venv');
  for (const box of ['read-write', 'read-only'] as const) {
    const [tested] = await ends(place, ['. .venv/bin/activate && python -m pytest -q'], { box });
    expect(tested).toMatch(/^exit code 0 [^]*1 passed/);
  }
});

it('a package that the person installed in a virtual environment of the project is used without a network', async ({
  skip,
}) => {
  skipWithout('pytest', skip);
  const place = openPlace(user, {
    'test_whole.py': 'import whole\n\ndef test_whole():\n    assert whole.answer == 42\n',
  });
  writeWheel(path.join(place.home, WHEEL));
  await outside(place, '/usr/bin/python3 -m venv --system-site-packages .venv');
  const [without] = await ends(place, ['.venv/bin/python -m pytest -q']);
  expect(without).toMatch(/^exit code 2 [^]*No module named 'whole'/);
  await outside(place, `.venv/bin/pip install --no-index ~/${WHEEL}`);
  for (const box of ['read-write', 'read-only'] as const) {
    const commands = ['.venv/bin/whole', '. .venv/bin/activate && python -m pytest -q'];
    const [printed, tested] = await ends(place, commands, { box });
    expect(printed).toMatch(/^exit code 0 [^]*\n42\n?$/);
    expect(tested).toMatch(/^exit code 0 [^]*1 passed/);
  }
});

it('pip installs from a folder of wheels in the project, and says at once what is not there', async ({ skip }) => {
  skipWithout('pytest', skip);
  const place = openPlace(user);
  writeWheel(path.join(place.project, 'wheels', WHEEL));
  await outside(place, '/usr/bin/python3 -m venv .venv');
  giveTo(place, place.project);
  const install = '.venv/bin/pip install --no-index --find-links wheels';
  const [installed, used, missing] = await ends(place, [`${install} whole`, '.venv/bin/whole', `${install} other`]);
  expect(installed).toMatch(/^exit code 0 [^]*Successfully installed whole-1\.0/);
  expect(used).toMatch(/^exit code 0 [^]*\n42\n?$/);
  expect(missing).toMatch(/^exit code 1 [^]*No matching distribution found for other/);
});

const WHEEL = 'whole-1.0-py3-none-any.whl';

/** Packs one module and a program that prints its answer, as a package index would give them. */
function writeWheel(file: string): void {
  const about = 'whole-1.0.dist-info';
  const files = {
    'whole.py': 'answer = 42\n\ndef main():\n    print(answer)\n',
    [`${about}/METADATA`]: 'Metadata-Version: 2.1\nName: whole\nVersion: 1.0\n',
    [`${about}/WHEEL`]: 'Wheel-Version: 1.0\nGenerator: a test\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
    [`${about}/entry_points.txt`]: '[console_scripts]\nwhole = whole:main\n',
    [`${about}/RECORD`]: '',
  };
  const pack =
    'import json, sys, zipfile\n' +
    "with zipfile.ZipFile(sys.argv[1], 'w') as packed:\n" +
    '    for name, text in json.load(sys.stdin).items(): packed.writestr(name, text)\n';
  mkdirSync(path.dirname(file), { recursive: true });
  execFileSync('/usr/bin/python3', ['-c', pack, file], { input: JSON.stringify(files) });
}

it('cargo tests with a registry that the home names, and keeps unpacked packages for the next run alone', async ({
  skip,
}) => {
  skipWithout('cargo', skip);
  const place = openPlace(user, {
    'Cargo.toml': '[package]\nname = "p"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\nitoa = "1"\n',
    'src/lib.rs': '#[test]\nfn prints() {\n    assert_eq!(itoa::Buffer::new().format(42), "42");\n}\n',
  });
  const env = cargoIn(place);
  const registry = await openRegistry();
  configureHome(place.home, registry);
  await outside(place, 'cargo fetch', env);
  await registry.close();
  appendFileSync(path.join(place.home, '.cargo/config.toml'), '[build]\nrustc-wrapper = "/usr/bin/canary-wrapper"\n');
  rmSync(path.join(place.home, '.cargo/registry/src'), { recursive: true });
  const kept = 'ls ~/.cargo/registry/src/*/ 2>/dev/null; cat ~/.cargo/config.toml';
  const [before, tested, after] = await ends(place, [kept, 'cargo test -q', kept], { env });
  expect(tested).toMatch(/^exit code 0 [^]*1 passed/);
  expect(before).not.toContain('itoa-1.0.1');
  expect(after).toContain('itoa-1.0.1');
  expect(after).toContain('replace-with = "mirror"');
  expect(after).not.toContain('canary');
  const judge = { env, box: 'read-only' } as const;
  const [fresh, judged] = await ends(place, [kept, 'cargo test -q'], judge);
  expect(fresh).not.toContain('itoa-1.0.1');
  expect(judged).toMatch(/^exit code 0 [^]*1 passed/);
});

/** Rustup's programs look for the real ones below the home that they are started with. */
function cargoIn(place: Place): Readonly<Record<string, string>> {
  const cargo = programOn(toolEnvironment(place.project), 'cargo') ?? '';
  const rustup = process.env['RUSTUP_HOME'] ?? path.join(homedir(), '.rustup');
  if (path.basename(path.dirname(path.dirname(cargo))) !== '.cargo' || !existsSync(rustup)) return { PATH };
  const bin = path.join(place.home, '.cargo/bin');
  mkdirSync(bin, { recursive: true });
  for (const name of readdirSync(path.dirname(cargo)).filter((name) => /^(?:cargo|rustc|rustup)$/.test(name)))
    copyFileSync(realpathSync(path.join(path.dirname(cargo), name)), path.join(bin, name));
  symlinkSync(rustup, path.join(place.home, '.rustup'));
  return { PATH: `${bin}:${PATH}` };
}
