/**
 * The checks of tasks in a run's state: what each said last, and what that makes of the task. Only Mimir's own runs count, never an agent's
 * word. Pure. */
import type { Millis } from '../domain/ids.ts';
import { type Check, checkEndText } from '../domain/plan/task-checks.ts';
import type { EventOf } from './event.ts';
import type { AgentState, CheckRun, RunState } from './state.ts';

type Runs = readonly CheckRun[];

export function withCheck(checks: Runs = [], { check, attempt }: EventOf<'check.started'>, at: Millis): Runs {
  const run: CheckRun = { ...check, attempt, started: at, end: null };
  const place = checks.findIndex((one) => one.run === check.run);
  return place === -1 ? [...checks, run] : checks.with(place, run);
}

export const withCheckEnd = (checks: Runs = [], { run, attempt, ...event }: EventOf<'check.finished'>): Runs =>
  checks.map((one) => {
    if (one.run !== run) return one;
    const { passed, exit, failure, lines, ms, tree, changed, judged } = event;
    const end = { passed, exit, lines, ms, tree };
    return {
      ...one,
      attempt,
      end: {
        ...end,
        ...(failure !== undefined && { failure }),
        ...(changed !== undefined && { changed }),
        ...(judged !== undefined && { judged }),
      },
    };
  });

/** After a change of the project, which checks that run now may have missed. */
export const staleChecks = (checks: Runs): Runs => checks.map((one) => ({ ...one, stale: true }));

/** After a look at the project: only those are stale that ran on another tree. */
export const comparedChecks = (checks: Runs, tree: string): Runs =>
  checks.map((one) => {
    const { stale: _, ...same } = one;
    return one.end === null || one.end.tree === tree ? same : { ...one, stale: true };
  });

export const toldOf = (checks: Runs): Runs =>
  checks.some(({ end }) => end?.passed === false) ? checks.map((one) => ({ ...one, told: true })) : checks;

/** The checks that the approved plan asks of this agent's task. */
export const plannedChecks = (
  { plan }: Pick<RunState, 'plan'>,
  { taskId }: Pick<AgentState, 'taskId'>,
): readonly Check[] => (taskId === null ? undefined : plan?.tasks.find(({ id }) => id === taskId)?.checks) ?? [];

/**
 * `claimed`: the agent says that it is done, and not all checks have run. `verified`: all passed on the project as it is. `stale`: the
 * project was changed since. Null: no checks, or the agent has not said yet that it is done. */
export type Verification = 'claimed' | 'verified' | 'failed' | 'stale' | null;

export function verificationOf(state: Pick<RunState, 'plan'>, agent: AgentState): Verification {
  const planned = plannedChecks(state, agent);
  if (planned.length === 0) return null;
  const runs = planned.map(({ run }) => agent.checks?.find((one) => one.run === run));
  if (agent.waitingFor?.is === 'checks' || runs.some((run) => run?.end === null)) return 'claimed';
  if (runs.some((run) => run?.end?.passed === false)) return 'failed';
  if (runs.some((run) => run === undefined)) return agent.outcome === 'completed' ? 'claimed' : null;
  return runs.some((run) => run?.stale === true) ? 'stale' : 'verified';
}

/** Whether others may build on it as far as checks go. */
export const isVerified = (state: Pick<RunState, 'plan'>, agent: AgentState): boolean =>
  plannedChecks(state, agent).length === 0 || ['verified', 'stale'].includes(verificationOf(state, agent) ?? '');

/** What each check of an agent's task said last: `npm test: passed` … None without checks, or before it has begun. */
export function checkLines(state: Pick<RunState, 'plan'>, agent: AgentState): readonly string[] {
  return plannedChecks(state, agent).map((check) => {
    const run = agent.checks?.find((one) => one.run === check.run);
    return `${check.run}: ${runWords(check, run)}`;
  });
}

function runWords(check: Check, run: CheckRun | undefined): string {
  if (run === undefined) return 'not run';
  if (run.end === null) return 'running';
  const judged = run.end.judged ?? [];
  const aside = judged.length === 0 ? '' : `; its agent changed what it checks: ${judged.join(', ')}`;
  if (!run.end.passed) return `failed (${checkEndText(run.end, check)})${aside}`;
  return `${run.stale === true ? 'passed before the last changes' : 'passed'}${aside}`;
}
