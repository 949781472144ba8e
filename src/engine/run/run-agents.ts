/** The agents of an approved plan: which starts when, what starts are checked against, what follows from a failure. */
import { isAnswered } from '../../domain/agents/agent.ts';
import type { AgentOutcome } from '../../domain/agents/agent.ts';
import type { AgentId } from '../../domain/ids.ts';
import { ROOT } from '../../domain/ids.ts';
import type { SoundPlan } from '../../domain/plan/plan.ts';
import { reasonText } from '../../domain/reason.ts';
import { planDigest } from '../../domain/digest.ts';
import type { ApprovalRequest, EventBody } from '../../events/event.ts';
import { isFinal } from '../../events/queries.ts';
import type { EndReason } from '../agents/agent-end.ts';
import type { AgentState, RunState } from '../../events/state.ts';
import type { Standing } from '../../events/turns.ts';
import { standingsOf } from '../../events/turns.ts';
import { plannedRoleProblem } from '../../policy/roles.ts';
import { namesOf } from '../../policy/rules.ts';
import type { NewAgent } from '../agents/agent-spec.ts';
import { findingLimits, findingsOf, orderOf } from '../agents/agent-spec.ts';
import { attemptBefore, retried, triedAgain, waitsAgain } from '../agents/retry.ts';
import type { Choice } from '../agents/scheduler.ts';
import { schedule } from '../agents/scheduler.ts';
import { openTable } from '../planning/plan-table.ts';
import type { Table } from '../planning/plan-table.ts';
import { closedBehind, gateWords, isSettled } from '../reviews/record.ts';
import type { MainTalk } from './idle/main-talk.ts';
import type { RunParts } from './parts.ts';

/**
 * Every agent of the plan, as soon as its own needs are done, and all that works beside it, then the reviews of it all. Resolves when
 * nothing runs any more.
 */
export async function runAgents(parts: RunParts, resumed: boolean, talk: MainTalk): Promise<void> {
  const { forced, scheduling, children } = parts;
  const table = openTable(parts);
  const lost = resumed ? retried(parts, (id) => table.agent(id) !== undefined) : new Set<AgentId>();
  let known = knownOutcomes(parts, table, lost);
  const ids = table.agents().flatMap(({ agent }) => (known.has(agent) ? [] : [agent]));
  // Read once: of hundreds of agents each would read the whole log again.
  const standings = new Map(standingsOf(parts.recorder.each({ agents: ids }), ids));
  await forced.atStart();
  if (resumed) children.resume((agent) => ids.includes(agent));
  // Who had ended and was written to since goes on: what needs it waits for that.
  known = new Map([...known].filter(([id]) => children.endOf(id) === undefined));
  for (;;) {
    const running = schedule<AgentId>({
      jobs: table.jobs(),
      apart: (id, other) => table.areApart(id, other),
      known,
      start: (id, again) => {
        const beside = again ? undefined : children.endOf(id);
        if (beside !== undefined) return beside;
        const standing = standings.get(id);
        standings.delete(id);
        const start = { again, standing, isNeeded: () => table.isNeeded(id) };
        return orStop(parts, startByRule(parts, table.agent(id), start));
      },
      choose: (failed, blocked, moot) => orStop(parts, choiceAfter(parts, { failed, blocked, moot })),
      satisfies: (id, outcome) => isAnswered(outcome) && (outcome === 'completed' || hasAnswer(parts, id)),
      skipped: (id, because) => skip(parts, id, because),
      restored: (id) => parts.recorder.record(waitsAgain(id)),
    });
    scheduling.now = running;
    const { outcomes, stopped } = await running.done;
    known = outcomes;
    // What ROOT does for a person meanwhile may begin more.
    do await children.settled();
    while (await talk.settled());
    const isDone = (): boolean => stopped || table.jobs().every(({ id }) => outcomes.has(id));
    if (!parts.signal.aborted && isDone()) await forced.atEnd();
    if (parts.signal.aborted || (isDone() && !children.working())) break;
    // The plan was amended when the last of its tasks had ended, or one was written to: what came is done as well.
    forced.goOn();
  }
  scheduling.amend = null;
}

/** A partial end without a word gives those that need it nothing. */
const hasAnswer = ({ recorder }: RunParts, id: AgentId): boolean => recorder.state().agents.get(id)?.summary !== '';

/** How agents of a resumed run have ended that are not begun again. */
function knownOutcomes(parts: RunParts, table: Table, lost: ReadonlySet<AgentId>): ReadonlyMap<AgentId, AgentOutcome> {
  const known = new Map<AgentId, AgentOutcome>();
  const { agents, answering } = parts.recorder.state();
  for (const [id, state] of agents)
    if (state.outcome !== null && isOver(parts, table.agent(id), state, lost)) known.set(id, state.outcome);
    // The run had ended before this agent could begin, and nothing begins by a message.
    else if (answering && state.outcome === null && state.firstRunAt === null) known.set(id, 'skipped');
  return known;
}

