/** The offline run on real repositories that are not ours, and on this one: what the report claims is looked up. */
import { execFileSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { MimirEvent } from '../../src/events/event.ts';
import { openLogReadOnly } from '../../src/store/log.ts';
import { claimCount, untrue } from '../analyst/folders.ts';
import { PUBLISHED, SOURCES } from '../support/cli.ts';
import { COMPILED } from '../support/compiled.ts';
import { freshFolder } from '../support/folder.ts';

/** The sources inside an installed package, as a git repository of its own. */
function repositoryFrom(folder: string): string {
  const root = join(freshFolder(), 'repository');
  cpSync(join('node_modules', folder), root, { recursive: true });
  const git = (...args: readonly string[]): void => {
    execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', ...args], {
      cwd: root,
      stdio: 'ignore',
    });
  };
  git('init', '-q');
  git('add', '-A');
  git('commit', '-qm', 'Import');
  return root;
}

/** Runs the real program and reads what it recorded. */
function run(root: string, task: string): { readonly events: readonly MimirEvent[]; readonly summary: string } {
  const home = freshFolder();
  // In Mimir's own checkout the sources: its `.mimir` holds the built-in defaults, which no other project may set.
  const isOwn = root === process.cwd();
  const [node = '', program = ''] = isOwn ? SOURCES : PUBLISHED;
  execFileSync(node, [program, 'run', task, '--yes', '--cwd', root], {
    // The tests' own cache lies in this checkout, and no project may hold a folder of Mimir's own.
    env: {
      PATH: process.env['PATH'],
      HOME: home,
      XDG_CACHE_HOME: isOwn ? join(home, '.cache') : COMPILED,
      LANG: 'C.UTF-8',
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const log = openLogReadOnly({ stateDir: join(home, '.local/state/mimir'), project: root });
  const events = log.sessions().flatMap(({ session }) => log.read(session));
  log.close();
  const last = events.at(-1);
  return { events, summary: last?.type === 'session.finished' ? last.summary : '' };
}

const CASES: readonly (readonly [name: string, root: () => string, task: string])[] = [
  ['zod', () => repositoryFrom('zod/src'), 'Give me an overview, review for risky patterns and find dead exports'],
  [
    'blessed',
    () => repositoryFrom('blessed'),
    'Where is `Screen.prototype.render` defined, which modules lack tests, and give an overview',
  ],
  ['yaml', () => repositoryFrom('yaml'), 'Explain how Lexer works, list all TODO comments and the dependencies'],
  ['Mimir itself', () => process.cwd(), 'Review src/engine/, say what changed lately and which modules lack tests'],
];

describe('the offline analyst on real repositories', () => {
  it.each(CASES)('says of %s only what stands there, by several agents that all complete', (_, rootOf, task) => {
    const root = rootOf();
    const { events, summary } = run(root, task);
    const finished = events.filter((event) => event.type === 'agent.finished');
    expect(finished.map(({ status }) => status)).toEqual(finished.map(() => 'completed'));
    expect(finished.length).toBeGreaterThanOrEqual(3);
    expect(events.filter(({ type }) => type === 'tool.finished').length).toBeGreaterThanOrEqual(10);
    const said = [summary, ...finished.map((event) => event.summary)].join('\n');
    expect(claimCount(said)).toBeGreaterThanOrEqual(10);
    expect(untrue(root, said)).toEqual([]);
    const lines = summary.trim().split('\n');
    expect(lines[0]).toContain('No language model was used');
  });
});
