/** What the rules add to a plan: locked rows under its tasks, and all there is to know about one of them. */
import type { ForcedNode } from '../../../../domain/agents/mandatory-review.ts';
import type { SoundPlan } from '../../../../domain/plan/plan.ts';
import { modelName, modelText } from '../../../../app/views/agents/agent-lines.ts';
import { formatCost, formatDuration, formatLimit, formatTokens } from '../../../../app/views/text/format.ts';
import type { Glyphs } from '../../text/glyphs.ts';
import { fit, fitText, restyle, span, spread } from '../../../../app/views/text/clip.ts';
import type { Line } from '../../../../app/views/text/line.ts';
import { toLabel } from '../../../../app/views/text/sanitise.ts';
import { widthOf } from '../../../../app/views/text/width.ts';
import { wrap } from '../../../../app/views/text/wrap.ts';
import { triggerWords } from '../../../../app/views/plan/plan-words.ts';
import { listColumns } from './list.ts';
import { windowTop } from './schedule.ts';

/** The forced agents of a plan, in its order. */
export const forcedOf = ({ forced }: SoundPlan): readonly ForcedNode[] => forced ?? [];

/** Rows that they want under a list of `height` rows: a title and one each, but never more than a third of it. */
export function forcedHeight(plan: SoundPlan, height: number): number {
  const count = forcedOf(plan).length;
  if (count === 0 || height < 2) return 0;
  return Math.min(count + 1, Math.max(1, Math.floor(height / 3)));
}

/** How a list of `height` rows is shared: the tasks, of `rows` each, and right below them what the rules added. */
export interface Shares {
  readonly tasks: number;
  /** An empty row between the two, where there is room for it. */
  readonly gap: number;
  readonly forced: number;
}

export function sharesOf(plan: SoundPlan, height: number, rows: number): Shares {
  const forced = forcedHeight(plan, height);
  const tasks = Math.min(height - forced, plan.tasks.length * rows);
  return { tasks, gap: Math.min(1, height - forced - tasks), forced };
}

/** Which of the forced agents is in this row of theirs (`forcedRows`); null for the title, and where none is. */
export function forcedAt(plan: SoundPlan, selected: number, height: number, row: number): number | null {
  const { first, rows, top } = windowOf(forcedOf(plan).length, selected, height);
  const at = top + row - first;
  return row < first || row >= first + rows || at >= forcedOf(plan).length ? null : at;
}

/** Their title takes a row unless there is but one. */
function windowOf(count: number, selected: number, height: number): { first: number; rows: number; top: number } {
  const first = height > 1 ? 1 : 0;
  const rows = Math.max(0, height - first);
  return { first, rows, top: windowTop(Math.max(0, selected), count, rows) };
}

export interface ForcedRows {
  readonly plan: SoundPlan;
  /** Index of the selected one; -1 when none is. */
  readonly selected: number;
  readonly focused: boolean;
  /** Rows that a task takes in the list above. */
  readonly rows: number;
}

/** Exactly `height` lines of exactly `width` columns. */
export function forcedRows(of: ForcedRows, width: number, height: number, glyphs: Glyphs): readonly Line[] {
  const forced = forcedOf(of.plan);
  if (height < 1) return [];
  const { first, rows, top } = windowOf(forced.length, of.selected, height);
  const hidden = forced.length - rows;
  const more = hidden > 0 ? `  ${top + 1}-${Math.min(forced.length, top + rows)} of ${forced.length}` : '';
  const title: Line = [
    span(` ${glyphs.light[4]} Added by the rules, locked`, { fg: 'muted' }),
    span(more, { fg: 'faint' }),
  ];
  const lines = forced.slice(top, top + rows).map((node, row) => rowOf(node, top + row, of, width, glyphs));
  return [...(first > 0 ? [title] : []), ...lines].map((line) => fit(line, width, {}, glyphs.ellipsis));
}

/** `▣ security ×3  after tasks that write     opus-4.5   18k  $0.0840`: the figures are those of all its runs. */
function rowOf(node: ForcedNode, index: number, of: ForcedRows, width: number, glyphs: Glyphs): Line {
  const on = index === of.selected;
  const times = node.runs > 1 ? ` ${timesSign(glyphs)}${node.runs}` : '';
  const left: Line = [
    span(on ? glyphs.selected : ' ', { fg: of.focused ? 'focus' : 'muted' }),
    span(`${glyphs.lock} `, { fg: 'warn', bold: true }),
    span(node.role, { fg: `role:${node.role}`, bold: true }),
    span(`${times}  ${triggerWords(node.triggers)}`, { fg: on ? 'fg' : 'muted' }),
  ];
  // Below the figures of the tasks. What doesn't fit is cut from the trigger: that is told beside the list as well.
  const { model } = listColumns(of.plan, width, of.rows);
  const end = figures(node, width, glyphs, model === 0 ? 13 : model);
  const line = spread(left, end, width, {}, glyphs.ellipsis);
  return on ? restyle(fit(line, width, {}, glyphs.ellipsis), { bg: 'selection' }) : line;
}

