/** What a run took: against its estimates, by model and class of token, and where the time went. */
import { agentTime, runTime } from '../../../../app/views/run-time.ts';
import { runSpending } from '../../../../app/views/spending/spending.ts';
import { ROOT } from '../../../../domain/ids.ts';
import { type Usage, addUsage, NO_USAGE, tokensOf } from '../../../../domain/budget.ts';
import type { AgentState } from '../../../../events/state.ts';
import { inOrder, modelName, neverRan } from '../../../../app/views/agents/agent-lines.ts';
import {
  counted,
  formatCost,
  formatDuration,
  formatShare,
  formatShares,
  formatTokens,
} from '../../../../app/views/text/format.ts';
import {
  type Measures,
  comparedSums,
  comparedTasks,
  shareOf,
  sharesByModel,
  touchedFiles,
} from '../../../../app/views/run-summary.ts';
import { fitName } from '../../text/names.ts';
import type { Context } from '../../frame/screen.ts';
import { clip, fit, fitText, span } from '../../../../app/views/text/clip.ts';
import type { Ink, Line } from '../../../../app/views/text/line.ts';
import { toLabel } from '../../../../app/views/text/sanitise.ts';
import { wrap } from '../../../../app/views/text/wrap.ts';
import { countSpans } from '../../components/text/diff.ts';
import { meter } from '../../components/money/gauge.ts';
import { UNCERTAIN, uncertainText, aboutSign } from '../../components/money/spend.ts';

/** `≈` before a sum that holds a count which a provider left out; empty where all was counted. */
const about = (agents: readonly Pick<AgentState, 'estimated'>[], context: Context): string =>
  aboutSign({ estimated: agents.some(({ estimated }) => estimated === true) }, context);

const heading = (text: string): Line => [span(text, { fg: 'title', bold: true })];

/** Each task's estimate beside what was used, as numbers and as a bar whose middle is the estimate. */
export function estimateLines(context: Context, width: number): readonly Line[] {
  const all = comparedTasks(context.state);
  if (all.length === 0) return [[span('No task of a plan ran: there is nothing to compare.', { fg: 'faint' })]];
  const { estimate, actual } = comparedSums(all);
  const sign = about(
    all.map(({ agent }) => agent),
    context,
  );
  const rows = all.map(({ agent, ...both }) => {
    const measured = { ...both, sign: about([agent], context) };
    return compareLine(agent.name, `role:${agent.role}`, measured, context, width);
  });
  return [
    headLine(width),
    ...rows,
    [span(context.glyphs.light[4].repeat(Math.max(0, width)), { fg: 'border' })],
    compareLine('in all', 'title', { estimate, actual, sign }, context, width),
    [],
    ...(width < 92 ? [] : [[span(LEGEND, { fg: 'faint' })] satisfies Line, []]),
    ...timeLines(context, width),
  ];
}

const LEGEND = 'The middle of a bar is the estimate: what reaches beyond it took more.';
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
    span(fitName(name, nameSize(width) - 1, glyphs), { fg: ink, bold: true }),
    span(' '),
    ...pair(`${sign}${formatTokens(actual.tokens)}`, formatTokens(estimate.tokens), TOKENS),
    ...(width < 60 ? [span(percent(share), { fg: inkOf(share) })] : []),
    ...(width < 60 ? [] : pair(`${sign}${formatCost(actual.cost)}`, formatCost(estimate.cost), COST)),
    ...(width < 76 ? [] : pair(formatDuration(actual.ms), formatDuration(estimate.ms), TIME)),
    ...(width < 92 ? [] : [...halfway(share, glyphs), span(percent(share).padStart(6), { fg: inkOf(share) })]),
  ];
  return clip(line, width, glyphs.ellipsis);
}

function headLine(width: number): Line {
  const of = (name: string, sizes: readonly [number, number]): string =>
    `${name.padStart(sizes[0])} / ${'planned'.padEnd(sizes[1])}`;
  const text = [
    ' '.repeat(nameSize(width)),
    of('tokens', TOKENS),
    width < 60 ? '' : of('cost', COST),
    width < 76 ? '' : of('time', TIME),
  ].join('');
  return clip([span(text, { fg: 'faint' })], width, '');
}

const pair = (a: string, b: string, sizes: readonly [number, number]): Line => [
  span(a.padStart(sizes[0]), { fg: 'fg' }),
  span(` / ${b.padEnd(sizes[1])}`, { fg: 'muted' }),
];

const percent = (share: number | null): string => (share === null ? '' : formatShare(share));
const inkOf = (share: number | null): Ink => (share === null || share <= 1 ? 'ok' : share < 1.5 ? 'warn' : 'err');

