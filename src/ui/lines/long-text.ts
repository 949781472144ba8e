/** Long texts in lines: a part at a time, so that a screen reader can be stopped, and `more` goes on. */
import { counted } from '../../app/views/text/format.ts';
import type { LineDesk } from './command.ts';

const PART = 40;

/** Says the first part; `more` says the next. */
export function sayLong(desk: LineDesk, lines: readonly string[], most = PART): void {
  const all = lines.flatMap((line) => line.split('\n'));
  desk.say(...all.slice(0, most));
  desk.memory.rest = all.slice(most);
  const left = desk.memory.rest.length;
  if (left > 0)
    desk.say(`-- ${counted(left, 'line')} left: more says the next ${Math.min(PART, left)}, more all the rest.`);
}

export function sayMore(rest: string, desk: LineDesk): void {
  const { rest: lines } = desk.memory;
  if (lines.length === 0) return desk.refuse('there is nothing more to say');
  sayLong(desk, lines, rest === 'all' ? lines.length : PART);
}
