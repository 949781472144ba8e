import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SessionId } from '../../../../src/domain/ids.ts';
import type { MimirEvent } from '../../../../src/events/event.ts';
import type { RunState } from '../../../../src/events/state.ts';
import { answered, idleRun, say, task, wish } from '../../../support/idle.ts';
import { cutLog, lengthsOf, memoryLog } from '../../../support/log.ts';
import { AGENT, calling, type Setting, type TestRun, testRun } from '../../../support/run.ts';
import { fakeWorld } from '../../../support/world.ts';

const SESSION = SessionId.parse('test-session');
const ROOT = AGENT('ROOT');
const C1 = AGENT('ROOT::S1');

describe('a run without a plan that is cut off at any event', () => {
  it('goes on as if nothing had been: each message answered, each effect once (D11, D33)', async () => {
    const story = (acts: string[]): Setting => ({
      acts,
      script: ({ agent, turns }) => {
        if (agent !== ROOT) return turns.length === 1 ? calling('read x') : { text: `${agent} found it` };
        if (turns.length === 1) return calling('write a');
        return turns.length === 3 ? task('look') : { text: 'all done' };
      },
    });
    const lengths: number[] = [];
    const whole = idleRun({ ...story([]), log: lengthsOf(memoryLog(), lengths) });
    await say(whole, 'do it');
    await answered(whole, 'all done');
    const events = whole.events();
    whole.stop('done');
    await whole.result;
    const from = events.findIndex(({ type }) => type === 'message.sent') + 1;
    for (const length of lengths.filter((one) => one >= from && one <= events.length)) {
      const before = events.slice(0, length);
      const at = `cut after ${length}: ${before.at(-1)?.type}`;
      let names = 0;
      const name = (): string => `again-${(names += 1)}`;
      const acts: string[] = [];
      // That it is a run without a plan is in its log.
      const run = testRun({
        ...story(acts),
        mode: 'yolo',
        log: cutLog(SESSION, before),
        world: { ...fakeWorld(), name },
      });
      const end = await answered(run, 'all done');
      const begun = run.events().flatMap((event) => (event.type === 'tool.started' ? [event.label] : []));
      expect([at, begun.filter((label) => !label.startsWith('read'))]).toEqual([
        at,
        ['write a', 'Task(explore): look'],
      ]);
      expect([at, [...end.agents.keys()]]).toEqual([at, [ROOT, C1]]);
      const said = end.agents.get(ROOT)?.blocks.filter((one) => one.is === 'said').length;
      expect([at, said, end.messages.map(({ delivered }) => delivered)]).toEqual([at, 1, [true]]);
      run.stop('done');
      await run.result;
    }
  });

  it('has each child once, each notice once, and one answer of ROOT to it (S040, S041, D11)', async () => {
    const story: Setting = {
      script: ({ agent, turns }) => {
        if (agent !== ROOT) return turns.length === 1 ? calling('read x') : { text: 'found it' };
        return { text: turns.length === 1 ? 'hello yourself' : 'noted' };
      },
    };
    const lengths: number[] = [];
    const whole = idleRun({ ...story, log: lengthsOf(memoryLog(), lengths) });
    await say(whole, 'hello');
    await answered(whole, 'hello yourself');
    await whole.controls.submit({ do: 'spawn', parent: ROOT, wish: wish('look', { name: 'first' }) });
    await answered(whole, 'noted');
    const events = whole.events();
    whole.stop('done');
    await whole.result;
    const from = events.findIndex((event) => event.type === 'agent.created' && event.agent === C1) + 1;
    const cuts = lengths.filter((one) => one >= from && one <= events.length);
    expect(cuts.length).toBeGreaterThan(10);
    for (const length of cuts) {
      const before = events.slice(0, length);
      const at = `cut after ${length}: ${before.at(-1)?.type}`;
      let names = 0;
      const name = (): string => `again-${(names += 1)}`;
      const run = testRun({ ...story, mode: 'yolo', log: cutLog(SESSION, before), world: { ...fakeWorld(), name } });
      const end = await answered(run, 'noted');
      const said = end.agents.get(ROOT)?.blocks.flatMap((one) => (one.is === 'said' ? [one.text] : []));
      expect([at, said]).toEqual([at, ['hello yourself', 'noted']]);
      expect([at, [...end.agents.keys()], end.agents.get(C1)?.outcome]).toEqual([at, [ROOT, C1], 'completed']);
      expect([at, end.messages.map(({ notice, delivered }) => [notice?.is, delivered])]).toEqual([
        at,
        [
          [undefined, true],
          ['completed', true],
        ],
      ]);
      run.stop('done');
      await run.result;
    }
  });
});

