/** What a process that was killed in the middle of a write leaves behind, and who removes it. */
import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { freshFile, sweepFreshFiles } from '../../../src/tools/process/kept-folders.ts';
import { openTools } from '../../../src/tools/index.ts';
import { freshFolder, makeFolder } from '../../support/repos.ts';
import { workbench } from '../workbench.ts';

const MODULE = path.resolve(import.meta.dirname, '../../../src/tools/process/kept-folders.ts');

/** Another process begins to write a file in `folder`, and is killed. */
function killedWrite(stateDir: string, folder: string): void {
  const script = `
    import { writeFileSync } from 'node:fs';
    const { freshFile } = await import(${JSON.stringify(MODULE)});
    writeFileSync(${JSON.stringify(folder)} + '/' + freshFile(${JSON.stringify(stateDir)}, ${JSON.stringify(folder)}).base, 'half');
    process.kill(process.pid, 'SIGKILL');`;
  expect(spawnSync(process.execPath, ['--input-type=module', '-e', script]).signal).toBe('SIGKILL');
}

const notesIn = (stateDir: string): readonly string[] => readdirSync(path.join(stateDir, 'writing'));

it('is removed when the project is opened the next time, and nothing else is', () => {
  const stateDir = freshFolder();
  const folder = makeFolder({ 'src/a.ts': 'a', 'src/.mimir-0123456789abcdef.tmp': 'of somebody else' });
  killedWrite(stateDir, path.join(folder, 'src'));
  expect(readdirSync(path.join(folder, 'src'))).toHaveLength(3);
  expect(openTools({ root: folder, home: '/nowhere/home', stateDir }).ok).toBe(true);
  expect(readdirSync(path.join(folder, 'src'))).toEqual(['.mimir-0123456789abcdef.tmp', 'a.ts']);
  expect(notesIn(stateDir)).toEqual([]);
});

it('stays while its writer lives', () => {
  const [stateDir, folder] = [freshFolder(), makeFolder({})];
  const { base, done } = freshFile(stateDir, folder);
  writeFileSync(path.join(folder, base), 'half');
  sweepFreshFiles(stateDir);
  expect(readdirSync(folder)).toEqual([base]);
  done();
  expect(notesIn(stateDir)).toEqual([]);
});

it('is none after a write that ended, well or not', async () => {
  const folder = makeFolder({ 'a.ts': 'a\n' });
  const tools = workbench(folder);
  await tools.use('write_file', { path: 'b.ts', content: 'b' });
  await tools.use('write_file', { path: 'b.ts', content: 'c', digest: '0000000000000000' });
  expect(execFileSync('ls', ['-A', folder], { encoding: 'utf8' })).toBe('a.ts\nb.ts\n');
});
