/** A plan that is changed while it runs, on its screen: what runs then is what was approved, also after a power cut. */
import { afterAll, describe, expect, it } from 'vitest';
import { jsonLines } from '../support/cli.ts';
import type { Double } from '../support/double/double.ts';
import { openDouble } from '../support/double/double.ts';
import type { Machine, Person } from '../support/journey.ts';
import { LEDGER, makeMachine, newest } from '../support/journey.ts';
import { ledgerStory, MERGE, PLANNER, STORY_TASK, WORKERS } from '../support/ledger-story.ts';

const doubles: Double[] = [];
afterAll(() => Promise.all(doubles.map((double) => double.close())));

/** The finder is held in mid-answer once; the explanation waits for it, and is still the person's to change. */
async function held(): Promise<Machine> {
  const first = {
    when: { ...WORKERS[0]?.when, times: 1 },
    answer: { text: 'It stands in the cache. '.repeat(8), fault: { is: 'trickle', at: 6, everyMs: 200 } },
  } as const;
  const double = await openDouble(
    ledgerStory({ rules: [PLANNER, first, ...WORKERS, MERGE, { answer: { text: 'Done.' } }] }),
  );
  doubles.push(double);
  return makeMachine(LEDGER, { ANTHROPIC_API_KEY: 'test-key', ANTHROPIC_BASE_URL: double.url });
}

async function amends(machine: Machine): Promise<Person> {
  const person = machine.opens([STORY_TASK], { cols: 100, rows: 30 });
  await person.sees('⏎ accept');
  person.press('enter');
  await person.sees('Message main', '● finder', '✓ librarian');
  person.press('p');
  await person.sees('Plan ›');
  person.press('G');
  await person.sees(/▌.*3 reviewer/);
  person.press('e');
  await person.sees('Edit #');
  person.type(' Say how to test it.');
  await person.sees('how to test it.');
  person.press('ctrl-s');
  await person.sees('⏎ review changes', 'draft: 1 change', /3 reviewer ✎/);
  person.press('enter');
  await person.sees('Change 1 task of the running plan', '~ #3 reviewer', /Now .*\n.*After /);
  // Enter keeps the plan as it was approved.
  person.press('enter');
  await person.doesNotSee('of the running plan');
  person.press('enter');
  await person.sees('Change 1 task of the running plan');
  person.press('y');
  await person.sees('plan changed: 1 changed');
  return person;
}

type Event = Readonly<Record<string, unknown>>;
const eventsOf = async (machine: Machine): Promise<readonly Event[]> =>
  jsonLines((await machine.mimir('events', await newest(machine), '--json')).out);

/** What was approved, what it was changed to, and what the changed agent was given when it began. */
function told(events: readonly Event[]): Readonly<Record<string, unknown>> {
  const of = (type: string): readonly Event[] => events.filter((event) => event['type'] === type);
  const [approved, amended] = [of('plan.approved'), of('plan.amended')];
  const before = amended[0]?.['digest'];
  const reviewer = 'ROOT::S3';
  const begun = of('agent.told').find(({ agent }) => agent === reviewer);
  return {
    approved: approved.length,
    amended: amended.length,
    other: typeof before === 'string' && before !== approved[0]?.['digest'],
    changes: amended[0]?.['changes'],
    begun: typeof begun?.['text'] === 'string' && begun['text'].includes('Say how to test it.'),
    order: events.findIndex((one) => one === begun) > events.findIndex((one) => one === amended[0]),
    ended: of('session.finished')
      .map(({ status }) => status)
      .at(-1),
  };
}

const AS_APPROVED = {
  approved: 1,
  amended: 1,
  other: true,
  changes: [expect.stringContaining('#3 reviewer')],
  begun: true,
  order: true,
  ended: 'completed',
};

describe.concurrent('a plan changed while it runs', () => {
  it('runs as it was approved anew', async () => {
    const machine = await held();
    const person = await amends(machine);
    person.press('esc');
    await person.sees('Message main');
    person.press('j');
    await person.sees(/(?:┏ |▌)● finder/);
    person.press('s');
    await person.sees(/(?:┏ |▌)⏸ finder/);
    person.press('r');
    await person.sees('Completed: all 3 agents completed');
    person.press('q');
    expect(await person.leaves()).toBe(0);
    expect(told(await eventsOf(machine))).toEqual(AS_APPROVED);
  });

  it('runs so after kill -9, when it is gone on with', async () => {
    const machine = await held();
    const person = await amends(machine);
    person.terminal.signal('SIGKILL');
    await person.terminal.exit;
    const resumed = await machine.mimir('resume', await newest(machine), '--json');
    expect({ code: resumed.code, err: resumed.err }).toEqual({ code: 0, err: '' });
    expect(told(await eventsOf(machine))).toEqual(AS_APPROVED);
  });
});
