/** One whole session of a person with a model that streams, on the smallest usual screen: every step most people take. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { jsonLines } from '../support/cli.ts';
import type { Double } from '../support/double/double.ts';
import { openDouble } from '../support/double/double.ts';
import type { Script } from '../support/double/script.ts';
import type { Machine, Person } from '../support/journey.ts';
import { LEDGER, makeMachine, newest } from '../support/journey.ts';
import { ledgerStory, MERGE, PLANNER, WORKERS } from '../support/ledger-story.ts';

const doubles: Double[] = [];
afterAll(() => Promise.all(doubles.map((double) => double.close())));

/** The planner streams; the finder says a few words and then nothing more until it is interrupted, twice. */
const script = (): Script => {
  const held = {
    when: { ...WORKERS[0]?.when, times: 2 },
    answer: {
      text: 'It stands in the cache, and keeps every balance. '.repeat(8),
      fault: { is: 'trickle', at: 6, everyMs: 200 },
    },
  } as const;
  const planner = { ...PLANNER, answer: { ...PLANNER.answer, rate: 60 } };
  return ledgerStory({ rules: [planner, held, ...WORKERS, MERGE, { answer: { text: 'Done: `src/cache.js:6`.' } }] });
};

describe('a whole session at 80 x 24', () => {
  it('goes from a task over a plan made one’s own and agents steered in all ways to what is kept of it', async () => {
    const double = await openDouble(script());
    doubles.push(double);
    const machine = makeMachine(LEDGER, { ANTHROPIC_API_KEY: 'test-key', ANTHROPIC_BASE_URL: double.url });
    const person = machine.opens();
    await saysTheTask(person);
    await changesThePlan(person);
    await keepsIt(person);
    person.press('enter');
    await person.sees('Message main', /● finder 1/);
    await looksThroughTheList(person);
    await opensAndCopies(machine, person);
    await tellsAndInterrupts(person);
    await changesTheRun(person);
    await usesPaletteAndCopyMode(person);
    await looksAtChartsAndLog(person);
    person.press('r');
    await person.sees('1 Answer', 'balanceOf answers from a Map');
    await readsTheResult(machine, person);
    await beginsFromTheTemplate(person);
    person.press('q');
    await person.sees('Quit?');
    person.press('y');
    await person.leaves();
    await provesIt(machine);
  });
});

async function saysTheTask(person: Person): Promise<void> {
  await person.sees('What do you want to do?', 'anthropic', 'Suggestions');
  person.type('Explain how balanceOf works, see @cac');
  await person.sees('▌ src/cache.js');
  person.press('tab');
  await person.sees('see @src/cache.js');
  person.press('enter');
  // The plan can be read while it is written.
  await person.sees('Planning', 'writing the plan: 1 task so far', '1 finder');
  await person.sees('⏎ accept', 'Plan 3 tasks', 'haiku-4.5');
}

async function changesThePlan(person: Person): Promise<void> {
  person.press('$');
  await person.sees('Compare model tiers', 'Strongest allowed model');
  person.press('enter');
  await person.sees(/1 ✎ finder/, '(was haiku-4.5)');
  person.press('s');
  await person.sees('Split #1 finder');
  person.press('ctrl-u');
  person.type('Find where balanceOf is defined and what it keeps.');
  person.press('alt-enter');
  person.type('Say what drops an entry.');
  await person.sees('Say what drops an entry.');
  person.press('ctrl-s');
  await person.sees('Plan 4 tasks', /2 \S finder/);
  person.press('G');
  await person.sees(/▌.*4 \S reviewer/);
  person.press('d');
  await person.sees('Delete #4 reviewer?');
  person.press('y');
  await person.sees('Plan 3 tasks');
  person.press('u');
  await person.sees('Plan 4 tasks');
  person.press('G');
  await person.sees(/▌.*4 \S reviewer/);
  person.press('M');
  await person.sees('type to filter');
  person.type('sonnet-5.5');
  await person.sees('❯ sonnet-5.5');
  person.press('enter');
  await person.sees('sonnet-5.5  (was sonnet-4.5)');
}

async function keepsIt(person: Person): Promise<void> {
  person.press('w');
  await person.sees('Save as template');
  person.press('ctrl-u');
  person.type('ledger');
  await person.sees(/Name +ledger +│/);
  person.press('ctrl-s');
  await person.sees('Saved as .mimir/plans/ledger.yml');
}

