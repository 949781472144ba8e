import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SessionId } from '../../src/domain/ids.ts';
import type { MimirEvent } from '../../src/events/event.ts';
import type { ScriptedReply } from '../support/scripted.ts';
import { cutLog, lengthsOf, memoryLog } from '../support/log.ts';
import { AGENT, calling, filed, RULES, type Setting, type TestRun, testRun } from '../support/run.ts';
import { fakeWorld } from '../support/world.ts';

const SESSION = SessionId.parse('test-session');
const S1 = AGENT('ROOT::S1');
const CHILD = AGENT('ROOT::S1::S1');
const PLAN = { reason: '', tasks: [{ id: 't', description: 'do t', role: 'oracle', maySpawn: true }] };
const never = new Promise<undefined>(() => {});

const task = (prompt: string, subagent_type = 'explore'): NonNullable<ScriptedReply['calls']>[number] => ({
  tool: 'Task',
  input: { description: prompt, prompt, subagent_type },
});

/** One agent that calls for two children at once, each of which reads and answers; then it writes, and is done. */
const story = (acts: string[] = []): Setting => ({
  ...filed(PLAN),
  acts,
  script: ({ agent, purpose }, n) => {
    if (purpose.is !== 'work') return undefined;
    if (agent !== S1) return n === 0 ? calling(`read ${agent}`) : { text: `${agent} found it` };
    if (n === 0) return { text: '', calls: [task('look here'), task('look there')] };
    return n === 1 ? calling('write b') : undefined;
  },
});

async function allowAll(run: TestRun): Promise<void> {
  for await (const event of run.controls.events(run.state().seq)) {
    if (event.type === 'approval.requested')
      await run.tell({ do: 'answer', approval: event.approval, allow: true, scope: 'once' });
  }
}

const count = (events: readonly MimirEvent[], holds: (event: MimirEvent) => boolean): number =>
  events.filter(holds).length;

const taskResults = (events: readonly MimirEvent[]): readonly string[] =>
  events.flatMap((event) =>
    event.type === 'tool.finished' && event.agent === S1 && event.tool === 'Task' ? [event.output] : [],
  );

describe('Task calls of a run that is cut off at any event', () => {
  it('go on with the children they have made: one of each, one result each, one question each (D11, T012, T020)', async () => {
    const lengths: number[] = [];
    const whole = testRun({ ...story(), log: lengthsOf(memoryLog(), lengths) });
    await Promise.all([allowAll(whole), whole.result]);
    const events = whole.events();
    expect(taskResults(events)).toEqual(['ROOT::S1::S1 found it', 'ROOT::S1::S2 found it']);
    expect(lengths.length).toBeGreaterThan(30);
    for (const length of lengths.slice(0, -1)) {
      const before = events.slice(0, length);
      let names = 0;
      const name = (): string => `again-${(names += 1)}`;
      const run = testRun({ ...story(), log: cutLog(SESSION, before), world: { ...fakeWorld(), name } });
      await Promise.all([allowAll(run), run.result]);
      const at = `cut after ${length}: ${before.at(-1)?.type}`;
      const all = run.events();
      const agents = [...run.state().agents.values()].map(({ id, outcome }) => `${id} ${outcome}`);
      expect([at, agents.toSorted()]).toEqual([
        at,
        ['ROOT completed', 'ROOT::S1 completed', 'ROOT::S1::S1 completed', 'ROOT::S1::S2 completed'],
      ]);
      expect([at, taskResults(all).toSorted()]).toEqual([at, ['ROOT::S1::S1 found it', 'ROOT::S1::S2 found it']]);
      const begun = (event: MimirEvent): boolean => event.type === 'tool.started' && event.tool === 'Task';
      expect([at, count(all, begun)]).toEqual([at, 2]);
      // What had begun had been allowed: it is not asked for again.
      const asked = count(
        all.slice(length),
        (event) => event.type === 'approval.requested' && event.request.action === 'spawn',
      );
      expect([at, asked]).toEqual([at, 2 - count(before, begun)]);
      expect([at, run.state().finished?.status]).toEqual([at, 'completed']);
    }
  });

  it('do so however often it is cut off, stopped or handed over in between (D11, H022)', async () => {
    const whole = testRun({ ...story(), mode: 'yolo' });
    await whole.result;
    const cuts = fc.array(
      fc.record({ after: fc.integer({ min: 1, max: 40 }), how: fc.constantFrom('cut', 'stop', 'hand over') }),
      { minLength: 1, maxLength: 4 },
    );
    await fc.assert(
      fc.asyncProperty(cuts, async (all) => {
        const acts: string[] = [];
        let names = 0;
        const begin = (events: readonly MimirEvent[]): TestRun =>
          testRun({
            ...story(acts),
            mode: 'yolo',
            log: cutLog(SESSION, events),
            world: { ...fakeWorld(), name: () => `name-${(names += 1)}` },
          });
        let events: readonly MimirEvent[] = [];
        for (const { after, how } of all) {
          const run = begin(events);
          const from = events.length;
          await run.until(({ seq, finished }) => seq >= from + after || finished !== null);
          // What is in the log at this moment is all that a crash would leave.
          if (how === 'cut') events = run.events();
          if (how === 'hand over') await run.controls.submit({ do: 'hand over', how: 'when quiet' });
          run.stop('Ctrl-C');
          await run.result;
          if (how !== 'cut') events = run.events();
        }
        const last = begin(events);
        expect((await last.result).status).toBe('completed');
        expect(taskResults(last.events()).toSorted()).toEqual(['ROOT::S1::S1 found it', 'ROOT::S1::S2 found it']);
        expect([...last.state().agents.values()].map(({ outcome }) => outcome)).toEqual(Array(4).fill('completed'));
        expect(count(last.events(), (event) => event.type === 'tool.started' && event.tool === 'Task')).toBe(2);
        expect(count(last.events(), (event) => event.type === 'tool.started' && event.tool === 'write')).toBe(1);
      }),
      { numRuns: 60 },
    );
  });

  it('take the end of a child that had ended, and ask it nothing more', async () => {
    const whole = testRun({ ...story(), mode: 'yolo' });
    await whole.result;
    const events = whole.events();
    const ended = events.findIndex((event) => event.type === 'agent.finished' && event.agent === CHILD);
    const asked: string[] = [];
    const run = testRun({
      ...story(),
      mode: 'yolo',
      log: cutLog(SESSION, events.slice(0, ended + 1)),
      record: ({ agent }) => void asked.push(agent),
    });
    await run.result;
    expect([asked.includes(CHILD), taskResults(run.events())]).toEqual([
      false,
      expect.arrayContaining(['ROOT::S1::S1 found it']),
    ]);
  });
});

