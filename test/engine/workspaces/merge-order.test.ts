/** Three agents with trees of their own, with real git: whoever finishes when, and in whatever order the trees are merged, the project ends the same. */
import { chmodSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { type AgentId, ROOT, SessionId } from '../../../src/domain/ids.ts';
import { ok } from '../../../src/domain/result.ts';
import { openRecorder } from '../../../src/engine/gate/index.ts';
import { mergeTree } from '../../../src/engine/workspaces/index.ts';
import type { WorkspacePort } from '../../../src/ports/workspace.ts';
import { openSandbox, openTools } from '../../../src/tools/index.ts';
import { gate } from '../../support/children.ts';
import { memoryLog } from '../../support/log.ts';
import { needs } from '../../support/needs.ts';
import { ownTask } from '../../support/own-tree-plans.ts';
import { freshFolder, git, makeRepository } from '../../support/repos.ts';
import { AGENT, filed, testRun } from '../../support/run.ts';
import { created } from '../../support/story.ts';
import { NOTHING, treesByHand } from '../../support/trees-by-hand.ts';
import { fakeWorld } from '../../support/world.ts';

needs('git', 'bubblewrap');

const { signal } = new AbortController();
const AGENTS = ['ROOT::S1', 'ROOT::S2', 'ROOT::S3'].map(AGENT);
const ORDERS = AGENTS.flatMap((a) => AGENTS.flatMap((b) => AGENTS.map((c) => [a, b, c]))).filter(
  (all) => new Set(all).size === 3,
);

/** All of them where MIMIR_TEST_FUZZ is set. */
const SOME = process.env['MIMIR_TEST_FUZZ'] === undefined ? ORDERS.filter((_, at) => at % 2 === 1) : ORDERS;

/** Lines `name 0` to `name 29`; those that are named are changed. */
const thirty = (name: string, changed: Readonly<Record<number, string>> = {}): string =>
  Array.from({ length: 30 }, (_, at) => `${changed[at] ?? `${name} ${at}`}\n`).join('');

const START = {
  'src/shared.txt': thirty('shared'),
  'src/alike.txt': thirty('alike'),
  'src/fought.txt': thirty('fought'),
  'src/old.txt': thirty('moved'),
  'src/gone.txt': 'gone\n',
  'src/run.sh': thirty('run'),
};

/** What each agent does to the files of a folder; `fights`: also to a line that another changes in another way. */
function work(agent: AgentId, folder: string, fights: boolean): void {
  const at = (name: string): string => path.join(folder, 'src', name);
  const edit = (name: string, line: number, text: string): void => {
    const lines = readFileSync(at(name), 'utf8').split('\n');
    writeFileSync(at(name), lines.with(line, text).join('\n'));
  };
  const nth = AGENTS.indexOf(agent) + 1;
  edit('shared.txt', 7 * nth, `by ${nth}`);
  mkdirSync(at(`new/${nth}`), { recursive: true });
  writeFileSync(at(`new/${nth}/made.bin`), Buffer.from([0, nth, 255]));
  // Both make the same change.
  if (nth !== 3) edit('alike.txt', 4, 'by one and two');
  if (fights && nth !== 2) edit('fought.txt', 9, `fought by ${nth}`);
  if (nth === 1) {
    edit('old.txt', 12, 'by one');
    edit('run.sh', 3, 'by one');
  } else if (nth === 2) rmSync(at('gone.txt'));
  else {
    renameSync(at('old.txt'), at('moved.txt'));
    chmodSync(at('run.sh'), 0o755);
  }
}

/** The files with permissions and contents, after all three; of a line that two changed, as the last of the plan has it. */
const done = (fights: boolean): Readonly<Record<string, string>> => ({
  'src/alike.txt': `644 ${thirty('alike', { 4: 'by one and two' })}`,
  'src/fought.txt': `644 ${thirty('fought', fights ? { 9: 'fought by 3' } : {})}`,
  'src/moved.txt': `644 ${thirty('moved', { 12: 'by one' })}`,
  ...Object.fromEntries([1, 2, 3].map((nth) => [`src/new/${nth}/made.bin`, `644 \0${String.fromCharCode(nth, 255)}`])),
  'src/run.sh': `755 ${thirty('run', { 3: 'by one' })}`,
  'src/shared.txt': `644 ${thirty('shared', { 7: 'by 1', 14: 'by 2', 21: 'by 3' })}`,
});

const filesIn = (folder: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => !/^\.git(?:\/|$)/.test(name) && statSync(path.join(folder, name)).isFile())
      .toSorted()
      .map((name) => {
        const place = path.join(folder, name);
        return [name, `${(statSync(place).mode & 0o777).toString(8)} ${readFileSync(place, 'latin1')}`];
      }),
  );

/** The project as it was committed. */
function anew(project: string): void {
  git(project, 'reset', '--quiet', '--hard');
  git(project, 'clean', '--quiet', '-fd');
}

