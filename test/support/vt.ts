/**
 * A small strict terminal: it knows the sequences that drawing may use and throws at every other one, so that running it is a
 * test of safety too. Widths are the drawing's own, or those of a terminal that disagrees about some clusters.
 */
import { clusterWidth, graphemes, isAgreed } from '../../src/app/views/text/width.ts';

export interface StrictTerminal {
  /** Throws at anything that drawing must not send. */
  write(bytes: string): void;
  /** The cells of each row: the cluster, `''` for the second half of a wide one. */
  cells(): readonly (readonly string[])[];
  cursor(): { readonly x: number; readonly y: number } | null;
}

/** Widths that a terminal could believe in: where all agree, the right one. */
export type Widths = 'right' | 'narrow' | 'wide';

const ALLOWED = /^\[(?:\?2026[hl]|\?25[hl]|\?7[hl]|2J|\d*C|\d+;\d+H|[\d;]+m)$/;
const SGR = /^(?:0|1|2|3|4|7|39|49|(?:3|4|9|10)[0-7]|[34]8;5;\d{1,3}|[34]8;2;\d{1,3};\d{1,3};\d{1,3})$/;
/** A link begins, or ends where it is empty: of a file or a page, nothing but what an address is made of. */
const LINK = /^\]8;;(?:(?:file|https?):\/\/(?:[\w\-.~:/?#[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})+)?\p{Cc}\\$/u;
const SEQUENCE = /\p{Cc}\[[^@-~]*[@-~]|\p{Cc}\]8;;[^\p{Cc}]*\p{Cc}\\|[^\p{Cc}]+|[^]/gu;

export function openStrict(width: number, height: number, widths: Widths = 'right'): StrictTerminal {
  let rows = blank(width, height);
  let [x, y] = [0, 0];
  let shows = false;
  let inFrame = false;
  let linked = false;
  let wraps = true;

  const put = (cluster: string): void => {
    const columns = columnsOf(cluster, widths);
    const row = rows[y];
    if (row === undefined || x >= width) throw new Error(`written outside of the screen at ${x},${y}`);
    if (x + columns > width && wraps) throw new Error(`it would go on in the next row behind ${x},${y}`);
    // As terminals do: half of a wide cluster that is written over becomes a blank.
    if (row[x] === '') row[x - 1] = ' ';
    if (row[x + columns] === '') row[x + columns] = ' ';
    row.splice(x, columns, ...[cluster, ''].slice(0, Math.min(columns, width - x)));
    x += columns;
  };
  const link = (part: string): void => {
    if (!inFrame) throw new Error('a link outside of a frame');
    linked = part.length > LINK_END;
  };
  const obey = (sequence: string): void => {
    const final = sequence.slice(-1);
    const [first = 0, second = 0] = sequence.slice(1, -1).split(';').map(Number);
    if (sequence.startsWith('[?2026')) inFrame = final === 'h';
    else if (!inFrame) throw new Error(`outside of a frame: ESC ${sequence}`);
    else if (sequence.startsWith('[?25')) shows = final === 'h';
    else if (sequence.startsWith('[?7')) wraps = final === 'h';
    else if (final === 'J') rows = blank(width, height);
    else if (final === 'C') x += Math.max(1, first);
    else if (final === 'H') [y, x] = [first - 1, second - 1];
    else checkLook(sequence.slice(1, -1));
  };
  const take = (part: string): void => {
    const sequence = part.startsWith('\u001b') ? part.slice(1) : '';
    if (LINK.test(sequence) && part.at(-2) === '\u001b') link(part);
    else if (ALLOWED.test(sequence)) obey(sequence);
    else if (/\p{Cc}/u.test(part)) throw new Error(`not allowed: ${JSON.stringify(part)}`);
    else if (!inFrame) throw new Error(`text outside of a frame: ${JSON.stringify(part)}`);
    else for (const cluster of graphemes(part)) put(cluster);
  };
  return {
    write(bytes) {
      for (const [part] of bytes.matchAll(SEQUENCE)) take(part);
      if (inFrame || !wraps) throw new Error('a frame was not ended');
      if (linked) throw new Error('a link was not ended');
    },
    cells: () => rows,
    cursor: () => (shows ? { x, y } : null),
  };
}

/** Throws for what has no columns: it must not be sent at all. */
function columnsOf(cluster: string, widths: Widths): 1 | 2 {
  const right = clusterWidth(cluster);
  if (right === 0) throw new Error(`nothing to see in ${JSON.stringify(cluster)}`);
  if (isAgreed(cluster) || widths === 'right') return right;
  return widths === 'narrow' ? 1 : 2;
}

/** Characters of the sequence that ends a link. */
const LINK_END = '\u001b]8;;\u001b\\'.length;

const blank = (width: number, height: number): string[][] =>
  Array.from({ length: height }, () => Array.from({ length: width }, () => ' '));

/** Each attribute for itself, colours with their parameters. */
function checkLook(parameters: string): void {
  const parts = parameters.match(/[34]8;5;\d+|[34]8;2;\d+;\d+;\d+|\d+/g) ?? [];
  const wrong = parts.find((part) => !SGR.test(part));
  if (wrong !== undefined || parts.join(';') !== parameters) throw new Error(`no look of ours: ${parameters}`);
}
