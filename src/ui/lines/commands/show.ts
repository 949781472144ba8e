/** One agent as lines: its state, transcript, todos, tools, changes of files, messages and costs. */
import { NO_REPORT } from '../../../app/actions/index.ts';
import { type AgentState, type Block, committed, type RunState } from '../../../events/index.ts';
import {
  answerText,
  budgetText,
  plural,
  formatCost,
  formatTokens,
  modelName,
  planWords,
  todosOf,
  toTerminal,
  toolsText,
} from '../../../app/views/index.ts';
import { agentLine, agentNamed, numbered, numberOf, listed } from '../agents.ts';
import { type LineContext, sayLong } from '../command.ts';
import { costText, spentByAgent, problemsText, usageText } from '../../../app/reports/index.ts';

type Part = (agent: AgentState, state: RunState) => readonly string[];

const PARTS: Readonly<Record<string, Part>> = {
  transcript: (agent) => agent.blocks.flatMap((block) => blockLines(block, false)),
  full: (agent) => agent.blocks.flatMap((block) => blockLines(block, true)),
  todos: (agent, state) =>
    todosOf(state, agent).map(({ description, status }, index) => `${index + 1}. ${status}: ${description}`),
  tools: (agent) => toolsOf(agent).map((block, index) => `${index + 1}. ${toolLine(block)}`),
  diffs: (agent) =>
    toolsOf(agent)
      .filter(isDiff)
      .flatMap(({ label, output }) => [label, ...indented(output)]),
  messages: (agent, state) => messageLines(agent, state),
  costs: (agent, state) => costLines(agent, state),
};

/** `show N [part]`: prints the state of an agent, or one part of it. */
export function showAgent(rest: string, context: LineContext): void {
  const part = partOf(rest, context);
  if (part !== null) sayLong(context, part);
}

/** `copy N [part]` and `copy report`: writes into the clipboard file, which any editor can open. */
export function copyPart(rest: string, context: LineContext): void {
  const [which = '', asked = 'transcript'] = rest.trim().split(/\s+/);
  const part = which === 'report' ? reportOf(context) : partOf(`${which} ${asked}`, context);
  if (part === null) return;
  const file = context.keepCopy(`${part.map(toTerminal).join('\n')}\n`);
  if (file === null) context.refuse('the copy cannot be written into the state folder');
  else context.say(`Copied into ${file}`);
}

function reportOf(context: LineContext): readonly string[] | null {
  const { finished } = context.state;
  if (finished === null) context.refuse(NO_REPORT);
  return finished === null ? null : [answerText(context.state)];
}

/** `find N WORDS`: prints the lines of the full transcript that contain the words. */
export function findIn(rest: string, context: LineContext): void {
  const [, which = '', words = ''] = /^\s*(\S*)\s*([^]*)$/.exec(rest) ?? [];
  if (words === '') return context.refuse('missing arguments: agent and words');
  const lines = partOf(`${which} full`, context);
  if (lines === null) return;
  const word = words.toLowerCase();
  const found = lines
    .flatMap((line) => line.split('\n'))
    .flatMap((line, index) => (line.toLowerCase().includes(word) ? [`Line ${index + 1}: ${line.trim()}`] : []));
  if (found.length === 0) return context.say('No match.');
  sayLong(context, found);
}

/** The lines of the requested part; null after it was printed why there are none. */
function partOf(rest: string, context: LineContext): readonly string[] | null {
  const refused = (words: string): null => {
    context.refuse(words);
    return null;
  };
  const [which = '', asked = ''] = rest.trim().split(/\s+/);
  const found = agentNamed(context.state, which);
  if (!found.ok) return refused(found.fault);
  const agent = found.value;
  if (asked === '') return overview(agent, context);
  const name = Object.keys(PARTS).find((part) => part.startsWith(asked.toLowerCase()));
  const part = name === undefined ? undefined : PARTS[name];
  if (part === undefined)
    return refused(`"${asked}" is not a part of an agent: expected ${listed(Object.keys(PARTS))}`);
  const lines = part(agent, context.state);
  if (lines.length === 0) return [`${numbered(agent)} has no ${name ?? ''} yet.`];
  return [`${numbered(agent)}, ${name ?? ''}:`, ...lines];
}

