/** Copies of files that a command could change: each goes back with its own content. */
import { lstatSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { keptFiles } from '../../../src/tools/writes/kept.ts';
import { freshFolder } from '../../support/folder.ts';

it('puts back each file with its own content, also where one was a link before', async () => {
  const [root, folder] = [freshFolder(), freshFolder()];
  const place = (name: string): string => path.join(root, name);
  const kept = keptFiles(root, folder);
  const keep = (name: string): Promise<boolean> =>
    kept.keep(new Map([[name, lstatSync(place(name), { bigint: true })]]));
  symlinkSync('nowhere', place('first'));
  writeFileSync(place('second'), 'two');
  expect([await keep('first'), await keep('second')]).toEqual([true, true]);
  rmSync(place('first'));
  writeFileSync(place('first'), 'one');
  writeFileSync(place('third'), 'three');
  expect([await keep('first'), await keep('third')]).toEqual([true, true]);
  const names = ['first', 'second', 'third'];
  for (const name of names) {
    writeFileSync(place(name), 'changed');
    await kept.putBack(name);
  }
  expect(names.map((name) => readFileSync(place(name), 'utf8'))).toEqual(['one', 'two', 'three']);
});
