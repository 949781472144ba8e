/** What a wake of a parent and a letter cost, in reads of the log: the same for the first one and the last. */
import { describe, expect, it } from 'vitest';
import { type AgentId, ROOT } from '../../../src/domain/ids.ts';
import { isFinal } from '../../../src/events/queries.ts';
import type { ModelRequest } from '../../../src/ports/model.ts';
import type { StoredMessage, Log, MessageStore } from '../../../src/ports/log.ts';
import { has, LED, LEADER, rulesWith, spawned } from '../../support/children.ts';
import { cutLog, memoryLog } from '../../support/log.ts';
import { say, waits } from '../../support/idle.ts';
import { AGENT, ROLES, RULES, type Setting, type TestRun, testRun } from '../../support/run.ts';
import { turnsOf } from '../../support/story.ts';

const S1 = AGENT('ROOT::S1');
const { from } = RULES.maxTasksPerPlan;
const rules = rulesWith(
  { maxPerParent: { value: 100, from } },
  { maxAgentsPerRun: { value: 200, from }, maxParallelAgents: { value: 100, from } },
);
const roles = [...ROLES, LEADER].map((role) => ({ ...role, iterations: 200 }));

interface Counted extends Log {
  reads(): number;
}

/** The run reads of it; what tests look at is read past it. */
function counted(log: Log): Counted {
  let reads = 0;
  return {
    ...log,
    read: (session, after) => {
      reads += 1;
      return log.read(session, after);
    },
    each: (session, after) => ({
      [Symbol.iterator]: () => {
        reads += 1;
        return log.read(session, after)[Symbol.iterator]();
      },
    }),
    reads: () => reads,
  };
}

const isWaiting = (run: TestRun, parent: AgentId): boolean => {
  const one = run.view.state().agents.get(parent);
  return one?.status === 'waiting' && one.open.length === 0;
};

/** A parent of so many children, each of which ends when the parent waits again: it is woken for every one of them. */
async function wokenBy(count: number, parent: AgentId, setting: Setting) {
  const ends: (() => void)[] = [];
  const asked: ModelRequest[] = [];
  const inner = memoryLog();
  const log = counted(inner);
  const made: { run: TestRun | null } = { run: null };
  const run = testRun({
    mode: 'yolo',
    rules,
    roles,
    log,
    record: (request) => {
      if (request.agent === parent && request.purpose.is === 'work') asked.push(request);
    },
    script: async ({ agent, purpose }, n) => {
      if (purpose.is !== 'work' || made.run === null) return undefined;
      if (agent !== parent) await new Promise<void>((resolve) => ends.push(resolve));
      else if (n === 0) for (let one = 0; one < count; one += 1) await spawned(made.run, parent, { wait: 0 }, parent);
      return { text: `${agent} says ${n}` };
    },
    ...setting,
  });
  made.run = run;
  if (setting.idle === true) await say(run, 'go');
  const before: number[] = [];
  for await (const _ of run.controls.events(0)) {
    if (!isWaiting(run, parent) || asked.length !== before.length + 1 || ends.length !== count - before.length)
      continue;
    before.push(log.reads());
    ends.shift()?.();
    if (before.length === count) break;
  }
  return { run, asked, inner, before, reads: () => log.reads() };
}

const KINDS = [
  ['an agent of the plan', S1, { plan: LED }],
  ['main of a run without a plan', ROOT, { idle: true }],
] as const;

describe('a parent that waits for its children', () => {
  it.each(KINDS)('reads the log no more often for many than for few: %s (S026, S076)', async (_, parent, setting) => {
    const reads = [];
    for (const count of [3, 40]) {
      const { before } = await wokenBy(count, parent, setting);
      expect(before).toHaveLength(count);
      reads.push(before.at(-1));
    }
    expect(reads[0]).toBe(reads[1]);
  });

  it('goes on with what the log knows of it at every wake, and so it does when the run was cut off and resumed (S130)', async () => {
    const { run, asked, inner } = await wokenBy(6, S1, { plan: LED });
    await run.result;
    const events = inner.read(run.options.session);
    const begins = events.filter((event) => event.type === 'model.started' && event.agent === S1);
    expect(asked).toHaveLength(7);
    for (const [at, { turns }] of asked.entries())
      expect(turns).toEqual(turnsOf(events.slice(0, begins[at]?.seq ?? 0), S1));

    // In the middle of its waiting: three of six have been heard of.
    const cut = events.slice(0, (begins[4]?.seq ?? 0) - 1);
    const log = counted(cutLog(run.options.session, cut));
    const again: ModelRequest[] = [];
    const resumed = testRun({
      mode: 'yolo',
      rules,
      roles,
      log,
      record: (request) => void (request.agent === S1 && again.push(request)),
    });
    await resumed.result;
    await has(resumed, S1, 'completed');
    const whole = resumed.events();
    const resumedBegins = whole.filter(
      (event) => event.type === 'model.started' && event.agent === S1 && event.seq > cut.length,
    );
    expect(again.length).toBeGreaterThan(0);
    for (const [at, { turns }] of again.entries())
      expect(turns).toEqual(turnsOf(whole.slice(0, resumedBegins[at]?.seq ?? 0), S1));
  });
});

describe('a run that was cut off', () => {
  it('reads the log no more often for many open children than for few (S130)', async () => {
    const reads = [];
    for (const count of [2, 30]) {
      const { run, inner } = await wokenBy(count, S1, { plan: LED });
      await run.result;
      const { session } = run.options;
      const events = inner.read(session);
      const first = events.findIndex(({ type }) => type === 'agent.finished');
      const log = counted(cutLog(session, events.slice(0, first)));
      const resumed = testRun({ mode: 'yolo', rules, roles, log });
      await resumed.result;
      expect([...resumed.view.state().agents.values()].filter(isFinal)).toHaveLength(count + 2);
      reads.push(log.reads());
    }
    expect(reads[0]).toBe(reads[1]);
  });
});

describe('letters that were kept', () => {
  it('are taken in without reading the log, however many came before (S131)', async () => {
    const log = counted(memoryLog());
    const letters: StoredMessage[] = [];
    const told = new Set<string>();
    const messageStore: MessageStore = {
      put: (_, letter) => void letters.push(letter),
      waiting: () => letters.filter(({ id }) => !told.has(id)),
      taken: (_, ids) => {
        for (const id of ids) told.add(id);
      },
    };
    const run = testRun({ mode: 'yolo', idle: true, log, messageStore, rules, roles });
    const answers = (): number => run.view.state().agents.get(ROOT)?.iterations ?? 0;
    const before: number[] = [];
    await say(run, 'go');
    for await (const _ of run.controls.events(0)) {
      if (!waits(run.view.state()) || answers() !== before.length + 1) continue;
      before.push(log.reads());
      if (before.length === 20) break;
      messageStore.put(run.options.session, {
        id: `l${before.length}`,
        to: ROOT,
        text: 'and this',
        delivery: 'important',
        at: '2026-01-01T00:00:00.000Z',
      });
      run.poke();
    }
    run.stop('enough');
    await run.result;
    expect(new Set(before).size).toBe(1);
    expect(told.size).toBe(19);
  });
});
