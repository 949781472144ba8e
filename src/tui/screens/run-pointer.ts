/** What the wheel and clicks do on the run screen, and where its graph is. */
import type { PaneName, Rect, RunLayout } from '../layout.ts';
import { listed } from '../run-list.ts';
import type { Context, Effect } from '../screen.ts';
import type { Input, Size } from '../term/terminal.ts';
import { densityFor, ROWS } from '../view/cards.ts';
import { selectedTask, taskAt } from '../view/graph.ts';
import { agentOfTask } from '../view/plan-standing.ts';
import type { RunUi } from './run-state.ts';
import { layoutOf, move, scrollBy, select, selectedOf } from './run-state.ts';

type Pointed = Extract<Input, { readonly x: number }>;

/** Where the graph is: beside the cards where there is a high pane for it, else in their place; null while it isn't wanted. */
export function graphIn(ui: RunUi, { cards, side }: RunLayout): Rect | null {
  if (!ui.graph) return null;
  return side !== null && side.height > 16 && ui.zoom === 'normal' ? side : cards;
}

const within = (rect: Rect | null, x: number, y: number): boolean =>
  rect !== null && x >= rect.x && x < rect.x + rect.width && y >= rect.y && y < rect.y + rect.height;

/** The wheel scrolls the pane under the pointer, a click selects. */
export function pointed(ui: RunUi, context: Context, event: Pointed, size: Size): Effect<RunUi> | null {
  const layout = layoutOf(ui, context, size);
  const graph = graphIn(ui, layout);
  const here = (['detail', 'log', 'side', 'cards'] as const).find((name) => within(layout[name], event.x, event.y));
  if (here === undefined) return null;
  const at = layout[here];
  if (graph !== null && graph === at) return { ui: inGraph(ui, context, graph, event) };
  if (here === 'cards' && at !== null) return { ui: inCards(ui, context, at, event) };
  return { ui: event.is === 'wheel' ? turned(ui, here, event.by) : { ...ui, focus: here } };
}

function turned(ui: RunUi, pane: PaneName, by: 1 | -1): RunUi {
  if (pane === 'detail') return scrollBy(ui, 3 * by);
  return pane === 'log' ? { ...ui, logBack: Math.max(0, ui.logBack - by) } : ui;
}

function inCards(ui: RunUi, context: Context, at: Rect, event: Pointed): RunUi {
  if (event.is === 'wheel') return move(ui, context, event.by);
  const agents = listed(ui.list, context.state);
  const rows = ROWS[densityFor(ui.density, agents.length, at.height)];
  const agent = agents[Math.floor((ui.cardsTop + event.y - at.y) / rows)];
  return agent === undefined ? ui : { ...select(ui, agent), focus: 'cards' };
}

/** A click selects the agent of the task; the wheel goes on to the next. */
function inGraph(ui: RunUi, context: Context, at: Rect, event: Pointed): RunUi {
  const { plan } = context.state;
  if (plan === null) return ui;
  if (event.is === 'wheel') return move(ui, context, event.by);
  const row = selectedTask(plan, selectedOf(ui, context), context);
  const task = taskAt(plan, row, at.height, event.y - at.y);
  const agent = task === null ? null : agentOfTask(context.state, task.id);
  return agent === null ? ui : select(ui, agent);
}
