/** What the analyst says of recent changes: since when, where, of which kinds and by whom. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { carry } from './carry.ts';
import { commit, type Files, folderOf } from './folders.ts';
import { below } from './lines.ts';

type Change = readonly [subject: string, author: string, files: Files];

async function linesAfter(changes: readonly Change[], task = 'What changed lately?'): Promise<readonly string[]> {
  const folder = folderOf({ 'src/tea/leaf.ts': '1\n', 'README.md': '# Tea\n' }, { git: true });
  const { root } = folder;
  onTestFinished(() => folder.remove());
  for (const [subject, author, files] of changes) {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(path.join(root, path.dirname(name)), { recursive: true });
      writeFileSync(path.join(root, name), text);
    }
    commit(root, subject, author);
  }
  const { answer } = await carry({ root, role: 'main', task });
  return answer.replaceAll(/\b[0-9a-f]{7} (of )?\d{4}-\d{2}-\d{2}/g, 'COMMIT $1DAY').split('\n');
}

const CHANGES: readonly Change[] = [
  ['fix: Steep no longer', 'Ada', { 'src/tea/leaf.ts': '2\n', 'src/tea/pot.ts': '2\n' }],
  ['Add a cup', 'Bo', { 'src/cup.ts': '2\n', 'test/cup.test.ts': '2\n' }],
  ['Release 1.1', 'Ada', { 'README.md': '# Tea 1.1\n' }],
];

it('recent changes are told since a commit, by folder, kind and author', async () => {
  const lines = await linesAfter(CHANGES);
  expect(lines[0]).toBe(
    'Since COMMIT of DAY, 3 commits change 5 files. The latest is COMMIT of DAY, "Release 1.1" by Ada. By their subjects: features 1, fixes 1, releases 1 (git log, at most 30 commits). No change log was found (list of CHANGE*, HISTORY*, NEWS*, RELEASE*: 0 files).',
  );
  expect(below(lines, 'Changed folders')).toEqual([
    '- `src/tea/`: 2 files in 1 commit, latest COMMIT of DAY',
    '- `src/`: 1 file in 1 commit, latest COMMIT of DAY',
    '- `test/`: 1 file in 1 commit, latest COMMIT of DAY',
    '- the top folder: 1 file in 1 commit, latest COMMIT of DAY',
  ]);
  expect(below(lines, 'Authors')).toEqual([
    '- Ada: 2 commits, latest COMMIT of DAY',
    '- Bo: 1 commit, latest COMMIT of DAY',
  ]);
  expect(below(lines, 'Latest commits')[1]).toBe('- COMMIT DAY Add a cup (Bo, 2 files)');
});

it('recent changes of a folder leave out the others', async () => {
  const [first] = await linesAfter(CHANGES, 'What changed lately in src/tea/?');
  expect(first).toContain('Since COMMIT of DAY, 1 commit changes 2 files of `src/tea`.');
});

it('one commit is said to be the only one, with what it holds', async () => {
  const lines = await linesAfter([]);
  expect(lines[0]).toBe(
    'There is only one commit, COMMIT of DAY, "Begin" by Ada, with 2 files: git has nothing to compare it with (git log: 1 commit). No change log was found (list of CHANGE*, HISTORY*, NEWS*, RELEASE*: 0 files).',
  );
  expect(lines).not.toContain('## Authors');
  expect(below(lines, 'Folders in that commit')).toEqual(['- `src/tea/`: 1 file', '- the top folder: 1 file']);
});
