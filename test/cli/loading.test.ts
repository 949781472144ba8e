/** A verb loads only what it uses: which modules the real program asks for, by what Node's loader is asked to resolve. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Home } from '../support/cli.ts';
import { openHome, SMALL, SOURCES } from '../support/cli.ts';

let home: Home;
let hook = '';
beforeAll(() => {
  home = openHome(SMALL);
  hook = join(home.root, 'hook.mjs');
  writeFileSync(
    hook,
    `import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context);
    appendFileSync(process.env.LOADED, found.url + '\\n');
    return found;
  },
});
`,
  );
});
afterAll(() => {
  home.remove();
});

/** Rooms and packages that a command loads. */
async function loadedBy(...args: readonly string[]): Promise<ReadonlySet<string>> {
  const LOADED = join(home.root, `loaded-${args.join('-').replaceAll(/\W/g, '')}`);
  const { code, err } = await home.run(args, {
    env: { LOADED, NODE_OPTIONS: `--import=${hook}` },
    program: SOURCES,
  });
  expect({ code, err }).toEqual({ code: 0, err: '' });
  const names = readFileSync(LOADED, 'utf8')
    .split('\n')
    .map((url) => /\/src\/(\w+)\/|\/node_modules\/((?:@[^/]+\/)?[^/]+)\/|^(node:sqlite)$/.exec(url))
    .map((match) => match?.[1] ?? match?.[2] ?? match?.[3] ?? '');
  return new Set(names.filter((name) => name !== ''));
}

const HEAVY = ['engine', 'models', 'tools', 'store', 'blessed', 'zod', 'yaml', 'node:sqlite'];
const heavyOf = async (...args: readonly string[]): Promise<readonly string[]> => {
  const loaded = await loadedBy(...args);
  return HEAVY.filter((name) => loaded.has(name));
};

describe('a verb loads only what it uses:', () => {
  it('--version nothing but itself', async () => {
    expect(await heavyOf('--version')).toEqual([]);
  });

  it('looking back the log, and neither screen nor engine', async () => {
    const back = ['sessions'];
    const heavy = await heavyOf(...back);
    expect(heavy).toContain('store');
    expect(heavy.filter((name) => ['engine', 'models', 'tools', 'blessed'].includes(name))).toEqual([]);
  });

  it.each([['events', '--json'], ['report'], ['show']])('%s likewise', async (...args) => {
    expect(await home.run(['plan', 'Find add'])).toMatchObject({ code: 0 });
    const heavy = await heavyOf(...args);
    expect(heavy.filter((name) => ['engine', 'models', 'tools', 'blessed'].includes(name))).toEqual([]);
  });

  it('the schema of the configuration neither log nor engine', async () => {
    const heavy = await heavyOf('config', 'schema');
    expect(heavy.filter((name) => !['zod', 'yaml'].includes(name))).toEqual([]);
  });

  it('a run on the analyst no client library and no library of prices', async () => {
    const loaded = await loadedBy('run', 'Find add', '--yes');
    const slow = ['openai', '@anthropic-ai/sdk', '@pydantic/genai-prices'];
    expect(slow.filter((name) => loaded.has(name))).toEqual([]);
  });

  it('a run without a screen everything but the screen', async () => {
    expect(await heavyOf('run', 'Find add', '--yes')).toEqual(HEAVY.filter((name) => name !== 'blessed'));
  });
});
