/** Agents in line mode, before a run: listed, shown, made and deleted (CONTRACT T026 to T030). */
import { agentNameProblem } from '../config/agent-files.ts';
import { draftAgent } from '../domain/agent-draft.ts';
import type { AgentText } from '../domain/agent-draft.ts';
import type { LobbyInfo } from '../ports/lobby.ts';
import { AGENTS_HELP } from '../tui/dialogs/agents.ts';
import { agentLines, askedAgent } from './agent-questions.ts';
import { agentNamed, listLines, showLines } from './agents-text.ts';
import { SAYS_YES } from './line-change.ts';
import type { LineCommand, LineDesk } from './line-command.ts';
import { sayLong } from './line-long.ts';

type Agents = NonNullable<LobbyInfo['agents']>;

export const AGENT_FILE_COMMANDS: readonly LineCommand[] = [
  {
    name: 'agents',
    short: [],
    arguments: '[list|show|create|delete|help] [NAME]',
    help: 'Lists the agents, shows one, makes or deletes a custom one; /agents create DESCRIPTION makes one from a sentence.',
    where: ['start'],
    actions: ['start.agents'],
    run: agentsCommand,
  },
];

async function agentsCommand(typed: string, desk: LineDesk): Promise<void> {
  const [, what = 'list', rest = ''] = /^(\S+)\s*([^]*)$/.exec(typed.trim()) ?? [];
  const agents = desk.lobby?.info().agents;
  if (agents === undefined) return desk.refuse('the agents are not known here');
  switch (what) {
    case 'list':
      return sayLong(desk, listLines(agents.all, agents.leftOut, PLAIN));
    case 'show':
      return show(rest.trim(), agents, desk);
    case 'create':
      return create(rest.trim(), agents, desk);
    case 'delete':
      return remove(rest.trim(), agents, desk);
    case 'help':
      return desk.say(...AGENTS_HELP);
    default:
      return desk.refuse(`agents ${what}: list, show, create, delete or help. As a task: task agents ${typed.trim()}`);
  }
}

/** Lines are painted where they are said, if at all. */
const PLAIN = { bold: same, dim: same, yellow: same };
function same(text: string): string {
  return text;
}

function show(name: string, agents: Agents, desk: LineDesk): void {
  const found = agentNamed(name, agents);
  if (!found.ok) return desk.refuse(name === '' ? 'which agent? agents lists them' : found.fault);
  sayLong(desk, showLines(found.value));
}

async function create(sentence: string, agents: Agents, desk: LineDesk): Promise<void> {
  const nameProblem = (name: string): string | null => agentNameProblem(name, agents.all);
  const agent = sentence === '' ? await asked(nameProblem, desk) : fromSentence(sentence, nameProblem, desk);
  if (agent === null) return desk.say('Nothing was created.');
  const done = await desk.lobby?.createAgent?.({ ...agent, for: 'project' });
  if (done === undefined) return desk.refuse('agents can not be made here');
  if (done.ok) desk.say(done.value.text);
  else desk.refuse(done.fault.text);
}

const asked = (nameProblem: (name: string) => string | null, desk: LineDesk): Promise<AgentText | null> =>
  askedAgent({ say: (...lines) => desk.say(...lines), ask: (prompt) => desk.ask(prompt), nameProblem });

function fromSentence(sentence: string, nameProblem: (name: string) => string | null, desk: LineDesk): AgentText {
  const { because, ...agent } = draftAgent(sentence, (name) => nameProblem(name) !== null);
  desk.say(...agentLines(agent), ...because);
  return agent;
}

async function remove(name: string, agents: Agents, desk: LineDesk): Promise<void> {
  const found = agentNamed(name, agents);
  if (!found.ok) return desk.refuse(name === '' ? 'which agent? agents lists them' : found.fault);
  const { source, whyKept } = found.value;
  if (whyKept !== null) return desk.refuse(`${name}: ${whyKept}`);
  const typed = await desk.ask(`Delete ${source}? yes deletes it, anything else leaves it: `);
  if (typed === null || !SAYS_YES.test(typed.trim())) return desk.say('Nothing was deleted.');
  const done = await desk.lobby?.deleteAgent?.(name);
  if (done === undefined) return desk.refuse('agents can not be deleted here');
  if (done.ok) desk.say(done.value.text);
  else desk.refuse(done.fault.text);
}
