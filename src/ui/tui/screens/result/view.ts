/** What the end of a run looks like: how it went, the report, what each agent did, what it cost, and what to do next. */
import { whyNotCommit, whyNotTalk } from '../../../../app/actions/index.ts';
import { inOrder, neverRan } from '../../../../app/views/agents/agent-lines.ts';
import { stillOpen, touchedFiles } from '../../../../app/views/run-summary.ts';
import { agentTime, runTime } from '../../../../app/views/run-time.ts';
import { resumeCost } from '../../../../app/views/spending/resume-cost.ts';
import { runSpending } from '../../../../app/views/spending/spending.ts';
import { fit, lineWidth, span } from '../../../../app/views/text/clip.ts';
import { counted, formatCost, formatDuration, formatTokens } from '../../../../app/views/text/format.ts';
import type { Line } from '../../../../app/views/text/line.ts';
import { toLabel } from '../../../../app/views/text/sanitise.ts';
import { wrap } from '../../../../app/views/text/wrap.ts';
import { ROOT } from '../../../../domain/ids.ts';
import { tokensOfAgent } from '../../../../events/queries.ts';
import type { AgentState } from '../../../../events/state.ts';
import { scrollBar } from '../../components/agents/cards.ts';
import { endOf, oneLine } from '../../components/agents/doing.ts';
import { statusLine } from '../../components/agents/outcome.ts';
import { reviewLines } from '../../components/agents/reviews.ts';
import { uncertainText, costText } from '../../components/money/spend.ts';
import { coloured, markdown } from '../../components/text/markdown.ts';
import { fitName } from '../../text/names.ts';
import type { Context } from '../../frame/screen.ts';
import type { Size } from '../../terminal/terminal.ts';
import { box } from '../../text/box.ts';
import { beside, sized } from '../../text/compose.ts';
import { agentTable, ending, shortly } from './agents.ts';
import { costsLines, estimateLines, fileLines } from './costs.ts';
import { statusSpan } from '../../components/plan/status.ts';

export const TABS = ['Answer', 'Agents', 'Estimates', 'Costs', 'Files'] as const;
export type ResultTab = (typeof TABS)[number];

export interface ResultLook {
  readonly tab: ResultTab;
  /** The first line that is shown. */
  readonly top: number;
}

/** The furthest that one can scroll. */
export function lastTop({ tab }: ResultLook, context: Context, size: Size): number {
  const { text, height } = plan(tab, context, size);
  return Math.max(0, text.length - Math.max(1, height - 2));
}

interface Parts {
  /** What scrolls. */
  readonly text: readonly Line[];
  readonly width: number;
  /** Rows of the scrolling box, borders counted in. */
  readonly height: number;
  /** Columns of the boxes beside it; 0 where there are none. */
  readonly side: number;
}

function plan(tab: ResultTab, context: Context, size: Size): Parts {
  const side = tab === 'Answer' && size.width >= 100 ? Math.min(56, Math.floor(size.width * 0.4)) : 0;
  const width = size.width - side;
  const text = textOf(tab, context, Math.max(1, width - 4), side > 0);
  return { text, width, height: Math.max(0, size.height - 1), side };
}

/** Made once for a state: nothing of it moves any more. */
function textOf(tab: ResultTab, context: Context, width: number, beside: boolean): readonly Line[] {
  const made = MADE.get(context.state) ?? new Map<string, readonly Line[]>();
  MADE.set(context.state, made);
  // Code gets its colours a moment later.
  const key = `${tab} ${width} ${context.glyphs.ellipsis} ${beside} ${coloured.version}`;
  const known = made.get(key);
  if (known !== undefined) return known;
  const lines = TEXTS[tab](context, width, beside);
  made.set(key, lines);
  return lines;
}

const MADE = new WeakMap<object, Map<string, readonly Line[]>>();

