/** B. Configuration files: what an administrator's file must be, and that nothing else is taken for one. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { Home, Ran } from '../support/cli.ts';
import { isRoot, openHome } from '../support/cli.ts';
import { type Managed, type RunAs, managed } from '../support/managed.ts';
import { skipWithout } from '../support/needs.ts';

const homes: Home[] = [];
afterEach(() => {
  for (const home of homes.splice(0)) home.remove();
});

function fresh(): Home {
  const home = openHome();
  homes.push(home);
  return home;
}

const FINE = 'mode: { max: confirm }\n';

/** What is said of a machine whose folder looks so, and that nothing ran; a start of the program without its rules included. */
async function refused(files: Managed, change: (folder: string) => void = () => undefined): Promise<string> {
  const home = fresh();
  const how = managed(home, files);
  change(how.folder);
  const ran = await home.run(['config', 'show'], how);
  expect({ code: ran.code, out: ran.out }).toEqual({ code: 3, out: '' });
  return wordsOf(ran);
}

const wordsOf = ({ err }: Ran): string => err.split('\n').slice(1).join('\n').trim();
const FILE = '/etc/mimir/policy.yml';

describe('a managed file that somebody else could have written', () => {
  it('B12: refuses the start with the exact reason', async ({ skip }) => {
    skipWithout('root', skip);
    const one = (file: object): Managed => ({ files: { 'policy.yml': { text: FINE, ...file } } });
    const told = [
      await refused(one({ mode: 0o664 })),
      await refused(one({ mode: 0o646 })),
      await refused(one({ owner: 1000 })),
      await refused({ files: { 'policy.yml': FINE }, folder: { mode: 0o777 } }),
      await refused({ files: { 'policy.yml': FINE }, folder: { owner: 1000 } }),
      await refused({ files: { 'policy.yml': { text: FINE, owner: 1000 } }, as: 'mapped' }),
    ];
    expect(told).toEqual([
      `${FILE}: ${FILE} is writable by its group (mode 0664) — run: chmod go-w ${FILE}`,
      `${FILE}: ${FILE} is writable by everyone (mode 0646) — run: chmod go-w ${FILE}`,
      `${FILE}: ${FILE} belongs to user 1000, not to root — run: chown root:root ${FILE}`,
      '/etc/mimir: /etc/mimir is writable by everyone (mode 0777) — run: chmod go-w /etc/mimir',
      '/etc/mimir: /etc/mimir belongs to user 1000, not to root — run: chown root:root /etc/mimir',
      expect.stringContaining(`${FILE} belongs to user 65534, which in a user namespace can be any unknown user`),
    ]);
  });

  it('is refused through a link that leads into a folder of somebody’s', async ({ skip }) => {
    skipWithout('root', skip);
    const home = fresh();
    writeFileSync(join(home.root, 'policy.yml'), FINE);
    const how = managed(home, { files: {} });
    symlinkSync(join(home.root, 'policy.yml'), join(how.folder, 'policy.yml'));
    const ran = await home.run(['config', 'show'], how);
    expect([ran.code, wordsOf(ran)]).toEqual([3, expect.stringMatching(/is writable by everyone \(mode [0-7]{4}\)/)]);
  });
});

