/** The first row of every screen: the badge, what one looks at, what must never be overlooked (offline, mode), and numbers. */
import type { AgentStatus } from '../../domain/agent.ts';
import { ROOT } from '../../domain/ids.ts';
import type { Mode } from '../../domain/mode.ts';
import { countByStatus, spentOf } from '../../events/queries.ts';
import type { RunState } from '../../events/state.ts';
import { isOffline, isUnboxed, runShare } from '../agents.ts';
import { formatCost, formatDuration, formatLimit, formatTokens } from '../format.ts';
import type { Glyphs } from '../glyphs.ts';
import type { Context } from '../screen.ts';
import { clip, lineWidth, restyle, span } from '../text/clip.ts';
import type { Ink, Line } from '../text/line.ts';
import { isHeld } from '../waits.ts';
import { gauge } from './gauge.ts';

export const STATUS_INK: Readonly<Record<AgentStatus, Ink>> = {
  pending: 'faint',
  initializing: 'warn',
  running: 'ok',
  waiting: 'info',
  completed: 'ok',
  failed: 'err',
  interrupted: 'warn',
};

/** A wait for a provider: nothing that a person has to see to. */
export const HELD_INK: Ink = 'info';

const BADGE: Line = [span(' MIMIR ', { fg: 'surface', bg: 'focus', bold: true })];

/** Exactly `width` columns. `left` gives way first; `marks` (offline, mode) and `right` are cut only when nothing else is left. */
export function headerLine(
  parts: { readonly left: Line; readonly marks: Line; readonly right: Line },
  width: number,
): Line {
  const bar = { bg: 'raised' } as const;
  // Marks end in a gap to what follows; where nothing does, the edge is gap enough.
  const marked = parts.right.length === 0 ? parts.marks.slice(0, -1) : parts.marks;
  const right = restyle([...marked, ...parts.right, span(' ')], bar);
  const badge = clip(BADGE, width, '');
  const room = Math.max(0, width - lineWidth(badge));
  const end = clip(right, room);
  const left = clip(restyle([span(' '), ...parts.left], bar), Math.max(0, room - lineWidth(end) - 1));
  const gap = Math.max(0, room - lineWidth(left) - lineWidth(end));
  return [...badge, ...left, span(' '.repeat(gap), bar), ...end];
}

/** What a person must see on every screen: no language model, no sandbox, and the mode. */
export function marks(
  { provider, sandbox, mode }: { readonly provider: string; readonly sandbox: string; readonly mode: Mode },
  width: number,
  glyphs: Glyphs,
): Line {
  const badge = (text: string, bg: Ink): Line => [span(` ${text} `, { fg: 'surface', bg, bold: true }), span('  ')];
  return [
    ...(isOffline(provider) ? badge('OFFLINE', 'warn') : []),
    ...(isUnboxed(sandbox) ? badge(width >= 100 ? 'UNSANDBOXED' : 'NO BOX', 'err') : boxed(sandbox, width, glyphs)),
    ...modeMark(mode, width),
  ];
}

/** A word where there is room, a sign before the mode where there is little. */
function boxed(sandbox: string, width: number, glyphs: Glyphs): Line {
  if (sandbox === '' || width < 50) return [];
  return width >= 100 ? [span('boxed', { fg: 'muted' }), span('  ')] : [span(glyphs.boxed, { fg: 'muted' }), span(' ')];
}

function modeMark(mode: Mode, width: number): Line {
  if (mode === 'yolo') return [span('yolo', { fg: 'err', bold: true }), span('  ')];
  if (mode === 'human') return [span('human', { fg: 'info', bold: true }), span('  ')];
  return [span(width >= 60 ? mode : 'cfm', { fg: 'muted' }), span('  ')];
}

/** `run-7f3a › Fix the race`: where one is, and the task. */
export function crumbs(where: string, task: string, glyphs: Glyphs): Line {
  const sign = glyphs.ellipsis === '…' ? '›' : '>';
  return [
    span(where, { fg: 'muted' }),
    span(` ${sign} `, { fg: 'faint' }),
    span(task.split('\n')[0] ?? '', { fg: 'title', bold: true }),
  ];
}

/** Counts by status, elapsed, spend and cap: as much of it as `width` columns of a header can bear. */
export function runNumbers(context: Context, width: number): Line {
  const { state, now, glyphs } = context;
  const asks = state.approvals.length;
  const ask: Line =
    asks === 0 ? [] : [span(`${glyphs.status.waiting} ${asks} ask`, { fg: 'warn', bold: true }), span('  ')];
  const counts = statusCounts(state, glyphs, width >= 100);
  const elapsed = span(formatDuration(runElapsed(state, now)), { fg: 'fg' });
  return [
    ...ask,
    ...(width >= 60 || asks === 0 ? counts : []),
    span(' '),
    elapsed,
    span('  '),
    ...spend(context, width),
  ];
}

/** Milliseconds from the start of the run; they stand still at its end. */
export function runElapsed(state: RunState, now: number): number {
  if (state.finished) return state.finished.totals.duration;
  return state.startedAt === 0 ? 0 : Math.max(0, now - state.startedAt);
}

function statusCounts(state: RunState, glyphs: Glyphs, all: boolean): Line {
  const count = standings(state);
  const kinds = all ? ORDER : ORDER.slice(0, 5);
  const some = kinds.filter((kind) => count[kind] > 0);
  // Everything done: the short form would show nothing at all.
  const shown = some.length > 0 ? some : ORDER.filter((kind) => count[kind] > 0);
  return shown.flatMap(
    (kind): Line => [
      kind === 'held'
        ? span(glyphs.held, { fg: HELD_INK })
        : span(glyphs.status[kind], { fg: STATUS_INK[kind], bold: kind === 'failed' }),
      span(` ${count[kind]} `, { fg: 'fg' }),
    ],
  );
}

type Standing = AgentStatus | 'held';

/** How many stand where, those that wait for a provider by themselves. Main counts there only, since nothing else says it. */
function standings(state: RunState): Readonly<Record<Standing, number>> {
  const count: Record<Standing, number> = { ...countByStatus(state), held: 0 };
  for (const agent of state.agents.values()) {
    if (!isHeld(agent)) continue;
    count.held += 1;
    if (agent.id !== ROOT) count[agent.status] -= 1;
  }
  return count;
}

/** What needs eyes comes first. */
const ORDER: readonly Standing[] = [
  'failed',
  'running',
  'initializing',
  'held',
  'waiting',
  'interrupted',
  'pending',
  'completed',
];

function spend({ state, glyphs }: Context, width: number): Line {
  const { cost, tokens } = spentOf(state);
  const cap = state.budget.maxCost;
  const share = runShare(state);
  const bar = share === null ? [] : [span(' '), ...gauge(share, width >= 100 ? 12 : 6, glyphs)];
  const free = cost === 0 && tokens > 0;
  const priced = [...state.agents.values()].every((agent) => agent.priced);
  const amount = free ? `${formatTokens(tokens)} tok` : `${formatCost(cost)}${priced ? '' : '+?'}`;
  const limit: Line =
    cap === undefined || width < 100 || free
      ? []
      : [span(' / ', { fg: 'faint' }), span(formatLimit(cap), { fg: 'muted' })];
  return [span(amount, { fg: 'title', bold: true }), ...limit, ...(width >= 60 ? bar : [])];
}