/** Is there nothing left to do for this agent of a resumed run, not even to judge its work? */
function isOver(
  { recorder, forced }: RunParts,
  one: NewAgent | undefined,
  state: AgentState,
  lost: ReadonlySet<AgentId>,
): boolean {
  if (one === undefined || state.outcome === null) return false;
  if (!recorder.state().answering && !stays(state, lost)) return false;
  if (state.outcome !== 'completed' || !forced.judges(one)) return true;
  return forced.nodes('on-write').every((node) => isSettled(recorder.state(), node, one.agent));
}

/**
 * Does a resumed run take this end as it is? Limits may be higher by now: who was stopped by one is let in again (and
 * stops at once if they aren't), and with it what was left out for its sake. Who failed because its provider could not
 * be reached goes on as well.
 */
const stays = ({ id, outcome, endedBy }: AgentState, lost: ReadonlySet<AgentId>): boolean =>
  outcome !== 'partial' &&
  !(outcome === 'failed' && lost.has(id)) &&
  (outcome !== 'skipped' || endedBy?.is === 'person');

/** A fault ends the others too: the schedule waits for them. */
async function orStop<T>(parts: RunParts, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    parts.stop(error instanceof Error ? error.message : String(error));
    throw error;
  }
}

/** How an agent is begun. */
interface Start {
  readonly again: boolean;
  readonly standing: Standing | undefined;
  /** Does another wait for it by now? */
  readonly isNeeded: () => boolean;
}

/** Under the rule `retry` a task that failed runs once more, whether another task needs it or not. */
async function startByRule(parts: RunParts, one: NewAgent | undefined, start: Start): Promise<AgentOutcome | null> {
  const outcome = await startAgent(parts, one, start);
  if (one === undefined || outcome !== 'failed' || !mayRetryByRule(parts, one.agent)) return outcome;
  parts.retried.add(one.agent);
  return startAgent(parts, one, { ...start, again: true, standing: undefined });
}

/** An agent that was barred from starting has not run, and would be barred again. */
const mayRetryByRule = ({ options, recorder, retried, signal }: RunParts, agent: AgentId): boolean =>
  options.rules.onFailure.value === 'retry' &&
  !signal.aborted &&
  !retried.has(agent) &&
  (recorder.state().agents.get(agent)?.firstRunAt ?? null) !== null;

async function startAgent(parts: RunParts, one: NewAgent | undefined, start: Start): Promise<AgentOutcome | null> {
  const { recorder, crew } = parts;
  if (!one) throw new Error('an agent that is not in the plan');
  if (parts.signal.aborted) return null;
  const state = recorder.state();
  // What runs is what was approved: a plan that changed since is a broken log.
  if (state.plan === null || digestOf(state.plan) !== state.approvedDigest) {
    recorder.record(crew.finished(one.agent, 'failed', '', 'the stored plan is not the one that was approved'));
    return 'failed';
  }
  return barred(parts, one)
    ? 'failed'
    : parts.forced.judges(one)
      ? judgedWork(parts, one, start)
      : work(parts, one, start);
}

/** Rules may forbid by now what was approved: the agent does not begin, and what needs it waits. */
function barred({ options, recorder, crew }: RunParts, { agent, role }: NewAgent): boolean {
  const { rules } = options;
  const problem = plannedRoleProblem(role.name, rules, options.roles);
  if (problem === null) return false;
  const about = { subject: role.name, action: 'role', decision: 'deny', ...problem.reason, ...namesOf(rules) } as const;
  const why = `${problem.text}: ${reasonText(problem.reason)}`;
  recorder.record({ type: 'policy.decided', agent, ...about }, crew.finished(agent, 'failed', `Failed: ${why}`, why));
  return true;
}

/** Work that is over when it was judged; where nobody else asks what to do without a pass, it is asked here. */
async function judgedWork(parts: RunParts, one: NewAgent, start: Start): Promise<AgentOutcome | null> {
  const looking = parts.forced.begin(one);
  const before = looking === null ? null : await looking;
  const outcome = await work(parts, one, start);
  if (outcome === null || parts.signal.aborted) return null;
  const passage = await parts.forced.afterTask(one, before);
  if (passage !== 'closed' || !isAnswered(outcome)) return passage === null ? null : outcome;
  // The schedule asks where somebody waits.
  if (start.isNeeded()) return 'failed';
  const moot = new AbortController().signal;
  const choice = await chooseAfterFailure(parts, { failed: one.agent, blocked: [], moot });
  if (choice === 'retry') return startAgent(parts, one, { ...start, again: true, standing: undefined });
  return parts.signal.aborted ? null : 'failed';
}

/** Carries it through; one that had ended well when the run was cut off, its work not judged yet, has nothing more to do. */
async function work(
  { options, recorder, crew }: RunParts,
  one: NewAgent,
  { again, standing }: Start,
): Promise<AgentOutcome | null> {
  const { agent } = one;
  const state = recorder.state();
  if (!again && state.agents.get(agent)?.outcome === 'completed') return 'completed';
  const failure = again || standing?.turns.length === 0 ? attemptBefore(state, agent) : '';
  if (again) recorder.record(triedAgain(agent));
  const findings = findingsOf(recorder.state(), one.dependsOn, findingLimits(options, one.model.used));
  const order = orderOf(options, failure === '' ? one : { ...one, task: `${one.task}\n\n${failure}` }, findings);
  return crew.run({ ...order, ...(again ? {} : standing) });
}

