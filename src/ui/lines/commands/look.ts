/** Commands that print the state of a run: its agents, what they depend on, one agent and its parts, the log, and agents that need the person. */
import { NO_REPORT } from '../../../app/actions/index.ts';
import { world, wrongUse } from '../../../app/process/index.ts';
import { costText, problemsText, spentByAgent, usageText } from '../../../app/reports/index.ts';
import { agentNumber, answerText, budgetText, changesOf, formatClock, formatCost } from '../../../app/views/index.ts';
import { formatDuration, formatSeconds, formatTokens, inOrder } from '../../../app/views/index.ts';
import { isolationText, labelOf, plural, SHOWN_STATUSES, shownStatus, todosOf } from '../../../app/views/index.ts';
import { toolsText, toTerminal, transcriptText, wantsAttention } from '../../../app/views/index.ts';
import { isBelow, ROOT } from '../../../domain/ids.ts';
import { type AgentState, isAtWork, type RunState } from '../../../events/index.ts';
import { checkLines, committed, isFinal, plannedChecks, tokensOfAgent } from '../../../events/index.ts';
import { agentLine, agentNamed, graphLines, listed } from '../agents.ts';
import { headOf } from '../command.ts';
import type { LineCommand, LineSession } from '../session.ts';
import { at, own } from './perform.ts';

const PARTS: Readonly<Record<string, (agent: AgentState, state: RunState) => readonly string[]>> = {
  transcript: (agent) => transcriptText(agent, agent.task).split('\n').slice(0, -1),
  todos: (agent, state) =>
    todosOf(state, agent).map(({ description, status }, index) => `${index + 1}. ${status}: ${description}`),
  tools: ({ blocks }) => {
    const tools = blocks.filter((block) => block.is === 'tool');
    return tools.map(({ label, tool, ok, ms }, index) => {
      const state = ok === null ? 'runs' : `${ok ? 'done' : 'failed'} in ${formatSeconds(ms)}`;
      return `${index + 1}. ${label} (${tool}): ${state}`;
    });
  },
  diffs: (agent) => changesOf(agent).flatMap(({ path, diff }) => [path, ...toTerminal(diff).split('\n')]),
  checks: (agent, state) =>
    plannedChecks(state, agent).flatMap((check, at) => {
      const end = agent.checks?.find(({ run }) => run === check.run)?.end ?? null;
      const tree = end === null || end.tree === null ? '' : ` (tree ${end.tree.slice(0, 12)})`;
      const printed = end === null ? [] : toTerminal(end.lines).split('\n');
      return [`${checkLines(state, agent)[at] ?? check.run}${tree}`, ...printed.map((line) => `  ${line}`)];
    }),
  messages: ({ id }, { messages }) =>
    messages
      .filter(({ to, from }) => to === id || from === id)
      .map(
        ({ from, to, delivery, delivered, content }) =>
          `${from} to ${to}, ${delivery}, ${delivered ? 'read' : 'not read yet'}: ${content}`,
      ),
};

const PART_NAMES: readonly string[] = Object.keys(PARTS);

export const LOOK_COMMANDS: readonly LineCommand[] = [
  ...at(
    ['run', 'result'],
    own('agents', listAgents),
    own('graph', (_, session) => session.say(...graphLines(session.state, world.now()))),
    own('attention', (_, session) => sayNextInNeed(session)),
  ),
  ...at(
    ['plan', 'run', 'result'],
    own('show', (typed, session) => {
      const [which, part] = headOf(typed);
      const agent = agentNamed(session.state, which);
      session.say(...(part === '' ? overview(agent, session.state) : partOf(agent, part, session.state)));
    }),
    own('find', findIn),
    own('copy', copyPart),
    own('log', sayLog),
  ),
];

