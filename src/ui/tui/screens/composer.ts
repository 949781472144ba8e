/** A field for a task or a message: its text, the file paths offered in it, and the earlier texts that Up brings back. */
import { type Completing, NOT_COMPLETING } from '../components/text/complete.ts';
import type { Input } from '../terminal/terminal.ts';
import { edit, type Editor, isEmpty, openEditor } from '../text/editor.ts';

export interface Composer {
  readonly editor: Editor;
  readonly completing: Completing;
  /** Index of the earlier text in the field, newest 0; null for a new text. */
  readonly former: number | null;
}

export const composerWith = (text: string): Composer => ({
  editor: openEditor(text, true),
  completing: NOT_COMPLETING,
  former: null,
});

/** The field after an input; null when it does not use the input. */
export function typeInto({ editor, completing }: Composer, input: Input): Composer | null {
  const next = edit(editor, input);
  if (next === null) return null;
  // The closed offer is forgotten with its text.
  return { editor: next, completing: isEmpty(next) ? NOT_COMPLETING : completing, former: null };
}

/** The field after Up or Down: another line of the text, else an older or newer one of `texts`, the newest first. Null where there is none. */
export function browse(of: Composer, texts: readonly string[], key: 'up' | 'down'): Composer | null {
  const editor = edit(of.editor, { is: 'key', key });
  if (editor !== null) return { ...of, editor };
  if (of.former === null && (key === 'down' || !isEmpty(of.editor))) return null;
  const at = (of.former ?? -1) + (key === 'up' ? 1 : -1);
  const text = at < 0 ? '' : texts[at];
  return text === undefined ? null : { ...of, editor: openEditor(text, true), former: at < 0 ? null : at };
}
