/**
 * A screen as a file that a person can read in a review: its text, and below it which style every column has, by meaning. What
 * a meaning looks like in each theme stands in a file of its own, so that both together say every cell of every theme.
 */
import { type Frame, type Line, plain, type Style } from '../../src/app/views/text/line.ts';
import { widthOf } from '../../src/app/views/text/width.ts';

/** `ok on raised, bold`; empty for the terminal's own look. */
export function styleName(style: Style): string {
  const { fg, bg, link } = style;
  const flags = FLAGS.filter((flag) => style[flag] === true);
  const ink = [fg ?? '', bg === undefined ? '' : `on ${bg}`].filter((part) => part !== '').join(' ');
  return [ink, ...flags, link === undefined ? '' : 'link'].filter((part) => part !== '').join(', ');
}

const FLAGS = ['bold', 'dim', 'italic', 'underline', 'inverse'] as const;

/** All styles of a frame, each once. */
export const stylesOf = ({ lines }: Frame): readonly Style[] => [
  ...new Map(lines.flatMap((line) => line.map(([, style]) => [styleName(style), style] as const))).values(),
];

/** Text, cursor, legend of styles, and for each row its runs: a letter and how many columns. */
export function golden({ lines, cursor }: Frame): string {
  const letters = new Map<string, string>([['', '.']]);
  const runs = lines.map((line) => runsOf(line, letters));
  const legend = [...letters].map(([name, letter]) => `${letter} ${name === '' ? "the terminal's own" : name}`);
  return [
    ...lines.map((line) => plain(line).trimEnd()),
    '',
    cursor === null ? 'no cursor' : `cursor at ${cursor.x},${cursor.y}`,
    '',
    ...legend,
    '',
    ...runs.map((run, row) => `${String(row).padStart(2)} ${run}`),
    '',
  ].join('\n');
}

function runsOf(line: Line, letters: Map<string, string>): string {
  const runs: { letter: string; columns: number }[] = [];
  for (const [text, style] of line) {
    const columns = widthOf(text);
    if (columns === 0) continue;
    const name = styleName(style);
    const letter = letters.get(name) ?? LETTERS[letters.size - 1] ?? `<${letters.size}>`;
    letters.set(name, letter);
    const last = runs.at(-1);
    if (last?.letter === letter) last.columns += columns;
    else runs.push({ letter, columns });
  }
  return runs.map(({ letter, columns }) => `${letter}${columns}`).join(' ');
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';
