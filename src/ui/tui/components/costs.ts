/** The Costs tab of an agent, and the texts and gauges for costs and limits that all screens use. */
import type { Ink, LimitShare, Line, Uncertain } from '../../../app/views/index.ts';
import { agentSpending, agentTime, callsInFlight, callsOf, clip, plural } from '../../../app/views/index.ts';
import { expectedTask, fitText, formatCost, formatDuration, formatLimit } from '../../../app/views/index.ts';
import { formatShare, formatTokens, modelName, span, toLabel, wrap } from '../../../app/views/index.ts';
import { tokensOf, type Usage } from '../../../domain/budget.ts';
import type { Usd } from '../../../domain/ids.ts';
import { costOf } from '../../../domain/models/provider.ts';
import { type AgentState, committed, type ModelShare, type RunState, tokensOfAgent } from '../../../events/index.ts';
import type { Context } from '../frame/screen.ts';
import { strong, tint } from '../text/blocks.ts';
import type { Glyphs } from '../text/glyphs.ts';
import { fitName, nameColumn } from './names.ts';

const NAME = 12;

/** As many lines as it takes, at most `width` columns each. */
export function costLines(agent: AgentState, context: Context, width: number): readonly Line[] {
  const parts = [
    spentLines(agent, context, width),
    classLines(agent, context, width),
    modelLines(agent, context, width),
    againstLines(agent, context, width),
    belowLines(agent, context, width),
  ];
  return parts.filter((part) => part.length > 0).flatMap((part, index) => (index === 0 ? part : [[], ...part]));
}

const title = (text: string, note = ''): Line => [
  strong(text, 'title'),
  ...(note === '' ? [] : [tint(`  ${note}`, 'faint')]),
];

const row = (name: string, value: string, why: string, width: number, ink: Ink = 'fg'): readonly Line[] =>
  wrap([tint(`  ${name.padEnd(NAME)}`, 'muted'), strong(value, ink), tint(`  ${why}`, 'faint')], width, NAME);

function spentLines(agent: AgentState, context: Context, width: number): readonly Line[] {
  const { lost } = agent;
  const { reservedCost, reservedTokens, uncertain } = agentSpending(agent);
  const { length: inFlight } = callsInFlight(agent);
  const unpriced = unpricedText(agent);
  const tokens = formatTokens(tokensOfAgent(agent));
  const tries = lost.calls === 1 ? '1 try' : `${lost.calls} tries`;
  const flying = `upper bound of ${plural(inFlight, 'call')} in flight`;
  return [
    title('Spent'),
    ...row('charged', costText(agent), `${tokens} tokens, calls: ${callsText(agent)}`, width),
    ...(unpriced === '' ? [] : row('', '', unpriced, width)),
    ...(inFlight === 0 ? [] : row('reserved', amountText(reservedCost, reservedTokens), flying, width, 'warn')),
    ...(uncertain === null
      ? []
      : row('uncertain', amountText(uncertain.cost, uncertain.tokens), UNCERTAIN, width, 'warn')),
    ...(lost.calls === 0 ? [] : row('lost', formatCost(lost.cost), `${tries} failed (included above)`, width, 'warn')),
  ];
}

/** Each called model with its calls, tokens, cost and share of the cost. */
function modelLines(agent: AgentState, { glyphs }: Context, width: number): readonly Line[] {
  if (agent.byModel.length === 0) return [];
  const most = Math.max(1e-9, ...agent.byModel.map(amountOf));
  const all = agent.byModel.reduce((sum, share) => sum + amountOf(share), 0);
  const name = Math.max(8, Math.min(24, width - 46));
  const lines = agent.byModel.map((share): Line => {
    const line: Line = [
      tint(`  ${fitText(toLabel(modelName(share.model)), name)}`, 'fg'),
      tint(` ${plural(share.calls, 'call').padStart(8)}`, 'muted'),
      tint(` ${formatTokens(tokensOf(share.usage)).padStart(6)} tok`, 'muted'),
      strong(` ${formatCost(share.cost).padStart(9)}`, 'fg'),
      tint(` ${formatShare(all === 0 ? 0 : amountOf(share) / all).padStart(5)} `, 'faint'),
      ...meter(Math.round((amountOf(share) / most) * 6) / 6, 6, 'info', glyphs),
    ];
    return clip(line, width);
  });
  return [title('By model', agent.byModel.length > 1 ? 'in order of use' : ''), ...lines];
}

/** Money where there is any, else tokens. */
const amountOf = ({ cost, usage }: ModelShare): number => (cost > 0 ? cost : tokensOf(usage) / 1e9);

