/** One agent as a card of five rows: name, model and figures, todos or task, current activity. cards.ts places the cards. */
import {
  agentShare,
  agentTime,
  clip,
  expectedTask,
  formatCost,
  formatDuration,
  formatShare,
  formatTokens,
  isIdle,
  type LimitShare,
  type Line,
  lineWidth,
  neverRan,
  type Span,
  span,
  spread,
  subtreeOf,
  todosOf,
  widthOf,
  wrapText,
} from '../../../../app/views/index.ts';
import { ROOT } from '../../../../domain/ids.ts';
import type { Todo } from '../../../../domain/turn.ts';
import { type AgentState, tokensOfAgent } from '../../../../events/index.ts';
import type { Context } from '../../frame/screen.ts';
import { box, strong, tint } from '../../text/blocks.ts';
import { aboutSign, costText, gauge, inkOfShare } from '../costs.ts';
import { clipName, fittingModel } from '../names.ts';
import { doing, oneLine, statusSpan } from '../progress.ts';
import { lockOf, pinOf } from '../reviews.ts';

export const CARD_ROWS = 5;
const TODOS = 3;

export interface CardOptions {
  readonly selected: boolean;
  /** The keys go to the pane of the cards. */
  readonly focused: boolean;
  /** Number of descendants that a fold hides. */
  readonly hidden: number;
  /** Levels below its ancestors in the list. */
  readonly indent: number;
}

/** Exactly five lines of exactly `width` columns. */
export function card(agent: AgentState, context: Context, width: number, options: CardOptions): readonly Line[] {
  const { glyphs } = context;
  return box({
    width,
    height: CARD_ROWS,
    glyphs,
    kind: 'card',
    border: options.selected ? 'heavy' : 'light',
    style: { fg: options.selected ? (options.focused ? 'focus' : 'muted') : 'border' },
    title: title(agent, context, width, options.indent),
    titleEnd: metrics(agent, context, width),
    foot: doing(agent, context),
    footEnd: [...foldedSpans(options.hidden), ...subtreeSpans(agent, context), ...budget(agent, context, width)],
    body: todoLines(agent, context, Math.max(0, width - 5)).map((line): Line => [span(' '), ...line]),
  });
}

/** `● ╰ finder  haiku-4.5`; only the used model, `→ offline`, where the requested one does not fit beside it. */
function title(agent: AgentState, context: Context, width: number, indent: number): Line {
  const { glyphs } = context;
  const child = indent === 0 ? '' : `${' '.repeat(2 * (indent - 1))}${glyphs.child} `;
  const before: Line = [statusSpan(agent, context), tint(` ${child}`, 'faint'), ...lockOf(agent, context)];
  const free = width - lineWidth(metrics(agent, context, width)) - 9;
  const most = Math.max(8, free - lineWidth(before) - lineWidth(pinOf(agent)));
  const name: Line = [...before, strong(clipName(agent.name, most, glyphs), `role:${agent.role}`), ...pinOf(agent)];
  const room = free - lineWidth(name);
  const model = fittingModel(agent.model, room, glyphs);
  // A few letters of a model are unreadable.
  return width < 34 || room < Math.min(6, widthOf(model)) ? name : [...name, tint(`  ${model}`, 'muted')];
}

/** `2m 13s · $0.1184 · 31k tok`; empty for an agent that never ran. */
function metrics(agent: AgentState, context: Context, width: number): Line {
  if (neverRan(agent)) return [];
  const dot = tint(` ${context.glyphs.dot} `, 'faint');
  const about = aboutSign(agent, context);
  const tokens = `${about}${formatTokens(tokensOfAgent(agent))}`;
  const parts: Span[] = [tint(formatDuration(agentTime(agent, context.state, context.now)), 'fg')];
  if (width >= 30) parts.push(dot, strong(`${about}${costText(agent)}`, 'fg'));
  if (width >= 44) parts.push(dot, tint(width >= 70 ? `${tokens} tok` : tokens, 'muted'));
  return parts;
}

/** An agent is near a limit from this share of it on. */
export const NEAR = 0.8;

/**
 * The share of its limits that is shown for an agent. Null without limits, before it starts, and after its end, where a low share would
 * read as remaining work; an agent that came near a limit keeps its share. Null for main, whose limits are those of the run.
 */
export function shareShown(agent: AgentState, { state, now }: Context): LimitShare | null {
  const share = agent.id === ROOT || neverRan(agent) ? null : agentShare(state, agent, now);
  return share === null || (agent.outcome !== null && share.spent < NEAR) ? null : share;
}

/** `▰▰▰▰·  79%`, from 80 % on with words: `near its limit ▰▰▰▰·  87%`. Empty without a budget. */
function budget(agent: AgentState, context: Context, width: number): Line {
  const share = shareShown(agent, context);
  if (share === null) return [];
  const { spent } = share;
  const near = spent >= NEAR;
  const ink = near ? inkOfShare(spent) : 'muted';
  return [
    ...(near ? [tint(nearWords(spent, agent, width), ink)] : []),
    ...gauge(share, 5, context.glyphs),
    span(` ${formatShare(spent).padStart(4)}`, { fg: ink, bold: near }),
  ];
}

/** A finished agent, and a narrow card, have a sign instead of words. */
function nearWords(share: number, { outcome }: AgentState, width: number): string {
  if (width < 70 || outcome !== null) return '! ';
  return share >= 1 ? 'limit reached ' : 'near its limit ';
}

/** `+3 hidden `: the descendants that a fold hides. */
const foldedSpans = (hidden: number): Line => (hidden === 0 ? [] : [strong(`+${hidden} hidden `, 'info')]);

