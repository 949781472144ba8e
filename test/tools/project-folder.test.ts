/** Folders that somebody names for a child to work in: one of the project, however it is written, or words why it is none. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { openTools } from '../../src/tools/index.ts';
import { freshFolder } from '../support/folder.ts';

it('names a folder of the project relative to its root, and nothing that leads out of it (S028, S153)', async () => {
  const [root, other] = [freshFolder(), freshFolder()];
  mkdirSync(path.join(root, 'packages/api'), { recursive: true });
  writeFileSync(path.join(root, 'a.txt'), '');
  symlinkSync(other, path.join(root, 'out'));
  symlinkSync('packages', path.join(root, 'in'));
  const opened = openTools({ root, home: other, stateDir: path.join(other, 'state') });
  if (!opened.ok) throw new Error(opened.fault);
  const folder = async (written: string): Promise<string> => {
    const named = await opened.value.folder?.(written);
    return named === undefined ? 'nobody can tell' : named.ok ? `= ${named.value}` : named.fault;
  };
  expect(
    await Promise.all(
      ['packages/api', './packages/../packages/api/', path.join(root, 'packages'), '.', 'in/api'].map(folder),
    ),
  ).toEqual(['= packages/api', '= packages/api', '= packages', '= ', '= in/api']);
  for (const wrong of [other, '/', '..', 'packages/../..', '~', 'out', 'out/deeper', 'a.txt', 'gone', 'a\u0000b'])
    expect([wrong, (await folder(wrong)).startsWith('=')]).toEqual([wrong, false]);
});
