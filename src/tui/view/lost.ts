/** The line that says that a run has lost its process, on whatever screen one is. */
import { fit, restyle, span } from '../text/clip.ts';
import type { Line } from '../text/line.ts';
import { wrap } from '../text/wrap.ts';

/** Rows it may take. */
const MOST = 3;

/** At most three lines of exactly `width` columns. `why` is harmless. */
export function lostBanner(why: string, width: number): readonly Line[] {
  const sentence = why.split('\n')[0] ?? '';
  const words: Line = [
    span(`! The run stands still: ${sentence.replace(/[.!]$/, '')}. `, { fg: 'surface', bold: true }),
    span('R goes on with it here, q leaves.', { fg: 'surface' }),
  ];
  const back = { bg: 'err' } as const;
  return wrap(words, Math.max(1, width - 2))
    .slice(0, MOST)
    .map((line) => restyle(fit([span(' '), ...line], width, back), back));
}