describe('a run without a plan that is cut off again and again', () => {
  it('has a child of Task and one of a person once each, and each effect (D11, H022)', async () => {
    const story = (acts: string[]): Setting => ({
      acts,
      script: ({ agent, turns }) => {
        const replies = turns.filter(({ by }) => by === 'model').length;
        if (agent !== ROOT) return replies === 0 ? calling('read x') : { text: `${agent} found it` };
        return replies === 0 ? calling('write a') : replies === 1 ? task('look') : { text: `said ${replies}` };
      },
    });
    const whole = idleRun(story([]));
    await say(whole, 'do it');
    await whole.controls.submit({ do: 'spawn', parent: ROOT, wish: wish('look', { name: 'first' }) });
    const begun = whole.events();
    whole.stop('done');
    await whole.result;
    const cuts = fc.array(
      fc.record({ after: fc.integer({ min: 1, max: 20 }), how: fc.constantFrom('cut', 'stop', 'hand over') }),
      { minLength: 1, maxLength: 4 },
    );
    const isDone = ({ agents, messages }: RunState): boolean =>
      agents.size === 3 &&
      [...agents.values()].every((one) => one.id === ROOT || one.outcome === 'completed') &&
      messages.length === 2 &&
      messages.every(({ delivered }) => delivered) &&
      agents.get(ROOT)?.status === 'waiting' &&
      agents.get(ROOT)?.reason === 'idle';
    await fc.assert(
      fc.asyncProperty(cuts, async (all) => {
        let names = 0;
        const begin = (events: readonly MimirEvent[]): TestRun =>
          testRun({
            ...story([]),
            mode: 'yolo',
            log: cutLog(SESSION, events),
            world: { ...fakeWorld(), name: () => `name-${(names += 1)}` },
          });
        let events = begun;
        for (const { after, how } of all) {
          const run = begin(events);
          const from = events.length;
          await run.until((state) => state.seq >= from + after || isDone(state));
          if (how === 'cut') events = run.events();
          if (how === 'hand over') await run.controls.submit({ do: 'hand over', how: 'when quiet' });
          run.stop('Ctrl-C');
          await run.result;
          if (how !== 'cut') events = run.events();
        }
        const last = begin(events);
        await last.until(isDone);
        const labels = last.events().flatMap((event) => (event.type === 'tool.started' ? [event.label] : []));
        expect(labels.filter((label) => !label.startsWith('read')).toSorted()).toEqual([
          'Task(explore): look',
          'write a',
        ]);
        last.stop('done');
        await last.result;
      }),
      { numRuns: 50 },
    );
  });
});

describe('a run without a plan that is handed over', () => {
  it('stops when its children and ROOT are quiet, and they go on in the next process (H022, S138)', async () => {
    let release = (): void => {};
    const reply = new Promise<void>((resolve) => (release = resolve));
    const script: NonNullable<Setting['script']> = ({ agent, turns }) =>
      agent === ROOT || turns.length > 1 ? { text: `${agent} answers ${turns.length}` } : calling('read x');
    const run = idleRun({
      script: async (request, n) => {
        if (request.agent !== ROOT) await reply;
        return script(request, n);
      },
    });
    await say(run, 'hello');
    await answered(run, 'ROOT answers 1');
    await run.controls.submit({ do: 'spawn', parent: ROOT, wish: wish('look') });
    await run.until(({ agents }) => agents.get(C1)?.open.length === 1);
    const given = run.tell({ do: 'hand over', how: 'when quiet' });
    release();
    expect(await given).toBe('handed over; the run continues where it is resumed');
    expect(run.state().agents.get(C1)).toMatchObject({ outcome: null, toolCalls: 0 });

    const next = idleRun({ script, log: run.log });
    await answered(next, 'ROOT answers 3');
    expect(next.state().agents.get(C1)).toMatchObject({ outcome: 'completed', toolCalls: 1 });
    expect(next.state().agents.get(C1)?.iterations).toBe(2);
    next.stop('done');
    await next.result;
  });
});
