/** What the graph of a running plan says of a task: its sign, what it is at or waits for, its time; and of the whole plan. */
import { expectedTask } from '../../../../app/views/spending/expected-plan.ts';
import { agentTime } from '../../../../app/views/run-time.ts';
import { parallelOf, shownStatus } from '../../../../app/views/agent-counts.ts';
import type { PlanTask, SoundPlan } from '../../../../domain/plan/plan.ts';
import type { AgentState } from '../../../../events/state.ts';
import { formatDuration } from '../../../../app/views/text/format.ts';
import type { Remaining } from '../runs/eta.ts';
import type { Context } from '../../shell/screen.ts';
import { span } from '../../../../app/views/text/clip.ts';
import type { Ink, Line, Span } from '../../../../app/views/text/line.ts';
import { toLabel } from '../../../../app/views/text/sanitise.ts';
import { statusSpan } from '../agents/card.ts';
import { bareDoing } from '../agents/doing.ts';
import { agentOfTask, standingOf } from '../plan/status.ts';

/** `▆ critical path · about 30s left`; at least that long where somebody takes longer than estimated. */
export function wholeTime({ left, byTask }: Remaining, context: Context, width: number): Line {
  const { state, glyphs } = context;
  if (left === null || state.approvedDigest === null) return [];
  const words = width < 56 ? 'critical' : 'critical path';
  const mark: Line = width < 44 ? [] : [span(`${glyphs.bar[0]} ${words} ${glyphs.dot} `, { fg: 'faint' })];
  // Whoever takes longer than estimated may take any time more.
  const late = state.plan?.tasks.some(({ id }) => byTask.get(id) === 0 && isBegun(agentOfTask(state, id))) === true;
  const time = formatDuration(left);
  return [...mark, span(late ? `at least ${time} left` : `about ${time} left`, { fg: 'fg' })];
}

const isBegun = (agent: AgentState | null): boolean => agent?.firstRunAt != null;

/** `2 of 6 done · 2 running · 2 queued (4 at once) · 1 failed`: what is not as it should be stands out. */
export function taskCounts(plan: SoundPlan, { state, glyphs, now }: Context, width: number): Line {
  if (state.approvedDigest === null) return [];
  const counts = { completed: 0, running: 0, queued: 0, interrupted: 0, failed: 0, waiting: 0, held: 0 };
  let stuck = 0;
  for (const task of plan.tasks) {
    const agent = agentOfTask(state, task.id);
    const status = agent === null ? 'queued' : shownStatus(agent);
    if (status === 'failed' || standingOf(state, plan, task, glyphs, now)?.stuck !== true) counts[status] += 1;
    else stuck += 1;
  }
  const some = (count: number, words: string, ink: Ink = 'muted'): Line =>
    count === 0 ? [] : [span(` ${glyphs.dot} `, { fg: 'faint' }), span(`${count} ${words}`, { fg: ink })];
  return [
    span(`${counts.completed} of ${plan.tasks.length} done`, { fg: 'muted' }),
    ...some(counts.running, 'running'),
    ...some(counts.waiting + counts.held, 'waiting'),
    ...some(counts.queued, width < 70 ? 'queued' : `queued (${parallelOf(state)} at once)`),
    ...some(counts.interrupted, 'interrupted', 'warn'),
    ...some(counts.failed, 'failed', 'err'),
    ...some(stuck, "can't begin", 'err'),
  ];
}

/** The sign of its agent, as on the cards; before that one begins, that of what keeps it. */
export function signOf(task: PlanTask, plan: SoundPlan, context: Context): Span {
  const { state, glyphs, now } = context;
  const agent = agentOfTask(state, task.id);
  if (agent !== null && agent.status !== 'pending') return statusSpan(agent, context);
  const standing = standingOf(state, plan, task, glyphs, now);
  return span(standing?.sign ?? glyphs.node, { fg: standing?.ink ?? `role:${task.role}`, bold: true });
}

/** What it is at, and how many work for it; of what is over, what it was about, unless that has a row of its own. */
export function wordsOf(task: PlanTask, plan: SoundPlan, tall: boolean, context: Context): Line {
  const { state, glyphs, now } = context;
  const agent = agentOfTask(state, task.id);
  const about: Line = [span(toLabel(task.description.split('\n')[0] ?? ''), { fg: 'muted' })];
  const standing = standingOf(state, plan, task, glyphs, now);
  if (standing === null) return about;
  if (agent === null) return standing.stuck ? [span(standing.words, { fg: standing.ink })] : about;
  if (agent.status === 'pending' || agent.outcome === 'skipped') return [span(standing.words, { fg: standing.ink })];
  return [...belowOf(agent), ...(agent.status === 'completed' && !tall ? about : bareDoing(agent, context))];
}

const belowOf = ({ children }: AgentState): Line =>
  children.length === 0 ? [] : [span(`+${children.length} `, { fg: 'info', bold: true })];

/** `≈ 30s` still, `1m 43s over` what was estimated (`+1m 43s` where it is narrow); of what is over, how long it took. */
export function timeOf(task: PlanTask, { byTask }: Remaining, narrow: boolean, context: Context): Span {
  const { state, glyphs, now } = context;
  const agent = agentOfTask(state, task.id);
  if (agent !== null && agent.outcome !== null) return tookSpan(agent, context);
  const left = byTask.get(task.id);
  if (left === undefined || state.approvedDigest === null) return span('');
  if (left === 0 && agent !== null && isBegun(agent)) {
    const over = formatDuration(agentTime(agent, state, now) - expectedTask(task, state).estimatedSeconds * 1000);
    return span(narrow ? `+${over}` : `${over} over`, { fg: 'warn' });
  }
  return span(`${glyphs.ellipsis === '…' ? '≈' : '~'} ${formatDuration(left)}`, { fg: 'muted' });
}

/** How long an agent worked; nothing where it never did. */
export const tookSpan = (agent: AgentState | null, { state, now }: Context): Span =>
  span(agent === null || !isBegun(agent) ? '' : formatDuration(agentTime(agent, state, now)), { fg: 'faint' });