/** The model in `room` columns, and tokens and cost of all its runs; in a very narrow list nothing. */
function figures(node: ForcedNode, width: number, glyphs: Glyphs, room: number): Line {
  if (width < 40) return [];
  const whole = modelText(node.model, glyphs);
  const { used, because } = node.model;
  const text =
    widthOf(whole) < room ? whole : because === null ? modelName(used) : `${glyphs.arrow} ${modelName(used)}`;
  return [
    span(fitText(text, room, 'left', glyphs.ellipsis), { fg: because === null ? 'muted' : 'warn' }),
    span(formatTokens(node.estimatedTokens * node.runs).padStart(6), { fg: 'muted' }),
    ...(width < 56 ? [] : [span(costOf(node).padStart(9), { fg: 'fg' })]),
  ];
}

const timesSign = ({ ellipsis }: Glyphs): string => (ellipsis === '…' ? '×' : 'x');

const costOf = ({ estimatedCost, runs }: ForcedNode): string =>
  formatCost(estimatedCost === null ? null : estimatedCost * runs);

const LABEL = 10;

/** Lines of at most `width` columns, as many as it takes. */
export function forcedLines(plan: SoundPlan, node: ForcedNode, width: number, glyphs: Glyphs): readonly Line[] {
  const row = (label: string, value: Line): readonly Line[] =>
    wrap(value, Math.max(1, width - LABEL)).map((line, index) => [
      span((index === 0 ? label : '').padEnd(LABEL), { fg: 'faint' }),
      ...line,
    ]);
  const text = (label: string, value: string): readonly Line[] => row(label, [span(value, { fg: 'fg' })]);
  const dot = ` ${glyphs.dot} `;
  const one = [
    `${formatTokens(node.estimatedTokens)} tok`,
    formatCost(node.estimatedCost),
    formatDuration(node.estimatedSeconds * 1000),
  ];
  const all = [`${formatTokens(node.estimatedTokens * node.runs)} tok`, costOf(node)];
  return [
    ...row('', [span(`${glyphs.lock} Locked: added by the rules`, { fg: 'warn', bold: true })]),
    ...text('Rule', toLabel(node.because)),
    ...text('Runs', triggerWords(node.triggers)),
    ...(node.after.length === 0 ? [] : text('After', afterWords(plan, node))),
    ...row('Model', modelLine(node, glyphs)),
    ...(node.model.because === null ? [] : row('', [span(toLabel(node.model.because), { fg: 'muted' })])),
    ...text('Estimate', `${one.join(dot)} each`),
    ...(node.runs === 1 ? [] : text('', `${timesSign(glyphs)} ${node.runs} runs = ${all.join(dot)}`)),
    ...text('Budget', budgetWords(node, glyphs)),
    ...row('Without', [
      node.onFailure === 'block'
        ? span('a pass the work stays where it is', { fg: 'err' })
        : span('a pass it is said, and the run goes on', { fg: 'warn' }),
    ]),
  ];
}

/** `#4 refactoring, #5 tester`. */
const afterWords = (plan: SoundPlan, { after }: ForcedNode): string =>
  plan.tasks.flatMap(({ id, role }, index) => (after.includes(id) ? [`#${index + 1} ${role}`] : [])).join(', ');

function modelLine({ model }: ForcedNode, glyphs: Glyphs): Line {
  if (model.because === null) return [span(modelName(model.asked), { fg: 'fg' })];
  return [
    span(modelName(model.asked), { fg: 'muted' }),
    span(` ${glyphs.arrow} `, { fg: 'faint' }),
    span(modelName(model.used), { fg: 'warn' }),
  ];
}

function budgetWords({ budget: { maxCost, maxTokens, maxDuration }, runs }: ForcedNode, glyphs: Glyphs): string {
  const parts = [
    ...(maxCost === undefined ? [] : [formatLimit(maxCost)]),
    ...(maxTokens === undefined ? [] : [`${formatTokens(maxTokens)} tok`]),
    ...(maxDuration === undefined ? [] : [formatDuration(maxDuration)]),
  ];
  if (parts.length === 0) return 'that of the run';
  return `${parts.join(` ${glyphs.dot} `)}${runs === 1 ? '' : ' each'}, kept back for it`;
}
