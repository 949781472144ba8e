/** What happened in the run, one line each: a box of the last ones, or a ticker of one row. */
import type { LogLine } from '../../events/state.ts';
import { formatClock } from '../format.ts';
import type { Context } from '../screen.ts';
import { box } from '../text/box.ts';
import { fit, fitText, span } from '../text/clip.ts';
import type { Line } from '../text/line.ts';
import { toLabel } from '../text/sanitise.ts';
import { labelOf } from '../agents.ts';

const NAME = 13;

/** Exactly `height` lines of exactly `width` columns, the newest at the bottom. */
export function logPane(context: Context, width: number, height: number): readonly Line[] {
  const { log } = context.state;
  if (height <= 2)
    return Array.from({ length: height }, (_, row) => fit([span(' '), ...line(log.at(row - height), context)], width));
  const rows = log.slice(-(height - 2));
  return box({
    width,
    height,
    glyphs: context.glyphs,
    border: 'light',
    style: { fg: 'border' },
    title: [span('Log', { fg: 'muted', bold: true })],
    titleEnd: [span(`${log.length} ${log.length === 1 ? 'entry' : 'entries'}`, { fg: 'faint' })],
    body: rows.map((one) => line(one, context)),
  });
}

function line(one: LogLine | undefined, context: Context): Line {
  if (one === undefined) return [];
  const agent = one.agent === null ? undefined : context.state.agents.get(one.agent);
  const name = agent ? agent.name : one.agent === null ? 'run' : labelOf(context.state, one.agent);
  const ink = one.level === 'error' ? 'err' : one.level === 'warn' ? 'warn' : 'info';
  const sign = one.level === 'info' ? context.glyphs.dot : '!';
  return [
    span(`${formatClock(one.at)} `, { fg: 'faint' }),
    span(`${sign} `, { fg: ink, bold: true }),
    span(`${fitText(toLabel(name), NAME)} `, agent ? { fg: `role:${agent.role}` } : { fg: 'muted' }),
    span(toLabel(one.text), { fg: one.level === 'info' ? 'fg' : ink }),
  ];
}
