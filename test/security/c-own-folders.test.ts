/** C. Mimir's own folders: what a project can't be, so that no agent writes what the next start believes. */
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { SMALL, openHome } from '../support/cli.ts';

it('the folder of the configuration, the ones above it and those in it are no projects, and doctor says so', async () => {
  const home = openHome(SMALL);
  try {
    mkdirSync(join(home.config, 'agents'), { recursive: true });
    for (const folder of [join(home.config, '..'), home.config, join(home.config, 'agents')]) {
      const ran = await home.run(['run', 'Write a role', '--yes', '--cwd', folder]);
      expect([ran.code, ran.err]).toEqual([
        2,
        expect.stringMatching(/a folder of Mimir's own .*go into a project folder/),
      ]);
      const doctor = await home.run(['doctor', '--cwd', folder]);
      expect(doctor.out).toContain("a folder of Mimir's own");
    }
    expect(readdirSync(home.config)).toEqual(['agents']);
  } finally {
    home.remove();
  }
});
