/** Commands that print the state of a run: its agents, what they depend on, one agent, the log, and agents that need the person. */
import {
  agentNumber,
  countWords,
  formatClock,
  formatDuration,
  formatLimit,
  formatTokens,
  inOrder,
  isAtWork,
  labelOf,
  plural,
  runSpending,
  runTime,
  SHOWN_STATUSES,
  shownStatus,
  wantsAttention,
} from '../../../app/views/index.ts';
import { wrongUse } from '../../../app/process/index.ts';
import { costText, spentBy } from '../../../app/reports/index.ts';
import { isBelow, type Millis, ROOT } from '../../../domain/ids.ts';
import { type AgentState, isFinal, type RunState, tokensOfAgent } from '../../../events/index.ts';
import { agentLine, agentNamed, graphLines } from '../agents.ts';
import { at, type LineCommand, type LineContext, sayLong, sayMore } from '../command.ts';
import { copyPart, findIn, PART_NAMES, showAgent } from './show.ts';

export const LOOK_COMMANDS: readonly LineCommand[] = [
  ...at(
    ['run', 'result'],
    {
      name: 'agents',
      short: ['ls', 'tree', 'children', 'filter', 'sort', 'all', 'running'],
      arguments: '[N|running|cost|status|WORD]',
      help: 'List the agents: all, those below agent N, active ones, those with a word, or sorted by cost or status.',
      run: listAgents,
    },
    {
      name: 'graph',
      short: ['g'],
      help: 'Print which agents wait for which.',
      run: (_, context) => sayLong(context, graphLines(context.state, context.now())),
    },
    {
      name: 'attention',
      short: [']', 'need'],
      help: 'Print the next agent that asks, failed or was interrupted, and what you can do.',
      run: (_, context) => sayNextInNeed(context),
    },
  ),
  ...at(
    ['plan', 'run', 'result'],
    {
      name: 'show',
      short: ['s', 'open', 'what'],
      arguments: `N [${PART_NAMES.join('|')}]`,
      help: 'Print the state of agent N, or one part of it.',
      run: showAgent,
    },
    {
      name: 'find',
      arguments: 'N WORDS',
      help: 'Search the transcript of agent N.',
      run: findIn,
    },
    {
      name: 'copy',
      arguments: `N|report [${PART_NAMES.join('|')}]`,
      help: 'Copy a part of agent N, or the report, into the clipboard file.',
      run: copyPart,
    },
    {
      name: 'log',
      short: ['l'],
      arguments: '[COUNT] [warnings|errors]',
      help: 'Print the last 20 (or COUNT) lines of the log: all, warnings and errors, or errors.',
      run: sayLog,
    },
    {
      name: 'status',
      help: 'Print the state in one line; Enter on an empty line does the same.',
      run: (_, context) => context.say(statusLine(context.state, context.now())),
    },
  ),
  ...at(['start', 'plan', 'run', 'result'], {
    name: 'more',
    arguments: '[all]',
    help: 'Print the next part of a long text.',
    run: sayMore,
  }),
];

function listAgents(typed: string, context: LineContext): void {
  const { state } = context;
  const all = inOrder(state).filter(({ id }) => id !== ROOT);
  if (all.length === 0) return context.say('No agents yet.');
  const shown = selectAgents(all, typed.trim().toLowerCase(), state);
  sayLong(context, [
    `${shown.length === all.length ? '' : `${shown.length} of `}${plural(all.length, 'agent')}:`,
    ...shown.map((agent) => agentLine(state, agent, context.now())),
  ]);
}

function selectAgents(all: readonly AgentState[], word: string, state: RunState): readonly AgentState[] {
  const rank = (agent: AgentState): number =>
    wantsAttention(state, agent) ? -1 : SHOWN_STATUSES.indexOf(shownStatus(agent));
  if (word === 'running') return all.filter(isAtWork);
  if (word === 'cost') return all.toSorted((a, b) => b.cost - a.cost || tokensOfAgent(b) - tokensOfAgent(a));
  if (word === 'status') return all.toSorted((a, b) => rank(a) - rank(b));
  if (/^#?\d/.test(word)) {
    const top = agentNamed(state, word).id;
    return all.filter(({ id }) => isBelow(id, top));
  }
  return all.filter(({ name, role, task, status }) => `${name} ${role} ${task} ${status}`.toLowerCase().includes(word));
}

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

function sayNextInNeed(context: LineContext): void {
  const { state, memory } = context;
  const waiting = inOrder(state).filter((agent) => wantsAttention(state, agent));
  const next = waiting[waiting.findIndex(({ id }) => id === memory.attended) + 1] ?? waiting[0];
  if (next === undefined) return context.say('No agent needs you.');
  memory.attended = next.id;
  context.say(
    `${waiting.indexOf(next) + 1} of ${waiting.length}: ${agentLine(state, next, context.now())}`,
    nextStep(state, next),
  );
}

function nextStep(state: RunState, agent: AgentState): string {
  const number = agentNumber(agent.id);
  if (state.approvals.some((one) => one.agent === agent.id)) return 'It asks: questions lists what.';
  if (agent.status === 'failed') return `retry ${number} retries it, show ${number} shows details.`;
  return isFinal(agent) ? `It has ended: show ${number} shows details.` : `resume ${number} continues it.`;
}

const LAST = 20;

function sayLog(typed: string, context: LineContext): void {
  const read = /^(\d*)\s*(warnings|errors|)$/.exec(typed.trim());
  if (read === null) throw wrongUse(`"${typed}" is not valid: expected a number of lines, warnings or errors`);
  const [, number = '', kind = ''] = read;
  const left = { errors: ['info', 'warn'], warnings: ['info'] }[kind] ?? [];
  const count = number === '' ? LAST : Math.max(1, Number(number));
  const lines = context.state.log.filter(({ level }) => !left.includes(level)).slice(-count);
  if (lines.length === 0) return context.say(kind === '' ? 'The log is empty.' : `The log has no ${kind}.`);
  sayLong(
    context,
    lines.map(({ at: time, agent, level, text }) => {
      const who = agent === null ? '' : ` ${labelOf(context.state, agent)}:`;
      return `${formatClock(time)}${LEVELS[level]}${who} ${text}`;
    }),
    Math.max(LAST, count),
  );
}

const LEVELS = { info: '', warn: ' warning', error: ' error' } as const;
