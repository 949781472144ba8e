/**
 * Completion in fields: what stands behind an `@` at the cursor, the paths that fit, and what a key makes of them. Pure; where
 * paths come from is the lobby's, what it looks like is view/complete.ts.
 */
import type { Context } from './screen.ts';
import type { Editor } from '../text/editor.ts';

/** What a field remembers of its completion. */
export interface Completing {
  readonly chosen: number;
  /** The query that `chosen` is about; another one begins at the top. */
  readonly query: string;
  /** The place of the `@` that was closed with Esc; it stays closed. */
  readonly closed: string | null;
}

export const NOT_COMPLETING: Completing = { chosen: 0, query: '', closed: null };

/** What is offered at the cursor. */
export interface Offer {
  /** The column of the `@`. */
  readonly start: number;
  readonly query: string;
  /** Best first; null while they are looked for. */
  readonly choices: readonly string[] | null;
  readonly chosen: number;
}

/** Null: nothing is to be completed here. */
export function offerOf(editor: Editor, completing: Completing, { files }: Pick<Context, 'files'>): Offer | null {
  if (files === undefined) return null;
  const behind = behindAt(editor);
  if (behind === null || placeOf(editor, behind.start) === completing.closed) return null;
  const choices = files(behind.query);
  const most = Math.max(0, (choices?.length ?? 0) - 1);
  const chosen = completing.query === behind.query ? Math.min(completing.chosen, most) : 0;
  return { ...behind, choices, chosen };
}

/** The text between an `@` that begins a word and the cursor; a path with blanks stands in quotes. */
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

/** What a key does while something is offered; null when it is not about that. */
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
  // What is written out already is to be sent, not to be completed.
  const takes = key === 'tab' || (key === 'enter' && path !== query);
  return takes ? { editor: withPath(editor, offer, path), completing: NOT_COMPLETING } : null;
}

const STEPS: Readonly<Record<string, number>> = { up: -1, down: 1 };

/** The field with the path in the place of what was typed, as one step of undo. Behind a folder one goes on to complete. */
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
