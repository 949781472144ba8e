/** The checks of tasks in a run's state: what each said last, and what that makes of the task. Only Mimir's own runs count, never an agent's
 * word. Pure. */
import type { Millis } from '../domain/ids.ts';
import { plural } from '../domain/lists.ts';
import { type Check, type CheckedTask, type CheckEnd, checkEndText } from '../domain/plan/task-checks.ts';
import { defined } from '../domain/result.ts';
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
    return { ...one, attempt, end: { passed, exit, lines, ms, tree, ...defined({ failure, changed, judged }) } };
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

/** `claimed`: the agent says that it is done, and not all checks have run. `verified`: all passed on the project as it is. `stale`: the
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
export const checkLines = (state: FirstState, agent: AgentState): readonly string[] =>
  plannedChecks(state, agent).map((check) => {
    const run = agent.checks?.find((one) => one.run === check.run);
    return `${check.run}: ${runWords(check, run)}${firstNote(state, check, run?.end?.passed)}`;
  });

function runWords(check: Check, run: CheckRun | undefined): string {
  if (run === undefined) return 'not run';
  if (run.end === null) return 'running';
  const judged = run.end.judged ?? [];
  const aside = judged.length === 0 ? '' : `; its agent changed what it checks: ${judged.join(', ')}`;
  if (!run.end.passed) return `failed (${checkEndText(run.end, check)})${aside}`;
  return `${run.stale === true ? 'passed before the last changes' : 'passed'}${aside}`;
}

// Checks that ran before anything had begun, because a person asked for it.

type FirstState = Pick<RunState, 'plan' | 'firstChecks'>;

/** How a check ended before anything had begun, judged by the exit code that is expected now; undefined where it was not tried. */
function firstEndOf({ firstChecks = [] }: FirstState, { run, expect }: Check) {
  const tried = firstChecks.find((one) => one.run === run);
  if (tried?.end == null) return undefined;
  const is = resultOf(tried.end, expect);
  const why = is === 'passes' ? '' : ` (${checkEndText(tried.end, tried)})`;
  const changed = tried.stale === true ? '; the project was changed after that' : '';
  return { run, is, why, changed, lines: is === 'fails' ? tried.end.lines : '' };
}

function resultOf({ exit, failure }: CheckEnd, expect: number): 'passes' | 'fails' | 'could not run' {
  if (exit !== null) return exit === expect ? 'passes' : 'fails';
  return failure?.is === 'time limit' || failure?.is === 'signal' ? 'fails' : 'could not run';
}

/** `; it failed before anything had begun too (exit code 1)`; empty where it says nothing new about a check that has passed or failed since. */
export function firstNote(state: FirstState, check: Check, passed?: boolean): string {
  const first = firstEndOf(state, check);
  if (first === undefined || first.is === 'could not run') return '';
  const { why, changed } = first;
  if (first.is === 'passes') return passed === false ? `; it passed before anything had begun${changed}` : '';
  return `; it failed before anything had begun${passed === false ? ' too' : ''}${why}${changed}`;
}

const LAST_LINES = 8;

/** What each tried check of a task said before anything had begun, with the end of what it printed if it fails. */
export const firstLines = (state: FirstState, { checks = [] }: CheckedTask): readonly string[] =>
  checks.flatMap((check) => {
    const { run, is, why, changed, lines } = firstEndOf(state, check) ?? {};
    if (run === undefined) return [];
    const printed = lines?.split('\n').filter((line) => line.trim() !== '') ?? [];
    return [`${run} ${is}${why}${changed}`, ...printed.slice(-LAST_LINES).map((line) => `  ${line}`)];
  });

/** `2 of 5 checks fail before anything has begun: npm test (exit code 1), …`; null where none was tried. */
export function firstSummary(state: FirstState): { readonly text: string; readonly fails: boolean } | null {
  const { plan, firstChecks } = state;
  if (plan === null || firstChecks === undefined) return null;
  const checks = plan.tasks.flatMap((task) => task.checks ?? []);
  const all = new Map(checks.map((check) => [`${check.expect} ${check.run}`, firstEndOf(state, check)]));
  const tried = [...all.values()].filter((one) => one !== undefined);
  const running = firstChecks.filter(({ end }) => end === null).map(({ run }) => run);
  if (tried.length + running.length === 0) return null;
  const named = (which: string): readonly string[] =>
    tried.filter(({ is }) => is === which).map(({ run, why }) => `${run}${why}`);
  const fails = named('fails');
  const rest = running.length > 0 || tried.length === all.size ? [] : [`${all.size - tried.length}`];
  const count = fails.length === 0 ? 'no check' : `${fails.length} of ${plural(all.size, 'check')}`;
  const text = [
    `${tried.some(({ changed }) => changed !== '') ? 'out of date: ' : ''}${count} ${fails.length > 1 ? 'fail' : 'fails'} before anything has begun`,
    part(': ', fails),
    part('; could not run: ', named('could not run')),
    part('; running: ', running),
    part('; not tried: ', rest),
  ];
  return { text: text.join(''), fails: fails.length > 0 };
}

const part = (words: string, some: readonly string[]): string => (some.length === 0 ? '' : words + some.join(', '));
