/** What a worker does with a step that was given to it: its own sandbox holds, whatever the step says. */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { openPerformer, openSettings } from '../../../src/app/cluster/index.ts';
import { readConfig } from '../../../src/app/workspace/config.ts';
import { faultText, type Loaded, placesOf } from '../../../src/config/index.ts';
import type { SharedStore, TreeAt } from '../../../src/distributed/index.ts';
import { openSandbox, openTools } from '../../../src/tools/index.ts';
import { freshFolder } from '../../support/folder.ts';
import { needs } from '../../support/needs.ts';
import { commitAll, makeRepository } from '../../support/repos.ts';
import { until } from '../../support/until.ts';

needs('git', 'bubblewrap');

const { signal } = new AbortController();

/** The project of a run as it travels, and a store that has it. */
async function sent(): Promise<{ readonly part: Buffer; readonly store: SharedStore }> {
  const root = makeRepository({ 'a.txt': 'one\n' });
  commitAll(root, 'first');
  const place = { root, home: '/nowhere/home', stateDir: freshFolder() };
  const tools = openTools({ ...place, sandbox: await openSandbox(place) });
  if (!tools.ok) throw new Error(tools.fault);
  const tree = await tools.value.workspaces.make('one', signal);
  const packed = tree.ok ? await tools.value.transport.pack({ name: 'one', base: tree.value.base }, signal) : tree;
  if (!packed.ok) throw new Error(packed.fault);
  const { packs, ...rest } = packed.value;
  return {
    part: Buffer.from(JSON.stringify({ packed: rest, packs: packs.map((_, at) => String(at)) })),
    store: {
      keep: () => Promise.resolve('kept'),
      read: (ids) => Promise.resolve(ids.map((id) => Buffer.from(packs[Number(id)] ?? []))),
      keepTree: () => Promise.resolve(),
      trees: () => Promise.resolve([]),
      keepPlace: () => Promise.resolve(),
      places: () => Promise.resolve([]),
    },
  };
}

const OUTPUT = z.object({ ok: z.boolean(), text: z.string() });

/** A worker that lets a person allow everything, and how a command is given to it. */
async function worker() {
  const home = freshFolder();
  const project = { root: home, places: placesOf({ HOME: home }, home) };
  const read = (): Loaded => {
    const found = readConfig(project, { HOME: home }, {}, 'look');
    if (!found.ok) throw new Error(found.fault.map(faultText).join('; '));
    const { config } = found.value;
    return { ...config, rules: { ...config.rules, maxMode: { ...config.rules.maxMode, value: 'confirm' as const } } };
  };
  const write = (text: string): void => {
    mkdirSync(project.places.config, { recursive: true });
    writeFileSync(join(project.places.config, 'config.yml'), text, { mode: 0o600 });
  };
  const settings = openSettings(read(), read, () => undefined);
  const { part, store } = await sent();
  const folder = join(home, 'agents');
  const performer = openPerformer({ project, settings, folder }, store);
  let at: TreeAt = { chain: 'c', n: 0, commit: null };
  const run = async (command: string, { workflow = 'first', sandbox = 'read-write' } = {}): Promise<string> => {
    const body = JSON.stringify({ is: 'tool', tool: 'bash', input: { command }, context: { agent: 'S1', sandbox } });
    const done = await performer.perform({ workflow, body, tree: at, parts: [part] }, signal, () => undefined);
    if (done.tree !== undefined) at = { chain: 'c', n: done.tree.n, commit: done.tree.commit };
    return OUTPUT.parse(JSON.parse(done.output)).text;
  };
  return { performer, folder, run, write };
}

const commandIn = async (sandbox: string, command: string): Promise<string> =>
  (await worker()).run(command, { sandbox }).catch(String);

it.each(['none', 'other', ''])('runs no command where the step names "%s" as its sandbox', async (sandbox) => {
  const made = join(freshFolder(), 'made');
  expect(await commandIn(sandbox, `touch ${made}`)).toBe(
    'Error: denied on the worker: commands run only in its sandbox',
  );
  expect(existsSync(made)).toBe(false);
});

it.each(['read-only', 'read-write'])('runs a command in its sandbox where the step asks for %s', async (sandbox) => {
  const made = join(freshFolder(), 'made');
  expect(await commandIn(sandbox, `echo done; touch ${made}`)).toContain('\ndone\n');
  expect(existsSync(made)).toBe(false);
});

it('keeps the tree of a workflow when one that came before it ends later', async () => {
  const { performer, run } = await worker();
  await run('true');
  await run('echo two > two.txt', { workflow: 'second' });
  performer.ended('first');
  // The store has no state of the tree from which it could be made anew.
  expect(await run('cat two.txt', { workflow: 'second' })).toMatch(/\ntwo$/);
});

it('removes a tree without holding up anything else', async () => {
  const { performer, folder, run } = await worker();
  await run('true');
  performer.ended('first');
  expect(readdirSync(folder)).toHaveLength(1);
  await until(() => readdirSync(folder).length === 0);
});

it('follows its own configuration while it works: what a command may read, and what is denied', async () => {
  const { run, write } = await worker();
  const reads = (): Promise<string> => run('cat a.txt').catch(String);
  expect(await reads()).toMatch(/\none$/);
  write('sandbox: { fs: { denyRead: ["a.txt"] } }\n');
  expect(await reads()).toMatch(/cat: a.txt: Permission denied/);
  write('sandbox: {');
  expect(await reads()).toMatch(/^Error: denied on the worker: its configuration cannot be read: .*config.yml:1/);
  write('commands: { deny: ["cat *"] }\n');
  expect(await reads()).toMatch(/^Error: denied on the worker: commands.deny: "cat \*"/);
  write('{}\n');
  expect(await reads()).toMatch(/\none$/);
});
