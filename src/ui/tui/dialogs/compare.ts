/** Compares alternatives side by side, in a narrow terminal the present state and one. The key that opened it goes on. */
import type { CompareColumn, Dialog, Context } from '../frame/screen.ts';
import type { Input, Size } from '../terminal/terminal.ts';
import { fit, type Line, lineWidth, restyle, span, wrap } from '../../../app/views/index.ts';
import type { Overlay, OverlayView, Pressed } from '../frame/overlay.ts';
import { boxRows, boxWidth, closed, framed, scrolled, stay } from '../frame/overlay.ts';
import { tint } from '../text/blocks.ts';

type CompareDialog = Extract<Dialog, { readonly is: 'compare' }>;

/** The minimum width of a column: a number and its difference. */
const MIN_COLUMN = 13;
const MAX_COLUMN = 24;
export const compareOverlay = (dialog: CompareDialog): Overlay => open(dialog, dialog.at, 0);

const open = (dialog: CompareDialog, at: number, top: number): Overlay => ({
  title: dialog.title,
  kind: 'dialog',
  view: (context, size) => view(dialog, at, top, context, size),
  press: (input, _, size) => press(dialog, at, top, input, size),
  hints: ({ glyphs }) => [
    { keys: `${glyphs.key.left}${glyphs.key.right}`, hint: 'select' },
    { keys: glyphs.key.enter, hint: dialog.yes },
    { keys: 'Esc', hint: 'cancel' },
  ],
});

function shapeOf(dialog: CompareDialog, at: number, size: Size) {
  const longest = Math.max(0, ...[...dialog.heads, ...dialog.rows].map((line) => lineWidth(line)));
  const count = dialog.columns.length;
  const most = Math.max(1, boxWidth(size, longest + 2 + count * MAX_COLUMN + 4) - 4);
  const label = Math.min(longest + 2, Math.max(4, Math.floor(most * 0.3)));
  const all = label + count * MIN_COLUMN <= most;
  const shown = all ? dialog.columns.map((_, index) => index) : at === 0 ? [0] : [0, at];
  const column = Math.max(1, Math.min(MAX_COLUMN, Math.floor((most - label) / shown.length)));
  return { width: label + column * shown.length + 4, label, column, shown };
}

function view(dialog: CompareDialog, at: number, top: number, context: Context, size: Size): OverlayView {
  const { width, label, column, shown } = shapeOf(dialog, at, size);
  const chosen = dialog.columns[at];
  const cell = (line: Line, index: number): Line =>
    index === at
      ? restyle([span(' '), ...fit(line, column - 1)], { bg: 'selection' })
      : [span(' '), ...fit(line, column - 1)];
  const row = (name: Line, pick: (one: CompareColumn) => Line): Line => [
    ...fit(name, label),
    ...shown.flatMap((index) => cell(dialog.columns[index] === undefined ? [] : pick(dialog.columns[index]), index)),
  ];
  const titleOf = (one: CompareColumn): Line => {
    const on = one === chosen;
    return [span(one.title, on ? { fg: 'title', bold: true } : { fg: 'muted', bold: true })];
  };
  const head = [row([], titleOf), ...dialog.heads.map((name, index) => row(name, ({ heads }) => heads[index] ?? []))];
  const rows = dialog.rows.map((name, index) => row(name, ({ rows: cells }) => cells[index] ?? []));
  const most = boxRows(size);
  // In a low terminal the notes are dropped before the numbers.
  const below = notesOf(dialog, at, width - 4);
  const roomy = head.length + 1 + Math.min(3, rows.length) + below.length <= most;
  const notes = roomy ? below : [];
  const gap = roomy && rows.length > 0 ? [row([], () => [])] : [];
  const room = Math.max(0, Math.min(rows.length, most - head.length - gap.length - notes.length));
  const from = Math.max(0, Math.min(top, rows.length - room));
  const hidden = rows.length - room;
  const count = `${from + 1}-${from + room} of ${rows.length}`;
  return {
    lines: framed(
      {
        title: dialog.title,
        ...(shown.length < dialog.columns.length
          ? { titleEnd: [tint(`${at}/${dialog.columns.length - 1}`, 'faint')] }
          : {}),
        ...(hidden > 0 && room > 0 ? { foot: [tint(count, 'faint')] } : {}),
        width,
        body: [...head, ...gap, ...rows.slice(from, from + room), ...notes].slice(0, most),
      },
      context,
    ),
    cursor: null,
  };
}

const notesOf = ({ columns }: CompareDialog, at: number, width: number): readonly Line[] => {
  const lines = (columns[at]?.notes ?? []).flatMap((line) => wrap(line, Math.max(1, width), 2));
  return lines.length === 0 ? [] : [[], ...lines];
};

function press(dialog: CompareDialog, at: number, top: number, input: Input, size: Size): Pressed {
  if (input.is === 'key' && (input.key === 'esc' || input.key === 'q')) return closed();
  if (input.is === 'key' && input.key === 'enter') return choose(dialog, at, top);
  const column = input.is === 'key' ? columnFor(dialog, at, input.key) : at;
  const room = Math.max(1, boxRows(size) - dialog.heads.length - 4);
  const row = column === at ? scrolled(input, top, dialog.rows.length, room) : null;
  return stay(open(dialog, column, row ?? top));
}

/** The column that a key selects. Cycling skips the first one, which is the present state. */
function columnFor(dialog: CompareDialog, at: number, key: string): number {
  const last = dialog.columns.length - 1;
  if (key === dialog.next || key === 'tab') return at >= last ? Math.min(1, last) : at + 1;
  const by = key === 'right' || key === 'l' ? 1 : key === 'left' || key === 'h' || key === 'backtab' ? -1 : 0;
  return Math.max(0, Math.min(last, at + by));
}

function choose(dialog: CompareDialog, at: number, top: number): Pressed {
  const chosen = dialog.columns[at];
  if (chosen === undefined) return stay(open(dialog, at, top));
  if (chosen.whyNot === null) return closed(dialog.then(at));
  const text = chosen.whyNot;
  return { overlay: open(dialog, at, top), effect: { toast: { level: 'info', text } } };
}
