/** Runs the real program, as it is published, as a child: a home and XDG folders of its own, nothing of this machine's. */
import type { ChildProcessByStdio } from 'node:child_process';
import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { leaveFolder } from './aftermath.ts';
import { bundled } from './bundled.ts';
import { COMPILED } from './compiled.ts';
import type { Files } from './repos.ts';
import { writeFiles } from './repos.ts';

export const CHECKOUT = join(import.meta.dirname, '../..');
const PROGRAM = bundled();
/** The program as it is published, for a command line with something before it. */
export const PUBLISHED: readonly string[] = [process.execPath, PROGRAM];
/** The program from its sources, for tests that put something into them or look at what they load. */
export const SOURCES: readonly string[] = [process.execPath, join(CHECKOUT, 'src/main.ts')];

export interface Ran {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly out: string;
  readonly err: string;
}

export interface How {
  /** Beside what the home has; undefined removes one. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  /** Instead of the program as it is published: a command that gets the arguments after it. */
  readonly program?: readonly string[];
  /** In a process group of its own, as a shell starts a command. */
  readonly group?: true;
}

export interface Running {
  readonly child: ChildProcessByStdio<null, Readable, Readable>;
  /** What it has printed so far. */
  out(): string;
  err(): string;
  /** Resolves when stdout has the text; rejects when it ends without. */
  printed(text: string): Promise<void>;
  readonly ended: Promise<Ran>;
}

export interface Home {
  /** Everything below is in here; removed by `remove`. */
  readonly root: string;
  /** A project folder. */
  readonly project: string;
  readonly config: string;
  readonly state: string;
  readonly env: Readonly<Record<string, string>>;
  /** The start of a command line that runs the rest as an ordinary user, when this is root's. */
  readonly ordinary: readonly string[];
  start(args: readonly string[], how?: How): Running;
  run(args: readonly string[], how?: How): Promise<Ran>;
  /** Runs `script` in bash with `mimir` as a command. */
  shell(script: string, how?: How): Promise<Ran>;
  remove(): void;
}

/** The user and group `nobody`. */
const NOBODY = 65534;
export const isRoot = process.getuid?.() === 0;

/** A home and a project with `files`. Folders may be used by everybody, so that an ordinary user can be at home there too. */
export function openHome(files: Files = {}): Home {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'mimir-cli-')));
  const [project, config, state] = [join(root, 'project'), join(root, 'config/mimir'), join(root, 'state/mimir')];
  for (const folder of [root, join(root, 'home'), join(root, 'state'), project, config]) {
    mkdirSync(folder, { recursive: true });
    chmodSync(folder, 0o777);
  }
  writeFiles(project, files);
  const env = environment(root);
  const startIn = (args: readonly string[], how: How = {}): Running => {
    const [command = '', ...first] = how.program ?? PUBLISHED;
    return startChild(command, [...first, ...args], { cwd: project, ...how, env: { ...env, ...how.env } });
  };
  return {
    root,
    project,
    config,
    state,
    env,
    ordinary: isRoot ? ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'] : [],
    start: startIn,
    run: (args, how) => startIn(args, how).ended,
    shell: (script, how = {}) => {
      const mimir = `mimir() { '${process.execPath}' '${PROGRAM}' "$@"; }`;
      return startChild('bash', ['-c', `${mimir}\n${script}`], { cwd: project, ...how, env: { ...env, ...how.env } })
        .ended;
    },
    remove: () => {
      leaveFolder(root);
    },
  };
}

const environment = (root: string): Record<string, string> => ({
  PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
  HOME: join(root, 'home'),
  XDG_CONFIG_HOME: join(root, 'config'),
  XDG_STATE_HOME: join(root, 'state'),
  XDG_CACHE_HOME: COMPILED,
  LANG: 'C.UTF-8',
  TZ: 'UTC',
});

function startChild(command: string, args: readonly string[], { cwd, env, group }: How): Running {
  const child = spawn(command, [...args], { cwd, env, detached: group ?? false, stdio: ['ignore', 'pipe', 'pipe'] });
  let [out, err] = ['', ''];
  const looking = new Set<() => void>();
  const ended = new Promise<Ran>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      resolve({ code, signal, out, err });
    });
  });
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    out += piece;
    for (const look of looking) look();
  });
  child.stderr.setEncoding('utf8').on('data', (piece: string) => {
    err += piece;
  });
  const printed = (text: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (!out.includes(text)) return;
        looking.delete(look);
        resolve();
      };
      looking.add(look);
      look();
      void ended.then(() => {
        reject(new Error(`it ended without "${text}":\n${out}\n${err}`));
      });
    });
  return { child, out: () => out, err: () => err, printed, ended };
}

/** The objects of JSON lines. */
export const jsonLines = (text: string): readonly Record<string, unknown>[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const value: unknown = JSON.parse(line);
      if (typeof value !== 'object' || value === null) throw new Error(`not an object: ${line}`);
      return { ...value };
    });

/** A small project with something to find. */
export const SMALL: Files = {
  'package.json': '{ "name": "small", "main": "src/index.js", "dependencies": { "left-pad": "1.0.0" } }\n',
  'README.md': '# Small\n\nAdds numbers.\n',
  'src/index.js': "import { add } from './add.js';\nconsole.log(add(1, 2));\n",
  'src/add.js': 'export const add = (a, b) => eval(`${a} + ${b}`);\n',
  'test/add.test.js': "import { add } from '../src/add.js';\nif (add(1, 2) !== 3) throw new Error('no');\n",
};
