/** Runs the agents of an approved plan: when each starts, what is checked first, and what follows from a failure. */
import { type AgentOutcome, isAnswered } from '../../domain/agents/agent.ts';
import { type AgentId, ROOT } from '../../domain/ids.ts';
import type { SoundPlan } from '../../domain/plan/plan.ts';
import { reasonText } from '../../domain/reason.ts';
import { planDigest } from '../../domain/digest.ts';
import * as events from '../../events/index.ts';
import { type Choice, findingLimits, finishedEvent, findingsOf, type NewAgent, workOrderFor } from '../agents/index.ts';
import { plannedRoleProblem } from '../../policy/index.ts';
import type { PlanTable } from '../planning/index.ts';
import { deniedEvent, type RunContext } from '../gate/index.ts';
import { LAST_ANSWER, resolvingText, treeFailed } from '../workspaces/index.ts';
import type { TreeId } from '../../ports/tree.ts';
import type { RunModules } from './open-run.ts';
import { checkMerged, hasCheckedTasks, lastChecks } from './last-checks.ts';
import type { MainTalk } from './main-talk.ts';
import { headOf } from '../../domain/text/text.ts';
import { messageOf } from '../../domain/result.ts';

/** Runs every agent of the plan as soon as its dependencies are done, and then the reviews. Resolves when nothing runs any more. */
export async function runAgents(modules: RunModules, resumed: boolean, talk: MainTalk): Promise<void> {
  const parts: AgentsRun = { ...modules, retried: new Set() };
  const { reviews: forced, planning } = parts;
  const { children } = parts.messaging;
  const table = planning.table();
  const lost = resumed ? lostAndRetried(parts, (id) => table.agent(id) !== undefined) : new Set<AgentId>();
  let known = knownOutcomes(parts, table, lost);
  const ids = table.agents().flatMap(({ agent }) => (known.has(agent) ? [] : [agent]));
  // Read at once, because with hundreds of agents each would read the whole log again.
  parts.conversations.keep(...ids);
  await forced.atStart(table.agents().some((one) => forced.judges(one)));
  if (resumed) children.resume((agent) => ids.includes(agent));
  // Ended agents with unread messages are revived; their dependants wait for them.
  known = new Map([...known].filter(([id]) => children.endOf(id) === undefined));
  for (;;) {
    const running = parts.schedule.begin({
      jobs: table.jobs(),
      mustNotOverlap: (id, other) => table.areApart(id, other),
      known,
      start: (id, again) => {
        const beside = again ? undefined : children.endOf(id);
        if (beside !== undefined) return beside;
        const start = { again, isNeeded: () => table.isNeeded(id), treesBefore: () => treesBefore(table, id) };
        return orStop(parts, startByRule(parts, table.agent(id), start));
      },
      choose: (failed, blocked, moot) => orStop(parts, choiceAfter(parts, { failed, blocked, moot })),
      satisfies: (id, outcome) =>
        isAnswered(outcome) && (outcome === 'completed' || isUsable(parts, id)) && !isUnmerged(parts, id),
      skipped: (id, because) => skip(parts, id, because),
      restored: (id) => parts.recorder.record(waitsAgain(id)),
    });
    const { outcomes, stopped } = await running.done;
    known = outcomes;
    // ROOT, answering a person, may start more children.
    do await children.settled();
    while (await talk.settled());
    const isDone = (): boolean => stopped || table.jobs().every(({ id }) => outcomes.has(id));
    if (!parts.signal.aborted && isDone()) await judgeAll(parts);
    if (parts.signal.aborted || (isDone() && !children.working())) break;
    // Continue: the plan was amended after its last task ended, or a message revived an agent.
    forced.goOn();
  }
  await forced.looked();
  table.close();
}

/** Its dependants would build on a project without its changes. */
function isUnmerged({ recorder }: RunModules, id: AgentId): boolean {
  const one = recorder.state().agents.get(id);
  return one !== undefined && events.isUnmerged(one);
}

