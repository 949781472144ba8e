/** The floor plan (src/README.md): which room may see which, and by which door a package comes in. Data first. */
import { globSync, readFileSync } from 'node:fs';
import { posix as path } from 'node:path';
import { describe, expect, it } from 'vitest';

/** From the ground up. A room sees its own files and lower floors; neighbours don't see each other. */
const FLOORS = [
  ['domain'],
  ['policy'],
  ['events'],
  ['ports'],
  ['engine', 'models', 'tools', 'store', 'config', 'tui'],
  ['verbs'],
  ['cli.ts'],
];

/** Pairs that the floors alone would allow. */
const NEVER: readonly (readonly [from: string, to: string])[] = [
  ['models', 'policy'],
  ['models', 'events'],
  ['tools', 'policy'],
  ['tools', 'events'],
];

/** Packages and Node APIs, and the only files that may import them (prefixes of paths under src). */
const DOORS: Readonly<Record<string, readonly string[]>> = {
  blessed: ['tui/term/'],
  yaml: ['config/'],
  chalk: ['verbs/'],
  // A real shell grammar: what a command says can't be guessed.
  unbash: ['policy/'],
  zod: ['domain/', 'config/', 'control/', 'tools/', 'models/', 'engine/gate', 'ports/tool.ts'],
  '@anthropic-ai/sdk': ['models/anthropic'],
  openai: ['models/openai'],
  '@pydantic/genai-prices': ['models/prices.ts'],
  '@vscode/ripgrep': ['tools/'],
  'node:sqlite': ['store/'],
  'node:fs': ['store/', 'tools/', 'config/', 'verbs/', 'tui/term/'],
  'node:fs/promises': ['store/', 'tools/', 'config/', 'verbs/', 'tui/term/'],
  'node:child_process': ['tools/', 'tui/term/'],
  'node:module': ['cli.ts'],
  'node:crypto': ['domain/digest.ts', 'store/', 'tools/', 'verbs/'],
  'node:os': ['config/', 'tools/', 'verbs/'],
  'node:path': ['config/', 'store/', 'tools/', 'verbs/', 'models/offline/'],
  'node:tty': ['verbs/'],
  'node:url': ['config/', 'verbs/'],
  'node:util': ['verbs/'],
  'node:readline/promises': ['verbs/'],
  'node:stream': ['tui/term/'],
  'node:process': [],
};

/** The inside learns of time, chance and the environment through ports only. */
const DENIED: readonly { readonly what: RegExp; readonly allowed: readonly string[] }[] = [
  { what: /\bprocess\.(?:env|argv)\b/, allowed: ['cli.ts', 'config/load.ts', 'tui/term/', 'tools/environment.ts'] },
  {
    what: /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\brandomUUID\b|\bsetTimeout\b|\bsetInterval\b/,
    allowed: ['cli.ts', 'verbs/', 'tui/term/', 'tools/', 'store/trail.ts'],
  },
];

const IMPORT =
  /(?:^|\n)\s*(?:import|export)\s[^'";]*?from\s*'([^']+)'|import\(\s*'([^']+)'\s*\)|(?:^|\n)import\s*'([^']+)'/g;
const files = globSync('src/**/*.ts').map((file) =>
  file
    .split(path.sep)
    .join('/')
    .replace(/^src\//, ''),
);
const textOf = (file: string): string => readFileSync(`src/${file}`, 'utf8');
const roomOf = (file: string): string => file.split('/')[0] ?? '';
const floorOf = (room: string): number => FLOORS.findIndex((rooms) => rooms.includes(room));

const imports = files
  .filter((file) => !file.endsWith('.d.ts'))
  .flatMap((file) => [...textOf(file).matchAll(IMPORT)].map(([, a, b, c]) => ({ file, target: a ?? b ?? c ?? '' })));
const crossings = imports
  .filter(({ target }) => target.startsWith('.'))
  .map(({ file, target }) => ({ file, target: path.join(path.dirname(file), target) }))
  .filter(({ file, target }) => roomOf(file) !== roomOf(target));

describe('the house', () => {
  it('has something to look at', () => {
    expect(files.length).toBeGreaterThan(20);
    expect(crossings.length).toBeGreaterThan(20);
  });

  it('has no room that is not on the plan', () => {
    expect([...new Set(files.map(roomOf))].filter((room) => floorOf(room) === -1)).toEqual([]);
  });

  it('lets a room see lower floors only', () => {
    const wrong = crossings.filter(({ file, target }) => floorOf(roomOf(target)) >= floorOf(roomOf(file)));
    expect(wrong).toEqual([]);
  });

  it('keeps models and tools away from policy and the log', () => {
    const wrong = crossings.filter(({ file, target }) =>
      NEVER.some(([from, to]) => roomOf(file) === from && roomOf(target) === to),
    );
    expect(wrong).toEqual([]);
  });

  it('lets each package in by its own door', () => {
    const wrong = imports
      .filter(({ target }) => !target.startsWith('.'))
      .filter(({ file, target }) => !(DOORS[target] ?? []).some((door) => file.startsWith(door)));
    expect(wrong).toEqual([]);
  });

  it('lets only the gate hold models and tools', () => {
    const wrong = crossings.filter(
      ({ file, target }) =>
        roomOf(file) === 'engine' && /^ports\/(model|tool)\.ts$/.test(target) && !file.startsWith('engine/gate'),
    );
    expect(wrong).toEqual([]);
  });

  it('keeps the agent loop free of everything but the words and the gate', () => {
    const wrong = crossings.filter(
      ({ file, target }) => file === 'engine/agent-loop.ts' && roomOf(target) !== 'domain',
    );
    expect(wrong).toEqual([]);
  });

  it('learns of time, chance and the environment through ports only', () => {
    const wrong = files.flatMap((file) =>
      DENIED.filter(
        ({ what, allowed }) => what.test(textOf(file)) && !allowed.some((door) => file.startsWith(door)),
      ).map(({ what }) => ({ file, what: what.source })),
    );
    expect(wrong).toEqual([]);
  });
});
