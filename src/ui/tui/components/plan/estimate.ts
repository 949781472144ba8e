/** Estimates of a plan: the row of its totals, the schedule as bars, and the remaining time of a run. */
import type { Ink, Line, Span } from '../../../../app/views/index.ts';
import { agentTime, expectedPlan, fit, fitText, formatCost, formatDuration } from '../../../../app/views/index.ts';
import { formatLimit, formatTokens, lineWidth, parallelOf, restyle, span } from '../../../../app/views/index.ts';
import { spread, widthOf } from '../../../../app/views/index.ts';
import { isAnswered } from '../../../../domain/agents/agent.ts';
import type { Budget } from '../../../../domain/budget.ts';
import type { Millis, TaskId } from '../../../../domain/ids.ts';
import { memoize } from '../../../../domain/memoize.ts';
import { totalRange } from '../../../../domain/plan/estimate.ts';
import { type PlanTotals, reviewsOf, scheduleOf, type Slot, totalsOf } from '../../../../domain/plan/plan-view.ts';
import type { PlanTask, SoundPlan } from '../../../../domain/plan/plan.ts';
import type { RunState } from '../../../../events/index.ts';
import { agentOfTask } from '../progress.ts';
import { strong, tint, windowTop } from '../../text/blocks.ts';
import type { Glyphs } from '../../text/glyphs.ts';

/** The limits of the run: those of the session over those of the policy. */
export const capOf = (state: RunState): Budget => ({ ...state.choices?.limits.run, ...state.budget });

/** Why the plan exceeds a limit of the run, with what can be done; null when it does not. */
export function overCap(plan: SoundPlan, state: RunState): string | null {
  const over = excess(totalsOf(expectedPlan(plan, state.choices), parallelOf(state)), capOf(state));
  if (over === null) return null;
  return `The estimate of ${over.asked} is over the budget of ${over.most}. Choose cheaper models (M, $), delete tasks (d) or raise the budget (B).`;
}

type Excess = NonNullable<ReturnType<typeof excess>>;

/** The first limit that the plan exceeds, with the amount over it; null when it exceeds none. */
function excess(totals: PlanTotals, cap: Budget) {
  const over = <What>(what: What, used: number, most: number | undefined, text: (n: number) => string) =>
    most === undefined || used <= most ? null : { what, asked: text(used), most: text(most), by: text(used - most) };
  return (
    over('cost' as const, totals.knownCost, cap.maxCost, formatCost) ??
    over('tokens' as const, totals.tokens, cap.maxTokens, (count) => `${formatTokens(count)} tokens`) ??
    over('time' as const, totals.seconds * 1000, cap.maxDuration, formatDuration)
  );
}

/** The sign between the ends of a range. */
export const toSign = ({ ellipsis }: Glyphs): string => (ellipsis === '…' ? '–' : '-');

/** The totals in exactly `width` columns; the range is left out first, then the time. */
export function totalsLine(plan: SoundPlan, state: RunState, width: number, glyphs: Glyphs): Line {
  const totals = totalsOf(expectedPlan(plan, state.choices), parallelOf(state));
  const over = excess(totals, capOf(state));
  const inkOf = (what: Excess['what'], usual: Ink): Ink => (over?.what === what ? 'err' : usual);
  const about = glyphs.ellipsis === '…' ? '≈ ' : '~ ';
  const cost = totals.cost === null ? `at least ${formatCost(totals.knownCost)}` : formatCost(totals.cost);
  const left: Line = [
    tint(width < 60 ? ' ' : ' Estimate ', 'muted'),
    strong(`${formatTokens(totals.tokens)} tokens`, inkOf('tokens', 'title')),
    tint(`  ${about}`, 'faint'),
    strong(cost, inkOf('cost', 'title')),
  ];
  const time: Line = [tint(`  ${about}`, 'faint'), tint(formatDuration(totals.seconds * 1000), inkOf('time', 'fg'))];
  const right = over === null ? capLine(state) : overLine(over, state, width, glyphs);
  const free = width - lineWidth(left) - lineWidth(time) - lineWidth(right) - 2;
  const range = rangeLine(plan, state, free, glyphs);
  const bar = [...left, ...range, ...(free >= 0 ? time : [])];
  return restyle(spread(bar, right, width), { bg: 'surface' });
}

/** `  (range $0.62 – $1.71, no history)`, as much of it as `room` holds; amber where its end is over the limit. */
function rangeLine(plan: SoundPlan, state: RunState, room: number, glyphs: Glyphs): Line {
  const expected = expectedOf(plan, state);
  if (expected?.cost == null || expected.cost.high === 0) return [];
  const { cost, because } = expected;
  const { maxCost } = capOf(state);
  const ink: Ink = maxCost !== undefined && cost.high > maxCost ? 'warn' : 'muted';
  const words = `${formatCost(cost.low)} ${toSign(glyphs)} ${formatCost(cost.high)}`;
  const whole: Line = [tint('  (range ', 'faint'), tint(words, ink), tint(`, ${because})`, 'faint')];
  if (lineWidth(whole) < room) return whole;
  const short: Line = [tint('  (range ', 'faint'), tint(words, ink), tint(')', 'faint')];
  return lineWidth(short) < room ? short : [];
}

