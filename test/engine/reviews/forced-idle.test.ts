import { describe, expect, it } from 'vitest';
import { forcing, gatesOf, reviewers, verdict, writing } from '../../support/forced.ts';
import { always, ended, isReview, judged } from '../../support/forced-idle.ts';
import { say, waits, wish } from '../../support/idle.ts';
import { AGENT, RULES } from '../../support/run.ts';
import { fakeWorld } from '../../support/world.ts';

const ROOT = AGENT('ROOT');
const C1 = AGENT('ROOT::S1');
const TEN_MINUTES = 600_000;
const never = new Promise<undefined>(() => {});
const NOTHING_FOUND = 'passed: nothing found';

describe('a run without a plan whose rules have all work judged', () => {
  it('O138: judges each burst once when it is at rest, with what was done in it and what that changed', async () => {
    const told: string[] = [];
    const run = always({
      record: (request) => {
        const [first] = request.turns;
        if (isReview(request) && request.turns.length === 1 && first?.by === 'user') told.push(first.text);
      },
    });
    await run.until(waits);
    expect(gatesOf(run)).toEqual([]);
    await say(run, 'write it');
    await run.until(judged(1));
    await say(run, 'write it again');
    const state = await run.until(judged(2));
    expect(gatesOf(run)).toEqual([[ROOT, 'always', true, NOTHING_FOUND]]);
    expect(state.agents.get(C1)).toMatchObject({
      forced: { trigger: 'always' },
      task: 'review what was done (always, 1 file)',
      tools: ['give_verdict'],
    });
    expect(told.length).toBe(2);
    expect(told[0]).toContain('+words 1');
    expect(told[0]).toContain('main did: put a.txt');
    expect(told[1]).toContain('-words 1\n+words 2');
    expect(told[1]?.split('main did: put a.txt').length).toBe(2);
    await ended(run);
  });

  it('O138: judges work that changed no file as well: the rule asks for all', async () => {
    const run = always({
      script: (request) => (isReview(request) ? undefined : Promise.resolve({ text: 'hello yourself' })),
    });
    for (const count of [1, 2]) {
      await say(run, 'hello');
      await run.until(judged(count));
    }
    expect(gatesOf(run)).toEqual([[ROOT, 'always', true, NOTHING_FOUND]]);
    await ended(run);
  });

  it('O138: judges what a spawned child did though nobody ever spoke to main, when all of them rest', async () => {
    const go = Promise.withResolvers<void>();
    const run = always({
      script: async (request) => {
        if (request.agent === 'ROOT::S2') await go.promise;
        return undefined;
      },
    });
    await run.until(waits);
    for (const name of ['first', 'second'])
      await run.controls.submit({ do: 'spawn', parent: ROOT, wish: wish('write', { role: 'oracle', name }) });
    await run.until(({ agents }) => agents.get(C1)?.outcome === 'completed');
    expect([reviewers(run), run.state().gates.map(({ due }) => due !== undefined)]).toEqual([[], [true]]);
    go.resolve();
    await run.until(judged(1));
    expect(reviewers(run)).toEqual(['ROOT::S3']);
    await ended(run);
  });

  it('does not ask twice about what was judged as it was written', async () => {
    const run = always({ forced: [forcing(['always', 'on-write'])] });
    await say(run, 'write it');
    await run.until(judged(1));
    expect(gatesOf(run)).toEqual([
      [ROOT, 'on-write', true, NOTHING_FOUND],
      [ROOT, 'always', true, NOTHING_FOUND],
    ]);
    await ended(run);
  });

  it('O137: says what did not pass, and judges that again with what mends it', async () => {
    let pass = false;
    const run = always({
      script: (request) =>
        isReview(request) && request.turns.length === 1 ? verdict(pass, 'a.txt:1: a secret') : undefined,
    });
    await say(run, 'write it');
    const first = await run.until(judged(1));
    await run.until(({ agents }) => JSON.stringify(agents.get(ROOT)?.blocks.at(-1)).includes('a secret'));
    expect(first.gates).toMatchObject([{ open: false, onFailure: 'block' }]);
    pass = true;
    await say(run, 'write it well');
    await run.until(judged(2));
    expect(gatesOf(run)).toEqual([[ROOT, 'always', true, NOTHING_FOUND]]);
    await ended(run);
  });

  it('keeps what the review will need back from the limits of the run', async () => {
    const held = Promise.withResolvers<undefined>();
    const run = always({
      runBudget: { maxTokens: 200_000 },
      script: (request) => (isReview(request) ? undefined : held.promise),
    });
    await say(run, 'write it');
    const state = await run.until(({ agents }) => agents.get(ROOT)?.open.length === 1);
    const keeps = state.gates[0]?.due?.keeps.maxTokens ?? 0;
    const promised = state.agents.get(ROOT)?.open[0]?.tokens ?? Infinity;
    expect(keeps).toBeGreaterThanOrEqual(40_000);
    expect(promised).toBeLessThanOrEqual(200_000 - keeps);
    await ended(run);
  });
});

