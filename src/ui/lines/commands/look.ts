/** Commands that say where a run stands: agents, their tree, who waits for whom, one agent, the log, the spending, what needs the person. */
import { countWords } from '../../../app/views/agent-counts.ts';
import { runTime } from '../../../app/views/run-time.ts';
import { runSpending } from '../../../app/views/spending/spending.ts';
import { isFinal } from '../../../events/queries.ts';
import type { AgentState, RunState } from '../../../events/state.ts';
import { inOrder, wantsAttention } from '../../../app/views/agents/agent-lines.ts';
import { counted, formatClock, formatDuration, formatLimit, formatTokens } from '../../../app/views/text/format.ts';
import { agentLine, agentNamed, graphLines, numbered, shownAgents, treeLines, listed } from '../words/agents.ts';
import { type LineCommand, type LineDesk, type Place, sayLong, sayMore } from '../command.ts';
import { spendLines } from '../words/spend.ts';
import { SORTS } from '../memory.ts';
import { copyPart, findIn, showAgent } from './show.ts';
import { costWords, spentBy } from '../../../app/reports/spend-text.ts';

const BEGUN: readonly Place[] = ['run', 'result'];
const ANY_RUN: readonly Place[] = ['plan', 'run', 'result'];

export const LOOK_COMMANDS: readonly LineCommand[] = [
  {
    name: 'agents',
    short: ['ls'],
    arguments: '',
    help: 'Lists the agents by number: status, model, time, tokens, cost, and what each does.',
    where: BEGUN,
    actions: ['result.cards', 'result.agents'],
    run: sayAgents,
  },
  {
    name: 'tree',
    short: [],
    arguments: '',
    help: 'Says who is whose child.',
    where: BEGUN,
    actions: ['run.fold'],
    run: (_, desk) => sayLong(desk, treeLines(desk.state, desk.now())),
  },
  {
    name: 'graph',
    short: ['g'],
    arguments: '',
    help: 'Says who waits for whom, who unlocks whom, and who can never run as it is.',
    where: BEGUN,
    actions: ['run.graph'],
    run: (_, desk) => sayLong(desk, graphLines(desk.state, desk.now())),
  },
  {
    name: 'show',
    short: ['s', 'open'],
    arguments: 'N [transcript|full|todos|tools|diffs|messages|costs]',
    help: 'Says where agent N stands, or one part of it whole.',
    where: ANY_RUN,
    actions: ['run.open', 'run.tab', 'run.unfold', 'detail.enter'],
    run: showAgent,
  },
  {
    name: 'find',
    short: [],
    arguments: 'N WORDS',
    help: 'Says where words stand in all that agent N was told, said and did.',
    where: ANY_RUN,
    actions: ['detail.find', 'detail.next', 'find.take', 'find.leave'],
    run: findIn,
  },
  {
    name: 'copy',
    short: [],
    arguments: 'N|report [transcript|full|diffs|todos|tools|messages|costs]',
    help: 'Copies a part of agent N, or the report, into the file that always has the last copy; your editor opens it from there.',
    where: ANY_RUN,
    actions: ['detail.copy', 'detail.copyCode', 'detail.open', 'copy.take', 'app.copy', 'result.copy', 'result.editor'],
    run: copyPart,
  },
  {
    name: 'running',
    short: [],
    arguments: '',
    help: 'Lists only agents that are at work; again, all of them.',
    where: BEGUN,
    actions: ['run.only'],
    run(_, desk) {
      desk.memory.onlyRunning = !desk.memory.onlyRunning;
      sayAgents('', desk);
    },
  },
  {
    name: 'filter',
    short: [],
    arguments: '[WORDS]',
    help: 'Lists only agents with these words in name, role, task or status; without words, all.',
    where: BEGUN,
    actions: ['run.filter', 'run.match', 'filter.take', 'filter.leave', 'filter.move'],
    run(words, desk) {
      desk.memory.filter = words;
      sayAgents('', desk);
    },
  },
  {
    name: 'all',
    short: [],
    arguments: '',
    help: 'Lists all agents again, in the order of the plan: no filter.',
    where: BEGUN,
    actions: ['run.showAll'],
    run(_, desk) {
      Object.assign(desk.memory, { filter: '', onlyRunning: false, sort: 'plan' });
      sayAgents('', desk);
    },
  },
  {
    name: 'sort',
    short: [],
    arguments: 'plan|status|cost',
    help: 'Lists agents in the order of the plan, those that need you first, or the dearest first; numbers stay.',
    where: BEGUN,
    actions: ['run.sort'],
    run(typed, desk) {
      const sort = SORTS.find((one) => one === typed);
      if (sort === undefined) return desk.refuse(`expected ${listed(SORTS)}`);
      desk.memory.sort = sort;
      sayAgents('', desk);
    },
  },
  {
    name: 'attention',
    short: [']', 'need'],
    arguments: '',
    help: 'Says the next agent that asks, failed or was interrupted, and what can be done.',
    where: BEGUN,
    actions: ['run.attention'],
    run: (_, desk) => sayNeed(desk),
  },
  {
    name: 'log',
    short: ['l'],
    arguments: '[COUNT] [warnings|errors]',
    help: 'Says the last lines of the log, 20 or as many as you say; all, or only warnings and errors, or only errors.',
    where: ANY_RUN,
    actions: ['run.log', 'log.level'],
    run: sayLog,
  },
  {
    name: 'spend',
    short: ['cost', 'charts'],
    arguments: '',
    help: 'Says what was spent, by agent, model and kind of token, and what is left of the limits.',
    where: ANY_RUN,
    actions: ['run.charts', 'result.costs'],
    run: (_, desk) => sayLong(desk, spendLines(desk.state)),
  },
  {
    name: 'status',
    short: [],
    arguments: '',
    help: 'Says in a line how it stands; Enter on an empty line does the same.',
    where: ANY_RUN,
    actions: [],
    run: (_, desk) => desk.say(statusLine(desk.state, desk.now())),
  },
  {
    name: 'more',
    short: [],
    arguments: '[all]',
    help: 'Says the next part of a long text.',
    where: ['start', ...ANY_RUN],
    actions: [],
    run: sayMore,
  },
];

