/** One agent in full: its facts, and one of three tabs. Where it scrolls to is the screen's; what it says is here. */
import { committed, elapsedOf, tokensOfAgent } from '../../events/queries.ts';
import type { AgentState } from '../../events/state.ts';
import { labelOf, modelName, todosOf } from '../agents.ts';
import { formatCost, formatDuration, formatLimit, formatTokens } from '../format.ts';
import type { Context } from '../screen.ts';
import { box } from '../text/box.ts';
import { clip, fit, span } from '../text/clip.ts';
import { sized } from '../text/compose.ts';
import type { Line, Span } from '../text/line.ts';
import { toLabel } from '../text/sanitise.ts';
import { wrap, wrapText } from '../text/wrap.ts';
import { costText, endOf, pendingText, statusSpan, todoLine } from './card.ts';
import { scrollBar } from './cards.ts';
import { markdown } from './markdown.ts';
import { transcript } from './transcript.ts';

export const TABS = ['Transcript', 'Todos', 'Info'] as const;
export type Tab = (typeof TABS)[number];

/** Lines above the scrolled part: two of facts and a stroke. */
const HEAD = 3;

export interface DetailView {
  readonly agent: AgentState;
  readonly tab: Tab;
  readonly open: boolean;
  readonly top: number;
  readonly follow: boolean;
  /** Lines that there were when following stopped. */
  readonly seen: number;
  readonly focused: boolean;
}

/** Rows of the scrolled part in a pane of `height`. */
export const detailRows = (height: number): number => Math.max(0, height - 2 - headRows(height));

/** In a very low pane the facts give way to the transcript. */
const headRows = (height: number): number => (height >= 10 ? HEAD : 0);

/** All lines of the tab, at most `width - 4` columns each. */
export function detailLines(
  of: Pick<DetailView, 'agent' | 'tab' | 'open'>,
  context: Context,
  width: number,
): readonly Line[] {
  const inner = Math.max(1, width - 4);
  if (of.tab === 'Todos') return todos(of.agent, context, inner);
  if (of.tab === 'Info') return facts(of.agent, context, inner);
  const lines = transcript(of.agent, context.live.get(of.agent.id) ?? '', {
    width: inner,
    open: of.open,
    glyphs: context.glyphs,
  });
  return lines.length > 0 ? lines : nothingYet(of.agent, context, inner);
}

/** Exactly `height` lines of exactly `width` columns. */
export function detailPane(of: DetailView, context: Context, width: number, height: number): readonly Line[] {
  const { glyphs } = context;
  const lines = detailLines(of, context, width);
  const rows = detailRows(height);
  const inner = Math.max(0, width - 4);
  const head =
    headRows(height) === 0
      ? []
      : [...headLines(of.agent, context, inner), [span(glyphs.light[4].repeat(inner), { fg: 'border' })]];
  const bar = scrollBar(of.top, lines.length, rows, glyphs.scroll);
  const shown = sized(lines.slice(of.top, of.top + rows), inner, rows).map(
    // The bar stands in the column between text and border.
    (line, row): Line => [...line, span(bar[row] ?? ' ', { fg: 'muted' })],
  );
  return box({
    width,
    height,
    glyphs,
    border: of.focused ? 'heavy' : 'light',
    style: { fg: of.focused ? 'focus' : 'border' },
    title: [
      statusSpan(of.agent, context),
      span(' '),
      span(toLabel(of.agent.name), { fg: `role:${of.agent.role}`, bold: true }),
    ],
    titleEnd: tabs(of.tab, context),
    footEnd: footer(of, lines.length, rows, context),
    pad: 0,
    body: [
      ...head.map((line): Line => [span(' '), ...fit(line, inner)]),
      ...shown.map((line): Line => [span(' '), ...line]),
    ],
  });
}

function tabs(active: Tab, { glyphs }: Context): Line {
  return TABS.flatMap(
    (tab, index): Line => [
      ...(index === 0 ? [] : [span(` ${glyphs.light[5]} `, { fg: 'border' })]),
      span(tab, tab === active ? { fg: 'focus', bold: true, underline: true } : { fg: 'muted' }),
    ],
  );
}

function footer(of: DetailView, total: number, rows: number, { glyphs }: Context): Line {
  if (of.tab !== 'Transcript')
    return total > rows ? [span(`${Math.min(total, of.top + rows)}/${total}`, { fg: 'muted' })] : [];
  if (of.follow)
    return of.agent.outcome === null && of.agent.status !== 'pending' ? [span('following', { fg: 'ok' })] : [];
  const fresh = total - of.seen;
  const news =
    fresh > 0
      ? `, ${fresh} new ${glyphs.ellipsis === '…' ? '—' : '-'}`
      : ` at ${Math.min(total, of.top + rows)}/${total},`;
  return [span(`paused${news} G to follow`, { fg: 'warn' })];
}

