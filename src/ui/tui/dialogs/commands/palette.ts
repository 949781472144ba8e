/** The palette: everything that can be done here, found by a few letters of it. What can't be done now says why. */
import { go } from 'fuzzysort';
import type { DialogEffect, Context } from '../../frame/screen.ts';
import { type Entry, upDown } from '../../frame/keymap.ts';
import type { Input, Size } from '../../terminal/terminal.ts';
import { clip, fit, lineWidth, plain, span, spread } from '../../../../app/views/text/clip.ts';
import { type Editor, edit, editorText, openEditor } from '../../text/editor.ts';
import { viewEditor } from '../../text/editor-view.ts';
import type { Line } from '../../../../app/views/text/line.ts';
import { wrap } from '../../../../app/views/text/wrap.ts';
import { graphemes } from '../../../../app/views/text/width.ts';
import {
  boxRows,
  boxWidth,
  closed,
  framed,
  scrolled,
  stay,
  type Overlay,
  type OverlayView,
  type Pressed,
} from '../../frame/overlay.ts';

/** What the palette lists, as it is now; asked again at each painting. */
export type Entries = (context: Context) => readonly Entry[];

interface State {
  readonly filter: Editor;
  readonly at: number;
}

interface Found {
  readonly entry: Entry;
  /** Units of `entry.help` that the filter matched. */
  readonly marked: ReadonlySet<number>;
}

const WIDTH = 88;
/** Below this the match is one of scattered letters. */
const GOOD = 0.35;
/** The field, a stroke, and two rows about what is selected. */
const AROUND = 4;
const SILENT = 'It means nothing here at the moment.';

export const paletteOverlay = (entries: Entries): Overlay => open(entries, { filter: openEditor(), at: 0 });

function open(entries: Entries, state: State): Overlay {
  return {
    title: 'Actions',
    kind: 'palette',
    view: (context, size) => view(found(entries(context), editorText(state.filter)), state, context, size),
    press: (input, context, size) => press(entries, state, input, context, size),
    hints: ({ glyphs }) => [
      { keys: upDown(glyphs), hint: 'select' },
      { keys: glyphs.key.enter, hint: 'do it' },
      { keys: 'Esc', hint: 'close' },
    ],
  };
}

/** All that mean something here, in their order; with a filter, the best of all first. */
export function found(entries: readonly Entry[], filter: string): readonly Found[] {
  if (filter.trim() === '')
    return entries.filter(({ why }) => why !== '').map((entry) => ({ entry, marked: new Set<number>() }));
  const keys = [(one: Entry) => one.help, (one: Entry) => one.action];
  return go(filter.trim(), entries, { keys, threshold: GOOD, limit: 0 }).map((result) => ({
    entry: result.obj,
    marked: new Set(result[0]?.indexes ?? []),
  }));
}

const placed = (all: readonly Found[], { at }: State): number => Math.max(0, Math.min(at, all.length - 1));

function view(all: readonly Found[], state: State, context: Context, size: Size): OverlayView {
  const width = boxWidth(size, WIDTH);
  const inner = Math.max(1, width - 4);
  const rows = Math.max(1, boxRows(size) - AROUND);
  const at = placed(all, state);
  const top = Math.max(0, Math.min(at - (rows >> 1), all.length - rows));
  const field = viewEditor(state.filter, {
    width: Math.max(1, inner - 2),
    height: 1,
    placeholder: 'what do you want to do?',
  });
  const list = all.slice(top, top + rows).map((one, row) => entryLine(one, top + row === at, context, inner));
  const none: Line = [span('  nothing is called that; Esc clears the filter', { fg: 'faint' })];
  const body: readonly Line[] = [
    [span(`${context.glyphs.prompt} `, { fg: 'focus' }), ...(field.lines[0] ?? [])],
    ...(all.length === 0 ? [none] : list),
    ...Array.from({ length: Math.max(0, rows - Math.max(1, list.length)) }, (): Line => []),
    [span(context.glyphs.light[4].repeat(inner), { fg: 'border' })],
    ...about(all[at], inner),
  ];
  const count = all.length === 0 ? [] : [span(`${at + 1}/${all.length}`, { fg: 'muted' })];
  return {
    lines: framed({ title: 'Actions', titleEnd: count, width, body }, context),
    cursor: { x: field.cursor.x + 4, y: 1 },
  };
}