function listAgents(typed: string, session: LineSession): void {
  const { state } = session;
  const all = inOrder(state).filter(({ id }) => id !== ROOT);
  if (all.length === 0) return session.say('No agents yet.');
  const shown = selectAgents(all, typed.trim().toLowerCase(), state);
  session.say(
    `${shown.length === all.length ? '' : `${shown.length} of `}${plural(all.length, 'agent')}:`,
    ...shown.map((agent) => agentLine(state, agent, world.now())),
  );
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

function sayNextInNeed(session: LineSession): void {
  const { state } = session;
  const waiting = inOrder(state).filter((agent) => wantsAttention(state, agent));
  const next = waiting[waiting.findIndex(({ id }) => id === session.attended) + 1] ?? waiting[0];
  if (next === undefined) return session.say('No agent needs you.');
  session.attended = next.id;
  session.say(
    `${waiting.indexOf(next) + 1} of ${waiting.length}: ${agentLine(state, next, world.now())}`,
    nextStep(state, next),
  );
}

function nextStep(state: RunState, agent: AgentState): string {
  const number = agentNumber(agent.id);
  if (state.approvals.some((one) => one.agent === agent.id)) return 'It asks: questions lists what.';
  if (agent.status === 'failed') return `retry ${number} retries it, show ${number} shows details.`;
  return isFinal(agent) ? `It has ended: show ${number} shows details.` : `resume ${number} continues it.`;
}

/** Writes into the clipboard file, which any editor can open. */
function copyPart(typed: string, session: LineSession): void {
  const [which, part] = headOf(typed);
  const { state } = session;
  if (which === 'report' && state.finished === null) throw wrongUse(NO_REPORT);
  const lines =
    which === 'report' ? [answerText(state)] : partOf(agentNamed(state, which), part || 'transcript', state);
  const file = session.keepCopy(`${lines.map(toTerminal).join('\n')}\n`);
  if (file === null) throw wrongUse('the copy cannot be written into the state folder');
  session.say(`Copied into ${file}`);
}

function findIn(typed: string, session: LineSession): void {
  const [which, words] = headOf(typed);
  if (words === '') throw wrongUse('missing arguments: agent and words');
  const lines = partOf(agentNamed(session.state, which), 'transcript', session.state);
  const found = lines.flatMap((line, index) =>
    line.toLowerCase().includes(words.toLowerCase()) ? [`Line ${index + 1}: ${line.trim()}`] : [],
  );
  session.say(...(found.length === 0 ? ['No match.'] : found));
}

function partOf(agent: AgentState, asked: string, state: RunState): readonly string[] {
  const name = PART_NAMES.find((part) => part.startsWith(asked.toLowerCase()));
  const lines = PARTS[name ?? '']?.(agent, state);
  if (name === undefined || lines === undefined)
    throw wrongUse(`"${asked}" is not a part of an agent: expected ${listed(PART_NAMES)}`);
  const label = labelOf(state, agent.id);
  return lines.length === 0 ? [`${label} has no ${name} yet.`] : [`${label}, ${name}:`, ...lines];
}

function overview(agent: AgentState, state: RunState): readonly string[] {
  const now = world.now();
  const { asked, used, because } = agent.model;
  const said = agent.blocks.findLast(({ is }) => is === 'said');
  const isolation = isolationText(agent, state);
  const children = agent.children.map((id) => labelOf(state, id));
  return [
    agentLine(state, agent, now),
    `Id ${agent.id}. Last activity ${formatDuration(Math.max(0, now - agent.lastAt))} ago.`,
    `Role ${agent.role}, model ${because === null ? used : `${asked} -> ${used}: ${because}`}.`,
    `Task: ${agent.task}`,
    `Budget: ${budgetText(agent.budget) ?? 'none'}. Tools: ${toolsText(agent.tools)}.`,
    ...costLines(agent, state),
    ...(children.length === 0 ? [] : [`Children: ${listed(children, 'and')}.`]),
    ...(isolation === null ? [] : [`Isolation: ${isolation}`]),
    ...reviewLines(agent, state),
    ...(agent.summary === '' ? [] : ['Summary:', ...agent.summary.split('\n')]),
    ...(agent.summary === '' && said?.is === 'said' ? [`Said last: ${said.text}`] : []),
    `Parts: show ${agentNumber(agent.id)} ${listed(PART_NAMES)}.`,
  ];
}

function costLines(agent: AgentState, state: RunState): readonly string[] {
  const spent = spentByAgent(agent);
  const all = committed(state, agent.id);
  const problems = problemsText(spent);
  const below = agent.children.length === 0 ? '' : ` With its children: ${formatCost(all.cost)}.`;
  return [
    `Spent ${costText(agent)}, ${usageText(agent.usage) || 'no tokens yet'}, in ${plural(spent.calls, 'call')}.${below}`,
    ...(all.reservedCost === 0
      ? []
      : [`Reserved by unfinished calls: ${formatCost(all.reservedCost)}, ${formatTokens(all.reservedTokens)} tokens.`]),
    ...(problems === '' ? [] : [`Problems: ${problems}.`]),
  ];
}

const reviewLines = (agent: AgentState, { verdicts, gates }: RunState): readonly string[] => [
  ...verdicts
    .filter((one) => one.agent === agent.id)
    .flatMap(({ pass, summary, findings }) => [
      `Verdict: ${pass ? 'pass' : 'did not pass'}: ${summary}`,
      ...findings.map((finding) => `- ${finding}`),
    ]),
  ...gates.filter((one) => one.agent === agent.id && !one.open).map(({ role, why }) => `Waiting for ${role}: ${why}`),
];

const LAST = 20;

function sayLog(typed: string, session: LineSession): void {
  const read = /^(\d*)\s*(warnings|errors|)$/.exec(typed.trim());
  if (read === null) throw wrongUse(`"${typed}" is not valid: expected a number of lines, warnings or errors`);
  const [, number = '', kind = ''] = read;
  const left = { errors: ['info', 'warn'], warnings: ['info'] }[kind] ?? [];
  const count = number === '' ? LAST : Math.max(1, Number(number));
  const lines = session.state.log.filter(({ level }) => !left.includes(level)).slice(-count);
  if (lines.length === 0) return session.say(kind === '' ? 'The log is empty.' : `The log has no ${kind}.`);
  session.say(
    ...lines.map(({ at: time, agent, level, text }) => {
      const who = agent === null ? '' : ` ${labelOf(session.state, agent)}:`;
      return `${formatClock(time)}${LEVELS[level]}${who} ${text}`;
    }),
  );
}

const LEVELS = { info: '', warn: ' warning', error: ' error' } as const;
