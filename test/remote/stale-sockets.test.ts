/** What is left of processes that were killed. */
import { lutimesSync, mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { socketName } from '../../src/remote/socket-paths.ts';
import { sweep } from '../../src/remote/server.ts';
import { ROOT } from '../../src/domain/ids.ts';
import { freshFolder } from '../support/folder.ts';
import { agentSocketOf, hosted, pathOf, served } from '../support/knocking.ts';

const DAY = 24 * 3600 * 1000;

it('sockets of killed runs go when their run goes on, those of others after a day; who lives is left alone', async () => {
  const state = freshFolder();
  const killed = await hosted(state);
  const folder = dirname(pathOf(killed.where));
  const [own = '', door = ''] = readdirSync(folder).sort();
  killed.child.kill('SIGKILL');
  await new Promise((resolve) => killed.child.once('exit', resolve));
  const lives = await served();
  const [theirs, theirDoor] = [pathOf(lives.where), await agentSocketOf(lives.control)];

  const other = { ...killed.where, name: '0123456789abcdef' };
  await sweep(other, folder, Date.now());
  expect(readdirSync(folder).sort()).toEqual([own, door]);
  // The same session in another process: its doors of before are nobody's; its own socket is its own business.
  await sweep(killed.where, folder, Date.now());
  expect(readdirSync(folder)).toEqual([own]);
  await sweep(other, folder, Date.now() + 2 * DAY);
  expect(readdirSync(folder)).toEqual([]);

  await sweep(lives.where, dirname(theirs), Date.now() + 100 * DAY);
  expect(readdirSync(dirname(theirs)).sort()).toEqual([theirs, theirDoor].map((path) => basename(path)).sort());
});

it('notes that lead nowhere go after a day, outputs after a month, and what is none of ours never', async () => {
  const state = freshFolder();
  const run = join(state, 'run');
  mkdirSync(run, { mode: 0o700 });
  const { where } = await served();
  const at = (name: string, days: number): void => {
    const time = new Date(Date.now() - days * DAY);
    if (name.endsWith('.at')) {
      symlinkSync(name === 'lives.at' ? pathOf(where) : '/nowhere/mimir/0123456789abcdef', join(run, name));
      lutimesSync(join(run, name), time, time);
      return;
    }
    writeFileSync(join(run, name), '');
    utimesSync(join(run, name), time, time);
  };
  at('old.at', 2);
  at('new.at', 0);
  at('lives.at', 2);
  at('old.out', 31);
  at('new.out', 29);
  at('notes.txt', 900);
  at(socketName(where, ROOT), 900);
  await sweep({ ...where, note: join(run, 'x.at') }, run, Date.now());
  expect(readdirSync(run).sort()).toEqual(
    [socketName(where, ROOT), 'lives.at', 'new.at', 'new.out', 'notes.txt'].sort(),
  );
  await sweep(where, join(state, 'nowhere'), Date.now());
});
