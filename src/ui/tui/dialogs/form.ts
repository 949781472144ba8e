/** Forms with several fields (Tab, Space, Ctrl-S), and single text fields (Enter). Esc asks before changes are lost. */
import type { Cursor, Ink, Line } from '../../../app/views/index.ts';
import { fitText, restyle, span, toLabel, wrapText } from '../../../app/views/index.ts';
import { cycled, type Hint } from '../frame/keymap.ts';
import type { Overlay, OverlayView, Pressed } from '../frame/overlay.ts';
import { boxRows, boxWidth, closed, framed, keyLine, stay } from '../frame/overlay.ts';
import type { Choice, Context, Dialog, Field, FormValues } from '../frame/screen.ts';
import type { Input, Size } from '../terminal/terminal.ts';
import { edit, type Editor, editorHeight, editorText, openEditor, viewEditor } from '../text/editor.ts';
import type { Glyphs } from '../text/glyphs.ts';
import { strong, tint } from '../text/blocks.ts';

type FormDialog = Extract<Dialog, { readonly is: 'form' }>;
type ChoiceField = Extract<Field, { readonly is: 'choice' }>;
type ChecksField = Extract<Field, { readonly is: 'checks' }>;
type TextField = Extract<Field, { readonly is: 'text' }> & { readonly editor: Editor };

interface FormState {
  readonly fields: readonly (TextField | ChoiceField | ChecksField)[];
  readonly at: number;
  /** The selected entry of a check list. */
  readonly entry: number;
  readonly fault: string | null;
  readonly changed: boolean;
  readonly asking: boolean;
}

type LiveField = FormState['fields'][number];

export const formOverlay = (dialog: FormDialog): Overlay =>
  open(dialog, {
    fields: dialog.fields.map((field) =>
      field.is === 'text' ? { ...field, editor: openEditor(field.value, field.lines > 1) } : field,
    ),
    at: Math.max(
      0,
      dialog.fields.findIndex(({ name }) => name === dialog.at),
    ),
    entry: 0,
    fault: null,
    changed: false,
    asking: false,
  });

const open = (dialog: FormDialog, state: FormState): Overlay => ({
  title: dialog.title,
  kind: 'dialog',
  view: (context, size) => formView(dialog, state, context, size),
  press: (input) => press(dialog, state, input),
  hints: (context) => hints(dialog, state, context),
});