/** `━━━━━╸────│──────────`: up to twice the estimate, whose place is marked. */
function halfway(share: number | null, glyphs: Context['glyphs']): Line {
  if (share === null) return [span(' '.repeat(2 * BAR + 1))];
  const ink = inkOf(share);
  return [
    ...meter(Math.min(1, share), BAR, ink, glyphs),
    span(glyphs.light[5], { fg: 'muted' }),
    ...meter(Math.max(0, Math.min(1, share - 1)), BAR, ink, glyphs),
  ];
}

/** Where the time went: planning, and each agent beside the whole run. */
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
    [...heading('Where the time went'), span(`  ${formatDuration(whole)} in all`, { fg: 'muted' })],
    ...rows.map(
      ({ name, ink, ms }): Line =>
        clip(
          [
            span(fitName(name, nameSize(width), glyphs), { fg: ink }),
            ...meter(ms / whole, cells, ink, glyphs),
            span(formatDuration(ms).padStart(9), { fg: 'fg' }),
            span(formatShare(Math.min(1, ms / whole)).padStart(6), { fg: 'muted' }),
          ],
          width,
          glyphs.ellipsis,
        ),
    ),
  ];
}

const CLASSES: readonly (readonly [of: keyof Usage, name: string])[] = [
  ['input', 'input'],
  ['output', 'output'],
  ['cacheRead', 'cache read'],
  ['cacheWrite', 'cache write'],
];

/** One of the parts of a sum. */
interface Part {
  readonly name: string;
  readonly ink: Ink;
  readonly share: number;
  readonly numbers: string;
}

/** The sums of the run: tokens by class, money by model and by agent. */
export function costsLines(context: Context, width: number): readonly Line[] {
  const { state, glyphs } = context;
  const agents = inOrder(state);
  const usage = agents.reduce((all, agent) => addUsage(all, agent.usage), NO_USAGE);
  const all = tokensOf(usage);
  const spent = agents.map(({ cost }) => cost).reduce((a, b) => a + b, 0);
  const bars = (parts: readonly Part[]): readonly Line[] => barLines(parts, width, glyphs);
  const unsettled = uncertainText(runSpending(state).uncertain).flatMap((text) =>
    wrap([span(text, { fg: 'warn', bold: true }), span(`  ${UNCERTAIN}`, { fg: 'muted' })], width),
  );
  if (all === 0 && unsettled.length === 0) return [[span('No model was called: nothing was spent.', { fg: 'faint' })]];
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
    [...heading('Tokens'), span(`  ${about(agents, context)}${formatTokens(all)} in all`, { fg: 'muted' })],
    ...bars(
      CLASSES.filter(([of]) => usage[of] > 0).map(([of, name]) => ({
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
        numbers: `${signOf(model)}${formatCost(cost)}  ${counted(calls, 'call')}`,
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

/** A row for each part: its name, a bar, its percentage and its numbers. */
function barLines(parts: readonly Part[], width: number, glyphs: Context['glyphs']): readonly Line[] {
  const cells = Math.max(4, Math.min(30, width - 48));
  const percents = formatShares(parts.map(({ share }) => share));
  return parts.map(({ name, ink, share, numbers }, at) =>
    clip(
      [
        span(fitText(name, 22), { fg: ink }),
        ...meter(share, cells, ink, glyphs),
        span((percents[at] ?? '').padStart(6), { fg: 'muted' }),
        span(`  ${numbers}`, { fg: 'fg' }),
      ],
      width,
      glyphs.ellipsis,
    ),
  );
}

/** Every file that agents changed, with its counts and who did it. */
export function fileLines(context: Context, width: number): readonly Line[] {
  const files = touchedFiles(context.state);
  const { glyphs } = context;
  if (files.length === 0) {
    const words = 'No agent changed a file with its tools. What commands changed, `git status` knows.';
    return wrap([span(words, { fg: 'faint' })], width);
  }
  const [added, removed] = files.reduce(([a, b], one) => [a + one.added, b + one.removed], [0, 0]);
  return [
    [...heading(counted(files.length, 'file')), span('  '), ...countSpans({ added, removed })],
    ...files.map((file): Line => {
      const counts = countSpans(file);
      const by = file.by.map(toLabel).join(', ');
      const right: Line = [...counts, span(`  ${by}`, { fg: 'muted' })];
      const room = Math.max(8, Math.min(60, width - 36));
      return fit(
        [
          span(file.made ? '+ ' : '  ', { fg: 'ok', bold: true }),
          span(fitText(toLabel(file.path), room, 'left', glyphs.ellipsis), { fg: 'fg' }),
          span('  '),
          ...right,
        ],
        width,
        {},
        glyphs.ellipsis,
      );
    }),
    ...(files.some(({ made }) => made) ? [[], [span('+ made in this run', { fg: 'faint' })] satisfies Line] : []),
  ];
}
