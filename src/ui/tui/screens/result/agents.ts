/** The agents of a run that has ended, as a table: who did it on which model, how it ended, what it took, what it changed. */
import { agentTime } from '../../../../app/views/run-time.ts';
import { ROOT } from '../../../../domain/ids.ts';
import { tokensOfAgent } from '../../../../events/queries.ts';
import type { AgentState } from '../../../../events/state.ts';
import { indentOf, inOrder, modelText, neverRan } from '../../../../app/views/agents/agent-lines.ts';
import { counted, formatDuration, formatTokens } from '../../../../app/views/text/format.ts';
import type { Context } from '../../frame/screen.ts';
import { clip, fit, fitText, lineWidth, span } from '../../../../app/views/text/clip.ts';
import type { Line } from '../../../../app/views/text/line.ts';
import { toLabel } from '../../../../app/views/text/sanitise.ts';
import { wrap } from '../../../../app/views/text/wrap.ts';
import { endOf, oneLine } from '../../components/agents/doing.ts';
import { countSpans } from '../../components/text/diff.ts';
import { changesOf } from '../../../../app/views/file-changes.ts';
import { costText } from '../../components/money/spend.ts';
import { statusSpan } from '../../components/plan/status.ts';

/** Two lines an agent below a head of columns, at most `width` columns wide. */
export function agentTable(context: Context, width: number): readonly Line[] {
  const agents = inOrder(context.state);
  if (agents.length === 0) return [[span('No agent was started.', { fg: 'faint' })]];
  const columns = columnsFor(width);
  const head = row(columns.map(({ name, size, align }) => [span(fitText(name, size, align), { fg: 'faint' })]));
  return [
    [span('  '), ...head],
    ...agents.flatMap((agent) => [
      fit(
        [
          statusSpan(agent, context),
          span(' '),
          ...row(columns.map(({ size, align, cell }) => aligned(cell(agent, context), size, align))),
        ],
        width,
        {},
        context.glyphs.ellipsis,
      ),
      ...shortly([span('    '), ...ending(agent)], width, context.glyphs.ellipsis),
    ]),
  ];
}

/** At most two lines; what is left out is marked. */
export function shortly(line: Line, width: number, ellipsis: string): readonly Line[] {
  const lines = wrap(line, width);
  const [first, second = []] = lines;
  if (lines.length <= 2 || first === undefined) return lines;
  return [first, clip([...second, span(` ${ellipsis}`, { fg: 'muted' })], width, ellipsis)];
}

/** How it ended, in its own words. */
export function ending(agent: AgentState): Line {
  if (agent.id === ROOT && agent.outcome === 'completed' && tokensOfAgent(agent) === 0)
    return [span('asked no model', { fg: 'muted' })];
  if (agent.id === ROOT && agent.outcome === 'completed')
    return [span('planned, and wrote the report', { fg: 'muted' })];
  if (agent.id === ROOT && agent.outcome === 'partial')
    return [span('planned, and reported what there was', { fg: 'muted' })];
  if (agent.outcome === 'completed') return [span(oneLine(agent.summary), { fg: 'muted' })];
  return [span(toLabel(endOf(agent)), { fg: agent.outcome === 'failed' ? 'err' : 'warn' })];
}

interface Column {
  readonly name: string;
  readonly size: number;
  readonly align: 'left' | 'right';
  readonly cell: (agent: AgentState, context: Context) => Line;
}

const row = (cells: readonly Line[]): Line =>
  cells.flatMap((cell, index) => (index === 0 ? cell : [span('  '), ...cell]));

function aligned(cell: Line, size: number, align: 'left' | 'right'): Line {
  if (align === 'left') return fit(cell, size);
  const missing = Math.max(0, size - lineWidth(cell));
  return fit([span(' '.repeat(missing)), ...cell], size);
}

/** From the most to the least telling: those that fit are shown. */
function columnsFor(width: number): readonly Column[] {
  let room = width - 2;
  const kept: (Column & { readonly at: number })[] = [];
  for (const { column, at } of COLUMNS) {
    if (column.size + (kept.length === 0 ? 0 : 2) > room) break;
    room -= column.size + (kept.length === 0 ? 0 : 2);
    kept.push({ ...column, at });
  }
  // What is left over is the model's and then the name's.
  const wider = { model: Math.min(12, room), agent: Math.min(8, Math.max(0, room - 12)) };
  const sizeOf = ({ name, size }: Column): number => size + (name === 'model' || name === 'agent' ? wider[name] : 0);
  return kept.toSorted((a, b) => a.at - b.at).map((one) => ({ ...one, size: sizeOf(one) }));
}

const used =
  (text: (agent: AgentState) => string): Column['cell'] =>
  (agent) => [span(neverRan(agent) ? '' : text(agent), { fg: 'fg' })];
const usage = (of: keyof AgentState['usage']): Column['cell'] => used((agent) => formatTokens(agent.usage[of]));

const COLUMNS: readonly { readonly at: number; readonly column: Column }[] = [
  {
    at: 0,
    column: {
      name: 'agent',
      size: 14,
      align: 'left',
      cell: (agent) => [
        span(`${' '.repeat(2 * indentOf(agent))}${toLabel(agent.name)}`, { fg: `role:${agent.role}`, bold: true }),
      ],
    },
  },
  { at: 4, column: { name: 'cost', size: 8, align: 'right', cell: used(costText) } },
  {
    at: 3,
    column: {
      name: 'time',
      size: 7,
      align: 'right',
      cell: (agent, { state }) => [span(neverRan(agent) ? '' : formatDuration(agentTime(agent, state)), { fg: 'fg' })],
    },
  },
  {
    at: 2,
    column: {
      name: 'outcome',
      size: 9,
      align: 'left',
      cell: ({ outcome, status }) => [span(outcome ?? status, { fg: outcome === 'failed' ? 'err' : 'muted' })],
    },
  },
  {
    at: 1,
    column: {
      name: 'model',
      size: 14,
      align: 'left',
      cell: ({ model }, { glyphs }) => [span(modelText(model, glyphs), { fg: 'muted' })],
    },
  },
  {
    at: 5,
    column: { name: 'tokens', size: 6, align: 'right', cell: used((agent) => formatTokens(tokensOfAgent(agent))) },
  },
  { at: 6, column: { name: 'input', size: 6, align: 'right', cell: usage('input') } },
  { at: 7, column: { name: 'output', size: 6, align: 'right', cell: usage('output') } },
  { at: 8, column: { name: 'cached', size: 6, align: 'right', cell: usage('cacheRead') } },
  {
    at: 10,
    column: {
      name: 'files',
      size: 18,
      align: 'left',
      cell: (agent) => {
        const changes = changesOf(agent);
        if (changes.length === 0) return [];
        const [added, removed] = [sum(changes.map((one) => one.added)), sum(changes.map((one) => one.removed))];
        return [span(`${counted(changes.length, 'file')} `, { fg: 'muted' }), ...countSpans({ added, removed })];
      },
    },
  },
  { at: 9, column: { name: 'tools', size: 5, align: 'right', cell: used(({ toolCalls }) => String(toolCalls)) } },
];

const sum = (all: readonly number[]): number => all.reduce((total, one) => total + one, 0);
