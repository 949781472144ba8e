/** The process that carried the run is gone: what that means, and how to go on. Looking round is possible as well. */
import type { Context } from '../frame/screen.ts';
import type { Hint } from '../frame/keymap.ts';
import type { Size } from '../terminal/terminal.ts';
import { span } from '../../../app/views/text/clip.ts';
import type { Line } from '../../../app/views/text/line.ts';
import { wrap } from '../../../app/views/text/wrap.ts';
import { lostWords } from '../components/lost.ts';
import { boxRows, boxWidth, closed, framed, keyLine, stay, type Overlay } from '../frame/overlay.ts';

const TITLE = 'The run stands still';
const WIDTH = 72;

/** `why` is harmless. */
export const lostOverlay = (why: string): Overlay => ({
  title: TITLE,
  kind: 'dialog',
  view(context: Context, size: Size) {
    const width = boxWidth(size, WIDTH);
    const inner = Math.max(1, width - 4);
    const words: readonly Line[] = [
      [span(lostWords(why), { fg: 'warn' })],
      [],
      [
        span('Nothing that it recorded is lost. The run can go on in this process, from its last recorded turn.', {
          fg: 'fg',
        }),
      ],
    ];
    const keys = keyLine(keysOf(context).map(({ keys: key, hint }) => [key, hint] as const));
    const body = [...words.flatMap((line) => wrap(line, inner)), [], ...wrap(keys, inner)].slice(0, boxRows(size));
    return { lines: framed({ title: TITLE, width, body, ink: 'err' }, context), cursor: null };
  },
  press(input) {
    if (input.is !== 'key') return stay(this);
    if (['R', 'r', 'enter'].includes(input.key)) return closed({ app: 'go on here' });
    return ['esc', 'n'].includes(input.key) ? closed() : input.key === 'q' ? closed({ app: 'quit' }) : stay(this);
  },
  // Gone on with elsewhere, or here: nothing is lost any more.
  settle({ elsewhere }) {
    return elsewhere?.lost ? this : null;
  },
  hints: keysOf,
});

const keysOf = ({ glyphs }: Context): readonly Hint[] => [
  { keys: `R/${glyphs.key.enter}`, hint: 'go on with it here' },
  { keys: 'Esc', hint: 'look at it' },
  { keys: 'q', hint: 'leave' },
];
