/**
 * Agents as lines: the numbers by which a person names them, and the lists of them, of their tree and of their dependencies. The number is
 * taken from the id (`4` is ROOT::S4, `4.1` its first child, 0 is main), so that it stays the same while the run lasts.
 */
import {
  agentTime,
  plural,
  formatDuration,
  formatTokens,
  inOrder,
  isAtWork,
  modelName,
  neverRan,
  pendingWords,
  restReason,
  SHOWN_STATUSES,
  shownStatus,
  toLabel,
  waitOf,
  wantsAttention,
} from '../../app/views/index.ts';
import { isAnswered, type AgentOutcome } from '../../domain/agents/agent.ts';
import { type AgentId, type Millis, ROOT } from '../../domain/ids.ts';
import { type Result, fail, ok } from '../../domain/result.ts';
import { activityOf, type AgentState, isFinal, plainLine, type RunState, tokensOfAgent } from '../../events/index.ts';
import { sanitise } from '../../app/process/index.ts';
import { costText } from '../../app/reports/index.ts';

/** `4`, `4.1`; 0 for main. */
export const numberOf = (agent: AgentId): string =>
  agent === ROOT ? '0' : agent.replace(/^ROOT::S/, '').replaceAll('::S', '.');

/** `4 refactoring`. */
export const numbered = ({ id, name }: AgentState): string => `${numberOf(id)} ${toLabel(name)}`;

const named = (id: AgentId, { agents }: RunState): string => {
  const found = agents.get(id);
  return found === undefined ? id : numbered(found);
};

/** An agent with its task; for a call of Task its role and the description of the call. */
export const workWords = (agent: AgentState): string =>
  agent.call === null ? `${tag(agent)} ${firstLine(agent.task)}` : `[${sanitise(agent.role)}] ${sanitise(agent.name)}`;

/** The same for later lines, without a task that was printed when the agent started. */
export const workAfterStart = (agent: AgentState): string => (agent.call === null ? tag(agent) : workWords(agent));

/** `7.6s`, from a minute on `9m 44s`. */
export const secondsText = (ms: Millis): string => (ms < 60_000 ? `${(ms / 1000).toFixed(1)}s` : formatDuration(ms));

/** `[finder]`, and of a child with its place: `[explore S2::S1]`. */
export const tag = ({ name, id, parent }: AgentState): string =>
  `[${sanitise(parent === ROOT || id === ROOT ? name : `${name} ${short(id)}`)}]`;
const short = (id: AgentId): string => id.slice('ROOT::'.length);

/** The agent of a number (`4`, `#4`, `4.1`), an id, or a name or role that only one agent has; else what can be typed. */
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
  return fail(
    `there is no agent ${typed}: ${have.length === 0 ? 'there are none yet' : `numbers are ${spanOf(have)}`}`,
  );
}

/** The tasks of a running plan whose agents have other numbers than their places in the plan. */
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

