/**
 * Agents in words: the numbers by which a person names them, and the lines that list them, their tree and who waits for whom. A number
 * is that of the agent's id (`4` is ROOT::S4, `4.1` its first child, 0 is main): it stays the same while the run lasts.
 */
import { SHOWN, shownStatus } from '../../../app/views/agent-counts.ts';
import { agentTime } from '../../../app/views/run-time.ts';
import { isAnswered, type AgentOutcome } from '../../../domain/agents/agent.ts';
import { type AgentId, type Millis, ROOT } from '../../../domain/ids.ts';
import { type Result, fail, ok } from '../../../domain/result.ts';
import { plainLine } from '../../../events/plain-line.ts';
import { activityOf, isFinal, tokensOfAgent } from '../../../events/queries.ts';
import type { AgentState, RunState } from '../../../events/state.ts';
import { inOrder, isAtWork, modelName, neverRan, wantsAttention } from '../../../app/views/agents/agent-lines.ts';
import { counted, formatDuration, formatTokens } from '../../../app/views/text/format.ts';
import { toLabel } from '../../../app/views/text/sanitise.ts';
import { restOf, waitOf } from '../../../app/views/agents/wait-reason.ts';
import { harmless } from '../../../app/process/io.ts';
import type { LineMemory } from '../memory.ts';
import { costWords } from '../../../app/reports/spend-text.ts';

/** `4`, `4.1`; 0 for main. */
const numberOf = (agent: AgentId): string =>
  agent === ROOT ? '0' : agent.replace(/^ROOT::S/, '').replaceAll('::S', '.');

/** `4 refactoring`. */
export const numbered = ({ id, name }: AgentState): string => `${numberOf(id)} ${toLabel(name)}`;

/** An agent and its work: of a call of Task the role and what it is for, of others the name and the task. */
export const workWords = (agent: AgentState): string =>
  agent.call === null
    ? `${tag(agent)} ${harmless(agent.task.split('\n')[0] ?? '')}`
    : `[${harmless(agent.role)}] ${harmless(agent.name)}`;

/** The same for a later line: the task of an agent of the plan was said at its beginning, and the name says which it is. */
export const knownWork = (agent: AgentState): string => (agent.call === null ? tag(agent) : workWords(agent));

/** `7.6s`, from a minute on `9m 44s`. */
export const secondsText = (ms: Millis): string => (ms < 60_000 ? `${(ms / 1000).toFixed(1)}s` : formatDuration(ms));

export const tag = ({ name, id, parent }: AgentState): string =>
  `[${harmless(parent === ROOT || id === ROOT ? name : `${name} ${short(id)}`)}]`;
const short = (id: AgentId): string => id.slice('ROOT::'.length);

