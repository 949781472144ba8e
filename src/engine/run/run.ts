/**
 * One run from its task to its report: plan, approval, agents, merge. It owns the order of these steps and nothing else;
 * each is recorded before the next begins, so that a resumed run starts where the log ends.
 */
import { CUT_OFF, PARENT_STOPPED } from '../agents/agent-end.ts';
import type { WorkOrder } from '../../domain/agents/agent.ts';
import type { Budget } from '../../domain/budget.ts';
import { tightest, withoutAbsent } from '../../domain/budget.ts';
import type { AgentId, CallId } from '../../domain/ids.ts';
import { ROOT } from '../../domain/ids.ts';
import type { Mode } from '../../domain/mode.ts';
import { isLooser } from '../../domain/mode.ts';
import type { PlanChoices, SoundPlan } from '../../domain/plan/plan.ts';
import { fail } from '../../domain/result.ts';
import { planDigest } from '../../domain/digest.ts';
import type { EventBody, MimirEvent } from '../../events/event.ts';
import { fold } from '../../events/fold.ts';
import { isFinal, mainAgent } from '../../events/queries.ts';
import type { AgentState, RunState } from '../../events/state.ts';
import { EMPTY } from '../../events/state.ts';
import { knownFiles, uncertainCalls, UNKNOWN_EFFECT } from '../../events/turns.ts';
import { runCeiling } from '../../policy/budgets.ts';
import { roleNamed } from '../../policy/roles.ts';
import { namesOf } from '../../policy/rules.ts';
import type { Controls, RunView } from '../../ports/controls.ts';
import type { Some } from '../../ports/log.ts';
import { LogFault } from '../../ports/log.ts';
import { createdEvent, orderOf, startedEvent, withInstructions } from '../agents/agent-spec.ts';
import type { OpenToolCall } from '../gate/tools/interrupted-call.ts';
import { goesOn, openCalls } from '../gate/tools/interrupted-call.ts';
import { hasLetters, takeLetters } from '../messaging/stored-messages.ts';
import { agreeOnPlan } from '../planning/approval.ts';
import { planContextOf } from '../planning/context.ts';
import { choicesOf } from '../planning/model-selection.ts';
import { deniedUnattended, startingPermissions } from '../planning/permissions.ts';
import type { Planning } from '../planning/planner.ts';
import { makePlan, planByHand } from '../planning/planner.ts';
import { reviewWords } from '../reviews/record.ts';
import { mayGoOn } from '../reviews/repeat.ts';
import { forcedRoles } from '../reviews/review-plan.ts';
import { openControls } from './commands.ts';
import { idleRun, wasAtWork } from './idle/idle-session.ts';
import { openTalk } from './idle/main-talk.ts';
import { ROOT_WAITS } from './idle/wait.ts';
import type { RunParts } from './parts.ts';
import { openParts, rootAgent } from './parts.ts';
import { concluded, merge, startingCommit } from './report.ts';
import { runAgents } from './run-agents.ts';
import type { RunOptions, RunResult } from './run-options.ts';
import { result, summed } from './run-result.ts';

export interface Run {
  readonly controls: Controls;
  readonly view: RunView;
  /** Resolves when the run has ended, however; never rejects but for a bug. */
  readonly result: Promise<RunResult>;
  /** Ends it so that it can be resumed; `result` resolves soon after. */
  stop(reason: string): void;
  /** Letters lie in the box: they are looked for now. */
  poke(): void;
}

/** Starts a new run, or goes on with the one whose events are in the log already. Without a model for `main` it fails at once. */
export function startRun(options: RunOptions): Run {
  const root = rootAgent(options);
  if (!root.ok) return refusedRun(options, root.fault);
  const forced = forcedRoles(options);
  if (!forced.ok) return refusedRun(options, forced.fault);
  const parts = openParts(options, root.value);
  const controls = openControls(parts);
  void closeDoors(parts);
  const ended = carryThrough(parts).finally(() => parts.recorder.close());
  const { recorder } = parts;
  const view = {
    session: options.session,
    state: () => recorder.state(),
    each: (after?: number, some?: Some) => options.log.each(options.session, after, some),
  };
  return { controls, view, result: ended, stop: (reason) => parts.stop(reason), poke: () => poked(parts) };
}

/** Of a run that has not begun or has ended they stay in the box. */
function poked(parts: RunParts): void {
  const { seq, finished } = parts.recorder.state();
  if (seq === 0 || finished !== null || parts.signal.aborted) return;
  try {
    takeLetters(parts, 'at once');
  } catch (error) {
    if (!(error instanceof LogFault)) throw error;
    parts.stop(error.message);
  }
}