function hints(dialog: FormDialog, state: FormState, { glyphs }: Context): readonly Hint[] {
  if (state.asking)
    return [
      { keys: 'y', hint: 'discard changes' },
      { keys: glyphs.key.enter, hint: 'keep editing' },
    ];
  return [
    { keys: '^S', hint: dialog.yes ?? 'save' },
    { keys: 'Tab', hint: 'next field' },
    ...fieldHints(state.fields[state.at], glyphs),
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

function valuesOf({ fields }: FormState): FormValues {
  const [texts, checks]: [[string, string][], [string, readonly string[]][]] = [[], []];
  for (const field of fields) {
    if (field.is === 'checks') checks.push([field.name, field.values]);
    else texts.push([field.name, field.is === 'text' ? editorText(field.editor) : field.value]);
  }
  return { texts: Object.fromEntries(texts), checks: Object.fromEntries(checks) };
}

function press(dialog: FormDialog, state: FormState, input: Input): Pressed {
  const next = (change: Partial<FormState>): Pressed => stay(open(dialog, { ...state, ...change }));
  if (state.asking) return pressWhileAsking(next, input);
  const field = state.fields[state.at];
  if (field === undefined) return next({});
  if (input.is === 'key') {
    const ended = endingKey(dialog, state, input.key, field);
    if (ended !== null) return ended;
    const to = nextField(state, input.key, field);
    if (to !== null) return next({ at: to, entry: 0 });
  }
  const changed = fieldPress(field, state.entry, input);
  if (changed !== null) return next({ fields: state.fields.with(state.at, changed), changed: true, fault: null });
  return next(input.is === 'key' ? walk(state, input.key, field) : {});
}

/** Handles keys while asking whether to discard changes: `y` discards, any other key continues. */
function pressWhileAsking(next: (change: Partial<FormState>) => Pressed, input: Input): Pressed {
  if (input.is !== 'key') return next({});
  return input.key.toLowerCase() === 'y' ? closed() : next({ asking: false });
}

/** Handles keys that save, cancel, or open the user's editor, from which the text returns as input; null for other keys. */
function endingKey(dialog: FormDialog, state: FormState, key: string, field: LiveField): Pressed | null {
  if (key === 'ctrl-s') {
    const values = valuesOf(state);
    const fault = dialog.check(values);
    return fault === null ? closed(dialog.then(values)) : stay(open(dialog, { ...state, fault }));
  }
  if (key === 'esc') return state.changed ? stay(open(dialog, { ...state, asking: true })) : closed();
  if (key !== 'ctrl-g' || field.is !== 'text') return null;
  return { overlay: open(dialog, state), effect: { app: { field: editorText(field.editor) } } };
}

function nextField({ fields, at }: FormState, key: string, field: LiveField): number | null {
  if (key === 'tab' || (key === 'enter' && field.is !== 'checks')) return (at + 1) % fields.length;
  return key === 'backtab' ? (at + fields.length - 1) % fields.length : null;
}

function fieldPress(field: LiveField, entry: number, input: Input): LiveField | null {
  if (field.is === 'text') {
    const editor = edit(field.editor, input);
    return editor === null ? null : { ...field, editor };
  }
  if (input.is !== 'key') return null;
  return field.is === 'choice' ? chooseIn(field, input.key) : toggleIn(field, entry, input.key);
}

function toggleIn(field: ChecksField, entry: number, key: string): ChecksField | null {
  if (key !== ' ' && key !== 'enter') return null;
  const one = field.choices[entry];
  if (one === undefined || one.whyNot !== null) return null;
  const { values } = field;
  const isOn = values.includes(one.value);
  return { ...field, values: isOn ? values.filter((value) => value !== one.value) : [...values, one.value] };
}

function chooseIn(field: ChoiceField, key: string): ChoiceField | null {
  const by = key === 'right' || key === ' ' || key === 'l' ? 1 : key === 'left' || key === 'h' ? -1 : 0;
  const able = field.choices.flatMap(({ value, whyNot }) => (whyNot === null ? value : []));
  return by === 0 || able.length === 0 ? null : { ...field, value: cycled(able, field.value, by) };
}

/** Handles up and down: within a check list first, then between fields. */
function walk({ fields, ...state }: FormState, key: string, field: LiveField): Partial<FormState> {
  const by = key === 'down' ? 1 : key === 'up' ? -1 : 0;
  const entry = state.entry + by;
  if (entry >= 0 && entry < entriesOf(field)) return { entry };
  const at = Math.max(0, Math.min(fields.length - 1, state.at + by));
  // Moving up into a check list starts at its last entry.
  return at === state.at ? {} : { at, entry: by < 0 ? Math.max(0, entriesOf(fields[at]) - 1) : 0 };
}

const entriesOf = (field: LiveField | undefined): number => (field?.is === 'checks' ? field.choices.length : 0);
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
  const views = state.fields.map((field, index) =>
    fieldView(field, index === state.at ? state.entry : null, context, Math.max(1, inner - label)),
  );
  const body = state.fields.flatMap((field, index) =>
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
  const effect = dialog.effect?.(valuesOf(state)) ?? '';
  return effect === '' ? [] : [[], ...wrapText(effect.replaceAll(' -> ', ` ${glyphs.arrow} `), width, { fg: 'muted' })];
}

const labelled = (
  field: Field,
  lines: readonly Line[],
  current: boolean,
  width: number,
  { glyphs }: Context,
): readonly Line[] =>
  lines.map((line, row): Line => {
    const mark = current && row === 0 ? glyphs.selected : ' ';
    const words = row === 0 ? fitText(toLabel(field.label), width - 2) : ' '.repeat(width - 2);
    return [tint(mark, 'focus'), span(`${words} `, { fg: current ? 'title' : 'muted', bold: current }), ...line];
  });

/** A field; `entry` is the selected entry of its list, null while another field is current. */
function fieldView(field: LiveField, entry: number | null, context: Context, width: number): FieldView {
  if (field.is === 'text') return textView(field, entry !== null, width);
  if (field.is === 'choice') return { lines: [choiceView(field, entry !== null, context)], cursor: null };
  return { lines: checksView(field, entry, context), cursor: null };
}

function textView({ editor, lines, hint }: TextField, focused: boolean, width: number): FieldView {
  const height = lines > 1 ? Math.min(Math.max(lines, editorHeight(editor, width)), 8) : 1;
  const style = { fg: 'fg', bg: focused ? 'raised' : 'surface' } as const;
  const view = viewEditor(editor, { width, height, placeholder: hint, focused, style });
  return { lines: view.lines, cursor: focused ? view.cursor : null };
}

function choiceView({ value, choices }: ChoiceField, current: boolean, { glyphs }: Context): Line {
  const chosen = choices.find((one) => one.value === value);
  const words = span(toLabel(chosen?.label ?? value), { fg: 'fg', bold: current });
  const note = tint(chosen === undefined || chosen.note === '' ? '' : `  ${toLabel(chosen.note)}`, 'muted');
  if (!current) return [words, note];
  return [tint(`${glyphs.key.left} `, 'focus'), words, tint(` ${glyphs.key.right}`, 'focus'), note];
}

function checksView({ choices, values }: ChecksField, entry: number | null, context: Context): readonly Line[] {
  if (choices.length === 0) return [[tint('nothing to choose from', 'faint')]];
  return choices.map((choice, index) => {
    const line = checkLine(choice, values.includes(choice.value), context);
    return index === entry ? restyle(line, { bg: 'selection', bold: true }) : line;
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

type TextDialog = Extract<Dialog, { readonly is: 'text' }>;

interface FieldDialog {
  readonly title: string;
  readonly ink: Ink;
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

export const fieldOverlay = (
  of: FieldDialog,
  editor: Editor = openEditor(of.value, of.lines > 1),
  fault: string | null = null,
): Overlay => ({
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
});
