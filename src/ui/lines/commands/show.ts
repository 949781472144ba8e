/** One agent read aloud: where it stands, its transcript, todos, tools, changes of files, messages and costs, each as lines. */
import type { AgentState, Block, RunState } from '../../../events/state.ts';
import { committed } from '../../../events/queries.ts';
import { modelName, todosOf } from '../../../app/views/agents/agent-lines.ts';
import { counted, formatCost, formatDuration, formatLimit, formatTokens } from '../../../app/views/text/format.ts';
import { toTerminal } from '../../../app/views/text/sanitise.ts';
import { planWords } from '../../../app/views/plan/plan-words.ts';
import { agentLine, agentNamed, numbered, listed } from '../words/agents.ts';
import { type LineDesk, sayLong } from '../command.ts';
import { costWords, spentOne, troubleWords, usageWords } from '../../../app/reports/spend-text.ts';

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

/** `show N [part]`: where it stands, or one part whole. */
export function showAgent(rest: string, desk: LineDesk): void {
  const part = partOf(rest, desk);
  if (part !== null) sayLong(desk, part);
}

/** `copy N [part]` and `copy report`: into the file that always has the last copy, to be opened by any editor. */
export function copyPart(rest: string, desk: LineDesk): void {
  const [which = '', asked = 'transcript'] = rest.trim().split(/\s+/);
  const part = which === 'report' ? reportOf(desk) : partOf(`${which} ${asked}`, desk);
  if (part === null) return;
  const file = desk.keepCopy(`${part.map(toTerminal).join('\n')}\n`);
  if (file === null) desk.refuse('the copy can’t be written into the state folder');
  else desk.say(`Copied into ${file}`);
}

function reportOf(desk: LineDesk): readonly string[] | null {
  const { finished } = desk.state;
  if (finished !== null) return [finished.summary];
  desk.refuse('there is no report before the run has ended');
  return null;
}

/** `find N WORDS`: where the words stand in all that the agent was told, said and did. */
export function findIn(rest: string, desk: LineDesk): void {
  const [, which = '', words = ''] = /^\s*(\S*)\s*([^]*)$/.exec(rest) ?? [];
  if (words === '') return desk.refuse('find which words, in which agent?');
  const lines = partOf(`${which} full`, desk);
  if (lines === null) return;
  const word = words.toLowerCase();
  const found = lines
    .flatMap((line) => line.split('\n'))
    .flatMap((line, index) => (line.toLowerCase().includes(word) ? [`Line ${index + 1}: ${line.trim()}`] : []));
  if (found.length === 0) return desk.say('These words stand nowhere in it.');
  sayLong(desk, found);
}

/** What is asked for of an agent; null where it was said why there is nothing. */
function partOf(rest: string, desk: LineDesk): readonly string[] | null {
  const refused = (words: string): null => {
    desk.refuse(words);
    return null;
  };
  const [which = '', asked = ''] = rest.trim().split(/\s+/);
  const found = agentNamed(desk.state, which);
  if (!found.ok) return refused(found.fault);
  const agent = found.value;
  if (asked === '') return overview(agent, desk);
  const name = Object.keys(PARTS).find((part) => part.startsWith(asked.toLowerCase()));
  const part = name === undefined ? undefined : PARTS[name];
  if (part === undefined) return refused(`"${asked}" is no part of an agent: expected ${listed(Object.keys(PARTS))}`);
  const lines = part(agent, desk.state);
  if (lines.length === 0) return [`${numbered(agent)} has no ${name ?? ''} yet.`];
  return [`${numbered(agent)}, ${name ?? ''}:`, ...lines];
}

function overview(agent: AgentState, desk: LineDesk): readonly string[] {
  const { state } = desk;
  const { asked, used, because } = agent.model;
  const said = agent.blocks.findLast(({ is }) => is === 'said');
  return [
    agentLine(state, agent, desk.now()),
    `Role ${agent.role}, model ${because === null ? used : `${asked} -> ${used}: ${because}`}.`,
    `Task: ${agent.task}`,
    `Budget: ${budgetWords(agent)}. Tools: ${agent.tools.join(', ') || 'none'}.`,
    ...(agent.children.length === 0
      ? []
      : [`Below it: ${listed(agent.children.flatMap((id) => state.agents.get(id) ?? []).map(numbered), 'and')}.`]),
    ...ruleWords(agent, state),
    ...(agent.summary === '' ? [] : ['Summary:', ...agent.summary.split('\n')]),
    ...(agent.summary === '' && said?.is === 'said' ? [`Said last: ${said.text}`] : []),
    `Parts: show ${desk.state.agents.size === 0 ? 'N' : (numbered(agent).split(' ')[0] ?? '')} ${listed(Object.keys(PARTS))}.`,
  ];
}