/** Who has ended asks the run nothing more; a message that revives it opens its door again. */
async function closeDoors({ options: { doors }, recorder }: RunParts): Promise<void> {
  if (doors === undefined) return;
  for await (const event of recorder.events(recorder.state().seq))
    if (event.type === 'agent.finished') doors.close(event.agent);
}

/** Nothing is written: there is nobody to do anything. */
function refusedRun({ session }: RunOptions, error: string): Run {
  const nothing = { message: '', metadata: { totalCost: 0, totalTokens: 0, agentCount: 0 }, overBudget: false };
  return {
    controls: {
      session,
      previewMode: () => ({ refused: error, looser: false, changes: [], answers: 0 }),
      previewPlan: () => fail(error),
      submit: () => Promise.resolve(fail({ text: error })),
      events: () => nobody(),
      ticks: () => () => undefined,
    },
    view: { session, state: () => EMPTY, each: () => [] },
    result: Promise.resolve({ success: false, status: 'failed', ...nothing, error, errorIs: 'denied' }),
    stop: () => undefined,
    poke: () => undefined,
  };
}

async function* nobody(): AsyncGenerator<never> {}

async function carryThrough(parts: RunParts): Promise<RunResult> {
  try {
    const { seq, finished } = parts.recorder.state();
    if (finished !== null && isOver(parts, finished.status)) return summed(parts, finished.status, null);
    const resumed = seq > 0;
    if (!(resumed ? reopen(parts, onlyAnswers(parts)) : open(parts))) return result(parts);
    takeLetters(parts, 'later');
    if (parts.options.followUp !== undefined) sendToMain(parts, parts.options.followUp);
    return await (parts.recorder.state().idle ? idleRun(parts, resumed) : plannedRun(parts, resumed));
  } catch (error) {
    // The log can't be written: stopping without a word in it is all that is left.
    if (!(error instanceof LogFault)) throw error;
    parts.stop(error.message);
    return summed(parts, 'stopped', error.message);
  }
}

/** Nothing is left to do then, and nothing is written: the result is what it was. */
const isOver = (parts: RunParts, status: RunResult['status']): boolean =>
  status === 'rejected' || (status === 'completed' && !hasLetters(parts) && parts.options.followUp === undefined);

/** Had the run ended, so that it is resumed for messages alone? Or was it, and was stopped before it had answered them. */
function onlyAnswers({ options, recorder }: RunParts): boolean {
  const { finished, answering, idle } = recorder.state();
  if (idle) return false;
  const ended = finished?.status === 'completed' || (finished?.status === 'failed' && options.followUp !== undefined);
  return ended || answering;
}

/** To whom reads it: an agent that can't be revived is none, and ROOT knows what it has found. */
function sendToMain({ recorder, children, inbox }: RunParts, content: string): void {
  const main = mainAgent(recorder.state());
  const to = children.closed(main) === null ? main : ROOT;
  inbox.send({ from: 'person', sender: null, to, kind: 'request', delivery: 'important', content });
}

async function plannedRun(parts: RunParts, resumed: boolean): Promise<RunResult> {
  const { recorder, children } = parts;
  const { answering, approvedDigest } = recorder.state();
  const before = answering ? endedBefore(parts) : null;
  // The work of the plan may be long in coming.
  if (resumed && approvedDigest === null) children.resume();
  if (before === null && (await approvedPlan(parts)) === null) return result(parts);
  const talk = openTalk(parts);
  if (recorder.state().approvedDigest !== null) await runAgents(parts, resumed, talk);
  await talk.close();
  endLost(parts);
  if (before === null || parts.signal.aborted) return merge(parts, talk.answers());
  // The run had ended: its report stays, and what is answered to messages is added.
  const said = talk.answers().map((text) => `## main, later\n\n${text}`);
  return concluded(parts, [withoutReviews(before), ...said].join('\n\n'), before);
}

/** Children of a call that nobody went on with: its parent has ended, by a rule that came between. */
function endLost({ recorder, crew, signal }: RunParts): void {
  const { agents } = recorder.state();
  const ended = (id: AgentId | null): boolean => id !== null && (agents.get(id)?.outcome ?? null) !== null;
  for (const { id, outcome, parent, call, summary } of signal.aborted ? [] : agents.values())
    if (outcome === null && call !== null && ended(parent))
      recorder.record(crew.finished(id, 'abandoned', summary, PARENT_STOPPED));
}

