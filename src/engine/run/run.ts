/** One run from its task to its report: plan, approval, agents, merge. Owns the order of these steps; each is recorded before the next
 * begins, so that a resumed run starts where the log ends. */
import { createdEvent, CUT_OFF, finishedEvent, PARENT_STOPPED } from '../agents/index.ts';
import { Budget, tightest, withoutAbsent } from '../../domain/budget.ts';
import { type AgentId, ROOT } from '../../domain/ids.ts';
import { isLooser, type Mode } from '../../domain/reason.ts';
import type { PlanChoices, SoundPlan } from '../../domain/plan/plan.ts';
import { fail } from '../../domain/result.ts';
import { planDigest } from '../../domain/digest.ts';
import { paragraphs } from '../../domain/text/text.ts';
import * as events from '../../events/index.ts';
import { namesOf, roleNamed, runCeiling } from '../../policy/index.ts';
import type { Controls, RunView } from '../../ports/controls.ts';
import { LogFault } from '../../ports/log.ts';
import { canContinue, openCalls } from '../gate/index.ts';
import { choicesOf, deniedUnattended, startingPermissions } from '../planning/index.ts';
import { forcedRoles, mayGoOn } from '../reviews/index.ts';
import { openControls } from './commands.ts';
import { concluded, merge, result, startingCommit, summed } from './report.ts';
import { closingSections } from './last-checks.ts';
import { runAgents } from './run-agents.ts';
import { openRun, rootAgent, type RunModules, type RunOptions, type RunResult, startedEvent } from './open-run.ts';
import { idleRun, ROOT_RUNS, ROOT_WAITS, wasAtWork } from './idle-session.ts';
import { openTalk } from './main-talk.ts';

export interface Run {
  readonly controls: Controls;
  readonly view: RunView;
  /** Resolves when the run has ended in any way; rejects only on a bug. */
  readonly result: Promise<RunResult>;
  /** Ends the run so that it can be resumed; `result` resolves soon after. */
  stop(reason: string): void;
  /** Call when the message store has new messages. */
  poke(): void;
}

/** Starts a new run, or resumes the one in the log. Fails at once without a model for `main`. */
export function startRun(options: RunOptions): Run {
  const root = rootAgent(options);
  if (!root.ok) return refusedRun(options, root.fault);
  const forced = forcedRoles(options);
  if (!forced.ok) return refusedRun(options, forced.fault);
  const parts = openRun(options, root.value);
  const controls = openControls(parts);
  const { recorder } = parts;
  recorder.onRecord((event) => {
    // A message that revives the agent opens its socket again.
    if (event.type === 'agent.finished') options.agentSockets?.close(event.agent);
  });
  const ended = carryThrough(parts).finally(() => recorder.close());
  return { controls, view: recorder, result: ended, stop: (reason) => parts.stop(reason), poke: () => poked(parts) };
}

/** Messages to a run that has not begun or has ended stay in the store. */
function poked(parts: RunModules): void {
  const { seq, finished } = parts.recorder.state();
  if (seq === 0 || finished !== null || parts.signal.aborted) return;
  try {
    parts.messaging.takeMessages('at once');
  } catch (error) {
    if (!(error instanceof LogFault)) throw error;
    parts.stop(error.message);
  }
}

function refusedRun({ session }: RunOptions, error: string): Run {
  const nothing = { message: '', metadata: { totalCost: 0, totalTokens: 0, agentCount: 0 }, overBudget: false };
  return {
    controls: {
      session,
      previewMode: () => Promise.resolve({ refused: error, looser: false, changes: [], answers: 0 }),
      previewPlan: () => Promise.resolve(fail(error)),
      submit: () => Promise.resolve(fail({ text: error })),
      events: () => nobody(),
      ticks: () => () => undefined,
    },
    view: { session, state: () => events.EMPTY, each: () => [] },
    result: Promise.resolve({ success: false, status: 'failed', ...nothing, error, errorIs: 'denied' }),
    stop: () => undefined,
    poke: () => undefined,
  };
}

async function* nobody(): AsyncGenerator<never> {}

async function carryThrough(parts: RunModules): Promise<RunResult> {
  try {
    const { seq, finished } = parts.recorder.state();
    if (finished !== null && isOver(parts, finished.status)) return summed(parts, finished.status, null);
    const resumed = seq > 0;
    if (!(resumed ? reopen(parts, onlyAnswers(parts)) : open(parts))) return await result(parts);
    parts.messaging.takeMessages('later');
    if (parts.options.followUp !== undefined) sendFollowUp(parts, parts.options.followUp);
    return await (parts.recorder.state().idle ? idleRun(parts, resumed) : plannedRun(parts, resumed));
  } catch (error) {
    // The log cannot be written, so the stop cannot be recorded either.
    if (!(error instanceof LogFault)) throw error;
    parts.stop(error.message);
    return { ...summed(parts, 'stopped', error.message), errorIs: 'log' };
  }
}

