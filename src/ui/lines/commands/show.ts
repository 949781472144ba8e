/** One agent as lines: its state, transcript, todos, tools, changes of files, messages and costs. */
import { NO_REPORT } from '../../../app/actions/index.ts';
import { wrongUse } from '../../../app/process/index.ts';
import { costText, problemsText, spentByAgent, usageText } from '../../../app/reports/index.ts';
import {
  agentNumber,
  answerText,
  budgetText,
  changesOf,
  formatCost,
  formatDuration,
  formatTokens,
  isolationText,
  labelOf,
  modelName,
  plural,
  todosOf,
  toolsText,
  toTerminal,
  transcriptText,
} from '../../../app/views/index.ts';
import { type AgentState, committed, type RunState } from '../../../events/index.ts';
import { agentLine, agentNamed, listed, secondsText } from '../agents.ts';
import { type LineContext, sayLong } from '../command.ts';

const PARTS: Readonly<Record<string, (agent: AgentState, state: RunState) => readonly string[]>> = {
  transcript: (agent) => transcriptText(agent, agent.task).split('\n').slice(0, -1),
  todos: (agent, state) =>
    todosOf(state, agent).map(({ description, status }, index) => `${index + 1}. ${status}: ${description}`),
  tools: ({ blocks }) => {
    const tools = blocks.filter((block) => block.is === 'tool');
    return tools.map(({ label, tool, ok, ms }, index) => {
      const state = ok === null ? 'runs' : `${ok ? 'done' : 'failed'} in ${secondsText(ms)}`;
      return `${index + 1}. ${label} (${tool}): ${state}`;
    });
  },
  diffs: (agent) => changesOf(agent).flatMap(({ path, diff }) => [path, ...toTerminal(diff).split('\n')]),
  messages: ({ id }, { messages }) =>
    messages
      .filter(({ to, from }) => to === id || from === id)
      .map(
        ({ from, to, delivery, delivered, content }) =>
          `${from} to ${to}, ${delivery}, ${delivered ? 'read' : 'not read yet'}: ${content}`,
      ),
  costs: costLines,
};

export const PART_NAMES: readonly string[] = Object.keys(PARTS);

/** `show N [part]`: prints the state of an agent, or one part of it. */
export function showAgent(typed: string, context: LineContext): void {
  const [which = '', part = ''] = typed.trim().split(/\s+/);
  const agent = agentNamed(context.state, which);
  sayLong(context, part === '' ? overview(agent, context) : partOf(agent, part, context));
}

/** `copy N [part]` and `copy report`: writes into the clipboard file, which any editor can open. */
export function copyPart(typed: string, context: LineContext): void {
  const [which = '', part = 'transcript'] = typed.trim().split(/\s+/);
  const { state } = context;
  if (which === 'report' && state.finished === null) throw wrongUse(NO_REPORT);
  const lines = which === 'report' ? [answerText(state)] : partOf(agentNamed(state, which), part, context);
  const file = context.keepCopy(`${lines.map(toTerminal).join('\n')}\n`);
  if (file === null) throw wrongUse('the copy cannot be written into the state folder');
  context.say(`Copied into ${file}`);
}

/** `find N WORDS`: prints the lines of the transcript that contain the words. */
export function findIn(typed: string, context: LineContext): void {
  const [, which = '', words = ''] = /^\s*(\S*)\s*([^]*)$/.exec(typed) ?? [];
  if (words === '') throw wrongUse('missing arguments: agent and words');
  const lines = partOf(agentNamed(context.state, which), 'transcript', context);
  const found = lines.flatMap((line, index) =>
    line.toLowerCase().includes(words.toLowerCase()) ? [`Line ${index + 1}: ${line.trim()}`] : [],
  );
  sayLong(context, found.length === 0 ? ['No match.'] : found);
}

/** The lines of one part, after a line that names it. */
function partOf(agent: AgentState, asked: string, { state }: LineContext): readonly string[] {
  const name = PART_NAMES.find((part) => part.startsWith(asked.toLowerCase()));
  const lines = name === undefined ? undefined : PARTS[name]?.(agent, state);
  if (name === undefined || lines === undefined)
    throw wrongUse(`"${asked}" is not a part of an agent: expected ${listed(PART_NAMES)}`);
  const label = labelOf(state, agent.id);
  return lines.length === 0 ? [`${label} has no ${name} yet.`] : [`${label}, ${name}:`, ...lines];
}

function overview(agent: AgentState, context: LineContext): readonly string[] {
  const { state } = context;
  const now = context.now();
  const { asked, used, because } = agent.model;
  const said = agent.blocks.findLast(({ is }) => is === 'said');
  const isolation = isolationText(agent, state);
  const children = agent.children.map((id) => labelOf(state, id));
  return [
    agentLine(state, agent, now),
    `Id ${agent.id}. Last activity ${formatDuration(Math.max(0, now - agent.lastAt))} ago.`,
    `Role ${agent.role}, model ${because === null ? used : `${asked} -> ${used}: ${because}`}.`,
    `Task: ${agent.task}`,
    `${budgetLine(agent)} Tools: ${toolsText(agent.tools)}.`,
    ...(children.length === 0 ? [] : [`Children: ${listed(children, 'and')}.`]),
    ...(isolation === null ? [] : [`Isolation: ${isolation}`]),
    ...reviewLines(agent, state),
    ...(agent.summary === '' ? [] : ['Summary:', ...agent.summary.split('\n')]),
    ...(agent.summary === '' && said?.is === 'said' ? [`Said last: ${said.text}`] : []),
    `Parts: show ${agentNumber(agent.id)} ${listed(PART_NAMES)}.`,
  ];
}

const budgetLine = ({ budget }: AgentState): string => `Budget: ${budgetText(budget) ?? 'none'}.`;

/** The verdicts of mandatory reviews, and the reviews that the agent waits for. */
function reviewLines(agent: AgentState, { verdicts, gates }: RunState): readonly string[] {
  return [
    ...verdicts
      .filter((one) => one.agent === agent.id)
      .flatMap(({ pass, summary, findings }) => [
        `Verdict: ${pass ? 'pass' : 'did not pass'}: ${summary}`,
        ...findings.map((finding) => `- ${finding}`),
      ]),
    ...gates.filter((one) => one.agent === agent.id && !one.open).map(({ role, why }) => `Waiting for ${role}: ${why}`),
  ];
}

function costLines(agent: AgentState, state: RunState): readonly string[] {
  const spent = spentByAgent(agent);
  const all = committed(state, agent.id);
  const problems = problemsText(spent);
  return [
    `Spent ${costText(agent)}: ${usageText(agent.usage) || 'no tokens yet'}; ${plural(spent.calls, 'call')}.`,
    ...agent.byModel.map(
      ({ model, calls, usage, cost }) =>
        `${modelName(model)}: ${formatCost(cost)}, ${plural(calls, 'call')}, ${usageText(usage)}.`,
    ),
    budgetLine(agent),
    `With its children: ${formatCost(all.cost)}, ${formatTokens(all.tokens)} tokens.`,
    `Reserved by unfinished calls: ${formatCost(all.reservedCost)}, ${formatTokens(all.reservedTokens)} tokens.`,
    ...(problems === '' ? [] : [`Problems: ${problems}.`]),
  ];
}
