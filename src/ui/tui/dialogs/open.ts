/** Opens the overlay of a dialog. */
import { type Line, lineWidth, wrap } from '../../../app/views/index.ts';
import { unreachable } from '../../../domain/result.ts';
import { chartLines } from '../components/charts.ts';
import type { Overlay } from '../frame/overlay.ts';
import type { Context, Dialog } from '../frame/screen.ts';
import { compareOverlay } from './compare.ts';
import { confirmOverlay } from './confirm.ts';
import { formOverlay, textOverlay } from './form.ts';
import { CLOSE, messageOverlay, readOverlay } from './message.ts';
import { modeOverlay } from './mode.ts';
import { pickOverlay } from './list.ts';

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
      return readOverlay(dialog.title, (width) => dialog.lines.flatMap((line) => wrap(line, width, indent(line))));
    default:
      return unreachable(dialog);
  }
}

/** A line of two spans is wrapped under its second one. */
const indent = (line: Line): number => (line.length === 2 && line[0] ? lineWidth([line[0]]) : 0);

/** Charts of the run in full size: spend over time, by agent and by model, activity, and a timeline. */
export const chartsOverlay = (): Overlay =>
  messageOverlay({
    title: 'Charts',
    width: Number.POSITIVE_INFINITY,
    reads: true,
    lines: (context, width, rows) => {
      const lines = chartLines(context, width, rows);
      return [...lines, ...Array.from({ length: Math.max(0, rows - lines.length) }, (): Line => [])];
    },
    keys: () => CLOSE.map((close) => ({ ...close, keys: [...close.keys, 'c'] })),
  });
