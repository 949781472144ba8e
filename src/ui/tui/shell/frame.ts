/** Composes a whole frame: header, body, docked questions, footer, dialogs and toasts, exactly of the terminal's size. */
import type { Dock, Top } from './overlay-stack.ts';
import type { Overlay } from '../frame/overlay.ts';
import { APP_KEYS } from './app-keys.ts';
import { footerLine, type Hint, hintsOf, hintsWhileTyping, isPlain, type Page } from '../frame/keymap.ts';
import type { Context, Toast } from '../frame/screen.ts';
import type { Input, Size } from '../terminal/terminal.ts';
import type { Cursor, Frame, Line } from '../../../app/views/index.ts';
import { columns, fit, lineWidth, plain, restyle } from '../../../app/views/index.ts';
import { overlay, sized } from '../text/blocks.ts';
import type { Glyphs } from '../text/glyphs.ts';
import { headerLine, marks } from '../components/header.ts';
import { lostBanner, toastBlock } from '../components/notices.ts';
import { isTooSmall, smallView } from '../components/layout.ts';

/** Columns between a toast and the text on its left. */
const GAP = 4;
/** Below this many rows only one toast is shown. */
const LOW = 16;
/** Maximum rows of a field at the bottom, above its cursor. */
const MOST_FIELD = 5;

/** Outside fields the footer shows the letter for Quit, not Ctrl-C. */
const LETTER_KEYS = APP_KEYS.filter(({ keys }) => keys.some(isPlain));

export interface Shown {
  readonly page: Page;
  readonly overlays: readonly Overlay[];
  readonly toasts: readonly Toast[];
  readonly keyFlash?: string;
  readonly dock?: Dock;
  readonly top?: Top | undefined;
}

/** The size of a screen's body: without header, footer and docked questions. */
export const bodySize = ({ width, height }: Size, docked = 0): Size => ({
  width,
  height: Math.max(0, height - 2 - docked),
});

/** Translates a click or the wheel to the rows of the body; null if it is on the questions. */
export function inBody(input: Input, dock: { readonly top: number; readonly rows: number }): Input | null {
  if (input.is !== 'wheel' && input.is !== 'click') return input;
  const { top, rows } = dock;
  if (input.y >= top && input.y < top + rows) return null;
  return { ...input, y: input.y - 1 - (input.y < top ? 0 : rows) };
}

/** The row where docked questions begin: above the screen's field, if it has one. */
export const dockTop = (size: Size, docked: number, field: number): number =>
  Math.max(1, 1 + bodySize(size, docked).height - field);

export function frameOf(shown: Shown, context: Context, size: Size): Frame {
  if (isTooSmall(size)) return { lines: smallView(context, size), cursor: null };
  const top = shown.overlays.at(-1);
  // In copy mode the frame is frozen, so nothing below is rendered.
  if (top?.kind === 'copy') return withToasts(top.view(context, size), shown, context, size);
  const boxed = withOverlays(withDock(shown, context, size), shown.overlays, context, size);
  return withToasts(boxed, shown, context, size);
}

/** Places the questions between the panes and the field, so that they cover nothing. */
function withDock(shown: Shown, context: Context, size: Size): ComposedFrame {
  const { width, height } = size;
  const { lines: dock, cursor: asked, focused } = shown.dock ?? NO_DOCK;
  const body = shown.page.body(context, bodySize(size, dock.length));
  const rows = withBanner(sized(body.lines, width, height - 2 - dock.length), context, width);
  const top = dockTop(size, dock.length, body.field ?? 0);
  const dimmed = focused ? rows.map((line) => restyle(line, { dim: true })) : rows;
  const lines = [
    header(shown.page, context, width),
    ...dimmed.slice(0, top - 1),
    ...dock,
    ...dimmed.slice(top - 1),
    footer(shown, context, width),
  ];
  const under = body.cursor && body.cursor.y + 1 >= top ? dock.length : 0;
  const own = body.cursor && !focused ? { x: body.cursor.x, y: body.cursor.y + 1 + under } : null;
  if (dock.length === 0) return { lines, cursor: own };
  return {
    lines,
    cursor: asked === null ? own : { x: asked.x, y: top + asked.y },
    dockTop: top,
    dockEnd: top + dock.length,
  };
}

