/** A list with a filter: letters filter, arrows select, Enter chooses. The base of pickers, themes and the palette. */
import { clip, fit, type Line, lineWidth, span, toLabel, widthOf } from '../../../app/views/index.ts';
import { upDown } from '../frame/keymap.ts';
import type { Overlay, OverlayView, Pressed } from '../frame/overlay.ts';
import { boxRows, boxWidth, closed, framed, stay } from '../frame/overlay.ts';
import { type Choice, type Context, choice, type Dialog, type DialogEffect, pickFrom } from '../frame/screen.ts';
import type { Input, Size } from '../terminal/terminal.ts';
import { edit, type Editor, editorText, openEditor, viewEditor } from '../text/editor.ts';
import { tint } from '../text/blocks.ts';

export interface List<Item> {
  readonly title: string;
  readonly kind: Overlay['kind'];
  readonly width: number;
  readonly placeholder: string;
  /** The footer's word for choosing, and the keys that choose. */
  readonly yes: string;
  readonly takes: readonly string[];
  /** A further key that selects the next item. */
  readonly next?: string;
  /** The matching items in order; the same objects for the same filter. */
  items(context: Context, filter: string): readonly Item[];
  /** The index of the item that is selected before anything is typed. */
  first(items: readonly Item[]): number;
  rows(context: Context): number;
  line(item: Item, selected: boolean, context: Context, width: number): Line;
  above?(width: number): readonly Line[];
  below?(selected: Item | undefined, filter: string, context: Context, width: number): readonly Line[];
  /** The effect of choosing an item; `stays` keeps the list open. */
  take(item: Item): { readonly stays: boolean; readonly effect: DialogEffect };
  /** The effect of selecting an item; null if the list is closed without a choice. */
  seen?(item: Item | null): DialogEffect;
}

interface ListState {
  readonly filter: Editor;
  readonly at: number | null;
}

const NEW: ListState = { filter: openEditor(), at: null };
const STEPS: Readonly<Record<string, number | undefined>> = { up: -1, down: 1, pageup: -10, pagedown: 10 };

export const listOverlay = <Item>(list: List<Item>, state: ListState = NEW): Overlay => ({
  title: list.title,
  kind: list.kind,
  view: (context, size) => view(list, state, context, size),
  press: (input, context) => press(list, state, input, context),
  hints: ({ glyphs }) => [
    { keys: upDown(glyphs), hint: 'select' },
    { keys: glyphs.key.enter, hint: list.yes },
    { keys: 'Esc', hint: 'cancel' },
  ],
});

function itemsAt<Item>(list: List<Item>, { filter, at }: ListState, context: Context) {
  const items = list.items(context, editorText(filter));
  return { items, at: clamp(at ?? list.first(items), items.length) };
}

const clamp = (at: number, count: number): number => Math.max(0, Math.min(count - 1, at));

function view<Item>(list: List<Item>, state: ListState, context: Context, size: Size): OverlayView {
  const { glyphs } = context;
  const width = boxWidth(size, list.width);
  const inner = Math.max(1, width - 4);
  const { items, at } = itemsAt(list, state, context);
  const above = list.above?.(inner - 2) ?? [];
  const below = list.below?.(items[at], editorText(state.filter), context, inner) ?? [];
  const room = boxRows(size) - 1 - above.length - below.length;
  const rows = Math.max(1, Math.min(list.rows(context), room));
  const top = Math.max(0, Math.min(at - (rows >> 1), items.length - rows));
  const field = viewEditor(state.filter, { width: Math.max(1, inner - 2), height: 1, placeholder: list.placeholder });
  const shown = items.slice(top, top + rows).map((item, row): Line => {
    const selected = top + row === at;
    const mark = tint(selected ? `${glyphs.selected} ` : '  ', 'focus');
    const line = fit([mark, ...list.line(item, selected, context, inner - 2)], inner);
    return selected ? line.map(([text, style]) => [text, { ...style, bg: 'selection' }] as const) : line;
  });
  const none: readonly Line[] = items.length === 0 ? [[tint('  No matches. Esc clears the filter.', 'faint')]] : [];
  const body: readonly Line[] = [
    [tint(`${glyphs.prompt} `, 'focus'), ...(field.lines[0] ?? [])],
    ...above.map((line): Line => [span('  '), ...line]),
    ...none,
    ...shown,
    ...Array.from({ length: Math.max(0, rows - shown.length - none.length) }, (): Line => []),
    ...below,
  ];
  const place = items.length === 0 ? '0' : `${at + 1}/${items.length}`;
  return {
    lines: framed({ title: list.title, titleEnd: [tint(place, 'faint')], width, body }, context),
    cursor: { x: field.cursor.x + 4, y: 1 },
  };
}

