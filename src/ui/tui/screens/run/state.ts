/** What the run screen remembers that isn't in the log: the selection, scrolling, a message being typed. Pure steps. */
import type { AgentId } from '../../../../domain/ids.ts';
import type { AgentState, LogLine } from '../../../../events/state.ts';
import type { Delivery } from '../../../../ports/controls.ts';
import type { Completing } from '../../components/text/complete.ts';
import { wantsAttention } from '../../../../app/views/agents/agent-lines.ts';
import { type PaneName, type RunLayout, type Zoom, type Rect, runLayout } from '../../components/layout.ts';
import type { Context } from '../../frame/screen.ts';
import type { Size } from '../../terminal/terminal.ts';
import type { Editor } from '../../text/editor.ts';
import { editorHeight } from '../../text/editor-view.ts';
import { type DensityWish, densityFor, topFor } from '../../components/agents/cards.ts';
import type { Tab } from '../../components/tabs.ts';
import { fieldWidth } from '../../components/input-row.ts';
import { logOf } from '../../components/text/log.ts';
import { NO_DETAIL, settleDetail } from './detail-state.ts';
import { type ListUi, listed, WHOLE } from '../../components/runs/list.ts';
import { graphHeight } from '../../components/agents/graph.ts';
import { type DetailUi } from '../../components/agents/detail.ts';

export interface Message {
  readonly to: AgentId | 'all';
  readonly delivery: Delivery;
  readonly editor: Editor;
  readonly completing: Completing;
  /** Which of the messages sent before stands in the field, newest 0; null while it is the person's own text. */
  readonly former: number | null;
}

export interface RunUi {
  readonly selected: AgentId | null;
  readonly focus: PaneName;
  /** Is the pane that has the keys the last one that can be seen? */
  readonly lastPane: boolean;
  readonly zoom: Zoom;
  /** The live graph instead of the cards, or beside them where there is room; null until the person says: where there is room. */
  readonly graph: boolean | null;
  /** Is it shown? */
  readonly graphShown: boolean;
  /** Which agents are listed, and in which order. */
  readonly list: ListUi;
  readonly tab: Tab;
  /** Tool output whole. */
  readonly open: boolean;
  readonly density: DensityWish;
  readonly cardsTop: number;
  readonly top: number;
  readonly follow: boolean;
  /** Lines that there were when following stopped. */
  readonly seen: number;
  /** The selected block, what is unfolded, a search. */
  readonly detail: DetailUi;
  readonly log: 'auto' | 'shown' | 'hidden';
  /** The least that a line of the log must say to be shown, and how many lines it is scrolled back. */
  readonly logLevel: LogLine['level'];
  readonly logBack: number;
  /** The message being typed; null while nothing is. */
  readonly message: Message | null;
  /** A message that was left unsent. */
  readonly draft: string;
}

export const FIRST: RunUi = {
  selected: null,
  focus: 'cards',
  lastPane: false,
  zoom: 'normal',
  graph: null,
  graphShown: false,
  list: WHOLE,
  tab: 'Transcript',
  open: false,
  density: 'auto',
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
  });

/** The same state where everything in it exists and is in range; see `Screen.settle`. */
export function settle(wished: RunUi, context: Context, size: Size): RunUi {
  const agents = listed(wished.list, context.state);
  const ui = focused(wished, context, size);
  const layout = layoutOf(ui, context, size);
  const at = indexOf(ui, agents);
  const agent = agents[at];
  const height = layout.cards?.height ?? 0;
  const density = densityFor(ui.density, agents.length, height);
  const cardsTop = layout.cards === null ? ui.cardsTop : topFor(ui.cardsTop, at, density, agents.length, height);
  const logBack = settledLog(ui, context, layout.log?.height ?? 0);
  // Whoever is out of sight by a filter is selected again when it is gone.
  const selected = agents.length === 0 ? ui.selected : (agent?.id ?? null);
  const graphShown = graphIn(ui, context, layout) !== null;
  const lastPane = isLast(ui.focus, layout);
  const next = {
    ...settleDetail(ui, agent, context, layout.detail),
    selected,
    cardsTop,
    logBack,
    graphShown,
    lastPane,
  };
  return same(wished, next) ? wished : next;
}

function settledLog({ logBack, logLevel }: RunUi, { state }: Context, height: number): number {
  if (logBack === 0) return 0;
  return Math.max(0, Math.min(logBack, logOf(state.log, logLevel).length - Math.max(1, height - 2)));
}

/** The pane that has the keys is one that can be seen: on to the next where it isn't. */
function focused(ui: RunUi, context: Context, size: Size): RunUi {
  const layout = layoutOf(ui, context, size);
  if (ui.focus === 'side' && layout.side === null) return focused({ ...ui, focus: 'log' }, context, size);
  if (ui.focus === 'log' && !hasLog(layout)) return { ...ui, focus: 'cards' };
  return ui;
}

const hasLog = ({ log }: RunLayout): boolean => (log?.height ?? 0) >= 3;

function isLast(focus: PaneName, layout: RunLayout): boolean {
  if (focus === 'cards') return false;
  return focus === 'log' || (!hasLog(layout) && (focus === 'side' || layout.side === null));
}

const same = (a: RunUi, b: RunUi): boolean =>
  a.selected === b.selected &&
  a.focus === b.focus &&
  a.graphShown === b.graphShown &&
  a.lastPane === b.lastPane &&
  a.logBack === b.logBack &&
  a.cardsTop === b.cardsTop &&
  a.top === b.top &&
  a.follow === b.follow &&
  a.seen === b.seen &&
  a.detail === b.detail;

/** Another agent: its transcript from the end, folded. */
export const select = (ui: RunUi, agent: AgentState | undefined): RunUi =>
  agent === undefined || agent.id === ui.selected
    ? ui
    : { ...ui, selected: agent.id, top: 0, follow: true, seen: 0, open: false, detail: NO_DETAIL };

/** The selection `by` cards further, clamped. */
export function move(ui: RunUi, context: Context, by: number): RunUi {
  const agents = listed(ui.list, context.state);
  return select(ui, agents[Math.max(0, Math.min(agents.length - 1, indexOf(ui, agents) + by))]);
}

/** The next agent, from the selected one round, that wants attention; null when none does. */
export function nextInNeed(ui: RunUi, context: Context, by: 1 | -1): AgentState | null {
  const agents = listed(ui.list, context.state);
  const at = indexOf(ui, agents);
  for (let step = 1; step <= agents.length; step++) {
    const agent = agents[(at + by * step + agents.length * step) % agents.length];
    if (agent && wantsAttention(context.state, agent)) return agent;
  }
  return null;
}

/** The detail scrolled by `by` lines. Upwards stops following; settle puts it back on the end when the end is reached. */
export const scrollBy = (ui: RunUi, by: number): RunUi => ({ ...ui, top: Math.max(0, ui.top + by), follow: false });

// Where the live graph of the plan stands on the run screen, if anywhere.

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
