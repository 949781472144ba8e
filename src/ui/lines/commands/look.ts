/** Commands that print the state of a run: agents, their tree and dependencies, one agent, the log, the spending, agents that need the person. */
import {
  agentTime,
  plural,
  countWords,
  formatClock,
  formatDuration,
  formatLimit,
  formatTokens,
  inOrder,
  isolationText,
  runSpending,
  runTime,
  toLabel,
  wantsAttention,
  spawnerName,
} from '../../../app/views/index.ts';
import { type AgentId, isBelow, ROOT } from '../../../domain/ids.ts';
import { activityOf, type AgentState, isFinal, type RunState, tokensOfAgent } from '../../../events/index.ts';
import {
  agentLine,
  agentNamed,
  firstLine,
  firstSaid,
  graphLines,
  listed,
  numbered,
  numberOf,
  shownAgents,
  SORTS,
  statusOf,
  treeLines,
} from '../agents.ts';
import { at, type LineCommand, type LineContext, sayLong, sayMore } from '../command.ts';
import { spendLines } from './results.ts';
import { copyPart, findIn, showAgent } from './show.ts';
import { costText, spentBy } from '../../../app/reports/index.ts';

export const LOOK_COMMANDS: readonly LineCommand[] = [
  ...at(
    ['run', 'result'],
    {
      name: 'agents',
      short: ['ls'],
      help: 'List the agents by number: status, model, time, tokens, cost and activity.',
      actions: ['result.cards', 'result.agents'],
      run: sayAgents,
    },
    {
      name: 'tree',
      help: 'Print the tree of agents.',
      actions: ['run.fold'],
      run: (_, context) => sayLong(context, treeLines(context.state, context.now())),
    },
    {
      name: 'graph',
      short: ['g'],
      help: 'Print which agents wait for which, and which can never run.',
      actions: ['run.graph'],
      run: (_, context) => sayLong(context, graphLines(context.state, context.now())),
    },
    {
      name: 'children',
      arguments: '[N]',
      help: 'List the children of main or of agent N: their state and who spawned them.',
      run: sayChildren,
    },
    {
      name: 'what',
      arguments: 'N [deep]',
      help: 'Print what agent N is doing and when it was last active; deep adds recent tools, tokens and time.',
      run: sayWhat,
    },
  ),
  ...at(
    ['plan', 'run', 'result'],
    {
      name: 'show',
      short: ['s', 'open'],
      arguments: 'N [transcript|full|todos|tools|diffs|messages|costs]',
      help: 'Print the state of agent N, or one part of it.',
      actions: ['run.open', 'run.tab', 'run.unfold', 'detail.enter'],
      run: showAgent,
    },
    {
      name: 'find',
      arguments: 'N WORDS',
      help: 'Search the transcript of agent N.',
      actions: ['detail.find', 'detail.next', 'find.take', 'find.leave'],
      run: findIn,
    },
    {
      name: 'copy',
      arguments: 'N|report [transcript|full|diffs|todos|tools|messages|costs]',
      help: 'Copy a part of agent N, or the report, into the clipboard file.',
      actions: [
        'detail.copy',
        'detail.copyCode',
        'detail.open',
        'copy.take',
        'app.copy',
        'result.copy',
        'result.editor',
      ],
      run: copyPart,
    },
  ),
  ...at(
    ['run', 'result'],
    {
      name: 'running',
      help: 'List only active agents; again: all.',
      actions: ['run.only'],
      run(_, context) {
        context.memory.onlyRunning = !context.memory.onlyRunning;
        sayAgents('', context);
      },
    },
    {
      name: 'filter',
      arguments: '[WORDS]',
      help: 'List only agents that match in name, role, task or status; without words: all.',
      actions: ['run.filter', 'run.match', 'filter.take', 'filter.leave', 'filter.move'],
      run(words, context) {
        context.memory.filter = words;
        sayAgents('', context);
      },
    },
    {
      name: 'all',
      help: 'List all agents again, without a filter.',
      actions: ['run.showAll'],
      run(_, context) {
        Object.assign(context.memory, { filter: '', onlyRunning: false, sort: 'plan' });
        sayAgents('', context);
      },
    },
    {
      name: 'sort',
      arguments: 'plan|status|cost',
      help: 'List agents by plan order, by attention or by cost; numbers stay the same.',
      actions: ['run.sort'],
      run(typed, context) {
        const sort = SORTS.find((one) => one === typed);
        if (sort === undefined) return context.refuse(`expected ${listed(SORTS)}`);
        context.memory.sort = sort;
        sayAgents('', context);
      },
    },
    {
      name: 'attention',
      short: [']', 'need'],
      help: 'Print the next agent that asks, failed or was interrupted, and what you can do.',
      actions: ['run.attention'],
      run: (_, context) => sayNextInNeed(context),
    },
  ),
  ...at(
    ['plan', 'run', 'result'],
    {
      name: 'log',
      short: ['l'],
      arguments: '[COUNT] [warnings|errors]',
      help: 'Print the last 20 (or COUNT) lines of the log: all, warnings and errors, or errors.',
      actions: ['run.log', 'log.level'],
      run: sayLog,
    },
    {
      name: 'spend',
      short: ['cost', 'charts'],
      help: 'Print the cost by agent, model and kind of token, and what is left of the budget.',
      actions: ['run.charts', 'result.costs'],
      run: (_, context) => sayLong(context, spendLines(context.state)),
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

function sayAgents(_: string, context: LineContext): void {
  const { state, memory } = context;
  const all = state.agents.size - 1;
  const shown = shownAgents(state, memory);
  const settings = [
    ...(memory.onlyRunning ? ['only running'] : []),
    ...(memory.filter === '' ? [] : [`with "${memory.filter}"`]),
    ...(memory.sort === 'plan' ? [] : [`by ${memory.sort}`]),
  ];
  const suffix = settings.length === 0 ? '' : `, ${listed(settings, 'and')}`;
  if (all < 1) return context.say('No agents yet.');
  sayLong(context, [
    `${shown.length === all ? plural(all, 'agent') : `${shown.length} of ${plural(all, 'agent')}`}${suffix}:`,
    ...shown.map((agent) => agentLine(state, agent, context.now())),
  ]);
}

/** `4 running, 36 queued (4 at once), 2m 10s, $0.38 of $5.00, no open questions.` */
export function statusLine(state: RunState, now: number): string {
  const { phase, finished, plan } = state;
  if (finished !== null) return `The run is ${finished.status}. report shows the result, new starts another task.`;
  const tail = `${formatDuration(runTime(state, now))}, ${spentWords(state)}, ${questionWords(state)}.`;
  if (phase === 'starting' || phase === 'planning') return `The plan is being drafted, ${tail}`;
  if (phase === 'approving')
    return `A plan of ${plural(plan?.tasks.length ?? 0, 'task')} waits for approval: Y, n or help.`;
  const merging = phase === 'merging' ? ['the report is being written'] : [];
  return [...countWords(state), ...merging, tail].join(', ');
}

function spentWords(state: RunState): string {
  const spent = spentBy(state.agents.values());
  const { maxCost, maxTokens } = state.budget;
  if (maxCost !== undefined) return `${costText(spent)} of ${formatLimit(maxCost)}`;
  if (maxTokens !== undefined) return `${formatTokens(runSpending(state).tokens)} of ${formatTokens(maxTokens)} tokens`;
  return costText(spent);
}

const questionWords = ({ approvals: { length } }: RunState): string =>
  length === 0 ? 'no open questions' : length === 1 ? '1 open question' : `${length} open questions`;

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
  const number = numberOf(agent.id);
  if (state.approvals.some((one) => one.agent === agent.id)) return 'It asks: question prints what.';
  if (agent.status === 'failed') return `retry ${number} retries it, show ${number} shows details.`;
  return isFinal(agent) ? `It has ended: show ${number} shows details.` : `resume ${number} continues it.`;
}

const LAST = 20;

const LEVELS: Readonly<Record<string, readonly string[]>> = { warnings: ['warn', 'error'], errors: ['error'] };

function sayLog(typed: string, context: LineContext): void {
  const words = typed.split(/\s+/).filter((word) => word !== '');
  const number = words.find((word) => /^\d+$/.test(word));
  const kind = words.find((word) => Object.hasOwn(LEVELS, word));
  const other = words.find((word) => word !== number && word !== kind);
  if (other !== undefined)
    return context.refuse(`"${other}" is not valid: expected a number of lines, warnings or errors`);
  const levels = kind === undefined ? undefined : LEVELS[kind];
  const count = Math.max(1, Number(number ?? LAST));
  const lines = context.state.log.filter(({ level }) => levels?.includes(level) ?? true).slice(-count);
  if (lines.length === 0) return context.say(kind === undefined ? 'The log is empty.' : `The log has no ${kind}.`);
  sayLong(
    context,
    lines.map(({ at, agent, level, text }) => {
      const found = agent === null ? undefined : context.state.agents.get(agent);
      const who = found === undefined ? '' : ` ${numbered(found)}:`;
      return `${formatClock(at)}${level === 'info' ? '' : ` ${level === 'warn' ? 'warning' : 'error'}`}${who} ${text}`;
    }),
    Math.max(LAST, count),
  );
}

/** The agent of a typed number or name; else prints what can be typed and returns null. */
export const agentFor = (context: LineContext, typed: string): AgentState | null => {
  const found = agentNamed(context.state, typed);
  if (!found.ok) context.refuse(found.fault);
  return found.ok ? found.value : null;
};

function sayChildren(typed: string, context: LineContext): void {
  const { state } = context;
  const top = typed.trim() === '' ? state.agents.get(ROOT) : agentFor(context, typed.trim());
  if (top === null) return;
  const below = top === undefined ? [] : inOrder(state).filter(({ id }) => isBelow(id, top.id));
  if (top === undefined || below.length === 0) return context.say(`${top?.name ?? 'main'} has no children.`);
  const depth = (id: AgentId): number => id.split('::').length - top.id.split('::').length - 1;
  sayLong(
    context,
    below.map((child) => `${'  '.repeat(depth(child.id))}${childLine(child, state, context.now())}`),
  );
}

/** `2.1 explore-evictions, running, 2m 30s, spawned by engineer-cache: In progress`. */
function childLine(child: AgentState, state: RunState, now: number): string {
  const { owner } = child;
  const adoption = owner === null ? 'nobody is told of it' : `adopted by ${state.agents.get(owner)?.name ?? owner}`;
  const parts = [
    `${numbered(child)} (${child.id})`,
    statusOf(state, child, now),
    ...(child.firstRunAt === null ? [] : [formatDuration(agentTime(child, state, now))]),
    ...(child.spawned === null ? [] : [`spawned by ${spawnerName(child.spawned, state)}`]),
    ...(child.owner === child.parent || child.outcome !== null ? [] : [adoption]),
  ];
  return `${parts.join(', ')}: ${resultOf(child)}`;
}

/** The result of a child, that it is in progress, or its task before it has started. */
function resultOf(child: AgentState): string {
  if (child.outcome === null && child.status !== 'pending') return 'In progress';
  return firstSaid(child.summary) || firstLine(child.task);
}

function sayWhat(typed: string, context: LineContext): void {
  const [which = '', depth = ''] = typed.trim().split(/\s+/);
  if (depth !== '' && depth !== 'deep' && depth !== '--deep')
    return context.refuse(`"${depth}" is not valid: expected deep or nothing`);
  const agent = agentFor(context, which);
  if (agent === null) return;
  const now = context.now();
  const current = isFinal(agent) ? firstSaid(agent.summary) : toLabel(activityOf(agent));
  context.say(
    `${numbered(agent)} (${agent.id}) ${statusOf(context.state, agent, now)}${current === '' ? '' : `: ${current}`}`,
    `Last activity ${formatDuration(Math.max(0, now - agent.lastAt))} ago`,
    ...(depth === '' ? [] : deepLines(agent, context.state, now)),
  );
}

const RECENT = 5;

/** The last tools with their targets, tokens and elapsed time. */
function deepLines(agent: AgentState, state: RunState, now: number): readonly string[] {
  const tools = agent.blocks.filter((block) => block.is === 'tool').slice(-RECENT);
  const isolation = isolationText(agent, state);
  return [
    `Recent tools:${tools.length === 0 ? ' none' : ''}`,
    ...tools.map(({ label, ok }) => `- ${toLabel(label)} (${ok === null ? 'runs' : ok ? 'done' : 'failed'})`),
    `Tokens used: about ${formatTokens(tokensOfAgent(agent))}`,
    `Elapsed: ${formatDuration(agentTime(agent, state, now))}`,
    ...(isolation === null ? [] : [`Isolation: ${isolation}`]),
  ];
}
