/** Commands about the result of a run: the report and its parts, the export, a message to main; and the way to another run. */
import { isFollowUp, messageMain, NO_REPORT, retryRun, retryText, whyNotTalk } from '../../../app/actions/index.ts';
import { wrongUse } from '../../../app/process/index.ts';
import { REPORT_PARTS } from '../../../app/reports/index.ts';
import { answerText } from '../../../app/views/index.ts';
import type { ReportFormat } from '../../../ports/project-service.ts';
import {
  askText,
  at,
  type LineCommand,
  type LineContext,
  perform,
  printReceipt,
  sayLong,
  wordsOf,
} from '../command.ts';

const FORMATS: readonly ReportFormat[] = ['md', 'json', 'html'];

const partOfReport = (name: string, short: string, part: keyof typeof REPORT_PARTS, help: string) => ({
  name,
  short: [short],
  help,
  run: (_: string, context: LineContext): void => {
    const text = REPORT_PARTS[part](context.state);
    sayLong(context, text === '' ? [`No ${part} yet.`] : text.split('\n'));
  },
});

export const RESULT_COMMANDS: readonly LineCommand[] = [
  ...at(
    ['run', 'result'],
    {
      name: 'report',
      short: ['v'],
      help: 'Print the result of the run.',
      run(_, context) {
        if (context.state.finished === null) throw wrongUse(NO_REPORT);
        sayLong(context, answerText(context.state).split('\n'));
      },
    },
    partOfReport('compare', 'estimates', 'estimates', 'Print estimated and used tokens, cost and time per agent.'),
    partOfReport('changed', 'touched', 'files', 'List the files that agents changed; show N diffs prints the changes.'),
    {
      name: 'export',
      arguments: '[md|json|html]',
      help: 'Write the report into a file (default: Markdown) and print its name.',
      run: exportReport,
    },
    { ...wordsOf(messageMain), run: sayToMain },
  ),
  ...at(
    ['plan', 'run', 'result'],
    partOfReport('spend', 'cost', 'spending', 'Print the cost by agent, model and kind of token, and the budget.'),
  ),
  ...at(
    ['result'],
    {
      name: 'resume',
      short: ['r', retryRun.word],
      help: 'Resume a stopped or failed run; failed and skipped tasks run again.',
      run: resumeRun,
    },
    {
      name: 'new',
      help: 'Start another task; this run stays in the list of sessions.',
      run: (_, context) => context.go('start'),
    },
  ),
];

async function resumeRun(_: string, context: LineContext): Promise<void> {
  const { finished, session } = context.state;
  const isOver = finished?.status === 'completed' || finished?.status === 'rejected';
  if (finished === null || isOver || session === null) throw wrongUse('this run has ended: new starts another task');
  if (finished.status === 'failed') context.say(retryText(context.state));
  await context.go({ resume: session });
}

async function sayToMain(typed: string, context: LineContext): Promise<void> {
  const text = typed === '' ? await askText('Message to main (Enter to cancel): ', 'Nothing sent.', context) : typed;
  const { state } = context;
  if (!isFollowUp(state) || state.session === null) return perform(messageMain, { text }, context);
  const why = whyNotTalk(state);
  if (why !== null) throw wrongUse(why);
  await context.go({ resume: state.session, followUp: text });
}

async function exportReport(typed: string, context: LineContext): Promise<void> {
  const { session, finished } = context.state;
  const format = FORMATS.find((one) => one === (typed === '' ? 'md' : typed));
  if (format === undefined) throw wrongUse(`"${typed}" is not a format: expected md, json or html`);
  if (finished === null || session === null) throw wrongUse(NO_REPORT);
  if (context.projectService?.exportReport === undefined)
    throw wrongUse(`export works only in a session; use mimir report ${session} --format ${format} > FILE`);
  printReceipt(await context.projectService.exportReport(session, format), context);
}