/** The likely use of the plan, from three schedules; null where the models are unknown. */
const expectedOf = memoize(
  (plan: SoundPlan, state: RunState) => [plan, state.choices, parallelOf(state)],
  (plan, state) => (state.choices === null ? null : totalRange(plan, state.choices, parallelOf(state))),
);

function capLine(state: RunState): Line {
  const { maxCost, maxTokens } = capOf(state);
  const tokens = maxTokens === undefined ? null : `${formatTokens(maxTokens)} tokens`;
  const cap = maxCost === undefined ? tokens : formatLimit(maxCost);
  return cap === null ? [] : [tint('budget ', 'faint'), strong(`${cap} `, 'ok')];
}

/** The amount over the limit, with the keys that help. */
function overLine({ by }: Excess, { phase }: RunState, width: number, glyphs: Glyphs): Line {
  const over = strong(`${glyphs.status.failed} ${by} over budget `, 'err');
  if (phase !== 'approving' || width < 76) return [over];
  const cheaper: Line = width < 100 ? [] : [strong(' $', 'focus'), tint(' use cheaper models ', 'muted')];
  return [over, strong(' B', 'focus'), tint(' raise ', 'muted'), ...cheaper];
}

// The schedule: a bar for each run of a task or review, for the number of agents that may run at once.

const LABEL = 12;
const TIME = 8;

interface ScheduleView {
  readonly plan: SoundPlan;
  readonly maxParallel: number;
  /** Index of the task that is marked. */
  readonly selected: number;
  readonly focused: boolean;
}

/** At most `height` lines of exactly `width` columns: the tasks around the selected one, and a time axis where there is room. */
export function scheduleLines(of: ScheduleView, width: number, height: number, glyphs: Glyphs): readonly Line[] {
  const rows = rowsOf(of.plan, of.maxParallel);
  const total = rows.reduce((end, { bars }) => Math.max(end, ...bars.map((bar) => bar.end)), 1);
  const digits = String(of.plan.tasks.length).length + 1;
  const label = width < 50 ? 6 : LABEL;
  const room = Math.max(1, width - digits - 1 - label - TIME);
  // One more task is better than the axis, unless the tasks do not fit anyway.
  const shown = height > rows.length || (height >= 8 && rows.length > height + 2) ? height - 1 : height;
  const top = windowTop(of.selected, rows.length, shown);
  const lines = rows.slice(top, top + Math.max(0, shown)).map((row, index): Line => {
    const chosen = top + index === of.selected;
    const sign = row.number === null ? glyphs.lock : String(row.number);
    const line: Line = [
      span(`${fitText(sign, digits, 'right')} `, { fg: chosen ? 'focus' : 'faint', bold: chosen }),
      span(`${fitText(row.role, label - 1)} `, { fg: `role:${row.role}`, bold: chosen }),
      ...barsOf(row, total, room, glyphs),
      tint(
        fitText(row.bars.length === 0 ? '' : formatDuration(row.seconds * 1000), TIME, 'right'),
        chosen ? 'fg' : 'muted',
      ),
    ];
    return restyle(fit(line, width), chosen && of.focused ? { bg: 'selection' } : {});
  });
  if (shown === height || shown < 1) return lines;
  return [...lines, fit([span(' '.repeat(digits + 1 + label)), ...axis(total, room)], width)];
}

interface Row {
  readonly role: string;
  /** Number of a task; null for a review. */
  readonly number: number | null;
  readonly seconds: number;
  readonly bars: readonly Pick<Slot, 'start' | 'end' | 'critical'>[];
}

/** The tasks, then the mandatory reviews, each with a bar for each of its runs. */
function rowsOf(plan: SoundPlan, maxParallel: number): readonly Row[] {
  const slots = scheduleOf(plan, maxParallel);
  const reviews = reviewsOf(plan, maxParallel);
  const last = slots.reduce((end, slot) => Math.max(end, slot.end), 0);
  const tasks = plan.tasks.map(({ role, estimatedSeconds: seconds }, index): Row => {
    const slot = slots[index] ?? { start: 0, end: 0, critical: false };
    return { role, number: index + 1, seconds, bars: [slot] };
  });
  const forced = (plan.forced ?? []).map(({ role, runs, estimatedSeconds }, node): Row => {
    // A review after the last task is on the critical path.
    const bars = reviews.flatMap((one) => (one.node === node ? [{ ...one, critical: one.start >= last }] : []));
    return { role, number: null, seconds: runs * estimatedSeconds, bars };
  });
  return [...tasks, ...forced];
}

