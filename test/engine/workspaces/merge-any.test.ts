/**
 * Merges of own trees with real git, in random histories: persons and agents change lines, processes die at each record and in the midst of
 * writing. The project always has what a model of a three-way merge by lines says: no line is lost, and none is there twice.
 */
import { readdirSync } from 'node:fs';
import path from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AgentId, ROOT, SessionId } from '../../../src/domain/ids.ts';
import { openRecorder, type Recorder } from '../../../src/engine/gate/index.ts';
import type { ApprovalRequest, EventBody } from '../../../src/events/index.ts';
import { type Choice, mergeTree } from '../../../src/engine/workspaces/index.ts';
import type { WorkspacePort } from '../../../src/ports/workspace.ts';
import { openSandbox, openTools } from '../../../src/tools/index.ts';
import { memoryLog } from '../../support/log.ts';
import {
  changed,
  contentsOf,
  type Edit,
  type Files,
  isConflict,
  mergedFiles,
  NAMES,
  read,
  type Side,
  SLOTS,
  START,
  write,
} from '../../support/merge-model.ts';
import { needs } from '../../support/needs.ts';
import { freshFolder, git, makeRepository } from '../../support/repos.ts';
import { created } from '../../support/story.ts';
import { fakeWorld } from '../../support/world.ts';

needs('git', 'bubblewrap');

/** As many histories as MIMIR_TEST_FUZZ says. */
const RUNS = Number(process.env['MIMIR_TEST_FUZZ'] ?? 8);
const AGENTS = ['ROOT::S1', 'ROOT::S2'].map((id) => AgentId.parse(id));
const { signal } = new AbortController();

const DEATHS = [
  'nowhere',
  'before it begins',
  'when it has begun',
  'in its midst',
  'when it is written',
  'at its end',
] as const;
type Death = (typeof DEATHS)[number];
type Step =
  | ({ readonly is: 'person' } & Edit)
  | ({ readonly is: 'agent'; readonly agent: number } & Edit)
  | {
      readonly is: 'merge';
      readonly agent: number;
      readonly choice: Side;
      readonly dies: readonly Death[];
    };

