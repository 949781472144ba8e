/** Providers set up as by default, over the wire: one that accepts calls and never answers, and the one that takes its place. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { providersOf } from '../../src/config/providers/providers.ts';
import { timesOf } from '../support/faulty.ts';
import { openModels } from '../../src/models/open.ts';
import type { Answer } from '../support/double/script.ts';
import { type Double, openDouble } from '../support/double/double.ts';
import { ROLES, RULES, filed, testRun } from '../support/run.ts';
import { until } from '../support/until.ts';
import { fakeWorld } from '../support/world.ts';

async function doubleThat(answer: Answer): Promise<Double> {
  const double = await openDouble(() => answer, { keyless: true });
  onTestFinished(() => double.close());
  return double;
}

describe('a provider that accepts calls and never answers', () => {
  it.each(['anthropic', 'openai-compatible'] as const)(
    'over the wire of %s is left for an allowed fallback within 150 s, by default settings (J05)',
    async (kind) => {
      const silent = await doubleThat({ fault: { is: 'silent', at: 'head' } });
      const pings = await doubleThat({ text: 'x', fault: { is: 'trickle', at: 1, everyMs: 5 } });
      const other = await doubleThat({ text: 'Done.' });
      for (const broken of [silent, pings]) {
        const world = fakeWorld();
        const at = ({ url }: Double): string => (kind === 'anthropic' ? url : `${url}/v1`);
        const providers = providersOf(
          {
            one: { kind, baseUrl: at(broken), models: ['a'] },
            two: { kind, baseUrl: at(other), models: ['b'] },
          },
          {},
          RULES,
        );
        const models = openModels({ aliases: new Map(), world, providers });
        const roles = ROLES.map((role) => ({ ...role, models: ['one/a', 'two/b'] }));
        const asked = broken.asked.length;
        const task = { id: 'a', description: 'do a', role: 'finder', model: 'one/a' };
        const run = testRun({ ...filed({ reason: '', tasks: [task] }), roles, world, models });
        await until(() => broken.asked.length > asked);
        await world.advance(110_000);
        // By this clock no ping comes for long: only of the silent one is it known that it was waited for.
        if (broken === silent) expect(timesOf(run, 'model.fallback')).toEqual([]);
        await world.advance(25_000);
        await until(() => timesOf(run, 'model.fallback').length > 0);
        expect(timesOf(run, 'model.fallback')[0]).toBeLessThanOrEqual(150_000);
        expect((await run.result).success).toBe(true);
      }
    },
  );
});