/** The agents with trees of their own before this one in the plan: it is merged after them, so that the order of their ends means nothing. */
function treesBefore(table: PlanTable, id: AgentId): readonly AgentId[] {
  const all = table.agents();
  const at = all.findIndex(({ agent }) => agent === id);
  return all.slice(0, Math.max(0, at)).flatMap(({ agent, tree }) => (tree === 'own' ? [agent] : []));
}

/** What is stale is checked again, and then all changes are reviewed, those of the checks too. */
function judgeAll(parts: RunModules): Promise<void> {
  const { signal, reviews } = parts;
  if (!hasCheckedTasks(parts)) return reviews.atEnd();
  return lastChecks(parts).then(() => (signal.aborted ? undefined : reviews.atEnd()));
}

interface AgentsRun extends RunModules {
  readonly retried: Set<AgentId>;
}

/** A partial end without a summary gives its dependants nothing, and none builds on work whose checks have not passed. */
function isUsable({ recorder }: RunModules, id: AgentId): boolean {
  const state = recorder.state();
  const one = state.agents.get(id);
  return one === undefined || (one.summary !== '' && events.isVerified(state, one));
}

/** Outcomes of agents of a resumed run that are not started again. */
function knownOutcomes(
  parts: RunModules,
  table: PlanTable,
  lost: ReadonlySet<AgentId>,
): ReadonlyMap<AgentId, AgentOutcome> {
  const known = new Map<AgentId, AgentOutcome>();
  const { agents, answering } = parts.recorder.state();
  for (const [id, state] of agents)
    if (state.outcome !== null && isOver(parts, table.agent(id), state, lost)) known.set(id, state.outcome);
    // In a run resumed only for messages, agents that never began stay skipped.
    else if (answering && state.outcome === null && state.firstRunAt === null) known.set(id, 'skipped');
  return known;
}

/** Whether nothing is left to do for this agent of a resumed run, not even its review. */
function isOver(
  { recorder, reviews: forced }: RunModules,
  one: NewAgent | undefined,
  state: events.AgentState,
  lost: ReadonlySet<AgentId>,
): boolean {
  if (one === undefined || state.outcome === null || (!recorder.state().answering && !stays(state, lost))) return false;
  if (state.outcome === 'completed' && events.isUnmerged(state)) return events.staysUnmerged(state);
  if (state.outcome !== 'completed' || !forced.judges(one)) return true;
  return forced.nodes('on-write').every((node) => events.isSettled(recorder.state(), node, one.agent));
}

/** Whether a resumed run keeps this end. Limits may have been raised, so an agent that one ended, and tasks skipped because of it, start
 * again; so does an agent whose provider could not be reached. */
const stays = ({ id, outcome, endedBy }: events.AgentState, lost: ReadonlySet<AgentId>): boolean =>
  outcome !== 'partial' &&
  !(outcome === 'failed' && lost.has(id)) &&
  (outcome !== 'skipped' || endedBy?.is === 'person');

/** Stops the run on a fault; the schedule waits for the other agents. */
async function orStop<T>(parts: RunModules, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    parts.stop(messageOf(error));
    throw error;
  }
}

interface Start {
  readonly again: boolean;
  /** Whether another agent waits for it now. */
  readonly isNeeded: () => boolean;
  readonly treesBefore: () => readonly AgentId[];
}

/** Under the rule `retry`, a failed task runs once more, whether or not another task needs it. */
async function startByRule(parts: AgentsRun, one: NewAgent | undefined, start: Start): Promise<AgentOutcome | null> {
  const outcome = await startAgent(parts, one, start);
  if (one === undefined || outcome !== 'failed' || !mayRetryByRule(parts, one.agent)) return outcome;
  parts.retried.add(one.agent);
  return startAgent(parts, one, { ...start, again: true });
}

/** An agent that was denied its start has not run, and would be denied again. */
const mayRetryByRule = ({ options, recorder, retried, signal }: AgentsRun, agent: AgentId): boolean =>
  options.rules.onFailure.value === 'retry' &&
  !signal.aborted &&
  !retried.has(agent) &&
  (recorder.state().agents.get(agent)?.firstRunAt ?? null) !== null;

