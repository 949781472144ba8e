/** The details of a task or of a mandatory review, with the key that changes each part, and the rows of mandatory reviews in the list. */
import { PLAN_EDITS } from '../../../../app/actions/index.ts';
import { effortText, expectedTask, fit, fitText, formatCost, formatDuration } from '../../../../app/views/index.ts';
import { formatLimit, formatRoughly, formatTimeLimit, formatTokens, type Line } from '../../../../app/views/index.ts';
import { writableText, modelName, orderLines, restyle, type Span, span, spread } from '../../../../app/views/index.ts';
import { toLabel, triggerWords, widthOf, approvalText, wrapText, toolsText } from '../../../../app/views/index.ts';
import { isForeign } from '../../../../domain/ids.ts';
import type { MandatoryReview, ModelChoice } from '../../../../domain/agents/agent.ts';
import type { Capability } from '../../../../domain/agents/role.ts';
import type { Budget } from '../../../../domain/budget.ts';
import { fitOf, rangeOf } from '../../../../domain/plan/estimate.ts';
import { dependantsOf } from '../../../../domain/plan/plan-view.ts';
import type { PlanChoices, PlanTask, SoundPlan } from '../../../../domain/plan/plan.ts';
import { checksText } from '../../../../domain/plan/task-checks.ts';
import { ownTreeText } from '../../../../domain/plan/writes.ts';
import type { Mode } from '../../../../domain/reason.ts';
import { type Fact, factLines, LABEL, strong, tint, windowTop } from '../../text/blocks.ts';
import type { Glyphs } from '../../text/glyphs.ts';
import { fittingModel } from '../names.ts';
import type { TaskState } from '../progress.ts';
import { toSign } from './estimate.ts';
import { listColumns } from './list.ts';
import type { PlanList } from './list.ts';

export interface Inspected {
  readonly plan: SoundPlan;
  readonly task: PlanTask;
  readonly choices: PlanChoices | null;
  readonly mode: Mode;
  readonly taskState: TaskState | null;
  readonly critical: boolean;
  /** The proposed task; null for a task that a person added. */
  readonly before: PlanTask | null;
  /** What its checks said before anything had begun. */
  readonly first: readonly string[];
  /** False when the task can no longer be changed: keys are left out. */
  readonly editable: boolean;
}

/** All details of a task in lines of at most `width` columns. */
export function inspectorLines(of: Inspected, width: number, glyphs: Glyphs): readonly Line[] {
  const { plan, task, taskState, choices, mode } = of;
  const renamed = was(of, ({ model }) => modelName(model.asked));
  const effort = effortText(task, choices);
  const otherEffort = was(of, (one) => one.effort ?? 'unset');
  const unlocked = dependantsOf(plan, task.id).map(({ id }) => id);
  const facts: readonly Fact[] = [
    [
      'Agent',
      taskState && [strong(`${taskState.sign} `, taskState.ink), tint(taskState.words, taskState.stuck ? 'err' : 'fg')],
    ],
    ...textFacts(task),
    ...noteFacts(of),
    ['Role', [tint(task.role, `role:${task.role}`), ...was(of, ({ role }) => role)], 'r'],
    ['Model', modelLine(task.model, glyphs, renamed), 'M'],
    becauseFact(task.model),
    ['Effort', effort === null && otherEffort.length === 0 ? null : [tint(effort ?? 'unset', 'fg'), ...otherEffort]],
    ['Budget', limitsText(task.budget, glyphs) || 'none', 'b'],
    // The estimate is calibrated by recorded runs where there are enough, so that it lies within the range.
    ['Estimate', estimateText(expectedTask(task, of), glyphs)],
    ...rangeFacts(of, width, glyphs),
    ['Tools', toolsText(task.tools), 't'],
    ['Depends', tasksLine(plan, task.dependsOn), 'D'],
    ['Blocks', tasksLine(plan, unlocked)],
    ['Writes', writableText(task, can(of, 'write')), PLAN_EDITS.writes.keys[0]],
    ...orderLines(plan, task).map(
      (line, at): Fact => (at === 0 ? ['Order', line, PLAN_EDITS.alongside.keys[0]] : ['', line]),
    ),
    treeFact(of),
    checksFact(task),
    ...firstFacts(of),
    ['Approval', mayAct(of) ? approvalText(plan, task, mode) : null, 'P'],
    ['Fallback', fallbackLine(of, glyphs)],
  ];
  return [
    ...factLines(of.editable ? facts : facts.map(([label, value]): Fact => [label, value]), width),
    ...(plan.reason === '' ? [] : [[], [tint('Why this plan', 'faint')], ...indented(plan.reason, width)]),
  ];
}

