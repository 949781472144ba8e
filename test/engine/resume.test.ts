import { describe, expect, it } from 'vitest';
import { SessionId } from '../../src/domain/ids.ts';
import { UNKNOWN_EFFECT } from '../../src/events/turns.ts';
import type { MimirEvent } from '../../src/events/event.ts';
import { committed } from '../../src/events/queries.ts';
import { cutLog, lengthsOf, type MemoryLog, memoryLog } from '../support/log.ts';
import { fakeWorld } from '../support/world.ts';
import { AGENT, calling, MODELS, planOf, RULES, type Setting, type TestRun, testRun } from '../support/run.ts';

const SESSION = SessionId.parse('test-session');
const S1 = AGENT('ROOT::S1');
const S2 = AGENT('ROOT::S2');
const ROOT = AGENT('ROOT');

/** The log of a run that was cut off after its first `length` events. */
const cut = (events: readonly MimirEvent[], length: number): MemoryLog => cutLog(SESSION, events.slice(0, length));

/** Two tasks: one reads, then writes with the person's leave; the other needs it. Then the merge. */
const story = (acts: string[]): Setting => ({
  plan: planOf(['o1'], ['o2', 'o1']),
  acts,
  script: ({ agent, purpose }, n) => {
    if (agent !== S1 || purpose.is !== 'work') return undefined;
    if (n === 0) return { ...calling('read a'), text: 'looking' };
    return n === 1 ? calling('write b') : undefined;
  },
});

/** Says yes to whatever is asked, from now to the end of the run. */
async function allowAll(run: TestRun): Promise<void> {
  for await (const event of run.controls.events(run.state().seq)) {
    if (event.type === 'approval.requested')
      await run.tell({ do: 'answer', approval: event.approval, allow: true, scope: 'once' });
  }
}

async function whole(lengths: number[] = []): Promise<TestRun> {
  const run = testRun({ ...story([]), log: lengthsOf(memoryLog(), lengths) });
  await Promise.all([allowAll(run), run.result]);
  return run;
}

