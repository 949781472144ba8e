/**
 * How a run begins again that was stopped or cut off: what a crash left half done is written down, and everything is
 * admitted anew by the rules of now: limits, mode, roles. What is forbidden by now stands still, with words.
 */
import type { Budget } from '../../domain/budget.ts';
import { tightest, withoutAbsent } from '../../domain/budget.ts';
import type { AgentId, CallId } from '../../domain/ids.ts';
import { ROOT } from '../../domain/ids.ts';
import type { Mode } from '../../domain/mode.ts';
import { isLooser } from '../../domain/mode.ts';
import type { EventBody, MimirEvent } from '../../events/event.ts';
import { isFinal } from '../../events/queries.ts';
import type { AgentState, RunState } from '../../events/state.ts';
import { knownFiles, UNKNOWN_EFFECT, uncertainCalls } from '../../events/turns.ts';
import { runCeiling } from '../../policy/budgets.ts';
import { roleNamed } from '../../policy/roles.ts';
import { namesOf } from '../../policy/rules.ts';
import { mayGoOn } from '../reviews/repeat.ts';
import type { OpenToolCall } from '../gate/tools/interrupted-call.ts';
import { goesOn, openCalls } from '../gate/tools/interrupted-call.ts';
import { wasAtWork } from './idle/idle-session.ts';
import { ROOT_WAITS } from './idle/wait.ts';
import type { RunParts } from './parts.ts';
import type { RunOptions } from './run-options.ts';

/**
 * Effects that may have happened are told to the model as unknown, never repeated; calls that wait for a child or a person stay
 * open, and so do their children; children whose call has ended without them end. Reviews wait until what they judge is
 * asked again. `answers`: the run had ended, and only answers messages. Calls of models without an end stay open in the log: their reservation is charged as uncertain, since the provider may have billed it. False: the
 * run can't go on at all, and was stopped.
 */
export function reopen(parts: RunParts, answers: boolean): boolean {
  const { options, recorder, crew } = parts;
  const state = recorder.state();
  const stored = lightOf(recorder.each());
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
      crew.finished(id, 'abandoned', summary, forced === null ? 'its parent stopped' : 'the run was stopped'),
    ),
    ...rootNow(state, stored),
  );
  const problem = problemOf(options, recorder.state());
  if (problem === null) return true;
  parts.failed(problem, 'denied');
  parts.stop(problem);
  return false;
}

const LOOKED_AT: ReadonlySet<MimirEvent['type']> = new Set([
  'session.started',
  'session.resumed',
  'budget.changed',
  'agent.created',
  'agent.status',
  'tool.started',
  'tool.finished',
] satisfies readonly MimirEvent['type'][]);

/** What is looked at here, of a log read once, without the outputs of tools: they are nearly all of a long log. */
function lightOf(events: Iterable<MimirEvent>): readonly MimirEvent[] {
  const light: MimirEvent[] = [];
  for (const event of events)
    if (event.type === 'tool.finished') light.push({ ...event, output: '' });
    else if (LOOKED_AT.has(event.type)) light.push(event);
  return light;
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
