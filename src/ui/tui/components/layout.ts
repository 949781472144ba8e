/** Where the panes of the run screen are: sizes in, rectangles out. What is drawn in them is theirs. */

/** Below this nothing fits: the app shows its "too small" view. */
export const SMALLEST = { width: 40, height: 8 } as const;

export interface Rect {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface RunLayout {
  /** Null where the detail took its place. */
  readonly cards: Rect | null;
  /** Null where there is one column and the cards are in it. */
  readonly detail: Rect | null;
  /** Spend by agent and activity; null where there is no room. */
  readonly side: Rect | null;
  /** One row is the ticker, more are the log in its box. */
  readonly log: Rect | null;
}

/** A pane that keys can go to. */
export type PaneName = 'cards' | 'detail' | 'side' | 'log';
/** How large the focused pane is: as the size says, more than half of it, all of it. */
export const ZOOMS = ['normal', 'half', 'full'] as const;
export type Zoom = (typeof ZOOMS)[number];

export interface LayoutWish {
  /** The pane that keys go to. */
  readonly focus: PaneName;
  readonly zoom: Zoom;
  /** Enter was pressed on a card: matters where there is one column. */
  readonly opened: boolean;
  /** The person's own wish for the log, or what the size says. */
  readonly log: 'auto' | 'shown' | 'hidden';
  /** Rows of the whole terminal: what decides how many panes there are. */
  readonly terminalRows: number;
}

/**
 * Rectangles for `width` x `height`: what header, footer and input leave. They fill it without overlap.
 */
export function runLayout(width: number, height: number, wish: LayoutWish): RunLayout {
  const { terminalRows, focus, zoom } = wish;
  if (zoom === 'full') return alone(focus, { x: 0, y: 0, width, height });
  const logRows = Math.min(logHeight(width, terminalRows, height, wish), Math.max(0, height - 1));
  const rows = height - logRows;
  const log = logRows === 0 ? null : { x: 0, y: rows, width, height: logRows };
  if (width < 84 && terminalRows > 46) return { ...portrait(width, rows), log };
  if (width < 100) {
    const whole = { x: 0, y: 0, width, height: rows };
    return { cards: wish.opened ? null : whole, detail: wish.opened ? whole : null, side: null, log };
  }
  const large = zoom === 'half' ? focus : null;
  return {
    ...(width < 160 ? twoColumns(width, rows, terminalRows, large) : threeColumns(width, rows, large)),
    log,
  };
}

const NO_PANE: RunLayout = { cards: null, detail: null, side: null, log: null };
const alone = (focus: PaneName, whole: Rect): RunLayout => ({ ...NO_PANE, [focus]: whole });

function logHeight(width: number, terminalRows: number, height: number, { log, focus, zoom }: LayoutWish): number {
  if (focus === 'log' && zoom === 'half') return Math.floor(height * 0.6);
  if (log === 'hidden') return 0;
  const usual = usualLog(width, terminalRows);
  return log === 'shown' ? Math.max(usual, Math.min(10, Math.floor(terminalRows / 3))) : usual;
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

/** Share of the width that the list has; `large` is the pane that wants more than half. */
const listShare = (usual: number, large: PaneName | null): number =>
  large === 'cards' ? 0.64 : large === null || large === 'log' ? usual : 0.3;

function twoColumns(width: number, rows: number, terminalRows: number, large: PaneName | null): Omit<RunLayout, 'log'> {
  const left = Math.floor(width * listShare(0.46, large));
  const usual = terminalRows >= 29 ? Math.min(9, Math.floor(rows / 3)) : 0;
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
