/**
 * Interrupt, resume, kill, retry and skip of one agent: which parts are asked, and the words for what happens next or why nothing
 * does. In every state of an agent there is an answer that names it.
 */
import { type AgentId, isBelow, ROOT } from '../../domain/ids.ts';
import type { Result } from '../../domain/result.ts';
import { fail, ok, unreachable } from '../../domain/result.ts';
import { isFinal } from '../../events/queries.ts';
import type { AgentState, RunState } from '../../events/state.ts';
import type { Command } from '../../ports/controls.ts';
import { killedBy } from './agent-end.ts';
import type { RunParts } from '../run/parts.ts';

type Steering = Extract<Command, { readonly do: 'interrupt' | 'resume' | 'kill' | 'retry' | 'skip' }>;

/** Receipt or refusal, in words that name the agent. */
export function steer(
  parts: RunParts,
  { do: act, agent }: Steering,
  by: AgentId | null = null,
): Result<string, string> {
  const state = parts.recorder.state();
  const one = state.agents.get(agent);
  if (one === undefined) return fail(`there is no agent ${agent}`);
  if (agent === ROOT) return steerMain(parts, act);
  if (parts.signal.aborted) return fail(`${one.name} is being stopped with the run; \`mimir resume\` goes on with it`);
  const done = performed(parts, act, agent, by);
  return done === null
    ? fail(`${one.name} ${whyNot(act, one)}`)
    : ok(`${one.name} ${wordsFor(parts, done, one, state)}`);
}

/** Only its turn can be ended, where it works itself: it waits for the next word then. */
function steerMain({ rootSeat }: RunParts, act: Steering['do']): Result<string, string> {
  if (act !== 'interrupt' || rootSeat.interrupt === null) return fail(`main ${OF_MAIN[act]}`);
  rootSeat.interrupt();
  return ok('main interrupted: it waits for what you tell it');
}

const OF_MAIN = {
  interrupt: 'plans and reports: interrupt its agents, or stop the run',
  resume: 'is never interrupted: resume its agents',
  kill: 'ends with the run: stop the run instead',
  retry: 'is not tried again: retry the agents that failed',
  skip: 'can not be skipped: skip its agents',
} as const satisfies Record<Steering['do'], string>;

type Deed = 'interrupted' | 'resumed' | 'killed' | 'closed' | 'tried again' | 'left out';

/** What was done, null where the agent's state doesn't allow it. A kill of what has not begun leaves it out. */
function performed(parts: RunParts, act: Steering['do'], agent: AgentId, by: AgentId | null): Deed | null {
  const { crew, scheduling } = parts;
  const skipped = (): Deed | null => (scheduling.now?.skip(agent) === true ? 'left out' : null);
  switch (act) {
    case 'interrupt':
      return crew.interrupt(agent) ? 'interrupted' : null;
    case 'resume':
      return crew.resume(agent) ? 'resumed' : null;
    case 'kill':
      if (crew.kill(agent, by ?? undefined)) return 'killed';
      return closed(parts, agent, by) ? 'closed' : skipped();
    case 'retry':
      return scheduling.now?.retry(agent) === true ? 'tried again' : null;
    case 'skip':
      return skipped();
    default:
      return unreachable(act);
  }
}

/**
 * A spawned child whose work has ended is killed for good: no message lets it go on any more. What it said
 * stays, and whoever works below it ends with it.
 */
function closed({ crew, recorder }: RunParts, agent: AgentId, by: AgentId | null): boolean {
  const { agents } = recorder.state();
  const one = agents.get(agent);
  if (one === undefined || one.spawned === null || !MAY_GO_ON.has(one.outcome)) return false;
  recorder.record(crew.finished(agent, 'killed', one.summary, killedBy(agents, by)));
  for (const { id } of agents.values()) if (isBelow(id, agent)) crew.kill(id, by ?? undefined);
  return true;
}

/** Ends after which a message lets a child go on. */
const MAY_GO_ON: ReadonlySet<AgentState['outcome']> = new Set(['completed', 'partial', 'failed']);

function wordsFor(parts: RunParts, deed: Deed, one: AgentState, before: RunState): string {
  switch (deed) {
    case 'interrupted':
      return 'interrupted: it waits until you resume it';
    case 'resumed':
      return 'resumed: it goes on where it was';
    case 'killed':
      return `killed${afterKill(parts, one, before)}`;
    case 'closed':
      return 'killed: it had ended, and reads no messages any more';
    case 'tried again':
      return 'runs again, from the beginning';
    case 'left out':
      return `skipped${leftOutWith(parts, one, before)}`;
    default:
      return unreachable(deed);
  }
}

/** What follows for those that wait for it, by the rule on failures. */
function afterKill({ options }: RunParts, { id }: AgentState, { agents }: RunState): string {
  const waiting = [...agents.values()].filter((other) => other.dependsOn.includes(id) && !isFinal(other));
  if (waiting.length === 0) return '';
  const names = waiting.map(({ name }) => name).join(', ');
  const rule = options.rules.onFailure.value;
  const next = rule === 'ask' ? (options.person ? 'you are asked' : 'left out') : AFTER_FAILURE[rule];
  return `; ${names} ${waiting.length === 1 ? 'needs' : 'need'} it: ${next}`;
}

const AFTER_FAILURE = { retry: 'it is tried again once', skip: 'left out', stop: 'the run stops' } as const;

function leftOutWith({ recorder }: RunParts, { id }: AgentState, { agents }: RunState): string {
  const out = [...recorder.state().agents.values()].filter(
    (one) => one.id !== id && one.outcome === 'skipped' && agents.get(one.id)?.outcome === null,
  );
  return out.length === 0 ? '' : `, and with it ${out.map(({ name }) => name).join(', ')}`;
}

function whyNot(act: Steering['do'], one: AgentState): string {
  const ended = isFinal(one);
  const begun = one.status !== 'pending';
  switch (act) {
    case 'interrupt':
      return ended ? 'has ended already' : begun ? 'does not run' : 'has not begun: skip it, or change it in the plan';
    case 'resume':
      return ended ? 'has ended: retry it where it failed' : 'is not interrupted';
    case 'kill':
      return 'has ended already';
    case 'retry':
      return whyNoRetry(one);
    case 'skip':
      return ended ? 'has ended already' : 'has started already: kill it instead';
    default:
      return unreachable(act);
  }
}

function whyNoRetry({ outcome, taskId, status }: AgentState): string {
  if (outcome === null) return `has not failed: it ${status === 'pending' ? 'has not begun' : 'is still at work'}`;
  if (outcome === 'completed') return 'has completed: there is nothing to try again';
  if (taskId === null) return 'is not in the plan: who called for it can do so again';
  if (outcome === 'skipped') return 'never ran: add its task to the plan again';
  return 'can not be tried again now: its work is being judged, or all the work is done';
}
