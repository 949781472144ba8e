/** What ends in time and in words over a real wire: planners that can't plan, agents whose time is up. */
import { describe, expect, it } from 'vitest';
import { skipWithout } from '../support/needs.ts';
import type { Rule } from '../support/double/script.ts';
import { jsonLines } from '../support/cli.ts';
import { ACCEPT, LEDGER, newest } from '../support/journey.ts';
import type { Event } from '../support/on-the-wire.ts';
import { pressesUntil } from '../support/questions.ts';
import { of, ownModel, planText, runOn } from '../support/on-the-wire.ts';

const TASK = 'Say where balanceOf is defined';
const done: Rule = { answer: { text: 'In `src/cache.js:6`.' } };
const planner = (answer: Rule['answer'], times?: number): Rule => ({
  when: { first: '# Roles', ...(times === undefined ? {} : { times }) },
  answer,
});
const outcomes = (events: readonly Event[]): readonly unknown[] =>
  of(events, 'agent.finished').map(({ agent, outcome }) => [agent, outcome]);

describe.concurrent('a planner that can not plan', () => {
  it('H01 is told twice what is wrong with its answer, then one agent has the whole task', async () => {
    const { machine, double } = await ownModel('openai-compatible', {
      script: { rules: [planner({ text: 'I would split it { as follows' }), done] },
      files: LEDGER,
    });
    const { code, events } = await runOn(machine, TASK);
    expect(code).toBe(0);
    expect(of(events, 'model.started').filter(({ purpose }) => purpose === 'plan')).toHaveLength(3);
    const told = of(events, 'agent.told').filter(
      ({ agent, text }) => agent === 'ROOT' && /cannot be used/.test(String(text)),
    );
    expect(told).toHaveLength(2);
    const plan = JSON.stringify(of(events, 'plan.proposed')[0]?.['plan']);
    expect(plan).toContain('One agent for the whole task');
    expect(outcomes(events)).toEqual([
      ['ROOT::S1', 'completed'],
      ['ROOT', 'completed'],
    ]);
    expect(double.bill()).toMatchObject({ answered: { calls: 4 }, refused: 0 });
    expect(double.prefixFaults()).toEqual([]);
  });

  it('H01 cut off at the output limit is asked for less, and its next plan is taken', async () => {
    const plan = planText(['Find balanceOf', 'finder']);
    const { machine, double } = await ownModel('anthropic', {
      script: {
        rules: [
          planner({ text: plan.slice(0, plan.length / 2), stop: 'output limit' }, 1),
          planner({ text: plan }),
          done,
        ],
      },
      files: LEDGER,
    });
    const { code, events } = await runOn(machine, TASK);
    expect(code).toBe(0);
    const told = of(events, 'agent.told').map(({ text }) => String(text));
    expect(told.filter((text) => /cut off at the output limit/.test(text))).toHaveLength(1);
    expect(JSON.stringify(of(events, 'plan.proposed')[0]?.['plan'])).toContain('Find balanceOf');
    expect(double.bill()).toMatchObject({ refused: 0 });
  });
});

/** Milliseconds from the first event of `type` to the last. */
function between(events: readonly Event[], from: string, to: string): number {
  const at = (event: Event | undefined): number => Date.parse(String(event?.['time']));
  return at(of(events, to).at(-1)) - at(of(events, from)[0]);
}

describe.concurrent('an agent whose time is up', () => {
  it.each(['anthropic', 'openai-compatible'] as const)(
    'G09 ends though its stream of %s never does: with what it has, and the report is written',
    async (wire) => {
      const { machine } = await ownModel(wire, {
        script: {
          rules: [
            planner({ text: planText(['A status', 'rush'], ['Where it is', 'finder']) }),
            {
              when: { first: '^A status' },
              answer: { text: 'I look.', fault: { is: 'trickle', at: 3, everyMs: 1000 } },
            },
            done,
          ],
        },
        files: LEDGER,
        // Long enough for a slow machine to come to the first call.
        config: 'budgets:\n  role: { rush: { maxDuration: 10s } }\n',
      });
      const { events } = await runOn(machine, TASK);
      expect(outcomes(events)).toEqual(
        expect.arrayContaining([
          ['ROOT::S1', 'partial'],
          ['ROOT::S2', 'completed'],
        ]),
      );
      expect(of(events, 'budget.exhausted').map(({ agent, what, limit }) => [agent, what, limit])).toEqual([
        ['ROOT::S1', 'time', 10_000],
      ]);
      const asked = of(events, 'model.started').filter(({ agent }) => agent === 'ROOT::S1');
      expect(between([...asked, ...of(events, 'budget.exhausted')], 'model.started', 'budget.exhausted')).toBeLessThan(
        20_000,
      );
    },
  );

  it('has 30 seconds where it is a rush', async () => {
    const { machine } = await ownModel('openai-compatible', {
      script: { rules: [planner({ text: planText(['A status', 'rush'], ['Where it is', 'finder']) }), done] },
      files: LEDGER,
    });
    const { events } = await runOn(machine, TASK);
    const [budget] = of(events, 'agent.created').flatMap(({ role, budget: own }) => (role === 'rush' ? [own] : []));
    expect(budget).toMatchObject({ maxDuration: 30_000 });
  });

  it('G09 ends though its command takes no TERM', async ({ skip }) => {
    // Without a sandbox this role has no commands.
    skipWithout('bubblewrap', skip);
    const command = "trap '' TERM; echo started; while true; do sleep 1; done";
    const { machine } = await ownModel('anthropic', {
      script: {
        rules: [
          planner({ text: planText(['A status', 'oracle'], ['Where it is', 'finder']) }),
          { when: { first: '^A status', turn: 1 }, answer: { calls: [{ tool: 'bash', input: { command } }] } },
          done,
        ],
      },
      files: LEDGER,
      config: 'budgets:\n  role: { oracle: { maxDuration: 2s } }\n',
    });
    const person = machine.opens([TASK]);
    await person.sees(ACCEPT);
    person.press('enter');
    await person.sees('oracle wants to run');
    await pressesUntil(person, '1', /allowed|exhausted|reached a limit/);
    // Its time is up: the command has ended, and what now is asked. The first answer spends nothing.
    await pressesUntil(person, '1', /exceeded|exhausted/);
    person.terminal.kill();
    const events = jsonLines((await machine.mimir('events', await newest(machine), '--json')).out);
    expect(of(events, 'tool.finished').map(({ ok, output }) => [ok, /started/.test(String(output))])).toEqual([
      [false, true],
    ]);
    // The limit and the grace of a command are 4.5 seconds; without them it goes on for ever.
    expect(between(events, 'tool.started', 'tool.finished')).toBeLessThan(20_000);
    expect(of(events, 'budget.exhausted').map(({ agent, what }) => [agent, what])).toEqual([['ROOT::S1', 'time']]);
  });
});