function treeFact({ task, choices }: Inspected): Fact {
  const text = ownTreeText(task, choices);
  return ['Works', text === null ? null : toLabel(text)];
}

const checksFact = (task: PlanTask): Fact => [
  'Checks',
  task.checks === undefined ? null : toLabel(checksText(task)),
  PLAN_EDITS.checks.keys[0],
];

/** The key stands there until the plan runs. */
function firstFacts({ first, task, taskState }: Inspected): readonly Fact[] {
  const isWaiting = taskState === null;
  const lines = first.length === 0 && isWaiting && task.checks !== undefined ? ['not tried'] : first;
  return lines.map(
    (line, at): Fact => (at === 0 ? ['Before', toLabel(line), isWaiting ? 'V' : ''] : ['', toLabel(line)]),
  );
}

function textFacts({ description }: PlanTask): readonly Fact[] {
  const lines = description.trimEnd().split('\n');
  return lines.map((text, at) => [at === 0 ? 'Task' : '', [tint(text, 'title')], at === lines.length - 1 ? 'e' : '']);
}

const MOST_FALLBACKS = 4;

function fallbackLine({ task, choices }: Inspected, glyphs: Glyphs): Line {
  const chain = choices?.roles.find(({ name }) => name === task.role)?.fallbacks ?? [];
  const others = chain.filter(({ model }) => model !== task.model.used && model !== task.model.asked);
  if (others.length === 0) return [];
  const shown = others.slice(0, MOST_FALLBACKS);
  const able = shown.filter(({ whyNot }) => whyNot === null);
  const words = able.map(({ model }) => modelName(model)).join(` ${glyphs.arrow} `);
  const struck = shown.flatMap(({ model, whyNot }) =>
    whyNot === null ? [] : [`  ${glyphs.status.failed} ${modelName(model)} (${whyNot})`],
  );
  const more = others.length > shown.length ? ` ${glyphs.ellipsis}` : '';
  const none = able.length === 0;
  return [tint(none ? 'none' : words + more, none ? 'warn' : 'fg'), tint(struck.join(''), 'faint')];
}

function rangeFacts({ task, choices }: Inspected, width: number, glyphs: Glyphs): readonly Fact[] {
  if (choices === null) return [];
  const { tokens, cost, seconds, because: why } = rangeOf(task, choices);
  const to = toSign(glyphs);
  const parts = [
    ...(cost === null || cost.high === 0 ? [] : [`${formatCost(cost.low)} ${to} ${formatCost(cost.high)}`]),
    `${formatTokens(tokens.low)} ${to} ${formatTokens(tokens.high)} tok`,
    `${formatRoughly(seconds.low * 1000)} ${to} ${formatRoughly(seconds.high * 1000)}`,
  ];
  const rows = whole(parts, ` ${glyphs.dot} `, Math.max(1, width - LABEL));
  const last = rows.at(-1) ?? '';
  const fits = widthOf(last) + widthOf(why) + 2 + LABEL <= width;
  const lines: readonly Line[] = [
    ...rows.slice(0, -1).map((text): Line => [tint(text, 'muted')]),
    [tint(last, 'muted'), tint(fits ? `  ${why}` : '', 'faint')],
    ...(fits ? [] : [[tint(why, 'faint')] as const]),
  ];
  return lines.map((line, index) => [index === 0 ? 'Range' : '', line]);
}

/** Parts joined into rows of at most `width` columns, none of them broken. */
const whole = (parts: readonly string[], between: string, width: number): readonly string[] =>
  parts.reduce<readonly string[]>((rows, part) => {
    const joined = `${rows.at(-1) ?? ''}${between}${part}`;
    return rows.length > 0 && widthOf(joined) <= width ? [...rows.slice(0, -1), joined] : [...rows, part];
  }, []);

const can = ({ task, choices }: Inspected, what: Capability, unknown = false): boolean =>
  choices?.roles.find(({ name }) => name === task.role)?.capabilities.includes(what) ?? unknown;

/** True if the role may change files or run commands, so that permissions matter. */
const mayAct = (of: Inspected): boolean => can(of, 'write', true) || can(of, 'shell', true);

const UNKNOWN_PRICE = 'Price unknown: only the token limit applies';
const FOREIGN_COST = 'Cost is told afterwards: only the time limit applies';

