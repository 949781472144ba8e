/** The tables of a finished run: estimates and actual values, costs by kind of token, model and agent, files, and agents. */
import { agentTime, aligned, changesOf, clip, comparedSums, comparedTasks } from '../../../../app/views/index.ts';
import { plural, fit, fitText, formatCost, formatDuration, formatShare } from '../../../../app/views/index.ts';
import { formatShares, formatTokens, indentOf, type Ink, inOrder, type Line } from '../../../../app/views/index.ts';
import { type Measures, modelName, neverRan, runSpending, runTime, shareOf } from '../../../../app/views/index.ts';
import { fileRows, sharesByModel, span, sumChanges, toLabel, touchedFiles } from '../../../../app/views/index.ts';
import { uncoveredLines, wrap } from '../../../../app/views/index.ts';
import { addUsage, NO_USAGE, tokensOf } from '../../../../domain/budget.ts';
import { ROOT } from '../../../../domain/ids.ts';
import { type AgentState, tokensOfAgent } from '../../../../events/index.ts';
import { aboutSign, costText, meter, TOKEN_KINDS, UNCERTAIN, uncertainText } from '../../components/costs.ts';
import { fitName, fittingModel } from '../../components/names.ts';
import { endOf, oneLine, statusSpan } from '../../components/progress.ts';
import { countSpans } from '../../components/text/inline.ts';
import type { Context } from '../../frame/screen.ts';
import { strong, tint } from '../../text/blocks.ts';

/** `≈` before a sum with estimated token counts; empty where all were counted. */
const about = (agents: readonly Pick<AgentState, 'estimated'>[], context: Context): string =>
  aboutSign({ estimated: agents.some(({ estimated }) => estimated === true) }, context);

const heading = (text: string): Line => [strong(text, 'title')];

/** The use of each task beside its estimate, as numbers and as a bar whose middle is the estimate. */
export function estimateLines(context: Context, width: number): readonly Line[] {
  const all = comparedTasks(context.state);
  if (all.length === 0) return [[tint('No tasks ran, so there is nothing to compare.', 'faint')]];
  const { estimate, actual } = comparedSums(all);
  const agents = all.map(({ agent }) => agent);
  const sign = about(agents, context);
  const rows = all.map(({ agent, ...both }) => {
    const measured = { ...both, sign: about([agent], context) };
    return compareLine(agent.name, `role:${agent.role}`, measured, context, width);
  });
  return [
    headLine(width),
    ...rows,
    [tint(context.glyphs.light.horizontal.repeat(Math.max(0, width)), 'border')],
    compareLine('total', 'title', { estimate, actual, sign }, context, width),
    [],
    ...(width < 92 ? [] : [[tint(LEGEND, 'faint')] satisfies Line, []]),
    ...timeLines(context, width),
  ];
}

const LEGEND = 'The middle of each bar marks the estimate.';
const nameSize = (width: number): number => (width < 60 ? 11 : 16);
const TOKENS = [7, 7] as const;
const COST = [9, 9] as const;
const TIME = [8, 8] as const;
const BAR = 10;

function compareLine(
  name: string,
  ink: Ink,
  { estimate, actual, sign }: { readonly estimate: Measures; readonly actual: Measures; readonly sign: string },
  { glyphs }: Context,
  width: number,
): Line {
  const share = shareOf(actual.tokens, estimate.tokens);
  const line: Line = [
    strong(fitName(name, nameSize(width) - 1), ink),
    span(' '),
    ...pair(`${sign}${formatTokens(actual.tokens)}`, formatTokens(estimate.tokens), TOKENS),
    ...(width < 60 ? [tint(percent(share), inkOf(share))] : []),
    ...(width < 60 ? [] : pair(`${sign}${formatCost(actual.cost)}`, formatCost(estimate.cost), COST)),
    ...(width < 76 ? [] : pair(formatDuration(actual.ms), formatDuration(estimate.ms), TIME)),
    ...(width < 92 ? [] : [...halfway(share, glyphs), tint(percent(share).padStart(6), inkOf(share))]),
  ];
  return clip(line, width);
}

