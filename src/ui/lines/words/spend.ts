/** What a run spent and has left, by agent and by model, in lines. */
import { expectedTask } from '../../../app/views/spending/expected-plan.ts';
import { runSpending } from '../../../app/views/spending/spending.ts';
import { agentTime } from '../../../app/views/run-time.ts';
import type { RunState } from '../../../events/state.ts';
import { inOrder, modelName } from '../../../app/views/agents/agent-lines.ts';
import { counted, formatCost, formatDuration, formatLimit, formatTokens } from '../../../app/views/text/format.ts';
import { numbered, listed } from './agents.ts';
import { costWords, runWords, spentBy } from '../../../app/reports/spend-text.ts';

/** The sum, what is left of the limits, then each agent and each model. */
export function spendLines(state: RunState): readonly string[] {
  const { tokens, trouble } = runWords(state);
  const { maxCost, maxTokens, maxDuration } = state.budget;
  const spent = runSpending(state);
  const limits = [
    ...(maxCost === undefined ? [] : [`${formatLimit(Math.max(0, maxCost - spent.cost))} of ${formatLimit(maxCost)}`]),
    ...(maxTokens === undefined
      ? []
      : [`${formatTokens(Math.max(0, maxTokens - spent.tokens))} of ${formatTokens(maxTokens)} tokens`]),
    ...(maxDuration === undefined ? [] : [`of ${formatDuration(maxDuration)} in all`]),
  ];
  return [
    `Spent: ${costWords(spentBy(state.agents.values()))}, ${formatTokens(spent.tokens)} tokens${tokens === '' ? '' : ` (${tokens})`}.`,
    ...(limits.length === 0 ? ['No limit was set for the run.'] : [`Left: ${listed(limits, 'and')}.`]),
    ...(trouble === '' ? [] : [`On the way: ${trouble}.`]),
    'By agent:',
    ...inOrder(state).map((agent) => {
      const task = state.plan?.tasks.find(({ id }) => id === agent.taskId);
      const estimate = task === undefined ? null : expectedTask(task, state).estimatedCost;
      return `${numbered(agent)}: ${costWords(agent)}${estimate === null ? '' : `, estimated ${formatCost(estimate)}`}, ${formatDuration(agentTime(agent, state))}`;
    }),
    'By model:',
    ...byModel(state),
  ];
}

function byModel({ agents }: RunState): readonly string[] {
  const sums = new Map<string, { cost: number; calls: number }>();
  for (const { byModel: shares } of agents.values()) {
    for (const { model, cost, calls } of shares) {
      const known = sums.get(model) ?? { cost: 0, calls: 0 };
      sums.set(model, { cost: known.cost + cost, calls: known.calls + calls });
    }
  }
  return [...sums].map(
    ([model, { cost, calls }]) => `${modelName(model)}: ${formatCost(cost)}, ${counted(calls, 'call')}`,
  );
}
