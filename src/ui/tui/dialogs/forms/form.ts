/** Several fields at once: Tab moves, Space toggles, Ctrl-S saves, Esc asks when something was changed. */
import type { Field, FormValues } from '../../shell/overlays/dialog.ts';
import { edit, editorText, openEditor } from '../../text/editor.ts';
import type { Glyphs } from '../../components/glyphs.ts';
import type { Hint } from '../../shell/keys/keymap.ts';
import type { Context } from '../../shell/screen.ts';
import type { Input } from '../../terminal/terminal.ts';
import type { FormDialog, FormState } from './form-state.ts';
import { formView } from './form-view.ts';
import { closed, stay } from '../../shell/overlays/overlay.ts';
import type { Overlay, Pressed } from '../../shell/overlays/overlay.ts';

export function formOverlay(dialog: FormDialog): Overlay {
  return open(dialog, {
    at: 0,
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
      { keys: 'y', hint: 'throw the changes away' },
      { keys: glyphs.key.enter, hint: 'go on' },
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

/** What the form says, as `check` and `then` read it: choices are texts. */
function valuesOf(dialog: FormDialog, state: FormState): FormValues {
  const texts = dialog.fields.flatMap((field): readonly (readonly [string, string])[] => {
    const editor = state.editors[field.name];
    if (field.is === 'text') return [[field.name, editor ? editorText(editor) : field.value]];
    return field.is === 'choice' ? [[field.name, state.chosen[field.name] ?? field.value]] : [];
  });
  return { texts: Object.fromEntries(texts), checks: state.checked };
}

function press(dialog: FormDialog, state: FormState, input: Input): Pressed {
  if (state.asking) return whileAsking(dialog, state, input);
  const field = dialog.fields[state.at];
  if (input.is === 'key') {
    const ended = ending(dialog, state, input.key, field);
    if (ended !== null) return ended;
    const to = movesTo(dialog, state, input.key, field);
    if (to !== null) return stay(open(dialog, { ...state, at: to, entry: 0 }));
  }
  const next = field === undefined ? null : fieldPress(field, state, input);
  if (next !== null) return stay(open(dialog, { ...next, changed: true, fault: null }));
  return stay(open(dialog, input.is === 'key' ? walk(dialog, state, input.key, field) : state));
}

/** Throw the changes away? `y` does; any other key goes on. */
function whileAsking(dialog: FormDialog, state: FormState, input: Input): Pressed {
  if (input.is !== 'key') return stay(open(dialog, state));
  return input.key.toLowerCase() === 'y' ? closed() : stay(open(dialog, { ...state, asking: false }));
}

function save(dialog: FormDialog, state: FormState): Pressed {
  const values = valuesOf(dialog, state);
  const fault = dialog.check(values);
  return fault === null ? closed(dialog.then(values)) : stay(open(dialog, { ...state, fault }));
}

/** What saves, leaves, or hands a field to the person's editor; null for other keys. */
function ending(dialog: FormDialog, state: FormState, key: string, field: Field | undefined): Pressed | null {
  if (key === 'ctrl-s') return save(dialog, state);
  if (key === 'esc') return state.changed ? stay(open(dialog, { ...state, asking: true })) : closed();
  return key === 'ctrl-g' && field?.is === 'text' ? outside(dialog, state, field.name) : null;
}

/** The field's text in the person's own editor: it comes back as an input. */
function outside(dialog: FormDialog, state: FormState, name: string): Pressed {
  const editor = state.editors[name];
  const field = editor === undefined ? '' : editorText(editor);
  return { overlay: open(dialog, state), effect: { app: { field } } };
}

function movesTo(dialog: FormDialog, state: FormState, key: string, field: Field | undefined): number | null {
  const count = dialog.fields.length;
  const forward = key === 'tab' || (key === 'enter' && field?.is !== 'checks');
  if (forward) return (state.at + 1) % Math.max(1, count);
  return key === 'backtab' ? (state.at + count - 1) % Math.max(1, count) : null;
}

/** The state after a key that changes the field itself, or null. */
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

/** Up and down: inside a check list first, then from field to field. */
function walk(dialog: FormDialog, state: FormState, key: string, field: Field | undefined): FormState {
  const by = key === 'down' ? 1 : key === 'up' ? -1 : 0;
  const entry = state.entry + by;
  if (entry >= 0 && entry < entriesOf(field)) return { ...state, entry };
  const at = Math.max(0, Math.min(dialog.fields.length - 1, state.at + by));
  // Upwards into a check list: its last entry is the next one.
  return at === state.at ? state : { ...state, at, entry: by < 0 ? Math.max(0, entriesOf(dialog.fields[at]) - 1) : 0 };
}

const entriesOf = (field: Field | undefined): number => (field?.is === 'checks' ? field.choices.length : 0);
