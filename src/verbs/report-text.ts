/** The report of a run from its state: the merged text, then every agent with what it did and what it cost. */
import { ROOT } from '../domain/ids.ts';
import { elapsedOf, spentOf, tokensOfAgent } from '../events/queries.ts';
import type { AgentState, RunState } from '../events/state.ts';
import { formatCost, formatDuration, formatTokens } from '../tui/format.ts';
import { htmlOf } from './html.ts';

export function reportMarkdown(state: RunState): string {
  const summary = state.finished?.summary ?? '';
  const body = summary === '' ? '_The run has no report: it did not get that far._' : summary;
  return `${body}\n\n---\n\n## The run\n\n${factLines(state).join('\n')}\n\n${tableOf(state)}\n`;
}

function factLines(state: RunState): readonly string[] {
  const spent = spentOf(state);
  const totals = state.finished?.totals;
  return [
    `- Task: ${state.task}`,
    `- Session: ${state.session ?? ''}, ${state.finished?.status ?? 'not finished'}`,
    `- Provider: ${state.provider}; mode ${state.mode}`,
    `- Spent: ${formatTokens(spent.tokens)} tokens, ${formatCost(spent.cost)}${totals ? `, ${formatDuration(totals.duration)}` : ''}`,
  ];
}

function tableOf(state: RunState): string {
  const rows = [...state.agents.values()].map(
    (agent) =>
      `| ${agent.name} | ${agent.outcome ?? agent.status} | ${agent.model.used} | ${formatDuration(elapsedOf(agent, agent.lastAt))} | ${agent.toolCalls} | ${formatTokens(tokensOfAgent(agent))} | ${agent.priced ? formatCost(agent.cost) : 'not known'} |`,
  );
  return [
    '| agent | outcome | model | time | tools | tokens | cost |',
    '| --- | --- | --- | --- | --- | --- | --- |',
    ...rows,
  ].join('\n');
}

/** Stable: fields are only added. Costs in USD, durations in milliseconds. */
export function reportJson(state: RunState): unknown {
  return {
    session: state.session,
    task: state.task,
    status: state.finished?.status ?? 'unfinished',
    report: state.finished?.summary ?? '',
    totals: state.finished?.totals ?? null,
    agents: [...state.agents.values()].filter(({ id }) => id !== ROOT).map(agentJson),
  };
}

const agentJson = (agent: AgentState): unknown => ({
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
  cost: agent.priced ? agent.cost : null,
  duration: elapsedOf(agent, agent.lastAt),
  toolCalls: agent.toolCalls,
});

export const reportHtml = (state: RunState): string => htmlOf(`Mimir: ${state.task}`, reportMarkdown(state));
