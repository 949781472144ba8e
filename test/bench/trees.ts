/** Own trees of agents in a project of 10,000 files, beside `git worktree add` in the same project: the time until each is ready. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSandbox, openTools } from '../../src/tools/index.ts';
import type { Measurement } from './run.ts';
import { figure } from './run.ts';

const FILES = 10_000;
const IN_A_FOLDER = 100;

export const trees: Measurement = {
  name: 'trees',
  about: `a tree of its own of ${FILES} files, beside git worktree add`,
  async measure({ quick, say }) {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'mimir-bench-')));
    try {
      const project = join(folder, 'project');
      makeProject(project);
      const place = { root: project, home: join(folder, 'home'), stateDir: join(folder, 'state') };
      const tools = openTools({ ...place, sandbox: await openSandbox(place) });
      if (!tools.ok) throw new Error(tools.fault);
      const { workspaces } = tools.value;
      const floor: number[] = [];
      const mimir: number[] = [];
      for (let turn = 0; turn < (quick ? 2 : 5); turn += 1) {
        say(`  ${turn + 1}`);
        floor.push(await timed(() => git(project, 'worktree', 'add', '--detach', join(folder, `floor-${turn}`))));
        const name = `bench.S1.${turn}`;
        mimir.push(
          await timed(async () => {
            const made = await workspaces.make(name, new AbortController().signal);
            if (!made.ok) throw new Error(made.fault);
          }),
        );
      }
      const ratios = mimir.map((ms, turn) => ms / (floor[turn] ?? ms));
      return [
        figure('trees: ready', 'ms', (ms) => ms, { floor, mimir }),
        figure('trees: ready, times git worktree add', '', (times) => times, { mimir: ratios }),
      ];
    } finally {
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    }
  },
};

/** From a quiet disk: what was written before is on it. */
async function timed(work: () => unknown): Promise<number> {
  execFileSync('sync');
  const began = performance.now();
  await work();
  return performance.now() - began;
}

const git = (cwd: string, ...words: readonly string[]): void => {
  const who = ['-c', 'user.name=Bench', '-c', 'user.email=bench@example.org'];
  execFileSync('git', [...who, ...words], { cwd, stdio: ['ignore', 'ignore', 'pipe'] });
};

function makeProject(project: string): void {
  for (let folder = 0; folder < FILES / IN_A_FOLDER; folder += 1) {
    const place = join(project, `folder-${folder}`);
    mkdirSync(place, { recursive: true });
    for (let file = 0; file < IN_A_FOLDER; file += 1)
      writeFileSync(
        join(place, `file-${file}.ts`),
        `export const value = ${folder * IN_A_FOLDER + file};\n`.repeat(40),
      );
  }
  git(project, 'init', '--quiet');
  git(project, 'add', '--all');
  git(project, 'commit', '--quiet', '--message', 'Begin');
}