/** The bars of a row in `room` columns; thick on the critical path. */
function barsOf({ role, bars }: Row, total: number, room: number, glyphs: Glyphs): Line {
  const { critical, other, none } = glyphs.bar;
  const line: Span[] = [];
  let at = 0;
  for (const { start, end, critical: decides } of bars.toSorted((a, b) => a.start - b.start)) {
    const from = Math.max(at, Math.min(room - 1, Math.round((start / total) * room)));
    const to = Math.max(from + 1, Math.min(room, Math.round((end / total) * room)));
    if (to > room) break;
    line.push(tint(none.repeat(from - at), 'border'));
    line.push(tint((decides ? critical : other).repeat(to - from), `role:${role}`));
    at = to;
  }
  return [...line, tint(none.repeat(room - at), 'border')];
}

const DAY = 86_400;
/** Steps of the axis in seconds; longer ones are whole days. */
const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 43_200, DAY] as const;
/** Least columns between two marks, for the label and a gap. */
const GAP = 12;

/** `0s         1m         2m`: each mark begins at its time. */
function axis(total: number, room: number): Line {
  const step = STEPS.find((each) => (each / total) * room >= GAP) ?? Math.ceil((total * GAP) / room / DAY) * DAY;
  let text = '';
  for (let at = 0; at <= total; at += step) {
    const mark = axisMark(at);
    const x = Math.round((at / total) * room);
    if (x + widthOf(mark) > room) break;
    text = text.padEnd(x) + mark;
  }
  return [tint(text, 'faint')];
}

function axisMark(seconds: number): string {
  if (seconds > 0 && seconds % 3600 === 0) return `${seconds / 3600}h`;
  return seconds > 0 && seconds % 60 === 0 ? `${seconds / 60}m` : formatDuration(seconds * 1000);
}

// The remaining time of a run: the schedule of its open tasks with their estimates less the time worked. Computed once per second.

export interface Remaining {
  /** Of the whole plan; null without a plan, and where no task can run. */
  readonly left: Millis | null;
  /** Of each open task that can run; 0 for an agent that exceeds its estimate. */
  readonly byTask: ReadonlyMap<TaskId, Millis>;
  readonly critical: ReadonlySet<TaskId>;
}

const NOTHING: Remaining = { left: null, byTask: new Map(), critical: new Set() };

export function remainingOf(state: RunState, now: Millis): Remaining {
  const plan = state.plan === null ? null : expectedPlan(state.plan, state.choices);
  return plan === null || state.finished !== null ? NOTHING : remainingIn(state, plan, now);
}

const remainingIn = memoize(
  ({ agents }: RunState, plan: SoundPlan, now: Millis) => [agents, plan, Math.floor(now / 1000)],
  computed,
);

function computed(state: RunState, plan: SoundPlan, now: Millis): Remaining {
  const open = canRun(plan, state);
  const ids = new Set(open.map(({ id }) => id));
  const tasks = open.map(
    (task): PlanTask => ({
      ...task,
      dependsOn: task.dependsOn.filter((need) => ids.has(need)),
      after: (task.after ?? []).filter((one) => ids.has(one.task)),
      estimatedSeconds: secondsLeft(task, state, now),
    }),
  );
  // Started tasks have their slots already.
  const begun = tasks.filter(({ id }) => agentOfTask(state, id)?.runningSince != null);
  const ordered = [...begun, ...tasks.filter((task) => !begun.includes(task))];
  const slots = scheduleOf({ ...plan, tasks: ordered }, parallelOf(state));
  const end = slots.reduce((last, slot) => Math.max(last, slot.end), 0);
  return {
    left: open.length === 0 ? null : end * 1000,
    byTask: new Map(tasks.map(({ id, estimatedSeconds }) => [id, estimatedSeconds * 1000])),
    critical: new Set(slots.flatMap(({ id, critical }) => (critical ? [id] : []))),
  };
}

/** Open tasks without a failed dependency; the others take no time until a retry. */
function canRun({ tasks }: SoundPlan, state: RunState): readonly PlanTask[] {
  const dead = new Set<TaskId>();
  return tasks.filter(({ id, dependsOn }) => {
    const { outcome = null, firstRunAt = null } = agentOfTask(state, id) ?? {};
    // A started agent is not blocked by a later failure.
    const stuck = outcome === null && firstRunAt === null && dependsOn.some((need) => dead.has(need));
    if (stuck || (outcome !== null && !isAnswered(outcome))) dead.add(id);
    return outcome === null && !stuck;
  });
}

function secondsLeft(task: PlanTask, state: RunState, now: Millis): number {
  const agent = agentOfTask(state, task.id);
  const done = agent === null ? 0 : agentTime(agent, state, now) / 1000;
  return Math.max(0, Math.round(task.estimatedSeconds - done));
}