const TEXTS: Readonly<Record<ResultTab, (context: Context, width: number, beside: boolean) => readonly Line[]>> = {
  Answer: answerLines,
  Agents: agentTable,
  Estimates: estimateLines,
  Costs: costsLines,
  Files: fileLines,
};

/** With one column the agents and totals stand below the report and scroll with it. */
function answerLines(context: Context, width: number, beside: boolean): readonly Line[] {
  const above = [...happenedLines(context, width), ...reportLines(context, width)];
  const open = openLines(context, width);
  const below = open.length === 0 ? [] : [[], ...open];
  if (beside) return [...above, ...below];
  return [
    ...above,
    ...below,
    [],
    ...titled('Agents', agentLines(context, width)),
    [],
    ...titled('Totals', totalLines(context, width)),
    ...reviewsBelow(context, width),
    [],
    ...nextLines(context, width),
  ];
}

/** Exactly the size of the body. */
export function resultBody({ tab, top }: ResultLook, context: Context, size: Size): readonly Line[] {
  const { text, width, height, side } = plan(tab, context, size);
  const rows = Math.max(0, height - 2);
  const bar = scrollBar(top, text.length, rows, context.glyphs.scroll);
  const inner = Math.max(0, width - 3);
  const body = sized(text.slice(top, top + rows), Math.max(0, inner - 1), rows).map(
    (line, row): Line => [span(' '), ...line, span(bar[row] ?? ' ', { fg: 'muted' })],
  );
  const left = box({
    width,
    height,
    glyphs: context.glyphs,
    border: 'light',
    style: { fg: 'border' },
    title: tabLine(tab, width - 8),
    footEnd: text.length > rows ? [span(`${Math.min(text.length, top + rows)}/${text.length}`, { fg: 'muted' })] : [],
    pad: 0,
    body,
  });
  const main =
    side === 0 ? left : beside({ lines: left, width }, { lines: sideBoxes(context, side, height), width: side });
  return sized([statusLine(context, size.width), ...main], size.width, size.height);
}

/** All of them by number where there is room, else the one that is shown and how many there are. */
function tabLine(tab: ResultTab, width: number): Line {
  const all = TABS.flatMap(
    (name, index): Line => [
      span(`${index === 0 ? '' : '  '}${index + 1} `, { fg: 'faint' }),
      span(name, name === tab ? { fg: 'title', bold: true, underline: true } : { fg: 'muted' }),
    ],
  );
  if (lineWidth(all) <= width) return all;
  return [span(tab, { fg: 'title', bold: true }), span(` ${TABS.indexOf(tab) + 1}/${TABS.length}`, { fg: 'muted' })];
}

function reportLines({ state, glyphs }: Context, width: number): readonly Line[] {
  const { finished } = state;
  if (finished === null) return [[span('The run goes on.', { fg: 'faint' })]];
  const text = finished.summary.trim() === '' ? '_There is no report: nothing was finished._' : finished.summary;
  return markdown(text, width, glyphs, state.cwd);
}

function sideBoxes(context: Context, width: number, height: number): readonly Line[] {
  const inner = Math.max(1, width - 4);
  const pane = (title: string, body: readonly Line[], rows: number): readonly Line[] =>
    box({
      width,
      height: rows,
      glyphs: context.glyphs,
      border: 'light',
      style: { fg: 'border' },
      title: [span(title, { fg: 'muted', bold: true })],
      body,
    });
  const totals = totalLines(context, inner);
  const next = nextLines(context, inner);
  // What was judged takes its place from the agents, but never all of it.
  const judged = reviewLines(context, inner).slice(0, Math.max(1, (height >> 1) - 8));
  const reviews = judged.length === 0 ? [] : pane('Reviews', judged, judged.length + 2);
  const below = totals.length + 2 + next.length + 2 + reviews.length;
  const above = Math.max(3, height - below);
  return [
    ...pane('Agents', agentLines(context, inner, above - 2), above),
    ...reviews,
    ...pane('Totals', totals, totals.length + 2),
    ...pane('Next', next, next.length + 2),
  ];
}

