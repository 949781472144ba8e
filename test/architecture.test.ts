/** Which module may import which, and where packages and Node APIs come in. Data first. */
import { globSync, readFileSync } from 'node:fs';
import { posix as path } from 'node:path';
import { describe, expect, it } from 'vitest';

/** From the lowest level up. A module imports its own files and lower levels; modules of one level do not import each other. */
const LEVELS = [
  ['domain'],
  ['policy'],
  ['events'],
  ['ports'],
  ['engine', 'models', 'analyst', 'tools', 'store', 'config', 'remote', 'integrations', 'distributed'],
  // What the screen, line mode and the command line share: actions, presenters, the client of a run, the opened project.
  ['app'],
  ['ui/tui', 'ui/lines', 'ui/acp'],
  ['cli'],
  ['main.ts'],
];

/** The modules of the engine, from the lowest up. */
const ENGINE = ['gate', 'agents', 'workspaces', 'reviews', 'planning', 'messaging', 'run'];

/** Pairs that the levels alone would allow. */
const NEVER: readonly (readonly [from: string, to: string])[] = [
  ['models', 'policy'],
  ['models', 'events'],
  ['analyst', 'policy'],
  ['analyst', 'events'],
  ['tools', 'policy'],
  ['tools', 'events'],
  ['integrations', 'policy'],
  ['integrations', 'events'],
  ['distributed', 'policy'],
  ['distributed', 'events'],
];

/** Packages and Node APIs, and the only folders that may import them (prefixes of paths under src). */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  marked: ['ui/tui/components/', 'app/reports/'],
  // Loaded when the first code is seen.
  'highlight.js/lib/common': ['ui/tui/components/text/markdown.ts'],
  'highlight.js': ['ui/tui/components/text/markdown.ts'],
  fuzzysort: ['ui/tui/', 'app/project/file-index.ts'],
  // Never its root: that loads forty widgets.
  'blessed/lib/widgets/screen.js': ['ui/tui/terminal/blessed-screen.ts'],
  // Never its root: that loads forty packages.
  'blessed-contrib/lib/widget/canvas.js': ['ui/tui/terminal/canvas.ts'],
  yaml: ['config/'],
  chalk: ['app/process/', 'app/reports/', 'ui/lines/', 'cli/'],
  // Wide characters and colours of a line, where the terminal would break a word.
  'wrap-ansi': ['ui/lines/session.ts'],
  // A real shell grammar: what a command says can't be guessed.
  unbash: ['policy/'],
  // Loaded where the person has a configuration of Cargo.
  'smol-toml': ['tools/sandbox/cargo-config.ts'],
  zod: [
    'domain/',
    'app/',
    'config/',
    'remote/',
    'tools/',
    'models/',
    'integrations/',
    'engine/gate/',
    'ports/',
    'distributed/',
  ],
  // Loaded where a cluster is asked for.
  '@dbos-inc/dbos-sdk': ['distributed/'],
  pg: ['distributed/'],
  '@anthropic-ai/sdk': ['models/anthropic'],
  openai: ['models/openai'],
  '@pydantic/genai-prices': ['models/catalogue/prices.ts'],
  '@vscode/ripgrep': ['tools/'],
  'node:sqlite': ['store/'],
  'node:fs': [
    'store/',
    'tools/',
    'config/',
    'remote/',
    'app/',
    'cli/',
    'ui/tui/terminal/',
    'integrations/acp/proxy.ts',
  ],
  'node:fs/promises': ['store/', 'tools/', 'config/', 'remote/', 'app/', 'cli/', 'ui/tui/terminal/'],
  // Sockets of the file system only: no port of the network is ever opened; the loopback of a sandbox is no network. (database: a class,
  // by which it knows the connection that the driver has made.)
  'node:net': ['remote/', 'integrations/acp/proxy.ts', 'tools/sandbox/foreign.ts', 'distributed/database.ts'],
  'node:http': ['integrations/acp/proxy.ts'],
  '@agentclientprotocol/sdk': ['integrations/acp/', 'integrations/tmux/', 'ui/acp/'],
  // One place starts what tools run, one ripgrep; the other the person's own editor. (process-tree: a type.)
  'node:child_process': [
    'tools/process/run-program.ts',
    'tools/files/search.ts',
    'ui/tui/terminal/external-editor.ts',
    // A run in a process of its own.
    'remote/host.ts',
  ],
  // Contents in the form of git's own objects.
  'node:zlib': ['tools/trees/contents.ts'],
  'node:buffer': ['remote/'],
  'node:module': ['main.ts', 'app/process/program.ts', 'cli/dispatch.ts'],
  'node:crypto': ['domain/digest.ts', 'store/', 'tools/', 'remote/', 'integrations/', 'app/', 'cli/', 'distributed/'],
  'node:os': ['config/', 'tools/', 'remote/', 'app/', 'cli/'],
  'node:path': ['config/', 'remote/', 'store/', 'tools/', 'app/', 'cli/', 'analyst/', 'integrations/acp/proxy.ts'],
  'node:tty': ['app/process/'],
  'node:v8': ['app/process/memory.ts'],
  'node:vm': ['app/process/memory.ts'],
  'node:url': ['config/', 'remote/', 'app/', 'cli/'],
  'node:util': ['app/process/'],
  'node:readline': ['integrations/notify/notifier.ts'],
  'node:readline/promises': ['app/process/', 'ui/lines/'],
  'node:stream': ['ui/tui/terminal/', 'ports/program.ts', 'integrations/acp/connection.ts', 'integrations/notify/'],
  'node:process': [],
};

