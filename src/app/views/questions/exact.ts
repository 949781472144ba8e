/**
 * The text that a person decides about, in rows of a width: broken behind blanks, every character kept. How a row goes on from the one
 * above is said with it, so that no break is taken for a part of the text.
 */

/** One line of the text by its units: characters, or what is shown as one. */
export interface Units {
  readonly length: number;
  isBlank(at: number): boolean;
  /** Columns of one unit. */
  columns(at: number): number;
}

export interface Part {
  /** The units of the line from here up to, but not with, `to`. */
  readonly from: number;
  readonly to: number;
  /** How it goes on: a line of its own, behind a blank, or in the middle of a word that is wider than the row. */
  readonly goesOn: 'new' | 'blank' | 'word';
}

/** The rows of one line, each of at most `width` columns. An empty line is one row. */
export function partsOf(line: Units, width: number): readonly Part[] {
  const parts: Part[] = [];
  let goesOn: Part['goesOn'] = 'new';
  for (let from = 0; from < line.length || parts.length === 0; ) {
    const end = fitting(line, from, width);
    const to = end === line.length ? end : breakOf(line, from, end);
    parts.push({ from, to, goesOn });
    goesOn = to > from && to < line.length && (line.isBlank(to - 1) || line.isBlank(to)) ? 'blank' : 'word';
    from = Math.max(to, from + 1);
  }
  return parts;
}

/** How far a row from `from` can reach; at least one unit. */
function fitting(line: Units, from: number, width: number): number {
  let [end, used] = [from, 0];
  while (end < line.length && used + line.columns(end) <= width) used += line.columns(end++);
  return end === from ? Math.min(line.length, from + 1) : end;
}

/** Behind the last blank of a row, else at its end; the indentation of a line alone is no place to break. */
function breakOf(line: Units, from: number, end: number): number {
  if (line.isBlank(end)) return end;
  let at = end;
  while (at > from && !line.isBlank(at - 1)) at -= 1;
  let word = from;
  while (word < at && line.isBlank(word)) word += 1;
  return word < at ? at : end;
}
