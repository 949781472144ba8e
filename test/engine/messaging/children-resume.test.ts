import { describe, expect, it } from 'vitest';
import { SessionId } from '../../../src/domain/ids.ts';
import type { ChildRules } from '../../../src/policy/rules.ts';
import { brokenByChildren } from '../../support/children-promises.ts';
import {
  type Act,
  acting,
  ask,
  gate,
  LED,
  notices,
  outcomes,
  rulesWith,
  says,
  spawned,
  spawns,
} from '../../support/children.ts';
import { cutLog, lengthsOf, memoryLog } from '../../support/log.ts';
import { AGENT, calling, type Setting, type TestRun } from '../../support/run.ts';
import { toldTo } from '../../support/run-looks.ts';
import { fakeWorld } from '../../support/world.ts';

const SESSION = SessionId.parse('test-session');
const S1 = 'ROOT::S1';
const [ADA, BOB] = ['ROOT::S1::S1', 'ROOT::S1::S2'];

/** Spawns where nobody of the name is there yet: a command that a crash has cut off is not run a second time. */
const once =
  (name: string, wait: number | null): Act =>
  async (run) => {
    const known = [...run.state().agents.values()].some((one) => one.name === name);
    if (!known) await spawned(run, S1, { name, wait }, S1);
    return undefined;
  };

const story: Readonly<Record<string, readonly Act[]>> = {
  [S1]: [
    async (run) => {
      await once('Ada', 0)(run);
      return calling('read x');
    },
    async (run) => {
      await once('Bob', null)(run);
      return { text: 'spawned both' };
    },
    says('heard'),
    says('heard again'),
    says('heard all'),
  ],
  [ADA]: [() => calling('read a'), says('a.ts:1')],
  [BOB]: [() => calling('read b'), says('b.ts:1'), says('b.ts:2')],
};

/** With a message to Bob when he has ended, unless he has had it. */
async function told(log: Setting['log'], rules: Partial<ChildRules>, setting: Setting = {}): Promise<TestRun> {
  const run = acting(story, { plan: LED, rules: rulesWith(rules), ...(log === undefined ? {} : { log }), ...setting });
  const letter = (async (): Promise<void> => {
    for await (const event of run.controls.events(0)) {
      if (
        event.type !== 'agent.finished' ||
        event.agent !== BOB ||
        run.state().messages.some(({ from }) => from === 'person')
      )
        continue;
      await ask(run, { do: 'message', to: AGENT(BOB), text: 'sure?', delivery: 'important' });
    }
  })();
  await Promise.all([run.result, letter]);
  return run;
}

/** How Bob ends and who hears of it is as it comes: he and his parent end side by side. */
const notBob = (outcome: string): boolean => !outcome.startsWith(BOB);
const ofAda = (run: TestRun): readonly string[] => notices(run).filter((notice) => notice.includes(ADA));

describe('a run with children that is cut off at any event', () => {
  it.each(['adopt', 'kill', 'keep'] as const)(
    'goes on with every child that was recorded, ends each once, and gives each notice once, where orphans are to %s (S151, D14)',
    async (orphans) => {
      const lengths: number[] = [];
      const whole = await told(lengthsOf(memoryLog(), lengths), { orphans });
      const events = whole.events();
      expect([brokenByChildren(events, true), lengths.length > 30]).toEqual([[], true]);
      for (const length of lengths.slice(0, -1)) {
        const at = `cut after ${length}: ${events[length - 1]?.type}`;
        let names = 0;
        const name = (): string => `again-${(names += 1)}`;
        const run = await told(
          cutLog(SESSION, events.slice(0, length)),
          { orphans },
          { world: { ...fakeWorld(), name } },
        );
        expect([at, brokenByChildren(run.events(), true)]).toEqual([at, []]);
        expect([at, outcomes(run).filter(notBob)]).toEqual([at, outcomes(whole).filter(notBob)]);
        expect([at, ofAda(run)]).toEqual([at, ofAda(whole)]);
      }
    },
  );

  it('does what has ended not again (D11)', async () => {
    const lengths: number[] = [];
    const events = (await told(lengthsOf(memoryLog(), lengths), {})).events();
    for (const length of lengths.slice(0, -1)) {
      const before = events.slice(0, length);
      const run = await told(cutLog(SESSION, before), {});
      const calls = run.events().filter((event) => event.type === 'model.finished' && event.agent === ADA);
      expect([length, calls.length]).toEqual([length, 2]);
    }
  });
});

