/** A long text of parts, each with lines of its own: only what is visible is taken from them. Parts may be items to select. */
import type { Line } from '../../../../app/views/text/line.ts';

export interface Part {
  /** Number of the thing that it is of: a block, a call, a file. Null for what can't be selected. */
  readonly item: number | null;
  readonly lines: readonly Line[];
}

export interface Doc {
  readonly parts: readonly Part[];
  /** The first line of each part. */
  readonly starts: readonly number[];
  readonly total: number;
  /** The first item that has its lines; those before it are laid out in the next frames. 0 where nothing is left. */
  readonly front: number;
}

/** What stands between two parts. */
export const GAP: Part = { item: null, lines: [[]] };

export function docOf(parts: readonly Part[], front = 0): Doc {
  const starts: number[] = [];
  let total = 0;
  for (const { lines } of parts) {
    starts.push(total);
    total += lines.length;
  }
  return { parts, starts, total, front };
}

/** All of it as one part that can't be selected. */
export const docOfLines = (lines: readonly Line[]): Doc => docOf([{ item: null, lines }]);

/** Lines `from` to `to`, each with the item it belongs to. */
export function linesOf(
  doc: Doc,
  from: number,
  to: number,
): readonly { readonly line: Line; readonly item: number | null }[] {
  const out: { line: Line; item: number | null }[] = [];
  for (let at = partAt(doc, from); at < doc.parts.length; at++) {
    const part = doc.parts[at];
    const start = doc.starts[at] ?? 0;
    if (part === undefined || start >= to) break;
    for (let row = Math.max(from, start); row < Math.min(to, start + part.lines.length); row++)
      out.push({ line: part.lines[row - start] ?? [], item: part.item });
  }
  return out;
}

/** The last part that begins at or before a line. */
function partAt({ starts }: Doc, line: number): number {
  let low = 0;
  let high = starts.length;
  while (low + 1 < high) {
    const middle = (low + high) >> 1;
    if ((starts[middle] ?? 0) <= line) low = middle;
    else high = middle;
  }
  return low;
}

/** The lines of an item: the first, and the one after the last. Null where there is no such item. */
export function placeOf(doc: Doc, item: number): { readonly from: number; readonly to: number } | null {
  const at = doc.parts.findIndex((part) => part.item === item);
  const from = doc.starts[at];
  return from === undefined ? null : { from, to: from + (doc.parts[at]?.lines.length ?? 0) };
}

/** The items from first to last. */
export const itemsOf = ({ parts }: Doc): readonly number[] =>
  parts.flatMap(({ item, lines }) => (item === null || lines.length === 0 ? [] : [item]));

/** The last item that begins in these lines, else the one that covers them; null where there is none. */
export function itemWithin(doc: Doc, from: number, to: number): number | null {
  for (let at = partAt(doc, Math.max(from, to - 1)); at >= 0; at--) {
    const part = doc.parts[at];
    if (part !== undefined && part.item !== null && part.lines.length > 0) return part.item;
  }
  return itemsOf(doc)[0] ?? null;
}
