/** The state of the run screen that is not in the log: selection, scrolling, the opened agent's pane, a message being typed. Pure. */
import { plain, wantsAttention } from '../../../../app/views/index.ts';
import { type AgentId, ROOT } from '../../../../domain/ids.ts';
import { memoize } from '../../../../domain/memoize.ts';
import type { AgentState, LogLine } from '../../../../events/index.ts';
import type { Delivery } from '../../../../ports/controls.ts';
import { type Density, densityFor, type DensitySetting, rowsFor, topFor } from '../../components/agents/cards.ts';
import { detailDoc, detailRows, type DetailUi, type DetailView, type Tab } from '../../components/agents/detail.ts';
import { tabsOf } from '../../components/agents/detail.ts';
import { graphHeight } from '../../components/agents/graph.ts';
import { listed, type ListUi, queueOf, WHOLE } from '../../components/agents/list.ts';
import { fieldWidth } from '../../components/input-row.ts';
import { type PaneName, type Rect, runLayout, type RunLayout, type Zoom } from '../../components/layout.ts';
import { logOf } from '../../components/side.ts';
import { settled } from '../../frame/keymap.ts';
import type { Context } from '../../frame/screen.ts';
import type { Size } from '../../terminal/terminal.ts';
import { type Doc, itemsOf, itemWithin, linesOf, placeOf } from '../../text/blocks.ts';
import { editorHeight } from '../../text/editor.ts';
import type { Composer } from '../composer.ts';

export interface Message extends Composer {
  readonly to: AgentId | 'all';
  readonly delivery: Delivery;
}

export interface RunUi extends Pick<DetailView, 'tab' | 'open' | 'detail' | 'top' | 'follow' | 'seen'> {
  readonly selected: AgentId | null;
  readonly focus: PaneName;
  readonly lastPane: boolean;
  readonly zoom: Zoom;
  /** Shows the live graph, at the side or in the place of the list; null until the person chooses: only where there is room at the side. */
  readonly graph: boolean | null;
  readonly graphShown: boolean;
  readonly list: ListUi;
  readonly density: DensitySetting;
  readonly densityShown: Density;
  readonly cardsTop: number;
  readonly log: 'auto' | 'shown' | 'hidden';
  /** Entries of this level and worse are shown, scrolled back by `logBack`. */
  readonly logLevel: LogLine['level'];
  readonly logBack: number;
  readonly message: Message | null;
  readonly draft: string;
}

/** Not available, without a reason to show. */
export const SILENT = '';

export const NO_DETAIL: DetailUi = { at: null, by: 0, unfolded: new Set(), find: null, front: 0 };

export const FIRST: RunUi = {
  selected: null,
  focus: 'cards',
  lastPane: false,
  zoom: 'normal',
  graph: null,
  graphShown: false,
  list: WHOLE,
  tab: 'Overview',
  open: false,
  density: 'auto',
  densityShown: 'card',
  cardsTop: 0,
  top: 0,
  follow: true,
  seen: 0,
  detail: NO_DETAIL,
  log: 'auto',
  logLevel: 'info',
  logBack: 0,
  message: null,
  draft: '',
};

export const indexOf = (ui: RunUi, agents: readonly AgentState[]): number =>
  Math.max(
    0,
    agents.findIndex(({ id }) => id === ui.selected),
  );

export const selectedOf = (ui: RunUi, context: Context): AgentState | undefined => {
  const agents = listed(ui.list, context.state);
  return agents[indexOf(ui, agents)];
};

/** The density of the list in `height` rows; agents in the row of the queue count as well. */
export const densityOf = ({ density, list }: RunUi, { state }: Context, height: number): Density =>
  densityFor(density, listed(list, state).length + queueOf(list, state).slice(1).length, height);

/** Rows of the input line: more than one while a longer message is typed. */
export const inputRows = (ui: RunUi, context: Context, size: Size): number => {
  if (ui.message === null) return 1;
  const wanted = editorHeight(ui.message.editor, fieldWidth(ui.message, context, size.width));
  return Math.max(1, Math.min(5, size.height - 4, wanted));
};

export const layoutOf = (ui: RunUi, context: Context, size: Size): RunLayout =>
  runLayout(size.width, Math.max(0, size.height - inputRows(ui, context, size)), {
    focus: ui.focus,
    zoom: ui.zoom,
    opened: ui.focus === 'detail',
    log: ui.log,
    terminalRows: size.height + 2,
    overview: ui.tab === 'Overview',
    graph: ui.graph === true,
    listRows: (height) => listRows(ui, context, height),
  });

const listRows = (ui: RunUi, context: Context, height: number): number =>
  rowsFor(densityOf(ui, context, height), Math.max(1, listed(ui.list, context.state).length));

