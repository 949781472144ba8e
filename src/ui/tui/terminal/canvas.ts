/** Draws curves in braille with blessed-contrib's canvas, off screen, and converts its frame to spans. It is not
 * attached to a screen, which would redraw it in every frame. Loaded with the first chart. */
import type CanvasWidget from 'blessed-contrib/lib/widget/canvas.js';
import { type Ink, type Line, span } from '../../../app/views/index.ts';

/** Draws in dots: two per column, four per row, from the upper left corner. */
export interface Pencil {
  line(from: readonly [x: number, y: number], to: readonly [x: number, y: number], ink: Ink): void;
  dot(x: number, y: number, ink: Ink): void;
}

let widget: typeof CanvasWidget | null = null;
let loading: Promise<void> | null = null;

/** Loads the widget once; `drawCanvas` draws after that. */
export function loadCanvas(): Promise<void> {
  loading ??= import('blessed-contrib/lib/widget/canvas.js').then((loaded) => {
    widget = loaded.default;
  });
  return loading;
}

/** True once the package is loaded. */
export const canDraw = (): boolean => widget !== null;

/** The parts of a screen that an unattached element uses. */
const NO_SCREEN = { type: 'screen', options: {}, on: (): void => undefined, setEffects: (): void => undefined };

/** Columns that the widget leaves unused at its right. */
const UNUSED_COLUMNS = 6;

/** The drawing as `height` lines of `width` columns; null until the package is loaded. */
export function drawCanvas(width: number, height: number, draw: (pencil: Pencil) => void): readonly Line[] | null {
  if (widget === null) {
    void loadCanvas();
    return null;
  }
  if (width <= 0 || height <= 0) return [];
  const canvas = new widget({ screen: NO_SCREEN, width: width + UNUSED_COLUMNS, height });
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

/** One row of the canvas: characters in a colour that is the index of an ink, and blanks. */
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
