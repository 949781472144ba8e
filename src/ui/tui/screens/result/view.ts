/** Draws the result of a run: its status, the report, the agents, the totals, and the next steps. */
import { resumeText, retryRun, whyNotCommit, whyNotRequest, whyNotResumeRun } from '../../../../app/actions/index.ts';
import { whyNoChanges, whyNotTalk } from '../../../../app/actions/index.ts';
import { answerText, agentTime, authorsLeft, changedLines, plural, fit } from '../../../../app/views/index.ts';
import { formatDuration, formatTokens, inOrder, type Line, lineWidth, neverRan } from '../../../../app/views/index.ts';
import { resumeCost, runSpending, runTime, span, unfinishedWork, unmergedIn } from '../../../../app/views/index.ts';
import { toLabel, wrap } from '../../../../app/views/index.ts';
import { ROOT } from '../../../../domain/ids.ts';
import { memoize } from '../../../../domain/memoize.ts';
import { type AgentState, tokensOfAgent } from '../../../../events/index.ts';
import { endOf, oneLine, statusLine, statusSpan } from '../../components/progress.ts';
import { reviewLines } from '../../components/reviews.ts';
import { uncertainText, costText } from '../../components/costs.ts';
import { coloured, markdown } from '../../components/text/markdown.ts';
import { fitName } from '../../components/names.ts';
import type { Context } from '../../frame/screen.ts';
import type { Size } from '../../terminal/terminal.ts';
import { beside, pane, scrollBar, sized, strong, tint } from '../../text/blocks.ts';
import { agentTable, costsLines, ending, estimateLines, fileLines, shortly } from './costs.ts';

export const TABS = ['Answer', 'Agents', 'Estimates', 'Costs', 'Files'] as const;
export type ResultTab = (typeof TABS)[number];

export interface ResultView {
  readonly tab: ResultTab;
  readonly top: number;
}

/** The last possible first line. */
export function lastTop({ tab }: ResultView, context: Context, size: Size): number {
  const { text, height } = plan(tab, context, size);
  return Math.max(0, text.length - Math.max(1, height - 2));
}

interface Parts {
  readonly text: readonly Line[];
  readonly width: number;
  /** Rows of the scrolling box, borders included. */
  readonly height: number;
  /** Columns of the boxes beside it; 0 where there are none. */
  readonly side: number;
}

function plan(tab: ResultTab, context: Context, size: Size): Parts {
  const side = tab === 'Answer' && size.width >= 100 ? Math.min(56, Math.floor(size.width * 0.4)) : 0;
  const width = size.width - side;
  const text = textOf(tab, context, Math.max(1, width - 4), side > 0, size.height);
  return { text, width, height: Math.max(0, size.height - 1), side };
}

/** The lines of a tab; code is coloured a moment later. */
const textOf = memoize(
  (tab: ResultTab, { state, glyphs }: Context, ...size: TextSize) => [state, tab, glyphs, ...size, coloured.version],
  (tab, context, ...size) => TEXTS[tab](context, ...size),
);

type TextSize = [width: number, beside: boolean, height: number];

const TEXTS: Readonly<Record<ResultTab, (context: Context, ...size: TextSize) => readonly Line[]>> = {
  Answer: answerLines,
  Agents: agentTable,
  Estimates: estimateLines,
  Costs: costsLines,
  Files: fileLines,
};

