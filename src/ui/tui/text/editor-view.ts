/** Draws a field: soft wrap (several lines) or sideways scrolling (one line) around the cursor, and a placeholder. */
import { columns, fit, PLAIN } from '../../../app/views/text/clip.ts';
import { type Editor, isEmpty } from './editor.ts';
import type { Cursor, Line, Style } from '../../../app/views/text/line.ts';
import { clusterWidth, graphemes, widthOf } from '../../../app/views/text/width.ts';

export interface EditorView {
  readonly width: number;
  readonly height: number;
  readonly style?: Style;
  /** Shown faint while the field is empty. */
  readonly placeholder?: string;
  /** Without the focus the text is shown from its start. */
  readonly focused?: boolean;
}

/** Exactly `height` lines of `width` columns, and where the cursor stands in them. */
export function viewEditor(
  editor: Editor,
  { width, height, style = PLAIN, placeholder = '', focused = true }: EditorView,
): { readonly lines: readonly Line[]; readonly cursor: Cursor } {
  if (width < 1 || height < 1) return { lines: [], cursor: { x: 0, y: 0 } };
  const empty = isEmpty(editor) && placeholder !== '';
  const { rows, cursor } = editor.multiline ? wrapped(editor, width) : single(editor, width, focused);
  const top = focused ? Math.max(0, Math.min(cursor.y - height + 1, rows.length - height)) : 0;
  // Rows above the cursor leave at the top only when it would leave at the bottom.
  const shown = rows.slice(top, top + height);
  const lines = Array.from({ length: height }, (_, y): Line => {
    if (empty && y === 0) return fit([[placeholder, { ...style, fg: 'faint' }]], width, style);
    return fit([[shown[y] ?? '', style]], width, style);
  });
  return { lines, cursor: { x: Math.min(cursor.x, width - 1), y: Math.max(0, Math.min(cursor.y - top, height - 1)) } };
}

/** How many lines a field takes at a width; for boxes that grow with their text. */
export const editorHeight = (editor: Editor, width: number): number =>
  editor.multiline && width > 0 ? wrapped(editor, width).rows.length : 1;

interface Rows {
  readonly rows: readonly string[];
  readonly cursor: Cursor;
}

/** One line: the part around the cursor, which keeps some of the text before it in sight. */
function single(editor: Editor, width: number, focused: boolean): Rows {
  const line = editor.lines[0] ?? '';
  const x = widthOf(line.slice(0, editor.column));
  // The cursor may stand behind the last letter.
  const from =
    focused && widthOf(line) >= width ? Math.max(0, Math.min(x - (width >> 1), widthOf(line) + 1 - width)) : 0;
  const part = columns([[line, PLAIN]], from, from + width);
  return { rows: [part.map(([text]) => text).join('')], cursor: { x: x - from, y: 0 } };
}

function wrapped(editor: Editor, width: number): Rows {
  const rows: string[] = [];
  let cursor: Cursor = { x: 0, y: 0 };
  for (const [row, line] of editor.lines.entries()) {
    const top = rows.length;
    const parts = softRows(line, width);
    rows.push(...parts.map(({ text }) => text));
    if (row !== editor.row) continue;
    const y = Math.max(
      0,
      parts.findLastIndex(({ start }) => start <= editor.column),
    );
    const x = widthOf(line.slice(parts[y]?.start ?? 0, editor.column));
    cursor = { x, y: top + y };
    // Behind the last letter of a full row the cursor stands at the start of the next.
    if (x >= width) {
      if (y === parts.length - 1) rows.push('');
      cursor = { x: 0, y: top + y + 1 };
    }
  }
  return { rows, cursor };
}

/** A line as rows, broken behind blanks; every letter stays, so that the cursor can stand at each. */
function softRows(line: string, width: number): readonly { readonly text: string; readonly start: number }[] {
  const rows: { text: string; start: number }[] = [];
  let start = 0;
  let used = 0;
  let units = 0;
  let blank = 0;
  for (const cluster of graphemes(line)) {
    const size = clusterWidth(cluster);
    if (used + size > width) {
      const end = blank > start ? blank : units;
      rows.push({ text: line.slice(start, end), start });
      start = end;
      used = widthOf(line.slice(end, units));
    }
    units += cluster.length;
    used += size;
    if (cluster === ' ') blank = units;
  }
  rows.push({ text: line.slice(start), start });
  return rows;
}