function headLine(width: number): Line {
  const of = (name: string, sizes: readonly [number, number]): string =>
    `${name.padStart(sizes[0])} / ${'est.'.padEnd(sizes[1])}`;
  const text = [
    ' '.repeat(nameSize(width)),
    of('tokens', TOKENS),
    width < 60 ? '' : of('cost', COST),
    width < 76 ? '' : of('time', TIME),
  ].join('');
  return clip([tint(text, 'faint')], width, '');
}

const pair = (a: string, b: string, sizes: readonly [number, number]): Line => [
  tint(a.padStart(sizes[0]), 'fg'),
  tint(` / ${b.padEnd(sizes[1])}`, 'muted'),
];

const percent = (share: number | null): string => (share === null ? '' : formatShare(share));
const inkOf = (share: number | null): Ink => (share === null || share <= 1 ? 'ok' : share < 1.5 ? 'warn' : 'err');

/** `━━━━━╸────│──────────`: a bar up to twice the estimate, which is marked. */
function halfway(share: number | null, glyphs: Context['glyphs']): Line {
  if (share === null) return [span(' '.repeat(2 * BAR + 1))];
  const ink = inkOf(share);
  return [
    ...meter(Math.min(1, share), BAR, ink, glyphs),
    tint(glyphs.light.vertical, 'muted'),
    ...meter(Math.max(0, Math.min(1, share - 1)), BAR, ink, glyphs),
  ];
}

function timeLines({ state, glyphs }: Context, width: number): readonly Line[] {
  const whole = runTime(state);
  if (whole === 0) return [];
  const agents = inOrder(state)
    .filter((agent) => agent.id !== ROOT && !neverRan(agent))
    .map((agent) => ({ name: agent.name, ink: `role:${agent.role}` as const, ms: agentTime(agent, state) }))
    .toSorted((a, b) => b.ms - a.ms);
  const rows = [
    ...(state.planMs > 0 ? [{ name: 'planning', ink: 'title' as const, ms: state.planMs }] : []),
    ...agents,
  ];
  const cells = Math.max(4, Math.min(40, width - nameSize(width) - 18));
  return [
    [...heading('Where the time went'), tint(`  total ${formatDuration(whole)}`, 'muted')],
    ...rows.map(
      ({ name, ink, ms }): Line =>
        clip(
          [
            tint(fitName(name, nameSize(width)), ink),
            ...meter(ms / whole, cells, ink, glyphs),
            tint(formatDuration(ms).padStart(9), 'fg'),
            tint(formatShare(Math.min(1, ms / whole)).padStart(6), 'muted'),
          ],
          width,
        ),
    ),
  ];
}

interface Part {
  readonly name: string;
  readonly ink: Ink;
  readonly share: number;
  readonly numbers: string;
}