function answerLines(context: Context, width: number, beside: boolean, height: number): readonly Line[] {
  const changed = changedLines(context.state, Math.max(3, height >> 2), width);
  const above = [...changed, ...happenedLines(context, width), ...reportLines(context, width)];
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

export function resultBody({ tab, top }: ResultView, context: Context, size: Size): readonly Line[] {
  const { text, width, height, side } = plan(tab, context, size);
  const rows = Math.max(0, height - 2);
  const bar = scrollBar(top, text.length, rows, context.glyphs.scroll);
  const inner = Math.max(0, width - 3);
  const body = sized(text.slice(top, top + rows), Math.max(0, inner - 1), rows).map(
    (line, row): Line => [span(' '), ...line, tint(bar[row] ?? ' ', 'muted')],
  );
  const left = pane({
    width,
    height,
    glyphs: context.glyphs,
    focused: false,
    title: tabLine(tab, width - 8),
    footEnd: text.length > rows ? [tint(`${Math.min(text.length, top + rows)}/${text.length}`, 'muted')] : [],
    pad: 0,
    body,
  });
  const main =
    side === 0 ? left : beside({ lines: left, width }, { lines: sideBoxes(context, side, height), width: side });
  return sized([statusLine(context, size.width), ...main], size.width, size.height);
}

function tabLine(tab: ResultTab, width: number): Line {
  const all = TABS.flatMap(
    (name, index): Line => [
      tint(`${index === 0 ? '' : '  '}${index + 1} `, 'faint'),
      span(name, name === tab ? { fg: 'title', bold: true, underline: true } : { fg: 'muted' }),
    ],
  );
  if (lineWidth(all) <= width) return all;
  return [strong(tab, 'title'), tint(` ${TABS.indexOf(tab) + 1}/${TABS.length}`, 'muted')];
}

function reportLines({ state, glyphs }: Context, width: number): readonly Line[] {
  const { finished } = state;
  if (finished === null) return [[tint('The run continues.', 'faint')]];
  const answer = answerText(state, true);
  const text = answer.trim() === '' ? '_No report: nothing was finished._' : answer;
  return markdown(text, width, glyphs, state.cwd);
}

function sideBoxes(context: Context, width: number, height: number): readonly Line[] {
  const inner = Math.max(1, width - 4);
  const { glyphs } = context;
  const small = (title: string, body: readonly Line[], rows: number): readonly Line[] =>
    pane({ width, height: rows, glyphs, focused: false, title: [strong(title, 'muted')], body });
  const totals = totalLines(context, inner);
  const next = nextLines(context, inner);
  // Reviews take rows from the agents, but not all of them.
  const judged = reviewLines(context, inner).slice(0, Math.max(1, (height >> 1) - 8));
  const reviews = judged.length === 0 ? [] : small('Reviews', judged, judged.length + 2);
  const below = totals.length + 2 + next.length + 2 + reviews.length;
  const above = Math.max(3, height - below);
  return [
    ...small('Agents', agentLines(context, inner, above - 2), above),
    ...reviews,
    ...small('Totals', totals, totals.length + 2),
    ...small('Next', next, next.length + 2),
  ];
}

const titled = (title: string, lines: readonly Line[]): readonly Line[] => [[strong(title, 'title')], ...lines];

/** One line per agent with its figures, and why it ended where it did not complete; one line each where `rows` are too few. */
function agentLines(context: Context, width: number, rows = Number.POSITIVE_INFINITY): readonly Line[] {
  const agents = inOrder(context.state);
  if (agents.length === 0) return [[tint('No agents were started.', 'faint')]];
  const whole = agents.flatMap((agent) => [
    headOf(agent, context, width),
    ...(agent.outcome === 'completed' ? [] : shortly([span('  '), ...ending(agent)], width)),
  ]);
  if (whole.length <= rows) return whole;
  const heads = agents.map((agent) => headOf(agent, context, width));
  if (heads.length <= rows) return heads;
  const shown = heads.slice(0, Math.max(0, rows - 1));
  return [...shown, [tint(`... +${heads.length - shown.length} more, 2 shows all`, 'muted')]];
}

function headOf(agent: AgentState, context: Context, width: number): Line {
  const numbers = neverRan(agent)
    ? ''
    : `${formatDuration(agentTime(agent, context.state)).padStart(7)} ${costText(agent).padStart(8)} ${formatTokens(tokensOfAgent(agent)).padStart(5)}`;
  const room = Math.max(1, width - numbers.length - 2);
  return fit(
    [
      statusSpan(agent, context),
      strong(` ${fitName(agent.name, room - 1)}`, `role:${agent.role}`),
      tint(` ${numbers}`, 'muted'),
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
  const row = (name: string, value: string): Line => fit([tint(name.padEnd(8), 'faint'), strong(value, 'fg')], width);
  const { priced, uncertain } = runSpending(state);
  return [
    row('Time', formatDuration(runTime(state))),
    row('Cost', [costText({ cost: totals.cost, priced }), ...uncertainText(uncertain)].join(' + ')),
    row('Tokens', formatTokens(totals.tokens)),
    row('Agents', String(totals.agents)),
  ];
}

function nextLines({ state }: Context, width: number): readonly Line[] {
  const session = state.session ?? '';
  const rows: readonly (readonly [key: string, words: string, isPossible?: boolean])[] = [
    ['r', `resume: ${resumeText(state)}`, whyNotResumeRun(state) === null],
    ['R', 'retry failed tasks', retryRun.whyNot(state) === null],
    ['i', 'message main', whyNotTalk(state) === null],
    ['c', 'commit changes', whyNotCommit(state) === null],
    ['D', 'review changes', whyNoChanges(state) === null],
    ['M', 'merge what is not merged', unmergedIn(state).length > 0],
    ['P', 'open pull request', whyNotRequest(state) === null],
    ['U', "undo an agent's changes", authorsLeft(state).length > 0],
    ['x', 'export report'],
    ['Esc', 'agents'],
    ['n', 'new task'],
    ['q', 'quit'],
  ];
  return [
    ...rows.flatMap(([key, words, isPossible = true]) =>
      isPossible ? wrap([strong(key.padEnd(5), 'focus'), tint(words, 'fg')], width, 5) : [],
    ),
    ...wrap([tint(`mimir report ${session}`, 'info'), tint(' prints it', 'muted')], width),
  ];
}

/** What ended the run, saved work and next steps above the report; empty for a completed run. */
function happenedLines(context: Context, width: number): readonly Line[] {
  const { state } = context;
  const status = state.finished?.status;
  if (status === undefined || status === 'completed') return [];
  return [
    ...part(status === 'stopped' ? 'Reason' : 'Error', happened(context), width),
    ...part('Saved', kept(context), width),
    ...part('Next steps', next(context), width, KEY_WIDTH),
  ];
}

function openLines(context: Context, width: number): readonly Line[] {
  const all = unfinishedWork(context.state).map(toLabel);
  const shown = all.slice(0, MOST);
  const more = all.length > shown.length ? [`and ${all.length - shown.length} more (2)`] : [];
  return all.length === 0 ? [] : part('Unfinished', [...shown, ...more].map(textLine), width);
}

const MOST = 8;
const KEY_WIDTH = 4;
const textLine = (text: string): Line => [tint(text, 'fg')];

const part = (title: string, lines: readonly Line[], width: number, hang = 2): readonly Line[] =>
  lines.length === 0
    ? []
    : [[strong(title, 'title')], ...lines.flatMap((line) => wrap([span('  '), ...line], width, hang)), []];

function happened({ state, glyphs }: Context): readonly Line[] {
  if (state.finished?.status === 'rejected') return [textLine('The plan was discarded. No agents were started.')];
  const ends = inOrder(state).filter(
    ({ id, outcome }) => outcome !== null && outcome !== 'completed' && (id !== ROOT || outcome === 'failed'),
  );
  const failed = sameEnds(ends).map(({ agents, why }): Line => {
    const isFailed = agents.some(({ outcome }) => outcome === 'failed');
    const sign = glyphs.status[isFailed ? 'failed' : 'interrupted'];
    const names = agents.map(({ name }) => toLabel(name)).join(', ');
    return [strong(`${sign} ${names}  `, isFailed ? 'err' : 'warn'), tint(why, 'fg')];
  });
  const open = unmergedIn(state)
    .filter(({ outcome }) => outcome === 'completed')
    .map((agent): Line => {
      const why = agent.ownTree?.because ?? 'its work did not end well';
      return [
        strong(`${glyphs.status.waiting} ${toLabel(agent.name)}  `, 'warn'),
        tint(`not merged: ${toLabel(why)}`, 'fg'),
      ];
    });
  const stopped = state.finished?.status === 'stopped' ? state.finished.summary : '';
  const why = stopped !== '' || failed.length + open.length === 0 ? stopped || lastProblem(state) : '';
  const more = failed.length > MOST ? [textLine(`and ${failed.length - MOST} more (2)`)] : [];
  return [...(why === '' ? [] : [textLine(toLabel(why))]), ...failed.slice(0, MOST), ...more, ...open.slice(0, MOST)];
}

const lastProblem = ({ agents, log }: Context['state']): string =>
  agents.get(ROOT)?.reason || (log.findLast(({ level }) => level !== 'info')?.text ?? '');

/** Agents grouped by the reason of their end, since one fault, such as a rejected key, may end all of them. */
function sameEnds(
  ends: readonly AgentState[],
): readonly { readonly why: string; readonly agents: readonly AgentState[] }[] {
  const byWhy = Map.groupBy(ends, (agent) => oneLine(endOf(agent)));
  return [...byWhy].map(([why, agents]) => ({ why, agents }));
}

function kept({ state }: Context): readonly Line[] {
  const agents = [...state.agents.values()].filter(({ id }) => id !== ROOT);
  const done = agents.filter(({ outcome }) => outcome === 'completed').length;
  return [
    ...(done > 0 ? [textLine(`answers of ${plural(done, 'agent')} (below)`)] : []),
    textLine('transcripts and costs (session log)'),
  ];
}

function next({ state }: Context): readonly Line[] {
  const row = (key: string, words: string): Line => [strong(key.padEnd(KEY_WIDTH), 'focus'), tint(words, 'fg')];
  const status = state.finished?.status;
  // Only a budget of Mimir can be raised, not a limit of a provider.
  const spent = [...state.agents.values()].some(({ endedBy }) => endedBy?.is === 'limit');
  return [
    ...(status === 'stopped' ? [row('r', `Resume (finished tasks are kept): ${resumeCost(state)}`)] : []),
    ...(unmergedIn(state).length > 0 ? [row('M', 'Merge what is not merged')] : []),
    ...(retryRun.whyNot(state) === null ? [row('R', 'Retry failed tasks (finished tasks are kept)')] : []),
    ...(spent && status !== 'rejected'
      ? [row('', `with a larger budget: mimir resume ${state.session ?? ''} --max-cost USD`)]
      : []),
    row('Esc', 'Show agents'),
    row('n', 'New task'),
  ];
}