/** Whether nothing is left to do. Nothing is written then, and the result stays as it was. */
const isOver = (parts: RunModules, status: RunResult['status']): boolean =>
  status === 'rejected' ||
  (status === 'completed' &&
    !parts.messaging.hasMessages() &&
    parts.options.followUp === undefined &&
    // A review that was closed after the end judges again.
    events.closedGates(parts.recorder.state()).length === 0);

/** Whether the run is resumed only to answer messages, now or in an earlier process that was stopped before it had answered. */
function onlyAnswers({ options, recorder }: RunModules): boolean {
  const { finished, answering, idle } = recorder.state();
  if (idle) return false;
  const ended = finished?.status === 'completed' || (finished?.status === 'failed' && options.followUp !== undefined);
  return ended || answering;
}

/** Sends to the agent that is meant, else to `main`, or to ROOT, which knows its findings, where these cannot be revived. */
function sendFollowUp({ options, recorder, messaging: { children }, gate }: RunModules, content: string): void {
  const { followUpTo } = options;
  const { agents } = recorder.state();
  const meant = followUpTo !== undefined && agents.has(followUpTo) ? [followUpTo] : [];
  const to = [...meant, events.mainAgent(recorder.state())].find((one) => children.closed(one) === null) ?? ROOT;
  gate.inbox.send({ from: 'person', to, content });
}

async function plannedRun(parts: RunModules, resumed: boolean): Promise<RunResult> {
  const { recorder } = parts;
  const { children } = parts.messaging;
  const { answering, approvedDigest } = recorder.state();
  const before = answering ? recorder.lastEnd : null;
  // The plan's work may begin much later.
  if (resumed && approvedDigest === null) children.resume();
  if (before === null && (await approvedPlan(parts)) === null) return result(parts);
  const talk = openTalk(parts);
  if (recorder.state().approvedDigest !== null) await runAgents(parts, resumed, talk);
  await talk.close();
  endLost(parts);
  if (before === null || parts.signal.aborted) return merge(parts, talk.answers());
  // The ended run's report stays; answers to messages are appended.
  const said = talk.answers().map((text) => `## main, later\n\n${text}`);
  return concluded(parts, [withoutSections(before), ...said].join('\n\n'), before);
}

/** Ends children of calls that nobody continued because the parent has ended. */
function endLost(parts: RunModules): void {
  const { agents } = parts.recorder.state();
  const ended = (id: AgentId | null): boolean => id !== null && (agents.get(id)?.outcome ?? null) !== null;
  for (const { id, outcome, parent, call, summary } of parts.signal.aborted ? [] : agents.values())
    if (outcome === null && call !== null && ended(parent))
      parts.recorder.record(finishedEvent(parts, id, 'abandoned', summary, PARENT_STOPPED));
}

/** The report without what stands below it, which is written again at each end. */
function withoutSections(before: events.RunState): string {
  const report = before.finished?.summary ?? '';
  const said = paragraphs(closingSections(before));
  return said !== '' && report.endsWith(said) ? report.slice(0, -said.length).trimEnd() : report;
}

function open({ options, recorder, root }: RunModules): true {
  const idle = options.idle === true;
  options.tools.knew?.([]);
  recorder.record(
    startedEvent(options, idle ? { idle, choices: choicesOf(options) } : {}),
    createdEvent(options, root),
    idle ? ROOT_WAITS : ROOT_RUNS,
  );
  return true;
}

/** The plan approved before a crash, or a new one that is made, shown and approved. Null: not approved. */
async function approvedPlan(parts: RunModules): Promise<SoundPlan | null> {
  const state = parts.recorder.state();
  if (state.approvedDigest !== null && state.plan !== null) return state.plan;
  const choices = state.choices ?? choicesOf(parts.options);
  if (choices.roles.length === 0) {
    parts.note('no role can be planned: the rules allow no role with a model', 'denied');
    return null;
  }
  let plan = state.plan;
  for (let hint = ''; ; plan = null) {
    plan ??= await propose(parts, choices, hint);
    if (plan === null) return null;
    const agreed = await parts.planning.agree();
    if (agreed.is === 'approved') return parts.recorder.state().plan;
    if (agreed.is === 'rejected') return null;
    hint = agreed.hint;
  }
}