describe('a managed file that is none', () => {
  const none = { files: {} };
  const at = (folder: string): string => join(folder, 'policy.yml');

  it('B13: refuses the start at once: a directory, a FIFO, a link that leads nowhere or round, and what can’t be read', async () => {
    const quickly = async (change: (folder: string) => void, as?: RunAs): Promise<string> => {
      const began = performance.now();
      const told = await refused(as === undefined ? none : { ...none, as }, change);
      // The start of the program is in it, on a machine that does other things; a FIFO would block for ever.
      expect(performance.now() - began).toBeLessThan(20_000);
      return told;
    };
    const told = [
      await quickly((folder) => mkdirSync(at(folder))),
      await quickly((folder) => spawnSync('mkfifo', ['-m', '644', at(folder)])),
      await quickly((folder) => symlinkSync('nowhere.yml', at(folder))),
      await quickly((folder) => symlinkSync('policy.yml', at(folder))),
      ...(isRoot ? [await quickly((folder) => writeFileSync(at(folder), FINE, { mode: 0o600 }), 'ordinary')] : []),
    ];
    expect(told).toEqual([
      `${FILE}: is not a regular file — replace it with a plain file, or remove it`,
      `${FILE}: is not a regular file — replace it with a plain file, or remove it`,
      `${FILE}: is a broken symbolic link: /etc/mimir/nowhere.yml does not exist — replace it with a plain file, or remove it`,
      `${FILE}: has too many symbolic links in its path — replace it with a plain file, or remove it`,
      ...(isRoot ? [`${FILE}: cannot be read: no permission — make it readable for everyone: chmod a+r ${FILE}`] : []),
    ]);
  });

  it('is refused under a name that would not be read, and where the folder of them is a file', async () => {
    expect(await refused({ files: { 'policy.d/10.yaml': FINE } })).toBe(
      '/etc/mimir/policy.d/10.yaml: is not read under this name — rename it to end in .yml',
    );
    expect(await refused({ files: { 'policy.d': FINE } })).toBe(
      '/etc/mimir/policy.d: is not a directory — replace it with a directory, or remove it',
    );
  });

  it('B08: is read no further than 64 KiB and a byte', async () => {
    const larger = `${FILE}: is larger than 64 KiB — shorten it`;
    expect(await refused({ files: { 'policy.yml': `#${'x'.repeat(64 * 1024)}` } })).toBe(larger);
    expect(
      await refused({ files: { 'policy.yml': '' } }, (folder) => truncateSync(at(folder), 100 * 1024 * 1024)),
    ).toBe(larger);
  });
});

describe('what a managed file says', () => {
  it('B01, B05, B06, B09, B10, B11: is refused with its place when any of it is wrong', async () => {
    const told = async (text: string): Promise<string> => refused({ files: { 'policy.d/a.yml': text } });
    const all = [
      await told('enforcement: { deniedModels: [o3] }\nenforcement: { deniedModels: [] }\n'),
      await told('%YAML 1.1\n---\nagentOrchestration: { enabled: no }\n'),
      await told('agentOrchestration: { maxNestingDepth: "2" }\n'),
      await told('enforcement: { allowedModel: [haiku-4.5] }\n'),
      await told('mode: { max: confirm }\n---\nmode: { max: yolo }\n'),
      await told('mode: { max: !foo confirm }\n'),
      await told('uii: { ascii: true }\n'),
    ];
    expect(all.map((line) => line.replace('/etc/mimir/policy.d/a.yml:', ''))).toEqual([
      '2:1: duplicate key "enforcement", first used in line 1 — keep one of them',
      '1:1: directives are not accepted — remove this line',
      '1:23: agentOrchestration.maxNestingDepth is "2" — use a number, without quotes',
      '1:16: unknown key enforcement.allowedModel — did you mean "allowedModels"?',
      '2:1: a second document starts here — keep one document, without "---"',
      '1:19: tags (!foo) are not accepted — remove the tag',
      '1:1: unknown key uii — did you mean "ui"?',
    ]);
  });

  it('may be for a newer Mimir only, which is told before anything that this one doesn’t know', async () => {
    const policy = 'minVersion: "9.1"\nenforcement: { somethingNew: true }\n';
    expect(await refused({ files: { 'policy.yml': policy } })).toMatch(
      /^\/etc\/mimir\/policy\.yml:1:1: this policy requires Mimir 9\.1 or later; this is \d+\.\d+\.\d+ — update Mimir$/,
    );
  });

  it('can’t be moved or switched off by a variable, a flag or a file of others', async () => {
    const home = fresh();
    const how = managed(home, { files: { 'policy.yml': FINE } });
    const env = { MIMIR_MANAGED: '/tmp', MIMIR_POLICY: '/tmp', XDG_CONFIG_DIRS: '/tmp', MIMIR_CONFIG: '/tmp' };
    mkdirSync(join(home.project, '.mimir'), { recursive: true });
    writeFileSync(join(home.project, '.mimir/config.yml'), 'mode: { max: yolo }\n');
    writeFileSync(join(home.project, '.env'), 'MIMIR_MANAGED=/tmp\n');
    const ran = await home.run(['config', 'show'], { ...how, env });
    expect(ran.out).toMatch(/mode\.max +confirm +managed \(\/etc\/mimir\/policy\.yml:1\)/);
    const typed = await home.run(['run', 'x', '--yes', '--mode', 'yolo'], { ...how, env });
    expect([typed.code, wordsOf(typed)]).toEqual([
      3,
      expect.stringContaining('is less strict than mode.max: confirm allows'),
    ]);
    rmSync(join(home.project, '.env'));
  });
});
