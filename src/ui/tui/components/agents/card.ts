/** One agent as a card of five rows: who, what it cost, what it is at. Text of its own only; where it stands is cards.ts'. */
import type { Todo } from '../../../../domain/turn.ts';
import { expectedTask } from '../../../../app/views/spending/expected-plan.ts';
import { agentTime } from '../../../../app/views/run-time.ts';
import { type LimitShare, agentShare } from '../../../../app/views/spending/spending.ts';
import { tokensOfAgent } from '../../../../events/queries.ts';
import type { AgentState } from '../../../../events/state.ts';
import {
  indentOf,
  modelName,
  modelText,
  neverRan,
  subtreeOf,
  todosOf,
} from '../../../../app/views/agents/agent-lines.ts';
import { formatCost, formatDuration, formatShare, formatTokens } from '../../../../app/views/text/format.ts';
import { clipName } from '../../text/names.ts';
import type { Context } from '../../frame/screen.ts';
import { box } from '../../text/box.ts';
import { clip, lineWidth, span, spread } from '../../../../app/views/text/clip.ts';
import type { Line, Span } from '../../../../app/views/text/line.ts';
import { toLabel } from '../../../../app/views/text/sanitise.ts';
import { widthOf } from '../../../../app/views/text/width.ts';
import { wrapText } from '../../../../app/views/text/wrap.ts';
import { isIdle } from '../../../../app/views/agents/wait-reason.ts';
import { doing, oneLine } from './doing.ts';
import { lockOf, pinOf } from '../plan/mandatory-reviews.ts';
import { gauge, inkOfShare } from '../money/gauge.ts';
import { costText, aboutSign } from '../money/spend.ts';
import { statusSpan } from '../plan/status.ts';

export const CARD_ROWS = 5;
const TODOS = 3;

export interface CardLook {
  readonly selected: boolean;
  /** Is the pane of the cards the one that keys go to? */
  readonly focused: boolean;
  /** How many of its sub-agents a fold keeps from sight. */
  readonly hidden?: number;
  /** Levels it stands below others; as deep as it is when left out. */
  readonly indent?: number;
}

/** Exactly five lines of exactly `width` columns. */
export function card(agent: AgentState, context: Context, width: number, look: CardLook): readonly Line[] {
  const { glyphs } = context;
  return box({
    width,
    height: CARD_ROWS,
    glyphs,
    kind: 'card',
    border: look.selected ? 'heavy' : 'light',
    style: { fg: look.selected ? (look.focused ? 'focus' : 'muted') : 'border' },
    title: title(agent, context, width, look.indent ?? indentOf(agent)),
    titleEnd: metrics(agent, context, width),
    foot: doing(agent, context),
    footEnd: [...hiddenSpans(look.hidden ?? 0), ...subtreeSpans(agent, context), ...budget(agent, context, width)],
    body: todoLines(agent, context, Math.max(0, width - 5)).map((line): Line => [span(' '), ...line]),
  });
}

/** `● ╰ finder  haiku-4.5`; where asked and used don't both fit, the one that is used: `→ offline`. */
function title(agent: AgentState, context: Context, width: number, indent: number): Line {
  const { glyphs } = context;
  const child = indent === 0 ? '' : `${' '.repeat(2 * (indent - 1))}${glyphs.child} `;
  const before: Line = [statusSpan(agent, context), span(` ${child}`, { fg: 'faint' }), ...lockOf(agent, context)];
  const free = width - lineWidth(metrics(agent, context, width)) - 9;
  const most = Math.max(8, free - lineWidth(before) - lineWidth(pinOf(agent)));
  const name: Line = [
    ...before,
    span(clipName(agent.name, most, glyphs), { fg: `role:${agent.role}`, bold: true }),
    ...pinOf(agent),
  ];
  const room = free - lineWidth(name);
  const both = toLabel(modelText(agent.model, glyphs));
  const model =
    widthOf(both) <= room || agent.model.because === null
      ? both
      : `${glyphs.arrow} ${toLabel(modelName(agent.model.used))}`;
  // A letter or two of a name say nothing.
  return width < 34 || room < Math.min(6, widthOf(model)) ? name : [...name, span(`  ${model}`, { fg: 'muted' })];
}