/** The state at the last end of the run that was no stop. */
function endedBefore({ recorder }: RunParts): RunState {
  let [state, atEnd] = [EMPTY, EMPTY];
  for (const event of recorder.each()) {
    state = fold(state, event);
    if (event.type === 'session.finished' && event.status !== 'stopped') atEnd = state;
  }
  return atEnd;
}

/** The reviews are said anew at each end. */
function withoutReviews(before: RunState): string {
  const report = before.finished?.summary ?? '';
  const reviews = reviewWords(before);
  const said = `## Reviews\n\n${reviews}`;
  return reviews !== '' && report.endsWith(said) ? report.slice(0, -said.length).trimEnd() : report;
}

function open({ options, recorder, root }: RunParts): true {
  const idle = options.idle === true;
  options.tools.knew?.([]);
  recorder.record(
    startedEvent(options, idle ? { idle } : {}),
    createdEvent(options, root),
    idle ? ROOT_WAITS : { type: 'agent.status', agent: ROOT, status: 'running', reason: '' },
  );
  return true;
}

/** The plan that was approved before a crash, or one that is made, shown and approved now. Null: not approved. */
async function approvedPlan(parts: RunParts): Promise<SoundPlan | null> {
  const state = parts.recorder.state();
  if (state.approvedDigest !== null && state.plan !== null) return state.plan;
  const choices = state.choices ?? choicesOf(parts.options);
  if (choices.roles.length === 0) {
    parts.failed('no role may be planned: the rules on roles and models leave none', 'denied');
    return null;
  }
  let plan = state.plan;
  for (let hint = ''; ; plan = null) {
    plan ??= await propose(parts, choices, hint);
    if (plan === null) return null;
    const agreed = await agreeOnPlan(parts);
    if (agreed.is === 'approved') return parts.recorder.state().plan;
    if (agreed.is === 'rejected') return null;
    hint = agreed.hint;
  }
}

async function propose(parts: RunParts, choices: PlanChoices, hint: string): Promise<SoundPlan | null> {
  const { options, recorder, gate, world } = parts;
  const began = world.elapsed();
  const root: WorkOrder = {
    ...orderOf(options, parts.root, []),
    system: withInstructions(options.prompts.plan, options.prompts),
    tools: [],
    capabilities: [],
  };
  const facts: Planning['facts'] = (signal) => options.repository.facts(signal);
  const context = planContextOf(options, choices);
  const before = recorder.state().plan;
  const planning: Planning = { options, gate, root, context, facts, hint, before };
  const made = await makePlan(planning, parts.signal);
  const offered = made.ok ? made.value : planByHand(planning, made.fault);
  if (offered === null) {
    if (!made.ok && made.fault.is !== 'stopped') parts.failed(made.fault.text, made.fault.is);
    return null;
  }
  const { by, fault } = offered;
  const plan = startingCommit(startingPermissions(offered.plan, options, before), options, before);
  const unattended = deniedUnattended(options, plan, choices);
  recorder.record({
    type: 'plan.proposed',
    plan,
    choices,
    by,
    ms: Math.round(world.elapsed() - began),
    digest: planDigest(plan),
    ...(fault === undefined ? {} : { fault }),
    ...(unattended === null ? {} : { unattended }),
  });
  return plan;
}

// How a run begins again that was stopped or cut off: what a crash left half done is written down, and everything is
// admitted anew by the rules of now: limits, mode, roles. What is forbidden by now stands still, with words.

/**
 * Effects that may have happened are told to the model as unknown, never repeated; calls that wait for a child or a person stay
 * open, and so do their children; children whose call has ended without them end. Reviews wait until what they judge is
 * asked again. `answers`: the run had ended, and only answers messages. Calls of models without an end stay open in the log: their reservation is charged as uncertain, since the provider may have billed it. False: the
 * run can't go on at all, and was stopped.
 */
