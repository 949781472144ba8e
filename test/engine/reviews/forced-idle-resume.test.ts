import { describe, expect, it } from 'vitest';
import { SessionId } from '../../../src/domain/ids.ts';
import { gatesOf, memoryProject } from '../../support/forced.ts';
import { always, ended, isReview, judged } from '../../support/forced-idle.ts';
import { say, waits } from '../../support/idle.ts';
import { cutLog, lengthsOf, memoryLog } from '../../support/log.ts';
import { AGENT } from '../../support/run.ts';
import { fakeWorld } from '../../support/world.ts';

const SESSION = SessionId.parse('test-session');
const ROOT = AGENT('ROOT');
const C1 = AGENT('ROOT::S1');
const never = new Promise<undefined>(() => {});
const NOTHING_FOUND = 'passed: nothing found';

describe('a run without a plan that is stopped before its work is judged', () => {
  it('stops at once, says that the review is to come, and has it made first when it goes on (D11)', async () => {
    const project = memoryProject();
    const run = always({ project, script: (request) => (isReview(request) ? never : undefined) });
    await say(run, 'write it');
    await run.until(({ agents }) => agents.get(C1)?.open.length === 1);
    await say(run, 'and more');
    expect(await run.tell({ do: 'stop run', reason: 'Ctrl-C' })).toBe(
      'stopping; `mimir resume` continues it; the review by security is pending and will run first',
    );
    expect(await run.result).toMatchObject({ status: 'stopped' });
    expect(run.state().gates).toMatchObject([{ open: false, due: {}, upTo: 0 }]);

    const before = run.events().length;
    const next = always({ project, log: run.log });
    await next.until((state) => judged(2)(state) && state.messages.every(({ delivered }) => delivered));
    const since = next.events().slice(before);
    const began = since.flatMap((event) => (event.type === 'model.started' ? [event.agent] : []));
    expect(began.findIndex((agent) => agent === ROOT)).toBeGreaterThan(0);
    const gate = since.findIndex((event) => event.type === 'forced.gate' && event.open);
    const root = since.findIndex((event) => event.type === 'model.started' && event.agent === ROOT);
    expect(gate).toBeLessThan(root);
    await ended(next);
  });

  it('is handed over in the midst of work: that goes on there, and is judged when it rests (H022)', async () => {
    const project = memoryProject();
    const go = Promise.withResolvers<void>();
    const run = always({
      project,
      script: async (request) => {
        if (!isReview(request)) await go.promise;
        return undefined;
      },
    });
    await say(run, 'write it');
    await run.until(({ agents }) => agents.get(ROOT)?.open.length === 1);
    const given = run.tell({ do: 'hand over', how: 'when quiet' });
    go.resolve();
    await given;
    const before = run.events().length;
    const next = always({ project, log: run.log });
    await next.until(judged(1));
    const since = next.events().slice(before);
    expect(since.flatMap((event) => (event.type === 'tool.finished' ? [event.tool] : []))).toEqual([
      'put',
      'give_verdict',
    ]);
    await ended(next);
  });

  it('is cut off anywhere: what was done is judged by whoever goes on, once', async () => {
    const project = memoryProject();
    const lengths: number[] = [];
    const whole = always({ project, log: lengthsOf(memoryLog(), lengths) });
    await say(whole, 'write it');
    await whole.until(judged(1));
    const events = whole.events();
    await ended(whole);
    const from = events.findIndex(({ type }) => type === 'message.sent') + 1;
    for (const length of lengths.filter((one) => one >= from && one <= events.length)) {
      let names = 0;
      const name = (): string => `again-${(names += 1)}`;
      const run = always({
        project,
        log: cutLog(SESSION, events.slice(0, length)),
        world: { ...fakeWorld(), name },
      });
      const at = `cut after ${length}: ${events[length - 1]?.type}`;
      const state = await run.until(
        (now) => waits(now) && now.gates.length > 0 && now.gates.every(({ due }) => due === undefined),
      );
      expect([at, state.gates.map(({ open, why }) => [open, why])]).toEqual([at, [[true, NOTHING_FOUND]]]);
      await ended(run);
    }
  });

  it('is not asked to judge by a rule that is gone', async () => {
    const run = always({ script: (request) => (isReview(request) ? never : undefined) });
    await say(run, 'write it');
    await run.until(({ agents }) => agents.get(C1)?.open.length === 1);
    await ended(run);
    const next = always({ log: run.log, forced: [] });
    await next.until(({ gates }) => gates[0]?.open === true);
    expect(gatesOf(next)).toEqual([[ROOT, 'always', true, 'no rule requires it any more']]);
    await ended(next);
  });
});
