/**
 * Input dialogs: forms with several fields (Tab moves, Space toggles, Ctrl-S saves) and single text fields (Enter
 * accepts). Esc asks before changes are lost.
 */
import {
  type Cursor,
  fitText,
  type Ink,
  type Line,
  restyle,
  span,
  toLabel,
  wrapText,
} from '../../../app/views/index.ts';
import type { Hint } from '../frame/keymap.ts';
import {
  boxRows,
  boxWidth,
  closed,
  framed,
  keyLine,
  type Overlay,
  type OverlayView,
  type Pressed,
  stay,
} from '../frame/overlay.ts';
import type { Choice, Context, Dialog, Field, FormValues } from '../frame/screen.ts';
import type { Input, Size } from '../terminal/terminal.ts';
import { edit, type Editor, editorHeight, editorText, openEditor, viewEditor } from '../text/editor.ts';
import type { Glyphs } from '../text/glyphs.ts';
import { strong, tint } from '../text/blocks.ts';

export function formOverlay(dialog: FormDialog): Overlay {
  return open(dialog, {
    at: Math.max(
      0,
      dialog.fields.findIndex(({ name }) => name === dialog.at),
    ),
    editors: Object.fromEntries(
      dialog.fields.flatMap((field) =>
        field.is === 'text' ? [[field.name, openEditor(field.value, field.lines > 1)]] : [],
      ),
    ),
    chosen: Object.fromEntries(
      dialog.fields.flatMap((field) => (field.is === 'choice' ? [[field.name, field.value]] : [])),
    ),
    checked: Object.fromEntries(
      dialog.fields.flatMap((field) => (field.is === 'checks' ? [[field.name, field.values]] : [])),
    ),
    entry: 0,
    fault: null,
    changed: false,
    asking: false,
  });
}

function open(dialog: FormDialog, state: FormState): Overlay {
  return {
    title: dialog.title,
    kind: 'dialog',
    view: (context, size) => formView(dialog, state, context, size),
    press: (input) => press(dialog, state, input),
    hints: (context) => hints(dialog, state, context),
  };
}

function hints(dialog: FormDialog, state: FormState, { glyphs }: Context): readonly Hint[] {
  if (state.asking) {
    return [
      { keys: 'y', hint: 'discard changes' },
      { keys: glyphs.key.enter, hint: 'keep editing' },
    ];
  }
  return [
    { keys: '^S', hint: dialog.yes ?? 'save' },
    { keys: 'Tab', hint: 'next field' },
    ...fieldHints(dialog.fields[state.at], glyphs),
    { keys: 'Esc', hint: 'cancel' },
  ];
}

function fieldHints(field: Field | undefined, glyphs: Glyphs): readonly Hint[] {
  if (field?.is === 'checks') return [{ keys: 'Space', hint: 'toggle' }];
  if (field?.is === 'choice') return [{ keys: glyphs.key.left + glyphs.key.right, hint: 'choose' }];
  if (field === undefined) return [];
  const newLine = { keys: `${glyphs.alt}-${glyphs.key.enter}`, hint: 'new line' };
  return [...(field.lines > 1 ? [newLine] : []), { keys: '^G', hint: 'editor' }];
}

/** The values of the form; choices are texts. */
function valuesOf(dialog: FormDialog, state: FormState): FormValues {
  const texts = dialog.fields.flatMap((field): readonly (readonly [string, string])[] => {
    const editor = state.editors[field.name];
    if (field.is === 'text') return [[field.name, editor ? editorText(editor) : field.value]];
    return field.is === 'choice' ? [[field.name, state.chosen[field.name] ?? field.value]] : [];
  });
  return { texts: Object.fromEntries(texts), checks: state.checked };
}

function press(dialog: FormDialog, state: FormState, input: Input): Pressed {
  if (state.asking) return pressWhileAsking(dialog, state, input);
  const field = dialog.fields[state.at];
  if (input.is === 'key') {
    const ended = endingKey(dialog, state, input.key, field);
    if (ended !== null) return ended;
    const to = nextField(dialog, state, input.key, field);
    if (to !== null) return stay(open(dialog, { ...state, at: to, entry: 0 }));
  }
  const next = field === undefined ? null : fieldPress(field, state, input);
  if (next !== null) return stay(open(dialog, { ...next, changed: true, fault: null }));
  return stay(open(dialog, input.is === 'key' ? walk(dialog, state, input.key, field) : state));
}

/** Handles keys while asking whether to discard changes: `y` discards, any other key continues. */
function pressWhileAsking(dialog: FormDialog, state: FormState, input: Input): Pressed {
  if (input.is !== 'key') return stay(open(dialog, state));
  return input.key.toLowerCase() === 'y' ? closed() : stay(open(dialog, { ...state, asking: false }));
}

function save(dialog: FormDialog, state: FormState): Pressed {
  const values = valuesOf(dialog, state);
  const fault = dialog.check(values);
  return fault === null ? closed(dialog.then(values)) : stay(open(dialog, { ...state, fault }));
}