function press<Item>(list: List<Item>, state: ListState, input: Input, context: Context): Pressed {
  const { items, at } = itemsAt(list, state, context);
  const chosen = items[at];
  const key = input.is === 'key' ? input.key : '';
  if (list.takes.includes(key)) return takeItem(list, state, chosen);
  if (key === 'esc' && editorText(state.filter) === '') return closed(list.seen?.(null));
  const next = key === 'esc' ? NEW : moveSelection(list, state, input, { at, count: items.length });
  const after = itemsAt(list, next, context);
  const item = after.items[after.at];
  const overlay = listOverlay(list, next);
  return item === undefined || item === chosen || list.seen === undefined
    ? stay(overlay)
    : { overlay, effect: list.seen(item) };
}

function moveSelection<Item>(
  { next }: List<Item>,
  state: ListState,
  input: Input,
  { at, count }: { readonly at: number; readonly count: number },
): ListState {
  const key = input.is === 'key' ? input.key : '';
  const by = input.is === 'wheel' ? input.by : key === next ? 1 : STEPS[key];
  if (by !== undefined) return { ...state, at: clamp(at + by, count) };
  const filter = edit(state.filter, input);
  return filter === null ? state : { filter, at: editorText(filter) === '' ? null : 0 };
}

function takeItem<Item>(list: List<Item>, state: ListState, item: Item | undefined): Pressed {
  if (item === undefined) return stay(listOverlay(list, state));
  const { stays, effect } = list.take(item);
  return stays ? { overlay: listOverlay(list, state), effect } : closed(effect);
}

type PickDialog = Extract<Dialog, { readonly is: 'pick' }>;

/** A choice from a list. Unavailable choices show the reason. The present value is preselected, so that Enter changes nothing. */
export function pickOverlay(dialog: PickDialog): Overlay {
  const { choices, heads } = dialog;
  const able = choices.filter(({ value, whyNot }) => whyNot === null || value === dialog.value);
  const unfiltered = dialog.folds ? able : choices;
  const hidden = choices.length - unfiltered.length;
  // The notes start in one column, whatever the filter leaves.
  const widest = Math.max(0, ...choices.map(({ label }) => widthOf(toLabel(label))));
  const columnIn = (width: number): number => Math.min(width >> 1, widest);
  return listOverlay<Choice>({
    title: dialog.title,
    kind: 'dialog',
    // With heads it has several columns, which need more.
    width: heads === undefined ? 76 : 100,
    placeholder: 'type to filter',
    yes: 'choose',
    takes: ['enter', 'tab'],
    ...(dialog.next === undefined ? {} : { next: dialog.next }),
    items: (_, filter) => (filter.trim() === '' ? unfiltered : matching(choices, filter)),
    first: (items) => items.findIndex(({ value }) => value === dialog.value),
    rows: () => unfiltered.length,
    line: (one, selected, _, width) => choiceLine(one, selected, width, columnIn(width)),
    above: (width) =>
      heads === undefined ? [] : [[tint(`${heads[0].padEnd(columnIn(width))}  ${heads[1]}`, 'faint')]],
    below: (_, filter) =>
      hidden === 0 || filter !== '' ? [] : [[tint(`  ${hidden} more unavailable: type to list them`, 'faint')]],
    take: ({ value, label, whyNot }) =>
      whyNot === null
        ? { stays: false, effect: dialog.then(value) }
        : { stays: true, effect: { toast: { level: 'warn', text: `${label}: ${whyNot}` } } },
    ...(dialog.seen === undefined ? {} : { seen: (one) => dialog.seen?.(one?.value ?? dialog.value) ?? {} }),
  });
}

/** The choices whose label, value or note contains every typed word. */
function matching(choices: readonly Choice[], filter: string): readonly Choice[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  return choices.filter(({ value, label, note }) => {
    const text = `${label} ${value} ${note}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** A long reason is cut rather than the name. */
function choiceLine(of: Choice, selected: boolean, width: number, column: number): Line {
  const able = of.whyNot === null;
  const name: Line = [
    span(toLabel(of.label), { fg: able ? (selected ? 'title' : 'fg') : 'faint', bold: selected && able }),
  ];
  const gap = span(' '.repeat(Math.max(0, column - lineWidth(name)) + 2));
  const note = tint(toLabel(of.whyNot ?? of.note), able ? 'muted' : 'warn');
  const room = Math.max(0, width - lineWidth([...name, gap]));
  return [...name, gap, ...clip([note], room)];
}

// Chooses a theme. The selected theme is previewed; Esc restores the old one.

const themeEffect = (name: string): DialogEffect => ({ app: { theme: name } });

export function themesOverlay({ projectService, look }: Context): Overlay {
  const value = look?.theme ?? '';
  const choiceOf = (name: string): Choice => choice(name, name === value ? 'now' : '');
  const then = (name: string): DialogEffect => ({
    ...themeEffect(name),
    toast: {
      level: 'info',
      text: `Theme: ${name} until you quit. To keep it, set ui: { theme: ${name} } in your configuration.`,
    },
  });
  return pickOverlay({ ...pickFrom('Theme', projectService.themes, choiceOf, then, value), seen: themeEffect });
}