const titled = (title: string, lines: readonly Line[]): readonly Line[] => [
  [span(title, { fg: 'title', bold: true })],
  ...lines,
];

/** Two lines an agent: who and what it cost, and how it ended; one where `rows` are too few for that. */
function agentLines(context: Context, width: number, rows = Number.POSITIVE_INFINITY): readonly Line[] {
  const agents = inOrder(context.state);
  if (agents.length === 0) return [[span('No agent was started.', { fg: 'faint' })]];
  const whole = agents.flatMap((agent) => [
    headOf(agent, context, width),
    ...shortly([span('  '), ...ending(agent)], width, context.glyphs.ellipsis),
  ]);
  if (whole.length <= rows) return whole;
  const heads = agents.map((agent) => headOf(agent, context, width));
  if (heads.length <= rows) return heads;
  const shown = heads.slice(0, Math.max(0, rows - 1));
  return [...shown, [span(`... +${heads.length - shown.length} more, 2 shows all`, { fg: 'muted' })]];
}

function headOf(agent: AgentState, context: Context, width: number): Line {
  const numbers = neverRan(agent)
    ? ''
    : `${formatDuration(agentTime(agent, context.state)).padStart(7)} ${costText(agent).padStart(8)} ${formatTokens(tokensOfAgent(agent)).padStart(5)}`;
  const room = Math.max(1, width - numbers.length - 2);
  return fit(
    [
      statusSpan(agent, context),
      span(` ${fitName(agent.name, room - 1, context.glyphs)}`, { fg: `role:${agent.role}`, bold: true }),
      span(` ${numbers}`, { fg: 'muted' }),
    ],
    width,
  );
}

const reviewsBelow = (context: Context, width: number): readonly Line[] => {
  const lines = reviewLines(context, width);
  return lines.length === 0 ? [] : [[], ...titled('Reviews', lines)];
};

function totalLines({ state }: Context, width: number): readonly Line[] {
  const totals = state.finished?.totals;
  if (!totals) return [];
  const row = (name: string, value: string): Line =>
    fit([span(name.padEnd(8), { fg: 'faint' }), span(value, { fg: 'fg', bold: true })], width);
  return [
    row('Time', formatDuration(runTime(state))),
    row('Cost', [formatCost(totals.cost), ...uncertainText(runSpending(state).uncertain)].join(' + ')),
    row('Tokens', formatTokens(totals.tokens)),
    row('Agents', String(totals.agents)),
  ];
}

function nextLines({ state }: Context, width: number): readonly Line[] {
  const session = state.session ?? '';
  const row = (key: string, words: string): readonly Line[] =>
    wrap([span(key.padEnd(5), { fg: 'focus', bold: true }), span(words, { fg: 'fg' })], width, 5);
  return [
    ...(state.finished?.status === 'stopped' ? row('r', `resume: ${resumeCost(state)}`) : []),
    ...(state.finished?.status === 'failed' ? row('R', 'try again what failed') : []),
    ...(whyNotTalk(state) === null ? row('i', 'message main, which continues') : []),
    ...(whyNotCommit(state) === null ? row('c', 'have main commit the changes') : []),
    ...row('x', 'write the report to a file'),
    ...row('Esc', 'the cards, with every transcript'),
    ...row('n', 'another task'),
    ...row('q', 'leave'),
    ...wrap([span(`mimir report ${session}`, { fg: 'info' }), span(' shows it again', { fg: 'muted' })], width),
  ];
}

// What a person wants to know of a run that did not complete: what happened, what was kept, what can be done now.

/** Above the report; empty for a run that completed. */
function happenedLines(context: Context, width: number): readonly Line[] {
  const { state } = context;
  const status = state.finished?.status;
  if (status === undefined || status === 'completed') return [];
  return [
    ...part('What happened', happened(context), width),
    ...part('What was kept', kept(context), width),
    ...part('What can be done', next(context), width),
  ];
}

