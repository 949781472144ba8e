/**
 * The exact action of a question in lines: every character of it, what is hidden as an escape that looks like none of its
 * letters, broken where the terminal would break it; and shown a screen at a time, so that nothing scrolls away unseen.
 */
import type { ChalkInstance } from 'chalk';
import type { Part } from '../../../app/views/questions/exact.ts';
import { partsOf } from '../../../app/views/questions/exact.ts';
import { jsonDigest } from '../../../domain/text/digest.ts';
import { counted } from '../../../app/views/text/format.ts';
import { marked, pieces } from '../../../app/views/text/sanitise.ts';
import { clusterWidth, graphemes } from '../../../app/views/text/width.ts';
import type { Asker } from '../../../app/process/asker.ts';
import type { Io } from '../../../app/process/io.ts';

/** The terminal as it is now; null where the lines go somewhere that doesn't scroll. */
export interface Room {
  readonly columns: number;
  readonly rows: number;
}

export function roomOf({ terminal }: Pick<Io, 'terminal'>): Room | null {
  const { columns, rows } = process.stdout;
  return terminal && columns > 0 && rows > 0 ? { columns, rows } : null;
}

/** In front of a line of the action, of what goes on behind a blank, and of what goes on in the middle of a word. */
const SIGNS: Readonly<Record<Part['goesOn'], string>> = { new: '  | ', blank: '  : ', word: '  + ' };
/** Columns of the brackets around an escape. */
const BRACKETS = 2;
/** A longer action has a digest: two that differ anywhere have others. */
const LONG = 200;

/** Each line of the action, and below it how long it is and whether something hides in it. */
export function exactText(exact: string, paint: ChalkInstance, room: Room | null): readonly string[] {
  const lines = exact.split('\n');
  const width = room === null ? Number.POSITIVE_INFINITY : Math.max(1, room.columns - SIGNS.new.length - BRACKETS - 1);
  const hidden = lines.flatMap((line) => pieces(line)).some((piece) => piece.hidden);
  const size = [
    counted(lines.length, 'line'),
    counted(exact.length, 'character'),
    ...(exact.length > LONG ? [`digest ${jsonDigest(marked(exact)).slice(0, 8)}`] : []),
  ];
  const escapes = paint.level === 0 ? '<escapes>' : 'escapes';
  return [
    ...lines.flatMap((line) => broken(line, paint, width)),
    paint.dim(`  ${size.join(', ')}`),
    ...(hidden ? [paint.yellow(`  hidden characters are in it: shown as ${escapes}`)] : []),
  ];
}

/** Letters of one column each, nothing hidden: nearly every action is of these, and some are megabytes of them. */
const SIMPLE = /^[\x20-\x7e]*$/;

/** The rows of a line, each with the sign in front that says how it goes on. */
function broken(line: string, paint: ChalkInstance, width: number): readonly string[] {
  if (SIMPLE.test(line)) {
    if (line.length <= width) return [SIGNS.new + line];
    const units = { length: line.length, isBlank: (at: number) => line[at] === ' ', columns: () => 1 };
    return partsOf(units, width).map(({ from, to, goesOn }) => SIGNS[goesOn] + line.slice(from, to));
  }
  const units = pieces(line).flatMap(({ text, hidden }) => graphemes(text).map((cluster) => ({ cluster, hidden })));
  return partsOf(
    {
      length: units.length,
      isBlank: (at) => units[at]?.cluster === ' ',
      columns: (at) => clusterWidth(units[at]?.cluster ?? ''),
    },
    width,
  ).map(({ from, to, goesOn }) => SIGNS[goesOn] + rowOf(units.slice(from, to), paint));
}

interface Unit {
  readonly cluster: string;
  readonly hidden: boolean;
}

/** Neighbours of one look together, as an escape stands in brackets as a whole. */
function rowOf(units: readonly Unit[], paint: ChalkInstance): string {
  let [row, open, hidden] = ['', '', false];
  for (const unit of units) {
    if (unit.hidden !== hidden) {
      row += look(open, hidden, paint);
      [open, hidden] = ['', unit.hidden];
    }
    open += unit.cluster;
  }
  return row + look(open, hidden, paint);
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
