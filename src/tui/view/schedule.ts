/** When each task would run, as bars under the number that may run at once: what "in parallel" buys, at a glance. */
import { scheduleOf } from '../../domain/plan-view.ts';
import type { PlanTask, SoundPlan } from '../../domain/plan.ts';
import { formatDuration } from '../format.ts';
import type { Glyphs } from '../glyphs.ts';
import { fit, fitText, span } from '../text/clip.ts';
import type { Line, Style } from '../text/line.ts';

const LABEL = 12;
const TIME = 8;

export interface ScheduleView {
  readonly plan: SoundPlan;
  readonly maxParallel: number;
  /** Index of the task that is marked. */
  readonly selected: number;
}

/** Exactly `height` lines or fewer of exactly `width` columns: a window of the tasks around the selected one. */
export function scheduleLines(of: ScheduleView, width: number, height: number, glyphs: Glyphs): readonly Line[] {
  const slots = scheduleOf(of.plan, of.maxParallel);
  const total = slots.reduce((end, slot) => Math.max(end, slot.end), 1);
  const digits = String(of.plan.tasks.length).length + 1;
  const room = Math.max(1, width - digits - 1 - LABEL - TIME);
  const top = windowTop(of.selected, of.plan.tasks.length, height);
  return of.plan.tasks.slice(top, top + Math.max(0, height)).map((task, row): Line => {
    const index = top + row;
    const slot = slots[index] ?? { start: 0, end: 0, critical: false };
    const from = Math.min(room - 1, Math.round((slot.start / total) * room));
    const to = Math.max(from + 1, Math.min(room, Math.round((slot.end / total) * room)));
    const [critical, other, none] = glyphs.bar;
    const chosen: Style = index === of.selected ? { bold: true } : {};
    return fit(
      [
        span(`${fitText(String(index + 1), digits, 'right')} `, {
          fg: index === of.selected ? 'focus' : 'faint',
          ...chosen,
        }),
        span(fitText(shortRole(task), LABEL), { fg: `role:${task.role}`, ...chosen }),
        span(none.repeat(from), { fg: 'border' }),
        span((slot.critical ? critical : other).repeat(to - from), { fg: `role:${task.role}` }),
        span(none.repeat(room - to), { fg: 'border' }),
        span(fitText(formatDuration(task.estimatedSeconds * 1000), TIME, 'right'), { fg: 'muted' }),
      ],
      width,
    );
  });
}

/** First entry of a window of `height` in which the selected one stands in the middle where it can. */
export const windowTop = (selected: number, count: number, height: number): number =>
  Math.max(0, Math.min(selected - Math.floor(height / 2), count - height));

const shortRole = (task: PlanTask): string => fitText(task.role, LABEL - 1);
