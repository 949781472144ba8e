/** Trees between machines: what a run packs, a worker unpacks, works in, and sends back state by state. */
import { appendFileSync, chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { PackedTree, TransportPort, TreeStep, WorkspacePort } from '../../../src/ports/workspace.ts';
import type { Result } from '../../../src/domain/result.ts';
import { openSandbox, openTools, placeProject, toolEnvironment } from '../../../src/tools/index.ts';
import { needs } from '../../support/needs.ts';
import { commitAll, freshFolder, git, makeRepository } from '../../support/repos.ts';

needs('git', 'bubblewrap');

const { signal } = new AbortController();

const given = <T>(result: Result<T, string>): T => {
  if (!result.ok) throw new Error(result.fault);
  return result.value;
};

type Trees = WorkspacePort & TransportPort;

async function workspacesOf(root: string, stateDir = freshFolder()): Promise<Trees> {
  const place = { root, home: '/nowhere/home', stateDir };
  const tools = given(openTools({ ...place, sandbox: await openSandbox(place) }));
  return { ...tools.workspaces, ...tools.transport };
}

/** A repository with a history, changes that are not committed, and a file that git does not know. */
function project(): string {
  const folder = makeRepository({ 'a.txt': 'one\n', 'src/b.txt': 'two\n', 'gone.txt': 'x\n', '.gitignore': 'out\n' });
  commitAll(folder, 'first');
  writeFileSync(path.join(folder, 'a.txt'), 'one\nmore\n');
  commitAll(folder, 'second');
  writeFileSync(path.join(folder, 'src/b.txt'), 'two, not committed\n');
  writeFileSync(path.join(folder, 'fresh.txt'), 'unknown to git\n');
  writeFileSync(path.join(folder, 'out'), 'ignored\n');
  rmSync(path.join(folder, 'gone.txt'));
  return folder;
}

/** The tree of a run and the same on another machine. */
async function sent(folder: string): Promise<{
  readonly here: Trees;
  readonly there: Trees;
  readonly packed: PackedTree;
  readonly place: string;
}> {
  const here = await workspacesOf(folder);
  const { base } = given(await here.make('one', signal));
  const packed = given(await here.pack({ name: 'one', base }, signal));
  const [place, state] = [path.join(freshFolder(), 'project'), freshFolder()];
  given(await placeProject(place, state, toolEnvironment(freshFolder()), packed, signal));
  const there = await workspacesOf(place, state);
  return { here, there, packed, place };
}

it('a project arrives with its history, its files, and what is not committed', async () => {
  const folder = project();
  const { there, packed, place } = await sent(folder);
  expect(git(place, 'log', '--format=%s')).toBe(git(folder, 'log', '--format=%s'));
  expect(git(place, 'branch', '--show-current')).toBe(git(folder, 'branch', '--show-current'));
  expect(git(place, 'status', '--porcelain')).toBe(git(folder, 'status', '--porcelain'));
  expect(readFileSync(path.join(place, 'src/b.txt'), 'utf8')).toBe('two, not committed\n');
  expect(given(await there.make('one', signal)).base).toBe(packed.base);
});

it('each state of a tree follows the one before, and the last is the tree on both sides', async () => {
  const { here, there, packed } = await sent(project());
  const { base } = given(await there.make('one', signal));
  const tree = there.folder('one');
  const next = async (commit: string): Promise<TreeStep> => {
    const step = given(await there.stepSince('one', base, commit, signal));
    if (step === null) throw new Error('nothing has changed');
    return step;
  };
  appendFileSync(path.join(tree, 'a.txt'), 'by an agent\n');
  const first = await next(packed.content);
  rmSync(path.join(tree, 'src/b.txt'));
  writeFileSync(path.join(tree, 'new.bin'), Buffer.from([0, 255, 1, 254]));
  chmodSync(path.join(tree, 'fresh.txt'), 0o755);
  const second = await next(first.commit);
  expect(given(await there.stepSince('one', base, second.commit, signal))).toBeNull();
  given(await here.follow('one', [first.pack, second.pack], second.commit, signal));
  const [mine, theirs] = [
    given(await here.merge({ name: 'one', base }, signal)),
    given(await there.merge({ name: 'one', base }, signal)),
  ];
  expect(mine.theirs).toBe(theirs.theirs);
  expect(mine.files.map(({ path: name, is }) => `${is} ${name}`)).toEqual([
    'changed a.txt',
    'changed fresh.txt',
    'added new.bin',
    'removed src/b.txt',
  ]);
});

it('a tree continues on a third machine where the last state ended', async () => {
  const { there, packed } = await sent(project());
  const { base } = given(await there.make('one', signal));
  writeFileSync(path.join(there.folder('one'), 'a.txt'), 'changed\n');
  const step = given(await there.stepSince('one', base, packed.content, signal));
  const [place, state] = [path.join(freshFolder(), 'project'), freshFolder()];
  const packs = [...packed.packs, ...(step === null ? [] : [step.pack])];
  given(await placeProject(place, state, toolEnvironment(freshFolder()), { ...packed, packs }, signal));
  const third = await workspacesOf(place, state);
  const from = { of: 'one', ours: packed.base, content: `${step?.commit}^{tree}` };
  expect(given(await third.make('one', signal, from)).base).toBe(base);
  expect(readFileSync(path.join(third.folder('one'), 'a.txt'), 'utf8')).toBe('changed\n');
  expect(given(await third.stepSince('one', base, step?.commit ?? '', signal))).toBeNull();
});

it('a repository without a commit travels as well', async () => {
  const folder = freshFolder();
  git(folder, 'init', '--quiet', '--initial-branch=main');
  writeFileSync(path.join(folder, 'a.txt'), 'only here\n');
  const { there, packed, place } = await sent(folder);
  expect(packed.head).toBeNull();
  expect(git(place, 'status', '--porcelain')).toBe('?? a.txt\n');
  expect(given(await there.make('one', signal)).base).toBe(packed.base);
});