const edit = { file: fc.constantFrom(...NAMES), slot: fc.nat({ max: SLOTS - 1 }) };
const agent = fc.constantFrom(0, 1);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ is: fc.constant('person' as const), ...edit }) },
  {
    weight: 4,
    arbitrary: fc.record({ is: fc.constant('agent' as const), agent, ...edit, slot: fc.nat({ max: SLOTS - 2 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      is: fc.constant('merge' as const),
      agent,
      choice: fc.constantFrom<Side[]>('mine', 'theirs', 'patch'),
      dies: fc.array(fc.constantFrom(...DEATHS), { maxLength: 3 }),
    }),
  },
);

/** A process that was killed. */
class Killed extends Error {}

async function ports(project: string, stateDir: string): Promise<WorkspacePort> {
  const place = { root: project, home: '/nowhere/home', stateDir };
  const tools = openTools({ ...place, sandbox: await openSandbox(place) });
  if (!tools.ok) throw new Error(tools.fault);
  return tools.value.workspaces;
}

/** The same recorder and trees in a process that dies there. `half` writes a part of the merge. */
function dying(recorder: Recorder, workspaces: WorkspacePort, at: Death, half: () => void) {
  const die = (when: Death): void => {
    if (at === when) throw new Killed();
  };
  return {
    recorder: {
      ...recorder,
      record(...bodies: readonly EventBody[]) {
        if (bodies.some(({ type }) => type === 'merge.started')) die('before it begins');
        const events = recorder.record(...bodies);
        if (bodies.some(({ type }) => type === 'merge.started')) die('when it has begun');
        if (bodies.some(({ type }) => type === 'merge.finished')) die('at its end');
        return events;
      },
    },
    workspaces: {
      ...workspaces,
      async apply(...of: Parameters<WorkspacePort['apply']>) {
        if (at === 'in its midst') half();
        die('in its midst');
        const done = await workspaces.apply(...of);
        die('when it is written');
        return done;
      },
    },
  };
}

interface Tree {
  readonly name: string;
  readonly folder: string;
  files: Files;
}

/** One project with two agents that have trees of their own, and what has to be in it. */
class History {
  readonly project = makeRepository(contentsOf(START));
  files = START;
  readonly trees: Tree[] = [];
  /** What the person was asked in the last merge. */
  readonly questions: string[] = [];
  readonly #stateDir = freshFolder();
  readonly #log = memoryLog();
  #recorder = this.#opened();
  #workspaces: WorkspacePort | null = null;

  #opened(): Recorder {
    return openRecorder(this.#log, SessionId.parse('histories'), fakeWorld());
  }

  async #ports(): Promise<WorkspacePort> {
    this.#workspaces ??= await ports(this.project, this.#stateDir);
    return this.#workspaces;
  }

  async begin(): Promise<void> {
    const workspaces = await this.#ports();
    for (const [at, agent] of AGENTS.entries()) {
      const tree = `histories.S${at + 1}.1`;
      const made = await workspaces.make(tree, signal);
      if (!made.ok) throw new Error(made.fault);
      this.#recorder.record(created(agent), { type: 'tree.made', agent, tree, base: made.value.base });
      this.trees.push({ name: tree, folder: workspaces.folder(tree), files: START });
    }
  }

  #whyNot(who: number): string {
    return this.#recorder.state().agents.get(AGENTS[who] ?? ROOT)?.ownTree?.because ?? '';
  }

  #stands(who: number): string | undefined {
    return this.#recorder.state().agents.get(AGENTS[who] ?? ROOT)?.ownTree?.stands;
  }

  /** Merges in as many processes as it takes. */
  async merge(who: number, choice: Side, dies: readonly Death[]): Promise<void> {
    const tree = this.trees[who];
    if (tree === undefined || this.#stands(who) !== 'open') return;
    const expected = mergedFiles(this.files, tree.files, choice);
    this.questions.length = 0;
    const choose = ({ exact }: ApprovalRequest): Promise<Choice> => {
      this.questions.push(exact);
      return Promise.resolve(choice);
    };
    for (const death of [...dies, 'nowhere' as const]) {
      const stands = this.#stands(who);
      if (stands === 'merged' || stands === 'unmerged') break;
      await this.#process(who, death, expected, choose);
    }
    const conflict = isConflict(this.files, tree.files);
    const kept = conflict && choice === 'patch';
    this.files = expected;
    const asked = this.questions.length > 0;
    expect([this.#stands(who), asked], this.#whyNot(who)).toEqual([kept ? 'unmerged' : 'merged', conflict]);
    expect(this.#hasPatch(tree)).toBe(kept);
  }

  async #process(
    who: number,
    death: Death,
    expected: Files,
    choose: (request: ApprovalRequest) => Promise<Choice>,
  ): Promise<void> {
    const half = Object.fromEntries(Object.entries(expected).filter(([name]) => name < 'f2'));
    const parts = dying(this.#recorder, await this.#ports(), death, () => write(this.project, half));
    try {
      await mergeTree({ ...parts, signal, choose }, AGENTS[who] ?? ROOT);
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
      this.#recorder = this.#opened();
      this.#workspaces = null;
    }
  }

  #hasPatch({ name, folder }: Tree): boolean {
    const places = readdirSync(path.dirname(path.dirname(folder)), { recursive: true, encoding: 'utf8' });
    return places.some((place) => place.includes(name) && place.endsWith('.patch'));
  }
}

async function play(steps: readonly Step[]): Promise<void> {
  const history = new History();
  await history.begin();
  for (const [at, one] of steps.entries()) {
    const tree = one.is === 'person' ? undefined : history.trees[one.agent];
    if (one.is === 'person') write(history.project, (history.files = changed(history.files, one, `person ${at}`)));
    else if (one.is === 'merge') await history.merge(one.agent, one.choice, one.dies);
    else if (tree !== undefined) write(tree.folder, (tree.files = changed(tree.files, one, `agent ${at}`)));
    expect(read(history.project)).toEqual(history.files);
  }
  for (const who of AGENTS.keys()) await history.merge(who, 'mine', []);
  expect(read(history.project)).toEqual(history.files);
  for (const tree of history.trees) expect(read(tree.folder)).toEqual(tree.files);
  expect(git(history.project, 'log', '--oneline').trim().split('\n').length).toBe(1);
  expect(git(history.project, 'fsck', '--strict')).toBe('');
}

describe('the question about a conflict', () => {
  it('names the files, says what each answer does, and shows what the sides do not have in common', async () => {
    const history = new History();
    await history.begin();
    const [tree] = history.trees;
    if (tree === undefined) throw new Error('no tree');
    history.files = changed(history.files, { file: 'f0', slot: 0 }, 'by the person');
    write(history.project, history.files);
    tree.files = changed(changed(tree.files, { file: 'f0', slot: 0 }, 'by the agent'), { file: 'f1', slot: 2 }, 'more');
    write(tree.folder, tree.files);
    await history.merge(0, 'theirs', []);
    expect(history.questions).toEqual([
      `f0 (contents)

mine: keep these files as they are in the project; merge the other changes (1)
theirs: take these files as finder has them; merge the other changes
agent: finder resolves it in a new tree, with what is left of its budget; you see the result before it is merged
patch: merge nothing; keep the tree, and its changes as a patch

mine is -, theirs is +:
--- a/f0
+++ b/f0
@@ -1,4 +1,4 @@
-by the person
+by the agent
 same 0 0
 same 0 1
 same 0 2
`,
    ]);
  });
});

describe('random histories of trees and merges', () => {
  it('lose no line, merge nothing twice, and end as a merge by lines does, wherever a process dies', async () => {
    await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 10 }), play), { numRuns: RUNS });
  }, 600_000);
});
