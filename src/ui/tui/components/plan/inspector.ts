/** Everything about one task of a plan, with the key that changes each part. A list of lines; the pane scrolls it. */
import { expectedTask } from '../../../../app/views/spending/expected-plan.ts';
import { setAlongside, setWrites } from '../../../../app/actions/index.ts';
import { withoutAsking } from '../../../../app/views/permissions.ts';
import { mayChange, orderLines } from '../../../../app/views/plan-order.ts';
import { effortText } from '../../../../app/views/effort.ts';
import type { PlanChoices, PlanTask, SoundPlan } from '../../../../domain/plan/plan.ts';
import { dependantsOf } from '../../../../domain/plan/plan-view.ts';
import { fitOf, rangeOf } from '../../../../domain/plan/estimate-range.ts';
import { modelName } from '../../../../app/views/agents/agent-lines.ts';
import {
  formatCost,
  formatDuration,
  formatLimit,
  formatRoughly,
  formatTokens,
} from '../../../../app/views/text/format.ts';
import type { Glyphs } from '../../text/glyphs.ts';
import { span } from '../../../../app/views/text/clip.ts';
import type { Line, Span } from '../../../../app/views/text/line.ts';
import { widthOf } from '../../../../app/views/text/width.ts';
import { wrap, wrapText } from '../../../../app/views/text/wrap.ts';
import type { Standing } from './status.ts';
import { formatMoney, toSign } from './totals.ts';

export interface Inspected {
  readonly plan: SoundPlan;
  readonly task: PlanTask;
  readonly choices: PlanChoices | null;
  /** Where its agent stands; null while nothing runs. */
  readonly standing: Standing | null;
  /** It decides when everything ends. */
  readonly critical: boolean;
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
  const changes = mayChange(task, canWrite(of));
  return [
    ...standingLines(of, width),
    ...field('Role', [span(task.role, { fg: `role:${task.role}` }), ...was(of, ({ role }) => role)], 'r'),
    ...field('Model', modelLine(of, glyphs), 'M'),
    ...because(task, width),
    ...fallbackLines(of, width, glyphs),
    ...effortLines(of, width),
    ...field('Budget', [span(budgetText(task, glyphs), { fg: 'fg' })], 'b'),
    ...field('Estimate', [span(estimateText(of, glyphs), { fg: 'fg' })], ''),
    ...likelyLines(of, width, glyphs),
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
    ...(changes === null ? [] : field('Writes', [span(changes, { fg: 'fg' })], setWrites.keys[0] ?? '')),
    ...orderLines(plan, task).flatMap((line, at) =>
      field(at === 0 ? 'Order' : '', [span(line, { fg: 'fg' })], at === 0 ? (setAlongside.keys[0] ?? '') : ''),
    ),
    ...(mayAct(of) ? field('May do', [span(mayDo(of), { fg: 'fg' })], 'P') : []),
    ...watchLines(of, width),
    gap,
    taskTitle(of, glyphs),
    ...indented(task.description, width, 'fg'),
    ...(plan.reason === ''
      ? []
      : [gap, [span('Why this plan', { fg: 'faint' })] as const, ...indented(plan.reason, width, 'muted')]),
  ];
}

function effortLines(of: Inspected, width: number): readonly Line[] {
  const text = effortText(of.task, of.choices);
  const before = was(of, ({ effort }) => effort ?? 'unset');
  if (text === null && before.length === 0) return [];
  return row('Effort', [span(text ?? 'unset', { fg: 'fg' }), ...before], '', width);
}

const KEY = { fg: 'focus' } as const;

function taskTitle({ editable }: Inspected, { dot }: Glyphs): Line {
  const title = span('Task', { fg: 'faint' });
  const words = (text: string): Span => span(text, { fg: 'muted' });
  return editable ? [title, span('  e', KEY), words(` edit ${dot} `), span('E', KEY), words(' in $EDITOR')] : [title];
}

const standingLines = ({ standing }: Inspected, width: number): readonly Line[] =>
  standing === null
    ? []
    : row(
        'Agent',
        [
          span(`${standing.sign} `, { fg: standing.ink, bold: true }),
          span(standing.words, { fg: standing.stuck ? 'err' : 'fg' }),
        ],
        '',
        width,
      );

/** Most entries of a chain that are shown: who needs more of them has other worries. */
const MOST_FALLBACKS = 4;