/** Warnings before the plan is accepted: price, budget, critical path. */
function noteFacts({ plan, task, choices, critical }: Inspected): readonly Fact[] {
  const waits = dependantsOf(plan, task.id).length;
  const fit = choices === null ? 'fits' : fitOf(rangeOf(task, choices), task.budget);
  const notes: readonly (readonly [holds: boolean, text: string])[] = [
    [task.estimatedCost === null, isForeign(task.model.used) ? FOREIGN_COST : UNKNOWN_PRICE],
    [task.maySpawn, 'May spawn child agents'],
    [fit === 'does not fit', 'Budget is below the likely use (b)'],
    [fit === 'may not fit', 'Budget may be too low (b)'],
    [critical && waits > 0, 'On the critical path'],
  ];
  return notes
    .filter(([holds]) => holds)
    .map(([, text], at) => [at === 0 ? 'Note' : '', [strong('! ', 'warn'), tint(text, 'fg')]]);
}

const indented = (text: string, width: number): readonly Line[] =>
  wrapText(text, Math.max(1, width - 1), { fg: 'muted' }).map((line) => [span(' '), ...line]);

const was = (of: Inspected, pick: (task: PlanTask) => string): readonly Span[] =>
  of.before === null || pick(of.before) === pick(of.task) ? [] : [tint(`  (was ${pick(of.before)})`, 'warn')];

/** The used model, after the requested one where they differ. `before`: the model before a person's change. */
const modelLine = ({ asked, used, because }: ModelChoice, glyphs: Glyphs, before: readonly Span[] = []): Line =>
  because === null
    ? [tint(modelName(asked), before.length > 0 ? 'warn' : 'fg'), ...before]
    : [tint(modelName(asked), 'muted'), tint(` ${glyphs.arrow} `, 'faint'), tint(modelName(used), 'warn'), ...before];

const becauseFact = ({ because }: ModelChoice): Fact => [
  '',
  because === null ? null : [tint(toLabel(because), 'muted')],
];

/** `$0.50 · 64k tok · 10m`; empty where nothing is limited. */
const limitsText = ({ maxCost, maxTokens, maxDuration }: Budget, { dot }: Glyphs): string =>
  [
    ...(maxCost === undefined ? [] : [formatLimit(maxCost)]),
    ...(maxTokens === undefined ? [] : [`${formatTokens(maxTokens)} tok`]),
    ...(maxDuration === undefined ? [] : [formatTimeLimit(maxDuration)]),
  ].join(` ${dot} `);

/** `22k tok · $0.09 · 3m 12s`. */
function estimateText(of: Estimated, { dot }: Glyphs): string {
  const time = formatDuration(of.estimatedSeconds * 1000);
  return [`${formatTokens(of.estimatedTokens)} tok`, formatCost(of.estimatedCost), time].join(` ${dot} `);
}

type Estimated = Pick<PlanTask, 'estimatedTokens' | 'estimatedCost' | 'estimatedSeconds'>;

/** `#1 finder, #3 rush`, or `none`. */
function tasksLine(plan: SoundPlan, ids: readonly string[]): Line {
  const found = plan.tasks.flatMap((task, index) => (ids.includes(task.id) ? [{ task, index }] : []));
  if (found.length === 0) return [tint('none', 'faint')];
  return found.flatMap(
    ({ task, index }, at): Line => [
      tint(`${at === 0 ? '' : ', '}#${index + 1} `, 'muted'),
      tint(task.role, `role:${task.role}`),
    ],
  );
}

// The mandatory reviews of a plan: rows below its tasks, and the details of one of them.

/** The mandatory reviews of a plan, in its order. */
export const forcedOf = ({ forced }: SoundPlan): readonly MandatoryReview[] => forced ?? [];

/** Rows of the reviews below a list of `height` rows: a title and one each, at most a third of the list. */
export function forcedHeight(plan: SoundPlan, height: number): number {
  const count = forcedOf(plan).length;
  return count === 0 || height < 2 ? 0 : Math.min(count + 1, Math.max(1, Math.floor(height / 3)));
}

interface Shares {
  readonly tasks: number;
  /** 1 for an empty row between tasks and reviews. */
  readonly gap: number;
  readonly forced: number;
}

export function sharesOf(plan: SoundPlan, height: number, rows: number): Shares {
  const forced = forcedHeight(plan, height);
  const tasks = Math.min(height - forced, plan.tasks.length * rows);
  return { tasks, gap: Math.min(1, height - forced - tasks), forced };
}

/** The index of the review in a row of `forcedRows`; null for the title, and where there is none. */
export function forcedAt(plan: SoundPlan, selected: number, height: number, row: number): number | null {
  const { first, rows, top } = windowOf(forcedOf(plan).length, selected, height);
  const at = top + row - first;
  return row < first || row >= first + rows || at >= forcedOf(plan).length ? null : at;
}

/** The window of visible reviews; the title takes a row unless there is only one row. */
function windowOf(count: number, selected: number, height: number): { first: number; rows: number; top: number } {
  const first = height > 1 ? 1 : 0;
  const rows = Math.max(0, height - first);
  return { first, rows, top: windowTop(Math.max(0, selected), count, rows) };
}

