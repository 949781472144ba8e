/** The run screen: the list of agents, the opened agent, spend, log, and the row for messages. Draws the panes and handles the mouse. */
import { columns, type Cursor, type Line, plain } from '../../../../app/views/index.ts';
import { agentRowAt, cardsPane } from '../../components/agents/cards.ts';
import { detailPane, type Tab, tabsOf } from '../../components/agents/detail.ts';
import { agentAt, graphPane } from '../../components/agents/graph.ts';
import { crumbs, runNumbers } from '../../components/header.ts';
import { filterRow, messageRow, offeredPaths } from '../../components/input-row.ts';
import type { PaneName, Rect, RunLayout } from '../../components/layout.ts';
import { logPane, sidePane } from '../../components/side.ts';
import { hiddenBy, listed, listWords, queueOf, WHOLE } from '../../components/agents/list.ts';
import type { Body, Context, Effect, Screen } from '../../frame/screen.ts';
import type { Input, Size } from '../../terminal/terminal.ts';
import { overlay, sized } from '../../text/blocks.ts';
import { findTyped, isFinding, withTab } from './detail.ts';
import type { GraphPlace, RunUi } from './state.ts';
import { graphIn, hasLog, densityOf, FIRST, indexOf, inputRows, layoutOf, move, scrollBy, select } from './state.ts';
import { selectedOf, settle } from './state.ts';
import { RUN_KEYS } from './keys.ts';
import { filterTyped, isFiltering, typed } from './pane-keys.ts';

export const runScreen: Screen<RunUi> = {
  name: 'run',
  first: FIRST,
  keys: RUN_KEYS,
  header: (ui, context, width = 120) => ({ left: whereabouts(ui, context, width), right: runNumbers(context, width) }),
  body,
  settle,
  position,
  input,
  unfinished: (ui) => ui.detail.front > 0,
  // Nothing may hide the agent from the list.
  opened: (ui, agent) => ({ ...ui, selected: agent, list: { ...WHOLE, queue: true }, focus: 'detail' }),
  typing: (ui) => ui.message !== null || isFinding(ui) || isFiltering(ui),
};

/** `by cost 4/12`: the order of the list unless it is the default, and the selected row. */
function position(ui: RunUi, { state }: Context): string {
  const agents = listed(ui.list, state);
  if (agents.length === 0) return '';
  const words = ui.list.sort === 'auto' ? '' : `by ${ui.list.sort} `;
  return `${words}${indexOf(ui, agents) + 1}/${agents.length}`;
}

const cutWords = ({ list }: RunUi, { state }: Context): string =>
  hiddenBy(list, state) === 0 && list.filter === '' ? '' : listWords({ ...list, sort: 'auto' }, state);

/** `run-7f3a › Fix the race`; with one column the name of the opened agent instead of the task. */
function whereabouts(ui: RunUi, context: Context, width: number): Line {
  const { state, glyphs } = context;
  const agent = width < 100 && ui.focus === 'detail' ? selectedOf(ui, context) : undefined;
  // Without much room the task is more useful than the id of the session.
  const session = width < 140 ? '' : state.session === null ? 'run' : shortSession(state.session);
  const where = state.phase === 'merging' ? `${session} merging`.trim() : session;
  return crumbs(where, agent?.name ?? state.task, glyphs);
}

/** The end of a session's id distinguishes runs of one day. */
const shortSession = (session: string): string => (session.length <= 12 ? session : `run-${session.slice(-4)}`);

function body(ui: RunUi, context: Context, size: Size): Body {
  const { width, height } = size;
  const layout = layoutOf(ui, context, size);
  const panes = panesOf(ui, context, layout);
  const rows = inputRows(ui, context, size);
  const above = Math.max(0, height - rows);
  const lines = Array.from({ length: above }, (_, y) => rowOf(panes, y));
  const row =
    filterRow(ui.list, context, width) ??
    messageRow(
      ui.message,
      { selected: selectedOf(ui, context) ?? null, cut: cutWords(ui, context) },
      context,
      width,
      rows,
    );
  const cursor: Cursor | null = row.cursor === null ? null : { x: row.cursor.x, y: row.cursor.y + above };
  const offered = offeredPaths(ui.message, context, width, above);
  const covered = overlay(lines, offered, Math.max(0, Math.min(3, width - 44)), above - offered.length);
  return { lines: sized([...covered, ...row.lines], width, height), cursor, field: row.lines.length };
}

interface Pane {
  readonly at: Rect;
  readonly lines: readonly Line[];
}

