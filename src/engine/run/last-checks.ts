/** Checks at the end of a run: those that ran before the project was last changed run once more, so that the result is true. What checks
 * themselves write makes no other check run again. */
import type { AgentOutcome } from '../../domain/agents/agent.ts';
import type { AgentId } from '../../domain/ids.ts';
import * as events from '../../events/index.ts';
import { failureReason, finishedEvent, workOrderFor } from '../agents/index.ts';
import { plannedAgents } from '../planning/index.ts';
import type { RunModules } from './open-run.ts';

/** Whether a completed task has checks. Without any nothing is awaited, so that no child ends unseen meanwhile. */
export const hasCheckedTasks = ({ recorder }: RunModules): boolean => checkedAgents(recorder.state()).length > 0;

/** Runs the stale checks of completed tasks again; a task of which one fails has failed. Call when nothing works any more. */
export async function lastChecks(parts: RunModules): Promise<void> {
  const { recorder, signal } = parts;
  const done = checkedAgents(recorder.state());
  if (done.length === 0 || signal.aborted) return;
  await compare(parts, done);
  for (const { id } of done) {
    const one = recorder.state().agents.get(id);
    if (one !== undefined && !signal.aborted) await checkAgain(parts, one);
  }
}

/** Call when the work of `agent` in a tree of its own is merged: its checks run again if they ran on anything else than the project. Its
 * outcome, which is `failed` if one did not pass; null when the run was stopped. */
export async function checkMerged(parts: RunModules, agent: AgentId): Promise<AgentOutcome | null> {
  const { recorder, signal } = parts;
  const [done] = checkedAgents(recorder.state()).filter(({ id }) => id === agent);
  if (done !== undefined) {
    await compare(parts, [done]);
    await checkAgain(parts, recorder.state().agents.get(agent) ?? done);
  }
  return signal.aborted ? null : (recorder.state().agents.get(agent)?.outcome ?? null);
}

/** Marks what ran on another tree than the present one as stale. */
async function compare({ recorder, gate, signal }: RunModules, agents: readonly events.AgentState[]): Promise<void> {
  const tree = await gate.tree(signal);
  const isSame = agents.every(({ checks = [] }) => checks.every((one) => one.stale !== true && one.end?.tree === tree));
  if (tree !== null && !isSame) recorder.record({ type: 'check.compared', tree });
}

/** Planned agents whose work was completed and has checks. */
const checkedAgents = (state: events.RunState): readonly events.AgentState[] =>
  [...state.agents.values()].filter(
    (one) => one.outcome === 'completed' && events.plannedChecks(state, one).length > 0,
  );

async function checkAgain(parts: RunModules, one: events.AgentState): Promise<void> {
  const { recorder, gate, options, signal } = parts;
  const { plan } = recorder.state();
  const agent = plan && plannedAgents(options, plan, recorder.state()).find((other) => other.agent === one.id);
  const { taskId: task } = one;
  if (!agent || task === null) return;
  const order = workOrderFor(options, agent, []);
  for (const { check, attempt } of staleChecks(recorder.state(), one)) {
    const end = await gate.check(order, { task, attempt, check, last: true }, signal);
    if (end === null) return;
    if (end.passed) continue;
    const why = failureReason(recorder.state(), { check, end }, 'last', attempt);
    recorder.record(finishedEvent(parts, one.id, 'failed', `Failed: ${why.error}\n\n${one.summary}`, why));
    return;
  }
}

/** The checks that did not pass on the project as it is, each with its last attempt. */
const staleChecks = (state: events.RunState, one: events.AgentState) =>
  events.plannedChecks(state, one).flatMap((check) => {
    const run = one.checks?.find((known) => known.run === check.run);
    return run?.end?.passed === true && run.stale !== true ? [] : [{ check, attempt: run?.attempt ?? 1 }];
  });

/** What stands below the report of a run: its checks, and its reviews. */
export function closingSections(state: events.RunState): readonly string[] {
  const checks = [...state.agents.values()].flatMap((one) =>
    events.checkLines(state, one).map((line) => `- ${one.name}: ${line}`),
  );
  const reviews = events.reviewWords(state);
  return [
    ...(checks.length === 0 ? [] : [`## Checks\n\n${checks.join('\n')}`]),
    ...(reviews === '' ? [] : [`## Reviews\n\n${reviews}`]),
  ];
}
