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
  ['engine', 'models', 'analyst', 'tools', 'store', 'config', 'control'],
  // What screen, line mode and command line share: actions and presenters.
  ['app'],
  ['tui'],
  ['verbs'],
  ['cli.ts'],
];

/** Pairs that the floors alone would allow. */
const NEVER: readonly (readonly [from: string, to: string])[] = [
  ['models', 'policy'],
  ['models', 'events'],
  ['analyst', 'policy'],
  ['analyst', 'events'],
  ['tools', 'policy'],
  ['tools', 'events'],
];

/** Packages and Node APIs, and the only files that may import them (prefixes of paths under src). */
const DOORS: Readonly<Record<string, readonly string[]>> = {
  marked: ['tui/view/'],
  // Loaded when the first code is seen.
  'highlight.js/lib/core': ['tui/view/languages.ts'],
  ...Object.fromEntries(
    'bash c cpp css diff go java javascript json markdown python rust sql typescript xml yaml'
      .split(' ')
      .map((name) => [`highlight.js/lib/languages/${name}`, ['tui/view/languages.ts']]),
  ),
  fuzzysort: ['tui/', 'verbs/lobby-files.ts'],
  // Never its root: that loads forty widgets.
  'blessed/lib/widgets/screen.js': ['tui/term/blessed-screen.ts'],
  // Never its root: that loads forty packages.
  'blessed-contrib/lib/widget/canvas.js': ['tui/term/canvas.ts'],
  yaml: ['config/'],
  chalk: ['verbs/'],
  // A real shell grammar: what a command says can't be guessed.
  unbash: ['policy/'],
  // Loaded where the person has a configuration of Cargo.
  'smol-toml': ['tools/cargo-config.ts'],
  zod: ['domain/', 'app/', 'config/', 'control/', 'tools/', 'models/', 'engine/gate', 'ports/tool.ts'],
  '@anthropic-ai/sdk': ['models/anthropic'],
  openai: ['models/openai'],
  '@pydantic/genai-prices': ['models/prices.ts'],
  '@vscode/ripgrep': ['tools/'],
  'node:sqlite': ['store/'],
  'node:fs': ['store/', 'tools/', 'config/', 'control/', 'verbs/', 'tui/term/'],
  'node:fs/promises': ['store/', 'tools/', 'config/', 'control/', 'verbs/', 'tui/term/'],
  // Sockets of the file system only: no port of the network is ever opened.
  'node:net': ['control/'],
  'node:worker_threads': ['control/'],
  // One place starts what tools run, one ripgrep; the other the person's own editor. (process-tree: a type.)
  'node:child_process': [
    'tools/run-program.ts',
    'tools/ripgrep.ts',
    'tools/process-tree.ts',
    'tui/term/external-editor.ts',
    // A run in a process of its own.
    'control/host.ts',
  ],
  'node:module': ['cli.ts', 'verbs/own-program.ts', 'verbs/warm.ts'],
  'node:crypto': ['domain/digest.ts', 'store/', 'tools/', 'control/', 'verbs/'],
  'node:os': ['config/', 'tools/', 'control/', 'verbs/'],
  'node:path': ['config/', 'control/', 'store/', 'tools/', 'verbs/', 'analyst/'],
  'node:tty': ['verbs/'],
  'node:url': ['config/', 'control/', 'verbs/'],
  'node:util': ['verbs/'],
  'node:readline/promises': ['verbs/'],
  'node:stream': ['tui/term/'],
  'node:process': [],
};

/**
 * Who changes files at all, and which. Only `replace-file.ts` writes what a model asked for; the other tools keep notes of
 * their own in the state folder, or empty folders under covers of the sandbox. Everybody else reads.
 */
