/** Completion of file paths behind an `@` in a field: the box of offers, and what a key does with them. */
import { clipPath, fit, type Line, restyle, span, toLabel, widthOf } from '../../../../app/views/index.ts';
import { upDown } from '../../frame/keymap.ts';
import type { Context } from '../../frame/screen.ts';
import { box, strong, tint, windowTop } from '../../text/blocks.ts';
import type { Editor } from '../../text/editor.ts';
import type { Glyphs } from '../../text/glyphs.ts';

const MOST_ROWS = 8;

/** The offers in at most `height` lines of exactly `width` columns; without borders where there is little room. */
export function completeLines(offer: Offer, context: Context, width: number, height: number): readonly Line[] {
  const bordered = height >= 4 && width >= 20;
  const rows = Math.min(MOST_ROWS, bordered ? height - 2 : height);
  if (rows < 1) return [];
  const body = pathLines(offer, context, bordered ? width - 4 : width, rows);
  if (!bordered) return body.map((line) => fit(restyle(line, BACK), width, BACK));
  const { glyphs } = context;
  const many = offer.choices?.length ?? 0;
  return box({
    width,
    height: body.length + 2,
    glyphs,
    border: 'round',
    style: { fg: 'focus' },
    fill: BACK,
    title: [strong('Files', 'title')],
    titleEnd: many > rows ? [tint(`${offer.chosen + 1}/${many}`, 'muted')] : [],
    footEnd: keysLine(many > 0, glyphs),
    body,
  });
}

const keysLine = (any: boolean, glyphs: Glyphs): Line => [
  ...(any ? [...keyWords(upDown(glyphs), 'choose'), ...keyWords('Tab', 'take')] : []),
  ...keyWords('Esc', 'close').slice(0, 2),
];

const keyWords = (key: string, words: string): Line => [strong(key, 'focus'), tint(` ${words}`, 'muted'), span('  ')];
const BACK = { bg: 'raised' } as const;

/** Columns of the box: those of its longest path, at least 44 and at most `most`. */
export const completeWidth = ({ choices }: Offer, most: number): number =>
  Math.min(most, Math.max(44, ...(choices ?? []).map((path) => widthOf(path) + 8)));

function pathLines(offer: Offer, { glyphs }: Context, width: number, rows: number): readonly Line[] {
  const { choices, chosen, query } = offer;
  if (choices === null) return [[tint(` looking for files${glyphs.ellipsis}`, 'muted')]];
  if (choices.length === 0) {
    const words = query === '' ? 'there are no files here' : `no file matches ${toLabel(query)}`;
    return [[tint(` ${words}`, 'muted')]];
  }
  const top = windowTop(chosen, choices.length, rows);
  return choices.slice(top, top + rows).map((path, index): Line => {
    const isChosen = top + index === chosen;
    const mark = tint(isChosen ? glyphs.selected : ' ', 'focus');
    const line = fit([mark, ...pathSpans(path, width - 1, isChosen)], width, BACK);
    return isChosen ? restyle(line, { bg: 'selection' }) : line;
  });
}

/** The folder in a muted colour, cut at its start, and the name. */
function pathSpans(path: string, width: number, chosen: boolean): Line {
  const cut = path.lastIndexOf('/', path.length - 2) + 1;
  const name = path.slice(cut);
  const folder = clipPath(path.slice(0, cut), Math.max(0, width - widthOf(name) - 1));
  const ink = path.endsWith('/') ? 'info' : chosen ? 'title' : 'fg';
  return [span(' '), tint(folder, 'muted'), span(name, { fg: ink, bold: chosen })];
}

/** The state of the completion in a field. */
export interface Completing {
  readonly chosen: number;
  /** The query of `chosen`; another query begins at the top. */
  readonly query: string;
  /** The place of the `@` that was closed with Esc and stays closed; null for none. */
  readonly closed: string | null;
}

export const NOT_COMPLETING: Completing = { chosen: 0, query: '', closed: null };

/** The paths offered at the cursor. */
export interface Offer {
  /** The column of the `@`. */
  readonly start: number;
  readonly query: string;
  /** Best first; null while files are being searched. */
  readonly choices: readonly string[] | null;
  readonly chosen: number;
}

/** The offer at the cursor; null where nothing is to be completed. */
export function offerOf(editor: Editor, completing: Completing, { files }: Pick<Context, 'files'>): Offer | null {
  if (files === undefined) return null;
  const behind = behindAt(editor);
  if (behind === null || placeOf(editor, behind.start) === completing.closed) return null;
  const choices = files(behind.query);
  const most = Math.max(0, (choices?.length ?? 0) - 1);
  const chosen = completing.query === behind.query ? Math.min(completing.chosen, most) : 0;
  return { ...behind, choices, chosen };
}

/** The text between an `@` that begins a word and the cursor; a path with blanks is quoted. */
export function behindAt({ lines, row, column }: Editor): { readonly start: number; readonly query: string } | null {
  const before = (lines[row] ?? '').slice(0, column);
  const found = /(?<=^|[\s([{<"'`,;:=])@(?:"([^"]*)|([^\s"]*))$/u.exec(before);
  return found === null ? null : { start: found.index, query: found[1] ?? found[2] ?? '' };
}

const placeOf = ({ row }: Editor, start: number): string => `${row}:${start}`;

export interface Completed {
  readonly editor: Editor;
  readonly completing: Completing;
}

/** The field after a key that concerns the offer; null for any other key. */
export function completeKey(editor: Editor, completing: Completing, key: string, context: Context): Completed | null {
  const offer = offerOf(editor, completing, context);
  if (offer === null) return null;
  if (key === 'esc') return { editor, completing: { ...completing, closed: placeOf(editor, offer.start) } };
  const { choices, chosen, query } = offer;
  const path = choices?.[chosen];
  if (choices === null || path === undefined) return null;
  const by = STEPS[key];
  if (by !== undefined) {
    const next = (chosen + by + choices.length) % choices.length;
    return { editor, completing: { ...completing, query, chosen: next } };
  }
  // Enter on a complete path sends the field instead.
  const takes = key === 'tab' || (key === 'enter' && path !== query);
  return takes ? { editor: withPath(editor, offer, path), completing: NOT_COMPLETING } : null;
}

const STEPS: Readonly<Record<string, number>> = { up: -1, down: 1 };

/** The field with the path in place of the typed text, as one undo step. Completion continues behind a folder. */
function withPath(editor: Editor, { start }: Offer, path: string): Editor {
  const line = editor.lines[editor.row] ?? '';
  const folder = path.endsWith('/');
  const quoted = /\s/.test(path);
  const rest = line.slice(editor.column).replace(quoted ? /^"/ : /^$/, '');
  const blank = folder || /^\s/.test(rest) ? '' : ' ';
  const text = `@${quoted ? '"' : ''}${path}${quoted && !folder ? '"' : ''}${blank}`;
  const { lines, row, column, undo } = editor;
  return {
    ...editor,
    lines: lines.toSpliced(row, 1, line.slice(0, start) + text + rest),
    column: start + text.length,
    goal: null,
    typing: false,
    undo: [...undo, { lines, row, column }],
  };
}
