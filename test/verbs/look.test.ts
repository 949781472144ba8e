import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { parsePlanText } from '../../src/config/plan-text.ts';
import type { Home } from '../support/cli.ts';
import { CHECKOUT, openHome, SMALL } from '../support/cli.ts';
import { holding, like, part } from '../support/like.ts';

let home: Home;
beforeAll(() => {
  home = openHome(SMALL);
});
afterAll(() => {
  home.remove();
});

type Schema = Exclude<Parameters<typeof z.fromJSONSchema>[0], boolean>;
const isSchema = (value: unknown): value is Schema => typeof value === 'object' && value !== null;

/** A folder of its own inside the home. */
let folders = 0;
let folder = '';
beforeEach(() => {
  folder = join(home.root, `folder-${(folders += 1)}`);
  mkdirSync(folder);
});

describe('mimir models', () => {
  it('lists names, canonical ids, prices and why the rest cannot be used', async () => {
    const { code, out } = await home.run(['models']);
    expect(code).toBe(0);
    const [head, first] = out.split('\n');
    expect(head).toMatch(/^model +canonical id +in \/ out/);
    expect(first).toMatch(/^offline +offline\/analyst +0 \/ 0 +usable$/);
    expect(out).toMatch(/^haiku-4\.5 +anthropic\/claude-haiku-4-5-20251001 +1 \/ 5 +not usable: no provider/m);
  });

  it('says the same as JSON', async () => {
    const { out } = await home.run(['models', '--json']);
    expect(JSON.parse(out)).toEqual(
      expect.arrayContaining([
        part({ id: 'offline/analyst', usable: { yes: true } }),
        part({ label: 'haiku-4.5', price: part({ input: 1, output: 5 }) }),
      ]),
    );
  });

  it('names the rule that forbids one', async () => {
    mkdirSync(join(folder, '.mimir'));
    writeFileSync(join(folder, '.mimir/config.yml'), 'enforcement:\n  deniedModels: [offline]\n');
    const { out } = await home.run(['models', '--cwd', folder]);
    expect(out).toMatch(/^offline .* not usable: denied by .*\.mimir\/config\.yml.*2/m);
    expect(await home.run(['run', 'x', '--yes', '--cwd', folder])).toMatchObject({
      code: 3,
      out: '',
      err: like(/^mimir: no model may be used: offline\/analyst is denied by /),
    });
  });
});

describe('mimir config', () => {
  it('prints a JSON schema that the defaults of the package satisfy', async () => {
    const { code, out } = await home.run(['config', 'schema']);
    expect(code).toBe(0);
    const schema: unknown = JSON.parse(out);
    expect(schema).toMatchObject({ $schema: holding('json-schema.org'), type: 'object' });
    const defaults = parsePlanText(readFileSync(join(CHECKOUT, '.mimir/config.yml'), 'utf8'), 'config.yml');
    if (!defaults.ok || !isSchema(schema)) throw new Error('not read');
    const checked = z.fromJSONSchema(schema).safeParse(defaults.value);
    expect(checked.error?.issues).toBeUndefined();
  });

  it('shows every value with the file and line that says it', async () => {
    mkdirSync(join(folder, '.mimir'));
    writeFileSync(join(folder, '.mimir/config.yml'), 'agentOrchestration:\n  maxParallelAgents: 2\n');
    const { code, out } = await home.run(['config', 'show', '--cwd', folder]);
    expect(code).toBe(0);
    expect(out).toMatch(/^agentOrchestration\.maxNestingDepth +2 +default$/m);
    expect(out).toMatch(/^agentOrchestration\.maxParallelAgents +2 +project \(\.mimir\/config\.yml:2\)$/m);
  });

  it('prints nothing of a file that a terminal would obey', async () => {
    mkdirSync(join(folder, '.mimir'));
    writeFileSync(join(folder, '.mimir/config.yml'), 'commands:\n  deny: ["rm \\e]0;owned\\a\\e[2J **"]\n');
    for (const args of [['config', 'show'], ['doctor'], ['models']]) {
      const { out, err } = await home.run([...args, '--cwd', folder]);
      expect(out + err).not.toMatch(/[^\n\x20-\x7e\u00a0-\uffff]/);
    }
  });
});