/** The use of each limit with a gauge, and the use compared with the estimate. */
function againstLines(agent: AgentState, { state, glyphs, now }: Context, width: number): readonly Line[] {
  const { maxCost, maxTokens, maxDuration } = agent.budget;
  const ran = agentTime(agent, state, now);
  const tokens = tokensOfAgent(agent);
  const planned = state.plan?.tasks.find(({ id }) => id === agent.taskId);
  const task = planned === undefined ? undefined : expectedTask(planned, state);
  const limits = [
    ...(maxCost === undefined ? [] : [limitLine('cost', agent.cost, maxCost, formatLimit, glyphs)]),
    ...(maxTokens === undefined ? [] : [limitLine('tokens', tokens, maxTokens, formatTokens, glyphs)]),
    ...(maxDuration === undefined ? [] : [limitLine('time', ran, maxDuration, formatDuration, glyphs)]),
  ].map((line) => clip(line, width));
  const plan =
    task === undefined
      ? []
      : [
          title('Compared with the plan', 'estimated and used'),
          ...planLine('tokens', tokens, task.estimatedTokens, formatTokens, width),
          ...(task.estimatedCost === null ? [] : planLine('cost', agent.cost, task.estimatedCost, formatCost, width)),
          ...planLine('time', ran, task.estimatedSeconds * 1000, formatDuration, width),
        ];
  return [
    ...(limits.length === 0 ? [title('Limits', 'none (b sets one)')] : [title('Limits'), ...limits]),
    ...(plan.length === 0 ? [] : [[], ...plan]),
  ];
}

type Format = (value: number) => string;

function limitLine(name: string, used: number, limit: number, format: Format, glyphs: Glyphs): Line {
  const share = limit === 0 ? (used > 0 ? 1 : 0) : used / limit;
  return [
    tint(`  ${name.padEnd(NAME)}`, 'muted'),
    ...gauge({ spent: share, reserved: 0 }, 10, glyphs),
    strong(` ${formatShare(share).padStart(4)}`, inkOfShare(share)),
    tint(`  ${format(used)} of ${format(limit)}`, 'fg'),
  ];
}

/** `tokens      22k  of est. 10k, 2.2×` */
function planLine(name: string, used: number, expected: number, format: Format, width: number): readonly Line[] {
  const times = expected > 0 ? used / expected : 0;
  const more = times >= 1.5 ? `, ${times.toFixed(1)}×` : '';
  return row(name, format(used), `of est. ${format(expected)}${more}`, width, times >= 1.5 ? 'warn' : 'fg');
}

/** The use of an agent with all its descendants, which share its budget. */
function belowLines(agent: AgentState, context: Context, width: number): readonly Line[] {
  if (agent.children.length === 0) return [];
  const all = committed(context.state, agent.id);
  const children = agent.children.flatMap((id) => context.state.agents.get(id) ?? []);
  const shown = [...children].sort((a, b) => b.cost - a.cost || tokensOfAgent(b) - tokensOfAgent(a)).slice(0, 20);
  return [
    title('With its children', 'including reservations'),
    ...row('together', formatCost(all.cost), `${formatTokens(all.tokens)} tokens`, width),
    ...shown.map((child) =>
      clip(
        [
          tint(`  ${context.glyphs.child} `, 'border'),
          tint(fitName(child.name, nameColumn(context.state, 16, width - 26)), `role:${child.role}`),
          tint(` ${costText(child).padStart(9)}`, 'fg'),
          tint(` ${formatTokens(tokensOfAgent(child)).padStart(6)} tok`, 'muted'),
        ],
        width,
      ),
    ),
    ...(children.length > shown.length ? [[tint(`    and ${children.length - shown.length} more`, 'faint')]] : []),
  ];
}

/** The kinds of tokens, with their names. */
export const TOKEN_KINDS: readonly (readonly [of: keyof Usage, name: string])[] = [
  ['input', 'input'],
  ['output', 'output'],
  ['cacheRead', 'cache read'],
  ['cacheWrite', 'cache write'],
];

/** A line for each kind of token: the count, its percentage of all, and its cost where that is known. At most `width` columns. */
function classLines(agent: AgentState, context: Context, width: number): readonly Line[] {
  const all = tokensOf(agent.usage);
  if (all === 0) return [];
  const costs = costsOf(agent, context.state);
  const shown = TOKEN_KINDS.filter(([of]) => agent.usage[of] > 0 || of === 'input' || of === 'output');
  const lines = shown.map(([of, name]): Line => {
    const share = agent.usage[of] / all;
    const line: Line = [
      tint(`  ${name.padEnd(12)}`, 'muted'),
      tint(formatTokens(agent.usage[of]).padStart(6), 'fg'),
      tint(formatShare(share).padStart(6), 'muted'),
      span('  '),
      ...meter(share, width >= 50 ? 16 : 8, 'info', context.glyphs),
      ...(costs === null ? [] : [tint(formatCost(costs[of]).padStart(10), 'fg')]),
    ];
    return clip(line, width);
  });
  return [title('By kind of token'), ...lines];
}

/** US dollars by kind of token at the price of the agent's model; null where the sum differs from the charged cost, because another model
 * was used as well or long requests have rates of their own. */
function costsOf({ usage, cost, priced, model, fallbacks }: AgentState, { choices }: RunState): Readonly<Usage> | null {
  const price = choices?.models.find(({ id }) => id === model.used)?.price ?? null;
  if (price === null || !priced || cost === 0 || fallbacks.length > 0) return null;
  const none: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  const of = (kind: keyof Usage): Usd => costOf(price, { ...none, [kind]: usage[kind] });
  const [input, output, cacheRead, cacheWrite] = [of('input'), of('output'), of('cacheRead'), of('cacheWrite')];
  const costs: Usage = { input, output, cacheRead, cacheWrite };
  return Math.abs(tokensOf(costs) - cost) <= Math.max(0.0002, cost * 0.01) ? costs : null;
}

