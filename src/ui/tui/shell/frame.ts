/** A whole screen from its parts: header, body, footer, the boxes over it, the toasts. Exactly the size of the terminal. */
import type { Dock, Top } from './overlays/overlay-stack.ts';
import type { Overlay } from '../frame/overlay.ts';
import { APP_KEYS } from './app-keys.ts';
import { type Hint, footerLine, hintsOf, hintsWhileTyping, isPlain } from '../frame/keymap.ts';
import type { Page } from '../frame/page.ts';
import type { Context, Toast } from '../frame/screen.ts';
import type { Input, Size } from '../terminal/terminal.ts';
import { columns, lineWidth, plain, restyle } from '../../../app/views/text/clip.ts';
import { overlay, sized } from '../text/compose.ts';
import type { Cursor, Frame, Line } from '../../../app/views/text/line.ts';
import { headerLine, marks } from '../components/header.ts';
import { lostBanner } from '../components/lost.ts';
import { isTooSmall, smallView } from '../components/small.ts';
import { toastBlock } from '../components/toast.ts';

/** Columns between a toast and what stands on its left. */
const GAP = 4;
/** Below this many rows one toast is all there is room for. */
const LOW = 16;
/** Rows that a field at the bottom may have above its cursor. */
const MOST_FIELD = 5;

/** Leaving has a letter of its own: Ctrl-C is named only where letters are taken. */
const LETTER_KEYS = APP_KEYS.filter(({ keys }) => keys.some(isPlain));

export interface Shown {
  readonly page: Page;
  readonly overlays: readonly Overlay[];
  readonly toasts: readonly Toast[];
  /** The key that was pressed a moment ago, as the footer shows it. */
  readonly lit?: string | null;
  /** The questions that wait. Absent: none does. */
  readonly dock?: Dock;
  /** What has the keys before the screen. */
  readonly top?: Top | undefined;
}

/** Rows and columns of a screen's body: what header and footer leave, and the questions that wait. */
export const bodySize = ({ width, height }: Size, docked = 0): Size => ({
  width,
  height: Math.max(0, height - 2 - docked),
});

/** Clicks and the wheel in the body's own rows; below the questions it goes on. Null: on these. */
export function inBody(input: Input, dock: { readonly top: number; readonly rows: number }): Input | null {
  if (input.is !== 'wheel' && input.is !== 'click') return input;
  const { top, rows } = dock;
  if (input.y >= top && input.y < top + rows) return null;
  return { ...input, y: input.y - 1 - (input.y < top ? 0 : rows) };
}

/** The row of the screen where the questions begin: above the field, where the screen has one. */
export const dockTop = (size: Size, docked: number, field: number): number =>
  Math.max(1, 1 + bodySize(size, docked).height - field);

export function frameOf(shown: Shown, context: Context, size: Size): Frame {
  if (isTooSmall(size)) return { lines: smallView(context, size), cursor: null };
  const top = shown.overlays.at(-1);
  // The screen stands still: what goes on below is neither shown nor made.
  if (top?.kind === 'copy') return withToasts(top.view(context, size), shown, context, size);
  const boxed = withOverlays(withDock(shown, context, size), shown.overlays, context, size);
  return withToasts(boxed, shown, context, size);
}

/** Header, body and footer, and the questions between the panes and the field: nothing is covered by them. */
function withDock(shown: Shown, context: Context, size: Size): Boxed {
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
  return { lines, cursor: asked === null ? own : { x: asked.x, y: top + asked.y }, dockTop: top };
}

const NO_DOCK: Dock = { lines: [], cursor: null, focused: false };

/** That the run stands still must not be overlooked: in the place of the last rows, where else messages to its agents are written. */
function withBanner(lines: readonly Line[], context: Context, width: number): readonly Line[] {
  const { elsewhere, state } = context;
  if (!elsewhere?.lost || state.finished !== null) return lines;
  const banner = lostBanner(elsewhere.lost.why, width);
  return [...lines.slice(0, Math.max(0, lines.length - banner.length)), ...banner].slice(0, lines.length);
}

