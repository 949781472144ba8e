import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openYieldedSlots } from '../../../src/engine/agents/slots.ts';
import type { ScriptedReply } from '../../support/scripted.ts';
import { AGENT, RULES, type Setting, type TestRun, testRun } from '../../support/run.ts';

const S1 = AGENT('ROOT::S1');
const PLAN = { reason: '', tasks: [{ id: 't', description: 'do t', role: 'oracle', maySpawn: true }] };

const tasks = (count: number): ScriptedReply => ({
  text: '',
  calls: Array.from({ length: count }, (_, n) => ({
    tool: 'Task',
    input: { description: `part ${n}`, prompt: `do part ${n}`, subagent_type: 'explore' },
  })),
});

const withChildren = (count: number, child?: Setting['script'], setting: Setting = {}): TestRun =>
  testRun({
    plan: PLAN,
    mode: 'yolo',
    script: (request, n) => {
      if (request.purpose.is !== 'work') return undefined;
      if (request.agent === S1) return n === 0 ? tasks(count) : undefined;
      return child?.(request, n);
    },
    ...setting,
  });

const slots = (value: number): Setting => ({
  rules: { ...RULES, maxParallelAgents: { ...RULES.maxParallelAgents, value } },
});

/** Most agents that had a slot at the same time, by the log. */
function mostAtOnce(run: TestRun): number {
  const busy = new Set<string>();
  let most = 0;
  for (const event of run.events()) {
    if (event.type === 'agent.status' && event.agent !== 'ROOT')
      if (event.status === 'running') busy.add(event.agent);
      else busy.delete(event.agent);
    if (event.type === 'agent.finished') busy.delete(event.agent);
    most = Math.max(most, busy.size);
  }
  return most;
}

describe('Task calls of one reply', () => {
  it('run at the same time, and their results come in the order asked (T012)', async () => {
    let open = 0;
    let release = (): void => {};
    const all = new Promise<void>((resolve) => (release = resolve));
    const run = withChildren(3, async ({ agent }) => {
      open += 1;
      if (open === 3) release();
      // None of them ends before all have begun.
      await all;
      return { text: `${agent} is done` };
    });
    expect((await run.result).success).toBe(true);
    const results = run
      .state()
      .agents.get(S1)
      ?.blocks.flatMap((block) => (block.is === 'tool' ? [block.output] : []));
    expect(results).toEqual(['ROOT::S1::S1 is done', 'ROOT::S1::S2 is done', 'ROOT::S1::S3 is done']);
  });

  it('lend the slot of their parent once and take it back once: never more at work than slots (S152)', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 5 }), async (value, count) => {
        const run = withChildren(count, undefined, slots(value));
        expect((await run.result).success).toBe(true);
        expect(mostAtOnce(run)).toBe(Math.min(value, count));
        const last = run
          .events()
          .findLastIndex((event) => event.type === 'agent.finished' && event.agent.startsWith(`${S1}::`));
        const running = run
          .events()
          .findLastIndex((event) => event.type === 'agent.status' && event.agent === S1 && event.status === 'running');
        expect(running).toBeGreaterThan(last);
      }),
      { numRuns: 20 },
    );
  });

  it('are asked for one at a time, those that are allowed begin meanwhile, and their parent waits', async () => {
    let release = (): void => {};
    const reply = new Promise<void>((resolve) => (release = resolve));
    const child: Setting['script'] = async ({ agent }) => {
      await reply;
      return { text: `${agent} is done` };
    };
    const run = withChildren(2, child, { mode: 'confirm' });
    const first = await run.until((state) => state.approvals.length === 1);
    expect(first.approvals.map(({ request }) => request.exact)).toEqual(['Task(explore): part 0']);
    await run.tell({ do: 'answer', approval: first.approvals[0]?.id ?? '', allow: true, scope: 'once' });
    const second = await run.until(
      ({ approvals, agents }) => approvals.length === 1 && agents.get(AGENT('ROOT::S1::S1'))?.open.length === 1,
    );
    expect(second.approvals.map(({ request }) => request.exact)).toEqual(['Task(explore): part 1']);
    await run.tell({ do: 'answer', approval: second.approvals[0]?.id ?? '', allow: false, scope: 'once' });
    // One was refused, and it still waits for the other: its clock stands.
    expect(run.state().agents.get(S1)?.status).toBe('waiting');
    release();
    expect((await run.result).success).toBe(true);
    expect([...run.state().agents.keys()]).toEqual(['ROOT', S1, 'ROOT::S1::S1']);
  });

  it('are no more than the run may have, though all were let in before one of them had a child (S152)', async () => {
    const run = withChildren(5, undefined, {
      rules: { ...RULES, maxAgentsPerRun: { ...RULES.maxAgentsPerRun, value: 3 } },
    });
    await run.result;
    expect([...run.state().agents.keys()]).toEqual(['ROOT', S1, 'ROOT::S1::S1', 'ROOT::S1::S2']);
  });

  it('end together when their parent is killed (D28)', async () => {
    const run = withChildren(2, () => new Promise<undefined>(() => {}));
    await run.until(({ agents }) => [...agents.values()].filter(({ open }) => open.length > 0).length === 2);
    await run.tell({ do: 'kill', agent: S1 });
    await run.result;
    expect([...run.state().agents.values()].slice(1).map(({ outcome }) => outcome)).toEqual([
      'killed',
      'killed',
      'killed',
    ]);
  });
});

describe('a slot that is lent', () => {
  it('is lent and taken back in turns, whatever begins and ends when', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.integer({ min: 1, max: 6 }), async (scheduler, count) => {
        let out = 0;
        const seen: number[] = [];
        const yieldedSlots = openYieldedSlots(() => {
          out += 1;
          seen.push(out);
          return async () => {
            await scheduler.schedule(Promise.resolve(), 'take back');
            out -= 1;
          };
        });
        const works = Array.from({ length: count }, async (_, n) => {
          await scheduler.schedule(Promise.resolve(), `begin ${n}`);
          await yieldedSlots.during(S1, () => scheduler.schedule(Promise.resolve(), `work ${n}`));
        });
        await scheduler.waitFor(Promise.all(works));
        expect([out, new Set(seen), yieldedSlots.waits(S1)]).toEqual([0, new Set([1]), false]);
      }),
    );
  });
});
