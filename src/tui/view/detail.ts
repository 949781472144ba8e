/** One agent in full: its facts, and one of three tabs. Where it scrolls to is the screen's; what it says is here. */
import { tokensOfAgent } from '../../events/queries.ts';
import type { AgentState } from '../../events/state.ts';
import { labelOf, modelText, todosOf } from '../agents.ts';
import { formatLimit, formatTokens } from '../format.ts';
import type { Context } from '../screen.ts';
import { box } from '../text/box.ts';
import { clip, fit, lineWidth, span } from '../text/clip.ts';
import { sized } from '../text/compose.ts';
import type { Line, Span } from '../text/line.ts';
import { toLabel } from '../text/sanitise.ts';
import { wrap, wrapText } from '../text/wrap.ts';
import { waitOf } from '../waits.ts';
import { costText, pendingText, statusSpan, todoLine } from './card.ts';
import { scrollBar } from './cards.ts';
import { factLines } from './facts.ts';
import { lockOf, pinOf } from './forced.ts';
import { planSoFar, writingWords } from './plan-words.ts';
import { reservedText } from './spend.ts';
import { transcript } from './transcript.ts';
import type { TranscriptNow } from './transcript.ts';

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
  if (of.tab === 'Info') return factLines(of.agent, context, inner);
  const look = { width: inner, open: of.open, glyphs: context.glyphs };
  const lines = transcript(of.agent, nowOf(of.agent, context), look);
  return lines.length > 0 ? lines : nothingYet(of.agent, context, inner);
}

/** What belongs below the transcript's blocks right now. Main is given more of its text for the plan; here its end is enough. */
const nowOf = (agent: AgentState, context: Context): TranscriptNow => ({
  text: liveText(context.live.get(agent.id) ?? ''),
  reasoning: context.reasoning?.get(agent.id) ?? '',
  rate: context.activity?.(agent.id).rate ?? 0,
  wait: waitOf(agent, context.now),
});

/** Of a plan, how far it is: its JSON is for the program. */
function liveText(text: string): string {
  const plan = text.length > MOST_LIVE ? planSoFar(text) : null;
  return plan === null ? text.slice(-MOST_LIVE) : writingWords(plan);
}

/** Characters of what streams that are wrapped anew for each frame. */
const MOST_LIVE = 16_000;

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
      ...lockOf(of.agent, context),
      span(toLabel(of.agent.name), { fg: `role:${of.agent.role}`, bold: true }),
      ...pinOf(of.agent),
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
    ['model', toLabel(modelText(agent.model, context.glyphs))],
    ['needs', needs === '' ? 'nothing' : needs],
  ]);
  const second = (spent: string): Line =>
    pairs([
      ['turn', `${agent.iterations}/${agent.maxIterations}`],
      ['tools', String(agent.toolCalls)],
      ['spent', spent],
    ]);
  const reserved = reservedText(agent);
  const whole = second(reserved === '' ? budgets : `${budgets} + ${reserved}`);
  // Where there is no room for it, the Info tab says what is reserved.
  return [clip(first, width), clip(lineWidth(whole) <= width ? whole : second(budgets), width)];
}

const pairs = (of: readonly (readonly [name: string, value: string])[]): Line =>
  of.flatMap(([name, value], index): readonly Span[] => [
    span(`${index === 0 ? '' : '   '}${name} `, { fg: 'faint' }),
    span(value, { fg: 'fg' }),
  ]);

const costBudget = (agent: AgentState): string => `${costText(agent)} of ${formatLimit(agent.budget.maxCost ?? 0)}`;

function tokenBudget(agent: AgentState): string {
  const used = formatTokens(tokensOfAgent(agent));
  const { maxTokens } = agent.budget;
  return maxTokens === undefined ? `${used} tok` : `${used} of ${formatTokens(maxTokens)} tok`;
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