/** Handles keys that save, cancel, or open the user's editor; null for other keys. */
function endingKey(dialog: FormDialog, state: FormState, key: string, field: Field | undefined): Pressed | null {
  if (key === 'ctrl-s') return save(dialog, state);
  if (key === 'esc') return state.changed ? stay(open(dialog, { ...state, asking: true })) : closed();
  return key === 'ctrl-g' && field?.is === 'text' ? openInEditor(dialog, state, field.name) : null;
}

/** Opens the field's text in the user's editor; the edited text arrives as input. */
function openInEditor(dialog: FormDialog, state: FormState, name: string): Pressed {
  const editor = state.editors[name];
  const field = editor === undefined ? '' : editorText(editor);
  return { overlay: open(dialog, state), effect: { app: { field } } };
}

function nextField(dialog: FormDialog, state: FormState, key: string, field: Field | undefined): number | null {
  const count = dialog.fields.length;
  const forward = key === 'tab' || (key === 'enter' && field?.is !== 'checks');
  if (forward) return (state.at + 1) % Math.max(1, count);
  return key === 'backtab' ? (state.at + count - 1) % Math.max(1, count) : null;
}

/** The state after a key that changes the field, or null. */
function fieldPress(field: Field, state: FormState, input: Input): FormState | null {
  if (field.is === 'text') return typeInto(field.name, state, input);
  if (input.is !== 'key') return null;
  if (field.is === 'choice') return chooseIn(field, state, input.key);
  if (input.key !== ' ' && input.key !== 'enter') return null;
  const choice = field.choices[state.entry];
  if (choice === undefined || choice.whyNot !== null) return null;
  const now = state.checked[field.name] ?? [];
  const next = now.includes(choice.value) ? now.filter((value) => value !== choice.value) : [...now, choice.value];
  return { ...state, checked: { ...state.checked, [field.name]: next } };
}

function typeInto(name: string, state: FormState, input: Input): FormState | null {
  const editor = state.editors[name];
  const next = editor ? edit(editor, input) : null;
  return next === null ? null : { ...state, editors: { ...state.editors, [name]: next } };
}

function chooseIn(field: Extract<Field, { is: 'choice' }>, state: FormState, key: string): FormState | null {
  const by = key === 'right' || key === ' ' || key === 'l' ? 1 : key === 'left' || key === 'h' ? -1 : 0;
  const able = field.choices.filter(({ whyNot }) => whyNot === null);
  if (by === 0 || able.length === 0) return null;
  const at = able.findIndex(({ value }) => value === (state.chosen[field.name] ?? field.value));
  const next = able[(at + by + able.length) % able.length];
  return next === undefined ? null : { ...state, chosen: { ...state.chosen, [field.name]: next.value } };
}

/** Handles up and down: within a check list first, then between fields. */
function walk(dialog: FormDialog, state: FormState, key: string, field: Field | undefined): FormState {
  const by = key === 'down' ? 1 : key === 'up' ? -1 : 0;
  const entry = state.entry + by;
  if (entry >= 0 && entry < entriesOf(field)) return { ...state, entry };
  const at = Math.max(0, Math.min(dialog.fields.length - 1, state.at + by));
  // Moving up into a check list starts at its last entry.
  return at === state.at ? state : { ...state, at, entry: by < 0 ? Math.max(0, entriesOf(dialog.fields[at]) - 1) : 0 };
}

const entriesOf = (field: Field | undefined): number => (field?.is === 'checks' ? field.choices.length : 0);

const WIDTH = 84;
const LABEL = 14;

interface FieldView {
  readonly lines: readonly Line[];
  readonly cursor: Cursor | null;
}

