/**
 * `kill -9` of the process that carries a run, at any moment and several times over. A few seeds here; as many as MIMIR_TEST_KILLS says,
 * from MIMIR_TEST_KILL_SEED on.
 */
import { describe, expect, it } from 'vitest';
import { needs } from '../support/needs.ts';
import { brokenBySeed } from '../support/random-kills.ts';

const FIRST = Number(process.env['MIMIR_TEST_KILL_SEED'] ?? 1);
const SEEDS = Array.from({ length: Number(process.env['MIMIR_TEST_KILLS'] ?? 3) }, (_, at) => FIRST + at);
/** So many at once: each waits for the boxes of its commands most of the time. */
const AT_ONCE = 3;
const TOGETHER = SEEDS.flatMap((_, at) => (at % AT_ONCE === 0 ? [SEEDS.slice(at, at + AT_ONCE)] : []));

describe('a run that is killed at any moment', () => {
  needs('bubblewrap');

  it.each(TOGETHER.map((seeds) => ({ seeds })))(
    'does nothing twice, loses no child, no letter and no cost, and ends each agent once: seeds $seeds (S151, S156, D11, D14)',
    async ({ seeds }) => {
      const all = await Promise.all(seeds.map(brokenBySeed));
      expect(all.flatMap(({ broken }) => broken)).toEqual([]);
      // Otherwise this shows nothing: hardly a run comes to its end before its moment.
      expect(all.some(({ kills }) => kills > 0)).toBe(true);
    },
    300_000,
  );
});
