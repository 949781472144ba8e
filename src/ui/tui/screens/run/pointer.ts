/** What the wheel and clicks do on the run screen. */
import type { PaneName, Rect } from '../../components/layout.ts';
import { listed } from '../../components/runs/list.ts';
import type { Context, Effect } from '../../shell/screen.ts';
import type { Input, Size } from '../../terminal/terminal.ts';
import { plain } from '../../../../app/views/text/clip.ts';
import { detailPane } from '../../components/agents/detail.ts';
import { densityFor, ROWS } from '../../components/agents/cards.ts';
import { agentAt } from '../../components/graph/graph.ts';
import type { Tab } from '../../components/tabs.ts';
import { TABS } from '../../components/tabs.ts';
import { withTab } from './detail.ts';
import { graphIn } from './graph.ts';
import type { RunUi } from './state.ts';
import { layoutOf, move, scrollBy, select, selectedOf } from './state.ts';

type Pointed = Extract<Input, { readonly x: number }>;

const within = (rect: Rect | null, x: number, y: number): boolean =>
  rect !== null && x >= rect.x && x < rect.x + rect.width && y >= rect.y && y < rect.y + rect.height;

/** The wheel scrolls the pane under the pointer, a click selects. */
export function pointed(ui: RunUi, context: Context, event: Pointed, size: Size): Effect<RunUi> | null {
  const layout = layoutOf(ui, context, size);
  const place = graphIn(ui, context, layout);
  if (place !== null && within(place.graph, event.x, event.y)) return { ui: inGraph(ui, context, place.graph, event) };
  const here = (['detail', 'log', 'side', 'cards'] as const).find((name) => within(layout[name], event.x, event.y));
  if (here === undefined) return null;
  const at = layout[here];
  if (here === 'cards' && at !== null) return { ui: inCards(ui, context, at, event) };
  if (event.is === 'wheel') return { ui: turned(ui, here, event.by) };
  return { ui: { ...(here === 'detail' && at !== null ? inDetail(ui, context, at, event) : ui), focus: here } };
}

/** A click on the name of a tab opens it. */
function inDetail(ui: RunUi, context: Context, at: Rect, { x, y }: Pointed): RunUi {
  const tab = y === at.y ? tabAt(ui, context, at, x - at.x) : undefined;
  return tab === undefined ? ui : withTab(ui, tab);
}

/** The tab whose name stands in this column of the pane's first row. Behind the agent's name, each sign takes one column. */
function tabAt(ui: RunUi, context: Context, { width, height }: Rect, x: number): Tab | undefined {
  const agent = selectedOf(ui, context);
  if (agent === undefined) return undefined;
  const row = plain(detailPane({ ...ui, agent, focused: true }, context, width, height)[0] ?? []);
  return TABS.find((tab) => {
    const at = row.lastIndexOf(tab);
    const column = width - (row.length - at);
    return at !== -1 && x >= column && x < column + tab.length;
  });
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

/** A click selects the agent of the row; the wheel goes on to the next. */
function inGraph(ui: RunUi, context: Context, at: Rect, event: Pointed): RunUi {
  if (event.is === 'wheel') return move(ui, context, event.by);
  const view = { selected: selectedOf(ui, context), focused: true };
  const agent = agentAt(view, context, at.height, event.y - at.y);
  return agent === null ? ui : select(ui, agent);
}
