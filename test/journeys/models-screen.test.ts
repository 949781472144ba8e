/** A session on a screen with a language model that streams: the plan is seen being written, agents are held, told and let go. */
import { afterAll, describe, expect, it } from 'vitest';
import type { Double } from '../support/double/double.ts';
import { openDouble } from '../support/double/double.ts';
import type { Script } from '../support/double/script.ts';
import type { Machine, Person } from '../support/journey.ts';
import { ACCEPT, LEDGER, makeMachine } from '../support/journey.ts';
import { ledgerStory, MERGE, PLANNER, STORY_TASK, WORKERS } from '../support/ledger-story.ts';

const doubles: Double[] = [];
afterAll(() => Promise.all(doubles.map((double) => double.close())));

async function machineWith(script: Script): Promise<{ machine: Machine; double: Double }> {
  const double = await openDouble(script);
  doubles.push(double);
  const env = { ANTHROPIC_API_KEY: 'test-key', ANTHROPIC_BASE_URL: double.url };
  return { machine: makeMachine(LEDGER, env), double };
}

/** The finder's last answer comes slowly enough to be interrupted; nothing else does. */
const held = (): Script => {
  const rules = WORKERS.map((rule, at) =>
    at === 2 ? { ...rule, answer: { text: 'It stands in `src/cache.js:6`, and keeps every balance.', rate: 2 } } : rule,
  );
  const told = {
    when: { first: '^Find where balanceOf', last: 'parse as well' },
    answer: { text: 'balanceOf is in `src/cache.js:6`, and parse in `src/parse.js:1`.' },
  };
  return ledgerStory({ rules: [PLANNER, told, ...rules, MERGE], rate: 400 });
};

const opensTheFinder = async (person: Person): Promise<void> => {
  await person.sees(/(?:┏ |▌)\S (╰ )?main /);
  person.press('j');
  await person.sees(/(?:┏ |▌)● finder/);
  person.press('enter');
  await person.sees('┏━ ● finder', 'following', 'It stands');
};

describe.concurrent('a session with a model on a screen', () => {
  it.each([
    { cols: 80, rows: 24 },
    { cols: 120, rows: 40 },
  ])(
    'plans, runs, is interrupted in mid-stream, told something, and ends with the report at $cols x $rows',
    async (size) => {
      const { machine, double } = await machineWith(held());
      const person = machine.opens([], size);
      await person.sees('What do you want to do?', 'anthropic');
      person.type(STORY_TASK);
      await person.sees(STORY_TASK.slice(0, 20));
      person.press('enter');
      await person.sees(ACCEPT, /Plan 3 tasks/, 'haiku-4.5');
      person.press('enter');
      await opensTheFinder(person);
      person.press('s');
      await person.sees('┏━ ⏸ finder', 'interrupted by you');
      person.press('i');
      await person.sees('to finder (ROOT::S1)');
      person.type('Look at parse as well');
      await person.sees('❯ Look at parse as well');
      person.press('enter');
      await person.sees('sent to finder');
      person.press('esc');
      await person.sees('⏎ open');
      person.press('r');
      await person.sees('┌─ 1 Answer', 'balanceOf answers from a Map');
      person.press('q');
      expect(await person.leaves()).toBe(0);
      // The interrupted call had begun: the provider bills it, and so does the ledger.
      expect(double.bill().broken.calls).toBe(1);
    },
  );

  it('says what a provider is waited for, and that it is no question to the person', async () => {
    const slow = { is: 'status', status: 429, headers: { 'retry-after': '30' } } as const;
    const first = WORKERS[0];
    const struck = { when: { ...first?.when, times: 1 }, answer: { fault: slow } };
    const { machine } = await machineWith(ledgerStory({ rules: [PLANNER, struck, ...WORKERS, MERGE] }));
    const person = machine.opens([STORY_TASK], { cols: 120, rows: 40 });
    await person.sees(ACCEPT);
    person.press('enter');
    await person.sees(/◔ finder/, /retrying in \d+s/);
    await person.doesNotSee('asks you');
    person.press('q');
    await person.sees('Quit?');
    person.press('y');
    expect(await person.leaves()).toBe(1);
  });
});
