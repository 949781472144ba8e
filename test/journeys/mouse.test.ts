/** The mouse in a real terminal: the wheel over each pane, clicks, and none of it where it is not wanted. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Person } from '../support/journey.ts';
import { makeMachine, planFor, TASK } from '../support/journey.ts';

const ESC = '\u001b';
const click = (person: Person, x: number, y: number): void => {
  person.terminal.type(`${ESC}[<0;${x + 1};${y + 1}M${ESC}[<0;${x + 1};${y + 1}m`);
};
const wheel = (person: Person, x: number, y: number, by: 'up' | 'down'): void => {
  person.terminal.type(`${ESC}[<${by === 'up' ? 64 : 65};${x + 1};${y + 1}M`);
};

/** Where a text stands on the screen. */
function placeOf(person: Person, text: string): { readonly x: number; readonly y: number } {
  const rows = person.terminal.screen();
  const y = rows.findIndex((row) => row.includes(text));
  return { x: rows[y]?.indexOf(text) ?? -1, y };
}
const clickOn = (person: Person, text: string): void => {
  const { x, y } = placeOf(person, text);
  click(person, x, y);
};

describe.concurrent('the mouse', () => {
  it('selects cards, tabs, rows of the graph and tasks, and turns the pane it is over', async () => {
    const person = await planFor(makeMachine(), TASK, { cols: 120, rows: 40 });
    clickOn(person, '3 oracle');
    await person.sees(/┃▌.*3 oracle/);
    wheel(person, 20, 3, 'up');
    await person.sees(/┃▌.*2 librarian/);
    person.press('enter');
    await person.sees('Message main', /● finder/);
    clickOn(person, '┌ ● finder');
    await person.sees(/(?:┏ |▌)● finder/);
    person.press('s');
    await person.sees(/(?:┏ |▌)⏸ finder/);
    clickOn(person, 'Todos');
    await person.sees('┏━ ⏸ finder', /[▸✓] See what is there|[▸✓○] .*\n/);
    clickOn(person, 'Costs');
    await person.sees('charged');
    clickOn(person, 'Transcript');
    await person.sees('interrupted by you');
    const before = person.screen();
    wheel(person, 90, 12, 'up');
    await person.sees((rows) => rows.join('\n') !== before);
    const log = placeOf(person, '─ Log ─');
    click(person, log.x, log.y + 2);
    await person.sees(/┏━ Log/);
    person.press('1', 'T');
    await person.sees('Graph ━');
    clickOn(person, '3 oracle');
    await person.sees('Message oracle');
    person.terminal.kill();
  });

  it('is the terminal’s own where the person says so, until F2', async () => {
    const machine = makeMachine();
    const folder = join(machine.home, 'config/mimir');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'config.yml'), 'ui: { mouse: false }\n', { mode: 0o600 });
    const person = machine.opens();
    await person.sees('What do you want to do?', 'Suggestions');
    const asked = (): readonly string[] =>
      ['1000', '1002', '1003', '1006'].filter((mode) => person.terminal.output().includes(`${ESC}[?${mode}h`));
    expect(asked()).toEqual([]);
    await person.sees('mouse off');
    person.press('f2');
    await person.doesNotSee('mouse off');
    expect(asked()).toEqual(['1000', '1002', '1006']);
    person.press('ctrl-c', 'ctrl-c');
    expect(await person.leaves()).toBe(0);
  });
});