describe('a Task call of a run that was stopped', () => {
  const stopped = async (setting: Setting = {}): Promise<TestRun> => {
    const first = testRun({
      ...story(),
      mode: 'yolo',
      script: (request, n) => {
        if (request.agent === S1 || request.purpose.is !== 'work') return story().script?.(request, n);
        return n === 0 ? calling('read x') : never;
      },
      ...setting,
    });
    await first.until(({ agents }) => agents.get(CHILD)?.open.length === 1 && agents.get(CHILD)?.iterations === 2);
    first.stop('Ctrl-C');
    await first.result;
    return first;
  };

  it('stays open with its child, and the child goes on with its conversation (T018, S131)', async () => {
    const first = await stopped();
    expect(taskResults(first.events())).toEqual([]);
    expect(first.state().agents.get(CHILD)).toMatchObject({ status: 'interrupted', outcome: null });
    const seen: number[] = [];
    const run = testRun({
      ...story(),
      mode: 'yolo',
      log: first.log,
      record: ({ agent, turns }) => void (agent === CHILD && seen.push(turns.length)),
    });
    expect((await run.result).status).toBe('completed');
    expect(seen).toEqual([3]);
    expect(taskResults(run.events()).toSorted()).toEqual(['ROOT::S1::S1 found it', 'ROOT::S1::S2 found it']);
  });

  it('is refused by the rules of now, and its child ends with it (2.3)', async () => {
    const first = await stopped();
    const from = { rule: 'allowedSubAgents: [oracle]', layer: 'managed', file: '/etc/m.yml', line: 1 } as const;
    const rules = { ...RULES, allowedSubAgents: [{ value: ['oracle'], from }] };
    const run = testRun({ ...story(), mode: 'yolo', log: first.log, rules });
    await run.result;
    expect(run.state().agents.get(CHILD)?.outcome).toBe('failed');
    expect(taskResults(run.events())[0]).toMatch(/^Sub-agent role 'explore' is not allowed by enterprise policy/);

    const again = await stopped();
    const deeper = { ...RULES, maxNestingDepth: { ...RULES.maxNestingDepth, value: 1 } };
    const flat = testRun({ ...story(), mode: 'yolo', log: again.log, rules: deeper });
    await flat.result;
    expect(flat.state().agents.get(CHILD)).toMatchObject({ outcome: 'abandoned' });
    expect(taskResults(flat.events())[0]).toContain('Max nesting depth (1) exceeded');
    expect(count(flat.events(), (event) => event.type === 'tool.started' && event.tool === 'Task')).toBe(2);
  });

  it('ends with its parent, which may not go on at all', async () => {
    const first = await stopped();
    const from = { rule: 'disabled: oracle', layer: 'managed', file: '/etc/m.yml', line: 1 } as const;
    const rules = { ...RULES, disabledRoles: [{ role: 'oracle', from }] };
    const run = testRun({ ...story(), mode: 'yolo', log: first.log, rules });
    expect((await run.result).status).toBe('failed');
    expect([...run.state().agents.values()].slice(1).map(({ outcome, error }) => [outcome, error])).toEqual([
      ['failed', expect.stringContaining('disabled: oracle')],
      ['abandoned', 'its parent stopped'],
      ['abandoned', 'its parent stopped'],
    ]);
  });

  it('asks a person again what ask_user had asked (S136)', async () => {
    const asks: Setting = {
      plan: PLAN,
      mode: 'yolo',
      script: ({ purpose }, n) =>
        purpose.is === 'work' && n === 0
          ? { text: '', calls: [{ tool: 'ask_user', input: { question: 'which one?' } }] }
          : undefined,
    };
    const first = testRun(asks);
    await first.until(({ approvals }) => approvals.length === 1);
    first.stop('handed over');
    await first.result;
    const told: unknown[] = [];
    const run = testRun({
      ...asks,
      log: first.log,
      record: ({ turns }) => void told.push(...turns.flatMap((turn) => (turn.by === 'tools' ? turn.results : []))),
    });
    const { approvals } = await run.until((state) => state.approvals.length === 1);
    expect(approvals[0]?.request.exact).toBe('which one?');
    await run.tell({ do: 'answer', approval: approvals[0]?.id ?? '', allow: true, scope: 'once', text: 'the left' });
    await run.result;
    expect(told).toMatchObject([{ ok: true, text: 'the left' }]);
    expect(count(run.events(), ({ type }) => type === 'tool.started')).toBe(1);
  });
});
