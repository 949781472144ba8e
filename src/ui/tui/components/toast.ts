/** Short messages above the input line: how long they stay, and how they look. */
import type { Millis } from '../../../domain/ids.ts';
import type { Glyphs } from '../text/glyphs.ts';
import type { Toast } from '../frame/screen.ts';
import { fit, lineWidth, restyle, span } from '../../../app/views/text/clip.ts';
import type { Ink, Line } from '../../../app/views/text/line.ts';
import { wrap } from '../../../app/views/text/wrap.ts';

/** Errors stay until a key is pressed. */
export const STAYS: Readonly<Record<Toast['level'], Millis>> = {
  info: 4000,
  warn: 6000,
  error: Number.POSITIVE_INFINITY,
};

/** Columns: rather a long row than a second one, which covers more. */
const WIDEST = 116;
/** Lines a toast may take, and how many toasts are shown. */
const MOST = { lines: 3, toasts: 3 } as const;
const INK: Readonly<Record<Toast['level'], Ink>> = { info: 'info', warn: 'warn', error: 'err' };

/** The newest toasts as one block, all lines equally wide, at most `width` columns. */
export function toastBlock(toasts: readonly Toast[], width: number, glyphs: Glyphs): readonly Line[] {
  const room = Math.max(1, Math.min(width - 2, WIDEST) - 4);
  const lines = toasts.slice(-MOST.toasts).flatMap(({ level, text }): readonly Line[] => {
    const sign = level === 'info' ? glyphs.bullet : '!';
    const words = wrap([span(text.replaceAll('\n', ' '), { fg: 'fg' })], room).slice(0, MOST.lines);
    return words.map(
      (line, row): Line => [span(row === 0 ? ` ${sign} ` : '   ', { fg: INK[level], bold: true }), ...line],
    );
  });
  const most = Math.max(0, ...lines.map(lineWidth));
  return lines.map((line) => restyle(fit(line, Math.min(width, most + 1)), { bg: 'raised' }));
}
