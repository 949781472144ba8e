/** The panes beside the opened agent: the spend of the run, over time and by agent, and the log. */
import { fit, formatClock, labelOf, type Line, runSpending, span, toLabel } from '../../../app/views/index.ts';
import { memoize } from '../../../domain/memoize.ts';
import type { LogLine } from '../../../events/index.ts';
import type { Context } from '../frame/screen.ts';
import { pane, strong, tint } from '../text/blocks.ts';
import { shareBars, spendChart, spenders, unitOf } from './charts.ts';
import { fitName, nameColumn } from './names.ts';

/** Fewest columns of a name in the ranking; it gets at most half of a row. */
const NAME = 12;
/** Rows of the chart in a high pane, borders included. */
const CHART = { most: 18, least: 10 } as const;

interface PaneOptions {
  readonly width: number;
  readonly height: number;
  /** The keys go to the pane. */
  readonly focused: boolean;
}

/** Exactly `height` lines of exactly `width` columns: the spend by agent, below a chart of it where the pane is high. */
export function sidePane(context: Context, width: number, height: number, focused: boolean): readonly Line[] {
  const ranking = Math.max(8, Math.min(context.state.agents.size + 2, height >> 1));
  const rows = width < 32 ? 0 : Math.min(CHART.most, height - ranking);
  if (rows < CHART.least) return spendBox(context, { width, height, focused });
  return [
    ...chartBox(context, { width, height: rows, focused }),
    ...spendBox(context, { width, height: height - rows, focused }),
  ];
}

function chartBox(context: Context, options: PaneOptions): readonly Line[] {
  const { width, height } = options;
  const unit = unitOf(context.state);
  const limit = unit.cap === undefined ? '' : ` of ${unit.capText(unit.cap)}`;
  return pane({
    ...options,
    glyphs: context.glyphs,
    title: [strong(unit.name, 'muted')],
    titleEnd: [tint(`${unit.text(unit.of(runSpending(context.state)))}${limit}`, 'faint')],
    body: spendChart(context, Math.max(0, width - 4), height - 2),
  });
}

function spendBox(context: Context, options: PaneOptions): readonly Line[] {
  const { width, height } = options;
  const { name } = unitOf(context.state);
  const columns = {
    column: nameColumn(context.state, NAME, Math.floor((width - 4) / 2)),
    digits: name === 'Spend' ? 8 : 5,
    all: null,
  };
  const rows = spenders(context).slice(0, Math.max(0, height - 2));
  return pane({
    ...options,
    glyphs: context.glyphs,
    title: [strong(`${name} by agent`, 'muted')],
    body: rows.length === 0 ? [[tint('Nothing spent yet.', 'faint')]] : shareBars(rows, columns, context, width - 4),
  });
}

// The log of the run: a box of the last entries, or their last one or two rows without a border.

/** Fewest columns of a name in the log; it gets at most a third of a row. */
const LOG_NAME = 13;

interface LogOptions {
  readonly level: LogLine['level'];
  /** Entries that the pane is scrolled back from the newest. */
  readonly back: number;
  readonly focused: boolean;
}

const LEVELS: readonly LogLine['level'][] = ['info', 'warn', 'error'];
const SHOWN: Readonly<Record<LogLine['level'], string>> = {
  info: 'entries',
  warn: 'warnings and errors',
  error: 'errors',
};
const entries = (count: number): string => (count === 1 ? '1 entry' : `${count} entries`);

/** The entries of a level and worse; a failed call and its next attempt are one entry, that of the attempt. */
export const logOf = memoize(
  (log: readonly LogLine[], level: LogLine['level']) => [log, level],
  (log, level) => {
    const retried = new Set(log.flatMap(({ call, retry }) => (call !== undefined && retry === true ? [call] : [])));
    const isShown = ({ call, retry, level: own }: LogLine): boolean =>
      LEVELS.indexOf(own) >= LEVELS.indexOf(level) && (call === undefined || retry === true || !retried.has(call));
    return log.filter(isShown);
  },
);

/** Exactly `height` lines of exactly `width` columns, the newest at the bottom. */
export function logPane(context: Context, width: number, height: number, options: LogOptions): readonly Line[] {
  const log = logOf(context.state.log, options.level);
  if (height <= 2)
    return Array.from({ length: height }, (_, row) =>
      fit([span(' '), ...logLineOf(log.at(row - height), context, width)], width),
    );
  const rows = height - 2;
  const back = Math.max(0, Math.min(options.back, log.length - rows));
  const shown = log.slice(Math.max(0, log.length - back - rows), log.length - back);
  const all = logOf(context.state.log, 'info').length;
  const many = options.level === 'info' ? entries(all) : `${log.length} of ${entries(all)}: ${SHOWN[options.level]}`;
  const none = options.level === 'info' ? 'No entries yet.' : `No ${SHOWN[options.level]}.`;
  return pane({
    width,
    height,
    glyphs: context.glyphs,
    focused: options.focused,
    title: [strong('Log', 'muted')],
    titleEnd: [tint(many, 'faint')],
    footEnd: back > 0 ? [tint(`${back} newer ${context.glyphs.dot} G to follow`, 'warn')] : [],
    body: shown.length === 0 ? [[tint(none, 'faint')]] : shown.map((one) => logLineOf(one, context, width)),
  });
}

/** `17:35:49 · oracle  read src/a.ts`; an empty line for no entry. */
export function logLineOf(one: LogLine | undefined, context: Context, width: number): Line {
  if (one === undefined) return [];
  const agent = one.agent === null ? undefined : context.state.agents.get(one.agent);
  const name = agent ? agent.name : one.agent === null ? 'run' : labelOf(context.state, one.agent);
  const ink = one.level === 'error' ? 'err' : one.level === 'warn' ? 'warn' : 'info';
  const sign = one.level === 'info' ? context.glyphs.dot : '!';
  const column = nameColumn(context.state, LOG_NAME, Math.floor(width / 3));
  return [
    tint(`${formatClock(one.at)} `, 'faint'),
    strong(`${sign} `, ink),
    tint(`${fitName(name, column)} `, agent ? `role:${agent.role}` : 'muted'),
    tint(toLabel(one.text), one.level === 'info' ? 'fg' : ink),
  ];
}