async function opened(): Promise<{ readonly project: string; readonly workspaces: WorkspacePort }> {
  const project = makeRepository(START);
  const place = { root: project, home: '/nowhere/home', stateDir: freshFolder() };
  const tools = openTools({ ...place, sandbox: await openSandbox(place) });
  if (!tools.ok) throw new Error(tools.fault);
  return { project, workspaces: tools.value.workspaces };
}

/** A run of all three that has begun; each works when its gate opens, and its trees are those of the port. */
async function begun(workspaces: WorkspacePort, works: (agent: AgentId, tree: string) => void) {
  const gates = new Map(AGENTS.map((agent) => [agent, gate()]));
  const tasks = AGENTS.map((_, at) => ({ ...ownTask(`t${at + 1}`, `Work ${at + 1}`), role: 'oracle' }));
  const run = testRun({
    ...filed({ reason: '', tasks }),
    session: SessionId.parse(`run${(runs += 1)}`),
    workspaces,
    script: async ({ agent, purpose }) => {
      if (purpose.is !== 'work') return undefined;
      await gates.get(agent)?.promise;
      works(agent, run.state().agents.get(agent)?.ownTree?.name ?? '');
      return { text: 'done' };
    },
  });
  const { agents } = await run.until((state) => AGENTS.every((id) => state.agents.get(id)?.iterations === 1));
  expect(AGENTS.map((id) => agents.get(id)?.ownTree?.stands)).toEqual(['open', 'open', 'open']);
  return { run, gates };
}
let runs = 0;

/** Lets them finish in this order: each when the work of the one before is over, and merged where its turn has come; or all at once. */
async function finish({ run, gates }: Awaited<ReturnType<typeof begun>>, { order, how }: Finishing): Promise<void> {
  for (const [at, agent] of order.entries()) {
    gates.get(agent)?.resolve();
    if (how === 'at once' || at === order.length - 1) continue;
    const waits = AGENTS.findIndex((id) => !order.slice(0, at + 1).includes(id));
    await run.until(
      ({ agents }) =>
        run.events().some((event) => event.type === 'model.finished' && event.agent === agent) &&
        AGENTS.slice(0, waits).every((id) => agents.get(id)?.ownTree?.stands === 'merged'),
    );
  }
  await run.result;
  const { agents } = run.state();
  const ends = AGENTS.map((id) => [agents.get(id)?.outcome, agents.get(id)?.ownTree?.stands]);
  expect(ends).toEqual(AGENTS.map(() => ['completed', 'merged']));
}

interface Finishing {
  readonly order: readonly AgentId[];
  readonly how: 'one by one' | 'at once';
}

const FINISHING: readonly Finishing[] = [
  ...ORDERS.map((order) => ({ order, how: 'one by one' as const })),
  { order: AGENTS.toReversed(), how: 'at once' },
];

describe('three agents with trees of their own', () => {
  it.each(FINISHING)('that finish $how in the order $order are merged in the order of the plan', async (finishing) => {
    const merged: string[] = [];
    const port = treesByHand({
      merge: ({ name }) => {
        merged.push(name.replace(/^.*\.(S\d)\.1$/, 'ROOT::$1'));
        return Promise.resolve(ok({ ...NOTHING, merged: name }));
      },
    });
    await finish(await begun(port, () => undefined), finishing);
    expect(merged).toEqual(AGENTS);
  });

  it('that finish at once leave the project of the plan, where a person takes the side of the last one in a conflict', async () => {
    const { project, workspaces } = await opened();
    const of = await begun(workspaces, (agent, tree) => work(agent, workspaces.folder(tree), true));
    const answered = of.run
      .until((state) => state.approvals.length > 0)
      .then(({ approvals: [question] }) => {
        const answer = { allow: true, scope: 'once', text: 'theirs' } as const;
        return of.run.tell({ do: 'answer', approval: question?.id ?? '', ...answer });
      });
    await Promise.all([finish(of, { order: AGENTS.toReversed(), how: 'at once' }), answered]);
    expect([filesIn(project), git(project, 'log', '--format=%s')]).toEqual([done(true), 'Begin\n']);
  }, 120_000);

  it('whose changes go together leave the same project in whatever order they are merged', async () => {
    const { project, workspaces } = await opened();
    const made = await Promise.all(AGENTS.map((_, at) => workspaces.make(`orders.S${at + 1}.1`, signal)));
    const trees = made.map((one, at) => {
      if (!one.ok) throw new Error(one.fault);
      const [agent = ROOT, tree] = [AGENTS[at], `orders.S${at + 1}.1`];
      work(agent, workspaces.folder(tree), false);
      return { agent, tree, base: one.value.base };
    });
    for (const order of SOME) {
      anew(project);
      const recorder = openRecorder(memoryLog(), SessionId.parse('orders'), fakeWorld());
      for (const tree of trees) recorder.record(created(tree.agent), { type: 'tree.made', ...tree });
      const ends = [];
      for (const agent of order)
        ends.push((await mergeTree({ recorder, workspaces, signal, choose: null }, agent))?.is);
      expect([order, ends, filesIn(project)]).toEqual([order, order.map(() => 'merged'), done(false)]);
    }
  }, 240_000);
});