function reopen(parts: RunParts, answers: boolean): boolean {
  const { options, recorder, crew } = parts;
  const state = recorder.state();
  const stored = recorder.takeEarlier();
  options.tools.knew?.(knownFiles(stored));
  const left = callsLeftOpen(options, stored);
  const isLeft = (agent: AgentId, call: CallId): boolean =>
    left.some((one) => one.agent === agent && one.call === call);
  const uncertain = uncertainCalls(stored).filter(({ agent, call }) => !isLeft(agent, call));
  const unknown = uncertain.map(
    ({ agent, call, tool }): EventBody => ({
      type: 'tool.finished',
      agent,
      call,
      tool,
      ok: false,
      output: UNKNOWN_EFFECT,
      ms: 0,
    }),
  );
  const kept = new Set(left.map(({ child }) => child));
  const lost = [...state.agents.values()].filter((one) => isLost(one, state) && !kept.has(one.id));
  const mode = modeOf(options, state);
  recorder.record(
    {
      type: 'session.resumed',
      ...namesOf(options.rules),
      version: options.version,
      budget: budgetOf(options, stored),
      ...(answers ? { answers } : {}),
    },
    ...(mode === state.mode ? [] : [{ type: 'session.mode', mode } as const]),
    ...unknown,
    ...lost.map(({ id, summary, forced }) =>
      crew.finished(id, 'abandoned', summary, forced === null ? PARENT_STOPPED : CUT_OFF),
    ),
    ...rootNow(state, stored),
  );
  const problem = problemOf(options, recorder.state());
  if (problem === null) return true;
  parts.failed(problem, 'denied');
  parts.stop(problem);
  return false;
}

/** Calls that wait for a child or a person: whoever made them goes on with them. */
const callsLeftOpen = ({ tools }: RunOptions, stored: readonly MimirEvent[]): readonly OpenToolCall[] =>
  openCalls(stored).filter((call) => goesOn(tools, call));

/** Of a run without a plan it waits as it did; where it was at work it goes on by itself. */
function rootNow({ idle }: RunState, stored: readonly MimirEvent[]): readonly EventBody[] {
  if (!idle) return [{ type: 'agent.status', agent: ROOT, status: 'running', reason: '' }];
  return wasAtWork(stored) ? [] : [ROOT_WAITS];
}

/** Nobody begins it again: it is no task of the plan, and does not work beside it. */
const isLost = (one: AgentState, { idle }: RunState): boolean =>
  one.parent !== null &&
  one.taskId === null &&
  one.spawned === null &&
  !isFinal(one) &&
  !(one.forced !== null && mayGoOn(one.forced, idle));

/** What was typed for this start, else what the run was in; never looser than the rules of now allow. */
function modeOf({ chosenMode, rules }: RunOptions, state: RunState): Mode {
  const wanted = chosenMode ?? state.mode;
  return isLooser(wanted, rules.maxMode.value) ? rules.maxMode.value : wanted;
}

/** Why it can't go on at all, or null. What only concerns one agent ends that agent. */
function problemOf({ person, roles }: RunOptions, { mode, plan }: RunState): string | null {
  if (mode === 'human' && !person)
    return 'the run is in mode human, and there is nobody who answers each turn: --mode confirm goes on without';
  const gone = plan?.tasks.find(({ role }) => roleNamed(role, roles) === null);
  return gone === undefined ? null : `its plan names the role ${gone.role}, and there is none of that name any more`;
}

const LIMITS = ['maxTokens', 'maxCost', 'maxDuration'] as const;

/**
 * The limits of now, but for those that a person set while the run went on: these hold on, within what the rules of now
 * allow. What was typed for this start is the newer word.
 */
function budgetOf({ rules, runBudget }: RunOptions, stored: readonly MimirEvent[]): Budget {
  const said = setByPerson(stored);
  const kept = LIMITS.filter(
    (limit) => said[limit] !== undefined && rules.runBudget.each?.[limit]?.layer !== 'command line',
  );
  const own = Object.fromEntries(kept.map((limit) => [limit, said[limit]]));
  const most = withoutAbsent(Object.fromEntries(kept.map((limit) => [limit, runCeiling(limit, rules).most])));
  return { ...runBudget, ...tightest(withoutAbsent(own), most) };
}

/** The run's limits that a person has changed, as they said it last. */
function setByPerson(stored: readonly MimirEvent[]): Budget {
  let [now, said]: [Budget, Budget] = [{}, {}];
  for (const event of stored) {
    if (event.type === 'session.started') now = event.budget;
    else if (event.type === 'session.resumed') now = event.budget ?? now;
    else if (event.type === 'budget.changed' && event.agent === ROOT) {
      const { budget, by } = event;
      const before = now;
      const changed = by === 'person' ? LIMITS.filter((limit) => budget[limit] !== before[limit]) : [];
      said = withoutAbsent({ ...said, ...Object.fromEntries(changed.map((limit) => [limit, budget[limit]])) });
      now = budget;
    }
  }
  return said;
}
