/** A list to choose from; what is typed filters it. What can't be chosen is shown with the reason and passed over. */
import type { Choice, Dialog, Context } from '../frame/screen.ts';
import { clip, fit, lineWidth, span } from '../../../app/views/text/clip.ts';
import { type Editor, edit, editorText, openEditor } from '../text/editor.ts';
import { viewEditor } from '../text/editor-view.ts';
import type { Line } from '../../../app/views/text/line.ts';
import { toLabel } from '../../../app/views/text/sanitise.ts';
import { widthOf } from '../../../app/views/text/width.ts';
import type { Input } from '../terminal/terminal.ts';
import { upDown } from '../frame/keymap.ts';
import { boxRows, boxWidth, framed, type Overlay, type Pressed } from '../frame/overlay.ts';

type PickDialog = Extract<Dialog, { readonly is: 'pick' }>;
interface PickState {
  readonly filter: Editor;
  readonly at: number;
}
const WIDTH = 76;

export const pickOverlay = (dialog: PickDialog): PickOverlay => open(dialog, unfiltered(dialog));

/** All there are, with the present one selected: Enter then changes nothing. */
const unfiltered = ({ choices, value: present }: PickDialog): PickState => ({
  filter: openEditor(),
  at: Math.max(
    0,
    choices.findIndex(({ value }) => value === present),
  ),
});

/** Knows what is selected in it. */
interface PickOverlay extends Overlay {
  readonly selected: string;
}
interface PickPressed extends Pressed {
  readonly overlay: PickOverlay | null;
}

/** Whoever wants to know what is selected is told when that changed, and of the first one when nothing was chosen. */
function seen(dialog: PickDialog, before: Choice | undefined, after: PickPressed): Pressed {
  if (dialog.seen === undefined) return after;
  const now = after.overlay === null ? dialog.value : after.overlay.selected;
  const told = now === '' || now === before?.value ? {} : dialog.seen(now);
  return { overlay: after.overlay, effect: { ...told, ...after.effect } };
}

function open(dialog: PickDialog, state: PickState): PickOverlay {
  const found = matching(dialog.choices, editorText(state.filter));
  const at = Math.max(0, Math.min(state.at, found.length - 1));
  return {
    title: dialog.title,
    kind: 'dialog',
    view(context, size) {
      const width = boxWidth(size, WIDTH);
      const inner = Math.max(1, width - 4);
      const rows = Math.max(1, Math.min(dialog.choices.length, boxRows(size) - 2));
      const top = Math.max(0, Math.min(at - (rows >> 1), found.length - rows));
      const field = viewEditor(state.filter, {
        width: Math.max(1, inner - 2),
        height: 1,
        placeholder: 'type to filter',
      });
      // What is said of them begins below each other, whatever the filter leaves.
      const column = Math.min(inner >> 1, Math.max(0, ...dialog.choices.map(({ label }) => widthOf(toLabel(label)))));
      const list = found
        .slice(top, top + rows)
        .map((choice, row) => choiceLine(choice, top + row === at, context, { width: inner, column }));
      const none: Line = [span('  nothing matches; Esc clears the filter', { fg: 'faint' })];
      const body: readonly Line[] = [
        [span(`${context.glyphs.prompt} `, { fg: 'focus' }), ...(field.lines[0] ?? [])],
        ...(found.length === 0 ? [none] : list),
      ];
      return {
        lines: framed(
          {
            title: dialog.title,
            titleEnd: count(found.length, dialog.choices.length),
            width,
            body: padded(body, rows + 1),
          },
          context,
        ),
        cursor: { x: field.cursor.x + 4, y: 1 },
      };
    },
    press: (input) => seen(dialog, found[at], press(dialog, state, found, at, input)),
    selected: found[at]?.value ?? '',
    hints: ({ glyphs }) => [
      { keys: upDown(glyphs), hint: 'select' },
      { keys: glyphs.key.enter, hint: 'choose' },
      { keys: 'Esc', hint: 'cancel' },
    ],
  };
}

const padded = (lines: readonly Line[], rows: number): readonly Line[] => [
  ...lines,
  ...Array.from({ length: Math.max(0, rows - lines.length) }, (): Line => []),
];

const count = (found: number, all: number): Line => [
  span(found === all ? `${all}` : `${found}/${all}`, { fg: 'faint' }),
];

/** Every word typed must be in the label, the value or the note. */
function matching(choices: readonly Choice[], filter: string): readonly Choice[] {
  const words = filter
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  if (words.length === 0) return choices;
  return choices.filter(({ value, label, note }) => {
    const text = `${label} ${value} ${note}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

function choiceLine(
  choice: Choice,
  selected: boolean,
  { glyphs }: Context,
  { width, column }: { readonly width: number; readonly column: number },
): Line {
  const able = choice.whyNot === null;
  const mark = span(selected ? `${glyphs.selected} ` : '  ', { fg: 'focus' });
  const label = span(toLabel(choice.label), {
    fg: able ? (selected ? 'title' : 'fg') : 'faint',
    bold: selected && able,
  });
  const note = span(toLabel(choice.whyNot ?? choice.note), { fg: able ? 'muted' : 'warn' });
  // The name is what is chosen by: a long reason is cut, not the name.
  const gap = span(' '.repeat(Math.max(0, column - lineWidth([label])) + 2));
  const room = Math.max(0, width - lineWidth([mark, label, gap]));
  const line = fit([mark, label, gap, ...clip([note], room, glyphs.ellipsis)], width);
  return selected ? line.map(([text, style]) => [text, { ...style, bg: 'selection' }] as const) : line;
}

function press(dialog: PickDialog, state: PickState, found: readonly Choice[], at: number, input: Input): PickPressed {
  const move = (to: number): PickPressed =>
    kept(open(dialog, { ...state, at: Math.max(0, Math.min(found.length - 1, to)) }));
  if (input.is === 'wheel') return move(at + input.by);
  if (input.is !== 'key') return typed(dialog, state, input);
  switch (input.key) {
    case 'up':
      return move(at - 1);
    case 'down':
      return move(at + 1);
    case 'pageup':
      return move(at - 10);
    case 'pagedown':
      return move(at + 10);
    case 'esc':
      return editorText(state.filter) === '' ? { overlay: null } : kept(open(dialog, unfiltered(dialog)));
    case 'enter':
      return choose(dialog, state, found[at]);
    default:
      return typed(dialog, state, input);
  }
}

const kept = (overlay: PickOverlay): PickPressed => ({ overlay });

function typed(dialog: PickDialog, state: PickState, input: Input): PickPressed {
  const filter = edit(state.filter, input);
  if (filter === null) return kept(open(dialog, state));
  return kept(open(dialog, editorText(filter) === '' ? unfiltered(dialog) : { filter, at: 0 }));
}

function choose(dialog: PickDialog, state: PickState, choice: Choice | undefined): PickPressed {
  if (choice === undefined) return kept(open(dialog, state));
  if (choice.whyNot === null) return { overlay: null, effect: dialog.then(choice.value) };
  return {
    overlay: open(dialog, state),
    effect: { toast: { level: 'warn', text: `${choice.label}: ${choice.whyNot}` } },
  };
}
