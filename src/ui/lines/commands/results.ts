/** Commands about the result of a run: the report, estimates compared with use, changed files, the export; and the way to another run. */
import {
  answerText,
  agentTime,
  changesOf,
  plural,
  expectedTask,
  figuresText,
  formatCost,
  formatDuration,
  formatLimit,
  formatTokens,
  inOrder,
  modelName,
  runSpending,
  sharesByModel,
  statusWord,
} from '../../../app/views/index.ts';
import { isFollowUp, messageMain, NO_REPORT, retryRun, retryText, whyNotTalk } from '../../../app/actions/index.ts';
import { costText, runUsageText, spentBy } from '../../../app/reports/index.ts';
import { ROOT } from '../../../domain/ids.ts';
import { type RunState, tokensOfAgent } from '../../../events/index.ts';
import type { ReportFormat } from '../../../ports/project-service.ts';
import { at, type LineCommand, type LineContext, perform, printReceipt, sayLong, wordsOf } from '../command.ts';
import { listed, numbered } from '../agents.ts';

const FORMATS: readonly ReportFormat[] = ['md', 'json', 'html'];

export const RESULT_COMMANDS: readonly LineCommand[] = [
  ...at(
    ['run', 'result'],
    {
      name: 'report',
      short: ['v'],
      help: 'Print the result of the run.',
      actions: ['run.result', 'result.report', 'result.next'],
      run: (_, context) =>
        context.state.finished === null
          ? context.refuse(NO_REPORT)
          : sayLong(context, answerText(context.state).split('\n')),
    },
    {
      name: 'compare',
      short: ['estimates'],
      help: 'Print estimated and used time, tokens and cost per agent.',
      actions: ['result.estimates'],
      run: (_, context) => sayLong(context, compareLines(context)),
    },
    {
      name: 'changed',
      short: ['touched'],
      help: 'List the files that agents changed; show N diffs prints the changes.',
      actions: ['result.files'],
      run: (_, context) => sayLong(context, changedLines(context)),
    },
    {
      name: 'export',
      arguments: '[md|json|html]',
      help: 'Write the report into a file (default: Markdown) and print its name.',
      actions: ['result.export'],
      run: exportReport,
    },
  ),
  ...at(['result'], {
    name: 'resume',
    short: ['r', retryRun.word],
    help: 'Resume a stopped or failed run; failed and skipped tasks run again.',
    actions: ['result.resume', 'result.retry'],
    run: async (_, context) => {
      const { finished, session } = context.state;
      const isFinal = finished?.status === 'completed' || finished?.status === 'rejected';
      if (finished === null || isFinal || session === null)
        return context.refuse('this run has ended: new starts another task');
      if (finished.status === 'failed') context.say(retryText(context.state));
      await context.go({ resume: session });
    },
  }),
  ...at(['run', 'result'], { ...wordsOf(messageMain), run: sayToMain }),
  ...at(['result'], {
    name: 'new',
    help: 'Start another task; this run stays in the list of sessions.',
    actions: ['result.new'],
    run: (_, context) => context.go('start'),
  }),
];

function compareLines({ state }: LineContext): readonly string[] {
  return inOrder(state)
    .filter(({ id }) => id !== ROOT)
    .map((agent) => {
      const planned = state.plan?.tasks.find(({ id }) => id === agent.taskId);
      const used = `took ${formatTokens(tokensOfAgent(agent))} tokens, ${costText(agent)}, ${formatDuration(agentTime(agent, state))}`;
      if (planned === undefined) return `${numbered(agent)}: not in the plan, ${used}`;
      const task = expectedTask(planned, state);
      const figures = { tokens: task.estimatedTokens, cost: task.estimatedCost, seconds: task.estimatedSeconds };
      return `${numbered(agent)}, ${statusWord(agent)}: estimated ${figuresText(figures, '')}; ${used}`;
    });
}

function changedLines({ state }: LineContext): readonly string[] {
  const all = inOrder(state).flatMap((agent) => {
    const files = changesOf(agent);
    return files.length === 0 ? [] : [`${numbered(agent)}:`, ...files.map(({ path }) => `  ${path}`)];
  });
  return all.length === 0 ? ['No files changed by agents.'] : all;
}

async function sayToMain(typed: string, context: LineContext): Promise<void> {
  const text = typed === '' ? ((await context.ask('Message to main (Enter to cancel): ')) ?? '').trim() : typed;
  if (text === '') return context.say('Nothing sent.');
  const { state } = context;
  if (!isFollowUp(state) || state.session === null) return void (await perform(messageMain, { text }, context));
  const why = whyNotTalk(state);
  return why === null ? context.go({ resume: state.session, followUp: text }) : context.refuse(why);
}

async function exportReport(typed: string, context: LineContext): Promise<void> {
  const { session, finished } = context.state;
  const format = FORMATS.find((one) => one === (typed === '' ? 'md' : typed));
  if (format === undefined) return context.refuse(`"${typed}" is not a format: expected md, json or html`);
  if (finished === null || session === null) return context.refuse(NO_REPORT);
  if (context.projectService?.exportReport === undefined) {
    return context.refuse(`export works only in a session; use mimir report ${session} --format ${format} > FILE`);
  }
  const done = await context.projectService.exportReport(session, format);
  printReceipt(done, context);
}

/** The spending of the run, the rest of its budget, and the spending of each agent and each model. */
export function spendLines(state: RunState): readonly string[] {
  const { tokens, trouble } = runUsageText(state);
  const { maxCost, maxTokens, maxDuration } = state.budget;
  const spent = runSpending(state);
  const limits = [
    ...(maxCost === undefined ? [] : [`${formatLimit(Math.max(0, maxCost - spent.cost))} of ${formatLimit(maxCost)}`]),
    ...(maxTokens === undefined
      ? []
      : [`${formatTokens(Math.max(0, maxTokens - spent.tokens))} of ${formatTokens(maxTokens)} tokens`]),
    ...(maxDuration === undefined ? [] : [`of ${formatDuration(maxDuration)} in total`]),
  ];
  return [
    `Spent: ${costText(spentBy(state.agents.values()))}, ${formatTokens(spent.tokens)} tokens${tokens === '' ? '' : ` (${tokens})`}.`,
    ...(limits.length === 0 ? ['The run has no budget.'] : [`Left: ${listed(limits, 'and')}.`]),
    ...(trouble === '' ? [] : [`Problems: ${trouble}.`]),
    'By agent:',
    ...inOrder(state).map((agent) => {
      const task = state.plan?.tasks.find(({ id }) => id === agent.taskId);
      const estimate = task === undefined ? null : expectedTask(task, state).estimatedCost;
      return `${numbered(agent)}: ${costText(agent)}${estimate === null ? '' : `, estimated ${formatCost(estimate)}`}, ${formatDuration(agentTime(agent, state))}`;
    }),
    'By model:',
    ...sharesByModel(state).map(
      ({ model, cost, calls }) => `${modelName(model)}: ${formatCost(cost)}, ${plural(calls, 'call')}`,
    ),
  ];
}