async function looksThroughTheList(person: Person): Promise<void> {
  person.press('/');
  person.type('finder');
  await person.sees('2 of 5, "finder"', /(?:┏ |▌)● finder 1/);
  person.press('enter');
  await person.sees('Esc clears');
  person.press('esc');
  await person.doesNotSee('Esc clears');
  person.press('o');
  await person.sees('Order: by status', 'by status');
  person.press('T');
  await person.sees('┏━ Graph', 'critical path', /waiting for #1/);
  person.press('T');
  await person.doesNotSee('┏━ Graph');
}

async function opensAndCopies(machine: Machine, person: Person): Promise<void> {
  person.press('enter');
  await person.sees(/┏━ ● finder 1[^]*It stands in the cache/);
  person.press('right');
  await person.sees('No todo list yet');
  person.press('left');
  await person.sees('It stands in the cache');
  person.press('K', 'y');
  await person.sees(/Copied the message \(\d+ B\) to the clipboard/);
  // All of what the agent was told, though most of it is folded on the screen.
  const text = readFileSync(join(machine.home, 'state/mimir/clipboard.txt'), 'utf8');
  expect(text).toMatch(/^Find where balanceOf is defined and what it keeps\.\n\n## The person's task, as context\n/);
  expect(text).toMatch(/<whole-task-1>\nExplain how balanceOf works, see @src\/cache\.js[^]*\n<\/whole-task-1>$/);
  expect(person.screen()).toContain(`Copied the message (${Buffer.byteLength(text)} B)`);
  expect(person.terminal.output()).toContain(`\u001b]52;c;${Buffer.from(text).toString('base64')}\u0007`);
}

async function tellsAndInterrupts(person: Person): Promise<void> {
  person.press('i');
  await person.sees('to finder 1 (ROOT::S1), when idle');
  person.press('tab');
  await person.sees('to finder 1 (ROOT::S1), next turn');
  person.type('Look at parse as well');
  await person.sees('❯ Look at parse as well');
  person.press('enter');
  await person.sees('sent to finder 1');
  person.press('s');
  await person.sees('┏━ ⏸ finder 1', 'interrupted by you');
  person.press('r');
  await person.sees('┏━ ● finder 1', '▌ Look at parse as well');
  person.press('1');
  await person.sees(/(?:┏ |▌)● finder 1/);
}

async function changesTheRun(person: Person): Promise<void> {
  person.press('M');
  await person.sees('finder 1: model from the next turn (now opus-5.5)');
  person.type('haiku-5.5');
  await person.sees('❯ haiku-5.5');
  person.press('enter');
  await person.sees(/model haiku-5\.5/);
  person.press('b');
  await person.sees('Budget of finder 1');
  person.press('ctrl-u');
  person.type('600k');
  await person.sees(/Token limit +600k/);
  person.press('ctrl-s');
  await person.doesNotSee('Budget of finder 1');
  person.press('a');
  await person.sees('Add task');
  person.type('Check the tests');
  await person.sees('Check the tests');
  person.press('ctrl-s');
  await person.sees('Change 1 task of the running plan', '+ #5 reviewer: added', /Now .*\n.*After /);
  person.press('y');
  // At work its card stands among the first; ended it is below them, and the line of the log tells of it.
  await person.sees('plan changed: 1 added', /[┌·] .{0,2}reviewer 2/);
}

async function usesPaletteAndCopyMode(person: Person): Promise<void> {
  person.press(':');
  await person.sees('type to filter');
  person.type('interrupt agent');
  await person.sees('❯ interrupt agent', /▌ Agent +Interrupt agent/);
  person.press('enter');
  await person.sees(/(?:┏ |▌)⏸ finder 1/);
  person.press('f3');
  await person.sees('COPY 2:1');
  person.press('V', 'j', 'y');
  await person.sees('Copied 2 lines');
}

async function looksAtChartsAndLog(person: Person): Promise<void> {
  person.press('c');
  await person.sees('─ Charts ─', 'Tokens by agent', 'By model');
  person.press('esc');
  await person.doesNotSee('─ Charts ─');
  // Here the log is only a ticker: who asks for it gets it.
  person.press('4');
  await person.sees(/┏━ Log ━.* entries/);
  person.press('L');
  await person.sees(/┏━ Log ━.* warnings/, 'plan changed by person');
  person.press('1');
  await person.sees(/(?:┏ |▌)⏸ finder 1/);
}

async function readsTheResult(machine: Machine, person: Person): Promise<void> {
  person.press('3');
  await person.sees('tokens / est.', 'Where the time went', /reviewer 2 +[\d.]+k \/ /);
  person.press('x');
  await person.sees('Export report as', '▌ Markdown');
  person.press('enter');
  await person.sees(/wrote mimir-report-\w+\.md/);
  const [, file = ''] = /(mimir-report-\w+\.md)/.exec(person.screen()) ?? [];
  expect(readFileSync(join(machine.project, file), 'utf8')).toContain('balanceOf answers from a Map');
}

async function beginsFromTheTemplate(person: Person): Promise<void> {
  person.press('n');
  await person.sees('What do you want to do?', 'Recent sessions');
  person.press('ctrl-o');
  await person.sees('New from template');
  person.type('ledger');
  await person.sees('▌ ledger');
  person.press('enter');
  await person.sees(
    '⏎ accept',
    'Plan 4 tasks',
    'from template ledger',
    /4 reviewer [^]*sonnet-5\.5/,
    'Say what drops an entry.',
  );
}

/** What the log says that was approved, changed and allowed; and that the run was let go on with the plan as it was changed. */
async function provesIt(machine: Machine): Promise<void> {
  const { out: sessions } = await machine.mimir('sessions');
  const run = sessions.split('\n').find((line) => line.includes('completed') || line.includes('finished')) ?? '';
  const { out } = await machine.mimir('events', run.split(' ')[0] ?? (await newest(machine)), '--json');
  const types = jsonLines(out).map(({ type }) => type);
  expect(types.filter((type) => type === 'plan.approved' || type === 'plan.amended')).toEqual([
    'plan.approved',
    'plan.amended',
  ]);
}