/** `selected`: the index of a review, negative when none is; `rows` and `compact` as in the list above. */
type ReviewRows = Pick<PlanList, 'plan' | 'selected' | 'rows' | 'compact' | 'focused'>;

/** Exactly `height` lines of exactly `width` columns. */
export function forcedRows(of: ReviewRows, width: number, height: number, glyphs: Glyphs): readonly Line[] {
  const forced = forcedOf(of.plan);
  if (height < 1) return [];
  const { first, rows, top } = windowOf(forced.length, of.selected, height);
  const hidden = forced.length - rows;
  const more = hidden > 0 ? `  ${top + 1}-${Math.min(forced.length, top + rows)} of ${forced.length}` : '';
  const title: Line = [tint(` ${glyphs.light.horizontal} Required by policy`, 'muted'), tint(more, 'faint')];
  const lines = forced.slice(top, top + rows).map((node, row) => rowOf(node, top + row, of, width, glyphs));
  return [...(first > 0 ? [title] : []), ...lines].map((line) => fit(line, width));
}

/** `▣ security ×3  after tasks that write     opus-4.5   18k  $0.08`, with the figures of all its runs. */
function rowOf(node: MandatoryReview, index: number, of: ReviewRows, width: number, glyphs: Glyphs): Line {
  const on = index === of.selected;
  const times = node.runs > 1 ? ` ${timesSign(glyphs)}${node.runs}` : '';
  const left: Line = [
    tint(on ? glyphs.selected : ' ', of.focused ? 'focus' : 'muted'),
    strong(`${glyphs.lock} `, 'warn'),
    strong(node.role, `role:${node.role}`),
    tint(`${times}  ${triggerWords(node.triggers)}`, on ? 'fg' : 'muted'),
  ];
  // The figures are aligned with those of the tasks. The trigger is cut, since the inspector shows it as well.
  const { model } = listColumns(of.plan, width, of.rows, of.compact);
  const end = figures(node, width, glyphs, model === 0 ? 13 : model);
  const line = spread(left, end, width);
  return on ? restyle(fit(line, width), { bg: 'selection' }) : line;
}

/** The model in `room` columns, and tokens and cost of all runs; empty in a very narrow list. */
function figures(node: MandatoryReview, width: number, glyphs: Glyphs, room: number): Line {
  if (width < 40) return [];
  const text = fittingModel(node.model, room - 1, glyphs);
  return [
    tint(fitText(text, room), node.model.because === null ? 'muted' : 'warn'),
    tint(formatTokens(node.estimatedTokens * node.runs).padStart(6), 'muted'),
    ...(width < 56 ? [] : [tint(costOf(node).padStart(9), 'fg')]),
  ];
}

const timesSign = ({ ellipsis }: Glyphs): string => (ellipsis === '…' ? '×' : 'x');

const costOf = ({ estimatedCost, runs }: MandatoryReview): string =>
  formatCost(estimatedCost === null ? null : estimatedCost * runs);

/** All details of a mandatory review in lines of at most `width` columns. */
export function forcedLines(plan: SoundPlan, node: MandatoryReview, width: number, glyphs: Glyphs): readonly Line[] {
  const { runs } = node;
  const all = `${formatTokens(node.estimatedTokens * runs)} tok ${glyphs.dot} ${costOf(node)}`;
  const limits = limitsText(node.budget, glyphs);
  const facts: readonly Fact[] = [
    ['', [strong(`${glyphs.lock} Required by policy`, 'warn')]],
    ['Rule', toLabel(node.because)],
    ['Runs', triggerWords(node.triggers)],
    ['After', afterWords(plan, node)],
    ['Model', modelLine(node.model, glyphs)],
    becauseFact(node.model),
    ['Estimate', `${estimateText(node, glyphs)} each`],
    ['', runs === 1 ? null : `${timesSign(glyphs)} ${runs} runs = ${all}`],
    ['Budget', limits === '' ? 'shared with the run' : `${limits}${runs === 1 ? '' : ' each'}, reserved`],
    [
      'On fail',
      node.onFailure === 'block'
        ? [tint('blocks: the changes are not handed over', 'err')]
        : [tint('reports it; the run continues', 'warn')],
    ],
  ];
  return factLines(facts, width);
}

/** `#4 refactoring, #5 tester`. */
const afterWords = (plan: SoundPlan, { after }: MandatoryReview): string =>
  plan.tasks.flatMap(({ id, role }, index) => (after.includes(id) ? [`#${index + 1} ${role}`] : [])).join(', ');
