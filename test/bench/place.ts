/** Where a measured program is at home: a project to read in, folders of its own, and settings without narrow limits. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { globSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Command } from './process.ts';

export interface Place {
  readonly project: string;
  readonly env: Readonly<Record<string, string>>;
  /** The program with these arguments, in the project. */
  command(program: readonly string[], args: readonly string[], env?: Readonly<Record<string, string>>): Command;
  /** A plan file of `count` tasks that need nothing of one another; its path. */
  plan(count: number): string;
  /** Bytes of the database of the project's log. */
  logBytes(): number;
  /** The database of the project's log. */
  logFile(): string;
  /** Empties the log. */
  forget(): void;
  remove(): void;
}

/** Files that read calls go round in: about 1 KB each. */
export const READABLE: readonly string[] = Array.from({ length: 10 }, (_, index) => `src/part-${index + 1}.js`);

/** As wide as it gets, so that nothing but the work is measured. */
const SETTINGS = `
agentOrchestration: { maxParallelAgents: 256, onFailure: skip, roles: { finder: { iterations: 200 } } }
budgets:
  run: { maxCost: 1000000, maxTokens: 1000000000000, maxDuration: 10h }
  agent: { maxCost: 1000000, maxTokens: 1000000000000, maxDuration: 10h }
limits: { maxTasksPerPlan: 500, maxAgentsPerRun: 1000 }
childAgents: { maxPerParent: 256 }
`;

/** A fresh one. Calls go to `url` where one is given. */
export function openPlace(url?: string): Place {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'mimir-bench-')));
  const [project, home] = [join(root, 'project'), join(root, 'home')];
  const state = join(home, 'state');
  write(join(home, 'config/mimir/config.yml'), SETTINGS);
  write(join(project, 'README.md'), '# Bench\n\nTen small files.\n');
  for (const [index, file] of READABLE.entries()) write(join(project, file), sourceOf(index));
  execFileSync('git', ['init', '-q', project]);
  const env = {
    PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
    HOME: home,
    XDG_CONFIG_HOME: join(home, 'config'),
    XDG_STATE_HOME: state,
    XDG_CACHE_HOME: join(home, 'cache'),
    LANG: 'C.UTF-8',
    TERM: 'xterm-256color',
    ...(url === undefined ? {} : { ANTHROPIC_API_KEY: 'test-key', ANTHROPIC_BASE_URL: url }),
  };
  const remove = (): void => rmSync(root, { recursive: true, force: true, maxRetries: 3 });
  process.on('exit', remove);
  return {
    project,
    env,
    command: ([command = '', ...first], args, more = {}) => ({
      command,
      args: [...first, ...args],
      cwd: project,
      env: { ...env, ...more },
    }),
    plan(count) {
      const file = join(root, `plan-${count}.json`);
      write(file, planOf(count));
      return file;
    },
    logBytes: () =>
      globSync(join(state, 'mimir/projects/*/log.db*')).reduce((sum, file) => sum + statSync(file).size, 0),
    logFile: () => globSync(join(state, 'mimir/projects/*/log.db'))[0] ?? '',
    forget: () => rmSync(join(state, 'mimir/projects'), { recursive: true, force: true, maxRetries: 3 }),
    remove() {
      process.off('exit', remove);
      remove();
    },
  };
}

/** What a planner answers, and what stands in a plan file: both forms are read alike. */
export const planOf = (count: number): string =>
  JSON.stringify({
    reason: 'The bench asks for it.',
    tasks: Array.from({ length: count }, (_, index) => ({
      id: `task-${index + 1}`,
      description: `Bench task ${index + 1}: read the files of src and say done.`,
      recommendedRole: 'finder',
      estimatedTokens: 100_000,
      budget: { maxTokens: 1_000_000_000 },
      dependencies: [],
    })),
  });

function sourceOf(index: number): string {
  const lines = Array.from(
    { length: 24 },
    (_, line) => `export const value${line + 1} = ${index * 100 + line}; // part`,
  );
  return `${lines.join('\n')}\n`;
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
