/** From what a screen wants to know to the box that asks it. */
import { span } from '../../../app/views/text/clip.ts';
import type { Line } from '../../../app/views/text/line.ts';
import { unreachable } from '../../../domain/result.ts';
import { chartLines } from '../components/money/charts.ts';
import { upDown } from '../frame/keymap.ts';
import type { Dialog, Context } from '../frame/screen.ts';
import {
  type Overlay,
  type Pressed,
  boxRows,
  boxWidth,
  closed,
  framed,
  scrolled,
  stay,
  windowed,
} from '../frame/overlay.ts';
import type { Input, Size } from '../terminal/terminal.ts';
import { compareOverlay } from './compare.ts';
import { confirmOverlay } from './confirm.ts';
import { formOverlay } from './forms/form.ts';
import { modeOverlay } from './mode.ts';
import { pickOverlay } from './pick.ts';
import { readOverlay } from './read.ts';
import { textOverlay } from './text.ts';

export function overlayFor(dialog: Dialog, context: Context): Overlay {
  switch (dialog.is) {
    case 'text':
      return textOverlay(dialog);
    case 'pick':
      return pickOverlay(dialog);
    case 'confirm':
      return confirmOverlay(dialog);
    case 'form':
      return formOverlay(dialog);
    case 'compare':
      return compareOverlay(dialog);
    case 'mode':
      return modeOverlay(dialog.agent, context);
    case 'charts':
      return chartsOverlay();
    case 'read':
      return readOverlay(dialog);
    default:
      return unreachable(dialog);
  }
}

// The whole run as charts: spend over time, by agent and by model, how busy it is, and what really ran when. Esc goes back.

const WIDEST = 400;

export const chartsOverlay = (): Overlay => open(0);

function open(at: number): Overlay {
  const linesOf = (context: Context, size: Size): readonly Line[] =>
    chartLines(context, Math.max(1, boxWidth(size, WIDEST) - 4), boxRows(size));
  return {
    title: 'Charts',
    kind: 'dialog',
    view(context, size) {
      const width = boxWidth(size, WIDEST);
      const lines = linesOf(context, size);
      const rows = boxRows(size);
      const { shown, top } = windowed(lines, at, rows);
      const place = lines.length > rows ? [span(`${top + rows}/${lines.length}`, { fg: 'muted' })] : [];
      const body = [...shown, ...Array.from({ length: Math.max(0, rows - shown.length) }, (): Line => [])];
      return { lines: framed({ title: 'Charts', titleEnd: place, width, body }, context), cursor: null };
    },
    press(input: Input, context: Context, size: Size): Pressed {
      if (input.is === 'key' && ['esc', 'q', 'c', 'enter'].includes(input.key)) return closed();
      const to = scrolled(input, at, linesOf(context, size).length, boxRows(size));
      return stay(to === null ? this : open(to));
    },
    hints: ({ glyphs }) => [
      { keys: upDown(glyphs), hint: 'scroll' },
      { keys: 'Esc', hint: 'close' },
    ],
  };
}
