/** The last words of a run: outcome, lines, totals; recorded once. */
import type { AgentOutcome } from '../../domain/agents/agent.ts';
import type { AgentId } from '../../domain/ids.ts';
import { ROOT } from '../../domain/ids.ts';
import type { EventBody, MimirEvent } from '../../events/event.ts';
import { elapsedOf, isFinal, isTakenOut, spentOf } from '../../events/queries.ts';
import type { AgentState } from '../../events/state.ts';
import { isKilledByAgent, RUN_STOPPED } from '../agents/agent-end.ts';
import { closedGates } from '../reviews/record.ts';
import type { RunParts } from './parts.ts';
import type { RunResult } from './run-options.ts';
import { unansweredOf } from '../agents/unanswered.ts';

/** Records the end of a run whose agents are done. */
export function finish(parts: RunParts, report: string): RunResult {
  const agents = subAgents(parts);
  // A review that failed and was made again is none of the work: its gate says how it ended. Nor is what was taken out of the plan.
  const work = agents.filter((one) => one.forced === null && !isTakenOut(one));
  const ends = endsOfWork(parts.recorder.each({ types: ['agent.status', 'agent.finished'] }));
  const isWell = (one: AgentState): boolean =>
    ends.get(one.id) === 'completed' || (one.spawned !== null && ends.get(one.id) === 'killed' && isKilledByAgent(one));
  const state = parts.recorder.state();
  const isWhole = unansweredOf(state, ROOT).length === 0 && closedGates(state).length === 0;
  const success = work.length > 0 && work.every(isWell) && isWhole;
  const status = success ? 'completed' : 'failed';
  close(parts, status, report === '' ? linesOf(agents) : report, success ? 'completed' : 'partial');
  return summed(parts, status, null);
}

/**
 * How each ended its work. Who kills a child that had ended closes it; how its work went does not change by that. A child that
 * an agent of its own branch has killed is that agent's decision, and judged with the agent's own work.
 */
function endsOfWork(events: Iterable<MimirEvent>): ReadonlyMap<AgentId, AgentOutcome> {
  const ends = new Map<AgentId, AgentOutcome>();
  for (const event of events) {
    if (event.type === 'agent.status') ends.delete(event.agent);
    else if (event.type === 'agent.finished' && !(event.outcome === 'killed' && ends.has(event.agent)))
      ends.set(event.agent, event.outcome);
  }
  return ends;
}

/**
 * Records the end of a run that was rejected, stopped, or could not go on, when nobody works beside it any more: children wait for
 * a resume, but of a run that was rejected nobody goes on with them.
 */
export async function result(parts: RunParts): Promise<RunResult> {
  const { trouble, signal, recorder, crew, children } = parts;
  const error = trouble.text;
  const status = signal.aborted ? 'stopped' : error !== null ? 'failed' : 'rejected';
  const why = error ?? (status === 'stopped' ? String(signal.reason) : 'User rejected plan');
  if (status === 'rejected') for (const { id } of recorder.state().agents.values()) crew.abandon(id);
  if (status !== 'stopped') parts.stop(why);
  await children.settled();
  close(parts, status, why, 'killed');
  return summed(parts, status, error);
}

/** Records the end of ROOT and of the session, with what all used. */
export function close(parts: RunParts, status: RunResult['status'], summary: string, outcome: AgentOutcome): void {
  const { recorder, crew, world } = parts;
  const root = recorder.state().agents.get(ROOT);
  const ended: EventBody[] =
    status === 'stopped'
      ? interrupted(root)
      : root && !isFinal(root)
        ? [crew.finished(ROOT, outcome, summary, outcome === 'completed' ? null : parts.trouble.text)]
        : [];
  const spent = spentOf(recorder.state());
  const duration = root ? elapsedOf(root, world.now()) : 0;
  const totals = { cost: spent.cost, tokens: spent.tokens, agents: subAgents(parts).length, duration };
  const by = status === 'stopped' && parts.handing.isOver ? { endedBy: { is: 'hand-over' } as const } : {};
  // Together: a run is over when ROOT is, and a resume never finds the one without the other.
  recorder.record(...ended, { type: 'session.finished', status, summary, ...by, totals });
}

/** Who paused the run for want of a model has said why already. */
const interrupted = (root: AgentState | undefined): EventBody[] =>
  root?.status === 'interrupted' ? [] : [{ type: 'agent.status', agent: ROOT, ...RUN_STOPPED }];

/** The result as the log has it by now. */
export function summed(parts: RunParts, status: RunResult['status'], error: string | null): RunResult {
  const state = parts.recorder.state();
  const agents = subAgents(parts);
  const spent = spentOf(state);
  return {
    success: status === 'completed',
    status,
    message: status === 'rejected' ? 'User rejected plan' : linesOf(agents),
    metadata: { totalCost: spent.cost, totalTokens: spent.tokens, agentCount: agents.length },
    overBudget: overBudget(parts.recorder.each({ types: ['session.resumed', 'budget.exhausted'] })),
    error,
    errorIs: error === null ? null : (parts.trouble.is ?? 'log'),
  };
}

/** Did a limit of the run or of the day end something since it was started or last resumed? */
function overBudget(events: Iterable<MimirEvent>): boolean {
  let isOver = false;
  for (const event of events) {
    if (event.type === 'session.resumed') isOver = false;
    if (event.type === 'budget.exhausted' && event.scope !== 'agent') isOver = true;
  }
  return isOver;
}

const subAgents = ({ recorder }: RunParts): readonly AgentState[] =>
  [...recorder.state().agents.values()].filter(({ id }) => id !== ROOT);

/** `Agent N: <summary>`, first line each. */
const linesOf = (agents: readonly AgentState[]): string =>
  agents
    .map(({ summary, error }, index) => `Agent ${index + 1}: ${firstLine(summary === '' ? (error ?? '') : summary)}`)
    .join('\n');

const firstLine = (text: string): string => text.split('\n').find((line) => line.trim() !== '') ?? '';
