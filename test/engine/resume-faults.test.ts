/** Runs with faults, a fallback and a summary that are cut off at any event, and what a resumed one makes of them. */
import { describe, expect, it } from 'vitest';
import { tokensOf } from '../../src/domain/budget.ts';
import { ModelId, SessionId } from '../../src/domain/ids.ts';
import type { MimirEvent } from '../../src/events/event.ts';
import { committed } from '../../src/events/queries.ts';
import { scriptedModel, type ScriptedReply } from '../support/scripted.ts';
import { LogFault } from '../../src/ports/log.ts';
import { fault } from '../support/faulty.ts';
import { cutLog, lengthsOf, type MemoryLog, memoryLog } from '../support/log.ts';
import { throughTime } from '../support/run-looks.ts';
import { AGENT, calling, planOf, type Setting, type TestRun, testRun } from '../support/run.ts';
import { fakeWorld } from '../support/world.ts';

const [ROOT, S1] = [AGENT('ROOT'), AGENT('ROOT::S1')];
const SPENT = { input: 700, output: 50, cacheRead: 0, cacheWrite: 0 };
const price = { input: 1, output: 5 };
const CATALOGUE = [
  scriptedModel('scripted/fast', { aliases: ['fast'], window: 4000, outputLimit: 900, price }),
  scriptedModel('other/slow', { aliases: ['slow'], outputLimit: 900, price }),
];

/**
 * What S1 hears, by what the log has of it so far: a refusal and a read, a broken stream and a write, reads until it is
 * summarised, then nothing but nonsense from its first model.
 */
function heard(log: MemoryLog, { model }: { readonly model: string }): ScriptedReply | undefined {
  const events = log.read(SESSION).filter((event) => 'agent' in event && event.agent === S1);
  const failed = (cause: string): boolean =>
    events.some((event) => event.type === 'model.failed' && event.cause === cause);
  const long = (name: string): ScriptedReply => calling(`read ${name} ${'word '.repeat(500)}`);
  switch (events.filter(({ type }) => type === 'tool.finished').length) {
    case 0:
      return failed('rate limited') ? long('a') : fault('rate limited', { retryAfterMs: 3000 });
    case 1:
      return failed('cut') ? calling('write b') : fault('cut', { spent: SPENT });
    case 2:
      return long('c');
    case 3:
      return long('d');
    default:
      return model === 'scripted/fast' ? fault('malformed', { spent: SPENT }) : undefined;
  }
}

const SESSION = SessionId.parse('test-session');

async function carried(log: MemoryLog, lengths: number[], more: Partial<Setting> = {}): Promise<TestRun> {
  const world = fakeWorld();
  const names = log.read(SESSION).length;
  let made = 0;
  const run = testRun({
    plan: planOf(['o1'], ['o2', 'o1']),
    mode: 'yolo',
    catalogue: CATALOGUE,
    log: lengthsOf(log, lengths),
    world: { ...world, name: () => `${names}-${(made += 1)}` },
    script: ({ agent, purpose, model }) => {
      if (agent !== S1) return undefined;
      return purpose.is === 'compact' ? { text: 'SUMMARY' } : heard(log, { model });
    },
    ...more,
  });
  await throughTime(run, world);
  return run;
}

/** Tokens that the provider counted, of every call that is in the log of this run or of the one that it was cut from. */
function counted(events: readonly MimirEvent[], whole: readonly MimirEvent[]): number {
  const begun = new Set(events.flatMap((event) => (event.type === 'model.started' ? [event.call] : [])));
  const ends = new Map(
    [...whole, ...events].flatMap((event) =>
      (event.type === 'model.finished' || event.type === 'model.failed') && begun.has(event.call)
        ? [[event.call, event.usage === undefined ? 0 : tokensOf(event.usage)] as const]
        : [],
    ),
  );
  return [...ends.values()].reduce((sum, tokens) => sum + tokens, 0);
}

const typesOf = (events: readonly MimirEvent[]): ReadonlySet<string> => new Set(events.map(({ type }) => type));

describe('a run with faults, a fallback and a summary that is cut off at any event', () => {
  it('is resumed to the same end: no effect twice, nothing charged below the provider (D11, I005, J09, K)', async () => {
    const lengths: number[] = [];
    const whole = (await carried(memoryLog(), lengths)).events();
    expect([...typesOf(whole)]).toEqual(
      expect.arrayContaining(['model.retry', 'model.failed', 'model.fallback', 'context.compacted']),
    );
    for (const length of lengths.slice(0, -1)) {
      const run = await carried(cutLog(SESSION, whole.slice(0, length)), []);
      const [state, events] = [run.state(), run.events()];
      const at = `cut after ${length}: ${whole[length - 1]?.type}`;
      expect([at, state.finished?.status, state.finished?.summary]).toEqual([at, 'completed', 'merged']);
      expect([at, state.agents.get(S1)?.summary]).toEqual([at, 'ROOT::S1 is done']);
      const writes = events.filter((event) => event.type === 'tool.started' && event.tool === 'write');
      expect([at, writes.length]).toEqual([at, 1]);
      expect([at, events.filter((event) => event.type === 'model.finished' && event.bounded === true)]).toEqual([
        at,
        [],
      ]);
      const { tokens } = committed(state, ROOT);
      expect([at, tokens >= counted(events, whole)]).toEqual([at, true]);
    }
  });

  it('is resumed after it was cut off while it was resumed (D11)', async () => {
    const lengths: number[] = [];
    const whole = (await carried(memoryLog(), lengths)).events();
    for (const length of lengths.slice(8, -1).filter((_, at) => at % 5 === 0)) {
      const again: number[] = [];
      const second = (await carried(cutLog(SESSION, whole.slice(0, length)), again)).events();
      for (const cut of again.slice(0, -1)) {
        const run = await carried(cutLog(SESSION, second.slice(0, cut)), []);
        const at = `cut after ${length} and ${cut}: ${second[cut - 1]?.type}`;
        expect([at, run.state().finished?.status]).toEqual([at, 'completed']);
        const writes = run.events().filter((event) => event.type === 'tool.started' && event.tool === 'write');
        expect([at, writes.length]).toEqual([at, 1]);
      }
    }
  });
});

describe('a run that paused', () => {
  it('because another model answered goes on when it is resumed, and what answered stays charged (A08, D11)', async () => {
    const log = memoryLog();
    const other = { text: 'I am another', model: ModelId.parse('other/slow'), usage: SPENT };
    const first = await carried(log, [], { script: ({ agent }) => (agent === S1 ? other : undefined) });
    expect(first.state().finished?.status).toBe('stopped');
    const run = await carried(log, [], { script: () => undefined });
    expect(run.state().finished).toMatchObject({ status: 'completed', summary: 'merged' });
    expect(run.state().agents.get(S1)).toMatchObject({ outcome: 'completed', lost: { calls: 1, usage: SPENT } });
  });
});

it('a run that cannot continue and whose end cannot be written is stopped, with the reason', async () => {
  const log = memoryLog();
  const run = testRun({ log, script: () => new Promise<undefined>(() => {}) });
  await run.until(({ agents }) => agents.get(ROOT)?.open.length === 1);
  await run.tell({ do: 'stop run', reason: 'enough' });
  await run.result;
  const full: MemoryLog = {
    ...log,
    append(session, time, bodies) {
      if (bodies.some(({ type }) => type === 'session.finished')) throw new LogFault('the disk is full');
      return log.append(session, time, bodies);
    },
  };
  const again = testRun({ log: full, chosenMode: 'human', person: false });
  expect(await again.result).toMatchObject({ status: 'stopped', error: 'the disk is full', errorIs: 'log' });
});