/** The agent of a number (`4`, `#4`, `4.1`), an id, or a name that only one has; else what would be right. */
export function agentNamed(state: RunState, typed: string): Result<AgentState, string> {
  const word = typed.replace(/^#/, '').toLowerCase();
  const all = inOrder(state);
  const exact = all.find(({ id }) => numberOf(id) === word || id.toLowerCase() === word);
  if (exact !== undefined) return ok(exact);
  const named = all.filter(({ name }) => name.toLowerCase() === word);
  const roles = named.length > 0 ? named : all.filter(({ role }) => role.toLowerCase() === word);
  const [first, second] = roles;
  if (first !== undefined && second === undefined) return ok(first);
  if (first !== undefined) return fail(`several are called ${typed}: ${listed(roles.map(numbered))}`);
  const have = all.filter(({ id }) => id !== ROOT).map(({ id }) => numberOf(id));
  if (typed === '') return fail(`which agent? Give its number: ${spanOf(have)}`);
  return fail(`there is no agent ${typed}: ${have.length === 0 ? 'none was made yet' : `numbers are ${spanOf(have)}`}`);
}

/** While it runs a task is called by the number of its agent: where that is another than its place in the plan. */
export function otherNumbers({ plan, agents }: RunState): readonly string[] {
  const byTask = new Map([...agents.values()].map(({ id, taskId }) => [taskId, numberOf(id)]));
  return (plan?.tasks ?? []).flatMap(({ id, role }, index) => {
    const number = byTask.get(id);
    const same = number === undefined || number === String(index + 1);
    return same ? [] : [`#${index + 1} ${role} of the plan is agent ${number}`];
  });
}

const MOST_NUMBERS = 12;
const spanOf = (numbers: readonly string[]): string =>
  numbers.length > MOST_NUMBERS ? `${numbers[0] ?? ''} to ${numbers.at(-1) ?? ''}` : listed(numbers);

/** One line: number, name, status and why, model, time, tokens, cost, what it does. */
export function agentLine(state: RunState, agent: AgentState, now: number): string {
  const parts = [
    `${numbered(agent)}: ${standing(state, agent, now)}`,
    modelName(agent.model.used),
    ...(neverRan(agent)
      ? []
      : [
          formatDuration(agentTime(agent, state, now)),
          `${formatTokens(tokensOfAgent(agent))} tokens`,
          costWords(agent),
          counted(agent.toolCalls, 'tool'),
        ]),
  ];
  const doing = isAtWork(agent) ? shortened(activityOf(agent)) : '';
  return `${parts.join(', ')}. ${firstLine(agent.task)}${doing === '' ? '' : ` Now: ${doing}`}`;
}

const MOST_DOING = 100;
const shortened = (text: string): string => {
  const line = toLabel(text).trim();
  return line.length > MOST_DOING ? `${line.slice(0, MOST_DOING)} ...` : line;
};

/** Of an answer: what it says first, without the marks of Markdown. */
export const firstSaid = (text: string): string => toLabel(plainLine(text));

export const firstLine = (text: string): string => toLabel(text.split('\n')[0] ?? '');

/** `running`, `asks you`, `queued, waits for 1 finder`, `can never run: 1 finder failed`. */
export function standing(state: RunState, agent: AgentState, now: number): string {
  const asks = state.approvals.some((one) => one.agent === agent.id) ? ', asks you' : '';
  const pinned = agent.pin === null ? '' : `, held to mode ${agent.pin}`;
  return `${statusWords(state, agent, now)}${asks}${pinned}`;
}

function statusWords(state: RunState, agent: AgentState, now: number): string {
  if (agent.outcome !== null) return endingOf(agent, agent.outcome);
  const wait = restOf(agent, state) ?? waitOf(agent, now);
  if (wait !== null) return typeof wait === 'string' ? wait : `waiting: ${wait.text}`;
  return shownStatus(agent) === 'queued' ? queuedWords(state, agent) : agent.status;
}

/** `completed`, `failed (no database)`; "killed by you" says it already. */
function endingOf({ error, reason }: AgentState, outcome: AgentOutcome): string {
  const why = outcome === 'completed' ? '' : (toLabel(error ?? reason).split('\n')[0] ?? '');
  if (why === '' || why.startsWith(`${outcome} `)) return why === '' ? outcome : why;
  return `${outcome} (${why})`;
}

function queuedWords(state: RunState, agent: AgentState): string {
  const blocked = blockers(state, agent);
  if (blocked.length > 0) return `can never run as it is: ${listed(blocked, 'and')}`;
  const needs = needsLeft(state, agent).map(numbered);
  return needs.length === 0 ? 'queued, waits for a free place' : `queued, waits for ${listed(needs, 'and')}`;
}

const needsOf = ({ agents }: RunState, { dependsOn }: AgentState): readonly AgentState[] =>
  dependsOn.flatMap((id) => agents.get(id) ?? []);

const needsLeft = (state: RunState, agent: AgentState): readonly AgentState[] =>
  needsOf(state, agent).filter(({ outcome }) => outcome === null || !isAnswered(outcome));

/** What keeps it from ever running, followed down to those that ended without a result: `2 finder failed`. */
export function blockers(
  state: RunState,
  agent: AgentState,
  seen: ReadonlySet<AgentId> = new Set(),
): readonly string[] {
  if (agent.status !== 'pending' || seen.has(agent.id)) return [];
  const known = new Set([...seen, agent.id]);
  return [
    ...new Set(
      needsLeft(state, agent).flatMap((need) =>
        isFinal(need) ? [`${numbered(need)} ${need.outcome ?? ''}`] : blockers(state, need, known),
      ),
    ),
  ];
}

/** Those that are listed, by what the person chose: filter, only running, order. ROOT is not among them. */
export function shownAgents(state: RunState, { filter, onlyRunning, sort }: LineMemory): readonly AgentState[] {
  const word = filter.toLowerCase();
  const found = inOrder(state).filter(
    (agent) =>
      agent.id !== ROOT &&
      (!onlyRunning || isAtWork(agent)) &&
      (word === '' || `${agent.name} ${agent.role} ${agent.task} ${agent.status}`.toLowerCase().includes(word)),
  );
  if (sort === 'cost') return [...found].sort((a, b) => b.cost - a.cost || tokensOfAgent(b) - tokensOfAgent(a));
  return sort === 'status' ? [...found].sort((a, b) => rank(state, a) - rank(state, b)) : found;
}

const rank = (state: RunState, agent: AgentState): number =>
  wantsAttention(state, agent) ? -1 : SHOWN.indexOf(shownStatus(agent));

/** Parents and children by words: `1 finder, running` and below it `1.1 explore, child of 1 finder, running`. */
export function treeLines(state: RunState, now: number): readonly string[] {
  return inOrder(state).map((agent) => {
    const parent = agent.parent === null ? undefined : state.agents.get(agent.parent);
    const under = parent === undefined || parent.id === ROOT ? '' : `, child of ${numbered(parent)}`;
    const many =
      agent.children.length === 0
        ? ''
        : `, ${agent.children.length === 1 ? '1 child' : `${agent.children.length} children`}`;
    const depth = '  '.repeat(agent.id === ROOT ? 0 : numberOf(agent.id).split('.').length);
    return `${depth}${numbered(agent)}${under}, ${standing(state, agent, now)}${many}`;
  });
}

/** Each task of the run: what it waits for, what waits for it, and whether it can still run. */
export function graphLines(state: RunState, now: number): readonly string[] {
  const all = inOrder(state).filter(({ id }) => id !== ROOT);
  return all.map((agent) => {
    const needs = needsOf(state, agent).map((need) => `${numbered(need)} (${need.outcome ?? need.status})`);
    const unlocks = all.filter(({ dependsOn }) => dependsOn.includes(agent.id)).map(numbered);
    const parts = [
      `${numbered(agent)}, ${standing(state, agent, now)}`,
      needs.length === 0 ? 'needs nothing' : `needs ${listed(needs, 'and')}`,
      ...(unlocks.length === 0 ? [] : [`unlocks ${listed(unlocks, 'and')}`]),
    ];
    return `${parts.join('; ')}.`;
  });
}

/** `a`, `a or b`, `a, b or c`. */
export const listed = (words: readonly string[], by = 'or'): string =>
  words.length < 2 ? (words[0] ?? '') : `${words.slice(0, -1).join(', ')} ${by} ${words.at(-1) ?? ''}`;