describe('a run that ends', () => {
  it('ends after a child that a message revives at its last moment, or refuses the message', async () => {
    const sent = new Set<string>();
    for (let late = 0; late < 80; late += 1) {
      const run = acting(story, { plan: LED, rules: rulesWith({}) });
      const letter = (async (): Promise<void> => {
        for await (const event of run.controls.events(0)) {
          if (event.type !== 'agent.finished' || event.agent !== S1) continue;
          for (let turn = 0; turn < late; turn += 1) await Promise.resolve();
          const to = { to: AGENT(BOB), text: 'sure?', delivery: 'important' } as const;
          const receipt = await run.controls.submit({ do: 'message', ...to });
          sent.add(receipt.ok ? (receipt.value.sent ?? '') : receipt.fault.text);
        }
      })();
      const [{ status }] = await Promise.all([run.result, letter]);
      expect([late, status, run.events().at(-1)?.type, brokenByChildren(run.events(), true)]).toEqual([
        late,
        'completed',
        'session.finished',
        [],
      ]);
    }
    expect([...sent]).toEqual(['sent', 'resumed', 'the run has ended']);
  });
});

describe('a resumed run', () => {
  it('lets a parent go on waiting for its child', async () => {
    const go = gate();
    const first = acting(
      {
        [S1]: [spawns(S1, { name: 'Ada', wait: 0 }, { text: 'spawned' })],
        [ADA]: [() => go.promise.then(() => undefined)],
      },
      { plan: LED },
    );
    await first.until(({ agents }) => agents.get(AGENT(S1))?.status === 'waiting');
    first.stop('Ctrl-C');
    expect((await first.result).status).toBe('stopped');
    go.resolve();
    const run = acting({ [S1]: [undefined, says('heard')] }, { plan: LED, log: first.log });
    expect((await run.result).success).toBe(true);
    expect(toldTo(run, S1)[1]).toContain('Child Ada completed');
    expect(run.state().agents.get(AGENT(S1))?.summary).toBe('spawned\n\nheard');
  });

  it('kills with its parent who was to be killed when it was cut off (D28)', async () => {
    const go = gate();
    const first = acting(
      {
        [S1]: [spawns(S1, { name: 'Ada' }, calling('read x')), () => go.promise.then(() => undefined)],
        [ADA]: [() => go.promise.then(() => undefined)],
      },
      { plan: LED },
    );
    await first.until(
      ({ agents }) => agents.get(AGENT(ADA))?.iterations === 1 && agents.get(AGENT(S1))?.iterations === 2,
    );
    await first.tell({ do: 'kill', agent: AGENT(S1) });
    await first.until(({ agents }) => agents.get(AGENT(S1))?.outcome === 'killed');
    const events = first.events();
    await first.result;
    const end = events.findIndex((event) => event.type === 'agent.finished' && event.agent === S1);
    const log = cutLog(SESSION, events.slice(0, end + 1));
    const run = acting({}, { plan: LED, log });
    await run.result;
    expect(outcomes(run)).toEqual([`${S1} killed`, `${ADA} killed`]);
    expect(notices(run)).toEqual([]);
  });

  it('ends a child whose role is forbidden by now, and its parent hears of that', async () => {
    const go = gate();
    const wait: Act = () => go.promise.then(() => undefined);
    const first = acting(
      { [S1]: [spawns(S1, { name: 'Ada' }, calling('read x')), wait], [ADA]: [wait] },
      { plan: LED },
    );
    await first.until(
      ({ agents }) => agents.get(AGENT(ADA))?.iterations === 1 && agents.get(AGENT(S1))?.iterations === 2,
    );
    first.stop('Ctrl-C');
    await first.result;
    const rules = rulesWith({}, { disabledRoles: [{ role: 'explore', from: rulesWith({}).enabled.from }] });
    const run = acting({}, { plan: LED, log: first.log, rules });
    await run.result;
    expect(outcomes(run)).toEqual([`${S1} completed`, `${ADA} failed`]);
    expect(notices(run)).toEqual([
      `${S1} < ${ADA} error: Child Ada failed: Role 'explore' is disabled: the test (default)`,
    ]);
  });

  it('lets who has said that it is done be done (S063)', async () => {
    const lengths: number[] = [];
    const acts = {
      [S1]: [
        async (run: TestRun) => {
          await ask(run, { do: 'complete', agent: AGENT(S1), status: 'completed', message: 'enough' }, S1);
          return calling('read x');
        },
      ],
    };
    const whole = acting(acts, { plan: LED, log: lengthsOf(memoryLog(), lengths) });
    await whole.result;
    const events = whole.events();
    const said = events.findIndex(({ type }) => type === 'agent.signalled') + 1;
    for (const length of lengths.slice(0, -1)) {
      if (length < said) continue;
      const run = acting(
        { [S1]: [undefined, says('more')] },
        { plan: LED, log: cutLog(SESSION, events.slice(0, length)) },
      );
      await run.result;
      expect([length, run.state().agents.get(AGENT(S1))?.summary]).toEqual([length, 'enough']);
    }
  });
});
