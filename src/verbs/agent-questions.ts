/** A custom agent asked for line by line (CONTRACT T028): for the verb and for line mode. Enter takes what the description suggests. */
import { TOOL_NAMES, isToolName } from '../config/tool-names.ts';
import { suggestion } from '../config/nearest.ts';
import type { AgentText } from '../domain/agent-draft.ts';
import { AGENT_TOOLS, draftAgent } from '../domain/agent-draft.ts';
import { SAYS_YES } from './line-change.ts';

export interface Questioner {
  say(...lines: readonly string[]): void;
  /** Null at the end of input. */
  ask(prompt: string): Promise<string | null>;
  /** Why an agent can't have this name, or null. */
  nameProblem(name: string): string | null;
}

/** The agent as it was answered and agreed to; null when the person left. */
export async function askedAgent(person: Questioner): Promise<AgentText | null> {
  const description = await asked(person, 'Description, a sentence that says when it is of use: ', (text) =>
    text === '' ? 'It needs one; end of input leaves.' : null,
  );
  if (description === null) return null;
  const draft = draftAgent(description, (name) => person.nameProblem(name) !== null);
  const name = await asked(person, `Name (Enter is ${draft.name}): `, (text) =>
    person.nameProblem(text === '' ? draft.name : text),
  );
  if (name === null) return null;
  person.say('Tools:', ...AGENT_TOOLS.map((tool) => `  ${tool.name}: ${tool.words}`), ...draft.because.slice(1));
  const tools = await asked(person, `Tools (Enter is ${draft.tools.join(', ')}): `, toolProblem);
  if (tools === null) return null;
  person.say('The prompt, what it is told to do. Suggested:', ...indented(draft.prompt));
  const prompt = await askedLines(
    person,
    'Prompt, line by line; an empty first line takes the suggested one, "." ends: ',
  );
  if (prompt === null) return null;
  const agent: AgentText = {
    name: name === '' ? draft.name : name,
    description: draft.description,
    tools: tools === '' ? draft.tools : listOf(tools),
    prompt: prompt === '' ? draft.prompt : prompt,
  };
  person.say(...agentLines(agent));
  const yes = await person.ask('Create it? yes creates it, anything else leaves: ');
  return yes !== null && SAYS_YES.test(yes.trim()) ? agent : null;
}

/** What an agent is, in lines. */
export const agentLines = ({ name, description, tools, prompt }: AgentText): readonly string[] => [
  `${name}: ${description}`,
  `  tools: ${tools.join(', ')}`,
  ...indented(prompt),
];

const indented = (text: string): readonly string[] => text.split('\n').map((line) => `  ${line}`);

/** Asks until `problem` is null. */
async function asked(
  person: Questioner,
  prompt: string,
  problem: (text: string) => string | null,
): Promise<string | null> {
  for (;;) {
    const typed = (await person.ask(prompt))?.trim();
    if (typed === undefined) return null;
    const wrong = problem(typed);
    if (wrong === null) return typed;
    person.say(wrong);
  }
}

async function askedLines(person: Questioner, prompt: string): Promise<string | null> {
  const lines: string[] = [];
  for (;;) {
    const typed = await person.ask(lines.length === 0 ? prompt : '. ');
    if (typed === null) return null;
    if (typed.trim() === '.' || (typed.trim() === '' && lines.length === 0)) return lines.join('\n').trim();
    lines.push(typed);
  }
}

const listOf = (typed: string): readonly string[] => typed.split(/[\s,]+/).filter((name) => name !== '');

function toolProblem(typed: string): string | null {
  const unknown = listOf(typed).find((name) => !isToolName(name));
  return unknown === undefined ? null : `There is no tool "${unknown}"; ${suggestion(unknown, TOOL_NAMES)}.`;
}
