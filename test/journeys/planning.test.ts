/** Changing the plan by hand: forms, new and dropped tasks, and what would be no plan any more. */
import { describe, expect, it } from 'vitest';
import { makeMachine, planFor, TASK } from '../support/journey.ts';

describe.concurrent('a plan changed by hand', () => {
  it('sets everything about a task in one form, and says what changed', async () => {
    const person = await planFor(makeMachine(), TASK, { cols: 100, rows: 40 });
    person.press('m');
    await person.sees('Edit #', '^S save');
    person.type(' And who calls it.');
    await person.sees('And who calls it.');
    person.press('tab', 'tab', 'tab', 'tab');
    person.press('ctrl-u');
    person.type('120000');
    await person.sees('120000');
    person.press('ctrl-s');
    await person.doesNotSee('^S save');
    await person.sees('✎', '120k tok', 'And who calls it.');
    person.press('u');
    await person.doesNotSee('120k tok');
    person.press('U');
    await person.sees('120k tok');
    person.terminal.kill();
  });

  it('adds a task and drops one, naming what waits for it', async () => {
    const person = await planFor(makeMachine(), TASK, { cols: 100, rows: 40 });
    await person.sees(/Plan 3 tasks/);
    person.press('a');
    await person.sees('Add task');
    person.type('Say who uses the report');
    await person.sees('Say who uses the report');
    person.press('ctrl-s');
    await person.sees(/Plan 4 tasks/);
    person.press('g');
    await person.sees(/▌.*1 finder/);
    person.press('d');
    await person.sees('Delete #1 finder?', 'depend');
    person.press('enter');
    await person.doesNotSee('Delete #1 finder?');
    person.press('d');
    await person.sees('Delete #1 finder?');
    person.press('y');
    await person.sees(/Plan 3 tasks/);
    person.terminal.kill();
  });

  it('refuses a circle at the field, with the reason, and a change that was not saved is asked about', async () => {
    const person = await planFor(makeMachine(), TASK, { cols: 100, rows: 40 });
    person.press('D');
    await person.sees('Edit #', '#3 oracle  depends on #1: would create a cycle');
    person.press('down', ' ');
    await person.sees('[ ] #3 oracle');
    person.press('up', ' ');
    await person.sees('[✓] #2');
    person.press('ctrl-s');
    await person.doesNotSee('^S save');
    await person.sees(/▌.*2 finder/, /Depends +#1 librarian/);
    person.press('esc');
    await person.sees('Discard this plan?');
    person.press('n');
    await person.doesNotSee('Discard this plan?');
    expect(person.screen()).toContain('✎');
    person.terminal.kill();
  });
});
