/** The Costs tab: what an agent used and paid, of which model and for what, against its limits and what the plan expected. */
import { expectedTask } from '../../../../app/views/spending/expected-plan.ts';
import { agentSpending, callsInFlight } from '../../../../app/views/spending/spending.ts';
import { agentTime } from '../../../../app/views/run-time.ts';
import { tokensOf } from '../../../../domain/budget.ts';
import { committed, tokensOfAgent } from '../../../../events/queries.ts';
import type { AgentState, ModelShare } from '../../../../events/state.ts';
import { modelName } from '../../../../app/views/agents/agent-lines.ts';
import {
  counted,
  formatCost,
  formatDuration,
  formatLimit,
  formatShare,
  formatTokens,
} from '../../../../app/views/text/format.ts';
import { fitName, nameColumn } from '../../text/names.ts';
import type { Context } from '../../frame/screen.ts';
import { clip, fitText, span } from '../../../../app/views/text/clip.ts';
import type { Ink, Line } from '../../../../app/views/text/line.ts';
import { toLabel } from '../../../../app/views/text/sanitise.ts';
import { wrap } from '../../../../app/views/text/wrap.ts';
import { gauge, inkOfShare } from './gauge.ts';
import { amountText, callsText, classLines, UNCERTAIN, unpricedText, costText } from './spend.ts';

const NAME = 12;

/** As many lines as it takes, at most `width` columns each. */
export function costLines(agent: AgentState, context: Context, width: number): readonly Line[] {
  const parts = [
    spentLines(agent, context, width),
    kindLines(agent, context, width),
    modelLines(agent, context, width),
    againstLines(agent, context, width),
    belowLines(agent, context, width),
  ];
  return parts.filter((part) => part.length > 0).flatMap((part, index) => (index === 0 ? part : [[], ...part]));
}

const title = (text: string, note = ''): Line => [
  span(text, { fg: 'title', bold: true }),
  ...(note === '' ? [] : [span(`  ${note}`, { fg: 'faint' })]),
];

/** A name, a number, and the words that say what it is. */
const row = (name: string, value: string, why: string, width: number, ink: Ink = 'fg'): readonly Line[] =>
  wrap(
    [
      span(`  ${name.padEnd(NAME)}`, { fg: 'muted' }),
      span(value, { fg: ink, bold: true }),
      span(`  ${why}`, { fg: 'faint' }),
    ],
    width,
    NAME,
  );

/** What is charged, promised and lost. */
function spentLines(agent: AgentState, context: Context, width: number): readonly Line[] {
  const { lost } = agent;
  const { reservedCost, reservedTokens, uncertain } = agentSpending(agent);
  const { length: inFlight } = callsInFlight(agent);
  const unpriced = unpricedText(agent);
  return [
    title('Spent'),
    ...row(
      'charged',
      costText(agent),
      `${formatTokens(tokensOfAgent(agent))} tokens, calls: ${callsText(agent)}`,
      width,
    ),
    ...(unpriced === '' ? [] : row('', '', unpriced, width)),
    ...(inFlight === 0
      ? []
      : row(
          'reserved',
          amountText(reservedCost, reservedTokens),
          `the most that ${counted(inFlight, 'call')} in flight can cost; given back when settled`,
          width,
          'warn',
        )),
    ...(uncertain === null
      ? []
      : row('uncertain', amountText(uncertain.cost, uncertain.tokens), UNCERTAIN, width, 'warn')),
    ...(lost.calls === 0
      ? []
      : row(
          'lost',
          formatCost(lost.cost),
          `${counted(lost.calls, 'try')} that failed; part of what is charged`.replace('trys', 'tries'),
          width,
          'warn',
        )),
  ];
}

/** Input, output and what the provider's cache took off or added. */
function kindLines(agent: AgentState, context: Context, width: number): readonly Line[] {
  const lines = classLines(agent, context, width);
  return lines.length === 0 ? [] : [title('By kind of token'), ...lines];
}

/** Each model that was called: its calls, tokens, price and share of the cost. */
function modelLines(agent: AgentState, { glyphs }: Context, width: number): readonly Line[] {
  if (agent.byModel.length === 0) return [];
  const most = Math.max(1e-9, ...agent.byModel.map(amountOf));
  const all = agent.byModel.reduce((sum, share) => sum + amountOf(share), 0);
  const lines = agent.byModel.map((share): Line => {
    const line: Line = [
      span(
        `  ${fitText(toLabel(modelName(share.model)), Math.max(8, Math.min(24, width - 46)), 'left', glyphs.ellipsis)}`,
        { fg: 'fg' },
      ),
      span(` ${counted(share.calls, 'call').padStart(8)}`, { fg: 'muted' }),
      span(` ${formatTokens(tokensOf(share.usage)).padStart(6)} tok`, { fg: 'muted' }),
      span(` ${formatCost(share.cost).padStart(9)}`, { fg: 'fg', bold: true }),
      span(` ${formatShare(all === 0 ? 0 : amountOf(share) / all).padStart(5)} `, { fg: 'faint' }),
      ...gaugeOf(amountOf(share) / most, glyphs.meter),
    ];
    return clip(line, width, glyphs.ellipsis);
  });
  return [title('By model', agent.byModel.length > 1 ? 'in the order of their first calls' : ''), ...lines];
}

