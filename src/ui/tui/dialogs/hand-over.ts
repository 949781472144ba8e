/** While a run is handed over: what is still waited for, as it goes on; at once, or not at all. It closes when the run has stopped. */
import type { Hint } from '../frame/keymap.ts';
import type { Context } from '../frame/screen.ts';
import type { Size } from '../terminal/terminal.ts';
import { fit, span } from '../../../app/views/text/clip.ts';
import type { Line } from '../../../app/views/text/line.ts';
import { wrap } from '../../../app/views/text/wrap.ts';
import { type UnderWay, underWay } from '../../../app/views/agents/in-flight.ts';
import { boxRows, boxWidth, closed, framed, keyLine, stay, type Overlay, type OverlayView } from '../frame/overlay.ts';

const WIDTH = 72;
/** Rows for what is waited for, with a blank one on either side. */
const LEAST = 5;
const INTRO =
  'The run goes on in a process of its own, without this screen, as soon as what runs now has come to its end.';

/** `ask` is called when the person doesn't want to wait, or stays. `isStopped`: once it has stopped here there is nothing left to choose. */
export function handOverOverlay(ask: (how: 'now' | 'stay') => void, isStopped: () => boolean): Overlay {
  const keys = (): readonly Hint[] => (isStopped() ? [] : KEYS);
  return {
    title: 'Hand the run over',
    kind: 'hand over',
    view: (context, size) => view(context, size, isStopped(), keys()),
    press(input) {
      if (input.is !== 'key' || isStopped()) return stay(this);
      if (input.key === 'y') {
        ask('now');
        return stay(this);
      }
      if (!['esc', 'q', 'n'].includes(input.key)) return stay(this);
      ask('stay');
      return closed();
    },
    hints: keys,
  };
}

const KEYS: readonly Hint[] = [
  { keys: 'y', hint: 'at once: cut off what runs' },
  { keys: 'Esc', hint: 'stay' },
];

function view(context: Context, size: Size, isStopped: boolean, offered: readonly Hint[]): OverlayView {
  const width = boxWidth(size, WIDTH);
  const inner = Math.max(1, width - 4);
  const waits = isStopped ? null : underWay(context.state);
  const keys = wrap(keyLine(offered.map(({ keys: key, hint }) => [key, hint] as const)), inner);
  const intro = wrap([span(INTRO, { fg: 'fg' })], inner);
  const rows = boxRows(size);
  // In a low terminal the footer alone names the keys, and nothing is left blank.
  const isLow = rows < intro.length + keys.length + LEAST;
  const gap: readonly Line[] = isLow ? [] : [[]];
  const below: readonly Line[] = isLow ? [] : [[], ...keys];
  const room = Math.max(1, rows - intro.length - gap.length - below.length);
  const body = [...intro, ...gap, ...waitLines(waits, inner, room, context), ...below].slice(0, rows);
  return { lines: framed({ title: 'Hand the run over', width, body }, context), cursor: null };
}

function waitLines(
  /** Null: it has stopped. */
  waits: readonly UnderWay[] | null,
  width: number,
  room: number,
  { glyphs }: Context,
): readonly Line[] {
  if (waits === null) return [[span('Handed over: its own process begins with it.', { fg: 'muted' })]];
  if (waits.length === 0) return [[span('Nothing runs any more: one moment.', { fg: 'muted' })]];
  const shown = waits.length <= room ? waits : waits.slice(0, Math.max(0, room - 1));
  const more = waits.length - shown.length;
  return [
    ...shown.map(
      ({ who, what }): Line =>
        fit(
          [
            span(`${glyphs.status.running} `, { fg: 'ok' }),
            span(who, { bold: true }),
            span(`  ${what}`, { fg: 'muted' }),
          ],
          width,
          {},
          glyphs.ellipsis,
        ),
    ),
    ...(more === 0 ? [] : [[span(`and ${more} more`, { fg: 'muted' })] as const]),
  ];
}
