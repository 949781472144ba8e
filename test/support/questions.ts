/** How a person at a terminal turns to questions and answers them: by `A` first, and by a key that was not just pressed. */
import type { Person } from './journey.ts';

/** Keys that answer: pressed only while a question has the keys, for elsewhere they mean something else. */
const ANSWERS = new Set(['enter', 'esc', 'y', '1', '2', '3', '4', '5']);

/** A key that is pressed again within this time counts as held. */
const LET_GO = 1100;

/** Turns to the question that waits, presses a key until something is on the screen. */
export async function pressesUntil(person: Person, key: string, what: string | RegExp): Promise<void> {
  for (let tries = 0; tries < 40; tries += 1) {
    if (ANSWERS.has(key) && /(?<!Press )A to answer/.test(person.screen())) {
      person.press('A');
      await person.sees('Esc later');
    }
    if (!ANSWERS.has(key) || person.screen().includes('Esc later')) person.press(key);
    const seen = await person.terminal.waitFor(what, { timeout: LET_GO }).then(
      () => true,
      () => false,
    );
    if (seen) return;
  }
  await person.sees(what);
}

/** In lines: types an answer until it leads to `what`; one that comes as fast as a held key repeats is not taken. */
export async function answersInLines(person: Person, line: string, what: string | RegExp): Promise<void> {
  for (let tries = 0; tries < 20; tries += 1) {
    const from = person.terminal.output().length;
    const heard = (): string => person.terminal.output().slice(from).replaceAll('\r', '');
    person.type(`${line}\r`);
    await person.sees(() => heard().search(what) !== -1 || heard().includes('as fast as a held key'));
    if (heard().search(what) !== -1) return;
    await person.terminal.waitFor(/^$/, { timeout: LET_GO }).catch(() => undefined);
  }
  await person.sees(what);
}
