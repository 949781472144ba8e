/** Agents in line mode, before a run: listed, shown, made and deleted. */
import { agentNameProblem } from '../../../config/roles/agent-files.ts';
import type { AgentText } from '../../../domain/agents/draft.ts';
import type { AgentProposal, LobbyInfo } from '../../../ports/project-service.ts';
import { AGENTS_HELP, sentenceIn } from '../../../app/agents/typed.ts';
import { askedAgent } from '../../../app/agents/questions.ts';
import { agentLines, agentNamed, listLines, showLines } from '../../../app/agents/text.ts';
import { SAYS_YES } from '../../../app/process/asker.ts';
import { type LineCommand, type LineDesk, sayLong } from '../command.ts';

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

async function create(rest: string, agents: Agents, desk: LineDesk): Promise<void> {
  const { sentence, model } = sentenceIn(rest);
  const agent = sentence === '' ? await asked(agents, model, desk) : await drafted(sentence, model, desk);
  if (agent === null) return desk.say('Nothing was created.');
  const { name, description, tools, prompt } = agent;
  const done = await desk.lobby?.createAgent?.({ name, description, tools, prompt, for: 'project' });
  if (done === undefined) return desk.refuse('agents can not be made here');
  if (done.ok) desk.say(done.value.text);
  else desk.refuse(done.fault.text);
}

const asked = ({ all }: Agents, model: boolean, desk: LineDesk): Promise<AgentText | null> =>
  askedAgent({
    say: (...lines) => desk.say(...lines),
    ask: (prompt) => desk.ask(prompt),
    nameProblem: (name) => agentNameProblem(name, all),
    draft: async (sentence) => {
      const made = await proposed(sentence, model, desk);
      if (made !== null) desk.say(made.said);
      return made?.draft ?? null;
    },
  });

async function drafted(sentence: string, model: boolean, desk: LineDesk): Promise<AgentText | null> {
  const made = await proposed(sentence, model, desk);
  if (made === null) return null;
  desk.say(...agentLines(made.draft), ...made.draft.because, made.said);
  return made.draft;
}

/** Null when the person stopped it: what they go on with is theirs to say. */
async function proposed(sentence: string, model: boolean, desk: LineDesk): Promise<AgentProposal | null> {
  const { lobby } = desk;
  if (lobby?.draftAgent === undefined) return null;
  const draft = lobby.draftAgent.bind(lobby);
  return desk.stoppable.run(async (signal) => {
    const asking = (line: string): void => desk.say(`${line}; Ctrl-C stops it.`);
    const made = await draft(sentence, { model, signal, asking });
    return signal.aborted ? null : made;
  });
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