/** The Costs tab: tokens by kind, cost by model and by agent. */
export function costsLines(context: Context, width: number): readonly Line[] {
  const { state, glyphs } = context;
  const agents = inOrder(state);
  const usage = agents.reduce((all, agent) => addUsage(all, agent.usage), NO_USAGE);
  const all = tokensOf(usage);
  const spent = sum(agents.map(({ cost }) => cost));
  const bars = (parts: readonly Part[]): readonly Line[] => barLines(parts, width, glyphs);
  const unsettled = uncertainText(runSpending(state).uncertain).flatMap((text) =>
    wrap([strong(text, 'warn'), tint(`  ${UNCERTAIN}`, 'muted')], width),
  );
  if (all === 0 && unsettled.length === 0) return [[tint('No model was called. Nothing was spent.', 'faint')]];
  const dearest = agents
    .filter(({ cost, usage: one }) => cost > 0 || tokensOf(one) > 0)
    .toSorted((a, b) => b.cost - a.cost || tokensOf(b.usage) - tokensOf(a.usage));
  const signOf = (model: string): string =>
    about(
      agents.filter(({ byModel }) => byModel.some((one) => one.model === model)),
      context,
    );
  const part = (cost: number, tokens: number): number => (spent > 0 ? cost / spent : tokens / all);
  return [
    [...heading('Tokens'), tint(`  total ${about(agents, context)}${formatTokens(all)}`, 'muted')],
    ...bars(
      TOKEN_KINDS.filter(([of]) => usage[of] > 0).map(([of, name]) => ({
        name,
        ink: 'info',
        share: usage[of] / all,
        numbers: formatTokens(usage[of]),
      })),
    ),
    ...unsettled,
    [],
    heading('By model'),
    ...bars(
      sharesByModel(state).map(({ model, cost, calls, usage: one }) => ({
        name: modelName(model),
        ink: 'focus',
        share: part(cost, tokensOf(one)),
        numbers: `${signOf(model)}${formatCost(cost)}  ${plural(calls, 'call')}`,
      })),
    ),
    [],
    heading('By agent'),
    ...bars(
      dearest.map((agent) => ({
        name: toLabel(agent.name),
        ink: `role:${agent.role}`,
        share: part(agent.cost, tokensOf(agent.usage)),
        numbers: `${about([agent], context)}${formatCost(agent.priced ? agent.cost : null)}  ${about([agent], context)}${formatTokens(tokensOf(agent.usage))} tok`,
      })),
    ),
  ];
}

function barLines(parts: readonly Part[], width: number, glyphs: Context['glyphs']): readonly Line[] {
  const cells = Math.max(4, Math.min(30, width - 48));
  const percents = formatShares(parts.map(({ share }) => share));
  return parts.map(({ name, ink, share, numbers }, at) =>
    clip(
      [
        tint(fitText(name, 22), ink),
        ...meter(share, cells, ink, glyphs),
        tint((percents[at] ?? '').padStart(6), 'muted'),
        tint(`  ${numbers}`, 'fg'),
      ],
      width,
    ),
  );
}

/** The Files tab: every file that changed, with its counts and authors. */
export function fileLines({ state }: Context, width: number): readonly Line[] {
  const files = touchedFiles(state);
  const head: Line =
    files.length === 0
      ? [tint('No files changed by agents. Files that git ignores are not listed.', 'faint')]
      : [...heading(plural(files.length, 'file')), span('  '), ...countSpans(sumChanges(files))];
  const legend = files.some(({ made, gone }) => made || gone) ? ['+ new   - removed'] : [];
  const below = [...uncoveredLines(state), ...legend].flatMap((text): readonly Line[] => [[], [tint(text, 'faint')]]);
  return [head, ...fileRows(files, width), ...below].flatMap((line) => wrap(line, width));
}

/** The Agents tab: two lines per agent below a row of headings, at most `width` columns wide. */
export function agentTable(context: Context, width: number): readonly Line[] {
  const agents = inOrder(context.state);
  if (agents.length === 0) return [[tint('No agents were started.', 'faint')]];
  const columns = columnsFor(width);
  const head = row(columns.map(({ name, size, align }) => [tint(fitText(name, size, align), 'faint')]));
  return [
    [span('  '), ...head],
    ...agents.flatMap((agent) => [
      fit(
        [
          statusSpan(agent, context),
          span(' '),
          ...row(columns.map(({ size, align, cell }) => aligned(cell(agent, context, size), size, align))),
        ],
        width,
      ),
      ...shortly([span('    '), ...ending(agent)], width),
    ]),
  ];
}

/** A line wrapped into at most two; an ellipsis marks that there was more. */
export function shortly(line: Line, width: number): readonly Line[] {
  const lines = wrap(line, width);
  const [first, second = []] = lines;
  if (lines.length <= 2 || first === undefined) return lines;
  return [first, clip([...second, tint(' …', 'muted')], width)];
}