async function startAgent(parts: AgentsRun, one: NewAgent | undefined, start: Start): Promise<AgentOutcome | null> {
  const { recorder } = parts;
  if (!one) throw new Error('an agent that is not in the plan');
  if (parts.signal.aborted) return null;
  const state = recorder.state();
  // A plan that differs from the approved one means that the log is damaged.
  if (state.plan === null || digestOf(state.plan) !== state.approvedDigest) {
    recorder.record(finishedEvent(parts, one.agent, 'failed', '', 'the stored plan is not the one that was approved'));
    return 'failed';
  }
  if (barred(parts, one)) return 'failed';
  if (one.tree === 'own') return ownWork(parts, one, start);
  return parts.reviews.judges(one) ? judgedWork(parts, one, start) : work(parts, one, start);
}

/** Work in a tree of its own, which counts as done when it is merged and reviewed. */
async function ownWork(parts: AgentsRun, one: NewAgent, start: Start): Promise<AgentOutcome | null> {
  const done = await parts.workspaces.around(
    one,
    start,
    () => work(parts, one, start),
    async (merge) => {
      const { before, end } = await parts.reviews.merging(one, merge);
      if (end?.resolve !== undefined) return startAgent(parts, one, { ...start, again: false });
      if (end === null) return null;
      // Its checks ran in its tree; dependants build on the project.
      const outcome = start.isNeeded() ? await checkMerged(parts, one.agent) : 'completed';
      return outcome === null ? null : reviewed(parts, one, start, before, outcome);
    },
  );
  return done.ok ? done.value : treeFailed(parts, one.agent, done.fault);
}

/** Records and reports that the present rules forbid an approved role; the agent does not start. */
function barred(parts: RunModules, { agent, role }: NewAgent): boolean {
  const { rules, roles } = parts.options;
  const problem = plannedRoleProblem(role.name, rules, roles);
  if (problem === null) return false;
  const why = `${problem.text}: ${reasonText(problem.reason)}`;
  parts.recorder.record(
    deniedEvent(rules, { agent, subject: role.name, action: 'role' }, problem.reason),
    finishedEvent(parts, agent, 'failed', `Failed: ${why}`, why),
  );
  return true;
}

/** Work that counts as done after its review. Where no dependant makes the schedule ask about a failed review, the question is asked here. */
async function judgedWork(parts: AgentsRun, one: NewAgent, start: Start): Promise<AgentOutcome | null> {
  const looking = parts.reviews.begin(one);
  const before = looking === null ? null : await looking;
  const outcome = await work(parts, one, start);
  return outcome === null || parts.signal.aborted ? null : reviewed(parts, one, start, before, outcome);
}

/** The outcome after the review of what the agent changed since `before`. */
async function reviewed(
  parts: AgentsRun,
  one: NewAgent,
  start: Start,
  before: TreeId | null,
  outcome: AgentOutcome = 'completed',
): Promise<AgentOutcome | null> {
  const passage = await parts.reviews.afterTask(one, before);
  if (passage !== 'closed' || !isAnswered(outcome)) return passage === null ? null : outcome;
  // The schedule asks where a dependant waits.
  if (start.isNeeded()) return 'failed';
  const moot = new AbortController().signal;
  const choice = await chooseAfterFailure(parts, { failed: one.agent, blocked: [], moot });
  if (choice === 'retry') return startAgent(parts, one, { ...start, again: true });
  return parts.signal.aborted ? null : 'failed';
}

/** Runs the agent. One that had completed when the run was cut off before its review has nothing more to do. */
async function work(
  { options, recorder, supervisor, conversations }: RunModules,
  one: NewAgent,
  { again }: Start,
): Promise<AgentOutcome | null> {
  const { agent } = one;
  const state = recorder.state();
  if (!again && state.agents.get(agent)?.outcome === 'completed') return 'completed';
  const failure = again || conversations.of(agent).turns.length === 0 ? attemptBefore(state, agent) : '';
  if (again) recorder.record(triedAgain(agent));
  const findings = findingsOf(recorder.state(), one.dependsOn, findingLimits(options, one.model.used));
  const order = workOrderFor(options, failure === '' ? one : { ...one, task: `${one.task}\n\n${failure}` }, findings);
  return supervisor.run(order);
}

