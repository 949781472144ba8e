/** The first row of every screen: the badge, what one looks at, what must never be overlooked (offline, mode); colours of the statuses. */
import type { ShownStatus } from '../../../app/views/agent-counts.ts';
import type { AgentStatus } from '../../../domain/agents/agent.ts';
import type { Mode } from '../../../domain/mode.ts';
import { isOffline, isUnboxed } from '../../../app/views/agents/agent-lines.ts';
import type { Glyphs } from '../text/glyphs.ts';
import { clip, lineWidth, restyle, span } from '../../../app/views/text/clip.ts';
import type { Ink, Line, Span } from '../../../app/views/text/line.ts';

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

/** The sign of a status that is shown; `faint` where there is none of it. */
export function shownSign(status: ShownStatus, { status: signs, held }: Glyphs, faint = false): Span {
  if (status === 'held') return span(held, { fg: HELD_INK });
  const known = status === 'queued' ? 'pending' : status;
  return span(signs[known], { fg: faint ? 'faint' : STATUS_INK[known], bold: !faint && status === 'failed' });
}

export const BADGE: Line = [span(' MIMIR ', { fg: 'surface', bg: 'focus', bold: true })];

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
  const rest = Math.max(0, room - lineWidth(end) - 1);
  // Three letters and an ellipsis say nothing.
  const left = rest < 6 ? [] : clip(restyle([span(' '), ...parts.left], bar), rest);
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

/** `run-7f3a › Fix the race`: where one is, unless that is empty, and the task. */
export function crumbs(where: string, task: string, glyphs: Glyphs): Line {
  const sign = glyphs.ellipsis === '…' ? '›' : '>';
  return [
    ...(where === '' ? [] : [span(where, { fg: 'muted' }), span(` ${sign} `, { fg: 'faint' })]),
    span(task.split('\n')[0] ?? '', { fg: 'title', bold: true }),
  ];
}
