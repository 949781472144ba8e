/** Where the panes of the plan screen are (SCREENS, section 6): sizes in, sizes out. One row below them is the totals'. */
import type { Size } from '../term/terminal.ts';

export interface PlanLayout {
  /** Null where the other pane has taken its place. */
  readonly list: Size | null;
  readonly inspector: Size | null;
  readonly schedule: Size | null;
  /** List and inspector stand side by side. */
  readonly columns: boolean;
  /** Rows that a task takes in the list. */
  readonly rows: 1 | 2;
}

/** For a body of `width` x `height` and a plan of `count` tasks; `pane` has the keys. */
export function planLayout(width: number, height: number, count: number, pane: 'list' | 'inspector'): PlanLayout {
  const rows = Math.max(0, height - 1);
  if (width >= 100 && rows >= 10) return side(width, rows, count);
  const half = { schedule: null, columns: false } as const;
  if (rows < 14) {
    const whole = { width, height: rows };
    const list = pane === 'list';
    return { ...half, list: list ? whole : null, inspector: list ? null : whole, rows: 1 };
  }
  // The list first: two rows a task when all of them fit into two thirds, else one.
  const most = Math.floor((rows * 2) / 3);
  const tall = 2 * count + 2 <= most ? 2 : 1;
  const above = Math.max(5, Math.min(tall * count + 2, Math.floor(rows * 0.6) + (tall === 2 ? 2 : 0)));
  return {
    ...half,
    list: { width, height: above },
    inspector: { width, height: rows - above },
    rows: tall,
  };
}

function side(width: number, rows: number, count: number): PlanLayout {
  // 34 rows of a terminal are 31 here: header, footer and totals are not counted in.
  const below = rows >= 31 ? Math.min(count + 2, Math.max(6, Math.floor(rows / 3))) : 0;
  const left = Math.floor(width * (width >= 160 ? 0.58 : 0.62));
  const height = rows - below;
  return {
    list: { width: left, height },
    inspector: { width: width - left, height },
    schedule: below === 0 ? null : { width, height: below },
    columns: true,
    rows: 2 * count <= height - 2 || rows >= 24 ? 2 : 1,
  };
}