/** One line: number, name, status and reason, model, time, tokens, cost and activity. */
export function agentLine(state: RunState, agent: AgentState, now: number): string {
  const parts = [
    `${numbered(agent)}: ${statusOf(state, agent, now)}`,
    modelName(agent.model.used),
    ...(neverRan(agent)
      ? []
      : [
          formatDuration(agentTime(agent, state, now)),
          `${formatTokens(tokensOfAgent(agent))} tokens`,
          costText(agent),
          plural(agent.toolCalls, 'tool'),
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

/** The first sentence line of an answer, without the marks of Markdown. */
export const firstSaid = (text: string): string => toLabel(plainLine(text));

export const firstLine = (text: string): string => toLabel(text.split('\n')[0] ?? '');

/** `running, asks you`, `queued, waiting for 1 finder`, `can never run: 1 finder failed`. */
export function statusOf(state: RunState, agent: AgentState, now: number): string {
  const asks = state.approvals.some((one) => one.agent === agent.id) ? ', asks you' : '';
  const pinned = agent.pin === null ? '' : `, pinned to mode ${agent.pin}`;
  return `${statusWords(state, agent, now)}${asks}${pinned}`;
}

function statusWords(state: RunState, agent: AgentState, now: number): string {
  if (agent.outcome !== null) return endingOf(agent, agent.outcome);
  const wait = restReason(agent, state) ?? waitOf(agent, now);
  if (wait !== null) return typeof wait === 'string' ? wait : `waiting: ${wait.text}`;
  return shownStatus(agent) === 'queued' ? waitingWords(state, agent) : agent.status;
}

/** `completed`, `failed (no database)`; an error that begins with the outcome, as "killed by you", replaces it. */
function endingOf({ error, reason }: AgentState, outcome: AgentOutcome): string {
  const why = outcome === 'completed' ? '' : (toLabel(error ?? reason).split('\n')[0] ?? '');
  if (why === '' || why.startsWith(`${outcome} `)) return why === '' ? outcome : why;
  return `${outcome} (${why})`;
}

function waitingWords(state: RunState, agent: AgentState): string {
  const blocked = blockers(state, agent);
  if (blocked.length > 0) return `can never run: ${listed(blocked, 'and')}`;
  return pendingWords(agent, state, { named, joined: (names) => listed(names, 'and'), before: 'queued, ' });
}

const needsOf = ({ agents }: RunState, { dependsOn }: AgentState): readonly AgentState[] =>
  dependsOn.flatMap((id) => agents.get(id) ?? []);

const needsLeft = (state: RunState, agent: AgentState): readonly AgentState[] =>
  needsOf(state, agent).filter(({ outcome }) => outcome === null || !isAnswered(outcome));

/** The agents that ended without a result and so keep this one from ever running, directly or through others: `2 finder failed`. */
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

export const SORTS = ['plan', 'status', 'cost'] as const;

/** Which agents the person lists, and in which order. */
export interface ListSettings {
  /** A part of name, role, task or status; empty lists all agents. */
  filter: string;
  onlyRunning: boolean;
  sort: (typeof SORTS)[number];
}

/** The agents to list, without ROOT. */
export function shownAgents(state: RunState, { filter, onlyRunning, sort }: ListSettings): readonly AgentState[] {
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
  wantsAttention(state, agent) ? -1 : SHOWN_STATUSES.indexOf(shownStatus(agent));

/** The tree in words: `1 finder, running`, and below it `1.1 explore, child of 1 finder, running`. */
export function treeLines(state: RunState, now: number): readonly string[] {
  return inOrder(state).map((agent) => {
    const parent = agent.parent === null ? undefined : state.agents.get(agent.parent);
    const under = parent === undefined || parent.id === ROOT ? '' : `, child of ${numbered(parent)}`;
    const { length } = agent.children;
    const children = length === 0 ? '' : `, ${length === 1 ? '1 child' : `${length} children`}`;
    const depth = '  '.repeat(agent.id === ROOT ? 0 : numberOf(agent.id).split('.').length);
    return `${depth}${numbered(agent)}${under}, ${statusOf(state, agent, now)}${children}`;
  });
}

/** Each task: what it depends on, what it blocks, and whether it can still run. */
export function graphLines(state: RunState, now: number): readonly string[] {
  const all = inOrder(state).filter(({ id }) => id !== ROOT);
  return all.map((agent) => {
    const needs = needsOf(state, agent).map((need) => `${numbered(need)} (${need.outcome ?? need.status})`);
    const unlocks = all.filter(({ dependsOn }) => dependsOn.includes(agent.id)).map(numbered);
    const parts = [
      `${numbered(agent)}, ${statusOf(state, agent, now)}`,
      needs.length === 0 ? 'depends on none' : `depends on ${listed(needs, 'and')}`,
      ...(unlocks.length === 0 ? [] : [`blocks ${listed(unlocks, 'and')}`]),
    ];
    return `${parts.join('; ')}.`;
  });
}

/** `a`, `a or b`, `a, b or c`. */
export const listed = (words: readonly string[], by = 'or'): string =>
  words.length < 2 ? (words[0] ?? '') : `${words.slice(0, -1).join(', ')} ${by} ${words.at(-1) ?? ''}`;
