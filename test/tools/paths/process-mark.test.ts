/** Whose mark counts as a living process's: what the dead have left is removed by others. */
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { expect, it } from 'vitest';
import { isAlive, leftByDead, ownMark } from '../../../src/tools/paths/root.ts';
import { makeFolder } from '../../support/repos.ts';

const MODULE = path.resolve(import.meta.dirname, '../../../src/tools/paths/root.ts');

/** The mark of a process that has ended. */
function deadMark(): string {
  const script = `console.log((await import(${JSON.stringify(MODULE)})).ownMark());`;
  return spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' }).stdout.trim();
}

it('a mark is its own each time, and its process lives', () => {
  const [one, other] = [ownMark(), ownMark()];
  expect(one).not.toBe(other);
  expect([isAlive(one), isAlive(other)]).toEqual([true, true]);
});

it('the mark of a process that has ended is of no living one, nor is one of a number that was given again', () => {
  const again = ownMark().replace(/^(\d+)\.\d+\./, '$1.1.');
  expect([isAlive(deadMark()), isAlive(again)]).toEqual([false, false]);
});

it('lists what the dead have left, and nothing of a folder that is not there', () => {
  const dead = deadMark();
  const folder = makeFolder({ [dead]: '', [ownMark()]: '' });
  expect(leftByDead(folder)).toEqual([dead]);
  expect(leftByDead(path.join(folder, 'none'))).toEqual([]);
});
