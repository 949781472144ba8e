/** How a form looks: labels on the left, fields on the right, the current one marked; it scrolls with the current field. */
import type { Choice, Field } from '../../shell/overlays/dialog.ts';
import type { Context } from '../../shell/screen.ts';
import type { Size } from '../../terminal/terminal.ts';
import { fitText, restyle, span } from '../../../../app/views/text/clip.ts';
import { openEditor } from '../../text/editor.ts';
import { editorHeight, viewEditor } from '../../text/editor-view.ts';
import type { Cursor, Line } from '../../../../app/views/text/line.ts';
import { toLabel } from '../../../../app/views/text/sanitise.ts';
import { wrapText } from '../../../../app/views/text/wrap.ts';
import type { FormDialog, FormState } from './form-state.ts';
import { boxRows, boxWidth, framed, keyLine } from '../../shell/overlays/overlay.ts';
import type { OverlayView } from '../../shell/overlays/overlay.ts';

const WIDTH = 84;
const LABEL = 14;

interface FieldView {
  readonly lines: readonly Line[];
  readonly cursor: Cursor | null;
}

export function formView(dialog: FormDialog, state: FormState, context: Context, size: Size): OverlayView {
  const width = boxWidth(size, WIDTH);
  const inner = Math.max(1, width - 4);
  const label = Math.min(LABEL, Math.max(2, inner >> 1));
  const views = dialog.fields.map((field, index) =>
    fieldView(field, state, index === state.at, context, inner - label),
  );
  const body = dialog.fields.flatMap((field, index) =>
    labelled(field, views[index]?.lines ?? [], index === state.at, label, context),
  );
  const before = views.slice(0, state.at).reduce((sum, { lines }) => sum + lines.length, 0);
  const below = belowFields(state, inner, context);
  const above = aboveFields(dialog, inner, size);
  const rows = Math.max(1, Math.min(body.length, boxRows(size) - below.length - above.length));
  const current = views[state.at];
  const end = before + (current?.lines.length ?? 1);
  const top = Math.max(0, Math.min(Math.max(0, end - rows), before), Math.min(end - rows, body.length - rows));
  const cursor = current?.cursor ?? null;
  return {
    lines: framed({ title: dialog.title, width, body: [...above, ...body.slice(top, top + rows), ...below] }, context),
    cursor: cursor === null ? null : { x: cursor.x + 2 + label, y: cursor.y + before - top + 1 + above.length },
  };
}

/** Rows that a form keeps for its fields before anything is said above them. */
const ROWS_OF_FIELDS = 12;

function aboveFields({ note = '' }: FormDialog, width: number, size: Size): readonly Line[] {
  if (note === '') return [];
  const lines = [...wrapText(toLabel(note), width, { fg: 'muted' }), []];
  return lines.length + ROWS_OF_FIELDS <= boxRows(size) ? lines : [];
}

function belowFields(state: FormState, width: number, { glyphs }: Context): readonly Line[] {
  if (state.asking) {
    const ask: Line = [span('Throw the changes away?  ', { fg: 'warn', bold: true })];
    return [
      [],
      [
        ...ask,
        ...keyLine([
          ['y', 'yes'],
          [glyphs.key.enter, 'no, go on'],
        ]),
      ],
    ];
  }
  return state.fault === null ? [] : [[], ...wrapText(`! ${state.fault}`, width, { fg: 'err', bold: true })];
}

function labelled(
  field: Field,
  lines: readonly Line[],
  current: boolean,
  width: number,
  { glyphs }: Context,
): readonly Line[] {
  return lines.map((line, row): Line => {
    const mark = current && row === 0 ? glyphs.selected : ' ';
    const words = row === 0 ? fitText(toLabel(field.label), width - 2) : ' '.repeat(width - 2);
    return [
      span(mark, { fg: 'focus' }),
      span(`${words} `, { fg: current ? 'title' : 'muted', bold: current }),
      ...line,
    ];
  });
}

function fieldView(field: Field, state: FormState, current: boolean, context: Context, width: number): FieldView {
  const room = Math.max(1, width);
  if (field.is === 'text') return textView(field, state, current, room);
  if (field.is === 'choice') return { lines: [choiceView(field, state, current, context)], cursor: null };
  return { lines: checksView(field, state, current, context), cursor: null };
}

function textView(field: Extract<Field, { is: 'text' }>, state: FormState, current: boolean, width: number): FieldView {
  const editor = state.editors[field.name] ?? openEditor(field.value, field.lines > 1);
  const height = field.lines > 1 ? Math.min(Math.max(field.lines, editorHeight(editor, width)), 8) : 1;
  const view = viewEditor(editor, {
    width,
    height,
    placeholder: field.hint,
    focused: current,
    style: { fg: 'fg', bg: current ? 'raised' : 'surface' },
  });
  return { lines: view.lines, cursor: current ? view.cursor : null };
}

function choiceView(
  field: Extract<Field, { is: 'choice' }>,
  state: FormState,
  current: boolean,
  { glyphs }: Context,
): Line {
  const value = state.chosen[field.name] ?? field.value;
  const choice = field.choices.find((one) => one.value === value);
  const words = span(toLabel(choice?.label ?? value), { fg: 'fg', bold: current });
  const note = span(choice === undefined || choice.note === '' ? '' : `  ${toLabel(choice.note)}`, { fg: 'muted' });
  if (!current) return [words, note];
  return [span(`${glyphs.key.left} `, { fg: 'focus' }), words, span(` ${glyphs.key.right}`, { fg: 'focus' }), note];
}

function checksView(
  field: Extract<Field, { is: 'checks' }>,
  state: FormState,
  current: boolean,
  context: Context,
): readonly Line[] {
  if (field.choices.length === 0) return [[span('nothing to choose from', { fg: 'faint' })]];
  const on = state.checked[field.name] ?? [];
  return field.choices.map((choice, index) => {
    const line = checkLine(choice, on.includes(choice.value), context);
    return current && index === state.entry ? restyle(line, { bg: 'selection', bold: true }) : line;
  });
}

function checkLine(choice: Choice, on: boolean, { glyphs }: Context): Line {
  const able = choice.whyNot === null;
  return [
    span(on ? `[${glyphs.todo.completed}] ` : '[ ] ', { fg: on ? 'ok' : 'faint' }),
    span(toLabel(choice.label), { fg: able ? 'fg' : 'faint' }),
    span(able && choice.note === '' ? '' : `  ${toLabel(choice.whyNot ?? choice.note)}`, {
      fg: able ? 'muted' : 'warn',
    }),
  ];
}