const WRITERS: readonly string[] = [
  'tools/fresh-files.ts',
  'tools/replace-file.ts',
  // /dev/null alone.
  'tools/descriptors.ts',
  // A script that starts Mimir itself.
  'tools/launcher.ts',
  // Repositories that a command made, by another name.
  'tools/set-aside.ts',
  'tools/sandbox-masks.ts',
  // What git is told in the box of reading commands.
  'tools/sandbox-reading.ts',
  // `/tmp` of agents, kept caches of builds, and a configuration of Cargo, all in the state folder.
  'tools/agent-tmp.ts',
  'tools/kept-folders.ts',
  'tools/private-home.ts',
  'tools/sandbox-home.ts',
  // Copies of what commands may not change, in the state folder, and what is put back from them.
  'tools/writes-kept.ts',
  'tools/tree-ignored.ts',
  'tools/tree-index.ts',
  'tools/tree-stage.ts',
  'tools/tree-store.ts',
  // The log and what is known of days, and files of Mimir's own about trust and policy.
  'store/',
  'config/managed-seen.ts',
  'config/trust-store.ts',
  // Folders, sockets and the output of runs in processes of their own.
  'control/host.ts',
  'control/places.ts',
  'control/sweep.ts',
  // What the person writes, or asks to be written: a text in an editor, a plan, a first configuration, a report of a bug.
  'tui/term/clipboard.ts',
  'tui/term/external-editor.ts',
  'tui/term/write.ts',
  'verbs/child-archive.ts',
  'verbs/crash-report.ts',
  'verbs/hints-seen.ts',
  'verbs/lobby-report.ts',
  'verbs/init.ts',
  'verbs/keep-agent.ts',
  'verbs/new-file.ts',
  'verbs/plan-file.ts',
  // Keys on their way to another process of Mimir's own, and whether a sandbox worked, in the state folder.
  'verbs/sealed.ts',
  'verbs/start-clean.ts',
];

/** Of `node:fs`, what changes nothing. `open` may: with a flag that writes, looked for below. */
const READING = new Set(
  [
    'existsSync lstatSync lstat statSync stat fstatSync readFileSync readFile readdirSync readdir readlinkSync readlink',
    'realpathSync realpath accessSync access constants closeSync readSync openSync open',
  ].flatMap((names) => names.split(' ')),
);
const FLAGS_THAT_WRITE = /\bO_(?:WRONLY|RDWR|CREAT|TRUNC|APPEND)\b|\bopen(?:Sync)?\([^)]*'(?:[wa]x?\+?|r\+)'/;
const FS_IMPORT = /import (type )?([^;']*?)\s*from\s*'node:fs(?:\/promises)?'/g;

/** The inside learns of time, chance and the environment through ports only. */
const DENIED: readonly { readonly what: RegExp; readonly allowed: readonly string[] }[] = [
  {
    what: /\bprocess\.(?:env|argv)\b/,
    allowed: ['cli.ts', 'config/load.ts', 'tui/term/', 'tools/environment.ts', 'verbs/secrets.ts'],
  },
  {
    what: /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\brandomUUID\b|\bsetTimeout\b|\bsetInterval\b/,
    allowed: ['cli.ts', 'verbs/', 'tui/term/', 'tools/', 'store/trail.ts'],
  },
  // The network has one door, and nothing gets round the doors of packages.
  { what: /(?:await|return|=>|=) fetch\b|\bnew (?:WebSocket|EventSource)\b/, allowed: ['models/wire.ts'] },
  { what: /\bgetBuiltinModule\b|\bprocess\.(?:binding|dlopen)\b|(?<![.\w'])require\(|\bimport\((?!\s*')/, allowed: [] },
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

  it('lets only the named files change files', () => {
    const writes = (file: string): boolean => {
      const text = textOf(file);
      const named = [...text.matchAll(FS_IMPORT)].flatMap(([, type, names = '']) => {
        if (type !== undefined) return [];
        // The whole module under one name could be anything.
        return names.includes('{') ? names.replaceAll(/[{}]/g, '').split(',') : ['all'];
      });
      const words = named.map((name) => name.trim()).filter((name) => name !== '' && !name.startsWith('type '));
      const opens = words.some((name) => /^open(?:Sync)?\b/.test(name)) && FLAGS_THAT_WRITE.test(text);
      return opens || words.some((name) => !READING.has(name.split(' ')[0] ?? ''));
    };
    const found = files.filter((file) => !file.endsWith('.d.ts') && writes(file));
    expect(found.filter((file) => !WRITERS.some((door) => file.startsWith(door)))).toEqual([]);
    // Nothing is on the list that needn't be.
    expect(WRITERS.filter((door) => !found.some((file) => file.startsWith(door)))).toEqual([]);
  });
});
