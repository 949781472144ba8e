/** Transcripts of child sessions in the folder that the person names. */
import { existsSync, readFileSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { archiveChildren, archiveFolder, archiveProblem } from '../../../src/app/project/child-archive.ts';
import { acting, LED, rulesWith, says, spawns } from '../../support/children.ts';
import { freshFolder } from '../../support/folder.ts';
import type { TestRun } from '../../support/run.ts';

/** A leader with one child beside it, and another task without. */
const run = (): TestRun =>
  acting(
    { 'ROOT::S1': [spawns('ROOT::S1', { prompt: 'look at the locks' })], 'ROOT::S1::S1': [says('All locks hold.')] },
    {
      plan: LED,
    },
  );

async function archivedIn(folder: string): Promise<string | null> {
  const one = run();
  const archived = archiveChildren(one.controls, folder);
  await one.result;
  return archived;
}

describe('the archive of child sessions', () => {
  it('S105, S128: has what each spawned child was told and said, for this user alone', async () => {
    const folder = join(freshFolder(), 'deep/transcripts');
    expect(await archivedIn(folder)).toBe(null);
    const [file = '', ...others] = readdirSync(folder);
    expect(others).toEqual([]);
    expect(file).toMatch(/-S1-S1\.md$/);
    const text = readFileSync(join(folder, file), 'utf8');
    expect(text).toContain('look at the locks');
    expect(text).toContain('All locks hold.');
    expect(statSync(join(folder, file)).mode & 0o777).toBe(0o600);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  });

  it('takes the place of a link of its name, and never writes through it', async () => {
    const [folder, other] = [freshFolder(), join(freshFolder(), 'theirs')];
    await archivedIn(folder);
    const [file = ''] = readdirSync(folder);
    const fresh = freshFolder();
    symlinkSync(other, join(fresh, file));
    await archivedIn(fresh);
    expect(existsSync(other)).toBe(false);
    expect(readFileSync(join(fresh, file), 'utf8')).toContain('All locks hold.');
  });

  it('fails no run where it can not be written, and says why', async () => {
    const file = join(freshFolder(), 'file');
    writeFileSync(file, '');
    expect(archiveProblem(join(file, 'deeper'))).toBe(`${file} is no folder`);
    expect(archiveProblem(join(freshFolder(), 'a/b'))).toBe(null);
    expect(await archivedIn(file)).toMatch(/cannot be written: a file is in the place of a directory$/);
  });

  it('S105: is nowhere unless the rules name a folder', async () => {
    expect(archiveFolder({}, '/h')).toBe(null);
    expect(archiveFolder(rulesWith({ archivePath: '~/t' }), '/h')).toBe('/h/t');
    expect(archiveFolder(rulesWith({ archivePath: '/t' }), '/h')).toBe('/t');
    const one = run();
    expect(await archiveChildren(one.controls, null)).toBe(null);
    await one.result;
  });
});
