/** Where the panes of the plan screen are: sizes in, sizes out. One row below them is the totals'. */
import type { Size } from '../../terminal/terminal.ts';
import type { PlanPane, Zoom } from './ui.ts';

export interface PlanLayout {
  /** Null where another pane has taken its place. */
  readonly list: Size | null;
  readonly inspector: Size | null;
  readonly schedule: Size | null;
  /** List and inspector stand side by side. */
  readonly columns: boolean;
  /** Rows that a task takes in the list. */
  readonly rows: 1 | 2;
}

/** What the layout follows: rows of the list and of the schedule, the pane that has the keys, and how much room that is to have. */
export interface LayoutWish {
  readonly count: number;
  /** Rows of the schedule: its tasks. */
  readonly tasks: number;
  readonly pane: PlanPane;
  readonly zoom: Zoom;
}

/** For a body of `width` x `height`. The panes fill it, but for the row of the totals, without overlap. */
export function planLayout(width: number, height: number, wish: LayoutWish): PlanLayout {
  const rows = Math.max(0, height - 1);
  if (wish.zoom === 'full' || rows < (width >= 100 ? 10 : 14)) return alone(width, rows, wish);
  return width >= 100 ? side(width, rows, wish) : stacked(width, rows, wish);
}

const NONE = { list: null, inspector: null, schedule: null, columns: false, rows: 1 } as const;

function alone(width: number, rows: number, { pane, count }: LayoutWish): PlanLayout {
  return { ...NONE, [pane]: { width, height: rows }, rows: rows >= 14 && 2 * count <= rows - 2 ? 2 : 1 };
}

/** The list first: two rows a task when all of them fit into two thirds, else one. */
function stacked(width: number, rows: number, { count, pane, zoom }: LayoutWish): PlanLayout {
  const most = Math.floor((rows * (zoom === 'half' && pane !== 'list' ? 1 : 2)) / 3);
  const tall = 2 * count + 2 <= most ? 2 : 1;
  const wanted = Math.max(5, Math.min(tall * count + 2, Math.floor(rows * 0.6) + (tall === 2 ? 2 : 0)));
  const above = zoom === 'normal' ? wanted : Math.max(5, pane === 'list' ? Math.floor(rows * 0.75) : most);
  const below = { width, height: rows - above };
  return {
    ...NONE,
    list: { width, height: above },
    ...(pane === 'schedule' ? { schedule: below } : { inspector: below }),
    rows: tall,
  };
}

function side(width: number, rows: number, { count, tasks, pane, zoom }: LayoutWish): PlanLayout {
  const half = zoom === 'half' ? pane : null;
  const below = scheduleHeight(rows, tasks, pane, zoom);
  const share = half === 'list' ? 0.72 : half === 'inspector' ? 0.4 : width >= 160 ? 0.58 : 0.62;
  const left = Math.floor(width * share);
  const height = rows - below;
  return {
    list: { width: left, height },
    inspector: { width: width - left, height },
    schedule: below === 0 ? null : { width, height: below },
    columns: true,
    rows: 2 * count <= height - 2 || rows >= 24 ? 2 : 1,
  };
}

/** A row a task, its borders and the time below; 34 rows of a terminal are 31 here: header, footer and totals are not counted in. */
function scheduleHeight(rows: number, count: number, pane: PlanPane, zoom: Zoom): number {
  if (pane === 'schedule' && zoom === 'half') return Math.max(6, Math.floor(rows / 2));
  if (rows >= 31) return Math.min(count + 3, Math.max(6, Math.floor(rows / 3) + 1));
  return pane === 'schedule' && rows >= 14 ? Math.max(5, Math.min(count + 3, Math.floor(rows / 3))) : 0;
}