const NO_DOCK: Dock = { lines: [], cursor: null, focused: false };

/** Shows that the run's process was lost, in place of the last rows, where messages are otherwise written. */
function withBanner(lines: readonly Line[], context: Context, width: number): readonly Line[] {
  const { elsewhere, state } = context;
  if (!elsewhere?.lost || state.finished !== null) return lines;
  const banner = lostBanner(elsewhere.lost.why, width);
  return [...lines.slice(0, Math.max(0, lines.length - banner.length)), ...banner].slice(0, lines.length);
}

function withToasts(boxed: ComposedFrame, shown: Shown, context: Context, { width, height }: Size): Frame {
  const blockOf = (toasts: readonly Toast[]): readonly Line[] =>
    toastBlock(height < LOW ? toasts.slice(-1) : toasts, width, context.glyphs);
  const all = blockOf(shown.toasts);
  // Information that does not fit above an open dialog waits until the dialog is closed.
  const fits = all.length < (boxed.boxTop ?? height);
  const block = fits ? all : blockOf(shown.toasts.filter(({ level }) => level !== 'info'));
  const right = width - 1 - Math.max(0, ...block.map(lineWidth));
  const y = toastRow(boxed, shown, context, { x: right, rows: block.length, width, height });
  const onField = cutsField(boxed, right, y, context);
  const rows = onField ? block.map((line) => fit(line, width, { bg: 'raised' })) : block;
  const x = onField ? 0 : besideHint(boxed, right, y, context);
  const whole = sized(overlay(boxed.lines, rows, x, y), width, height);
  return { cursor: boxed.cursor, lines: withEllipsis(whole, context.glyphs) };
}

/** True if a toast from column `x` on would cut the text of an unused field in row `y`; it takes the row whole then. */
function cutsField({ lines }: ComposedFrame, x: number, y: number, { glyphs }: Context): boolean {
  const under = plain(columns(lines[y] ?? [], 0, x));
  return under.startsWith(` ${glyphs.prompt}`) && under.trimEnd().length > x - GAP;
}

/** On an unused field, the column at which a toast ends before the hint at the end of the row, if both fit. */
function besideHint({ lines }: ComposedFrame, x: number, y: number, { glyphs }: Context): number {
  const row = plain(lines[y] ?? []).trimEnd();
  const hint = /\s{2,}(\S+(?: \S+)*)$/.exec(row);
  if (!row.startsWith(` ${glyphs.prompt}`) || hint === null) return x;
  const moved = x - (hint[1] ?? '').length - 2;
  return moved < hint.index + GAP ? x : moved;
}

interface Block extends Size {
  readonly x: number;
  readonly rows: number;
}

/** The first row of the toasts. They cover neither a field in use nor a dialog. */
function toastRow(boxed: ComposedFrame, shown: Shown, context: Context, block: Block): number {
  const { overlays, page } = shown;
  const { rows } = block;
  const below = lastRow(shown, context, block);
  if (overlays.some(({ kind }) => kind !== 'copy')) return besideDialog(boxed, below, rows);
  const { dockTop = below + rows } = boxed;
  const free = (other: number): number => Math.max(1, emptyRow(boxed.lines, block, dockTop - rows) ?? other);
  if (page.name === 'start' || isWritten(boxed, below)) return free(1);
  // A question must not be covered; the toast takes the row of the field.
  if (below < (boxed.dockEnd ?? 0)) return free(dockTop - rows);
  // Where it would cover the field, an empty place is better.
  return page.name === 'plan' || cutsField(boxed, block.x, below, context) ? free(below) : below;
}

/** The last row of a body is a border or an unused field; in a plan it is the totals. */
const lastRow = ({ page }: Shown, { state }: Context, { rows, height }: Block): number =>
  Math.max(1, height - rows - (page.name === 'plan' && state.plan !== null ? 2 : 1));