/** What it goes on with when its model can't be reached; what the rules strike out, and why. */
function fallbackLines({ task, choices }: Inspected, width: number, glyphs: Glyphs): readonly Line[] {
  const chain = choices?.roles.find(({ name }) => name === task.role)?.fallbacks ?? [];
  const others = chain.filter(({ model }) => model !== task.model.used && model !== task.model.asked);
  if (others.length === 0) return [];
  const shown = others.slice(0, MOST_FALLBACKS);
  const able = shown.filter(({ whyNot }) => whyNot === null);
  const words = able.map(({ model }) => modelName(model)).join(` ${glyphs.arrow} `);
  const struck = shown.flatMap(({ model, whyNot }) =>
    whyNot === null
      ? []
      : row(
          '',
          [span(`${glyphs.status.failed} ${modelName(model)}  `, { fg: 'faint' }), span(whyNot, { fg: 'warn' })],
          '',
          width,
        ),
  );
  const more = others.length > shown.length ? ` ${glyphs.ellipsis}` : '';
  const none = able.length === 0;
  return [...row('Fallback', [span(none ? 'none' : words + more, { fg: none ? 'warn' : 'fg' })], '', width), ...struck];
}

/** The range that it will probably end in, and how one knows. */
function likelyLines({ task, choices }: Inspected, width: number, glyphs: Glyphs): readonly Line[] {
  if (choices === null) return [];
  const { tokens, cost, seconds, because: why } = rangeOf(task, choices);
  const to = toSign(glyphs);
  const parts = [
    ...(cost === null || cost.high === 0 ? [] : [`${formatMoney(cost.low)} ${to} ${formatMoney(cost.high)}`]),
    `${formatTokens(tokens.low)} ${to} ${formatTokens(tokens.high)} tok`,
    `${formatRoughly(seconds.low * 1000)} ${to} ${formatRoughly(seconds.high * 1000)}`,
  ];
  const rows = whole(parts, ` ${glyphs.dot} `, Math.max(1, width - LABEL));
  const last = rows.at(-1) ?? '';
  const fits = widthOf(last) + widthOf(why) + 2 + LABEL <= width;
  const lines: readonly Line[] = [
    ...rows.slice(0, -1).map((text): Line => [span(text, { fg: 'muted' })]),
    [span(last, { fg: 'muted' }), span(fits ? `  ${why}` : '', { fg: 'faint' })],
    ...(fits ? [] : [[span(why, { fg: 'faint' })] as const]),
  ];
  return lines.flatMap((line, index) => row(index === 0 ? 'Likely' : '', line, '', width));
}

/** Parts joined into rows of at most `width` columns: no part is broken while one fits a row. */
function whole(parts: readonly string[], between: string, width: number): readonly string[] {
  return parts.reduce<readonly string[]>((rows, part) => {
    const joined = `${rows.at(-1) ?? ''}${between}${part}`;
    return rows.length > 0 && widthOf(joined) <= width ? [...rows.slice(0, -1), joined] : [...rows, part];
  }, []);
}

const canWrite = ({ task, choices }: Inspected): boolean =>
  choices?.roles.find(({ name }) => name === task.role)?.capabilities.includes('write') ?? false;

/** Nothing is to be decided of a role that neither changes files nor runs commands. */
function mayAct({ task, choices }: Inspected): boolean {
  const role = choices?.roles.find(({ name }) => name === task.role);
  return role === undefined || role.capabilities.some((one) => one === 'write' || one === 'shell');
}

/** `edits without asking`; `nothing without asking`. */
const mayDo = ({ plan, task }: Inspected): string => `${withoutAsking(plan, task)} without asking`;

/** What a person should look at before accepting it; nothing where all is as usual. */
function watchLines(of: Inspected, width: number): readonly Line[] {
  const { plan, task, choices, critical } = of;
  const waits = dependantsOf(plan, task.id).length;
  const fit = choices === null ? 'fits' : fitOf(rangeOf(task, choices), task.budget);
  const words = [
    ...(task.estimatedCost === null ? ['its price is not known: only tokens limit it'] : []),
    ...(task.maySpawn ? ['it may start agents of its own'] : []),
    ...(fit === 'does not fit' ? ['its budget is below what it will likely use (b)'] : []),
    ...(fit === 'may not fit' ? ['its budget may not be enough (b)'] : []),
    ...(critical && waits > 0 ? ['on the critical path: if it takes longer, so does the run'] : []),
  ];
  return words.flatMap((text, index) =>
    row(index === 0 ? 'Watch' : '', [span('! ', { fg: 'warn', bold: true }), span(text, { fg: 'fg' })], '', width),
  );
}

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

/** What is likely, corrected by recorded runs where there are enough: it lies in the range below it. */
const estimateText = (of: Inspected, { dot }: Glyphs): string => {
  const task = expectedTask(of.task, of);
  return [
    `${formatTokens(task.estimatedTokens)} tok`,
    formatCost(task.estimatedCost),
    formatDuration(task.estimatedSeconds * 1000),
  ].join(` ${dot} `);
};

/** `1 finder, 3 rush` as dependencies are written, or a dash. */
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