describe('mimir doctor', () => {
  it('says for each part whether it works, and ends with 0', async () => {
    const { code, out } = await home.run(['doctor']);
    expect(code).toBe(0);
    expect([...out.matchAll(/^[✓·✗] (\w+)/gm)].map(([, what]) => what)).toEqual(
      'mimir project config roles models sandbox user state terminal'.split(' '),
    );
  });

  it('ends with 3 and names the place when something does not work', async () => {
    mkdirSync(join(folder, '.mimir'));
    writeFileSync(join(folder, '.mimir/config.yml'), 'budgets: 5\n');
    const [lines, json] = await Promise.all([
      home.run(['doctor', '--cwd', folder]),
      home.run(['doctor', '--json', '--cwd', folder]),
    ]);
    expect([lines.code, json.code]).toEqual([3, 3]);
    expect(lines.out).toMatch(/^✗ config +\.mimir\/config\.yml:1:\d+: /m);
    expect(JSON.parse(json.out)).toContainEqual({
      what: 'config',
      state: 'problem',
      words: like(/^\.mimir\/config\.yml:1:\d+: /),
    });
  });

  it('makes and changes nothing', async () => {
    const fresh = openHome(SMALL);
    await fresh.run(['doctor']);
    expect(existsSync(fresh.state)).toBe(false);
    fresh.remove();
  });

  it('says of a key in the environment that it is not used yet, without the key', async () => {
    const { out } = await home.run(['doctor'], { env: { ANTHROPIC_API_KEY: 'sk-very-secret' } });
    expect(out).toContain('ANTHROPIC_API_KEY is set');
    expect(out).not.toContain('sk-very-secret');
  });
});

describe('mimir init', () => {
  it('writes a first configuration that is valid, and says so', async () => {
    expect(await home.run(['init', '--cwd', folder])).toEqual({
      code: 0,
      signal: null,
      out: `Wrote ${folder}/.mimir/config.yml. \`mimir config show\` says what holds now.\n`,
      err: '',
    });
    expect(await home.run(['config', 'show', '--cwd', folder])).toMatchObject({ code: 0, err: '' });
  });

  it('never overwrites', async () => {
    mkdirSync(join(folder, '.mimir'));
    const file = join(folder, '.mimir/config.yml');
    writeFileSync(file, 'mine: 1\n');
    expect(await home.run(['init', '--cwd', folder])).toMatchObject({
      code: 2,
      err: `mimir: ${file} exists already and is left as it is\n`,
    });
    expect(readFileSync(file, 'utf8')).toBe('mine: 1\n');
  });

  it('says what is in the way: a file, a link, missing rights', async () => {
    writeFileSync(join(folder, '.mimir'), 'a file');
    expect(await home.run(['init', '--cwd', folder])).toMatchObject({
      code: 2,
      err: `mimir: ${folder}/.mimir/config.yml can't be written: a file stands where a directory is expected\n`,
    });
    const linked = join(folder, 'linked');
    mkdirSync(linked);
    symlinkSync(home.config, join(linked, '.mimir'));
    expect(await home.run(['init', '--cwd', linked])).toMatchObject({
      code: 2,
      err: `mimir: ${linked}/.mimir: is a symbolic link — put the directory itself there\n`,
    });
    const closed = join(home.root, 'closed');
    mkdirSync(closed, { mode: 0o555 });
    const program = [...home.ordinary, process.execPath, join(CHECKOUT, 'src/cli.ts')];
    expect(await home.run(['init', '--cwd', closed], { program })).toMatchObject({
      code: 2,
      err: `mimir: ${closed}/.mimir/config.yml can't be written: no permission\n`,
    });
  });
});