/** `2m 13s · $0.1184 · 31k tok`; nothing for an agent that never ran. */
function metrics(agent: AgentState, context: Context, width: number): Line {
  if (neverRan(agent)) return [];
  const dot = span(` ${context.glyphs.dot} `, { fg: 'faint' });
  const about = aboutSign(agent, context);
  const tokens = `${about}${formatTokens(tokensOfAgent(agent))}`;
  const parts: Span[] = [span(formatDuration(agentTime(agent, context.state, context.now)), { fg: 'fg' })];
  if (width >= 30) parts.push(dot, span(`${about}${costText(agent)}`, { fg: 'fg', bold: true }));
  if (width >= 44) parts.push(dot, span(width >= 70 ? `${tokens} tok` : tokens, { fg: 'muted' }));
  return parts;
}

/** From this share of a limit on an agent is near it. */
export const NEAR = 0.8;

/**
 * The share of its limits that is shown of an agent; null where there is none, before it began, and at its end: a low share would
 * read as work that is left. One that came near a limit says so then as well.
 */
export function shareShown(agent: AgentState, { state, now }: Context): LimitShare | null {
  const share = neverRan(agent) ? null : agentShare(state, agent, now);
  return share === null || (agent.outcome !== null && share.spent < NEAR) ? null : share;
}

/** `▰▰▰▰·  79%`, from 80 % on in words as well: `near its limit ▰▰▰▰·  87%`. Nothing without a budget. */
function budget(agent: AgentState, context: Context, width: number): Line {
  const share = shareShown(agent, context);
  if (share === null) return [];
  const { spent } = share;
  const near = spent >= NEAR;
  const ink = near ? inkOfShare(spent) : 'muted';
  return [
    ...(near ? [span(nearWords(spent, agent, width), { fg: ink })] : []),
    ...gauge(share, 5, context.glyphs),
    span(` ${formatShare(spent).padStart(4)}`, { fg: ink, bold: near }),
  ];
}

/** What is over has no limit to come near to: a sign is enough there, and where there is no room for words. */
function nearWords(share: number, { outcome }: AgentState, width: number): string {
  if (width < 70 || outcome !== null) return '! ';
  return share >= 1 ? 'limit reached ' : 'near its limit ';
}

/** `+3 hidden `: how many of those below it a fold keeps from sight. */
const hiddenSpans = (hidden: number): Line =>
  hidden === 0 ? [] : [span(`+${hidden} hidden `, { fg: 'info', bold: true })];

/** `Σ $0.0775 `: what it and all below it cost, where that is more than its own. Main is the run. */
export function subtreeSpans(agent: AgentState, { state, glyphs }: Context): Line {
  if (agent.parent === null || agent.children.length === 0) return [];
  const { cost, priced } = subtreeOf(state, agent);
  const sign = glyphs.ellipsis === '…' ? 'Σ' : 'all';
  return cost <= agent.cost ? [] : [span(`${sign} ${costText({ cost, priced })} `, { fg: 'muted' })];
}

/** The three todos around the current one; of what has ended, its task and how many were done; without a list, the task and what came of it. */
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
      ? spread(todoLine(todo, context), [span(`... +${more} more`, { fg: 'muted' })], width)
      : todoLine(todo, context);
  });
}

/** The task, and `3/5 todos`: what is left open is nobody's any more, and the result stands below. */
function finishedLines(agent: AgentState, todos: readonly Todo[], width: number): readonly Line[] {
  const done = todos.filter(({ status }) => status === 'completed').length;
  const task = wrapText(oneLine(agent.task), Math.max(1, width), { fg: 'muted' }).slice(0, TODOS - 1);
  return [...task, [span(`${done}/${todos.length} todos`, { fg: 'faint' })]];
}

