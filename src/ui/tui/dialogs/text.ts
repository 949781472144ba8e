/** One text: Enter takes it when nothing is wrong with it, Alt-Enter breaks the line where there may be several. */
import type { Dialog } from '../frame/screen.ts';
import { type Editor, edit, editorText, openEditor } from '../text/editor.ts';
import { editorHeight, viewEditor } from '../text/editor-view.ts';
import type { Line } from '../../../app/views/text/line.ts';
import { wrapText } from '../../../app/views/text/wrap.ts';
import { boxRows, boxWidth, closed, framed, stay, type Overlay } from '../frame/overlay.ts';

type TextDialog = Extract<Dialog, { readonly is: 'text' }>;
const WIDTH = 76;

export const textOverlay = (dialog: TextDialog): Overlay =>
  open(dialog, openEditor(dialog.value, dialog.lines > 1), null);

function open(dialog: TextDialog, editor: Editor, fault: string | null): Overlay {
  return {
    title: dialog.title,
    kind: 'dialog',
    view(context, size) {
      const width = boxWidth(size, WIDTH);
      const inner = Math.max(1, width - 4);
      const hint: readonly Line[] = dialog.hint === '' ? [] : wrapText(dialog.hint, inner, { fg: 'muted' });
      const wrong: readonly Line[] = fault === null ? [] : wrapText(`! ${fault}`, inner, { fg: 'err', bold: true });
      const room = Math.max(1, boxRows(size) - hint.length - wrong.length);
      const height = Math.min(room, Math.max(dialog.lines, editorHeight(editor, inner)));
      const field = viewEditor(editor, { width: inner, height, style: { fg: 'fg', bg: 'raised' } });
      return {
        lines: framed({ title: dialog.title, width, body: [...hint, ...field.lines, ...wrong] }, context),
        cursor: { x: field.cursor.x + 2, y: field.cursor.y + 1 + hint.length },
      };
    },
    press(input) {
      if (input.is === 'key' && input.key === 'esc') return closed();
      if (input.is === 'key' && input.key === 'enter') {
        const wrong = dialog.check(editorText(editor));
        return wrong === null ? closed(dialog.then(editorText(editor))) : stay(open(dialog, editor, wrong));
      }
      if (input.is === 'key' && input.key === 'ctrl-g') {
        return { overlay: this, effect: { app: { field: editorText(editor) } } };
      }
      const next = edit(editor, input);
      return stay(next === null ? this : open(dialog, next, null));
    },
    hints: ({ glyphs }) => [
      { keys: glyphs.key.enter, hint: dialog.yes },
      ...(dialog.lines > 1 ? [{ keys: `${glyphs.alt}-${glyphs.key.enter}`, hint: 'new line' }] : []),
      { keys: '^G', hint: '$EDITOR' },
      { keys: 'Esc', hint: 'cancel' },
    ],
  };
}