/** The state with everything existing and in range, the same object where nothing changed; see `Screen.settle`. */
export function settle(wished: RunUi, context: Context, size: Size): RunUi {
  const agents = listed(wished.list, context.state);
  const ui = focused(tabbed(wished, agents[indexOf(wished, agents)], context), context, size);
  const layout = layoutOf(ui, context, size);
  const at = indexOf(ui, agents);
  const agent = agents[at];
  const height = layout.cards?.height ?? 0;
  const density = densityOf(ui, context, height);
  const cardsTop = layout.cards === null ? ui.cardsTop : topFor(ui.cardsTop, at, density, agents.length, height);
  const logBack = settledLog(ui, context, layout.log?.height ?? 0);
  // An agent that a filter hides is selected again when the filter is cleared.
  const selected = agents.length === 0 ? ui.selected : (agent?.id ?? null);
  const graphShown = graphIn(ui, context, layout) !== null;
  const lastPane = isLast(ui.focus, layout);
  const detailed = settleDetail(ui, agent, context, layout);
  return settled(wished, { ...detailed, selected, densityShown: density, cardsTop, logBack, graphShown, lastPane });
}

const tabbed = (ui: RunUi, agent: AgentState | undefined, { state }: Context): RunUi =>
  agent === undefined || tabsOf(agent, state).includes(ui.tab) ? ui : { ...ui, tab: 'Transcript' };

function settledLog({ logBack, logLevel }: RunUi, { state }: Context, height: number): number {
  if (logBack === 0) return 0;
  return Math.max(0, Math.min(logBack, logOf(state.log, logLevel).length - Math.max(1, height - 2)));
}

/** Moves the focus to the next visible pane where its pane is not visible. */
function focused(ui: RunUi, context: Context, size: Size): RunUi {
  const layout = layoutOf(ui, context, size);
  if (ui.focus === 'side' && layout.side === null) return focused({ ...ui, focus: 'log' }, context, size);
  return ui.focus === 'log' && !hasLog(layout) ? { ...ui, focus: 'cards' } : ui;
}

export const hasLog = ({ log }: RunLayout): boolean => (log?.height ?? 0) >= 3;

function isLast(focus: PaneName, layout: RunLayout): boolean {
  if (focus === 'cards') return false;
  return focus === 'log' || (!hasLog(layout) && (focus === 'side' || layout.side === null));
}

/** Selects another agent, with its transcript from the end; main with the overview. */
export const select = (ui: RunUi, agent: AgentState | undefined): RunUi =>
  agent === undefined || agent.id === ui.selected
    ? ui
    : {
        ...ui,
        selected: agent.id,
        tab: agent.id === ROOT && ui.tab === 'Transcript' ? 'Overview' : ui.tab,
        top: 0,
        follow: true,
        seen: 0,
        open: false,
        detail: NO_DETAIL,
      };

/** Moves the selection by `by` rows, clamped. */
export function move(ui: RunUi, context: Context, by: number): RunUi {
  const agents = listed(ui.list, context.state);
  return select(ui, agents[Math.max(0, Math.min(agents.length - 1, indexOf(ui, agents) + by))]);
}

/** The next agent, cyclic from the selected one, that needs attention; null when none does. */
export function nextInNeed(ui: RunUi, context: Context, by: 1 | -1): AgentState | null {
  const agents = listed(ui.list, context.state);
  const at = indexOf(ui, agents);
  for (let step = 1; step <= agents.length; step++) {
    const agent = agents[(at + by * step + agents.length * step) % agents.length];
    if (agent && wantsAttention(context.state, agent)) return agent;
  }
  return null;
}

/** Scrolls the detail by `by` lines and stops following; `settle` follows again at the end. */
export const scrollBy = (ui: RunUi, by: number): RunUi => ({ ...ui, top: Math.max(0, ui.top + by), follow: false });

/** The place of the graph, and the rest of the side pane. */
export interface GraphPlace {
  readonly graph: Rect;
  /** Null where the graph takes the whole pane. */
  readonly below: Rect | null;
}

/** The place of the graph, in a high side pane or the list's; null while not shown. By itself only where the spend fits too. */
export function graphIn(ui: Pick<RunUi, 'graph' | 'zoom'>, context: Context, layout: RunLayout): GraphPlace | null {
  if (ui.graph === false) return null;
  const { cards, side } = layout;
  if (side !== null && side.height > 16 && ui.zoom === 'normal') return atSide(side, ui.graph === null, context);
  return ui.graph === null || cards === null ? null : { graph: cards, below: null };
}

function atSide(side: Rect, automatic: boolean, context: Context): GraphPlace | null {
  const { plan, approvedDigest } = context.state;
  const needed = graphHeight(context, side.height);
  const left = side.height - needed;
  if (automatic && (plan === null || approvedDigest === null || left < USUAL)) return null;
  if (left < LOWEST) return { graph: side, below: null };
  return { graph: { ...side, height: needed }, below: { ...side, y: side.y + needed, height: left } };
}