/** Plans are never changed in place: of one that hundreds of agents start from the digest is made once. */
const digests = new WeakMap<SoundPlan, string>();
function digestOf(plan: SoundPlan): string {
  const digest = digests.get(plan) ?? planDigest(plan);
  digests.set(plan, digest);
  return digest;
}

interface Failure {
  readonly failed: AgentId;
  readonly blocked: readonly AgentId[];
  /** Aborted when there is nothing to choose any more. */
  readonly moot: AbortSignal;
}

/** What was left out and is wanted after all waits for its needs again, and is shown so. */
async function choiceAfter(parts: RunParts, failure: Failure): Promise<Choice> {
  const { recorder } = parts;
  const { failed: agent, moot } = failure;
  const choice = await chooseAfterFailure(parts, failure);
  if (choice === 'retry' && !moot.aborted && recorder.state().agents.get(agent)?.outcome === 'skipped')
    recorder.record(waitsAgain(agent));
  return choice;
}

/** Pending with the reason, then the choice of a person or of the rule. */
async function chooseAfterFailure(parts: RunParts, failure: Failure): Promise<Choice> {
  const { options, recorder } = parts;
  const { failed, blocked } = failure;
  const state = recorder.state();
  // As the screens number it: the place in the plan says nothing once that was amended.
  const number = failed.slice(`${ROOT}::S`.length);
  const reason = `blocked by #${number} ${state.agents.get(failed)?.role ?? ''}`;
  const waits = { status: 'pending', reason, waitingFor: { is: 'task' } } as const;
  if (blocked.length > 0)
    recorder.record(...blocked.map((agent): EventBody => ({ type: 'agent.status', agent, ...waits })));
  const rule = options.rules.onFailure.value;
  if (rule === 'ask') return options.person ? askPerson(parts, failure) : 'skip';
  if (rule === 'stop') parts.stop(`stopped by ${reasonText(options.rules.onFailure.from)}`);
  if (rule !== 'retry') return rule;
  // By rule once, not for ever.
  if (parts.retried.has(failed)) return 'skip';
  parts.retried.add(failed);
  return 'retry';
}

async function askPerson(parts: RunParts, { failed, blocked, moot }: Failure): Promise<Choice> {
  const { options, recorder, approvals } = parts;
  const answer = await approvals.ask(
    orderOf(options, parts.root, []),
    null,
    failureQuestion(recorder.state(), failed, blocked),
    AbortSignal.any([parts.signal, moot]),
  );
  if (answer.is === 'withdrawn') return 'stop';
  // At once: who says "stop" does not want to wait for the others.
  if (answer.text === 'stop') parts.stop('stopped by you');
  return answer.text === 'retry' || answer.text === 'stop' ? answer.text : 'skip';
}

const SKIPPED_BY_YOU: EndReason = { error: 'skipped by you', endedBy: { is: 'person' } };

function skip({ recorder, crew }: RunParts, id: AgentId, because: AgentId): void {
  const state = recorder.state();
  const one = state.agents.get(id);
  if (!one || isFinal(one)) return;
  const cause = state.agents.get(because)?.name ?? because;
  const closed = closedBehind(state, because).length > 0;
  const why = closed ? `skipped: the review of ${cause} did not pass` : `skipped: ${cause} did not complete`;
  recorder.record(crew.finished(id, 'skipped', '', because === id ? SKIPPED_BY_YOU : why));
}

// What a person is asked when work did not complete, or did not pass a review: who waits for it, why, and what they may choose.

/** `blocked` may be empty: nobody waits for what did not pass. */
function failureQuestion(state: RunState, failed: AgentId, blocked: readonly AgentId[]): ApprovalRequest {
  const nameOf = (id: AgentId): string => state.agents.get(id)?.name ?? id;
  const closed = closedBehind(state, failed);
  const reviews = closed.map(({ role }) => role).join(' and ');
  const name = nameOf(failed);
  const what = closed.length === 0 ? `${name} did not complete` : `${reviews} review of ${name} did not pass`;
  const findings = closed.map((gate) => gateWords(state, gate)).join('\n\n');
  const why = findings === '' ? (state.agents.get(failed)?.error ?? 'It did not complete.') : findings;
  const names = blocked.map(nameOf).join(', ');
  const waiting = names === '' ? '' : `; ${names} ${blocked.length === 1 ? 'needs' : 'need'} it`;
  const skip = names === '' ? 'leave it so: the run ends as failed' : `leave out ${names}, the rest goes on`;
  return {
    action: 'failure',
    title: `${what}${waiting}`,
    exact: `${why}\n\nretry: run ${name} again\nskip: ${skip}\nstop: end the run, it can be resumed`,
    options: ['retry', 'skip', 'stop'],
    unsandboxed: false,
    because: '',
  };
}