function overview(agent: AgentState, context: LineContext): readonly string[] {
  const { state } = context;
  const { asked, used, because } = agent.model;
  const said = agent.blocks.findLast(({ is }) => is === 'said');
  return [
    agentLine(state, agent, context.now()),
    `Role ${agent.role}, model ${because === null ? used : `${asked} -> ${used}: ${because}`}.`,
    `Task: ${agent.task}`,
    `${budgetLine(agent)} Tools: ${toolsText(agent.tools)}.`,
    ...(agent.children.length === 0
      ? []
      : [`Children: ${listed(agent.children.flatMap((id) => state.agents.get(id) ?? []).map(numbered), 'and')}.`]),
    ...reviewLines(agent, state),
    ...(agent.summary === '' ? [] : ['Summary:', ...agent.summary.split('\n')]),
    ...(agent.summary === '' && said?.is === 'said' ? [`Said last: ${said.text}`] : []),
    `Parts: show ${numberOf(agent.id)} ${listed(Object.keys(PARTS))}.`,
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

type ToolBlock = Extract<Block, { readonly is: 'tool' }>;
const toolsOf = ({ blocks }: AgentState): readonly ToolBlock[] => blocks.filter((block) => block.is === 'tool');
const isDiff = ({ output }: ToolBlock): boolean => /^@@ /m.test(output);

const toolLine = ({ label, tool, ok, ms }: ToolBlock): string =>
  `${label} (${tool}): ${ok === null ? 'runs' : `${ok ? 'done' : 'failed'} in ${(ms / 1000).toFixed(1)}s`}`;

const indented = (text: string): readonly string[] =>
  toTerminal(text)
    .split('\n')
    .map((line) => `  ${line}`);

const OUTPUT_LINES = 3;

function blockLines(block: Block, whole: boolean): readonly string[] {
  switch (block.is) {
    case 'told':
      return [`Message to it: ${block.text}`];
    case 'said':
      return [`Message from it: ${planWords(block.text) ?? block.text}`];
    case 'note':
      return [`${block.level === 'info' ? 'Note' : block.level === 'warn' ? 'Warning' : 'Error'}: ${block.text}`];
    case 'tool': {
      const output = block.output === '' ? [] : indented(block.output);
      if (whole || output.length <= OUTPUT_LINES) return [`Tool: ${toolLine(block)}`, ...output];
      return [
        `Tool: ${toolLine(block)}`,
        ...output.slice(0, OUTPUT_LINES),
        `  and ${plural(output.length - OUTPUT_LINES, 'line')} more (show N full)`,
      ];
    }
    default:
      return [];
  }
}

function messageLines(agent: AgentState, { messages }: RunState): readonly string[] {
  return messages
    .filter(({ to, from }) => to === agent.id || from === agent.id)
    .map(
      ({ from, to, delivery, delivered, content }) =>
        `${from} to ${to}, ${delivery}, ${delivered ? 'read' : 'not read yet'}: ${content}`,
    );
}

function costLines(agent: AgentState, state: RunState): readonly string[] {
  const spent = spentByAgent(agent);
  const all = committed(state, agent.id);
  const trouble = problemsText(spent);
  return [
    `Spent ${costText(agent)}: ${usageText(agent.usage) || 'no tokens yet'}; ${plural(spent.calls, 'call')}.`,
    ...agent.byModel.map(
      ({ model, calls, usage, cost }) =>
        `${modelName(model)}: ${formatCost(cost)}, ${plural(calls, 'call')}, ${usageText(usage)}.`,
    ),
    budgetLine(agent),
    ...(agent.children.length === 0
      ? []
      : [`With its children: ${formatCost(all.cost)}, ${formatTokens(all.tokens)} tokens.`]),
    ...(all.reservedTokens === 0
      ? []
      : [`Reserved by unfinished calls: ${formatTokens(all.reservedTokens)} tokens, ${formatCost(all.reservedCost)}.`]),
    ...(trouble === '' ? [] : [`Problems: ${trouble}.`]),
  ];
}