/** Plans are immutable, so the digest is computed once although hundreds of agents check it. */
const digests = new WeakMap<SoundPlan, string>();
function digestOf(plan: SoundPlan): string {
  const digest = digests.get(plan) ?? planDigest(plan);
  digests.set(plan, digest);
  return digest;
}

interface Failure {
  readonly failed: AgentId;
  readonly blocked: readonly AgentId[];
  /** Aborted when the choice has become pointless. */
  readonly moot: AbortSignal;
}

/** Asks; a skipped task that is retried after all is shown as waiting again. */
async function choiceAfter(parts: AgentsRun, failure: Failure): Promise<Choice> {
  const { recorder } = parts;
  const { failed: agent, moot } = failure;
  const choice = await chooseAfterFailure(parts, failure);
  if (choice === 'retry' && !moot.aborted && recorder.state().agents.get(agent)?.outcome === 'skipped')
    recorder.record(waitsAgain(agent));
  return choice;
}

/** Records the blocked tasks as pending, then asks a person or applies the rule. */
async function chooseAfterFailure(parts: AgentsRun, failure: Failure): Promise<Choice> {
  const { options, recorder } = parts;
  const { failed, blocked } = failure;
  const state = recorder.state();
  // The number that the screens show; positions change when a plan is amended.
  const number = failed.slice(`${ROOT}::S`.length);
  const reason = `blocked by #${number} ${state.agents.get(failed)?.role ?? ''}`;
  const waits = { status: 'pending', reason, waitingFor: { is: 'task' } } as const;
  if (blocked.length > 0)
    recorder.record(...blocked.map((agent): events.EventBody => ({ type: 'agent.status', agent, ...waits })));
  const rule = options.rules.onFailure.value;
  if (rule === 'ask') return options.person ? askPerson(parts, failure) : 'skip';
  if (rule === 'stop') parts.stop(`stopped by ${reasonText(options.rules.onFailure.from)}`);
  if (rule !== 'retry') return rule;
  // The rule retries only once.
  if (parts.retried.has(failed)) return 'skip';
  parts.retried.add(failed);
  return 'retry';
}

async function askPerson(parts: RunModules, { failed, blocked, moot }: Failure): Promise<Choice> {
  const { recorder, gate } = parts;
  const answer = await gate.approvals.ask(
    { agent: ROOT },
    null,
    failureQuestion(recorder.state(), failed, blocked),
    AbortSignal.any([parts.signal, moot]),
  );
  if (answer.is === 'withdrawn') return 'stop';
  // Stops at once: a person who answers "stop" does not want to wait for the others.
  if (answer.text === 'stop') parts.stop('stopped by you');
  return answer.text === 'retry' || answer.text === 'stop' ? answer.text : 'skip';
}

const SKIPPED_BY_YOU = { error: 'skipped by you', endedBy: { is: 'person' } } as const;

function skip(parts: RunModules, id: AgentId, because: AgentId): void {
  const state = parts.recorder.state();
  const one = state.agents.get(id);
  if (!one || events.isFinal(one)) return;
  const cause = state.agents.get(because)?.name ?? because;
  const closed = events.closedBehind(state, because).length > 0;
  const why = closed ? `skipped: the review of ${cause} did not pass` : `skipped: ${cause} did not complete`;
  parts.recorder.record(finishedEvent(parts, id, 'skipped', '', because === id ? SKIPPED_BY_YOU : why));
}

