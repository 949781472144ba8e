/** From a task to its report, by hand: what most people do most of the time. */
import { describe, expect, it } from 'vitest';
import { ACCEPT, makeMachine, planFor, TASK } from '../support/journey.ts';
import type { Person } from '../support/journey.ts';

/** The card that is chosen stands in a heavy frame. */
const chosen = (name: string): RegExp => new RegExp(`(?:┏ |▌)\\S (╰ )?${name} `);

describe.concurrent('a session on a screen', () => {
  it.each([
    { cols: 80, rows: 24 },
    { cols: 120, rows: 40 },
  ])('goes from a task over a plan, cards and a transcript to the report at $cols x $rows', async (size) => {
    const machine = makeMachine();
    const person = await planFor(machine, TASK, size);
    await changesThePlan(person);
    person.press('enter');
    await person.sees('Message main', /● finder/);
    await holdsTheFinder(person);
    await looksAround(person);
    await writesToIt(person);
    await skipsAnother(person);
    await letsItGoOn(person);
    await person.sees('┌─ 1 Answer');
    await readsTheReport(person, size.rows);
    person.press('q');
    expect(await person.leaves()).toBe(1);
    expect(person.screen()).toMatch(/Session \w+ failed: Explain how balanceOf/);
  });

  it('gives up a plan with Esc and begins again with another task', async () => {
    const machine = makeMachine();
    const person = await planFor(machine, 'Find the report');
    person.press('esc');
    await person.sees('What do you want to do?', 'Plan discarded.');
    person.type('Find balanceOf');
    await person.sees('Find balanceOf');
    person.press('enter');
    await person.sees(ACCEPT, 'Plan › Find balanceOf');
    person.press('q');
    await person.sees('Quit?');
    person.press('y');
    expect(await person.leaves()).toBe(1);
  });

  it('gives up while the planner still thinks', async () => {
    const machine = makeMachine();
    const person = machine.opens([TASK]);
    await person.sees('Planning');
    person.press('esc');
    await person.sees('stopped');
    person.press('q');
    await person.leaves();
  });
});

/** Wide, the row names the change; narrow, a sign alone stands for it. */
const EDITED = /1 (?:✎ finder|finder {2}✎ edited)/;

async function changesThePlan(person: Person): Promise<void> {
  person.press('e');
  await person.sees('Edit #');
  person.type(' Name the tests too.');
  await person.sees('Name the tests too');
  person.press('ctrl-s');
  await person.sees(EDITED);
  person.press('M');
  await person.sees('type to filter');
  person.type('offline');
  await person.sees('❯ offline');
  person.press('enter');
  await person.sees('(was haiku-4.5)');
  person.press('u');
  await person.doesNotSee('(was haiku-4.5)');
  await person.sees(EDITED);
  person.press('?');
  await person.sees('─ Help ─', 'Accept plan');
  person.press('esc');
  await person.doesNotSee('─ Help ─');
}

/** Held, it waits for us as long as we like, and the oracle waits for it. */
async function holdsTheFinder(person: Person): Promise<void> {
  await person.sees(chosen('main'));
  person.press('j');
  // Its first turn has come as far as its todos: a look is asked for, and will be in the transcript.
  await person.sees(chosen('finder'), /[▸✓] (See what is there|Search for)|Todos [0-9]\/3/);
  person.press('s');
  await person.sees(/(?:┏ |▌)⏸ finder/, '! interrupted by you');
}

async function looksAround(person: Person): Promise<void> {
  person.press('down');
  await person.sees(chosen('librarian'));
  person.press('k');
  await person.sees(chosen('finder'));
  person.press('p');
  await person.sees('Plan ›', '· running');
  person.press('esc');
  await person.sees('⏎ open', chosen('finder'));
}

async function writesToIt(person: Person): Promise<void> {
  person.press('enter');
  await person.sees('┏━ ⏸ finder', /⚙ (list|search|read) /);
  person.press('i');
  await person.sees('to finder (ROOT::S1)');
  person.type('Look at refresh as well');
  await person.sees('❯ Look at refresh as well');
  person.press('enter');
  await person.sees('sent to finder');
  person.press('esc');
  await person.sees('⏎ open');
}

async function skipsAnother(person: Person): Promise<void> {
  person.press('G');
  await person.sees(chosen('oracle'));
  person.press('x');
  await person.sees('Kill oracle?');
  person.press('enter');
  await person.doesNotSee('Kill oracle?');
  person.press('x');
  await person.sees('Kill oracle?');
  person.press('y');
  await person.sees('⏸ oracle', 'skipped by you');
}

async function letsItGoOn(person: Person): Promise<void> {
  person.press('g');
  await person.sees(chosen('main'));
  person.press('j');
  await person.sees(chosen('finder'));
  person.press('r');
  await person.sees(/(?:┏ |▌)● finder/);
  person.press('enter');
  await person.sees('┏━ ● finder', 'following', 'Look at refresh as well');
}

async function readsTheReport(person: Person, rows: number): Promise<void> {
  await person.sees('2 of 3 agents completed, 1 skipped', 'oracle  skipped by you');
  await person.sees('│ No language model was used');
  // The whole report is on a screen of 40 rows.
  if (rows < 40) {
    person.press('pagedown');
    await person.doesNotSee('│ No language model was used');
    person.press('g');
    await person.sees('│ No language model was used');
  }
  person.press('esc');
  await person.sees('Message main (ROOT)…', 'v for the report');
  person.press('v');
  await person.sees('┌─ 1 Answer');
}