function budgetWords({ budget }: Pick<AgentState, 'budget'>): string {
  const { maxTokens, maxCost, maxDuration } = budget;
  const parts = [
    ...(maxTokens === undefined ? [] : [`${formatTokens(maxTokens)} tokens`]),
    ...(maxCost === undefined ? [] : [formatLimit(maxCost)]),
    ...(maxDuration === undefined ? [] : [formatDuration(maxDuration)]),
  ];
  return parts.length === 0 ? 'no limit of its own' : parts.join(', ');
}

/** What forced agents found of it, and gates that are closed. */
function ruleWords(agent: AgentState, { verdicts, gates }: RunState): readonly string[] {
  return [
    ...verdicts
      .filter((one) => one.agent === agent.id)
      .flatMap(({ pass, summary, findings }) => [
        `Verdict: ${pass ? 'pass' : 'did not pass'}: ${summary}`,
        ...findings.map((finding) => `- ${finding}`),
      ]),
    ...gates.filter((one) => one.agent === agent.id && !one.open).map(({ role, why }) => `Waits for ${role}: ${why}`),
  ];
}

type ToolBlock = Extract<Block, { readonly is: 'tool' }>;
const toolsOf = ({ blocks }: AgentState): readonly ToolBlock[] => blocks.filter((block) => block.is === 'tool');
const isDiff = ({ output }: ToolBlock): boolean => /^@@ /m.test(output);

/** Files that an agent changed, by its tools that wrote: shell commands are not looked into. */
export const filesOf = (agent: AgentState): readonly string[] => [
  ...new Set(
    toolsOf(agent)
      .filter(({ ok }) => ok === true)
      .flatMap(({ output }) => [...output.matchAll(/^\+\+\+ b\/(.+)$/gm)].map(([, file = '']) => file)),
  ),
];

const toolLine = ({ label, tool, ok, ms }: ToolBlock): string =>
  `${label} (${tool}): ${ok === null ? 'runs' : `${ok ? 'done' : 'failed'} in ${(ms / 1000).toFixed(1)}s`}`;

const indented = (text: string): readonly string[] =>
  toTerminal(text)
    .split('\n')
    .map((line) => `  ${line}`);

const FOLDED = 3;

function blockLines(block: Block, whole: boolean): readonly string[] {
  switch (block.is) {
    case 'told':
      return [`It was told: ${block.text}`];
    case 'said':
      return [`It said: ${planWords(block.text) ?? block.text}`];
    case 'note':
      return [`${block.level === 'info' ? 'Note' : block.level === 'warn' ? 'Warning' : 'Error'}: ${block.text}`];
    case 'tool': {
      const output = block.output === '' ? [] : indented(block.output);
      if (whole || output.length <= FOLDED) return [`Tool: ${toolLine(block)}`, ...output];
      return [
        `Tool: ${toolLine(block)}`,
        ...output.slice(0, FOLDED),
        `  and ${counted(output.length - FOLDED, 'line')} more (part full has them)`,
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
  const spent = spentOne(agent);
  const all = committed(state, agent.id);
  const trouble = troubleWords(spent);
  return [
    `Spent ${costWords(agent)}: ${usageWords(agent.usage) || 'no tokens yet'}; ${counted(spent.calls, 'call')}.`,
    ...agent.byModel.map(
      ({ model, calls, usage, cost }) =>
        `${modelName(model)}: ${formatCost(cost)}, ${counted(calls, 'call')}, ${usageWords(usage)}.`,
    ),
    `Budget: ${budgetWords(agent)}.`,
    ...(agent.children.length === 0
      ? []
      : [`With all below it: ${formatCost(all.cost)}, ${formatTokens(all.tokens)} tokens.`]),
    ...(all.reservedTokens === 0
      ? []
      : [
          `Reserved by calls without an end: ${formatTokens(all.reservedTokens)} tokens, ${formatCost(all.reservedCost)}.`,
        ]),
    ...(trouble === '' ? [] : [`On the way: ${trouble}.`]),
  ];
}
