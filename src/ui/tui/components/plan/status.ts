/** Where the tasks of a plan that runs stand: their agents, what blocks them and by whom, and what can never run. */
import { shownStatus } from '../../../../app/views/agent-counts.ts';
import { agentTime } from '../../../../app/views/run-time.ts';
import type { AgentStatus } from '../../../../domain/agents/agent.ts';
import type { Millis, TaskId } from '../../../../domain/ids.ts';
import type { PlanTask, SoundPlan } from '../../../../domain/plan/plan.ts';
import type { AgentState, RunState } from '../../../../events/state.ts';
import { formatCost, formatDuration } from '../../../../app/views/text/format.ts';
import type { Glyphs } from '../../text/glyphs.ts';
import type { Ink, Span } from '../../../../app/views/text/line.ts';
import { shownSign } from '../header.ts';
import type { Context } from '../../frame/screen.ts';

export interface Standing {
  readonly sign: string;
  readonly ink: Ink;
  /** `blocked by #4 oracle, which failed`; in a list, `blocked by #4`. */
  readonly words: string;
  readonly short: string;
  /** A person should know: it can't go on by itself. */
  readonly stuck: boolean;
}

/** The agent that carries out a task; null where there is none yet. */
export const agentOfTask = (state: RunState, id: TaskId): AgentState | null => byTask(state).get(id) ?? null;

function byTask({ agents }: RunState): ReadonlyMap<TaskId, AgentState> {
  const known = KNOWN.get(agents);
  if (known !== undefined) return known;
  const map = new Map<TaskId, AgentState>();
  for (const agent of agents.values()) if (agent.taskId !== null) map.set(agent.taskId, agent);
  KNOWN.set(agents, map);
  return map;
}

/** Agents change with each event, and each row of a frame asks. */
const KNOWN = new WeakMap<RunState['agents'], ReadonlyMap<TaskId, AgentState>>();

/** Where `task` stands; null before anything runs. */
export function standingOf(
  state: RunState,
  plan: SoundPlan,
  task: PlanTask,
  glyphs: Glyphs,
  now: Millis,
): Standing | null {
  if (state.approvedDigest === null || state.phase === 'approving') return null;
  const agent = agentOfTask(state, task.id);
  if (agent === null || agent.status === 'pending') return waiting(state, plan, task, glyphs);
  const isSkipped = agent.outcome === 'skipped';
  const words = isSkipped ? 'left out: it never runs' : statusWords(agent, state, now);
  const stuck = agent.status === 'failed' || isSkipped;
  const [sign, { fg: ink = 'fg' }] = shownSign(shownStatus(agent), glyphs);
  return { sign, ink, words, short: shortWords(agent), stuck };
}

function statusWords(agent: AgentState, state: RunState, now: Millis): string {
  const spent = agent.cost > 0 ? [formatCost(agent.cost)] : [];
  const time = agent.firstRunAt === null ? [] : [formatDuration(agentTime(agent, state, now))];
  const why = agent.status === 'failed' && agent.error !== null ? [agent.error.split('\n')[0] ?? ''] : [];
  return [WORDS[agent.status], ...time, ...spent, ...why].join(', ');
}

const WORDS: Readonly<Record<AgentStatus, string>> = {
  pending: 'not begun',
  initializing: 'queued',
  running: 'running',
  waiting: 'waits',
  completed: 'completed',
  failed: 'failed',
  interrupted: 'interrupted',
};

/** In a row, the sign says it; only what must not be overlooked has a word. */
function shortWords({ outcome, status }: AgentState): string {
  if (outcome === 'skipped') return 'never runs';
  return status === 'failed' ? 'failed' : '';
}

const GOOD: ReadonlySet<AgentState['outcome']> = new Set(['completed', 'partial']);

/** Of a task that has not begun: what it waits for, what blocks it, or that it can never run. */
function waiting(state: RunState, plan: SoundPlan, task: PlanTask, glyphs: Glyphs): Standing {
  const open = task.dependsOn.filter((id) => !GOOD.has(agentOfTask(state, id)?.outcome ?? null));
  const name = (id: TaskId, whole: boolean): string => {
    const at = plan.tasks.findIndex((each) => each.id === id);
    return whole ? `#${at + 1} ${plan.tasks[at]?.role ?? ''}`.trimEnd() : `#${at + 1}`;
  };
  const sign = glyphs.status.pending;
  const dead = open.find((id) => neverRuns(state, plan).has(id));
  if (dead !== undefined) {
    const words = `can never run: ${name(dead, true)} was left out`;
    return { sign: glyphs.status.failed, ink: 'err', words, short: 'never runs', stuck: true };
  }
  const bad = open.find((id) => (agentOfTask(state, id)?.outcome ?? null) !== null);
  if (bad !== undefined) {
    const how = agentOfTask(state, bad)?.outcome ?? 'failed';
    const words = `blocked by ${name(bad, true)}, which ${HOW[how] ?? 'did not complete'}`;
    return { sign: '!', ink: 'err', words, short: `blocked by ${name(bad, false)}`, stuck: true };
  }
  const before = (task.after ?? []).filter((one) => (agentOfTask(state, one.task)?.outcome ?? null) === null);
  const orders = before.map((one) => `${name(one.task, true)} (${one.because})`);
  if (open.length + orders.length === 0) {
    const partial = task.dependsOn.filter((id) => agentOfTask(state, id)?.outcome === 'partial');
    const of =
      partial.length === 0 ? '' : `, with a partial answer of ${partial.map((id) => name(id, true)).join(', ')}`;
    return { sign, ink: 'faint', words: `waits for a free place${of}`, short: '', stuck: false };
  }
  const words = `waits for ${[...open.map((id) => name(id, true)), ...orders].join(', ')}`;
  return { sign, ink: 'faint', words, short: '', stuck: false };
}

const HOW: Readonly<Record<string, string>> = { failed: 'failed', killed: 'was killed', abandoned: 'was given up' };

/** Tasks that were left out, and all that need one of them, in one pass over a plan in its order. */
function neverRuns(state: RunState, plan: SoundPlan): ReadonlySet<TaskId> {
  const known = NEVER.get(state.agents);
  if (known?.plan === plan) return known.dead;
  const dead = new Set<TaskId>();
  for (const { id, dependsOn } of plan.tasks) {
    const outcome = agentOfTask(state, id)?.outcome ?? null;
    if (outcome === 'skipped' || (outcome === null && dependsOn.some((need) => dead.has(need)))) dead.add(id);
  }
  NEVER.set(state.agents, { plan, dead });
  return dead;
}

const NEVER = new WeakMap<RunState['agents'], { readonly plan: SoundPlan; readonly dead: ReadonlySet<TaskId> }>();

export const statusSpan = (agent: AgentState, { glyphs }: Context): Span => shownSign(shownStatus(agent), glyphs);
