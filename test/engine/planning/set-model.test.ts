import { describe, expect, it } from 'vitest';
import { fault, hops, waiting } from '../../support/faulty.ts';
import type { AgentId } from '../../../src/domain/ids.ts';
import type { Command } from '../../../src/ports/controls.ts';
import type { ModelRequest } from '../../../src/ports/model.ts';
import { scriptedModel } from '../../support/scripted.ts';
import {
  AGENT,
  briefOf,
  calling,
  FAST,
  MODELS,
  planOf,
  ROLES,
  RULES,
  type Setting,
  SLOW,
  type TestRun,
  testRun,
} from '../../support/run.ts';
import { eventsOf, held, inSecondTurn, throughTime } from '../../support/run-looks.ts';

const ROOT = AGENT('ROOT');
const S1 = AGENT('ROOT::S1');
const S2 = AGENT('ROOT::S2');
const THIRD = scriptedModel('elsewhere/third', { aliases: ['third'], price: { input: 2, output: 10 } });
const rule = { rule: 'deniedModels: [slow]', layer: 'managed', file: '/etc/mimir.yml', line: 3 } as const;
const give = (agent: AgentId, model: string): Command => ({ do: 'set model', agent, model });

const modelsCalled = (run: TestRun, agent = S1): unknown[] =>
  eventsOf(run, 'model.started', agent).flatMap((event) => (event.type === 'model.started' ? [event.model] : []));

/** Looks, is held in its second turn, looks again there, and answers in its third. */
function looking(setting: Setting = {}): { run: TestRun; go: PromiseWithResolvers<void>; asked: ModelRequest[] } {
  const asked: ModelRequest[] = [];
  const go = Promise.withResolvers<void>();
  const run = testRun({
    plan: planOf(['a'], ['b', 'a']),
    ...setting,
    record: (request) => void (request.agent === S1 && asked.push(request)),
    script: async (request, n) => {
      if (request.agent !== S1) return undefined;
      if (n === 0) return { ...calling('read x'), text: 'looking', usage: { input: 100, output: 10 } };
      if (n === 1) {
        await go.promise;
        return { ...calling('read y'), text: 'again', usage: { input: 200, output: 20 } };
      }
      return { text: 'found it', usage: { input: 300, output: 30 } };
    },
  });
  return { run, go, asked };
}

