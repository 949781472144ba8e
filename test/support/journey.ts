/**
 * A person at a machine of their own: a project, a home, and the real program in a real terminal. Journeys are told with
 * `press`, `type`, `sees` and `doesNotSee`; each waits for what it needs, none for a time.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, expect } from 'vitest';

import { bundled } from './bundled.ts';
import { COMPILED } from './compiled.ts';
import { needs } from './needs.ts';
import type { StartOptions, TestTerminal } from './pty.ts';
import { startTerminal } from './pty.ts';
import type { Files } from './repos.ts';
import { freshFolder, makeRepository } from './repos.ts';

export const CLI = bundled();
/** For a busy machine; nothing here takes so long. */
const PATIENCE = 30_000;

/** What the small project of most journeys holds: sources that import each other, a test, something to find fault with. */
export const LEDGER: Files = {
  'README.md': '# Ledger\n\nAccounts, a cache of balances, and a report.\n',
  'package.json': '{ "name": "ledger", "type": "module", "scripts": { "test": "node --test" } }\n',
  'src/cache.js': [
    "import { parse } from './parse.js';",
    '',
    'const cache = new Map();',
    '',
    '// TODO: entries are never dropped',
    'export function balanceOf(account) {',
    '  if (cache.has(account)) return cache.get(account);',
    '  const balance = parse(String(account));',
    '  cache.set(account, balance);',
    '  return balance;',
    '}',
    '',
  ].join('\n'),
  'src/parse.js': 'export const parse = (text) => eval(text);\n',
  'src/report.js':
    "import { balanceOf } from './cache.js';\n\nexport const report = (all) => all.map(balanceOf).join();\n",
  'test/parse.test.js': "import { parse } from '../src/parse.js';\n\nparse('1');\n",
};

/** A task that the offline analyst makes several agents of. */
export const TASK = 'Explain how balanceOf works: overview, dependencies';

/** How a program without a terminal ended. */
export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** A fresh home and a project in it. */
export interface Machine {
  readonly project: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** `mimir …` without a terminal, to its end. */
  mimir(...args: readonly string[]): Promise<Ended>;
  /** `mimir …` in a terminal. */
  opens(args?: readonly string[], look?: StartOptions): Person;
}

export type What = string | RegExp | ((rows: readonly string[]) => boolean);

/** Somebody in front of the program. */
export interface Person {
  readonly terminal: TestTerminal;
  press(...keys: readonly string[]): void;
  type(text: string): void;
  /** Waits until all of these are on the screen, one after the other. */
  sees(...what: readonly What[]): Promise<void>;
  /** Types a line and Enter, and waits for these answers. */
  says(line: string, ...answers: readonly What[]): Promise<void>;
  /** Waits until it is not, or no longer, on the screen. */
  doesNotSee(what: string | RegExp): Promise<void>;
  /** The whole screen as one text. */
  screen(): string;
  /** Waits for the end of the program, and that the terminal is given back as it was; the exit code. */
  leaves(): Promise<number>;
}

needs('git');

const running = new Set<TestTerminal>();
afterAll(() => {
  for (const terminal of running) terminal.kill();
});

/** A machine with one project: these files in a git repository. `more`: what its person has set beside what everyone has. */
export function makeMachine(files: Files = LEDGER, more: Machine['env'] = {}): Machine {
  const project = makeRepository(files);
  const home = freshFolder();
  const env = {
    PATH: process.env['PATH'],
    HOME: home,
    XDG_STATE_HOME: join(home, 'state'),
    XDG_CONFIG_HOME: join(home, 'config'),
    XDG_CACHE_HOME: COMPILED,
    LANG: 'C.UTF-8',
    ...more,
  };
  return {
    project,
    home,
    env,
    mimir: (...args) => ended(args, project, env),
    opens(args = [], look = {}) {
      const options = { ...look, cwd: look.cwd ?? project, env: { ...env, ...look.env } };
      const terminal = startTerminal(process.execPath, [CLI, ...args], options);
      running.add(terminal);
      return personAt(terminal);
    },
  };
}

function ended(args: readonly string[], cwd: string, env: Machine['env']): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [CLI, ...args], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let [out, err] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
    child.once('error', reject);
    child.once('close', (code) => {
      resolve({ code, out, err });
    });
  });
}

function personAt(terminal: TestTerminal): Person {
  const screen = (): string => terminal.screen().join('\n');
  const sees: Person['sees'] = async (...what) => {
    for (const one of what) await terminal.waitFor(one, { timeout: PATIENCE });
  };
  return {
    terminal,
    screen,
    press: (...keys) => {
      terminal.press(...keys);
    },
    type: (text) => {
      terminal.type(text);
    },
    sees,
    says(line, ...answers) {
      terminal.type(line);
      terminal.press('enter');
      return sees(...answers);
    },
    doesNotSee: (what) => terminal.waitFor((rows) => !holds(rows.join('\n'), what), { timeout: PATIENCE }),
    async leaves() {
      const { code } = await terminal.exit;
      expect(leftOn(terminal.output())).toEqual([]);
      expect(terminal.isAltScreen()).toBe(false);
      return code;
    },
  };
}

const holds = (text: string, what: string | RegExp): boolean =>
  typeof what === 'string' ? text.includes(what) : what.test(text);

/** Alternate screen, mouse, focus, paste, synchronised output. */
const MODES = [1049, 1000, 1002, 1006, 1004, 2004, 2026];

/** What the program switched on in the terminal, or hid, and left so. */
function leftOn(output: string): readonly string[] {
  const csi = '\u001b[?';
  const on = MODES.filter((mode) => output.lastIndexOf(`${csi}${mode}h`) > output.lastIndexOf(`${csi}${mode}l`));
  const hidden = output.lastIndexOf(`${csi}25l`) > output.lastIndexOf(`${csi}25h`);
  return [...on.map((mode) => `mode ${mode}`), ...(hidden ? ['the cursor is hidden'] : [])];
}

/** What the footer says of a plan that waits; the start screen speaks of accepting as well. */
export const ACCEPT = /(?:⏎|Enter) accept/;

/** Opens the session, says what should be done, and waits for the plan. */
export async function planFor(
  machine: Machine,
  task: string = TASK,
  look: StartOptions & { readonly args?: readonly string[] } = {},
): Promise<Person> {
  const { args = [], ...options } = look;
  const person = machine.opens(args, options);
  await person.sees('What do you want to do?');
  person.type(task);
  await person.sees(task.slice(0, 20));
  person.press('enter');
  await person.sees(ACCEPT);
  return person;
}

/** Runs of the machine's project as `mimir sessions` lists them. */
export async function sessionsOf(machine: Machine): Promise<readonly string[]> {
  const { out } = await machine.mimir('sessions');
  return out.split('\n').filter((line) => line.trim() !== '');
}

/** The name of the newest session. */
export async function newest(machine: Machine): Promise<string> {
  const [first = ''] = await sessionsOf(machine);
  return first.split(' ')[0] ?? '';
}