/** `Σ $0.0775 `: the cost of an agent with its descendants, where that is more than its own; empty for main. */
export function subtreeSpans(agent: AgentState, { state, glyphs }: Context): Line {
  if (agent.parent === null || agent.children.length === 0) return [];
  const { cost, priced } = subtreeOf(state, agent);
  const sign = glyphs.ellipsis === '…' ? 'Σ' : 'all';
  return cost <= agent.cost ? [] : [tint(`${sign} ${costText({ cost, priced })} `, 'muted')];
}

/** The three todos around the current one; for a finished agent the task and the number of todos done; without todos the task. */
function todoLines(agent: AgentState, context: Context, width: number): readonly Line[] {
  const todos = todosOf(context.state, agent);
  if (todos.length === 0) return withoutTodos(agent, context, width);
  if (agent.outcome !== null) return finishedLines(agent, todos, width);
  const from = windowStart(todos);
  const shown = todos.slice(from, from + TODOS);
  const more = todos.length - shown.length;
  return shown.map((todo, index) => {
    const last = index === TODOS - 1 && more > 0;
    return last
      ? spread(todoLine(todo, context), [tint(`... +${more} more`, 'muted')], width)
      : todoLine(todo, context);
  });
}

/** The task and `3/5 todos`. Open todos are not listed, since they would look unfinished. */
function finishedLines(agent: AgentState, todos: readonly Todo[], width: number): readonly Line[] {
  const done = todos.filter(({ status }) => status === 'completed').length;
  const task = wrapText(oneLine(agent.task), Math.max(1, width), { fg: 'muted' }).slice(0, TODOS - 1);
  return [...task, [tint(`${done}/${todos.length} todos`, 'faint')]];
}

function withoutTodos(agent: AgentState, context: Context, width: number): readonly Line[] {
  const faint = agent.status === 'pending' ? 'faint' : 'muted';
  const task = wrapText(oneLine(agent.task), Math.max(1, width), { fg: faint });
  const last = TODOS - 1;
  if (task.length <= TODOS) return [...task, ...underTask(agent, context, width).slice(0, TODOS - task.length)];
  const more = tint(` ${context.glyphs.ellipsis}`, 'faint');
  return [...task.slice(0, last), clip([...(task[last] ?? []), more], width)];
}

/** The lines below the task: the error where the foot is too short for it, the estimate before the start, else the last tool calls. */
function underTask(agent: AgentState, context: Context, width: number): readonly Line[] {
  const error = oneLine(agent.error ?? agent.reason);
  if (isIdle(agent) && agent.blocks.length === 0) return idleKeys(context);
  if (agent.status === 'failed' && widthOf(error) > width - 14)
    return wrapText(error, Math.max(1, width), { fg: 'err' });
  return neverRan(agent) ? expected(agent, context) : lastDeeds(agent, context);
}

/** The keys to continue with, before anything has happened. */
const idleKeys = ({ state }: Context): readonly Line[] =>
  state.finished === null
    ? [
        [strong('i', 'focus'), tint(' message main: it works, then waits again', 'faint')],
        [strong('a', 'focus'), tint(' spawn a child agent', 'faint')],
      ]
    : [];

/** `est. 1m 10s · $0.0500`, from the plan; empty for an agent without a task. */
function expected({ taskId, outcome }: AgentState, { state, glyphs }: Context): readonly Line[] {
  const planned = outcome === null ? state.plan?.tasks.find(({ id }) => id === taskId) : undefined;
  if (planned === undefined) return [];
  const task = expectedTask(planned, state);
  const cost = task.estimatedCost ?? 0;
  const money = cost > 0 ? formatCost(cost) : `${formatTokens(task.estimatedTokens)} tokens`;
  const time = formatDuration(task.estimatedSeconds * 1000);
  return [[tint(`est. ${time} ${glyphs.dot} ${money}`, 'faint')]];
}

/** `✓ Search refreshToken`: the last finished calls, the newest at the bottom. */
function lastDeeds({ blocks }: AgentState, { glyphs }: Context): readonly Line[] {
  const lines: Line[] = [];
  for (let at = blocks.length - 1; at >= 0 && lines.length < TODOS - 1; at--) {
    const block = blocks[at];
    if (block?.is !== 'tool' || block.ok === null) continue;
    const sign = glyphs.status[block.ok ? 'completed' : 'failed'];
    lines.unshift([tint(`${sign} `, block.ok ? 'ok' : 'err'), tint(oneLine(block.label), 'faint')]);
  }
  return lines;
}

/** `▸ Explain the race`. */
export function todoLine(todo: Todo, { glyphs }: Context): Line {
  const sign = tint(`${glyphs.todo[todo.status]} `, todo.status === 'pending' ? 'faint' : 'ok');
  const ink = todo.status === 'active' ? 'title' : todo.status === 'completed' ? 'faint' : 'muted';
  return [sign, tint(oneLine(todo.description), ink)];
}

/** Index of the first shown todo: the last one done, the current and the next one are shown. */
function windowStart(todos: readonly Todo[]): number {
  const current = currentTodo(todos);
  const wanted = current === -1 ? todos.length - TODOS : current - 1;
  return Math.max(0, Math.min(wanted, todos.length - TODOS));
}

/** Index of the current todo, -1 when all are done. */
const currentTodo = (todos: readonly Todo[]): number => {
  const active = todos.findIndex(({ status }) => status === 'active');
  return active !== -1 ? active : todos.findIndex(({ status }) => status !== 'completed');
};
