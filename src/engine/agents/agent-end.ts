/** Records how an agent ended, with its metrics, and the consequences: the notice to its owner, and the adoption or end
 * of its children. Everything is one batch, so that a crash leaves all of it or nothing. */
import { type AgentOutcome, statusOfOutcome, type WorkOutcome } from '../../domain/agents/agent.ts';
import { type AgentId, ROOT } from '../../domain/ids.ts';
import { defined, unreachable } from '../../domain/result.ts';
import * as events from '../../events/index.ts';
import { messageEvent, type OpenGate, type RunContext, unansweredReason } from '../gate/index.ts';
import { type ChildRules, childRules } from '../../policy/index.ts';

/** Why an agent was ended from outside. An interrupt is not among them, because it can be resumed. */
export type EndCause = 'kill' | 'run stopped' | 'parent ended';

export interface EndParts extends Pick<RunContext, 'recorder' | 'world' | 'rules'> {
  readonly gate: Pick<OpenGate, 'inbox'>;
  readonly supervisor: {
    abandon(agent: AgentId): void;
    isRunning(agent: AgentId): boolean;
  };
}

/** Records how an agent's work has ended, with all consequences. */
function endAgent(parts: EndParts, end: End): void {
  const { inbox } = parts.gate;
  const rules = childRules(parts.rules());
  const state = parts.recorder.state();
  const orphans = rules.orphans === 'kill' ? events.openChildrenOf(state, end.agent) : [];
  const consequences = consequencesOf(state, end, rules);
  parts.recorder.record(finishedEvent(parts, end.agent, end.outcome, end.summary, end), ...consequences);
  for (const { id } of orphans) parts.supervisor.abandon(id);
  endCallChildren(parts, end.agent);
  inbox.arrived(consequences);
  // The owner may have waited for exactly this, even where it gets no notice.
  const owner = state.agents.get(end.agent)?.owner ?? null;
  if (owner !== null) inbox.wake(owner);
}

/** Ends children of tool calls that `parent` made before a resume and has not continued. */
export function endCallChildren(parts: EndParts, parent: AgentId): void {
  const { agents } = parts.recorder.state();
  for (const id of agents.get(parent)?.children ?? []) {
    const one = agents.get(id);
    if (one === undefined || one.call === null || events.isFinal(one) || parts.supervisor.isRunning(id)) continue;
    endAgent(parts, { agent: id, outcome: 'abandoned', summary: one.summary, ...PARENT_STOPPED_SILENTLY });
  }
}
const PARENT_STOPPED_SILENTLY = { error: 'its parent stopped', silent: true } as const;

export function close(
  parts: EndParts,
  agent: AgentId,
  outcome: Exclude<WorkOutcome, { is: 'stopped' }>,
  before: string,
): AgentOutcome {
  const end = (how: AgentOutcome, summary: string, error: string | null, atLimit = false): AgentOutcome => {
    const why = atLimit ? { error, endedBy: { is: 'limit' } as const } : { error };
    endAgent(parts, { agent, outcome: how, summary, ...why, silent: false });
    return how;
  };
  switch (outcome.is) {
    case 'completed': {
      // Work that was denied for want of an answer is not done, whatever the agent's answer claims.
      const reason = unansweredReason(parts.recorder.state(), agent);
      return end(reason === null ? 'completed' : 'partial', joined(before, outcome.summary), reason);
    }
    case 'partial':
      return end('partial', outcome.summary, outcome.reason, outcome.atLimit);
    case 'failed':
      // The result is defined to begin with "Failed: ".
      return end('failed', `Failed: ${outcome.reason}`, outcome.reason);
    default:
      return unreachable(outcome);
  }
}

/** Records that work with an answer failed all the same. The answer stands below the reason. */
export function closeFailed(parts: EndParts, agent: AgentId, answer: string, why: FailReason): AgentOutcome {
  const summary = `Failed: ${why.error}${answer === '' ? '' : `\n\n${answer}`}`;
  endAgent(parts, { agent, outcome: 'failed', summary, ...why, silent: false });
  return 'failed';
}

/** The answer to a later message is appended and does not replace the work's answer. */
const joined = (before: string, now: string): string =>
  before === '' || now.startsWith(before) ? now : `${before}\n\n${now}`;

/** Why an agent did not end by itself, as a sentence and as data. */
export interface EndReason {
  readonly error: string | null;
  readonly endedBy?: events.EndedBy;
}

export type FailReason = EndReason & { readonly error: string };

/** `silent`: the reader of the notice knows already, or ends as well. */
export interface Killed {
  readonly why: EndReason;
  readonly silent: boolean;
}

/** `by` null means the person. */
export function killedBy(agents: events.RunState['agents'], by: AgentId | null): EndReason {
  if (by === null) return KILLED_BY_PERSON;
  const name = agents.get(by)?.name ?? by;
  return { error: `killed by ${name}`, endedBy: { is: 'agent', name } };
}

export const KILLED_BY_PERSON: EndReason = { error: 'killed by you', endedBy: { is: 'person' } };
export const PARENT_STOPPED: EndReason = { error: 'its parent stopped', endedBy: { is: 'parent' } };
/** A review that was cut off by a stop is repeated by another agent. */
export const CUT_OFF: EndReason = { error: 'the run was stopped', endedBy: { is: 'run' } };
export const INTERRUPTED = {
  status: 'interrupted',
  reason: 'interrupted by you',
  endedBy: { is: 'person' },
} as const;
/** A resumed run continues the agent. */
export const RUN_STOPPED = { status: 'interrupted', reason: 'the run was stopped', endedBy: { is: 'run' } } as const;