/** Below the report: what nobody did. */
function openLines(context: Context, width: number): readonly Line[] {
  const all = stillOpen(context.state).map(toLabel);
  const shown = all.slice(0, MOST);
  const more = all.length > shown.length ? [`and ${all.length - shown.length} more: 2 shows the agents`] : [];
  return all.length === 0 ? [] : part('Still open', [...shown, ...more].map(textLine), width);
}

const MOST = 8;
const textLine = (text: string): Line => [span(text, { fg: 'fg' })];

const part = (title: string, lines: readonly Line[], width: number): readonly Line[] =>
  lines.length === 0
    ? []
    : [
        [span(title, { fg: 'title', bold: true })],
        ...lines.flatMap((line) => wrap([span('  '), ...line], width, 2)),
        [],
      ];

function happened({ state, glyphs }: Context): readonly Line[] {
  if (state.finished?.status === 'rejected') return [textLine('The plan was not approved; no agent was started.')];
  const ends = inOrder(state).filter(
    ({ id, outcome }) => outcome !== null && outcome !== 'completed' && (id !== ROOT || outcome === 'failed'),
  );
  const failed = sameEnds(ends).map(({ agents, why }): Line => {
    const isFailed = agents.some(({ outcome }) => outcome === 'failed');
    const sign = glyphs.status[isFailed ? 'failed' : 'interrupted'];
    const names = agents.map(({ name }) => toLabel(name)).join(', ');
    return [span(`${sign} ${names}  `, { fg: isFailed ? 'err' : 'warn', bold: true }), span(why, { fg: 'fg' })];
  });
  // Nobody failed: the run itself was stopped, and says why.
  const last = state.agents.get(ROOT)?.reason || state.log.findLast(({ level }) => level !== 'info')?.text;
  const logged = failed.length === 0 && last !== undefined ? [textLine(toLabel(last))] : [];
  const more = failed.length > MOST ? [textLine(`and ${failed.length - MOST} more: 2 shows the agents`)] : [];
  return [...failed.slice(0, MOST), ...more, ...logged];
}

/** Agents that ended for the same reason, the reason once: a key that no provider accepts ends all of them. */
function sameEnds(
  ends: readonly AgentState[],
): readonly { readonly why: string; readonly agents: readonly AgentState[] }[] {
  const byWhy = Map.groupBy(ends, (agent) => oneLine(endOf(agent)));
  return [...byWhy].map(([why, agents]) => ({ why, agents }));
}

function kept({ state }: Context): readonly Line[] {
  const agents = [...state.agents.values()].filter(({ id }) => id !== ROOT);
  const done = agents.filter(({ outcome }) => outcome === 'completed').length;
  const files = touchedFiles(state).length;
  return [
    ...(done > 0 ? [textLine(`the answers of ${counted(done, 'agent')}: below, and on their cards`)] : []),
    ...(files > 0 ? [textLine(`changes to ${counted(files, 'file')}: 5 lists them`)] : []),
    textLine('every transcript and what it cost, in the log of this session'),
  ];
}

function next({ state }: Context): readonly Line[] {
  const row = (key: string, words: string): Line => [
    span(key.padEnd(4), { fg: 'focus', bold: true }),
    span(words, { fg: 'fg' }),
  ];
  const status = state.finished?.status;
  // A provider's limits are no budget: more money changes nothing about those.
  const spent = [...state.agents.values()].some(({ error, reason }) => /budget/i.test(error ?? reason));
  return [
    ...(status === 'stopped' ? [row('r', `resume where it stopped: ${resumeCost(state)}`)] : []),
    ...(status === 'failed' ? [row('R', 'try again what failed: nothing that is done is done again')] : []),
    ...(spent && status !== 'rejected'
      ? [row('', `with more to spend: mimir resume ${state.session ?? ''} --max-cost USD`)]
      : []),
    row('Esc', 'read on the cards what each agent did'),
    row('n', 'another task'),
  ];
}
