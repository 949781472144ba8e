/** Something to read and scroll: the help, long texts. */
import type { Dialog } from '../frame/screen.ts';
import { lineWidth, span } from '../../../app/views/text/clip.ts';
import type { Line } from '../../../app/views/text/line.ts';
import { wrap } from '../../../app/views/text/wrap.ts';
import { upDown } from '../frame/keymap.ts';
import { boxRows, boxWidth, closed, framed, scrolled, stay, windowed, type Overlay } from '../frame/overlay.ts';

type ReadDialog = Extract<Dialog, { readonly is: 'read' }>;
const WIDTH = 92;

export const readOverlay = ({ title, lines }: ReadDialog): Overlay =>
  scrollOverlay(title, (width) => lines.flatMap((line) => wrap(line, width, hang(line))));

/** `linesAt` gives the lines for a width, 1 or more; none may be wider. The box is `wanted` columns wide where they are there. */
export const scrollOverlay = (
  title: string,
  linesAt: (width: number) => readonly Line[],
  wanted: number = WIDTH,
): Overlay => open({ title, linesAt, wanted }, 0);

interface Read {
  readonly title: string;
  readonly linesAt: (width: number) => readonly Line[];
  readonly wanted: number;
}

function open(read: Read, at: number): Overlay {
  const { title, wanted } = read;
  const wrapped = (width: number): readonly Line[] => read.linesAt(Math.max(1, width - 4));
  return {
    title,
    kind: 'dialog',
    view(context, size) {
      const width = boxWidth(size, wanted);
      const lines = wrapped(width);
      const rows = Math.min(lines.length, boxRows(size));
      const { shown, top } = windowed(lines, at, rows);
      const place = `${top + 1}-${top + rows} of ${lines.length}`;
      return {
        lines: framed(
          { title, titleEnd: lines.length > rows ? [span(place, { fg: 'muted' })] : [], width, body: shown },
          context,
        ),
        cursor: null,
      };
    },
    press(input, _context, size) {
      if (input.is === 'key' && ['esc', 'q', '?', 'enter'].includes(input.key)) return closed();
      const total = wrapped(boxWidth(size, wanted)).length;
      const to = scrolled(input, at, total, Math.min(total, boxRows(size)));
      return stay(to === null ? this : open(read, to));
    },
    hints: ({ glyphs }) => [
      { keys: upDown(glyphs), hint: 'scroll' },
      { keys: 'Esc', hint: 'close' },
    ],
  };
}

/** Behind a first span of keys the text goes on under itself. */
const hang = (line: Line): number => (line.length === 2 && line[0] ? lineWidth([line[0]]) : 0);
