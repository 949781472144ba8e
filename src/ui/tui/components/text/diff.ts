/** Diffs as lines of the screen. */
import type { FileChange } from '../../../../app/views/file-changes.ts';
import { clip, span } from '../../../../app/views/text/clip.ts';
import type { Ink, Line } from '../../../../app/views/text/line.ts';

/** The colour of a line of a diff. */
export function diffInk(line: string): Ink {
  if (/^(?:\+\+\+|---|@@|diff |index )/.test(line)) return 'info';
  if (line.startsWith('+')) return 'ok';
  return line.startsWith('-') ? 'err' : 'muted';
}

/** `+6 -2` in their two colours; empty where nothing is. */
export const countSpans = ({ added, removed }: Pick<FileChange, 'added' | 'removed'>): Line => [
  span(`+${added}`, { fg: 'ok' }),
  span(' '),
  span(`-${removed}`, { fg: 'err' }),
];

/** A diff as lines of at most `width` columns: the signs stay, what is too long ends in `ellipsis`. */
export const diffLines = (diff: string, width: number, ellipsis: string): readonly Line[] =>
  diff.split('\n').map((line) => {
    const [, range, rest] = /^(@@ [^@]* @@)(.*)$/.exec(line) ?? [];
    const whole: Line =
      range === undefined
        ? [span(line, { fg: diffInk(line) })]
        : [span(range, { fg: 'info' }), span(rest ?? '', { fg: 'faint' })];
    return clip(whole, width, ellipsis);
  });