/** Two lines of facts. */
function headLines(agent: AgentState, context: Context, width: number): readonly Line[] {
  const needs = agent.dependsOn.map((id) => toLabel(labelOf(context.state, id))).join(', ');
  const budgets = agent.budget.maxCost === undefined ? tokenBudget(agent) : costBudget(agent);
  const first = pairs([
    ['id', agent.id],
    ['model', toLabel(modelName(agent.model.used))],
    ['needs', needs === '' ? 'nothing' : needs],
  ]);
  const second = pairs([
    ['turn', `${agent.iterations}/${agent.maxIterations}`],
    ['tools', String(agent.toolCalls)],
    ['spent', budgets],
  ]);
  return [clip(first, width), clip(second, width)];
}

const pairs = (of: readonly (readonly [name: string, value: string])[]): Line =>
  of.flatMap(([name, value], index): readonly Span[] => [
    span(`${index === 0 ? '' : '   '}${name} `, { fg: 'faint' }),
    span(value, { fg: 'fg' }),
  ]);

const costBudget = (agent: AgentState): string => `${costText(agent)} of ${formatLimit(agent.budget.maxCost ?? 0)}`;

function tokenBudget(agent: AgentState): string {
  const used = formatTokens(tokensOfAgent(agent));
  return agent.budget.maxTokens === undefined
    ? `${used} tok`
    : `${used} of ${formatTokens(agent.budget.maxTokens)} tok`;
}

function nothingYet(agent: AgentState, context: Context, width: number): readonly Line[] {
  const why = agent.status === 'pending' ? pendingText(agent, context) : 'Nothing was said yet.';
  return [...wrapText(agent.task, width, { fg: 'muted' }), [], ...wrap([span(why, { fg: 'faint' })], width)];
}

function todos(agent: AgentState, context: Context, width: number): readonly Line[] {
  const list = todosOf(context.state, agent);
  if (list.length === 0)
    return wrap([span('No todo list yet: the agent writes it in its first turn.', { fg: 'faint' })], width);
  return list.flatMap((todo) => wrap(todoLine(todo, context), width, 2));
}

/** Task, model, budget, tools, messages, summary. */
function facts(agent: AgentState, context: Context, width: number): readonly Line[] {
  const { state, now } = context;
  const row = (name: string, value: string): readonly Line[] =>
    wrap([span(name.padEnd(10), { fg: 'faint' }), span(value, { fg: 'fg' })], width, 10);
  const all = committed(state, agent.id);
  const messages = state.messages.filter(({ to, from }) => to === agent.id || from === agent.id);
  const model =
    agent.model.because === null
      ? agent.model.used
      : `${agent.model.asked} -> ${agent.model.used}: ${agent.model.because}`;
  return [
    ...row('Status', agent.outcome === null ? agent.status : endOf(agent)),
    ...row('Model', toLabel(model)),
    ...row('Time', `${formatDuration(elapsedOf(agent, now))}${limit(agent.budget.maxDuration, formatDuration)}`),
    ...row(
      'Tokens',
      `${formatTokens(tokensOfAgent(agent))}${limit(agent.budget.maxTokens, formatTokens)}, with all below it ${formatTokens(all.tokens)}`,
    ),
    ...row(
      'Cost',
      `${costText(agent)}${limit(agent.budget.maxCost, formatLimit)}, with all below it ${formatCost(all.cost)}`,
    ),
    ...row('Tools', agent.tools.length === 0 ? 'none' : toLabel(agent.tools.join(', '))),
    ...row(
      'Children',
      agent.children.length === 0 ? 'none' : agent.children.map((id) => toLabel(labelOf(state, id))).join(', '),
    ),
    [],
    [span('Task', { fg: 'muted', bold: true })],
    ...wrapText(agent.task, width, { fg: 'fg' }),
    ...(agent.summary === ''
      ? []
      : [[], [span('Summary', { fg: 'muted', bold: true })], ...markdown(agent.summary, width, context.glyphs)]),
    ...(messages.length === 0 ? [] : [[], [span('Messages', { fg: 'muted', bold: true })]]),
    ...messages.flatMap((message) => messageLines(message, context, width)),
  ];
}

const limit = (most: number | undefined, format: (value: number) => string): string =>
  most === undefined ? '' : ` of ${format(most)}`;

function messageLines(
  message: Context['state']['messages'][number],
  { glyphs }: Context,
  width: number,
): readonly Line[] {
  const state = message.delivered ? 'read' : 'waits for its next turn';
  const head: Line = [
    span(`${toLabel(message.from)} ${glyphs.arrow} ${message.to}`, { fg: 'info' }),
    span(`  ${message.delivery}, ${state}`, { fg: 'faint' }),
  ];
  return [
    clip(head, width),
    ...wrapText(message.content, Math.max(1, width - 2), { fg: 'fg' }).map((line): Line => [span('  '), ...line]),
  ];
}
