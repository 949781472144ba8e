/** What a report says beside the answer and the table of agents: estimates, models, files, what is still open. As the result screen does. */
import type { RunState } from '../../events/state.ts';
import { formatCost, formatDuration, formatShare, formatTokens } from '../views/text/format.ts';
import type { Measures } from '../views/run-summary.ts';
import { comparedSums, comparedTasks, shareOf, sharesByModel, stillOpen, touchedFiles } from '../views/run-summary.ts';

/** Markdown, each part with its heading; empty where there is nothing to say. */
export function sectionsOf(state: RunState): string {
  const parts: readonly (readonly [title: string, body: string])[] = [
    ['Estimated and used', estimates(state)],
    ['By model', models(state)],
    ['Files changed', files(state)],
    [
      'Still open',
      stillOpen(state)
        .map((line) => `- ${inCell(line)}`)
        .join('\n'),
    ],
  ];
  return parts
    .filter(([, body]) => body !== '')
    .map(([title, body]) => `\n\n### ${title}\n\n${body}`)
    .join('');
}

/** A cell is one line, and a bar in it would begin the next. */
const inCell = (text: string): string => text.replaceAll('|', '/').replaceAll('\n', ' ');

function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const row = (cells: readonly string[]): string => `| ${cells.map(inCell).join(' | ')} |`;
  return rows.length === 0 ? '' : [row(head), row(head.map(() => '---')), ...rows.map(row)].join('\n');
}

function estimates(state: RunState): string {
  const all = comparedTasks(state);
  const cells = (name: string, estimate: Measures, actual: Measures): readonly string[] => {
    const share = shareOf(actual.tokens, estimate.tokens);
    return [
      name,
      `${formatTokens(actual.tokens)} of ${formatTokens(estimate.tokens)}`,
      share === null ? '' : formatShare(share),
      `${formatCost(actual.cost)} of ${formatCost(estimate.cost)}`,
      `${formatDuration(actual.ms)} of ${formatDuration(estimate.ms)}`,
    ];
  };
  const sums = comparedSums(all);
  return tableOf(
    ['agent', 'tokens', 'used', 'cost', 'time'],
    all.length === 0
      ? []
      : [
          ...all.map(({ agent, estimate, actual }) => cells(agent.name, estimate, actual)),
          cells('in all', sums.estimate, sums.actual),
        ],
  );
}

const models = (state: RunState): string =>
  tableOf(
    ['model', 'calls', 'input', 'output', 'cache read', 'cache write', 'cost'],
    sharesByModel(state).map(({ model, calls, usage, cost }) => [
      model,
      String(calls),
      ...[usage.input, usage.output, usage.cacheRead, usage.cacheWrite].map(formatTokens),
      formatCost(cost),
    ]),
  );

const files = (state: RunState): string =>
  tableOf(
    ['file', 'lines', 'by'],
    touchedFiles(state).map(({ path, added, removed, made, by }) => [
      made ? `${path} (new)` : path,
      `+${added} -${removed}`,
      by.join(', '),
    ]),
  );

/** The same for programs: US dollars, milliseconds. */
export function sectionsJson(state: RunState): Readonly<Record<string, unknown>> {
  const all = comparedTasks(state);
  return {
    estimates: {
      tasks: all.map(({ task, agent, estimate, actual }) => ({ task: task.id, agent: agent.id, estimate, actual })),
      ...comparedSums(all),
    },
    byModel: sharesByModel(state),
    files: touchedFiles(state),
    open: stillOpen(state),
  };
}
