/** The layout of the run screen: rectangles of its panes for a size, and the view for a terminal that is too small. */
import type { Line } from '../../../app/views/index.ts';
import { aligned, formatCost, formatDuration, runSpending, runTime } from '../../../app/views/index.ts';
import { hasRunningAgent } from '../../../app/views/index.ts';
import type { Context } from '../frame/screen.ts';
import type { Size } from '../terminal/terminal.ts';
import { blank, strong, tint } from '../text/blocks.ts';

/** The app shows its "too small" view below this size. */
const SMALLEST = { width: 40, height: 8 } as const;

export interface Rect {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface RunLayout {
  /** Null where the detail is in its place. */
  readonly cards: Rect | null;
  readonly detail: Rect | null;
  /** The spend of the run; null where there is no room. */
  readonly side: Rect | null;
  /** One row without a border, or a box. */
  readonly log: Rect | null;
}

/** A pane that keys can go to. */
export type PaneName = 'cards' | 'detail' | 'side' | 'log';
/** The size of the focused pane: its share of the layout, more than half of the screen, all of it. */
export const ZOOMS = ['normal', 'half', 'full'] as const;
export type Zoom = (typeof ZOOMS)[number];

export interface LayoutRequest {
  readonly focus: PaneName;
  readonly zoom: Zoom;
  /** The person opened an agent: with one column, its pane replaces the list. */
  readonly opened: boolean;
  readonly log: 'auto' | 'shown' | 'hidden';
  /** Rows of the whole terminal, which decide how many panes there are. */
  readonly terminalRows: number;
  /** The opened agent's pane shows the overview, which includes the spend. */
  readonly overview: boolean;
  readonly graph: boolean;
  /** Rows that the list can use of so many: what is left is the log's, and with one column the opened agent's. */
  readonly listRows: (height: number) => number;
}

/** The panes in `width` x `height`, the screen without header, footer and input. They fill it without overlap. */
export function runLayout(width: number, height: number, wish: LayoutRequest): RunLayout {
  const { terminalRows, focus, zoom } = wish;
  if (zoom === 'full') return alone(focus, { x: 0, y: 0, width, height });
  const logRows = Math.min(logHeight(width, terminalRows, height, wish), Math.max(0, height - 1));
  const rows = height - logRows;
  const log = logRows === 0 ? null : { x: 0, y: rows, width, height: logRows };
  if (width < 84 && terminalRows > 46) return { ...portrait(width, rows), log };
  if (width < 100) return { ...oneColumn(width, rows, wish), log };
  const columns = (high: number): Omit<RunLayout, 'log'> => {
    const large = zoom === 'half' ? focus : null;
    return width < 160 ? twoColumns(width, high, wish, large) : threeColumns(width, high, large);
  };
  return withLogBelow(wish, columns(height), logRows) ?? { ...columns(rows), log };
}

/** The log below the list, in the rows that the list leaves; null where the log keeps its rows over the whole width. */
function withLogBelow(wish: LayoutRequest, all: Omit<RunLayout, 'log'>, logRows: number): RunLayout | null {
  const { cards } = all;
  if (cards === null || wish.log !== 'auto' || logRows === 0 || wish.zoom === 'half') return null;
  const rows = cards.height - logRows;
  const listed = wish.graph ? rows : Math.max(LEAST_LIST, Math.min(rows, wish.listRows(rows)));
  const left = cards.height - listed;
  return left < LEAST_BOX
    ? null
    : { ...all, cards: { ...cards, height: listed }, log: { ...cards, y: listed, height: left } };
}

/** Fewest useful rows of the log, of the list, and of the opened agent below the list. */
const LEAST_BOX = 3;
const LEAST_LIST = 6;
const LEAST_DETAIL = 8;

/** The list, and below it the opened agent, which at first is the overview of the run; or one of the two alone. */
function oneColumn(width: number, rows: number, wish: LayoutRequest): Omit<RunLayout, 'log'> {
  const whole = { x: 0, y: 0, width, height: rows };
  if (wish.opened) return { cards: null, detail: whole, side: null };
  const most = rows - LEAST_DETAIL;
  if (wish.zoom !== 'normal' || wish.graph || most < LEAST_LIST) return { cards: whole, detail: null, side: null };
  const listed = Math.min(most, wish.listRows(most));
  const detail = { ...whole, y: listed, height: rows - listed };
  return { cards: { ...whole, height: listed }, detail, side: null };
}

const NO_PANE: RunLayout = { cards: null, detail: null, side: null, log: null };
const alone = (focus: PaneName, whole: Rect): RunLayout => ({ ...NO_PANE, [focus]: whole });

function logHeight(width: number, terminalRows: number, height: number, { log, focus, zoom }: LayoutRequest): number {
  if (focus === 'log' && zoom === 'half') return Math.floor(height * 0.6);
  if (log === 'hidden') return 0;
  const usual = usualLog(width, terminalRows);
  return log === 'shown' ? Math.max(usual, Math.floor(terminalRows * 0.45)) : usual;
}

function usualLog(width: number, terminalRows: number): number {
  if (terminalRows < 16) return 0;
  if (width < 84 && terminalRows > 46) return 5;
  if (width < 100) return terminalRows >= 28 ? 5 : 1;
  if (width < 160) return terminalRows >= 34 ? 7 : 1;
  return terminalRows >= 50 ? 10 : terminalRows >= 34 ? 7 : 1;
}

function portrait(width: number, rows: number): Omit<RunLayout, 'log'> {
  const above = Math.floor(rows * 0.4);
  return {
    cards: { x: 0, y: 0, width, height: above },
    detail: { x: 0, y: above, width, height: rows - above },
    side: null,
  };
}

/** The list's share of the width; `large` is the pane that gets more than half. */
const listShare = (usual: number, large: PaneName | null): number =>
  large === 'cards' ? 0.64 : large === null || large === 'log' ? usual : 0.3;

function twoColumns(
  width: number,
  rows: number,
  { terminalRows, overview, focus }: LayoutRequest,
  large: PaneName | null,
): Omit<RunLayout, 'log'> {
  const left = Math.floor(width * listShare(0.46, large));
  const hasSide = terminalRows >= 29 && (!overview || focus === 'side');
  const usual = hasSide ? Math.min(9, Math.floor(rows / 3)) : 0;
  const below = large === 'side' ? Math.floor(rows * 0.7) : large === 'detail' ? 0 : usual;
  const right = { x: left, y: 0, width: width - left, height: rows - below };
  return {
    cards: { x: 0, y: 0, width: left, height: rows },
    detail: right,
    side: below === 0 ? null : { ...right, y: rows - below, height: below },
  };
}

function threeColumns(width: number, rows: number, large: PaneName | null): Omit<RunLayout, 'log'> {
  const usual = large === null || large === 'log';
  const left = usual ? Math.min(64, Math.floor(width * 0.31)) : Math.floor(width * (large === 'cards' ? 0.55 : 0.22));
  const side = usual ? Math.min(58, Math.floor(width * 0.28)) : Math.floor(width * (large === 'side' ? 0.55 : 0.2));
  return {
    cards: { x: 0, y: 0, width: left, height: rows },
    detail: { x: left, y: 0, width: width - left - side, height: rows },
    side: { x: width - side, y: 0, width: side, height: rows },
  };
}

export const isTooSmall = ({ width, height }: Size): boolean => width < SMALLEST.width || height < SMALLEST.height;

/** State and cost of the run with the size that the terminal needs, in exactly the size of the screen. */
export function smallView(context: Context, { width, height }: Size): readonly Line[] {
  const { state, now } = context;
  const lines: readonly Line[] = [
    [strong('MIMIR', 'focus')],
    [tint(`${hasRunningAgent(state) ? 'working' : state.phase} ${formatDuration(runTime(state, now))}`, 'fg')],
    [strong(formatCost(runSpending(state).cost), 'title')],
    ...(state.approvals.length > 0 ? [[strong(`${state.approvals.length} ask you`, 'warn')]] : []),
    [tint(`${width}x${height}: too small`, 'warn')],
    [tint(`needs ${SMALLEST.width}x${SMALLEST.height}`, 'muted')],
  ];
  const from = Math.max(0, (height - lines.length) >> 1);
  return blank(width, height).map((line, row) => {
    const words = lines[row - from];
    return words ? aligned(words, width, 'center') : line;
  });
}
