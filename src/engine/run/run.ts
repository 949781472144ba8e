/**
 * One run from its task to its report: plan, approval, agents, merge. It owns the order of these steps and nothing else;
 * each is recorded before the next begins, so that a resumed run starts where the log ends.
 */
import type { WorkOrder } from '../../domain/agents/agent.ts';
import { planDigest } from '../../domain/text/digest.ts';
import type { AgentId } from '../../domain/ids.ts';
import { ROOT } from '../../domain/ids.ts';
import type { PlanChoices, SoundPlan } from '../../domain/plan/plan.ts';
import { fail } from '../../domain/result.ts';
import { fold } from '../../events/fold.ts';
import { mainAgent } from '../../events/queries.ts';
import type { RunState } from '../../events/state.ts';
import { EMPTY } from '../../events/state.ts';
import type { Controls, RunView } from '../../ports/controls.ts';
import { LogFault } from '../../ports/log.ts';
import { choicesOf } from '../planning/model-selection.ts';
import { forcedRoles } from '../reviews/review-plan.ts';
import { reviewWords } from '../reviews/record.ts';
import { idleRun } from './idle/idle-session.ts';
import { startingCommit } from './commit-step.ts';
import { ROOT_WAITS } from './idle/wait.ts';
import { hasLetters, takeLetters } from '../messaging/stored-messages.ts';
import { openTalk } from './idle/main-talk.ts';
import { concluded, merge } from './report.ts';
import { createdEvent, orderOf, startedEvent, withInstructions } from '../agents/agent-spec.ts';
import type { RunParts } from './parts.ts';
import { openParts, rootAgent } from './parts.ts';
import type { Planning } from '../planning/planner.ts';
import { makePlan, planByHand } from '../planning/planner.ts';
import { agreeOnPlan } from '../planning/approval.ts';
import { deniedUnattended, startingPermissions } from '../planning/permissions.ts';
import { planContextOf } from '../planning/context.ts';
import { reopen } from './resume.ts';
import { runAgents } from './run-agents.ts';
import { result, summed } from './run-result.ts';
import type { RunOptions, RunResult } from './run-options.ts';
import { openControls } from './commands.ts';

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
    stored: (after?: number) => recorder.stored(after),
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
    view: { session, state: () => EMPTY, stored: () => [] },
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
      recorder.record(crew.finished(id, 'abandoned', summary, 'its parent stopped'));
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