function entryLine({ entry, marked }: Found, selected: boolean, { glyphs }: Context, width: number): Line {
  const able = entry.why === null;
  const mark = span(selected ? `${glyphs.selected} ` : '  ', { fg: 'focus' });
  const key = span(entry.keys === '' ? '' : ` ${entry.keys}`, { fg: able ? 'focus' : 'faint', bold: able });
  const room = Math.max(0, width - lineWidth([mark, key]));
  const words = clip(lit(entry.help, marked, able), room, glyphs.ellipsis);
  const line = fit(spread([mark, ...words], [key], width), width);
  return selected ? line.map(([text, style]) => [text, { ...style, bg: 'selection' }] as const) : line;
}

/** The sentence with the letters that matched underlined: not by colour alone. */
function lit(text: string, marked: ReadonlySet<number>, able: boolean): Line {
  const ink = able ? 'fg' : 'faint';
  let at = 0;
  return graphemes(text).map((cluster) => {
    const isLit = marked.has(at);
    at += cluster.length;
    return span(cluster, isLit ? { fg: able ? 'title' : 'muted', bold: true, underline: true } : { fg: ink });
  });
}

/** Two rows: why it can't be done now, else the whole sentence where it was cut, else its name for a key of one's own. */
function about(one: Found | undefined, width: number): readonly Line[] {
  if (one === undefined) return [[], []];
  const { action, why, help, keys } = one.entry;
  const isCut = lineWidth([span(help)]) + lineWidth([span(keys)]) + 3 > width;
  const name = span(`keys: { ${action}: … }`, { fg: 'faint' });
  const rows =
    why === null
      ? wrap(isCut ? [span(help, { fg: 'muted' })] : [name], width)
      : wrap([span('not now: ', { fg: 'warn', bold: true }), span(why === '' ? SILENT : why, { fg: 'warn' })], width);
  return [
    rows[0] ?? [],
    clip(
      rows.slice(1).flatMap((line) => [...line, span(' ')]),
      width,
    ),
  ];
}

function press(entries: Entries, state: State, input: Input, context: Context, size: Size): Pressed {
  const all = found(entries(context), editorText(state.filter));
  const at = placed(all, state);
  const select = (to: number): Pressed =>
    stay(open(entries, { ...state, at: Math.max(0, Math.min(all.length - 1, to)) }));
  if (input.is === 'wheel') return select(at + input.by);
  if (input.is === 'key' && input.key === 'enter') return choose(entries, state, all[at]);
  if (input.is === 'key' && input.key === 'esc') {
    return editorText(state.filter) === '' ? closed() : stay(paletteOverlay(entries));
  }
  if (input.is === 'key' && STEPS.has(input.key)) {
    const rows = Math.max(1, boxRows(size) - AROUND);
    return select(moved(input, at, all.length, rows));
  }
  const filter = edit(state.filter, input);
  return stay(filter === null ? open(entries, state) : open(entries, { filter, at: 0 }));
}

const STEPS: ReadonlySet<string> = new Set(['up', 'down', 'pageup', 'pagedown']);

/** By rows and pages; letters belong to the field. */
const moved = (input: Input, at: number, total: number, rows: number): number =>
  input.is === 'key' && (input.key === 'up' || input.key === 'down')
    ? at + (input.key === 'up' ? -1 : 1)
    : (scrolled(input, at, total + rows - 1, rows) ?? at);

function choose(entries: Entries, state: State, one: Found | undefined): Pressed {
  if (one === undefined) return stay(open(entries, state));
  const { why } = one.entry;
  if (why === null) return closed(one.entry.run());
  return { overlay: open(entries, state), effect: unable(one, why) };
}

const unable = ({ entry }: Found, why: string): DialogEffect => ({
  toast: { level: 'info', text: why === '' ? `${plain([span(entry.help)])} ${SILENT}` : why },
});
