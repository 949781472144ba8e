/** The line that says that a run has lost its process, on whatever screen one is. */
import type { Context } from '../frame/screen.ts';
import { fit, restyle, span } from '../../../app/views/text/clip.ts';
import type { Line } from '../../../app/views/text/line.ts';
import { wrap } from '../../../app/views/text/wrap.ts';

/** Rows it may take. */
const MOST = 3;

/** Why nothing can be asked of a run that has lost its process; null of another one. */
export const stillWords = ({ elsewhere }: Pick<Context, 'elsewhere'>): string | null =>
  elsewhere?.lost ? 'The run stands still: R goes on with it here.' : null;

/** Why, as a sentence. */
export function lostWords(why: string): string {
  const first = (why.split('\n')[0] ?? '').replace(/[.!]$/, '');
  return `${first.charAt(0).toUpperCase()}${first.slice(1)}.`;
}

/** At most three lines of exactly `width` columns. `why` is harmless. */
export function lostBanner(why: string, width: number): readonly Line[] {
  const words: Line = [
    span(`! ${lostWords(why)} `, { fg: 'surface', bold: true }),
    span('R goes on here, q leaves.', { fg: 'surface' }),
  ];
  const back = { bg: 'err' } as const;
  return wrap(words, Math.max(1, width - 2))
    .slice(0, MOST)
    .map((line) => restyle(fit([span(' '), ...line], width, back), back));
}
