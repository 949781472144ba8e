import { expect, it } from 'vitest';
import { ROOT } from '../../../src/domain/ids.ts';
import { type ForcedSetting, memoryProject, verdict, writing } from '../../support/forced.ts';
import { always, ended, isReview, judged } from '../../support/forced-idle.ts';
import { say, waits, wish } from '../../support/idle.ts';
import { AGENT } from '../../support/run.ts';
import { fakeWorld } from '../../support/world.ts';

const S1 = AGENT('ROOT::S1');
const never = new Promise<undefined>(() => {});
const TWENTY_MINUTES = 1_200_000;

/** What reviewers are told first, one text each. */
const listening = (told: string[]): Pick<ForcedSetting, 'record'> => ({
  record: (request) => {
    const [first] = request.turns;
    if (isReview(request) && request.turns.length === 1 && first?.by === 'user') told.push(first.text);
  },
});

it('judges what was done beside a review that was cut off, though no file is other than it was', async () => {
  const world = fakeWorld();
  const project = memoryProject();
  const told: string[] = [];
  const go = Promise.withResolvers<void>();
  let holds = true;
  let before: number | null = null;
  const setting: ForcedSetting = { project, world, ...listening(told) };
  const run = always({
    ...setting,
    script: async (request) => {
      if (isReview(request)) return holds ? never : undefined;
      const said = request.turns.filter(({ by }) => by === 'model').length;
      if (said === 0) return writing('a.txt', 'x');
      if (said === 1) await go.promise;
      return said === 1 ? writing('a.txt', 'x', 'shell') : never;
    },
  });
  await say(run, 'go on for ever');
  await run.until(({ agents }) => agents.get(ROOT)?.toolCalls === 1 && agents.get(ROOT)?.open.length === 1);
  await world.advance(TWENTY_MINUTES);
  await run.until(({ agents }) => agents.get(S1)?.open.length === 1);
  go.resolve();
  await run.until(({ agents }) => agents.get(ROOT)?.toolCalls === 2 && agents.get(ROOT)?.open.length === 1);
  await ended(run);
  holds = false;
  const next = always({
    ...setting,
    log: run.log,
    script: (request) => {
      if (isReview(request)) return undefined;
      before ??= told.length;
      return Promise.resolve({ text: 'done' });
    },
  });
  await next.until(({ agents, gates }) => agents.get(S1)?.outcome === 'completed' && gates.every(({ due }) => !due));
  expect(told.map((text) => text.includes('main did: sh a.txt'))).toEqual([false, false, true]);
  await next.until(() => before !== null);
  expect(before).toBe(3);
  await ended(next);
});

it('tells the next reviewer what one that came to no verdict was told', async () => {
  const told: string[] = [];
  let count = 0;
  const run = always({
    ...listening(told),
    script: (request) => {
      if (!isReview(request)) return undefined;
      if (request.turns.length === 1) count += 1;
      if (count === 1) return Promise.resolve({ fault: { is: 'refused', message: 'no' } } as const);
      return request.turns.length === 1 ? Promise.resolve(verdict(true)) : undefined;
    },
  });
  await say(run, 'write it');
  await run.until(judged(1));
  await say(run, 'write more');
  await run.until(judged(2));
  expect(told[1]?.split('main did: put a.txt').length).toBe(3);
  await say(run, 'write even more');
  await run.until(judged(3));
  expect(told[2]?.split('main did: put a.txt').length).toBe(2);
  await ended(run);
});

it('keeps what the review will need back from the first call of a spawned child as well', async () => {
  const held = Promise.withResolvers<undefined>();
  const run = always({
    runBudget: { maxTokens: 45_000 },
    script: (request) => (isReview(request) ? undefined : held.promise),
  });
  await run.until(waits);
  await run.controls.submit({ do: 'spawn', parent: ROOT, wish: wish('write', { role: 'oracle', name: 'first' }) });
  const state = await run.until(({ agents }) => agents.get(S1)?.open.length === 1);
  expect(state.gates[0]?.due?.keeps.maxTokens).toBe(40_000);
  expect(state.agents.get(S1)?.open[0]?.tokens).toBe(5000);
  await ended(run);
});