const gaugeOf = (share: number, [full, , rest]: readonly [string, string, string]): Line => {
  const cells = Math.round(share * 6);
  return [span(full.repeat(cells), { fg: 'info' }), span(rest.repeat(6 - cells), { fg: 'border' })];
};

/** Money where there is any, else tokens. */
const amountOf = ({ cost, usage }: ModelShare): number => (cost > 0 ? cost : tokensOf(usage) / 1e9);

/** Against its own limits, each with a gauge, and against what the plan expected. */
function againstLines(agent: AgentState, context: Context, width: number): readonly Line[] {
  const { maxCost, maxTokens, maxDuration } = agent.budget;
  const ran = agentTime(agent, context.state, context.now);
  const tokens = tokensOfAgent(agent);
  const planned = context.state.plan?.tasks.find(({ id }) => id === agent.taskId);
  const task = planned === undefined ? undefined : expectedTask(planned, context.state);
  const limits = [
    ...limitLine('cost', agent.cost, maxCost, formatLimit, context, width),
    ...limitLine('tokens', tokens, maxTokens, formatTokens, context, width),
    ...limitLine('time', ran, maxDuration, formatDuration, context, width),
  ];
  const plan =
    task === undefined
      ? []
      : [
          title('Against the plan', 'what it was expected to take'),
          ...planLine('tokens', tokens, task.estimatedTokens, formatTokens, width),
          ...(task.estimatedCost === null ? [] : planLine('cost', agent.cost, task.estimatedCost, formatCost, width)),
          ...planLine('time', ran, task.estimatedSeconds * 1000, formatDuration, width),
        ];
  return [
    ...(limits.length === 0
      ? [title('Limits', 'it has none of its own: b gives it one')]
      : [title('Limits'), ...limits]),
    ...(plan.length === 0 ? [] : [[], ...plan]),
  ];
}

function limitLine(
  name: string,
  used: number,
  limit: number | undefined,
  format: (value: number) => string,
  { glyphs }: Context,
  width: number,
): readonly Line[] {
  if (limit === undefined) return [];
  const share = limit === 0 ? (used > 0 ? 1 : 0) : used / limit;
  const line: Line = [
    span(`  ${name.padEnd(NAME)}`, { fg: 'muted' }),
    ...gauge({ spent: share, reserved: 0 }, 10, glyphs),
    span(` ${formatShare(share).padStart(4)}`, { fg: inkOfShare(share), bold: true }),
    span(`  ${format(used)} of ${format(limit)}`, { fg: 'fg' }),
  ];
  return [clip(line, width, glyphs.ellipsis)];
}

/** `tokens      22k  of 10k expected, 2.2 times as much` */
function planLine(
  name: string,
  used: number,
  expected: number,
  format: (value: number) => string,
  width: number,
): readonly Line[] {
  const times = expected > 0 ? used / expected : 0;
  const more = times >= 1.5 ? `, ${times.toFixed(1)} times as much` : '';
  return row(name, format(used), `of ${format(expected)} expected${more}`, width, times >= 1.5 ? 'warn' : 'fg');
}

/** With all below it: the budget of a parent holds for its whole tree. */
function belowLines(agent: AgentState, context: Context, width: number): readonly Line[] {
  if (agent.children.length === 0) return [];
  const all = committed(context.state, agent.id);
  const children = agent.children.flatMap((id) => context.state.agents.get(id) ?? []);
  const shown = [...children].sort((a, b) => b.cost - a.cost || tokensOfAgent(b) - tokensOfAgent(a)).slice(0, 20);
  return [
    title('With all below it', 'reservations included'),
    ...row('together', formatCost(all.cost), `${formatTokens(all.tokens)} tokens`, width),
    ...shown.map((child) =>
      clip(
        [
          span(`  ${context.glyphs.child} `, { fg: 'border' }),
          span(fitName(child.name, nameColumn(context.state, 16, width - 26), context.glyphs), {
            fg: `role:${child.role}`,
          }),
          span(` ${costText(child).padStart(9)}`, { fg: 'fg' }),
          span(` ${formatTokens(tokensOfAgent(child)).padStart(6)} tok`, { fg: 'muted' }),
        ],
        width,
        context.glyphs.ellipsis,
      ),
    ),
    ...(children.length > shown.length
      ? [[span(`    and ${children.length - shown.length} more`, { fg: 'faint' })]]
      : []),
  ];
}
