/** Toasts above the input row, and the banner of a run that has lost its process. */
import { capitalise, fit, type Ink, type Line, lineWidth, restyle, span, wrap } from '../../../app/views/index.ts';
import type { Millis } from '../../../domain/ids.ts';
import type { Context, Toast } from '../frame/screen.ts';
import { strong, tint } from '../text/blocks.ts';
import type { Glyphs } from '../text/glyphs.ts';

/** Errors stay until a key is pressed. */
export const STAYS: Readonly<Record<Toast['level'], Millis>> = {
  info: 4000,
  warn: 6000,
  error: Number.POSITIVE_INFINITY,
};

const WIDEST = 116;
const MOST = { lines: 3, toasts: 3 } as const;
const INK: Readonly<Record<Toast['level'], Ink>> = { info: 'info', warn: 'warn', error: 'err' };

/** The newest toasts as one block, all lines equally wide, at most `width` columns. */
export function toastBlock(toasts: readonly Toast[], width: number, glyphs: Glyphs): readonly Line[] {
  const room = Math.max(1, Math.min(width - 2, WIDEST) - 4);
  const lines = toasts.slice(-MOST.toasts).flatMap(({ level, text }): readonly Line[] => {
    const sign = level === 'info' ? glyphs.bullet : '!';
    const words = wrap([tint(text.replaceAll('\n', ' '), 'fg')], room).slice(0, MOST.lines);
    return words.map((line, row): Line => [strong(row === 0 ? ` ${sign} ` : '   ', INK[level]), ...line]);
  });
  const most = Math.max(0, ...lines.map(lineWidth));
  return lines.map((line) => restyle(fit(line, Math.min(width, most + 1)), { bg: 'raised' }));
}

const BANNER_ROWS = 3;

/** Why a run without a process takes no commands; null for any other run. */
export const stillWords = ({ elsewhere }: Pick<Context, 'elsewhere'>): string | null =>
  elsewhere?.lost ? 'The run has no process. Press R to continue it here.' : null;

/** The reason as a sentence. */
export const lostWords = (why: string): string => `${capitalise((why.split('\n')[0] ?? '').replace(/[.!]$/, ''))}.`;

/** At most three lines of exactly `width` columns. `why` must be sanitised. */
export function lostBanner(why: string, width: number): readonly Line[] {
  const words: Line = [strong(`! ${lostWords(why)} `, 'surface'), tint('R continues here, q quits.', 'surface')];
  const back = { bg: 'err' } as const;
  return wrap(words, Math.max(1, width - 2))
    .slice(0, BANNER_ROWS)
    .map((line) => restyle(fit([span(' '), ...line], width, back), back));
}