function sayAgents(_: string, desk: LineDesk): void {
  const { state, memory } = desk;
  const all = state.agents.size - 1;
  const shown = shownAgents(state, memory);
  const how = [
    ...(memory.onlyRunning ? ['only running'] : []),
    ...(memory.filter === '' ? [] : [`with "${memory.filter}"`]),
    ...(memory.sort === 'plan' ? [] : [`by ${memory.sort}`]),
  ];
  const chosen = how.length === 0 ? '' : `, ${listed(how, 'and')}`;
  if (all < 1) return desk.say('No agent was made yet.');
  sayLong(desk, [
    `${shown.length === all ? counted(all, 'agent') : `${shown.length} of ${counted(all, 'agent')}`}${chosen}:`,
    ...shown.map((agent) => agentLine(state, agent, desk.now())),
  ]);
}

/** `4 running, 36 queued (4 at once), 2m 10s, $0.38 of $5.00, nobody asks` */
export function statusLine(state: RunState, now: number): string {
  const { phase, finished, plan } = state;
  if (finished !== null) return `The run is ${finished.status}. report says what came of it, new begins another.`;
  const tail = `${formatDuration(runTime(state, now))}, ${spentWords(state)}, ${askWords(state)}.`;
  if (phase === 'starting' || phase === 'planning') return `The plan is being made, ${tail}`;
  if (phase === 'approving')
    return `A plan of ${counted(plan?.tasks.length ?? 0, 'task')} waits for you: Y, n, or help.`;
  const merging = phase === 'merging' ? ['the report is being written'] : [];
  return [...countWords(state), ...merging, tail].join(', ');
}

function spentWords(state: RunState): string {
  const spent = spentBy(state.agents.values());
  const { maxCost, maxTokens } = state.budget;
  if (maxCost !== undefined) return `${costWords(spent)} of ${formatLimit(maxCost)}`;
  if (maxTokens !== undefined) return `${formatTokens(runSpending(state).tokens)} of ${formatTokens(maxTokens)} tokens`;
  return costWords(spent);
}

function askWords({ approvals }: RunState): string {
  if (approvals.length === 0) return 'nobody asks';
  return approvals.length === 1 ? '1 question waits for you' : `${approvals.length} questions wait for you`;
}

function sayNeed(desk: LineDesk): void {
  const { state, memory } = desk;
  const inNeed = inOrder(state).filter((agent) => wantsAttention(state, agent));
  const next = inNeed[inNeed.findIndex(({ id }) => id === memory.attended) + 1] ?? inNeed[0];
  if (next === undefined) return desk.say('No agent needs you.');
  memory.attended = next.id;
  desk.say(
    `${inNeed.indexOf(next) + 1} of ${inNeed.length}: ${agentLine(state, next, desk.now())}`,
    whatCanBeDone(state, next),
  );
}

function whatCanBeDone(state: RunState, agent: AgentState): string {
  const number = numbered(agent).split(' ')[0] ?? '';
  if (state.approvals.some((one) => one.agent === agent.id)) return 'It asks: question says what.';
  if (agent.status === 'failed') return `retry ${number} tries it again, show ${number} says more.`;
  return isFinal(agent) ? `It has ended: show ${number} says more.` : `resume ${number} lets it go on.`;
}

const LAST = 20;

const LEVELS: Readonly<Record<string, readonly string[]>> = { warnings: ['warn', 'error'], errors: ['error'] };

function sayLog(typed: string, desk: LineDesk): void {
  const words = typed.split(/\s+/).filter((word) => word !== '');
  const number = words.find((word) => /^\d+$/.test(word));
  const kind = words.find((word) => Object.hasOwn(LEVELS, word));
  const strange = words.find((word) => word !== number && word !== kind);
  if (strange !== undefined) return desk.refuse(`"${strange}" is no number of lines: expected one, warnings or errors`);
  const levels = kind === undefined ? undefined : LEVELS[kind];
  const count = Math.max(1, Number(number ?? LAST));
  const lines = desk.state.log.filter(({ level }) => levels?.includes(level) ?? true).slice(-count);
  if (lines.length === 0) return desk.say(kind === undefined ? 'The log is empty.' : `The log has no ${kind}.`);
  sayLong(
    desk,
    lines.map(({ at, agent, level, text }) => {
      const found = agent === null ? undefined : desk.state.agents.get(agent);
      const who = found === undefined ? '' : ` ${numbered(found)}:`;
      return `${formatClock(at)}${level === 'info' ? '' : ` ${level === 'warn' ? 'warning' : 'error'}`}${who} ${text}`;
    }),
    Math.max(LAST, count),
  );
}

/** The number that a command takes for an agent, for words of ours. */
export const agentFor = (desk: LineDesk, typed: string): AgentState | null => {
  const found = agentNamed(desk.state, typed);
  if (!found.ok) desk.refuse(found.fault);
  return found.ok ? found.value : null;
};