function panesOf(ui: RunUi, context: Context, layout: RunLayout): readonly Pane[] {
  const { cards, detail, log } = layout;
  const place = graphIn(ui, context, layout);
  const panes: Pane[] = [...graphAndSide(ui, context, layout, place)];
  if (cards && place?.graph !== cards) panes.push(listPane(ui, context, cards));
  const agent = selectedOf(ui, context);
  if (detail && agent) {
    const view = { ...ui, agent, focused: ui.focus === 'detail', feed: !hasLog(layout) };
    panes.push({ at: detail, lines: detailPane(view, context, detail.width, detail.height) });
  }
  if (log) {
    const options = { level: ui.logLevel, back: ui.logBack, focused: ui.focus === 'log' };
    panes.push({ at: log, lines: logPane(context, log.width, log.height, options) });
  }
  return panes;
}

/** The graph, where it is shown, and the side pane in the rows that it leaves. */
function graphAndSide(
  ui: RunUi,
  context: Context,
  { cards, side }: RunLayout,
  place: GraphPlace | null,
): readonly Pane[] {
  const inCards = place !== null && place.graph === cards;
  const rest = place === null || inCards ? side : place.below;
  const focused = ui.focus === 'side';
  const panes: Pane[] = [];
  if (place !== null) {
    const { graph } = place;
    const options = { selected: selectedOf(ui, context), focused: inCards ? ui.focus === 'cards' : focused };
    panes.push({ at: graph, lines: graphPane(options, context, graph.width, graph.height) });
  }
  // The pane below the graph takes no keys.
  if (rest !== null)
    panes.push({ at: rest, lines: sidePane(context, rest.width, rest.height, focused && rest === side) });
  return panes;
}

function listPane(ui: RunUi, context: Context, at: Rect): Pane {
  const agents = listed(ui.list, context.state);
  const view = {
    agents,
    selected: indexOf(ui, agents),
    density: densityOf(ui, context, at.height),
    top: ui.cardsTop,
    focused: ui.focus === 'cards',
    cut: cutWords(ui, context) !== '',
    folded: ui.list.folded,
    queue: queueOf(ui.list, context.state),
  };
  return { at, lines: cardsPane(view, context, at.width, at.height) };
}

/** One row of the screen from the panes that cover it; the rest is blank. */
function rowOf(panes: readonly Pane[], y: number): Line {
  const here = panes.filter(({ at }) => y >= at.y && y < at.y + at.height).sort((a, b) => a.at.x - b.at.x);
  return here.flatMap(({ at, lines }, index): Line => {
    const end = index === 0 ? 0 : (here[index - 1]?.at.x ?? 0) + (here[index - 1]?.at.width ?? 0);
    const gap: Line = at.x > end ? [[' '.repeat(at.x - end), {}]] : [];
    return [...gap, ...(lines[y - at.y] ?? columns([], 0, at.width))];
  });
}

function input(ui: RunUi, context: Context, event: Input, size: Size): Effect<RunUi> | null {
  if (event.is === 'wheel' || event.is === 'click') return pointed(ui, context, event, size);
  if (isFiltering(ui)) {
    const next = filterTyped(ui, event);
    return next === null ? null : { ui: next };
  }
  return ui.message === null ? findTyped(ui, event) : typed(ui, ui.message, event);
}

type Pointed = Extract<Input, { readonly x: number }>;

const within = (rect: Rect | null, x: number, y: number): boolean =>
  rect !== null && x >= rect.x && x < rect.x + rect.width && y >= rect.y && y < rect.y + rect.height;

function pointed(ui: RunUi, context: Context, event: Pointed, size: Size): Effect<RunUi> | null {
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

function inDetail(ui: RunUi, context: Context, at: Rect, { x, y }: Pointed): RunUi {
  const tab = y === at.y ? tabAt(ui, context, at, x - at.x) : undefined;
  return tab === undefined ? ui : withTab(ui, tab);
}

/** The tab at column `x` of the pane's first row. All signs behind the agent's name take one column. */
function tabAt(ui: RunUi, context: Context, { width, height }: Rect, x: number): Tab | undefined {
  const agent = selectedOf(ui, context);
  if (agent === undefined) return undefined;
  const row = plain(detailPane({ ...ui, agent, focused: true, feed: true }, context, width, height)[0] ?? []);
  return tabsOf(agent, context.state).find((tab) => {
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
  const row = agentRowAt(densityOf(ui, context, at.height), ui.cardsTop, event.y - at.y);
  const agent = agents[row];
  return agent === undefined ? ui : { ...select(ui, agent), focus: 'cards' };
}

function inGraph(ui: RunUi, context: Context, at: Rect, event: Pointed): RunUi {
  if (event.is === 'wheel') return move(ui, context, event.by);
  const view = { selected: selectedOf(ui, context), focused: true };
  const agent = agentAt(view, context, at.height, event.y - at.y);
  return agent === null ? ui : select(ui, agent);
}
