/** C. Mimir's own folders: what a project can't be, so that no agent writes what the next start believes. */
import { mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { checkRoot } from '../../src/tools/index.ts';
import { SMALL, openHome } from '../support/cli.ts';
import { freshFolder } from '../support/folder.ts';

const NO_RULES = { denyRead: [], denyWrite: [], allowWrite: [] };

it('the folder of the configuration, the ones above it and those in it are no projects, and doctor says so', async () => {
  const home = openHome(SMALL);
  try {
    mkdirSync(join(home.config, 'agents'), { recursive: true });
    for (const folder of [join(home.config, '..'), home.config, join(home.config, 'agents')]) {
      const ran = await home.run(['run', 'Write a role', '--yes', '--cwd', folder]);
      expect([ran.code, ran.err]).toEqual([
        2,
        expect.stringMatching(/a folder that belongs to Mimir .*use a project folder/),
      ]);
      const doctor = await home.run(['doctor', '--cwd', folder]);
      expect(doctor.out).toContain('a folder that belongs to Mimir');
    }
    expect(readdirSync(home.config)).toEqual(['agents']);
  } finally {
    home.remove();
  }
});

it('the folders of the state and the cache are no projects either', async () => {
  const home = openHome(SMALL);
  try {
    mkdirSync(join(home.state, 'projects'), { recursive: true });
    const caches = join(home.root, 'cache');
    const cache = join(caches, 'mimir');
    mkdirSync(cache, { recursive: true });
    for (const folder of [home.state, join(home.state, 'projects'), cache]) {
      const env = { XDG_CACHE_HOME: caches };
      const ran = await home.run(['run', 'Write a note', '--yes', '--cwd', folder], { env });
      expect([folder, ran.code, ran.err]).toEqual([
        folder,
        2,
        expect.stringContaining('a folder that belongs to Mimir'),
      ]);
    }
  } finally {
    home.remove();
  }
});

it('a project holds no folder of Mimir’s own and lies in none, under whatever name, there yet or not', () => {
  const folder = freshFolder();
  const own = join(folder, 'home/.config/mimir');
  mkdirSync(own, { recursive: true });
  mkdirSync(join(own, 'agents'));
  mkdirSync(join(folder, 'project'));
  symlinkSync(own, join(folder, 'alias'));
  const place = {
    home: '/nowhere',
    state: '/nowhere/state',
    rules: { ...NO_RULES, own: [join(folder, 'alias'), own] },
  };
  const said = (name: string): unknown => {
    const checked = checkRoot(join(folder, name), place);
    return checked.ok ? checked.value.rules.denyWrite.map((rule) => rule.path) : checked.fault.replaceAll(folder, '');
  };
  const [holds, lies] = [
    'contains a folder that belongs to Mimir (/alias)',
    'is inside a folder that belongs to Mimir (/alias)',
  ];
  const where = 'use a project folder';
  expect(['home', 'home/.config', 'alias', 'home/.config/mimir/agents', 'project'].map(said)).toEqual([
    `/home: ${holds}; ${where}`,
    `/home/.config: ${holds}; ${where}`,
    `/alias: ${holds}; ${where}`,
    `/home/.config/mimir/agents: ${lies}; ${where}`,
    [join(folder, 'alias'), own],
  ]);
  const missing = { ...place, rules: { ...NO_RULES, own: [join(folder, 'project/not/yet/mimir')] } };
  expect(checkRoot(join(folder, 'project'), missing).ok).toBe(false);
});
