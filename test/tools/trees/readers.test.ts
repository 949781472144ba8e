/** Whoever reads a file while a merge or an undo changes it reads the old or the new one. Real git, and a reader in another process. */
import { chmodSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { openSandbox, openTools } from '../../../src/tools/index.ts';
import { ended, start } from '../../support/child.ts';
import { needs } from '../../support/needs.ts';
import { freshFolder, makeRepository } from '../../support/repos.ts';
import { agent, contextFor } from '../workbench.ts';
import { ALICE, working } from '../changes/acts.ts';

needs('git', 'bubblewrap');

const READER = path.join(import.meta.dirname, '../../support/read-child.ts');
const { signal } = new AbortController();
const NAMES = Array.from({ length: 20 }, (_, at) => `f${at}`);
const content = (letter: string): string => letter.repeat(1_000_000);
const OLD = Object.fromEntries(NAMES.map((name) => [name, content('o')]));
/** Gives each file another content. */
const CHANGE = `for f in f*; do tr o n < $f > x && cat x > $f; done; rm x`;

/** What another process sees of the files while `work` goes on. */
async function seenDuring(folder: string, work: () => Promise<unknown>): Promise<unknown> {
  const child = start(process.execPath, [READER, ...NAMES.map((name) => path.join(folder, name))]);
  const reading = Promise.withResolvers<void>();
  const end = ended(child, (out) => (out.includes('reading\n') ? reading.resolve() : undefined));
  await Promise.race([reading.promise, end]);
  await work();
  child.kill('SIGTERM');
  return JSON.parse((await end).out.replace('reading\n', ''));
}

const leftovers = (folder: string): readonly string[] =>
  readdirSync(folder).filter((name) => name.startsWith('.mimir'));

describe('a reader in another process', () => {
  it('sees the old or the new content of each file that a merge replaces, and the permissions stay', async () => {
    const folder = makeRepository(OLD);
    chmodSync(path.join(folder, 'f7'), 0o600);
    const place = { root: folder, home: '/nowhere/home', stateDir: freshFolder() };
    const port = openTools({ ...place, sandbox: await openSandbox(place) });
    if (!port.ok) throw new Error(port.fault);
    const { tools, workspaces } = port.value;
    const base = await workspaces.make('one', signal);
    if (!base.ok) throw new Error(base.fault);
    const bash = tools.find(({ name }) => name === 'bash');
    const own = { agent: agent('ROOT::S1'), sandbox: 'read-write', workspace: 'one' } as const;
    await bash?.run(bash.input.parse({ command: `${CHANGE}; chmod +x f7` }), contextFor(own));
    const seen = await seenDuring(folder, async () => {
      const merge = await workspaces.merge({ name: 'one', base: base.value.base }, signal);
      if (!merge.ok) throw new Error(merge.fault);
      expect(await workspaces.apply(merge.value.ours, merge.value.merged, signal)).toMatchObject({ ok: true });
    });
    expect([seen, statSync(path.join(folder, 'f7')).mode & 0o777]).toEqual([['n 1000000', 'o 1000000'], 0o700]);
    expect(leftovers(folder)).toEqual([]);
  });

  it('sees the same of an undo, and of taking it back', async () => {
    const folder = makeRepository(OLD);
    const worked = working(folder);
    await worked.act(ALICE, 'bash', { command: CHANGE });
    const label = { session: 'run-1', agent: ALICE };
    const files = await worked.changes.without(await worked.authored(), { agent: ALICE }, signal);
    if (!files.ok) throw new Error(files.fault);
    const undone = await seenDuring(folder, async () => worked.changes.undo(files.value, label));
    const back = await seenDuring(folder, async () => worked.changes.back(label));
    expect([undone, back, leftovers(folder)]).toEqual([['n 1000000', 'o 1000000'], ['n 1000000', 'o 1000000'], []]);
  });

  it('sees the same where the change of a command is put back, whose version is kept', async () => {
    const folder = makeRepository(OLD);
    const place = { root: folder, home: '/nowhere/home', stateDir: freshFolder() };
    const port = openTools({ ...place, sandbox: await openSandbox(place) });
    if (!port.ok) throw new Error(port.fault);
    const bash = port.value.tools.find(({ name }) => name === 'bash');
    const command = 'for f in f?*; do tr o n < $f > new && mv new $f; done';
    const held = contextFor({ agent: ALICE, sandbox: 'read-write', writes: ['other.txt'] });
    let said = '';
    const seen = await seenDuring(folder, async () => {
      said = (await bash?.run(bash.input.parse({ command }), held))?.text ?? '';
    });
    const [, kept = ''] = /the versions of the command are in (\S+?)\. /.exec(said) ?? [];
    expect([seen, NAMES.map((name) => readFileSync(path.join(kept, name), 'latin1').slice(0, 1)).join('')]).toEqual([
      ['n 1000000', 'o 1000000'],
      'n'.repeat(NAMES.length),
    ]);
    expect(readFileSync(path.join(folder, 'f3'), 'latin1')).toBe(OLD['f3']);
  });
});
