/** Everything about one task of a plan, with the key that changes each part. A list of lines; the pane scrolls it. */
import type { PlanTask, SoundPlan } from '../../domain/plan.ts';
import { dependantsOf } from '../../domain/plan-view.ts';
import { modelName } from '../agents.ts';
import { formatCost, formatDuration, formatLimit, formatTokens } from '../format.ts';
import type { Glyphs } from '../glyphs.ts';
import { span } from '../text/clip.ts';
import type { Line, Span } from '../text/line.ts';
import { wrap, wrapText } from '../text/wrap.ts';

export interface Inspected {
  readonly plan: SoundPlan;
  readonly task: PlanTask;
  /** The task as it was proposed; null when it is new. */
  readonly before: PlanTask | null;
  /** False when nothing can be changed any more: the keys are left out. */
  readonly editable: boolean;
}

const LABEL = 10;

/** Lines of at most `width` columns, as many as it takes. */
export function inspectorLines(of: Inspected, width: number, glyphs: Glyphs): readonly Line[] {
  const { plan, task } = of;
  const field = (label: string, value: Line, key: string): readonly Line[] =>
    row(label, value, of.editable ? key : '', width);
  const gap: Line = [];
  const narrow = width < 56;
  return [
    ...(narrow ? [gap] : []),
    ...field('Role', [span(task.role, { fg: `role:${task.role}` }), ...was(of, ({ role }) => role)], 'r'),
    ...field('Model', modelLine(of, glyphs), 'M'),
    ...because(task, width),
    ...field('Budget', [span(budgetText(task, glyphs), { fg: 'fg' })], 'b'),
    ...field('Estimate', [span(estimateText(task, glyphs), { fg: 'fg' })], ''),
    ...field('Tools', [span(task.tools.join(', ') || 'none', { fg: 'fg' })], 't'),
    ...field('Needs', tasksLine(plan, task.dependsOn), 'D'),
    ...field(
      'Unlocks',
      tasksLine(
        plan,
        dependantsOf(plan, task.id).map(({ id }) => id),
      ),
      '',
    ),
    ...(task.writes.length === 0 ? [] : field('Writes', [span(task.writes.join(', '), { fg: 'fg' })], '')),
    ...(task.maySpawn ? field('Spawns', [span('may start agents of its own', { fg: 'warn' })], '') : []),
    gap,
    [span('Task', { fg: 'faint' }), ...(of.editable ? [span('  e', KEY), span(' edit', { fg: 'muted' })] : [])],
    ...indented(task.description, width, 'fg'),
    ...(plan.reason === ''
      ? []
      : [gap, [span('Why this plan', { fg: 'faint' })] as const, ...indented(plan.reason, width, 'muted')]),
  ];
}

const KEY = { fg: 'focus' } as const;

const indented = (text: string, width: number, fg: 'fg' | 'muted'): readonly Line[] =>
  wrapText(text, Math.max(1, width - 1), { fg }).map((line) => [span(' '), ...line]);

/** A label and its value; what is too long goes on below the value. */
function row(label: string, value: Line, key: string, width: number): readonly Line[] {
  const end: Line = key === '' ? [] : [span(`  ${key}`, KEY)];
  const lines = wrap([...value, ...end], Math.max(1, width - LABEL));
  return lines.map((line, index) => [
    span(index === 0 ? label.padEnd(LABEL) : ' '.repeat(LABEL), { fg: 'faint' }),
    ...line,
  ]);
}

const was = (of: Inspected, pick: (task: PlanTask) => string): readonly Span[] =>
  of.before === null || pick(of.before) === pick(of.task) ? [] : [span(`  (was ${pick(of.before)})`, { fg: 'warn' })];

function modelLine(of: Inspected, glyphs: Glyphs): Line {
  const { asked, used, because } = of.task.model;
  const before = was(of, ({ model }) => modelName(model.asked));
  if (because === null) return [span(modelName(asked), { fg: before.length > 0 ? 'warn' : 'fg' }), ...before];
  return [
    span(modelName(asked), { fg: 'muted' }),
    span(` ${glyphs.arrow} `, { fg: 'faint' }),
    span(modelName(used), { fg: 'warn' }),
    ...before,
  ];
}

const because = (task: PlanTask, width: number): readonly Line[] =>
  task.model.because === null ? [] : row('', [span(task.model.because, { fg: 'muted' })], '', width);

function budgetText(task: PlanTask, glyphs: Glyphs): string {
  const { maxTokens, maxCost, maxDuration } = task.budget;
  const parts = [
    ...(maxCost === undefined ? [] : [formatLimit(maxCost)]),
    ...(maxTokens === undefined ? [] : [`${formatTokens(maxTokens)} tok`]),
    ...(maxDuration === undefined ? [] : [formatDuration(maxDuration)]),
  ];
  return parts.join(` ${glyphs.dot} `) || 'no limit of its own';
}

const estimateText = (task: PlanTask, { dot }: Glyphs): string =>
  [
    `${formatTokens(task.estimatedTokens)} tok`,
    formatCost(task.estimatedCost),
    formatDuration(task.estimatedSeconds * 1000),
  ].join(` ${dot} `);

/** `1 finder, 3 rush` as dependencies are written (CONTRACT D21), or a dash. */
function tasksLine(plan: SoundPlan, ids: readonly string[]): Line {
  const found = plan.tasks.flatMap((task, index) => (ids.includes(task.id) ? [{ task, index }] : []));
  if (found.length === 0) return [span('nothing', { fg: 'faint' })];
  return found.flatMap(
    ({ task, index }, at): Line => [
      span(`${at === 0 ? '' : ', '}#${index + 1} `, { fg: 'muted' }),
      span(task.role, { fg: `role:${task.role}` }),
    ],
  );
}
