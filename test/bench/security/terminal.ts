/** What reaches the terminal: strings made to do harm, how fast text is cleaned, and how long one bad chunk holds up the screen. */
import { toTerminal } from '../../../src/app/views/text/sanitise.ts';
import { spreadOf } from '../statistics.ts';
import type { Figure } from '../table.ts';
import type { Size } from './part.ts';
import { counted, timed, times, worst } from './part.ts';

/** C0 but tab and newline, DEL, C1: nothing of it may come through. */
const FOREIGN = /(?![\t\n])\p{Cc}/u;

const PIECES = [
  '\u001b[2J',
  '\u001b]0;title\u0007',
  '\u001b]52;c;YQ==\u001b\\',
  '\u001bP1$r\u001b\\',
  '\u001b_x\u001b\\',
  '\u009b31m',
  '\u009d8;;http://x\u009c',
  '\u0090q\u009c',
  '\u001b[8m',
  '\u001b[6n',
  '\u001b',
  '\u0008\u0008',
  '\r',
  '\u000c',
  '\u2028',
  '\u202e',
  '\ud800',
  '{red-fg}',
  'plain words',
  'ä漢字🙂',
  '\n',
  '\t',
];

/** The same strings at each run: a small generator with a seed. */
function chance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

export async function terminal(size: Size): Promise<readonly Figure[]> {
  const next = chance(1);
  const count = size.quick ? 20_000 : 1_000_000;
  let foreign = 0;
  for (let index = 0; index < count; index += 1) {
    const text = Array.from(
      { length: 1 + Math.floor(next() * 6) },
      () => PIECES[Math.floor(next() * PIECES.length)] ?? '',
    ).join('');
    // Cut anywhere: half a sequence is what a chunk may end with.
    if (FOREIGN.test(toTerminal(text.slice(Math.floor(next() * 3), text.length - Math.floor(next() * 3)))))
      foreign += 1;
  }
  const log = '\u001b[32m✓\u001b[39m test/a.test.ts:12 passed in 3 ms, nothing to see here\r\n'.repeat(20_000);
  const clean = await timed(times(size, 50), () => toTerminal(log));
  const long = 'x'.repeat(2 * 1024 * 1024);
  const colours = '\u001b[31mx\u001b[0m'.repeat(50_000);
  return [
    counted('strings with foreign control bytes', foreign, count),
    {
      what: 'text cleaned, MB/s',
      unit: '',
      mimir: spreadOf(clean.map((ms) => log.length / 1e6 / (ms / 1000))),
      floor: null,
    },
    worst('a line of 2 MB, cleaned', await timed(times(size, 20), () => toTerminal(long))),
    worst('100,000 colours, cleaned', await timed(times(size, 20), () => toTerminal(colours))),
  ];
}
