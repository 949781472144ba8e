/** Agents and the run as lines: how a person names an agent, and what is printed about it; the state of the run in one line. */
import { sanitise, wrongUse } from '../../app/process/index.ts';
import { costText, spentBy } from '../../app/reports/index.ts';
import { agentNumber, agentTime, countWords, endingText, formatDuration, formatLimit } from '../../app/views/index.ts';
import { formatTokens, inOrder, labelOf, modelName, neverRan, pendingWords } from '../../app/views/index.ts';
import { plural, restReason, runSpending, runTime, shownStatus, spawnerName, toLabel } from '../../app/views/index.ts';
import { waitOf } from '../../app/views/index.ts';
import { type AgentId, type Millis, ROOT } from '../../domain/ids.ts';
import * as lists from '../../domain/lists.ts';
import { type AgentState, isAtWork, type RunState } from '../../events/index.ts';
import { activityOf, plainLine, tokensOfAgent, verificationOf } from '../../events/index.ts';

/** An agent with its task; for a call of Task its role and the description of the call. */
export const workWords = (agent: AgentState): string =>
  agent.call === null ? `${tag(agent)} ${firstLine(agent.task)}` : `[${sanitise(agent.role)}] ${sanitise(agent.name)}`;

/** The same for later lines, without a task that was printed when the agent started. */
export const workAfterStart = (agent: AgentState): string => (agent.call === null ? tag(agent) : workWords(agent));

/** `[finder]`, and of a child with its place: `[explore S2::S1]`. */
export const tag = ({ name, id, parent }: AgentState): string =>
  `[${sanitise(parent === ROOT || id === ROOT ? name : `${name} ${id.slice('ROOT::'.length)}`)}]`;

