/** When each task would run, as bars under the number that may run at once: what "in parallel" buys, at a glance. */
import { scheduleOf } from '../../domain/plan-view.ts';
import type { Slot } from '../../domain/plan-view.ts';
import type { PlanTask, SoundPlan } from '../../domain/plan.ts';
import { formatDuration } from '../format.ts';
import type { Glyphs } from '../glyphs.ts';
import { fit, fitText, restyle, span } from '../text/clip.ts';
import type { Line, Style } from '../text/line.ts';
import { widthOf } from '../text/width.ts';

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
  const { tasks } = of.plan;
  const slots = scheduleOf(of.plan, of.maxParallel);
  const total = slots.reduce((end, slot) => Math.max(end, slot.end), 1);
  const digits = String(tasks.length).length + 1;
  const label = width < 50 ? 6 : LABEL;
  const room = Math.max(1, width - digits - 1 - label - TIME);
  // Rather one task more than the time below them, but where they don't fit anyway.
  const rows = height > tasks.length || (height >= 8 && tasks.length > height + 2) ? height - 1 : height;
  const top = windowTop(of.selected, tasks.length, rows);
  const lines = tasks.slice(top, top + Math.max(0, rows)).map((task, row): Line => {
    const chosen = top + row === of.selected;
    const slot = slots[top + row] ?? { id: task.id, start: 0, end: 0, critical: false };
    const line: Line = [
      span(`${fitText(String(top + row + 1), digits, 'right')} `, { fg: chosen ? 'focus' : 'faint', bold: chosen }),
      span(`${fitText(task.role, label - 1, 'left', glyphs.ellipsis)} `, { fg: `role:${task.role}`, bold: chosen }),
      ...barOf(task, slot, total, room, glyphs),
      span(fitText(formatDuration(task.estimatedSeconds * 1000), TIME, 'right'), { fg: chosen ? 'fg' : 'muted' }),
    ];
    return restyle(fit(line, width), chosen && of.focused ? { bg: 'selection' } : {});
  });
  if (rows === height || rows < 1) return lines;
  return [...lines, fit([span(' '.repeat(digits + 1 + label)), ...axis(total, room)], width)];
}

/** Nothing, the bar and nothing: thick where the chain leads that decides when everything ends. */
function barOf(task: PlanTask, slot: Slot, total: number, room: number, glyphs: Glyphs): Line {
  const from = Math.min(room - 1, Math.round((slot.start / total) * room));
  const to = Math.max(from + 1, Math.min(room, Math.round((slot.end / total) * room)));
  const [critical, other, none] = glyphs.bar;
  const empty: Style = { fg: 'border' };
  return [
    span(none.repeat(from), empty),
    span((slot.critical ? critical : other).repeat(to - from), { fg: `role:${task.role}` }),
    span(none.repeat(room - to), empty),
  ];
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
