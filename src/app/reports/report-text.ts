/** The report of a run from its state: the merged text, then every agent with what it did and what it cost. */
import { runSpending } from '../views/spending/spending.ts';
import { agentTime, runTime } from '../views/run-time.ts';
import { ROOT } from '../../domain/ids.ts';
import { tokensOfAgent } from '../../events/queries.ts';
import type { AgentState, RunState } from '../../events/state.ts';
import { callsOf } from '../views/agents/agent-lines.ts';
import { formatDuration, formatTokens } from '../views/text/format.ts';
import { changesOf } from '../views/file-changes.ts';
import { htmlOf } from './html.ts';
import { sectionsJson, sectionsOf } from './report-sections.ts';
import { costWords, runWords, spentBy, spentOne, troubleWords } from './spend-text.ts';

export function reportMarkdown(state: RunState): string {
  const summary = state.finished?.summary ?? '';
  const body = summary === '' ? '_The run has no report: it did not get that far._' : summary;
  return `${body}\n\n---\n\n## The run\n\n${factLines(state).join('\n')}\n\n${tableOf(state)}${modelNotes(state)}${sectionsOf(state)}\n`;
}

function factLines(state: RunState): readonly string[] {
  const spent = runSpending(state);
  const time = runTime(state);
  const words = runWords(state);
  return [
    `- Task: ${state.task}`,
    `- Session: ${state.session ?? ''}, ${state.finished?.status ?? 'not finished'}`,
    `- Provider: ${state.provider}; mode ${state.mode}`,
    `- Spent: ${formatTokens(spent.tokens)} tokens, ${costWords(spentBy(state.agents.values()))}${time === 0 ? '' : `, ${formatDuration(time)}`}`,
    ...(words.tokens === '' ? [] : [`- Tokens: ${words.tokens}`]),
    ...(words.trouble === '' ? [] : [`- On the way: ${words.trouble}`]),
  ];
}

const COLUMNS = ['agent', 'outcome', 'model', 'time', 'tools', 'input', 'output', 'cache read', 'cache write', 'cost'];

function tableOf(state: RunState): string {
  const row = (cells: readonly string[]): string => `| ${cells.map(inCell).join(' | ')} |`;
  return [
    row(COLUMNS),
    row(COLUMNS.map(() => '---')),
    ...[...state.agents.values()].map((agent) => cellsOf(agent, state)).map(row),
  ].join('\n');
}

/** A cell is one line, and a bar in it would begin the next. */
const inCell = (text: string): string => text.replaceAll('|', '/').replaceAll('\n', ' ');

function cellsOf(agent: AgentState, state: RunState): readonly string[] {
  const { usage, model } = agent;
  return [
    agent.name,
    agent.outcome ?? agent.status,
    model.because === null ? model.used : `${model.asked} -> ${model.used}`,
    formatDuration(agentTime(agent, state)),
    String(agent.toolCalls),
    ...[usage.input, usage.output, usage.cacheRead, usage.cacheWrite].map(formatTokens),
    costWords(agent),
  ];
}

/** Why agents worked on another model than was asked for, and what their calls ran into; empty where nothing is to be said. */
function modelNotes(state: RunState): string {
  const lines = [...state.agents.values()].flatMap((agent) => {
    const { asked, used, because } = agent.model;
    const trouble = troubleWords({ ...spentOne(agent), fallbacks: 0 });
    const changes = agent.fallbacks.map(
      ({ from, to, cause, rule }) => `${from} -> ${to}: ${cause}${rule === '' ? '' : ` (${rule})`}`,
    );
    const why = because === null || changes.length > 0 ? [] : [`${asked} -> ${used}: ${because}`];
    const notes = [...why, ...changes, ...(trouble === '' ? [] : [trouble])];
    return notes.map((note) => `- ${agent.name}: ${note.replaceAll('\n', ' ')}`);
  });
  return lines.length === 0 ? '' : `\n\n### Models\n\n${lines.join('\n')}`;
}

/** Stable: fields are only added. Costs in USD, durations in milliseconds. */
export function reportJson(state: RunState): unknown {
  const main = state.agents.get(ROOT);
  return {
    session: state.session,
    task: state.task,
    status: state.finished?.status ?? 'unfinished',
    report: state.finished?.summary ?? '',
    totals: state.finished?.totals ?? null,
    spent: spentBy(state.agents.values()),
    main: main === undefined ? null : agentJson(main, state),
    agents: [...state.agents.values()].filter(({ id }) => id !== ROOT).map((agent) => agentJson(agent, state)),
    ...sectionsJson(state),
  };
}

const agentJson = (agent: AgentState, state: RunState): unknown => ({
  id: agent.id,
  name: agent.name,
  role: agent.role,
  task: agent.task,
  status: agent.status,
  outcome: agent.outcome,
  summary: agent.summary,
  error: agent.error,
  model: agent.model,
  tokens: tokensOfAgent(agent),
  usage: agent.usage,
  byModel: agent.byModel,
  files: changesOf(agent).map(({ path, added, removed, made }) => ({ path, added, removed, made })),
  cost: agent.priced ? agent.cost : null,
  duration: agentTime(agent, state),
  toolCalls: agent.toolCalls,
  calls: callsOf(agent),
  failedTries: agent.lost,
  waits: agent.retries,
  fallbacks: agent.fallbacks,
  compactions: agent.compactions,
});

export const reportHtml = (state: RunState): string => htmlOf(`Mimir: ${state.task}`, reportMarkdown(state));
