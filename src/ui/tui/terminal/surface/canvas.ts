/**
 * Curves in braille by blessed-contrib's canvas, off screen: it is drawn on, its frame is taken once and read into our spans.
 * It is attached to nothing: a real blessed screen would paint it again in every frame. Loaded when the first chart is seen.
 */
import type CanvasWidget from 'blessed-contrib/lib/widget/canvas.js';
import { span } from '../../../../app/views/text/clip.ts';
import type { Ink, Line } from '../../../../app/views/text/line.ts';

/** What can be done on it, in dots: two a column, four a row, from the upper left corner. */
export interface Pencil {
  line(from: readonly [x: number, y: number], to: readonly [x: number, y: number], ink: Ink): void;
  dot(x: number, y: number, ink: Ink): void;
}

let widget: typeof CanvasWidget | null = null;
let loading: Promise<void> | null = null;

/** Loads the package; resolves when charts can be drawn. */
export function loadCanvas(): Promise<void> {
  loading ??= import('blessed-contrib/lib/widget/canvas.js').then((loaded) => {
    widget = loaded.default;
  });
  return loading;
}

/** What an element asks of its screen before it is shown. */
const NO_SCREEN = { type: 'screen', options: {}, on: (): void => undefined, setEffects: (): void => undefined };

/** The widget leaves this many columns out at its right. */
const WASTED = 6;

/** `height` lines of `width` columns with what `draw` drew; null until the package is there. */
export function drawn(width: number, height: number, draw: (pencil: Pencil) => void): readonly Line[] | null {
  if (widget === null) {
    void loadCanvas();
    return null;
  }
  if (width <= 0 || height <= 0) return [];
  const canvas = new widget({ screen: NO_SCREEN, width: width + WASTED, height });
  canvas.emit('attach');
  const inks: Ink[] = [];
  const numberOf = (ink: Ink): number => (inks.includes(ink) ? inks.indexOf(ink) : inks.push(ink) - 1);
  const { ctx } = canvas;
  draw({
    line(from, to, ink) {
      ctx.strokeStyle = numberOf(ink);
      ctx.beginPath();
      ctx.moveTo(...from);
      ctx.lineTo(...to);
      ctx.stroke();
    },
    dot(x, y, ink) {
      ctx.strokeStyle = numberOf(ink);
      ctx._canvas.set(Math.floor(x), Math.floor(y));
    },
  });
  return ctx._canvas
    .frame()
    .split('\n')
    .slice(0, height)
    .map((row) => spansOf(row, inks));
}

const CELL = new RegExp(`${String.fromCharCode(27)}\\[38;5;(\\d+)m(.)${String.fromCharCode(27)}\\[39m|( +)`, 'gu');

/** One row of its frame: letters each in a colour that is the number of an ink, and blanks. */
function spansOf(row: string, inks: readonly Ink[]): Line {
  const out: { text: string; ink: Ink | null }[] = [];
  for (const [, number, sign, blanks] of row.matchAll(CELL)) {
    const ink = number === undefined ? null : (inks[Number(number)] ?? 'fg');
    const text = sign ?? blanks ?? '';
    const last = out.at(-1);
    if (last !== undefined && last.ink === ink) last.text += text;
    else out.push({ text, ink });
  }
  return out.map(({ text, ink }) => span(text, ink === null ? {} : { fg: ink }));
}