/** The agent of a number (`4`, `#4`, `4.1`), an id, or a name or role that only one agent has; else throws what can be typed. */
export function agentNamed(state: RunState, typed: string): AgentState {
  const word = typed.replace(/^#/, '').toLowerCase();
  const all = inOrder(state);
  const found = [
    all.filter(({ id }) => agentNumber(id) === word || id.toLowerCase() === word),
    all.filter(({ name }) => name.toLowerCase() === word),
    all.filter(({ role }) => role.toLowerCase() === word),
  ].find(({ length }) => length > 0);
  const [first, second] = found ?? [];
  if (first !== undefined && second === undefined) return first;
  if (found !== undefined)
    throw wrongUse(`several are called ${typed}: ${listed(found.map(({ id }) => labelOf(state, id)))}`);
  const numbers = all.filter(({ id }) => id !== ROOT).map(({ id }) => agentNumber(id));
  const have = numbers.length > MOST_NUMBERS ? `${numbers[0] ?? ''} to ${numbers.at(-1) ?? ''}` : listed(numbers);
  if (typed === '') throw wrongUse(`which agent? Give its number: ${have}`);
  throw wrongUse(`there is no agent ${typed}: ${have === '' ? 'there are none yet' : `numbers are ${have}`}`);
}

const MOST_NUMBERS = 12;

/** The tasks of a running plan whose agents have other numbers than their places in the plan. */
export function otherNumbers({ plan, agents }: RunState): readonly string[] {
  const byTask = new Map([...agents.values()].map(({ id, taskId }) => [taskId, agentNumber(id)]));
  return (plan?.tasks ?? []).flatMap(({ id, role }, index) => {
    const number = byTask.get(id);
    const same = number === undefined || number === String(index + 1);
    return same ? [] : [`#${index + 1} ${role} of the plan is agent ${number}`];
  });
}

/** One line: number, name, status and reason, model, time, tokens, cost, who spawned it, its task, and its activity or result. */
export function agentLine(state: RunState, agent: AgentState, now: Millis): string {
  const used = [
    formatDuration(agentTime(agent, state, now)),
    `${formatTokens(tokensOfAgent(agent))} tokens`,
    costText(agent),
    plural(agent.toolCalls, 'tool'),
  ];
  const parts = [
    `${labelOf(state, agent.id)}: ${statusOf(state, agent, now)}`,
    modelName(agent.model.used),
    ...(neverRan(agent) ? [] : used),
    ...spawnWords(agent, state),
  ];
  return [parts.join(', '), firstLine(agent.task).replace(/\.$/, ''), ...latestWords(agent)].join('. ');
}

function spawnWords({ spawned, owner, parent, outcome }: AgentState, state: RunState): readonly string[] {
  if (spawned === null) return [];
  const by = `spawned by ${spawnerName(spawned, state)}`;
  if (owner === parent || outcome !== null) return [by];
  return [by, owner === null ? 'nobody is notified of its end' : `adopted by ${labelOf(state, owner)}`];
}

const MOST_DOING = 100;

function latestWords(agent: AgentState): readonly string[] {
  const now = isAtWork(agent) ? toLabel(activityOf(agent)).trim().slice(0, MOST_DOING) : '';
  const result = agent.outcome === null ? '' : firstSaid(agent.summary);
  return [...(now === '' ? [] : [`Now: ${now}`]), ...(result === '' ? [] : [`Result: ${result}`])];
}

/** The first sentence line of an answer, without the marks of Markdown. */
export const firstSaid = (text: string): string => toLabel(plainLine(text));

export const firstLine = (text: string): string => toLabel(text.split('\n')[0] ?? '');

/** `running, asks you`, `waiting for #1 finder`, `failed, no database`. */
export function statusOf(state: RunState, agent: AgentState, now: Millis): string {
  const asks = state.approvals.some((one) => one.agent === agent.id) ? ', asks you' : '';
  const pinned = agent.pin === null ? '' : `, pinned to mode ${agent.pin}`;
  const verification = verificationOf(state, agent);
  const checks = verification === null ? '' : `, ${verification === 'failed' ? 'checks failed' : verification}`;
  return `${statusWords(state, agent, now)}${checks}${asks}${pinned}`;
}

function statusWords(state: RunState, agent: AgentState, now: Millis): string {
  if (agent.outcome !== null) return endingText(agent);
  const rests = restReason(agent, state);
  if (rests !== null) return rests;
  const wait = waitOf(agent, now);
  if (wait !== null) return `waiting: ${wait.text}`;
  return shownStatus(agent) === 'queued' ? pendingWords(agent, state) : agent.status;
}

/** Each task: what it depends on, and what it blocks. */
export function graphLines(state: RunState, now: Millis): readonly string[] {
  const all = inOrder(state).filter(({ id }) => id !== ROOT);
  const named = (ids: readonly AgentId[]): string =>
    ids.length === 0
      ? 'none'
      : listed(
          ids.map((id) => labelOf(state, id)),
          'and',
        );
  return all.map((agent) => {
    const blocked = all.filter(({ dependsOn }) => dependsOn.includes(agent.id)).map(({ id }) => id);
    const blocks = blocked.length === 0 ? '' : `; blocks ${named(blocked)}`;
    return `${labelOf(state, agent.id)}, ${statusOf(state, agent, now)}; depends on ${named(agent.dependsOn)}${blocks}.`;
  });
}

/** `a`, `a or b`, `a, b or c`. */
export const listed = (words: readonly string[], by: 'and' | 'or' = 'or'): string => lists.listed(words, by);

/** `4 running, 36 queued (4 at once), 2m 10s, $0.38 of $5.00, no open questions.` */
export function statusLine(state: RunState, now: Millis): string {
  const { phase, finished, plan, approvals } = state;
  if (finished !== null) return `The run is ${finished.status}. report shows the result, new starts another task.`;
  const questions = approvals.length === 0 ? 'no open questions' : plural(approvals.length, 'open question');
  const tail = `${formatDuration(runTime(state, now))}, ${spentWords(state)}, ${questions}.`;
  if (phase === 'starting' || phase === 'planning') return `The plan is being drafted, ${tail}`;
  if (phase === 'approving')
    return `A plan of ${plural(plan?.tasks.length ?? 0, 'task')} waits for approval: Y, n or help.`;
  const merging = phase === 'merging' ? ['the report is being written'] : [];
  return [...countWords(state), ...merging, tail].join(', ');
}

function spentWords(state: RunState): string {
  const spent = costText(spentBy(state.agents.values()));
  const { maxCost, maxTokens } = state.budget;
  if (maxCost !== undefined) return `${spent} of ${formatLimit(maxCost)}`;
  if (maxTokens === undefined) return spent;
  return `${formatTokens(runSpending(state).tokens)} of ${formatTokens(maxTokens)} tokens`;
}
