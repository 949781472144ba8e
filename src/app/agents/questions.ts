/** A custom agent asked for line by line: for the verb and for line mode. Enter takes what the description suggests. */
import { TOOL_NAMES, isToolName } from '../../config/schema/tool-names.ts';
import { suggestion } from '../../domain/text/nearest.ts';
import type { AgentDraft, AgentText } from '../../domain/agents/draft.ts';
import { AGENT_TOOLS } from '../../domain/agents/draft.ts';
import { agentLines, indented } from './text.ts';
import { SAYS_YES } from '../process/asker.ts';

export interface Questioner {
  say(...lines: readonly string[]): void;
  /** Null at the end of input. */
  ask(prompt: string): Promise<string | null>;
  /** Why an agent can't have this name, or null. */
  nameProblem(name: string): string | null;
  /** What is suggested for this description, once it was said who drafts it; null when the person left. */
  draft(description: string): Promise<AgentDraft | null>;
}

/** The agent as it was answered and agreed to; null when the person left. */
export async function askedAgent(person: Questioner): Promise<AgentText | null> {
  const sentence = await asked(person, 'Description, a sentence that says when it is of use: ', (text) =>
    text === '' ? 'It needs one; end of input leaves.' : null,
  );
  if (sentence === null) return null;
  const draft = await person.draft(sentence);
  const agent = draft === null ? null : await answered(person, draft, sentence);
  if (agent === null) return null;
  person.say(...agentLines(agent));
  const yes = await person.ask('Create it? yes creates it, anything else leaves: ');
  return yes !== null && SAYS_YES.test(yes.trim()) ? agent : null;
}

/** Field by field: Enter takes what was drafted. */
async function answered(person: Questioner, draft: AgentDraft, sentence: string): Promise<AgentText | null> {
  const name = await asked(person, `Name (Enter is ${draft.name}): `, (text) =>
    person.nameProblem(text === '' ? draft.name : text),
  );
  const description = name === null ? null : await describedAs(person, draft, sentence);
  if (name === null || description === null) return null;
  const because = draft.because.filter((why) => !why.startsWith('name '));
  person.say('Tools:', ...AGENT_TOOLS.map((tool) => `  ${tool.name}: ${tool.words}`), ...because);
  const tools = await asked(person, `Tools (Enter is ${draft.tools.join(', ')}): `, toolProblem);
  if (tools === null) return null;
  person.say('The prompt, what it is told to do. Suggested:', ...indented(draft.prompt));
  const prompt = await askedLines(
    person,
    'Prompt, line by line; an empty first line takes the suggested one, "." ends: ',
  );
  if (prompt === null) return null;
  return {
    name: name === '' ? draft.name : name,
    description,
    tools: tools === '' ? draft.tools : listOf(tools),
    prompt: prompt === '' ? draft.prompt : prompt,
  };
}

/** Asked for only where it is another one than the person said; null when they left. */
async function describedAs(person: Questioner, { description }: AgentDraft, sentence: string): Promise<string | null> {
  const letters = (text: string): string =>
    text
      .toLowerCase()
      .replaceAll(/[\s.]+/g, ' ')
      .trim();
  if (letters(sentence) === letters(description)) return description;
  const typed = (await person.ask(`Description (Enter is "${description}"): `))?.trim();
  return typed === undefined ? null : typed === '' ? description : typed;
}

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