/** Least rows below the graph for the spend. */
const LOWEST = 9;
const USUAL = 26;

// The opened agent's pane: the selected block, unfolded items, a search, and scrolling.

/** True for tabs that are lists, in which an item is always selected. */
export const isList = (tab: Tab): boolean => tab === 'Tools' || tab === 'Diffs';

/** Brings selection, search and scrolling into the range of the content; returns `ui` itself where nothing changed. */
function settleDetail(ui: RunUi, agent: AgentState | undefined, context: Context, layout: RunLayout): RunUi {
  const { detail: size } = layout;
  if (size === null || agent === undefined) return withFront(ui, 0);
  const rows = detailRows(size.height, ui.tab);
  const doc = detailDoc({ ...ui, agent, feed: !hasLog(layout) }, context, size.width, rows);
  return scrolled(sought(chosen(grown(ui, doc), doc, rows), doc), doc, rows);
}

/** Keeps the visible lines in place when earlier blocks were laid out above them since the last frame. */
function grown(ui: RunUi, doc: Doc): RunUi {
  const { front } = ui.detail;
  if (front === doc.front) return ui;
  const first = front > 0 && !ui.follow && ui.top > 0 ? placeOf(doc, front) : null;
  // It was below the line that marks earlier blocks.
  const by = first === null ? 0 : first.from - 1;
  return withFront({ ...ui, top: ui.top + by, seen: ui.seen + by }, doc.front);
}

const withFront = (ui: RunUi, front: number): RunUi =>
  ui.detail.front === front ? ui : { ...ui, detail: { ...ui.detail, front } };

function scrolled(ui: RunUi, doc: Doc, rows: number): RunUi {
  const most = Math.max(0, doc.total - rows);
  // Only the transcript grows at its end; other tabs begin at the top.
  const follow = ui.tab === 'Transcript' && ui.detail.at === null && (ui.follow || ui.top >= most);
  const top = follow ? most : Math.max(0, Math.min(ui.top, most));
  const seen = follow ? doc.total : Math.min(ui.seen, doc.total);
  return top === ui.top && follow === ui.follow && seen === ui.seen ? ui : { ...ui, top, follow, seen };
}

/** Applies pending steps of the selection and scrolls to the selected item. */
function chosen(ui: RunUi, doc: Doc, rows: number): RunUi {
  const { at, by } = ui.detail;
  if (at === null && by === 0 && !isList(ui.tab)) return ui;
  const next = choice(ui, doc, rows);
  if (next === at && by === 0) return ui;
  const place = next === null ? null : placeOf(doc, next);
  const top = place === null ? ui.top : revealed(ui.top, place.from, place.to, rows);
  return { ...ui, top, follow: false, detail: { ...ui.detail, at: next, by: 0 } };
}

/** The item that is selected after all pending steps; null where there is none. */
function choice({ tab, top, detail: { at, by } }: RunUi, doc: Doc, rows: number): number | null {
  const items = itemsOf(doc);
  const first = isList(tab) ? (items[0] ?? null) : itemWithin(doc, top, top + rows);
  if (items.length === 0 || (at === null && by === 0)) return first;
  const index = items.indexOf(typeof at === 'number' ? at : (first ?? 0));
  return items[Math.max(0, Math.min(items.length - 1, index + by))] ?? null;
}

/** The nearest top that shows the lines, or their beginning where they do not fit. */
function revealed(top: number, from: number, to: number, rows: number): number {
  if (from < top || to - from >= rows) return from;
  return to > top + rows ? to - rows : top;
}

/** Goes to the next match, cyclic, from the last match or from the visible lines. */
function sought(ui: RunUi, doc: Doc): RunUi {
  const { find } = ui.detail;
  if (find === null || find.seek === 0) return ui;
  const hits = hitsOf(doc, find.query);
  const hit = nextHit(hits, find.hit ?? ui.top - find.seek, find.seek);
  const top = hit === null ? ui.top : Math.max(0, hit - 2);
  return { ...ui, top, follow: false, detail: { ...ui.detail, find: { ...find, hit, seek: 0 } } };
}

function nextHit(hits: readonly number[], from: number, by: 1 | -1): number | null {
  const found = by === 1 ? hits.find((line) => line > from) : hits.findLast((line) => line < from);
  return found ?? (by === 1 ? hits[0] : hits.at(-1)) ?? null;
}

const hitsOf = memoize(
  (doc: Doc, query: string) => [doc, query],
  (doc, query): readonly number[] => {
    const words = query.toLowerCase();
    if (words === '') return [];
    return linesOf(doc, 0, doc.total).flatMap(({ line }, index) =>
      plain(line).toLowerCase().includes(words) ? [index] : [],
    );
  },
);
