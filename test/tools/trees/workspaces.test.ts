/** Trees of agents' own: real git and the real sandbox. Nothing reaches the project before the merge, and the merge loses nothing. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ToolContext, ToolOutput } from '../../../src/ports/tool.ts';
import type { Merge, WorkspacePort } from '../../../src/ports/workspace.ts';
import { openSandbox, openTools } from '../../../src/tools/index.ts';
import { needs } from '../../support/needs.ts';
import { freshFolder, git, makeRepository } from '../../support/repos.ts';
import { agent, contextFor } from '../workbench.ts';

needs('git', 'bubblewrap');

const HOME = '/nowhere/home';
const { signal } = new AbortController();

interface Bench {
  readonly folder: string;
  readonly workspaces: WorkspacePort;
  readonly state: string;
  use(tool: string, input: unknown, context?: Partial<ToolContext>): Promise<ToolOutput>;
}

async function bench(folder: string): Promise<Bench> {
  const state = freshFolder();
  const place = { root: folder, home: HOME, stateDir: state };
  const sandbox = await openSandbox(place);
  expect(sandbox.state).toEqual({ is: 'bubblewrap' });
  const port = openTools({ ...place, sandbox });
  if (!port.ok) throw new Error(port.fault);
  const { tools, workspaces } = port.value;
  return {
    folder,
    state,
    workspaces,
    use(name, input, context = {}) {
      const tool = tools.find((one) => one.name === name);
      if (tool === undefined) throw new Error(name);
      const own = { agent: agent('ROOT::S1'), sandbox: 'read-write', workspace: 'one', ...context } as const;
      return tool.run(tool.input.parse(input), contextFor(own));
    },
  };
}

async function made(at: Bench, name = 'one'): Promise<string> {
  const base = await at.workspaces.make(name, signal);
  if (!base.ok) throw new Error(base.fault);
  return base.value.base;
}

async function merged(at: Bench, base: string, name = 'one'): Promise<Merge> {
  const merge = await at.workspaces.merge({ name, base }, signal);
  if (!merge.ok) throw new Error(merge.fault);
  return merge.value;
}

const text = (at: Bench, name: string): string => readFileSync(path.join(at.folder, name), 'utf8');
const bash = (at: Bench, command: string): Promise<ToolOutput> => at.use('bash', { command });
/** Everything in the project and its repository, with modes. */
const digest = (folder: string): string =>
  git(folder, 'status', '--porcelain=v2') + git(folder, 'rev-parse', 'HEAD') + git(folder, 'stash', 'create');

describe('a tree of its own', () => {
  it('has the project as it stands, and gives back what its agent changed, by a merge alone', async () => {
    const folder = makeRepository({ 'a.txt': 'one\ntwo\nthree\n', 'b.txt': 'b\n', '.gitignore': 'out/\n.env\n' });
    writeFileSync(path.join(folder, 'b.txt'), 'mine\n');
    writeFileSync(path.join(folder, 'new.txt'), 'untracked\n');
    writeFileSync(path.join(folder, '.env'), 'KEY=canary\n');
    const at = await bench(folder);
    const base = await made(at);
    const before = digest(folder);
    expect((await at.use('read_file', { path: 'b.txt' })).text).toContain('mine');
    expect((await bash(at, 'cat new.txt; ls -a; git status --short; git log --oneline | wc -l')).text).toContain(
      'untracked',
    );
    expect((await at.use('edit_file', { path: 'b.txt', old_text: 'mine', new_text: 'changed' })).ok).toBe(true);
    const ran = await bash(
      at,
      'sed -i s/one/1/ a.txt; rm new.txt; mkdir d; echo x > d/x.sh; chmod +x d/x.sh; git add -A && git commit -qm mine && git checkout -qb other && git status --short',
    );
    expect(ran.text).toMatch(/^exit code 0/);
    expect(digest(folder)).toBe(before);
    writeFileSync(path.join(folder, 'a.txt'), 'one\ntwo\n3\n');
    const merge = await merged(at, base);
    expect(merge.conflicts).toEqual([]);
    expect(merge.files.map(({ is, path: name }) => `${is} ${name}`)).toEqual([
      'changed a.txt',
      'changed b.txt',
      'added d/x.sh',
      'removed new.txt',
    ]);
    expect(await at.workspaces.apply(merge.ours, merge.merged, signal)).toEqual({ ok: true, value: undefined });
    expect([text(at, 'a.txt'), text(at, 'b.txt'), existsSync(path.join(folder, 'new.txt'))]).toEqual([
      '1\ntwo\n3\n',
      'changed\n',
      false,
    ]);
    expect(text(at, '.env')).toBe('KEY=canary\n');
  });
});