function withoutTodos(agent: AgentState, context: Context, width: number): readonly Line[] {
  const faint = agent.status === 'pending' ? 'faint' : 'muted';
  const task = wrapText(oneLine(agent.task), Math.max(1, width), { fg: faint });
  const last = TODOS - 1;
  if (task.length <= TODOS) return [...task, ...underTask(agent, context, width).slice(0, TODOS - task.length)];
  const more = span(` ${context.glyphs.ellipsis}`, { fg: 'faint' });
  return [...task.slice(0, last), clip([...(task[last] ?? []), more], width)];
}

/** Why it failed where the foot has no room for that; of who has not begun, what is expected; else what it did last. */
function underTask(agent: AgentState, context: Context, width: number): readonly Line[] {
  const error = oneLine(agent.error ?? agent.reason);
  if (isIdle(agent) && agent.blocks.length === 0) return idleKeys(context);
  if (agent.status === 'failed' && widthOf(error) > width - 14)
    return wrapText(error, Math.max(1, width), { fg: 'err' });
  return neverRan(agent) ? expected(agent, context) : lastDeeds(agent, context);
}

/** What goes on from here, where nothing has happened yet. */
const idleKeys = ({ state }: Context): readonly Line[] =>
  state.finished === null
    ? [
        [span('i', { fg: 'focus', bold: true }), span(' writes to it: it works, then waits again', { fg: 'faint' })],
        [span('a', { fg: 'focus', bold: true }), span(' spawns a child that works beside it', { fg: 'faint' })],
      ]
    : [];

/** `expected: 1m 10s · $0.0500`, as the plan has it. */
function expected({ taskId, outcome }: AgentState, { state, glyphs }: Context): readonly Line[] {
  const planned = outcome === null ? state.plan?.tasks.find(({ id }) => id === taskId) : undefined;
  if (planned === undefined) return [];
  const task = expectedTask(planned, state);
  const cost = task.estimatedCost ?? 0;
  const money = cost > 0 ? formatCost(cost) : `${formatTokens(task.estimatedTokens)} tokens`;
  const time = formatDuration(task.estimatedSeconds * 1000);
  return [[span(`expected: ${time} ${glyphs.dot} ${money}`, { fg: 'faint' })]];
}

/** `✓ Search refreshToken`: the calls that came back last, the newest at the bottom. */
function lastDeeds({ blocks }: AgentState, { glyphs }: Context): readonly Line[] {
  const lines: Line[] = [];
  for (let at = blocks.length - 1; at >= 0 && lines.length < TODOS - 1; at--) {
    const block = blocks[at];
    if (block?.is !== 'tool' || block.ok === null) continue;
    const sign = glyphs.status[block.ok ? 'completed' : 'failed'];
    lines.unshift([span(`${sign} `, { fg: block.ok ? 'ok' : 'err' }), span(oneLine(block.label), { fg: 'faint' })]);
  }
  return lines;
}

/** `▸ Explain the race`. */
export function todoLine(todo: Todo, { glyphs }: Context): Line {
  const sign = span(`${glyphs.todo[todo.status]} `, { fg: todo.status === 'pending' ? 'faint' : 'ok' });
  const ink = todo.status === 'active' ? 'title' : todo.status === 'completed' ? 'faint' : 'muted';
  return [sign, span(oneLine(todo.description), { fg: ink })];
}

/** Last one done, current, next. */
function windowStart(todos: readonly Todo[]): number {
  const current = currentTodo(todos);
  const wanted = current === -1 ? todos.length - TODOS : current - 1;
  return Math.max(0, Math.min(wanted, todos.length - TODOS));
}

/** Index of the todo at hand, -1 when all are done. */
export const currentTodo = (todos: readonly Todo[]): number => {
  const active = todos.findIndex(({ status }) => status === 'active');
  return active !== -1 ? active : todos.findIndex(({ status }) => status !== 'completed');
};
