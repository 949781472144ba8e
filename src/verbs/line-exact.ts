/**
 * The exact action of a question in lines: every character of it, what is hidden as an escape that looks like none of its
 * letters, broken where the terminal would break it; and shown a screen at a time, so that nothing scrolls away unseen.
 */
import type { ChalkInstance } from 'chalk';
import { jsonDigest } from '../domain/digest.ts';
import { counted } from '../tui/format.ts';
import { marked, pieces } from '../tui/text/sanitise.ts';
import { clusterWidth, graphemes } from '../tui/text/width.ts';
import type { Asker } from './line-asker.ts';
import type { Io } from './io.ts';

/** The terminal as it is now; null where the lines go somewhere that doesn't scroll. */
export interface Room {
  readonly columns: number;
  readonly rows: number;
}

export function roomOf({ terminal }: Pick<Io, 'terminal'>): Room | null {
  const { columns, rows } = process.stdout;
  return terminal && columns > 0 && rows > 0 ? { columns, rows } : null;
}

const FIRST = '  | ';
/** In front of what is still the same line. */
const SAME = '  : ';
/** Columns of the brackets around an escape. */
const BRACKETS = 2;
/** A longer action has a digest: two that differ anywhere have others. */
const LONG = 200;

/** Each line of the action, and below it how long it is and whether something hides in it. */
export function exactText(exact: string, paint: ChalkInstance, room: Room | null): readonly string[] {
  const lines = exact.split('\n');
  const width = room === null ? Number.POSITIVE_INFINITY : Math.max(1, room.columns - FIRST.length - BRACKETS - 1);
  const hidden = lines.flatMap((line) => pieces(line)).some((piece) => piece.hidden);
  const size = [
    counted(lines.length, 'line'),
    counted(exact.length, 'character'),
    ...(exact.length > LONG ? [`digest ${jsonDigest(marked(exact)).slice(0, 8)}`] : []),
  ];
  const escapes = paint.level === 0 ? '<escapes>' : 'escapes';
  return [
    ...lines.flatMap((line) => broken(line, paint, width).map((part, at) => (at === 0 ? FIRST : SAME) + part)),
    paint.dim(`  ${size.join(', ')}`),
    ...(hidden ? [paint.yellow(`  hidden characters are in it: shown as ${escapes}`)] : []),
  ];
}

/** Letters of one column each, nothing hidden: nearly every action is of these, and some are megabytes of them. */
const SIMPLE = /^[\x20-\x7e]*$/;

function broken(line: string, paint: ChalkInstance, width: number): readonly string[] {
  if (SIMPLE.test(line) && line.length <= width) return [line];
  if (SIMPLE.test(line))
    return Array.from({ length: Math.ceil(line.length / width) }, (_, at) => line.slice(at * width, (at + 1) * width));
  const rows: string[] = [];
  let [row, used] = ['', 0];
  for (const { text, hidden } of pieces(line)) {
    let open = '';
    for (const cluster of graphemes(text)) {
      const size = clusterWidth(cluster);
      if (used + size > width && used > 0) {
        rows.push(row + look(open, hidden, paint));
        [row, open, used] = ['', '', 0];
      }
      open += cluster;
      used += size;
    }
    row += look(open, hidden, paint);
  }
  return [...rows, row];
}

/** Where there are no colours an escape stands in brackets. */
function look(text: string, hidden: boolean, paint: ChalkInstance): string {
  if (!hidden || text === '') return text;
  return paint.level === 0 ? `<${text}>` : paint.black.bgYellow(text);
}

/**
 * Says the lines, a screen at a time where they are more than one; false when the person has read enough to say no. Two
 * rows stay free: for the prompt, and for one that is wrapped.
 */
export async function sayAll(
  lines: readonly string[],
  { asker, io, room }: { readonly asker: Pick<Asker, 'ask'>; readonly io: Pick<Io, 'say'>; readonly room: Room | null },
): Promise<boolean> {
  const page = room === null ? lines.length : Math.max(4, room.rows - 2);
  for (let from = 0; from < lines.length; from += page) {
    for (const line of lines.slice(from, from + page)) io.say(line);
    const left = lines.length - from - page;
    if (left <= 0) break;
    const typed = await asker.ask(`-- ${counted(left, 'line')} more: Enter goes on, n is a no -- `, 'fresh');
    if (typed?.trim().toLowerCase() === 'n') return false;
  }
  return true;
}