function formView(dialog: FormDialog, state: FormState, context: Context, size: Size): OverlayView {
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
  const below = belowFields(dialog, state, inner, context);
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

/** Rows reserved for fields before a note above them is shown. */
const RESERVED_ROWS = 12;

function aboveFields({ note = '' }: FormDialog, width: number, size: Size): readonly Line[] {
  if (note === '') return [];
  const lines = [...wrapText(toLabel(note), width, { fg: 'muted' }), []];
  return lines.length + RESERVED_ROWS <= boxRows(size) ? lines : [];
}

function belowFields(dialog: FormDialog, state: FormState, width: number, { glyphs }: Context): readonly Line[] {
  if (state.asking) {
    const ask: Line = [strong('Discard changes?  ', 'warn')];
    return [
      [],
      [
        ...ask,
        ...keyLine([
          ['y', 'yes'],
          [glyphs.key.enter, 'keep editing'],
        ]),
      ],
    ];
  }
  if (state.fault !== null) return [[], ...wrapText(`! ${state.fault}`, width, { fg: 'err', bold: true })];
  const effect = dialog.effect?.(valuesOf(dialog, state)) ?? '';
  return effect === '' ? [] : [[], ...wrapText(effect.replaceAll(' -> ', ` ${glyphs.arrow} `), width, { fg: 'muted' })];
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
    return [tint(mark, 'focus'), span(`${words} `, { fg: current ? 'title' : 'muted', bold: current }), ...line];
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
  const note = tint(choice === undefined || choice.note === '' ? '' : `  ${toLabel(choice.note)}`, 'muted');
  if (!current) return [words, note];
  return [tint(`${glyphs.key.left} `, 'focus'), words, tint(` ${glyphs.key.right}`, 'focus'), note];
}

function checksView(
  field: Extract<Field, { is: 'checks' }>,
  state: FormState,
  current: boolean,
  context: Context,
): readonly Line[] {
  if (field.choices.length === 0) return [[tint('nothing to choose from', 'faint')]];
  const on = state.checked[field.name] ?? [];
  return field.choices.map((choice, index) => {
    const line = checkLine(choice, on.includes(choice.value), context);
    return current && index === state.entry ? restyle(line, { bg: 'selection', bold: true }) : line;
  });
}

function checkLine(choice: Choice, on: boolean, { glyphs }: Context): Line {
  const able = choice.whyNot === null;
  return [
    tint(on ? `[${glyphs.todo.completed}] ` : '[ ] ', on ? 'ok' : 'faint'),
    tint(toLabel(choice.label), able ? 'fg' : 'faint'),
    tint(able && choice.note === '' ? '' : `  ${toLabel(choice.whyNot ?? choice.note)}`, able ? 'muted' : 'warn'),
  ];
}

type FormDialog = Extract<Dialog, { readonly is: 'form' }>;

/** The state of a form. */
interface FormState {
  readonly at: number;
  readonly editors: Readonly<Record<string, Editor>>;
  readonly chosen: Readonly<Record<string, string>>;
  readonly checked: Readonly<Record<string, readonly string[]>>;
  /** The selected entry of a check list. */
  readonly entry: number;
  readonly fault: string | null;
  readonly changed: boolean;
  /** True while asking whether to discard changes. */
  readonly asking: boolean;
}

type TextDialog = Extract<Dialog, { readonly is: 'text' }>;

interface FieldDialog {
  readonly title: string;
  readonly ink: Ink;
  /** Columns of the dialog if there is space. */
  readonly width: number;
  readonly value: string;
  readonly lines: number;
  above(width: number): readonly Line[];
  hints(context: Context): readonly Hint[];
  /** Handles Enter; a string is the fault of the text. */
  enter(text: string): Pressed | string;
}

/** One text field. Enter accepts a valid text; Alt-Enter breaks the line if several are allowed. */
export const textOverlay = (dialog: TextDialog): Overlay =>
  fieldOverlay({
    title: dialog.title,
    ink: 'focus',
    width: 76,
    value: dialog.value,
    lines: dialog.lines,
    above: (width) => (dialog.hint === '' ? [] : wrapText(dialog.hint, width, { fg: 'muted' })),
    hints: ({ glyphs }) => [
      { keys: glyphs.key.enter, hint: dialog.yes },
      ...(dialog.lines > 1 ? [{ keys: `${glyphs.alt}-${glyphs.key.enter}`, hint: 'new line' }] : []),
      { keys: '^G', hint: '$EDITOR' },
      { keys: 'Esc', hint: 'cancel' },
    ],
    enter: (text) => dialog.check(text) ?? closed(dialog.then(text)),
  });

export function fieldOverlay(
  of: FieldDialog,
  editor: Editor = openEditor(of.value, of.lines > 1),
  fault: string | null = null,
): Overlay {
  return {
    title: of.title,
    kind: 'dialog',
    view(context, size) {
      const width = boxWidth(size, of.width);
      const inner = Math.max(1, width - 4);
      const wrong: readonly Line[] = fault === null ? [] : wrapText(`! ${fault}`, inner, { fg: 'err', bold: true });
      const above = of.above(inner).slice(0, Math.max(0, boxRows(size) - wrong.length - 1));
      const room = Math.max(1, boxRows(size) - above.length - wrong.length);
      const height = Math.min(room, Math.max(of.lines, editorHeight(editor, inner)));
      const field = viewEditor(editor, { width: inner, height, style: { fg: 'fg', bg: 'raised' } });
      const { title, ink } = of;
      return {
        lines: framed({ title, ink, width, body: [...above, ...field.lines, ...wrong] }, context),
        cursor: { x: field.cursor.x + 2, y: field.cursor.y + 1 + above.length },
      };
    },
    press(input) {
      const key = input.is === 'key' ? input.key : '';
      if (key === 'esc') return closed();
      if (key === 'ctrl-g') return { overlay: this, effect: { app: { field: editorText(editor) } } };
      if (key === 'enter') {
        const led = of.enter(editorText(editor));
        return typeof led === 'string' ? stay(fieldOverlay(of, editor, led)) : led;
      }
      const next = edit(editor, input);
      return stay(next === null ? this : fieldOverlay(of, next));
    },
    hints: (context) => of.hints(context),
  };
}
