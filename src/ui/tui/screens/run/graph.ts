/** Where the live graph of the plan stands on the run screen, if anywhere. */
import type { Rect, RunLayout } from '../../components/layout.ts';
import type { Context } from '../../shell/screen.ts';
import { graphHeight } from '../../components/graph/graph.ts';
import type { RunUi } from './state.ts';

/** Where the graph is, and what it leaves of the pane beside the opened agent. */
export interface GraphPlace {
  readonly graph: Rect;
  /** Null where the graph stands in the place of the cards. */
  readonly below: Rect | null;
}

/**
 * In the high pane at the side, as high as it needs, else in the place of the cards; null while it isn't wanted. Until the person
 * says, it is there where it leaves the side's own boxes their room.
 */
export function graphIn(ui: Pick<RunUi, 'graph' | 'zoom'>, context: Context, layout: RunLayout): GraphPlace | null {
  if (ui.graph === false) return null;
  const { cards, side } = layout;
  if (side !== null && side.height > 16 && ui.zoom === 'normal') return atSide(side, ui.graph === null, context);
  return ui.graph === null || cards === null ? null : { graph: cards, below: null };
}

function atSide(side: Rect, unsaid: boolean, context: Context): GraphPlace | null {
  const { plan, approvedDigest } = context.state;
  const needed = graphHeight(context, side.height);
  const left = side.height - needed;
  if (unsaid && (plan === null || approvedDigest === null || left < USUAL)) return null;
  if (left < LOWEST) return { graph: side, below: null };
  return { graph: { ...side, height: needed }, below: { ...side, y: side.y + needed, height: left } };
}

/** Rows below the graph that are worth having for activity and spend. */
const LOWEST = 9;
/** Rows for the curve as well. */
const USUAL = 26;