const isWritten = ({ cursor }: ComposedFrame, below: number): boolean =>
  cursor !== null && cursor.y > below - MOST_FIELD;

/** Below the dialog, otherwise above it, otherwise over its first rows, but never over the header. */
const besideDialog = ({ boxTop = 0, boxEnd = 0 }: ComposedFrame, below: number, rows: number): number =>
  below >= boxEnd ? below : Math.max(1, boxTop - rows);

function emptyRow(lines: readonly Line[], { x, width, rows }: Block, below: number): number | null {
  if (rows === 0) return null;
  const isEmpty = (line: Line | undefined, from: number): boolean =>
    line !== undefined && plain(columns(line, from, width - 1)).trim() === '';
  // Prefers empty rows, then a gap to the text on the left; the last column is a border.
  for (const from of [0, Math.max(0, x - GAP)]) {
    for (let y = below; y > 1; y--) if (lines.slice(y, y + rows).every((line) => isEmpty(line, from))) return y;
  }
  return null;
}

/** Views cut texts with `…`; the screen shows the sign of the terminal instead. */
export const withEllipsis = (lines: readonly Line[], { ellipsis }: Glyphs): readonly Line[] =>
  ellipsis === '…'
    ? lines
    : lines.map((line) => line.map(([text, style]) => [text.replaceAll('…', ellipsis), style] as const));

function header(page: Page, context: Context, width: number): Line {
  const { state, projectService } = context;
  const seen = marks(state.session === null ? projectService : state, width);
  return headerLine({ ...page.header(context, width), marks: seen }, width);
}

function footer({ page, top, keyFlash = '' }: Shown, context: Context, width: number): Line {
  const selects = context.look?.mouse === false ? 'mouse off' : '';
  if (top) return footerLine(top.hints(context), selects, width, context.glyphs, { keyFlash });
  const own = page.hints(context);
  const taken = new Set(own.map(({ keys }) => keys));
  // While a field takes letters, the app's letter keys are inactive.
  const all = page.typing(context) ? hintsWhileTyping(APP_KEYS, context) : hintsOf(LETTER_KEYS, null, context);
  const global: readonly Hint[] = all.filter(({ keys }) => !taken.has(keys));
  const help = global.find(({ hint }) => hint === 'help');
  const place = [selects, page.position(context)].filter((part) => part !== '').join('  ');
  return footerLine([...own, ...global], place, width, context.glyphs, { kept: help, keyFlash });
}

interface ComposedFrame extends Frame {
  /** The first row of the dialogs and the first one below; absent if none is open. */
  readonly boxTop?: number;
  readonly boxEnd?: number;
  /** The first row of the questions and the first one below; absent if none are open. */
  readonly dockTop?: number;
  readonly dockEnd?: number;
}

function withOverlays(base: ComposedFrame, overlays: readonly Overlay[], context: Context, size: Size): ComposedFrame {
  if (overlays.length === 0) return base;
  const dimmed = base.lines.map((line, row) =>
    row === 0 || row === base.lines.length - 1 ? line : restyle(line, { dim: true }),
  );
  return overlays.reduce<ComposedFrame>(
    ({ lines, boxTop = size.height, boxEnd = 0 }, one) => {
      const view = one.view(context, size);
      const width = Math.max(0, ...view.lines.map(lineWidth));
      const at: Cursor = {
        x: Math.max(0, (size.width - width) >> 1),
        y: Math.max(1, (size.height - view.lines.length) >> 1),
      };
      const cursor = view.cursor === null ? null : { x: at.x + view.cursor.x, y: at.y + view.cursor.y };
      return {
        lines: overlay(lines, view.lines, at.x, at.y),
        cursor,
        boxTop: Math.min(boxTop, at.y),
        boxEnd: Math.max(boxEnd, at.y + view.lines.length),
      };
    },
    { lines: dimmed, cursor: null },
  );
}
