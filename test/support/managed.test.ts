/** The mount of a managed policy for tests: what the program finds at /etc/mimir, and who it is there. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Home, Ran } from './cli.ts';
import { isRoot, openHome } from './cli.ts';
import { type RunAs, managed, seeing } from './managed.ts';
import { skipWithout } from './needs.ts';

let home: Home;
beforeAll(() => {
  home = openHome();
});
afterAll(() => {
  home.remove();
});

const LOOK = 'id -u; stat -c "%u %a" / /etc /etc/mimir /etc/mimir/policy.yml; cat /etc/mimir/policy.yml';
const WAYS: readonly RunAs[] = isRoot ? ['ordinary', 'root', 'mapped'] : ['mapped'];

it.each(WAYS)('mounts a folder at /etc/mimir that looks like root’s, seen by "%s"', async (as) => {
  const { folder } = managed(home, { files: { 'policy.yml': { text: 'one\n', mode: 0o600 } }, as });
  const look = (): Promise<Ran> => home.run(['-c', LOOK], { program: [...seeing(home, folder, as), 'bash'] });
  const uid = as === 'ordinary' ? 65534 : 0;
  const { out } = await look();
  expect(out.split('\n').slice(0, 5)).toEqual([String(uid), '0 755', '0 755', '0 755', '0 600']);
  writeFileSync(join(folder, 'policy.yml'), 'two\n');
  expect((await look()).out.includes('two')).toBe(as !== 'ordinary');
});

it('runs the program there, with its own home', async () => {
  const ran = await home.run(['--version'], managed(home, { files: { 'policy.yml': '' } }));
  expect({ ...ran, out: /^\d+\.\d+\.\d+\n$/.test(ran.out) }).toEqual({ code: 0, signal: null, out: true, err: '' });
});

it('gives files away: to another user, and to one who is not in the namespace', async ({ skip }) => {
  skipWithout('root', skip);
  const { folder } = managed(home, {
    files: { 'policy.yml': { text: '', owner: 1 } },
    folder: { owner: 2, mode: 0o777 },
  });
  const look = { program: [...seeing(home, folder), 'bash'] };
  const { out } = await home.run(['-c', 'stat -c "%u %a" /etc/mimir /etc/mimir/policy.yml'], look);
  expect(out).toBe('2 777\n1 644\n');
  const unmapped = { program: [...seeing(home, folder, 'mapped'), 'bash'] };
  expect((await home.run(['-c', 'stat -c %u /etc/mimir/policy.yml'], unmapped)).out).toBe('65534\n');
});
