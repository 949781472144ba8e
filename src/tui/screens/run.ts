/** The run screen: cards, the opened agent, spend, log, and a line to write messages on. */
import { inOrder } from '../agents.ts';
import type { Rect } from '../layout.ts';
import type { Body, Context, Effect, Screen } from '../screen.ts';
import type { Input, Size } from '../term/terminal.ts';
import { overlay, sized } from '../text/compose.ts';
import { columns } from '../text/clip.ts';
import type { Cursor, Line } from '../text/line.ts';
import { cardsPane, densityFor, ROWS } from '../view/cards.ts';
import { detailPane } from '../view/detail.ts';
import { crumbs, runNumbers } from '../view/header.ts';
import { messageRow, offeredPaths } from '../view/input-row.ts';
import { logPane } from '../view/log.ts';
import { sidePane } from '../view/side.ts';
import { findTyped, isFinding } from './run-detail.ts';
import { RUN_KEYS } from './run-keys.ts';
import { typed } from './run-message.ts';
import type { RunUi } from './run-state.ts';
import { FIRST, indexOf, inputRows, layoutOf, move, scrollBy, select, selectedOf, settle } from './run-state.ts';
import type { RunLayout } from '../layout.ts';

export const runScreen: Screen<RunUi> = {
  name: 'run',
  first: FIRST,
  keys: RUN_KEYS,
  header: (ui, context, width = 120) => ({ left: whereabouts(ui, context, width), right: runNumbers(context, width) }),
  body,
  settle,
  position: (ui, { state }) =>
    state.agents.size === 0 ? '' : `${indexOf(ui, inOrder(state)) + 1}/${state.agents.size}`,
  input,
  typing: (ui) => ui.message !== null || isFinding(ui),
};

/** `run-7f3a › Fix the race`; with one column the opened agent takes the place of the task. */
function whereabouts(ui: RunUi, context: Context, width: number): Line {
  const { state, glyphs } = context;
  const agent = width < 100 && ui.focus === 'detail' ? selectedOf(ui, context) : undefined;
  const session = state.session === null ? 'run' : shortSession(state.session);
  const where = state.phase === 'merging' ? `${session} merging` : session;
  return crumbs(where, agent?.name ?? state.task, glyphs);
}

/** The end of a session's name tells runs of one day apart. */
const shortSession = (session: string): string => (session.length <= 12 ? session : `run-${session.slice(-4)}`);

function body(ui: RunUi, context: Context, size: Size): Body {
  const { width, height } = size;
  const layout = layoutOf(ui, context, size);
  const panes = panesOf(ui, context, layout);
  const rows = inputRows(ui, context, size);
  const above = Math.max(0, height - rows);
  const lines = Array.from({ length: above }, (_, y) => rowOf(panes, y));
  const row = messageRow(ui.message, selectedOf(ui, context)?.name ?? null, context, width, rows);
  const cursor: Cursor | null = row.cursor === null ? null : { x: row.cursor.x, y: row.cursor.y + above };
  const offered = offeredPaths(ui.message, context, width, above);
  const covered = overlay(lines, offered, Math.max(0, Math.min(3, width - 44)), above - offered.length);
  return { lines: sized([...covered, ...row.lines], width, height), cursor };
}

interface Pane {
  readonly at: Rect;
  readonly lines: readonly Line[];
}

function panesOf(ui: RunUi, context: Context, layout: RunLayout): readonly Pane[] {
  const agents = inOrder(context.state);
  const { cards, detail, side, log } = layout;
  const agent = selectedOf(ui, context);
  const panes: Pane[] = [];
  if (cards) {
    const density = densityFor(ui.density, agents.length, cards.height);
    const view = { agents, selected: indexOf(ui, agents), density, top: ui.cardsTop, focused: ui.focus === 'cards' };
    panes.push({ at: cards, lines: cardsPane(view, context, cards.width, cards.height) });
  }
  if (detail && agent) {
    const { tab, open, top, follow, seen, detail: part } = ui;
    const view = { agent, tab, open, top, follow, seen, detail: part, focused: ui.focus === 'detail' };
    panes.push({ at: detail, lines: detailPane(view, context, detail.width, detail.height) });
  }
  if (side) panes.push({ at: side, lines: sidePane(context, side.width, side.height) });
  if (log) panes.push({ at: log, lines: logPane(context, log.width, log.height) });
  return panes;
}

/** One row of the screen from the panes that reach into it; what none covers is blank. */
function rowOf(panes: readonly Pane[], y: number): Line {
  const here = panes.filter(({ at }) => y >= at.y && y < at.y + at.height).sort((a, b) => a.at.x - b.at.x);
  const line = here.flatMap(({ at, lines }, index): Line => {
    const end = index === 0 ? 0 : (here[index - 1]?.at.x ?? 0) + (here[index - 1]?.at.width ?? 0);
    const gap: Line = at.x > end ? [[' '.repeat(at.x - end), {}]] : [];
    return [...gap, ...(lines[y - at.y] ?? columns([], 0, at.width))];
  });
  return line;
}

function input(ui: RunUi, context: Context, event: Input, size: Size): Effect<RunUi> | null {
  if (event.is === 'wheel' || event.is === 'click') return pointed(ui, context, event, size);
  if (ui.message === null) return findTyped(ui, event);
  return typed(ui, ui.message, event);
}

const within = (rect: Rect | null, x: number, y: number): boolean =>
  rect !== null && x >= rect.x && x < rect.x + rect.width && y >= rect.y && y < rect.y + rect.height;

/** The wheel scrolls the pane under the pointer, a click selects. */
function pointed(
  ui: RunUi,
  context: Context,
  event: Extract<Input, { readonly x: number }>,
  size: Size,
): Effect<RunUi> | null {
  const { cards, detail } = layoutOf(ui, context, size);
  if (within(detail, event.x, event.y)) {
    return { ui: event.is === 'wheel' ? scrollBy(ui, 3 * event.by) : { ...ui, focus: 'detail' } };
  }
  if (cards === null || !within(cards, event.x, event.y)) return null;
  if (event.is === 'wheel') return { ui: move(ui, context, event.by) };
  const agents = inOrder(context.state);
  const rows = ROWS[densityFor(ui.density, agents.length, cards.height)];
  const agent = agents[Math.floor((ui.cardsTop + event.y - cards.y) / rows)];
  return agent ? { ui: { ...select(ui, agent), focus: 'cards' } } : null;
}