describe('a run that is cut off at any event', () => {
  it('is resumed to the same report: no effect twice, no finished agent again, all money once (D11, K)', async () => {
    const lengths: number[] = [];
    const events = (await whole(lengths)).events();
    expect(lengths.length).toBeGreaterThan(20);
    for (const length of lengths.slice(0, -1)) {
      const before = events.slice(0, length);
      const log = cut(events, length);
      const acts: string[] = [];
      let names = 0;
      const name = (): string => `again-${(names += 1)}`;
      const run = testRun({ ...story(acts), log, world: { ...fakeWorld(), name } });
      await Promise.all([allowAll(run), run.result]);
      const state = run.state();
      const at = `cut after ${length}: ${before.at(-1)?.type}`;

      expect([at, state.finished?.status, state.finished?.summary]).toEqual([at, 'completed', 'merged']);
      expect(run.events().map(({ seq }) => seq)).toEqual(run.events().map((__, index) => index + 1));
      // The write was begun before the cut, or is begun after it: never both.
      const begun = run.events().filter((event) => event.type === 'tool.started' && event.tool === 'write').length;
      expect([at, begun]).toEqual([at, 1]);
      const finished = before.flatMap((event) => (event.type === 'agent.finished' ? [event.agent] : []));
      const after = run.events().slice(length);
      const ranAgain = after.filter((event) => event.type === 'model.started' && finished.includes(event.agent));
      expect([at, ranAgain]).toEqual([at, []]);
      // Every settled call is counted once; one that was cut off stays charged as uncertain.
      const settled = run.events().reduce((sum, event) => sum + (event.type === 'model.finished' ? event.cost : 0), 0);
      const ended = new Set(run.events().flatMap((event) => (event.type === 'model.finished' ? [event.call] : [])));
      const open = run
        .events()
        .reduce(
          (sum, event) => sum + (event.type === 'model.started' && !ended.has(event.call) ? event.reserved.cost : 0),
          0,
        );
      expect(state.finished?.totals.cost).toBeCloseTo(settled, 9);
      expect(committed(state, ROOT).reservedCost).toBeCloseTo(open, 9);
    }
  });

  it('tells the model of an effect that may have happened, and does not repeat it (2.9)', async () => {
    const events = (await whole()).events();
    const started = events.findIndex((event) => event.type === 'tool.started' && event.tool === 'write');
    const acts: string[] = [];
    const told: unknown[] = [];
    const { script, ...rest } = story(acts);
    const run = testRun({
      ...rest,
      log: cut(events, started + 1),
      script: (request, n) => {
        const last = request.turns.at(-1);
        if (request.agent === S1 && last?.by === 'tools') told.push(last.results.map(({ ok, text }) => [ok, text]));
        return script?.(request, n);
      },
    });
    expect((await run.result).success).toBe(true);
    expect(acts).toEqual([]);
    expect(told).toEqual([[[false, UNKNOWN_EFFECT]]]);
    expect(
      run
        .state()
        .agents.get(S1)
        ?.blocks.filter((block) => block.is === 'tool' && block.ok === null),
    ).toEqual([]);
  });

  it('asks again what was asked when it ended', async () => {
    const events = (await whole()).events();
    const asked = events.findIndex((event) => event.type === 'approval.requested');
    const acts: string[] = [];
    const run = testRun({ ...story(acts), log: cut(events, asked + 2) });
    const { approvals } = await run.until((state) => state.approvals.length === 1 && state.seq > asked + 2);
    expect(approvals[0]?.request.exact).toBe('write b');
    await run.tell({ do: 'answer', approval: approvals[0]?.id ?? '', allow: true, scope: 'once' });
    await run.result;
    expect(acts).toEqual(['write b']);
  });

  it('does not count the time in between (D19)', async () => {
    const events = (await whole()).events();
    const length = events.findIndex((event) => event.type === 'model.started' && event.agent === S1) + 1;
    const log = cut(events, length);
    const run = testRun({
      ...story([]),
      log,
      runBudget: { maxDuration: 1000 },
      world: { ...testRun().world, now: () => Date.UTC(2026, 5, 1) },
    });
    await Promise.all([allowAll(run), run.result]);
    expect(run.state().finished?.status).toBe('completed');
    expect(run.state().agents.get(S1)?.ranMs).toBe(0);
  });

  it('goes on under the limits of now, not those of its start (D11)', async () => {
    const events = (await whole()).events();
    const length = events.findIndex((event) => event.type === 'plan.approved') + 1;
    const run = testRun({ ...story([]), log: cut(events, length), runBudget: { maxTokens: 10 }, person: false });
    expect(await run.result).toMatchObject({ success: false, overBudget: true });
  });
});