async function propose(parts: RunModules, choices: PlanChoices, hint: string): Promise<SoundPlan | null> {
  const { options, recorder, world, planning } = parts;
  const began = world.elapsed();
  const before = recorder.state().plan;
  const made = await planning.make(before, choices, hint);
  if (!made.ok) {
    if (made.fault.is !== 'stopped') parts.note(made.fault.text, made.fault.is);
    return null;
  }
  const offered = made.value;
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

// Resuming a stopped or interrupted run: half-finished work is recorded, and everything is checked against the present rules.

/** Prepares a resumed run. Calls with effects that may have happened are reported to the model as unknown and never repeated. Calls that
 * wait for a child or a person stay open with their children; children without such a call end. Model calls without an end stay open: their
 * reservation stays charged, because the provider may have billed it. `answers`: the run is resumed only to answer messages. False: the run
 * cannot continue and was stopped. */
function reopen(parts: RunModules, answers: boolean): boolean {
  const { options, recorder } = parts;
  const state = recorder.state();
  const stored = recorder.takeEarlier();
  options.tools.knew?.(
    stored.flatMap((event) =>
      event.type === 'tool.finished' && event.saw !== undefined ? [{ agent: event.agent, ...event.saw }] : [],
    ),
  );
  // Open calls that wait for a child or a person are continued by their agents.
  const { true: left = [], false: cut = [] } = Object.groupBy(openCalls(stored), (call) =>
    canContinue(options.tools, call) ? 'true' : 'false',
  );
  const unknown = cut
    .filter(({ repeat }) => repeat === 'never')
    .map(({ agent, call, tool }): events.EventBody => {
      const what = { agent, call, tool, ok: false, output: events.UNKNOWN_EFFECT, ms: 0 };
      return { type: 'tool.finished', ...what };
    });
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
      finishedEvent(parts, id, 'abandoned', summary, forced === null ? PARENT_STOPPED : CUT_OFF),
    ),
    ...rootNow(state, stored),
  );
  const problem = problemOf(options, recorder.state());
  if (problem === null) return true;
  parts.fail(problem, 'denied');
  return false;
}

/** ROOT of a run without a plan waits as before; if it was working, it continues by itself. */
function rootNow({ idle }: events.RunState, stored: readonly events.MimirEvent[]): readonly events.EventBody[] {
  if (!idle) return [ROOT_RUNS];
  return wasAtWork(stored) ? [] : [ROOT_WAITS];
}

/** Whether nothing will start the agent again: it belongs neither to the plan nor to the spawned children. */
const isLost = (one: events.AgentState, { idle }: events.RunState): boolean =>
  one.parent !== null &&
  one.taskId === null &&
  one.spawned === null &&
  !events.isFinal(one) &&
  !(one.forced !== null && mayGoOn(one.forced, idle));

/** The mode typed for this start, otherwise the run's last one, limited by the present rules. */
function modeOf({ chosenMode, rules }: RunOptions, state: events.RunState): Mode {
  const wanted = chosenMode ?? state.mode;
  return isLooser(wanted, rules.maxMode.value) ? rules.maxMode.value : wanted;
}

/** Why the run cannot continue at all, or null. Problems of a single agent end only that agent. */
function problemOf({ person, roles }: RunOptions, { mode, plan }: events.RunState): string | null {
  if (mode === 'human' && !person)
    return 'the run is in mode human, but nobody can answer each turn: resume it with --mode confirm';
  const gone = plan?.tasks.find(({ role }) => roleNamed(role, roles) === null);
  return gone === undefined ? null : `its plan uses the role ${gone.role}, which no longer exists`;
}

const LIMITS = Budget.keyof().options;

/** The present limits, except those that a person changed during the run; these stay, within the present rules. Limits typed for this start
 * override them. */
function budgetOf({ rules, runBudget }: RunOptions, stored: readonly events.MimirEvent[]): Budget {
  const said = setByPerson(stored);
  const kept = LIMITS.filter(
    (limit) => said[limit] !== undefined && rules.runBudget.each?.[limit]?.layer !== 'command line',
  );
  const own = Object.fromEntries(kept.map((limit) => [limit, said[limit]]));
  const most = withoutAbsent(Object.fromEntries(kept.map((limit) => [limit, runCeiling(limit, rules).most])));
  return { ...runBudget, ...tightest(withoutAbsent(own), most) };
}

/** The run's limits that a person has changed, at their last values. */
function setByPerson(stored: readonly events.MimirEvent[]): Budget {
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