/**
 * Who changes files at all, and which. Only `replace-file.ts` writes what a model asked for; the other tools keep notes of
 * their own in the state folder, or empty folders under covers of the sandbox. Everybody else reads.
 */
const WRITERS: readonly string[] = [
  // The socket of a proxy, in the state folder.
  'integrations/acp/proxy.ts',
  // A script for the sandbox.
  'tools/sandbox/foreign.ts',
  'tools/files/replace-file.ts',
  // /dev/null, and a script that starts Mimir itself.
  'tools/process/environment.ts',
  // Empty folders under covers, and what git is told in the sandbox of reading commands.
  'tools/sandbox/mounts.ts',
  // `/tmp` of agents, kept caches of builds, and a configuration of Cargo, all in the state folder.
  'tools/sandbox/socket-mount.ts',
  'tools/process/kept-folders.ts',
  'tools/sandbox/home.ts',
  // Copies of what commands may not change, in the state folder, what is put back from them, and repositories that a command made.
  'tools/writes/kept.ts',
  // What a person undoes, and copies of it in the state folder.
  'tools/changes/kept-undos.ts',
  'tools/trees/tree.ts',
  // The trees of agents' own and patches of their changes, in the state folder, and what is merged into the project.
  'tools/trees/own-tree.ts',
  'tools/trees/merge.ts',
  'tools/trees/stage.ts',
  'tools/trees/store.ts',
  'tools/trees/contents.ts',
  // Packs, and projects of others that a worker keeps.
  'tools/trees/transport.ts',
  'app/cluster/worker-side.ts',
  'cli/commands/worker.ts',
  // The person's key for signing.
  'app/cluster/settings.ts',
  // The log and what is known of days, and files of Mimir's own about trust and policy.
  'store/',
  'config/settings/policy-watcher.ts',
  'config/trust/files.ts',
  // Folders, sockets and the output of runs in processes of their own.
  'remote/host.ts',
  'remote/socket-paths.ts',
  'remote/server.ts',
  // What the person writes, or asks to be written: a text in an editor, a plan, a first configuration, a report of a bug.
  'app/process/files.ts',
  'ui/tui/terminal/external-editor.ts',
  'ui/tui/terminal/lifecycle.ts',
  'cli/crash-report.ts',
  'app/reports/report.ts',
  'cli/commands/init.ts',
  'app/agents/catalogue.ts',
  'cli/plan-file.ts',
  // Keys on their way to another process of Mimir's own, and whether a sandbox worked, in the state folder.
  'app/workspace/secrets.ts',
];

