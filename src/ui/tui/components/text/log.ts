/** What happened in the run, one line each: a box of the last ones, or a ticker of one row. */
import type { LogLine } from '../../../../events/state.ts';
import { formatClock } from '../../../../app/views/text/format.ts';
import type { Context } from '../../frame/screen.ts';
import { box } from '../../text/box.ts';
import { fit, span } from '../../../../app/views/text/clip.ts';
import type { Line } from '../../../../app/views/text/line.ts';
import { toLabel } from '../../../../app/views/text/sanitise.ts';
import { labelOf } from '../../../../app/views/agents/agent-lines.ts';
import { fitName, nameColumn } from '../../text/names.ts';

/** Columns of a name: at least so many, and at most a fifth of the row. */
const NAME = 13;

/** What is shown of the log: entries from this level on, and how many of the newest are scrolled past. */
export interface LogLook {
  readonly level: LogLine['level'];
  readonly back: number;
  readonly focused: boolean;
}

const ALL: LogLook = { level: 'info', back: 0, focused: false };
const LEVELS: readonly LogLine['level'][] = ['info', 'warn', 'error'];
const SHOWN: Readonly<Record<LogLine['level'], string>> = {
  info: 'entries',
  warn: 'warnings and errors',
  error: 'errors',
};
const entries = (count: number): string => (count === 1 ? '1 entry' : `${count} entries`);

const KEPT = new WeakMap<readonly LogLine[], Map<LogLine['level'], readonly LogLine[]>>();

/** The entries of a level and worse; the same list for the same log. */
export function logOf(log: readonly LogLine[], level: LogLine['level']): readonly LogLine[] {
  if (level === 'info') return log;
  const kept = KEPT.get(log) ?? new Map<LogLine['level'], readonly LogLine[]>();
  const known = kept.get(level) ?? log.filter((one) => LEVELS.indexOf(one.level) >= LEVELS.indexOf(level));
  KEPT.set(log, kept.set(level, known));
  return known;
}

/** Exactly `height` lines of exactly `width` columns, the newest at the bottom. */
export function logPane(context: Context, width: number, height: number, look: LogLook = ALL): readonly Line[] {
  const log = logOf(context.state.log, look.level);
  if (height <= 2)
    return Array.from({ length: height }, (_, row) =>
      fit([span(' '), ...line(log.at(row - height), context, width)], width),
    );
  const rows = height - 2;
  const back = Math.max(0, Math.min(look.back, log.length - rows));
  const shown = log.slice(Math.max(0, log.length - back - rows), log.length - back);
  const all = context.state.log.length;
  const many = look.level === 'info' ? entries(all) : `${log.length} of ${entries(all)}: ${SHOWN[look.level]}`;
  const none = look.level === 'info' ? 'Nothing has happened yet.' : `No ${SHOWN[look.level]}.`;
  return box({
    width,
    height,
    glyphs: context.glyphs,
    border: look.focused ? 'heavy' : 'light',
    style: { fg: look.focused ? 'focus' : 'border' },
    title: [span('Log', { fg: 'muted', bold: true })],
    titleEnd: [span(many, { fg: 'faint' })],
    footEnd: back > 0 ? [span(`${back} newer ${context.glyphs.dot} G to follow`, { fg: 'warn' })] : [],
    body: shown.length === 0 ? [[span(none, { fg: 'faint' })]] : shown.map((one) => line(one, context, width)),
  });
}

function line(one: LogLine | undefined, context: Context, width: number): Line {
  if (one === undefined) return [];
  const agent = one.agent === null ? undefined : context.state.agents.get(one.agent);
  const name = agent ? agent.name : one.agent === null ? 'run' : labelOf(context.state, one.agent);
  const ink = one.level === 'error' ? 'err' : one.level === 'warn' ? 'warn' : 'info';
  const sign = one.level === 'info' ? context.glyphs.dot : '!';
  return [
    span(`${formatClock(one.at)} `, { fg: 'faint' }),
    span(`${sign} `, { fg: ink, bold: true }),
    span(
      `${fitName(name, nameColumn(context.state, NAME, Math.floor(width / 5)), context.glyphs)} `,
      agent ? { fg: `role:${agent.role}` } : { fg: 'muted' },
    ),
    span(toLabel(one.text), { fg: one.level === 'info' ? 'fg' : ink }),
  ];
}