/** The summary of an agent, or why it ended. */
export function ending(agent: AgentState): Line {
  if (agent.id === ROOT && agent.outcome === 'completed' && tokensOfAgent(agent) === 0)
    return [tint('no model used', 'muted')];
  if (agent.id === ROOT && agent.outcome === 'completed') return [tint('planner and report', 'muted')];
  if (agent.id === ROOT && agent.outcome === 'partial') return [tint('planner and partial report', 'muted')];
  if (agent.outcome === 'completed') return [tint(oneLine(agent.summary), 'muted')];
  return [tint(toLabel(endOf(agent)), agent.outcome === 'failed' ? 'err' : 'warn')];
}

interface Column {
  /** Its place in the table; the list is in the order of importance. */
  readonly at: number;
  readonly name: string;
  readonly size: number;
  readonly align: 'left' | 'right';
  /** In `size` columns, as many as the column has in this table. */
  readonly cell: (agent: AgentState, context: Context, size: number) => Line;
}

const row = (cells: readonly Line[]): Line =>
  cells.flatMap((cell, index) => (index === 0 ? cell : [span('  '), ...cell]));

/** The columns that fit into `width`, the most important first. */
function columnsFor(width: number): readonly Column[] {
  let room = width - 2;
  const kept: Column[] = [];
  for (const column of COLUMNS) {
    const needed = column.size + (kept.length === 0 ? 0 : 2);
    if (needed > room) break;
    room -= needed;
    kept.push(column);
  }
  // The remaining columns widen the model, then the name.
  const wider = { model: Math.min(12, room), agent: Math.min(8, Math.max(0, room - 12)) };
  const sizeOf = ({ name, size }: Column): number => size + (name === 'model' || name === 'agent' ? wider[name] : 0);
  return kept.toSorted((a, b) => a.at - b.at).map((one) => ({ ...one, size: sizeOf(one) }));
}

const used =
  (text: (agent: AgentState, context: Context) => string): Column['cell'] =>
  (agent, context) => [tint(neverRan(agent) ? '' : text(agent, context), 'fg')];
const usage = (of: keyof AgentState['usage']): Column['cell'] => used((agent) => formatTokens(agent.usage[of]));

const COLUMNS: readonly Column[] = [
  {
    at: 0,
    name: 'agent',
    size: 14,
    align: 'left',
    cell: (agent) => [strong(`${' '.repeat(2 * indentOf(agent))}${toLabel(agent.name)}`, `role:${agent.role}`)],
  },
  { at: 4, name: 'cost', size: 8, align: 'right', cell: used(costText) },
  {
    at: 3,
    name: 'time',
    size: 7,
    align: 'right',
    cell: used((agent, { state }) => formatDuration(agentTime(agent, state))),
  },
  {
    at: 2,
    name: 'outcome',
    size: 9,
    align: 'left',
    cell: ({ outcome, status }) => [tint(outcome ?? status, outcome === 'failed' ? 'err' : 'muted')],
  },
  {
    at: 1,
    name: 'model',
    size: 14,
    align: 'left',
    cell: ({ model }, { glyphs }, size) => [tint(fittingModel(model, size, glyphs), 'muted')],
  },
  { at: 5, name: 'tokens', size: 6, align: 'right', cell: used((agent) => formatTokens(tokensOfAgent(agent))) },
  { at: 6, name: 'input', size: 6, align: 'right', cell: usage('input') },
  { at: 7, name: 'output', size: 6, align: 'right', cell: usage('output') },
  { at: 8, name: 'cached', size: 6, align: 'right', cell: usage('cacheRead') },
  { at: 10, name: 'files', size: 18, align: 'left', cell: filesCell },
  { at: 9, name: 'tools', size: 5, align: 'right', cell: used(({ toolCalls }) => String(toolCalls)) },
];

function filesCell(agent: AgentState): Line {
  const changes = changesOf(agent);
  if (changes.length === 0) return [];
  return [tint(`${plural(changes.length, 'file')} `, 'muted'), ...countSpans(sumChanges(changes))];
}

const sum = (all: readonly number[]): number => all.reduce((total, one) => total + one, 0);
