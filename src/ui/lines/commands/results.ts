/** Commands about what came of a run: the report, agents against their estimates, files, the export; and on to another run. */
import { agentTime } from '../../../app/views/run-time.ts';
import { isFollowUp, messageMain, retryRun, retryWords } from '../../../app/actions/index.ts';
import { ROOT } from '../../../domain/ids.ts';
import { tokensOfAgent } from '../../../events/queries.ts';
import { inOrder } from '../../../app/views/agents/agent-lines.ts';
import { formatCost, formatDuration, formatTokens } from '../../../app/views/text/format.ts';
import type { ReportFormat } from '../../../ports/project-service.ts';
import { numbered } from '../words/agents.ts';
import { type LineCommand, type LineDesk, type Place, sayLong } from '../command.ts';
import { filesOf } from './show.ts';
import { costWords } from '../../../app/reports/spend-text.ts';

const ENDED: readonly Place[] = ['result'];
const BEGUN: readonly Place[] = ['run', 'result'];
const FORMATS: readonly ReportFormat[] = ['md', 'json', 'html'];

export const RESULT_COMMANDS: readonly LineCommand[] = [
  {
    name: 'report',
    short: ['v'],
    arguments: '',
    help: 'Says what came of the run.',
    where: BEGUN,
    actions: ['run.result', 'result.report', 'result.next'],
    run: (_, desk) =>
      desk.state.finished === null
        ? desk.refuse('there is no report before the run has ended')
        : sayLong(desk, desk.state.finished.summary.split('\n')),
  },
  {
    name: 'compare',
    short: ['estimates'],
    arguments: '',
    help: 'Says what each agent was estimated at, and what it took.',
    where: BEGUN,
    actions: ['result.estimates'],
    run: (_, desk) => sayLong(desk, compareLines(desk)),
  },
  {
    name: 'changed',
    short: ['touched'],
    arguments: '',
    help: 'Lists the files that agents changed by their tools, by agent; show N diffs has the changes.',
    where: BEGUN,
    actions: ['result.files'],
    run: (_, desk) => sayLong(desk, changedLines(desk)),
  },
  {
    name: 'export',
    short: [],
    arguments: '[md|json|html]',
    help: 'Writes the report into a file and says which; Markdown where nothing is said.',
    where: BEGUN,
    actions: ['result.export'],
    run: exportReport,
  },
  {
    name: 'resume',
    short: ['r', retryRun.word],
    arguments: '',
    help: 'Resumes a stopped run; of a failed one the failed tasks run again, and those that were skipped behind them.',
    where: ENDED,
    actions: ['result.resume', 'result.retry'],
    run: async (_, desk) => {
      const { finished, session } = desk.state;
      const over = finished?.status === 'completed' || finished?.status === 'rejected';
      if (finished === null || over || session === null) return desk.refuse('this run is over: new begins another');
      if (finished.status === 'failed') desk.say(retryWords(desk.state));
      await desk.go({ resume: session });
    },
  },
  {
    name: messageMain.word,
    short: [],
    arguments: 'TEXT',
    help: messageMain.help,
    where: BEGUN,
    actions: ['result.message'],
    run: sayToMain,
  },
  {
    name: 'new',
    short: [],
    arguments: '',
    help: 'Begins another task; this run stays in the list of sessions.',
    where: ENDED,
    actions: ['result.new'],
    run: (_, desk) => desk.go('start'),
  },
];

function compareLines({ state }: LineDesk): readonly string[] {
  return inOrder(state)
    .filter(({ id }) => id !== ROOT)
    .map((agent) => {
      const task = state.plan?.tasks.find(({ id }) => id === agent.taskId);
      const took = `took ${formatTokens(tokensOfAgent(agent))} tokens, ${costWords(agent)}, ${formatDuration(agentTime(agent, state))}`;
      if (task === undefined) return `${numbered(agent)}: not in the plan, ${took}`;
      const cost = task.estimatedCost === null ? 'price not known' : formatCost(task.estimatedCost);
      const guess = `estimated ${formatTokens(task.estimatedTokens)} tokens, ${cost}, ${formatDuration(task.estimatedSeconds * 1000)}`;
      return `${numbered(agent)}, ${agent.outcome ?? agent.status}: ${guess}; ${took}`;
    });
}

function changedLines({ state }: LineDesk): readonly string[] {
  const all = inOrder(state).flatMap((agent) => {
    const files = filesOf(agent);
    return files.length === 0 ? [] : [`${numbered(agent)}:`, ...files.map((file) => `  ${file}`)];
  });
  return all.length === 0 ? ['No agent changed a file by its tools.'] : all;
}

async function sayToMain(typed: string, desk: LineDesk): Promise<void> {
  const text = typed === '' ? ((await desk.ask('Message to main (Enter sends none): ')) ?? '').trim() : typed;
  if (text === '') return desk.say('Nothing sent.');
  const { state } = desk;
  const why = messageMain.whyNot(state, { text });
  if (why !== null || state.session === null) return desk.refuse(why ?? 'there is no run');
  if (isFollowUp(state)) return desk.go({ resume: state.session, followUp: text });
  await desk.submit(messageMain.command(state, { text }));
}

async function exportReport(typed: string, desk: LineDesk): Promise<void> {
  const { session, finished } = desk.state;
  const format = FORMATS.find((one) => one === (typed === '' ? 'md' : typed));
  if (format === undefined) return desk.refuse(`"${typed}" is no format: expected md, json or html`);
  if (finished === null || session === null) return desk.refuse('there is no report before the run has ended');
  if (desk.lobby?.exportReport === undefined) {
    return desk.refuse(`only a session writes it: mimir report ${session} --format ${format} > FILE does the same`);
  }
  const done = await desk.lobby.exportReport(session, format);
  if (done.ok) desk.say(done.value.text);
  else desk.refuse(done.fault.text);
}