/** `blocked` is empty where no task waits for the work that did not pass. */
function failureQuestion(state: events.RunState, failed: AgentId, blocked: readonly AgentId[]): events.ApprovalRequest {
  const nameOf = (id: AgentId): string => state.agents.get(id)?.name ?? id;
  const name = nameOf(failed);
  const { what, why } = whatFailed(state, failed, name);
  const names = blocked.map(nameOf).join(', ');
  const waiting = names === '' ? '' : `; ${names} ${blocked.length === 1 ? 'needs' : 'need'} it`;
  const skip = names === '' ? 'leave it out: the run ends as failed' : `leave out ${names}; the other tasks continue`;
  return {
    action: 'failure',
    title: `${what}${waiting}`,
    exact: `${why}\n\nretry: run ${name} again\nskip: ${skip}\nstop: stop the run (resumable)`,
    options: ['retry', 'skip', 'stop'],
    unsandboxed: false,
    because: '',
  };
}

/** What kept the work of `failed` from counting as done, and the reason. */
function whatFailed(state: events.RunState, failed: AgentId, name: string): Readonly<Record<'what' | 'why', string>> {
  const closed = events.closedBehind(state, failed);
  const one = state.agents.get(failed);
  if (closed.length > 0) {
    const what = `${closed.map(({ role }) => role).join(' and ')} review of ${name} did not pass`;
    return { what, why: closed.map((gate) => events.gateWords(state, gate)).join('\n\n') };
  }
  if (one?.outcome === 'completed' && events.isUnmerged(one))
    return { what: `${name} is not merged`, why: one.ownTree?.because ?? '' };
  return { what: `${name} did not complete`, why: one?.error ?? 'It did not complete.' };
}

// Retries: which tasks of a failed run return to pending on resume, and what a new attempt learns about the last one.

type IsPlanned = (id: AgentId) => boolean;

/** The agents that lost their provider. If the run had failed, its failed tasks and the tasks behind them return to pending, and run again
 * from the start. */
function lostAndRetried(parts: Pick<RunContext, 'recorder'>, isPlanned: IsPlanned): ReadonlySet<AgentId> {
  const { initial } = parts.recorder;
  const state = parts.recorder.state();
  const lost = events.lostToProvider(state);
  // A run resumed only to answer messages retries nothing.
  if (!state.answering && initial.finished?.status === 'failed') retryAll(parts, isPlanned, lost);
  return lost;
}

function retryAll({ recorder }: Pick<RunContext, 'recorder'>, isPlanned: IsPlanned, lost: ReadonlySet<AgentId>): void {
  const { failed, behind } = events.retryOf(recorder.state());
  const again = [
    // An agent that lost its provider continues its conversation instead.
    ...failed.filter((id) => isPlanned(id) && !lost.has(id)).map(triedAgain),
    ...behind.filter(isPlanned).map(waitsAgain),
  ];
  if (again.length > 0) recorder.record(...again);
}

const pending = (agent: AgentId, reason: string): events.EventBody => ({
  type: 'agent.status',
  agent,
  status: 'pending',
  reason,
});
const triedAgain = (agent: AgentId): events.EventBody => pending(agent, 'tried again');
const waitsAgain = (agent: AgentId): events.EventBody =>
  pending(agent, 'waiting: the task it depends on is tried again');

/** What a new attempt of `agent` is told about the last one: why it failed or did not pass, and its answer. Empty for a first attempt. */
function attemptBefore(state: events.RunState, agent: AgentId): string {
  const one = state.agents.get(agent);
  if (one === undefined || one.firstRunAt === null) return '';
  const resolving = resolvingText(one);
  if (resolving !== null) return resolving;
  const reviews = events.closedBehind(state, agent).map((gate) => events.gateWords(state, gate));
  const why = reviews.length > 0 ? reviews.join('\n\n') : (one.error ?? '');
  if (why === '') return '';
  // The summary of a failed agent only repeats its error.
  const answer = one.summary.endsWith(why) ? '' : headOf(one.summary, LAST_ANSWER);
  return [
    '## The previous attempt',
    'This task was tried before, and that attempt failed. Its changes to files may still be there: look before you change them.',
    `Why it failed:\n\n${why}`,
    ...(answer === '' ? [] : [`Its answer:\n\n${answer}`]),
  ].join('\n\n');
}
