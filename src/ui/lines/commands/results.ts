/** Commands about the result of a run: the report and its parts, the export, a message to main; and the way to another run. */
import { isFollowUp, messageMain, NO_REPORT, retryRun, retryText, whyNotTalk } from '../../../app/actions/index.ts';
import { wrongUse } from '../../../app/process/index.ts';
import { REPORT_PARTS } from '../../../app/reports/index.ts';
import { answerText } from '../../../app/views/index.ts';
import type { ReportFormat } from '../../../ports/project-service.ts';
import type { LineCommand, LineSession } from '../session.ts';
import { askText, at, perform, type Placeless, printReceipt, wordsOf } from './perform.ts';

const FORMATS: readonly ReportFormat[] = ['md', 'json', 'html'];

const partOfReport = (name: string, short: string, part: keyof typeof REPORT_PARTS, help: string): Placeless => ({
  name,
  short: [short],
  help,
  run: (_, session) => session.sayLong([REPORT_PARTS[part](session.state) || `No ${part} yet.`]),
});

export const RESULT_COMMANDS: readonly LineCommand[] = [
  ...at(
    ['run', 'result'],
    {
      name: 'report',
      short: ['v'],
      help: 'Print the result of the run.',
      run(_, session) {
        if (session.state.finished === null) throw wrongUse(NO_REPORT);
        session.sayLong([answerText(session.state)]);
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
      run: (_, session) => session.welcome(),
    },
  ),
];

async function resumeRun(_: string, session: LineSession): Promise<void> {
  const { finished, session: id } = session.state;
  const isOver = finished?.status === 'completed' || finished?.status === 'rejected';
  if (finished === null || isOver || id === null) throw wrongUse('this run has ended: new starts another task');
  if (finished.status === 'failed') session.say(retryText(session.state));
  await session.resume(id);
}

async function sayToMain(typed: string, session: LineSession): Promise<void> {
  const text = typed === '' ? await askText('Message to main (Enter to cancel): ', 'Nothing sent.', session) : typed;
  if (!isFollowUp(session.state)) return perform(messageMain, { text }, session);
  await followUp(text, session);
}

/** Resumes an ended run with a message to main. */
export async function followUp(text: string, session: LineSession): Promise<void> {
  const { state } = session;
  const why = whyNotTalk(state);
  if (why !== null || state.session === null) throw wrongUse(why ?? NO_REPORT);
  await session.resume(state.session, text);
}

async function exportReport(typed: string, session: LineSession): Promise<void> {
  const { session: id, finished } = session.state;
  const format = FORMATS.find((one) => one === (typed === '' ? 'md' : typed));
  if (format === undefined) throw wrongUse(`"${typed}" is not a format: expected md, json or html`);
  if (finished === null || id === null) throw wrongUse(NO_REPORT);
  printReceipt(await session.service.exportReport?.(id, format), session);
}
