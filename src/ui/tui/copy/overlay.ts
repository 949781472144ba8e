/** Copy mode: the screen as it was stands still, a cursor walks over it, and what is selected is copied. */
import type { Glyphs } from '../text/glyphs.ts';
import { type Hint, footerLine, keyLabel } from '../frame/keymap.ts';
import type { Context } from '../frame/screen.ts';
import type { Input, Size } from '../terminal/terminal.ts';
import { columns, lineWidth, span } from '../../../app/views/text/clip.ts';
import { sized } from '../text/compose.ts';
import { edit, editorText } from '../text/editor.ts';
import { viewEditor } from '../text/editor-view.ts';
import type { Frame, Line, Style } from '../../../app/views/text/line.ts';
import { widthOf } from '../../../app/views/text/width.ts';
import { closed, stay, type Overlay, type OverlayView, type Pressed } from '../frame/overlay.ts';
import { cellsOf, matches, selectedOf, textOf, type Selection } from './cells.ts';
import { type CopyBinding, type Copying, type Outcome, copyKeys, moved, sought } from './keys.ts';

/** The last row is copy mode's own: its keys. */
export function copyOverlay(frame: Frame, own: Readonly<Record<string, string>> = {}): Overlay {
  const still: Frame = { ...frame, lines: frame.lines.slice(0, -1) };
  const rows = cellsOf(still);
  const at = frame.cursor ?? { x: 0, y: rows.length > 1 ? 1 : 0 };
  return open(still, moved({ rows, at, mark: null, sought: '', field: null, keys: copyKeys(own) }, at));
}

function open(still: Frame, copying: Copying): Overlay {
  return {
    title: 'Copy mode',
    kind: 'copy',
    view: (context, size) => view(still, copying, context, size),
    press: (input) => after(still, copying, press(copying, input)),
    hints: ({ glyphs }) => hintsOf(copying.keys, glyphs),
  };
}

const hintsOf = (table: readonly CopyBinding[], glyphs: Glyphs): readonly Hint[] => [
  { keys: `${keyLabel('up', glyphs)}${keyLabel('down', glyphs)}`, hint: 'move' },
  ...table
    .filter(({ hint }) => hint !== '')
    .map(({ keys, hint }) => ({
      keys: keyLabel(keys[0] ?? '', glyphs),
      hint,
    })),
];

function press(copying: Copying, input: Input): Outcome {
  if (input.is === 'wheel') return moved(copying, { x: copying.at.x, y: copying.at.y + 3 * input.by });
  if (input.is === 'click') return moved(copying, input);
  if (copying.field !== null) return searching(copying, copying.field, input);
  if (input.is !== 'key') return copying;
  return copying.keys.find(({ keys }) => keys.includes(input.key))?.run(copying, input.key) ?? copying;
}

function searching(copying: Copying, field: NonNullable<Copying['field']>, input: Input): Copying {
  if (input.is === 'key' && input.key === 'esc') return { ...copying, field: null };
  if (input.is === 'key' && input.key === 'enter') return { ...sought(copying, editorText(field), 1), field: null };
  return { ...copying, field: edit(field, input) ?? field };
}

function after(still: Frame, copying: Copying, outcome: Outcome): Pressed {
  if (outcome === 'leave') return closed();
  if (outcome !== 'copy') return stay(open(still, outcome));
  const text = textOf(copying.rows, selectionOf(copying));
  if (text.trim() === '') {
    return { overlay: open(still, copying), effect: { toast: { level: 'info', text: 'There is no text selected.' } } };
  }
  const lines = text.split('\n').length;
  return closed({ app: { copy: text, what: lines === 1 ? 'one line' : `${lines} lines` } });
}

/** Without a selection it is the line of the cursor. */
const selectionOf = ({ mark, at }: Copying): Selection =>
  mark === null ? { from: at, to: at, shape: 'lines' } : { from: mark, to: at, shape: mark.shape };

function view(still: Frame, copying: Copying, context: Context, { width, height }: Size): OverlayView {
  const selection = copying.mark === null ? null : selectionOf(copying);
  const lines = still.lines.map((line, y) => {
    const row = copying.rows[y] ?? [];
    const found = matches(row, copying.sought).reduce(
      (one, x) => styled(one, x, x + widthOf(copying.sought), { underline: true, bold: true }),
      line,
    );
    const part = selection === null ? null : selectedOf(selection, row, y);
    return part === null ? found : styled(found, ...part, { fg: 'surface', bg: 'focus', dim: false });
  });
  const { row, cursor } = bottom(copying, context, width, height);
  return { lines: [...sized(lines, width, Math.max(0, height - 1)), row], cursor: cursor ?? copying.at };
}

/** Some columns of a line in another look; the same letters at the same places. */
function styled(line: Line, from: number, until: number, more: Style): Line {
  const width = lineWidth(line);
  const over = columns(line, from, until).map(([text, style]) => span(text, { ...style, ...more }));
  return [...columns(line, 0, from), ...over, ...columns(line, until, width)];
}

/** The keys, or the field of the search. */
function bottom(
  copying: Copying,
  { glyphs }: Context,
  width: number,
  height: number,
): { readonly row: Line; readonly cursor: OverlayView['cursor'] } {
  const { field, at, mark } = copying;
  if (field === null) {
    const place = `${mark === null ? 'COPY' : `COPY ${mark.shape}`} ${at.y + 1}:${at.x + 1}`;
    return { row: footerLine(hintsOf(copying.keys, glyphs), place, width, glyphs), cursor: null };
  }
  const shown = viewEditor(field, { width: Math.max(1, width - 2), height: 1, style: { fg: 'fg', bg: 'raised' } });
  const row: Line = [span(' /', { fg: 'focus', bg: 'raised', bold: true }), ...(shown.lines[0] ?? [])];
  return { row: sized([row], width, 1)[0] ?? row, cursor: { x: shown.cursor.x + 2, y: height - 1 } };
}
