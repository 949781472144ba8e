/** When each task and each review would run, as bars under the number that may run at once: what "in parallel" buys, at a glance. */
import { reviewsOf, scheduleOf, type Slot } from '../../../../domain/plan/plan-view.ts';
import type { SoundPlan } from '../../../../domain/plan/plan.ts';
import { formatDuration } from '../../../../app/views/text/format.ts';
import type { Glyphs } from '../../text/glyphs.ts';
import { fit, fitText, restyle, span } from '../../../../app/views/text/clip.ts';
import type { Line, Span } from '../../../../app/views/text/line.ts';
import { widthOf } from '../../../../app/views/text/width.ts';

const LABEL = 12;
const TIME = 8;

export interface ScheduleView {
  readonly plan: SoundPlan;
  readonly maxParallel: number;
  /** Index of the task that is marked. */
  readonly selected: number;
  readonly focused: boolean;
}

/**
 * Exactly `height` lines or fewer of exactly `width` columns: a window of the tasks around the selected one, and where there is
 * a row to spare, the time below them.
 */
export function scheduleLines(of: ScheduleView, width: number, height: number, glyphs: Glyphs): readonly Line[] {
  const rows = rowsOf(of.plan, of.maxParallel);
  const total = rows.reduce((end, { bars }) => Math.max(end, ...bars.map((bar) => bar.end)), 1);
  const digits = String(of.plan.tasks.length).length + 1;
  const label = width < 50 ? 6 : LABEL;
  const room = Math.max(1, width - digits - 1 - label - TIME);
  // Rather one task more than the time below them, but where they don't fit anyway.
  const shown = height > rows.length || (height >= 8 && rows.length > height + 2) ? height - 1 : height;
  const top = windowTop(of.selected, rows.length, shown);
  const lines = rows.slice(top, top + Math.max(0, shown)).map((row, index): Line => {
    const chosen = top + index === of.selected;
    const sign = row.number === null ? glyphs.lock : String(row.number);
    const line: Line = [
      span(`${fitText(sign, digits, 'right')} `, { fg: chosen ? 'focus' : 'faint', bold: chosen }),
      span(`${fitText(row.role, label - 1, 'left', glyphs.ellipsis)} `, { fg: `role:${row.role}`, bold: chosen }),
      ...barsOf(row, total, room, glyphs),
      span(fitText(row.bars.length === 0 ? '' : formatDuration(row.seconds * 1000), TIME, 'right'), {
        fg: chosen ? 'fg' : 'muted',
      }),
    ];
    return restyle(fit(line, width), chosen && of.focused ? { bg: 'selection' } : {});
  });
  if (shown === height || shown < 1) return lines;
  return [...lines, fit([span(' '.repeat(digits + 1 + label)), ...axis(total, room)], width)];
}

interface Row {
  readonly role: string;
  /** Of a task; null of a review that the rules add. */
  readonly number: number | null;
  readonly seconds: number;
  readonly bars: readonly Pick<Slot, 'start' | 'end' | 'critical'>[];
}

/** The tasks, then the reviews that the rules add, each with a bar for every run of it. */
function rowsOf(plan: SoundPlan, maxParallel: number): readonly Row[] {
  const slots = scheduleOf(plan, maxParallel);
  const reviews = reviewsOf(plan, maxParallel);
  const last = slots.reduce((end, slot) => Math.max(end, slot.end), 0);
  const tasks = plan.tasks.map(({ role, estimatedSeconds: seconds }, index): Row => {
    const slot = slots[index] ?? { start: 0, end: 0, critical: false };
    return { role, number: index + 1, seconds, bars: [slot] };
  });
  const forced = (plan.forced ?? []).map(({ role, runs, estimatedSeconds }, node): Row => {
    // What comes when all tasks are done decides when everything ends.
    const bars = reviews.flatMap((one) => (one.node === node ? [{ ...one, critical: one.start >= last }] : []));
    return { role, number: null, seconds: runs * estimatedSeconds, bars };
  });
  return [...tasks, ...forced];
}

/** Nothing, the bars and nothing: thick where the chain leads that decides when everything ends. */
function barsOf({ role, bars }: Row, total: number, room: number, glyphs: Glyphs): Line {
  const [critical, other, none] = glyphs.bar;
  const line: Span[] = [];
  let at = 0;
  for (const { start, end, critical: decides } of bars.toSorted((a, b) => a.start - b.start)) {
    const from = Math.max(at, Math.min(room - 1, Math.round((start / total) * room)));
    const to = Math.max(from + 1, Math.min(room, Math.round((end / total) * room)));
    if (to > room) break;
    line.push(span(none.repeat(from - at), { fg: 'border' }));
    line.push(span((decides ? critical : other).repeat(to - from), { fg: `role:${role}` }));
    at = to;
  }
  return [...line, span(none.repeat(room - at), { fg: 'border' })];
}

const DAY = 86_400;
/** Seconds that a mark may be away from the next; beyond, whole days. */
const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 43_200, DAY] as const;
/** Columns between two marks, at least: the label and a gap. */
const GAP = 12;

/** `0s         1m         2m`: each mark begins where its time is. */
function axis(total: number, room: number): Line {
  const step = STEPS.find((each) => (each / total) * room >= GAP) ?? Math.ceil((total * GAP) / room / DAY) * DAY;
  let text = '';
  for (let at = 0; at <= total; at += step) {
    const mark = axisMark(at);
    const x = Math.round((at / total) * room);
    if (x + widthOf(mark) > room) break;
    text = text.padEnd(x) + mark;
  }
  return [span(text, { fg: 'faint' })];
}

/** `30s`, `2m`, `1h`: whole where it is. */
function axisMark(seconds: number): string {
  if (seconds > 0 && seconds % 3600 === 0) return `${seconds / 3600}h`;
  return seconds > 0 && seconds % 60 === 0 ? `${seconds / 60}m` : formatDuration(seconds * 1000);
}

/** First entry of a window of `height` in which the selected one stands in the middle where it can. */
export const windowTop = (selected: number, count: number, height: number): number =>
  Math.max(0, Math.min(selected - Math.floor(height / 2), count - height));
