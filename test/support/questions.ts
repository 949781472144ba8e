/** How a person at a terminal answers questions that take keys only some time after they have opened. */
import type { Person } from './journey.ts';

/** Keys that answer: pressed only while a question is there, for elsewhere they mean something else. */
const ANSWERS = new Set(['enter', 'esc', 'y', 'n', 'A']);

/** A question is deaf at first to what was typed before it was drawn, so a key may have to be pressed again. */
export async function pressesUntil(person: Person, key: string, what: string | RegExp): Promise<void> {
  for (let tries = 0; tries < 60; tries += 1) {
    if (!ANSWERS.has(key) || person.screen().includes('Your answer is needed')) person.press(key);
    const seen = await person.terminal.waitFor(what, { timeout: 400 }).then(
      () => true,
      () => false,
    );
    if (seen) return;
  }
  await person.sees(what);
}