function withToasts(boxed: Boxed, shown: Shown, context: Context, { width, height }: Size): Frame {
  const blockOf = (toasts: readonly Toast[]): readonly Line[] =>
    toastBlock(height < LOW ? toasts.slice(-1) : toasts, width, context.glyphs);
  const all = blockOf(shown.toasts);
  // A box is read now, and written in: where there is no room above it, what only tells waits until it is closed.
  const fits = all.length < (boxed.boxTop ?? height);
  const block = fits ? all : blockOf(shown.toasts.filter(({ level }) => level !== 'info'));
  const x = width - 1 - Math.max(0, ...block.map(lineWidth));
  const y = toastRow(boxed, shown, context, { x, rows: block.length, width, height });
  const whole = sized(overlay(boxed.lines, block, x, y), width, height);
  return {
    cursor: boxed.cursor,
    lines: context.glyphs.ellipsis === '…' ? whole : whole.map((line) => plainEllipsis(line, context)),
  };
}

interface Block extends Size {
  readonly x: number;
  readonly rows: number;
}

/** The row where toasts begin. What is being written is not covered, nor a box, which says things below itself. */
function toastRow(
  boxed: Boxed,
  { overlays, page: { name: page } }: Shown,
  { state }: Context,
  { x, rows, width, height }: Block,
): number {
  // The last row of a body is a border or a field that nobody writes in; that of a plan is its totals.
  const below = Math.max(1, height - rows - (page === 'plan' && state.plan !== null ? 2 : 1));
  if (overlays.some(({ kind }) => kind !== 'copy')) return besideBox(boxed, below, rows);
  const { lines, cursor, dockTop: asked } = boxed;
  // A question is read letter by letter: what is told stands above it.
  if (asked !== undefined) return Math.max(1, asked - rows);
  if (page === 'start') return emptyRow(lines, { x, width, below, rows }) ?? 1;
  return cursor !== null && cursor.y > below - MOST_FIELD ? 1 : below;
}

/** Below the box, else above it, else over its first rows: the header says what runs and what it costs. */
const besideBox = ({ boxTop = 0, boxEnd = 0 }: Boxed, below: number, rows: number): number =>
  below >= boxEnd ? below : Math.max(1, boxTop - rows);

/** The lowest place where nothing stands: what a project is and who rules here is read at leisure. Null when there is none. */
function emptyRow(
  lines: readonly Line[],
  {
    x,
    width,
    below,
    rows,
  }: { readonly x: number; readonly width: number; readonly below: number; readonly rows: number },
): number | null {
  if (rows === 0) return null;
  const isEmpty = (line: Line | undefined, from: number): boolean =>
    line !== undefined && plain(columns(line, from, width)).trim() === '';
  // Best on rows of their own, else well apart from the words on their left.
  for (const from of [0, Math.max(0, x - GAP)]) {
    for (let y = below; y > 1; y--) if (lines.slice(y, y + rows).every((line) => isEmpty(line, from))) return y;
  }
  return null;
}

/** Without Unicode a cut text ends in the sign for it, wherever it was cut. */
const plainEllipsis = (line: Line, { glyphs }: Context): Line =>
  line.map(([text, style]) => [text.replaceAll('…', glyphs.ellipsis), style] as const);

function header(page: Page, context: Context, width: number): Line {
  const { state, lobby } = context;
  const seen = marks(state.session === null ? lobby : state, width, context.glyphs);
  return headerLine({ ...page.header(context, width), marks: seen }, width);
}

function footer({ page, top, lit }: Shown, context: Context, width: number): Line {
  const selects = context.look?.mouse === false ? 'mouse off' : '';
  if (top) return footerLine(top.hints(context), selects, width, context.glyphs, { lit });
  const own = page.hints(context);
  const taken = new Set(own.map(({ keys }) => keys));
  // While letters belong to a field, the app's plain keys do nothing.
  const all = page.typing(context) ? hintsWhileTyping(APP_KEYS, context) : hintsOf(LETTER_KEYS, null, context);
  const global: readonly Hint[] = all.filter(({ keys }) => !taken.has(keys));
  const help = global.find(({ hint }) => hint === 'help');
  const place = [selects, page.position(context)].filter((part) => part !== '').join('  ');
  return footerLine([...own, ...global], place, width, context.glyphs, { kept: help, lit });
}

interface Boxed extends Frame {
  /** The first row that a box takes, and the first one below; absent where none is open. */
  readonly boxTop?: number;
  readonly boxEnd?: number;
  /** The row where the questions begin; absent where none waits. */
  readonly dockTop?: number;
}

/** Boxes in the middle, one over the other; what is below them is dimmed. */
function withOverlays(base: Boxed, overlays: readonly Overlay[], context: Context, size: Size): Boxed {
  if (overlays.length === 0) return base;
  const dimmed = base.lines.map((line, row) =>
    row === 0 || row === base.lines.length - 1 ? line : restyle(line, { dim: true }),
  );
  return overlays.reduce<Boxed>(
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
