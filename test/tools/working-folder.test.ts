/** Where the commands of an agent start: a folder of the project, or nothing is run. Files keep their names from the root. */
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { openPlace, runCommands, USERS } from '../support/boxes.ts';
import { freshFolder, writeFiles } from '../support/repos.ts';
import { workbench } from './workbench.ts';

const SAID = 'run in packages/api, but file tools take paths from the project root';
const refusal = (folder: string, why: string): string =>
  `not run: the commands of this agent start in ${folder}, which cannot be used now (${why}): it must be a folder of the project again`;

describe.each(USERS)('the working folder of a command of the user %s', (user) => {
  it.each(['read-write', 'read-only', 'none'] as const)(
    'S153: is where it starts (%s), and the result says so',
    async (box) => {
      const place = openPlace(user, { 'packages/api/b.txt': 'two\n', 'a.txt': 'one\n' });
      const { texts } = await runCommands(place, ['pwd; ls'], { box, workingDir: 'packages/api' });
      expect(texts).toEqual([`exit code 0 after T; ${SAID}\n${place.project}/packages/api\nb.txt`]);
    },
  );

  it('S153: is refused with words when it is gone, a file, or a link out of the project; nothing runs', async () => {
    const place = openPlace(user, { 'a.txt': 'one\n' });
    symlinkSync(place.other, path.join(place.project, 'out'));
    symlinkSync('nowhere', path.join(place.project, 'dangling'));
    mkdirSync(path.join(place.project, '.git'));
    const wrong = {
      gone: 'gone: no such folder',
      'a.txt': 'a.txt: not a folder',
      out: 'out: leads outside the project through a link',
      dangling: 'dangling: a broken or circular link',
      '../other': '../other: outside the project; paths are relative to its root',
    };
    for (const box of ['read-write', 'none'] as const) {
      for (const [workingDir, why] of Object.entries(wrong)) {
        const { texts } = await runCommands(place, ['touch ran'], { box, workingDir });
        expect(texts).toEqual([refusal(workingDir, why)]);
      }
    }
  });
});

describe('a command with a working folder', () => {
  it('is shown with it to the person who is asked, so that a yes for it holds for no other', async () => {
    const project = freshFolder();
    const tools = workbench(project);
    expect(await tools.preview('bash', { command: 'npm test' }, { workingDir: "it's/api" })).toBe(
      String.raw`cd 'it'\''s/api'` + '\nnpm test',
    );
    expect(await tools.preview('bash', { command: 'npm test' })).toBe('npm test');
  });

  it('has the files there as what a standing yes is bound to', async () => {
    const project = freshFolder();
    writeFiles(project, { 'package.json': '{}', 'packages/api/package.json': '{"name":"api"}' });
    const tools = workbench(project);
    const before = await tools.inputs('bash', { command: 'npm test' }, { workingDir: 'packages/api' });
    expect(before.map((file) => file.path)).toContain('packages/api/package.json');
    writeFileSync(path.join(project, 'packages/api/package.json'), '{"name":"other"}');
    expect(await tools.inputs('bash', { command: 'npm test' }, { workingDir: 'packages/api' })).not.toEqual(before);
    rmSync(path.join(project, 'packages'), { recursive: true });
  });
});