/** Of `node:fs`, what changes nothing. `open` may: with a flag that writes, looked for below. */
const READING = new Set(
  [
    'existsSync lstatSync lstat statSync stat fstatSync readFileSync readFile readdirSync readdir readlinkSync readlink',
    'realpathSync realpath accessSync access constants closeSync readSync openSync open statfsSync',
  ].flatMap((names) => names.split(' ')),
);
const FLAGS_THAT_WRITE = /\bO_(?:WRONLY|RDWR|CREAT|TRUNC|APPEND)\b|\bopen(?:Sync)?\([^)]*'(?:[wa]x?\+?|r\+)'/;
const FS_IMPORT = /import (type )?([^;']*?)\s*from\s*'node:fs(?:\/promises)?'/g;

/** The inside learns of time, chance and the environment through ports only. */
const DENIED: readonly { readonly what: RegExp; readonly allowed: readonly string[] }[] = [
  {
    what: /\bprocess\.(?:env|argv)\b/,
    allowed: [
      'main.ts',
      'config/settings/load.ts',
      'ui/tui/terminal/',
      'tools/process/environment.ts',
      'app/workspace/secrets.ts',
      'app/process/files.ts',
    ],
  },
  {
    what: /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\brandomUUID\b|\bsetTimeout\b|\bsetInterval\b/,
    allowed: [
      'main.ts',
      'app/',
      'cli/',
      'ui/lines/',
      'ui/tui/terminal/',
      'tools/',
      'store/durability.ts',
      'distributed/',
    ],
  },
  // Models and notifications use the network, nothing else, and nothing gets round the doors of packages.
  {
    what: /(?:await|return|=>|=) fetch\b|\bnew (?:WebSocket|EventSource)\b/,
    allowed: ['models/http/transport.ts', 'integrations/notify/'],
  },
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
const moduleOf = (file: string): string =>
  file
    .split('/')
    .slice(0, file.startsWith('ui/') ? 2 : 1)
    .join('/');
const levelOf = (module: string): number => LEVELS.findIndex((modules) => modules.includes(module));

const imports = files
  .filter((file) => !file.endsWith('.d.ts'))
  .flatMap((file) => [...textOf(file).matchAll(IMPORT)].map(([, a, b, c]) => ({ file, target: a ?? b ?? c ?? '' })));
const crossings = imports
  .filter(({ target }) => target.startsWith('.'))
  .map(({ file, target }) => ({ file, target: path.join(path.dirname(file), target) }))
  .filter(({ file, target }) => moduleOf(file) !== moduleOf(target));

describe('the modules', () => {
  it('has something to look at', () => {
    expect(files.length).toBeGreaterThan(20);
    expect(crossings.length).toBeGreaterThan(20);
  });

  it('has no module that has no level', () => {
    expect([...new Set(files.map(moduleOf))].filter((module) => levelOf(module) === -1)).toEqual([]);
  });

  it('lets a module import lower levels only', () => {
    const wrong = crossings.filter(({ file, target }) => levelOf(moduleOf(target)) >= levelOf(moduleOf(file)));
    expect(wrong).toEqual([]);
  });

  it('keeps models and tools away from policy and the log', () => {
    const wrong = crossings.filter(({ file, target }) =>
      NEVER.some(([from, to]) => moduleOf(file) === from && moduleOf(target) === to),
    );
    expect(wrong).toEqual([]);
  });

  it('lets each package in at its own place', () => {
    const wrong = imports
      .filter(({ target }) => !target.startsWith('.'))
      .filter(({ file, target }) => !(PACKAGES[target] ?? []).some((place) => file.startsWith(place)));
    expect(wrong).toEqual([]);
  });

  it('lets only the gate hold models and tools', () => {
    const wrong = crossings.filter(
      ({ file, target }) =>
        moduleOf(file) === 'engine' && /^ports\/(model|tool)\.ts$/.test(target) && !file.startsWith('engine/gate/'),
    );
    expect(wrong).toEqual([]);
  });

  it('lets a module of the engine import lower ones only', () => {
    const levelIn = (file: string): number => ENGINE.indexOf(file.split('/')[1] ?? '');
    const within = imports
      .filter(({ target }) => target.startsWith('.'))
      .map(({ file, target }) => ({ file, target: path.join(path.dirname(file), target) }))
      .filter(({ file, target }) => file.startsWith('engine/') && target.startsWith('engine/'));
    expect(within.filter(({ file, target }) => levelIn(target) > levelIn(file) || levelIn(target) === -1)).toEqual([]);
  });

  it('keeps the agent loop free of everything but the words and the gate', () => {
    const wrong = crossings.filter(
      ({ file, target }) => file === 'engine/agents/agent-loop.ts' && moduleOf(target) !== 'domain',
    );
    expect(wrong).toEqual([]);
  });

  it('learns of time, chance and the environment through ports only', () => {
    const wrong = files.flatMap((file) =>
      DENIED.filter(
        ({ what, allowed }) => what.test(textOf(file)) && !allowed.some((place) => file.startsWith(place)),
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
    expect(found.filter((file) => !WRITERS.some((place) => file.startsWith(place)))).toEqual([]);
    // Nothing is on the list that needn't be.
    expect(WRITERS.filter((place) => !found.some((file) => file.startsWith(place)))).toEqual([]);
  });
});