/** `$0.02 reserved + $0.01 uncertain`: the upper bound of calls in flight, and the cost of calls cut off; empty without either. */
export function reservedText(agent: AgentState): string {
  const { reservedCost, reservedTokens, uncertain } = agentSpending(agent);
  const reserved = amountText(reservedCost, reservedTokens);
  return [...(reserved === '' ? [] : [`${reserved} reserved`]), ...uncertainText(uncertain)].join(' + ');
}

/** `$0.02 uncertain`; empty where every call ended. */
export const uncertainText = (uncertain: Uncertain | null): readonly string[] =>
  uncertain === null ? [] : [`${amountText(uncertain.cost, uncertain.tokens)} uncertain`];

/** Dollars, or tokens where the models are free; empty for an amount of 0. */
export const amountText = (cost: Usd, tokens: number): string =>
  cost > 0 ? formatLimit(cost) : tokens > 0 ? `${formatTokens(tokens)} tok` : '';

/** Explains an uncertain amount. */
export const UNCERTAIN = 'calls cut off by a crash: they may have been billed, so limits count them';

/** `9, 2 of them failed and cost $0.0012, 1 in flight`; `none yet`. */
export function callsText(agent: AgentState): string {
  const { lost, retries } = agent;
  const { length: inFlight } = callsInFlight(agent);
  const { calls: uncertain = 0 } = agentSpending(agent).uncertain ?? {};
  const made = callsOf(agent);
  if (made === 0) return 'none yet';
  const wasted = tokensOf(lost.usage);
  const price = lost.cost > 0 ? formatCost(lost.cost) : wasted > 0 ? `${formatTokens(wasted)} tok` : 'nothing';
  return [
    String(made),
    ...(lost.calls > 0 ? [`${lost.calls} of them failed and cost ${price}`] : []),
    ...(retries > 0 ? [plural(retries, 'wait')] : []),
    ...(inFlight > 0 ? [`${inFlight} in flight`] : []),
    ...(uncertain > 0 ? [`${uncertain} uncertain`] : []),
  ].join(', ');
}

/** Why the shown cost is incomplete; empty where it is complete. */
export const unpricedText = ({ priced, model }: AgentState): string =>
  priced ? '' : `the price of ${toLabel(modelName(model.used))} is unknown`;

/** `$0.09`; `$?` where the price is unknown, `$0.09+?` where a part of it is. */
export const costText = ({ cost, priced }: Pick<AgentState, 'cost' | 'priced'>): string =>
  priced ? formatCost(cost) : cost === 0 ? formatCost(null) : `${formatCost(cost)}+?`;

/** `≈` for estimated token counts, where the provider reported none; empty for counted ones. */
export const aboutSign = ({ estimated }: Pick<AgentState, 'estimated'>, { glyphs }: Pick<Context, 'glyphs'>): string =>
  estimated === true ? (glyphs.ellipsis === '…' ? '≈' : '~') : '';

// Gauges, meters and sparklines: one row each, readable without colour.

/** The colour of a used share: amber from 80 %, red at 100 %. */
export const inkOfShare = (share: number): Ink => (share >= 1 ? 'err' : share >= 0.8 ? 'warn' : 'focus');

/** `▰▰▱··` of `cells` columns: the spent part is solid and the reserved one hollow, so that the solid part never shrinks. */
export function gauge({ spent, reserved }: LimitShare, cells: number, glyphs: Glyphs, ink = inkOfShare(spent)): Line {
  const upTo = (share: number): number => Math.max(0, Math.min(cells, Math.round(share * cells)));
  const full = upTo(spent);
  const hollow = upTo(spent + reserved) - full;
  const { spent: solid, reserved: open, left: free } = glyphs.gauge;
  return [
    tint(solid.repeat(full), ink),
    tint(open.repeat(hollow), 'muted'),
    tint(free.repeat(cells - full - hollow), 'faint'),
  ];
}

/** `━━━╸──` of `cells` columns, in `ink`. */
export function meter(share: number, cells: number, ink: Ink, glyphs: Glyphs): Line {
  const halves = Math.max(share > 0 ? 1 : 0, Math.min(2 * cells, Math.round(share * 2 * cells)));
  const { full, half, rest } = glyphs.meter;
  const bar = full.repeat(halves >> 1) + (halves % 2 === 1 ? half : '');
  return [tint(bar, ink), tint(rest.repeat(Math.max(0, cells - ((halves + 1) >> 1))), 'border')];
}

/** `▁▃▆`, one column per step; a step of 0 is a blank. */
export function sparkline(steps: readonly number[], glyphs: Glyphs): string {
  const most = Math.max(1, ...steps);
  const signs = glyphs.spark;
  return steps
    .map((step) =>
      step <= 0 ? ' ' : (signs[Math.min(signs.length - 1, Math.floor((step / most) * signs.length))] ?? ' '),
    )
    .join('');
}