describe('another model for an agent at work', () => {
  it('holds from its next turn on, with the whole conversation; both parts are charged by their prices', async () => {
    const { run, go, asked } = looking();
    await inSecondTurn(run);
    expect(await run.tell(give(S1, 'slow'))).toBe('finder 1 uses slow from its next turn');
    go.resolve();
    expect((await run.result).success).toBe(true);
    expect(asked.map(({ model }) => model)).toEqual([FAST, FAST, SLOW]);
    expect(
      asked[2]?.turns.map((turn) => (turn.by === 'tools' ? turn.results.map(({ text }) => text) : turn.text)),
    ).toEqual([briefOf('do a'), 'looking', ['read did x'], 'again', ['read did y']]);
    const one = run.state().agents.get(S1);
    expect(one?.byModel.map(({ model, calls, cost }) => [model, calls, cost])).toEqual([
      [FAST, 2, 0.00045],
      [SLOW, 1, 0.00135],
    ]);
    expect([one?.cost, one?.summary, one?.model]).toEqual([
      0.0018,
      'found it',
      { asked: 'slow', used: SLOW, because: null },
    ]);
    // What is promised before the call is by the new price.
    const reserved = eventsOf(run, 'model.started').map(
      (event) => event.type === 'model.started' && event.reserved.cost,
    );
    expect(Number(reserved[2])).toBeGreaterThan(Number(reserved[1]) * 2.5);
  });

  it('falls back by its own list: the first one of the role is on it', async () => {
    const go = Promise.withResolvers<void>();
    const run = testRun({
      plan: planOf(['a']),
      catalogue: [...MODELS, THIRD],
      script: async ({ agent, model }, n) => {
        if (agent !== S1) return undefined;
        if (n === 0) {
          await go.promise;
          return calling('read x');
        }
        return model === THIRD.id ? fault('no credit') : undefined;
      },
    });
    await run.until(({ agents }) => agents.get(S1)?.open.length === 1);
    await run.tell(give(S1, 'third'));
    go.resolve();
    await run.result;
    expect(hops(run)).toEqual([[THIRD.id, FAST, 'no credit: it is no credit']]);
    expect(modelsCalled(run)).toEqual([FAST, THIRD.id, FAST]);
  });

  it('ends a wait for the provider of the former one', async () => {
    const { run } = waiting({
      catalogue: [...MODELS, THIRD],
      script: ({ agent, model }) => (agent === S1 && model === FAST ? fault('overloaded') : undefined),
    });
    await run.until(({ agents }) => agents.get(S1)?.status === 'waiting');
    await run.tell(give(S1, 'third'));
    expect((await run.result).success).toBe(true);
    expect(modelsCalled(run)).toEqual([FAST, THIRD.id]);
    expect(hops(run)).toEqual([]);
  });

  it('comes before the next in the order of fallback, when the former one is given up', async () => {
    const go = Promise.withResolvers<void>();
    const { run, world } = waiting({
      roles: ROLES,
      catalogue: [...MODELS, THIRD],
      script: async ({ agent, model }) => {
        if (agent !== S1 || model !== FAST) return undefined;
        await go.promise;
        return fault('no credit');
      },
    });
    await run.until(({ agents }) => agents.get(S1)?.open.length === 1);
    await run.tell(give(S1, 'third'));
    go.resolve();
    await throughTime(run, world);
    expect(modelsCalled(run)).toEqual([FAST, THIRD.id]);
    expect(hops(run)).toEqual([]);
  });

  it('is kept by a run that is resumed', async () => {
    const { run: first } = looking();
    await inSecondTurn(first);
    await first.tell(give(S1, 'slow'));
    first.stop('enough');
    await first.result;
    const run = testRun({ log: first.log, script: ({ agent }) => (agent === S1 ? { text: 'found it' } : undefined) });
    await run.result;
    expect(modelsCalled(run)).toEqual([FAST, FAST, SLOW]);
    expect(run.state().agents.get(S1)).toMatchObject({ outcome: 'completed', model: { used: SLOW } });
  });

  it('may be given to main as well: it writes the report', async () => {
    const { run, go } = looking();
    await inSecondTurn(run);
    expect(await run.tell(give(ROOT, 'slow'))).toBe('main uses slow from its next turn');
    go.resolve();
    await run.result;
    expect(modelsCalled(run, ROOT)).toEqual([FAST, SLOW]);
  });

  it('is refused with the rule against it, and where nothing could follow', async () => {
    const rules = { ...RULES, deniedModels: [{ written: 'slow', pattern: SLOW, from: rule }] };
    const { run, go } = held({ plan: planOf(['a'], ['b', 'a'], ['c']), rules });
    await inSecondTurn(run);
    await run.until(({ agents }) => agents.get(AGENT('ROOT::S3'))?.outcome === 'completed');
    expect(await run.refused(give(S1, 'slow'))).toBe(
      'refused: finder 1 cannot use slow: not allowed: deniedModels: [slow] (managed, /etc/mimir.yml:3)',
    );
    expect(await run.refused(give(S1, 'nothing'))).toMatch(/^refused: There is no model "nothing"/);
    expect(await run.refused(give(S1, 'fast'))).toBe('refused: finder 1 already uses fast');
    expect(await run.refused(give(S2, 'fast'))).toBe('refused: finder 2 has not begun: change its model in the plan');
    expect(await run.refused(give(AGENT('ROOT::S3'), 'fast'))).toBe('refused: finder 3 has ended and uses no model');
    expect(await run.refused(give(AGENT('ROOT::S9'), 'fast'))).toBe('refused: there is no agent ROOT::S9');
    expect(eventsOf(run, 'agent.model')).toEqual([]);
    go.resolve();
    await run.result;
  });
});