describe('nothing that agents do keeps their work from being judged', () => {
  it('not a turn that never ends: after fifteen minutes it is judged beside the work, and again after that', async () => {
    const world = fakeWorld();
    const replies: (() => void)[] = [];
    const run = always({
      world,
      // Nor does it need a slot, which it would have to wait for.
      rules: { ...RULES, maxParallelAgents: { ...RULES.maxParallelAgents, value: 1 } },
      script: async (request) => {
        if (isReview(request)) return undefined;
        await new Promise<void>((resolve) => void replies.push(resolve));
        return writing('a.txt', `piece ${replies.length}`);
      },
    });
    await say(run, 'go on for ever');
    for (const count of [1, 2]) {
      await run.until(({ agents }) => agents.get(ROOT)?.open.length === 1);
      await world.advance(TEN_MINUTES);
      replies.at(-1)?.();
      await run.until(({ agents }) => agents.get(ROOT)?.toolCalls === 2 * count - 1);
      expect(reviewers(run)).toHaveLength(count - 1);
      await world.advance(TEN_MINUTES);
      await run.until(({ agents }) => [...agents.values()].filter((one) => one.outcome !== null).length === count);
      replies.at(-1)?.();
      await run.until(({ agents }) => agents.get(ROOT)?.toolCalls === 2 * count);
    }
    expect(run.state().gates).toMatchObject([{ open: false, due: {} }]);
    await ended(run);
  });

  it('not work that ends while what was done before it is judged: it is judged as well', async () => {
    const world = fakeWorld();
    const [work, review] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const run = always({
      world,
      script: async (request) => {
        await (isReview(request) ? review : work).promise;
        return isReview(request) ? undefined : { text: 'only words' };
      },
    });
    await say(run, 'take your time');
    await run.until(({ agents }) => agents.get(ROOT)?.open.length === 1);
    await world.advance(2 * TEN_MINUTES);
    await run.until(({ agents }) => agents.get(C1)?.open.length === 1);
    work.resolve();
    await run.until(waits);
    review.resolve();
    await run.until(judged(2));
    await ended(run);
  });

  it('not a kill or a word of its own end (S050)', async () => {
    const run = always({
      script: async (request) => {
        if (isReview(request) || request.agent !== ROOT) return undefined;
        if (request.turns.length === 1)
          await run.controls.submit({ do: 'complete', agent: ROOT, status: 'completed', message: 'all well' }, ROOT);
        return undefined;
      },
    });
    await say(run, 'write it');
    await run.until(judged(1));
    const [review = ''] = reviewers(run);
    const killed = await run.controls.submit({ do: 'kill', agent: AGENT(review) }, ROOT);
    expect(killed).toMatchObject({ ok: false });
    await ended(run);
  });

  it('a person may kill the review: its gate stays closed, and the next one judges it all', async () => {
    let holds = true;
    const run = always({ script: (request) => (isReview(request) && holds ? never : undefined) });
    await say(run, 'write it');
    await run.until(({ agents }) => agents.get(C1)?.open.length === 1);
    await run.tell({ do: 'kill', agent: C1 });
    const state = await run.until(judged(1));
    expect(state.gates).toMatchObject([{ open: false, why: 'it did not finish (killed: killed by you)' }]);
    holds = false;
    await say(run, 'write more');
    await run.until(judged(2));
    expect(gatesOf(run)).toEqual([[ROOT, 'always', true, NOTHING_FOUND]]);
    await ended(run);
  });
});
