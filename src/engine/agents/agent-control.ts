/** Interrupt, resume, kill, retry and skip of one agent: which modules carry the command out, and the receipt or
 * refusal, which always names the agent. */
import { type AgentId, isBelow, ROOT } from '../../domain/ids.ts';
import { fail, ok, type Result, unreachable } from '../../domain/result.ts';
import { type AgentState, type Control, isFinal, refusedControl, type RunState } from '../../events/index.ts';
import type { Command } from '../../ports/controls.ts';
import { finishedEvent, killedBy } from './agent-end.ts';
import type { AgentModules } from './agents.ts';

type Steering = Extract<Command, { readonly do: Control }>;

/** Carries out the command. Receipt or refusal; both name the agent. */
export function controlAgent(
  parts: AgentModules,
  { do: control, agent }: Steering,
  by: AgentId | null = null,
): Result<string, string> {
  const state = parts.recorder.state();
  const one = state.agents.get(agent);
  if (one === undefined) return fail(`there is no agent ${agent}`);
  if (agent === ROOT) return controlMain(parts, control, one);
  if (parts.signal.aborted) return fail(`${one.name} is being stopped with the run; \`mimir resume\` continues it`);
  const receipt = perform(parts, control, one, by, state);
  return receipt === null ? fail(`${one.name} ${refusedControl(control, one)}`) : ok(`${one.name} ${receipt}`);
}

/** Interrupts ROOT's turn, if it is working itself; ROOT then waits for the next message. */
function controlMain({ supervisor }: AgentModules, act: Control, main: AgentState): Result<string, string> {
  if (act !== 'interrupt' || !supervisor.interrupt(ROOT)) return fail(`main ${refusedControl(act, main)}`);
  return ok('main interrupted; it waits for your next message');
}

/** What was done, as text; null where the agent's state does not allow it. Killing a task that has not begun skips it. */
function perform(
  parts: AgentModules,
  act: Control,
  one: AgentState,
  by: AgentId | null,
  before: RunState,
): string | null {
  const { supervisor, schedule } = parts;
  const agent = one.id;
  const skipped = (): string | null =>
    schedule.now()?.skip(agent) === true ? `skipped${alsoSkipped(parts, one, before)}` : null;
  switch (act) {
    case 'interrupt':
      return supervisor.interrupt(agent) ? 'interrupted; resume continues it' : null;
    case 'resume':
      return supervisor.resume(agent) ? 'resumed' : null;
    case 'kill':
      if (supervisor.kill(agent, by ?? undefined)) return `killed${afterKill(parts, one, before)}`;
      return close(parts, agent, by) ? 'killed: it had ended and no longer reads messages' : skipped();
    case 'retry':
      return schedule.now()?.retry(agent) === true ? 'runs again from the start' : null;
    case 'skip':
      return skipped();
    default:
      return unreachable(act);
  }
}

/** Kills a spawned child that has ended: no message can revive it any more. Its answer stays, and its running descendants end with it. */
function close(parts: AgentModules, agent: AgentId, by: AgentId | null): boolean {
  const { recorder, supervisor } = parts;
  const { agents } = recorder.state();
  const one = agents.get(agent);
  if (one === undefined || one.spawned === null || !REVIVABLE.has(one.outcome)) return false;
  recorder.record(finishedEvent(parts, agent, 'killed', one.summary, killedBy(agents, by)));
  for (const { id } of agents.values()) if (isBelow(id, agent)) supervisor.kill(id, by ?? undefined);
  return true;
}

/** Outcomes after which a message revives a child. */
const REVIVABLE: ReadonlySet<AgentState['outcome']> = new Set(['completed', 'partial', 'failed']);

/** What happens to the tasks that need the killed one, by the rule on failures. */
function afterKill({ rules, options }: AgentModules, { id }: AgentState, { agents }: RunState): string {
  const waiting = [...agents.values()].filter((other) => other.dependsOn.includes(id) && !isFinal(other));
  if (waiting.length === 0) return '';
  const names = waiting.map(({ name }) => name).join(', ');
  const rule = rules().onFailure.value;
  const consequence = rule === 'ask' ? (options.person ? 'you are asked' : 'skipped') : AFTER_FAILURE[rule];
  return `; ${names} ${waiting.length === 1 ? 'needs' : 'need'} it: ${consequence}`;
}

const AFTER_FAILURE = { retry: 'retried once', skip: 'skipped', stop: 'the run stops' } as const;

function alsoSkipped({ recorder }: AgentModules, { id }: AgentState, { agents }: RunState): string {
  const skipped = [...recorder.state().agents.values()].filter(
    (one) => one.id !== id && one.outcome === 'skipped' && agents.get(one.id)?.outcome === null,
  );
  return skipped.length === 0 ? '' : `, also skipped: ${skipped.map(({ name }) => name).join(', ')}`;
}