describe('a resumed run', () => {
  it('goes on with what the run stopped for its limit, once the limit is higher (D11, O092)', async () => {
    const script: Setting['script'] = ({ agent, purpose }, n) =>
      agent === S1 && purpose.is === 'work' && n === 0 ? { ...calling('read a'), usage: { output: 8000 } } : undefined;
    const first = testRun({ plan: planOf(['a'], ['b', 'a']), runBudget: { maxTokens: 8_500 }, person: false, script });
    expect(await first.result).toMatchObject({ success: false, overBudget: true });
    const outcomes = (run: TestRun): unknown[] => [S1, S2].map((id) => run.state().agents.get(id)?.outcome);
    expect(outcomes(first)).toEqual(['partial', 'skipped']);

    const same = testRun({ log: first.log, runBudget: { maxTokens: 8_500 }, person: false, script });
    expect(await same.result).toMatchObject({ success: false, overBudget: true });
    expect(outcomes(same)).toEqual(['partial', 'skipped']);

    const higher = testRun({ log: first.log, runBudget: { maxTokens: 90_000 }, person: false, script });
    expect(await higher.result).toMatchObject({ success: true, overBudget: false });
    expect(outcomes(higher)).toEqual(['completed', 'completed']);
    const reads = higher.events().filter((event) => event.type === 'tool.started' && event.agent === S1);
    expect(reads.length).toBe(1);
  });

  it('shows the plan again that waited for the person', async () => {
    const first = testRun({ approval: 'person', plan: planOf(['a']) });
    const { planDigest } = await first.until(({ phase }) => phase === 'approving');
    first.stop('crash');
    await first.result;
    const run = testRun({
      approval: 'person',
      log: first.log,
      script: ({ purpose }) => (purpose.is === 'plan' ? { text: '' } : undefined),
    });
    await run.until(({ phase, agents }) => phase === 'approving' && agents.get(ROOT)?.status === 'waiting');
    expect(run.state().planDigest).toBe(planDigest);
    await run.tell({ do: 'approve plan', digest: planDigest });
    expect((await run.result).success).toBe(true);
  });

  it('that was completed or rejected ends at once with the same result and writes nothing', async () => {
    for (const approval of ['flag', 'nobody'] as const) {
      const first = testRun({ approval });
      const result = await first.result;
      const length = first.events().length;
      const run = testRun({ approval, log: first.log });
      expect(await run.result).toEqual(result);
      expect(run.events().length).toBe(length);
      expect(await run.refused({ do: 'stop run', reason: '' })).toBe('refused: the run has ended');
    }
  });

  it('goes on with a child and with the parent that waits for it (D14)', async () => {
    const never = new Promise<undefined>(() => {});
    const spawning = {
      text: '',
      calls: [{ tool: 'Task', input: { description: 'look', prompt: 'look there', subagent_type: 'explore' } }],
    };
    const plan = { reason: '', tasks: [{ id: 'o', description: 'do o', role: 'oracle', maySpawn: true }] };
    const first = testRun({
      plan,
      mode: 'yolo',
      script: ({ agent, purpose }) => (purpose.is !== 'work' ? undefined : agent === S1 ? spawning : never),
    });
    await first.until(({ agents }) => agents.get(AGENT('ROOT::S1::S1'))?.open.length === 1);
    const log = cut(first.events(), first.events().length);
    first.stop('end of the test');
    await first.result;
    const run = testRun({ log, mode: 'yolo' });
    expect((await run.result).status).toBe('completed');
    const states = [...run.state().agents.values()].slice(1).map(({ id, outcome, error }) => [id, outcome, error]);
    expect(states).toEqual([
      [S1, 'completed', null],
      ['ROOT::S1::S1', 'completed', null],
    ]);
  });

  it('says in words when a model of its plan is not configured any more', async () => {
    const first = testRun({ plan: planOf(['a'], ['b']), approval: 'person' });
    await first.until(({ phase }) => phase === 'approving');
    await first.tell({ do: 'approve plan', digest: first.state().planDigest });
    first.stop('later');
    await first.result;
    const run = testRun({ log: first.log, catalogue: MODELS.slice(1), rules: RULES, person: false });
    expect((await run.result).status).toBe('failed');
    expect([S1, S2].map((id) => run.state().agents.get(id)?.error)).toEqual([
      'no provider for scripted/fast is configured any more',
      'no provider for scripted/fast is configured any more',
    ]);
  });
});

describe('a resumed run of many agents', () => {
  it('reads its log a few times, not once for every agent (NUMBERS)', async () => {
    const log = memoryLog();
    const plan = planOf(...Array.from({ length: 24 }, (_, n) => [`f${n}`] as const));
    const never = new Promise<undefined>(() => {});
    const first = testRun({
      plan,
      log,
      script: ({ purpose }, n) => (purpose.is !== 'work' ? undefined : n === 0 ? calling('read a') : never),
    });
    await first.until(({ agents }) => [...agents.values()].filter(({ open }) => open.length > 0).length === 4);
    first.stop('crash');
    await first.result;
    let reads = 0;
    const run = testRun({
      log: {
        ...log,
        read: (session, after) => ((reads += 1), log.read(session, after)),
        each: (session, after) => ({
          [Symbol.iterator]: () => ((reads += 1), log.read(session, after)[Symbol.iterator]()),
        }),
      },
    });
    const { success } = await run.result;
    expect([success, reads < 10]).toEqual([true, true]);
  });
});
