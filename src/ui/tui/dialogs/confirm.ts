/** Yes or no, where Enter is the safe choice; for the irreversible a word must be typed. */
import type { Action } from '../../../app/actions/index.ts';
import type { RunState } from '../../../events/state.ts';
import type { Dialog, DialogEffect, Context } from '../frame/screen.ts';
import type { Hint } from '../frame/keymap.ts';
import type { Size } from '../terminal/terminal.ts';
import { span } from '../../../app/views/text/clip.ts';
import { type Editor, edit, editorText, openEditor } from '../text/editor.ts';
import { viewEditor } from '../text/editor-view.ts';
import type { Line } from '../../../app/views/text/line.ts';
import { wrap } from '../../../app/views/text/wrap.ts';
import {
  boxRows,
  boxWidth,
  closed,
  framed,
  keyLine,
  scrolled,
  stay,
  windowed,
  type Overlay,
  type OverlayView,
} from '../frame/overlay.ts';

type ConfirmDialog = Extract<Dialog, { readonly is: 'confirm' }>;
const WIDTH = 72;

/** Does what the action says, after its question where it has one. */
export function confirmed<Args>(action: Action<Args>, state: RunState, args: Args): DialogEffect {
  const done: DialogEffect = { commands: [action.command(state, args)] };
  const question = action.confirm?.(state, args);
  if (question === undefined) return done;
  const [first, ...others] = question.lines;
  const lines = [[span(first, { fg: 'fg' })], ...others.map((line): Line => [span(line, { fg: 'muted' })])];
  return { dialog: { is: 'confirm', ...question, lines, then: () => done } };
}

/** What the person agreed to. */
function yes(dialog: ConfirmDialog): DialogEffect {
  const agreed = dialog.then.bind(dialog);
  return agreed();
}

export const confirmOverlay = (dialog: ConfirmDialog, kind: Overlay['kind'] = 'dialog'): Overlay =>
  dialog.word === '' ? plain(dialog, kind, 0) : typed(dialog, openEditor(), '');

const hint = (dialog: ConfirmDialog, { glyphs }: Context): readonly Hint[] => [
  ...(dialog.instead === undefined ? [] : [{ keys: dialog.instead.key, hint: dialog.instead.hint }]),
  ...(dialog.word === '' ? [{ keys: 'y', hint: dialog.yes }] : []),
  { keys: `${glyphs.key.enter}/Esc`, hint: dialog.no },
];

function plain(dialog: ConfirmDialog, kind: Overlay['kind'], top: number): Overlay {
  return {
    title: dialog.title,
    kind,
    view: (context, size) => view(dialog, context, size, top, [], null),
    press(input, context, size) {
      const { lines, rows } = parted(dialog, context, size, 0);
      const to = scrolled(input, top, lines.length, rows);
      if (input.is !== 'key') return stay(to === null ? this : plain(dialog, kind, to));
      if (input.key === 'y' || input.key === 'Y') return closed(yes(dialog));
      if (input.key === dialog.instead?.key) return closed(dialog.instead.leadsTo);
      if (['n', 'N', 'esc', 'enter', 'q'].includes(input.key)) return closed();
      return stay(to === null ? this : plain(dialog, kind, to));
    },
    hints: (context) => hint(dialog, context),
  };
}

function typed(dialog: ConfirmDialog, editor: Editor, fault: string): Overlay {
  return {
    title: dialog.title,
    kind: 'dialog',
    view(context, size) {
      const inner = Math.max(1, boxWidth(size, WIDTH) - 4);
      const field = viewEditor(editor, { width: inner, height: 1, style: { fg: 'fg', bg: 'raised' } });
      const ask: Line = [
        span('Type ', { fg: 'muted' }),
        span(dialog.word, { fg: 'err', bold: true }),
        span(` and Enter to ${dialog.yes}.`, { fg: 'muted' }),
      ];
      const wrong: readonly Line[] = fault === '' ? [] : [[span(`! ${fault}`, { fg: 'err' })]];
      return view(dialog, context, size, 0, [ask, ...field.lines, ...wrong], field.cursor.x);
    },
    press(input) {
      if (input.is === 'key' && input.key === 'esc') return closed();
      if (input.is === 'key' && input.key === 'enter') {
        if (editorText(editor).trim() === dialog.word) return closed(yes(dialog));
        return editorText(editor) === '' ? closed() : stay(typed(dialog, editor, `that isn't "${dialog.word}"`));
      }
      const next = edit(editor, input);
      return stay(next === null ? this : typed(dialog, next, ''));
    },
    hints: (context) => hint(dialog, context),
  };
}

interface Parted {
  readonly lines: readonly Line[];
  /** How many of the lines there is room for. */
  readonly rows: number;
  /** The keys; in a low terminal the footer alone names them, rather than that words are cut. */
  readonly tail: readonly Line[];
}

function parted(dialog: ConfirmDialog, context: Context, size: Size, fieldRows: number): Parted {
  const inner = Math.max(1, boxWidth(size, WIDTH) - 4);
  const lines = dialog.lines.flatMap((line) => wrap(line, inner));
  const room = boxRows(size) - fieldRows;
  const keys = wrap(keyLine(hint(dialog, context).map((one) => [one.keys, one.hint] as const)), inner);
  const tail = lines.length + 1 + keys.length <= room ? [[], ...keys] : [];
  return { lines, rows: Math.max(1, room - tail.length), tail };
}

function view(
  dialog: ConfirmDialog,
  context: Context,
  size: Size,
  top: number,
  field: readonly Line[],
  cursorX: number | null,
): OverlayView {
  const width = boxWidth(size, WIDTH);
  const { lines, rows, tail } = parted(dialog, context, size, field.length);
  const { shown } = windowed(lines, top, rows);
  const body: readonly Line[] = [...shown, ...field, ...tail];
  return {
    lines: framed({ title: dialog.title, width, body, ink: dialog.word === '' ? 'focus' : 'err' }, context),
    // The field is the first line behind "Type …", which stands behind the text.
    cursor: cursorX === null ? null : { x: cursorX + 2, y: shown.length + 2 },
  };
}