/** Whether an agent killed it: its parent, or an ancestor whose end took the branch along. */
export const isKilledByAgent = ({ outcome, endedBy }: events.AgentState): boolean =>
  outcome === 'killed' && (endedBy?.is === 'agent' || endedBy?.is === 'parent');

/** Records the end of a stopped agent. Killed and abandoned are final; when the run was stopped, the agent stays resumable and the result is null. */
export function closeStopped(
  parts: EndParts,
  agent: AgentId,
  { end, killed }: { readonly end: EndCause; readonly killed: Killed },
): AgentOutcome | null {
  const state = parts.recorder.state().agents.get(agent);
  if (state === undefined || events.isFinal(state)) return state?.outcome ?? null;
  if (end === 'run stopped') return keepForResume(parts, state);
  const outcome = end === 'kill' ? 'killed' : 'abandoned';
  const lastWords = state.blocks.findLast(({ is }) => is === 'said');
  const summary = lastWords?.is === 'said' ? lastWords.text : '';
  const why = outcome === 'killed' ? killed.why : PARENT_STOPPED;
  endAgent(parts, { agent, outcome, summary, ...why, silent: killed.silent });
  return outcome;
}

/** The caller that stopped the run may have recorded the reason already. */
function keepForResume({ recorder }: EndParts, { id, status }: events.AgentState): null {
  if (status !== 'interrupted') recorder.record({ type: 'agent.status', agent: id, ...RUN_STOPPED });
  return null;
}

/** The event that ends an agent, with its metrics. */
export function finishedEvent(
  { recorder, world }: Pick<RunContext, 'recorder' | 'world'>,
  agent: AgentId,
  outcome: AgentOutcome,
  summary: string,
  why: string | null | EndReason,
): events.EventBody {
  const { error, endedBy } = typeof why === 'string' || why === null ? { error: why } : why;
  const state = recorder.state();
  const agentState = state.agents.get(agent);
  if (!agentState) throw new Error(`${agent} was never created`);
  const now = world.now();
  const metrics = {
    startTime: new Date(agentState.firstRunAt ?? now).toISOString(),
    endTime: new Date(now).toISOString(),
    duration: events.elapsedOf(agentState, now),
    tokensUsed: events.tokensOfAgent(agentState),
    cost: agentState.cost,
    iterations: agentState.iterations,
    toolCalls: agentState.toolCalls,
  };
  return {
    type: 'agent.finished',
    agent,
    status: statusOfOutcome(outcome),
    outcome,
    summary,
    error,
    ...defined({ endedBy }),
    metrics,
  };
}

/** The reason of an agent that has ended its turn and waits for its children. */
export const WAITING_FOR_CHILDREN = { reason: 'waiting for its children', waitingFor: { is: 'children' } } as const;

/** How the work of an agent has ended, as it will be recorded. */
export interface End extends EndReason {
  readonly agent: AgentId;
  readonly outcome: AgentOutcome;
  readonly summary: string;
  /** No notice is needed: its reader knows already, or ends as well. */
  readonly silent: boolean;
}

const consequencesOf = (state: events.RunState, end: End, rules: ChildRules): readonly events.EventBody[] => [
  ...noticeOf(state, end, rules),
  ...(rules.orphans === 'adopt' && end.outcome !== 'killed' ? adoptions(state, end.agent) : []),
];

const adoptions = (state: events.RunState, parent: AgentId): readonly events.EventBody[] =>
  events.openChildrenOf(state, parent).map(({ id }) => ({ type: 'agent.adopted', agent: id, owner: ROOT }));

function noticeOf(state: events.RunState, end: End, { notify }: ChildRules): readonly events.EventBody[] {
  const child = state.agents.get(end.agent);
  if (child === undefined || child.spawned === null || end.silent || end.outcome === 'abandoned') return [];
  const news = NEWS[end.outcome] ?? { is: 'error' };
  const wanted = child.spawned.wait !== null || (news.is === 'completed' ? notify.complete : notify.error);
  return wanted ? notice(state, child, news, noticeText(child, end)) : [];
}

type News = Omit<NonNullable<events.SentMessage['notice']>, 'of'>;
const NEWS: Readonly<Partial<Record<AgentOutcome, News>>> = {
  completed: { is: 'completed' },
  partial: { is: 'completed' },
  killed: { is: 'error', killed: true },
};

/** The notice of `child` to its owner; none if the owner has ended. */
export function notice(
  { agents }: events.RunState,
  { id, owner }: events.AgentState,
  news: News,
  content: string,
): readonly events.EventBody[] {
  const reader = owner === null ? undefined : agents.get(owner);
  if (reader === undefined || (events.isFinal(reader) && reader.id !== ROOT)) return [];
  const kind = news.is === 'completed' ? 'result' : news.is === 'error' ? 'error' : 'status';
  return [messageEvent({ from: id, to: reader.id, kind, content, notice: { of: id, ...news } })];
}

/** The notice as text: `Child <name> completed: <summary>`. For a revived child, only what is new since its last end. */
function noticeText({ name, summary: before }: events.AgentState, { outcome, summary, error }: End): string {
  switch (outcome) {
    case 'completed':
      return `Child ${name} completed: ${newText(before, summary)}`;
    case 'partial':
      return `Child ${name} completed: ${newText(before, summary)}\n(Cut off: ${error ?? 'a limit was met'}.)`;
    case 'killed':
      // Written for a model, where "you" would be the model.
      return `Child ${name} was killed by the person${summary === '' ? '' : `: ${newText(before, summary)}`}`;
    default:
      return `Child ${name} failed: ${error ?? outcome}`;
  }
}

/** The part of `now` after `before`, if `now` begins with `before`; otherwise all of `now`. */
export function newText(before: string, now: string): string {
  const rest = before !== '' && now.startsWith(before) ? now.slice(before.length).trim() : '';
  return rest === '' ? now : rest;
}
