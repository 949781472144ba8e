/**
 * Random histories of making, changing, merging and cleaning own trees, by real processes in a real log. Each process is killed right after, or just
 * before, it writes its next record, and another carries on. No line is lost, none is there twice, and cleaning removes only what the project has.
 */
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { SessionId } from '../../src/domain/ids.ts';
import { openLogReadOnly } from '../../src/store/index.ts';
import { ended, start } from '../support/child.ts';
import { COMPILED } from '../support/compiled.ts';
import { cutAt } from '../support/cut-spawns.ts';
import { type Machine, makeMachine } from '../support/journey.ts';
import {
  changed,
  contentsOf,
  type Edit,
  type Files,
  isConflict,
  mergedFiles,
  NAMES,
  read,
  SLOTS,
  START,
} from '../support/merge-model.ts';
import { needs } from '../support/needs.ts';
import { git } from '../support/repos.ts';
import { SESSION, type TreeOrders, type TreeStep, treeOf } from '../support/tree-steps.ts';

needs('git', 'bubblewrap');

/** As many histories as MIMIR_TEST_FUZZ says. */
const RUNS = Number(process.env['MIMIR_TEST_FUZZ'] ?? 2);
const CHILD = path.join(import.meta.dirname, '../support/tree-child.ts');
const AGENTS = 3;

type Step =
  | ({ readonly is: 'person' } & Edit)
  | ({ readonly is: 'agent'; readonly agent: number } & Edit)
  | { readonly is: 'make'; readonly agent: number }
  | { readonly is: 'merge'; readonly agent: number; readonly choice: 'mine' | 'theirs' | 'patch' }
  | { readonly is: 'clean' };

const edit = { file: fc.constantFrom(...NAMES), slot: fc.nat({ max: SLOTS - 1 }) };
const agent = fc.nat({ max: AGENTS - 1 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ is: fc.constant('person' as const), ...edit }) },
  { weight: 2, arbitrary: fc.record({ is: fc.constant('make' as const), agent }) },
  {
    weight: 4,
    arbitrary: fc.record({ is: fc.constant('agent' as const), agent, ...edit, slot: fc.nat({ max: SLOTS - 2 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      is: fc.constant('merge' as const),
      agent,
      choice: fc.constantFrom('mine' as const, 'theirs' as const, 'patch' as const),
    }),
  },
  { weight: 2, arbitrary: fc.constant({ is: 'clean' as const }) },
);

/** The tree of an agent as it has to be. */
interface Tree {
  readonly base: Files;
  files: Files;
  stands: 'open' | 'merged' | 'unmerged';
  /** Its agent has changed it after its merge. */
  isDirty: boolean;
}

/** What has to be in the project and in the trees that are left. */
class Model {
  project = START;
  readonly trees = new Map<number, Tree>();
  /** Agents that have had their tree. */
  readonly made = new Set<number>();

  /** The steps of a process for this one; none where it changes nothing. */
  does(one: Exclude<Step, { is: 'clean' }>, text: string): readonly TreeStep[] {
    if (one.is === 'person') {
      this.project = changed(this.project, one, text);
      return [{ is: 'write', agent: -1, files: contentsOf(this.project) }];
    }
    const tree = this.trees.get(one.agent);
    if (one.is === 'make') {
      if (this.made.has(one.agent)) return [];
      this.made.add(one.agent);
      this.trees.set(one.agent, { base: this.project, files: this.project, stands: 'open', isDirty: false });
      return [one];
    }
    if (tree === undefined) return [];
    if (one.is === 'agent') {
      tree.files = changed(tree.files, one, text);
      tree.isDirty = tree.stands === 'merged';
      return [{ is: 'write', agent: one.agent, files: contentsOf(tree.files) }];
    }
    if (tree.stands !== 'open') return [];
    tree.stands = one.choice === 'patch' && isConflict(this.project, tree.files, tree.base) ? 'unmerged' : 'merged';
    this.project = mergedFiles(this.project, tree.files, one.choice, tree.base);
    return [one];
  }

  clean(): void {
    for (const [of, { stands, isDirty }] of this.trees) if (stands === 'merged' && !isDirty) this.trees.delete(of);
  }
}

const stateDirOf = ({ home }: Machine): string => path.join(home, 'state/mimir');

/** Carries the steps out in as many processes as it takes: each one but the last is killed at its next record. */
async function inProcesses(
  machine: Machine,
  steps: readonly TreeStep[],
  when: () => 'before' | 'after',
): Promise<number> {
  let [kills, left] = [0, steps];
  let cut: 'before' | 'after' = 'after';
  while (left.length > 0) {
    const { project, home } = machine;
    const orders: TreeOrders = { project, home, stateDir: stateDirOf(machine), steps: [...left] };
    // What is killed before its record has not got any further, so that the next process has to.
    cut = cut === 'before' ? 'after' : when();
    const env = { ...process.env, NODE_COMPILE_CACHE: COMPILED, ...cutAt(`${cut} 1`) };
    const { code, signal, out, err } = await ended(start(process.execPath, [CHILD, JSON.stringify(orders)], env));
    if (code === 0) break;
    if (signal !== 'SIGKILL') throw new Error(err);
    kills += 1;
    left = left.slice(Number(out.trim().split('\n').at(-1)));
  }
  return kills;
}

/** The trees of the machine's one project. */
function treesFolder(machine: Machine): string {
  const folder = path.join(stateDirOf(machine), 'workspaces');
  return path.join(folder, readdirSync(folder)[0] ?? '');
}

const treesIn = (machine: Machine): readonly string[] =>
  readdirSync(treesFolder(machine))
    .filter((name) => existsSync(path.join(treesFolder(machine), name, 'tree')))
    .toSorted();

let killed = 0;

async function play(steps: readonly Step[], before: readonly boolean[]): Promise<void> {
  const machine = makeMachine(contentsOf(START));
  const model = new Model();
  const folder = (of: number): string => path.join(treesFolder(machine), treeOf(of), 'tree');
  let open: TreeStep[] = [];
  let processes = 0;
  const when = (): 'before' | 'after' => (before[processes++ % before.length] === true ? 'before' : 'after');
  for (const [nth, one] of [...steps, { is: 'clean' as const }].entries()) {
    if (one.is !== 'clean') {
      open.push(...model.does(one, `step ${nth}`));
      continue;
    }
    killed += await inProcesses(machine, open, when);
    open = [];
    model.clean();
    expect((await machine.mimir('trees', 'clean')).err).toBe('');
    expect(read(machine.project)).toEqual(model.project);
    expect(treesIn(machine)).toEqual([...model.trees.keys()].map(treeOf).toSorted());
    for (const [of, { files }] of model.trees) expect(read(folder(of))).toEqual(files);
  }
  const log = openLogReadOnly({ stateDir: stateDirOf(machine), project: machine.project });
  const merges = log
    .read(SessionId.parse(SESSION))
    .flatMap((event) => (event.type === 'merge.finished' ? [event.tree] : []));
  expect(merges.length).toBe(new Set(merges).size);
  log.close();
  expect(git(machine.project, 'fsck', '--strict')).toBe('');
}

it(
  'lose no line, merge nothing twice, and clean only what the project has, whatever record a process is killed at',
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 4, maxLength: 12 }),
        fc.array(fc.boolean(), { minLength: 1, maxLength: 8 }),
        (steps, before) => play([{ is: 'make', agent: 0 }, { is: 'make', agent: 1 }, ...steps], before),
      ),
      { numRuns: RUNS },
    );
    expect(killed).toBeGreaterThan(RUNS);
  },
  600_000 + RUNS * 60_000,
);
