/** Agents as lines of text, for the command and for line mode: the list, one agent, the questions that create one, and the help. */
import { isToolName, TOOL_NAMES } from '../../config/index.ts';
import { AGENT_TOOLS, type AgentDraft, type AgentText } from '../../domain/agents/form.ts';
import { fail, ok, type Result } from '../../domain/result.ts';
import { suggestion } from '../../domain/text/text.ts';
import type { AgentInfo, ProjectInfo } from '../../ports/project-service.ts';
import { EXIT, Exit, type Io, IS_YES } from '../process/index.ts';
import { toolsText } from '../views/index.ts';
import { isCustom } from './catalogue.ts';
import HELP from './help.json' with { type: 'json' };

type Agents = ProjectInfo['agents'];

/** Lists custom agents first, then the built-in ones, then files that were left out. */
export function listLines({ all, leftOut }: Agents, paint: Io['paint']): readonly string[] {
  const custom = all.filter(isCustom);
  const width = Math.max(...all.map(({ name }) => name.length));
  const row = ({ name, description, capabilities, source }: AgentInfo): string =>
    `  ${paint.bold(name.padEnd(width))}  ${description} ${paint.dim(`(${capabilities.join(', ')}${source === 'built-in' ? '' : `; ${source}`})`)}`;
  return [
    ...(custom.length === 0 ? [NO_CUSTOM] : ['Custom agents:', ...custom.map(row)]),
    'Built in:',
    ...all.filter((one) => !isCustom(one)).map(row),
    ...leftOut.map((note) => paint.yellow(`· ${note}`)),
  ];
}

const NO_CUSTOM = 'No custom agents yet. Create one: mimir agents create "<what it should do>"';

export const showLines = (agent: AgentInfo): readonly string[] => [
  `${agent.name}: ${agent.description}`,
  `  tools     ${toolsText(agent.tools)}`,
  `  may       ${agent.capabilities.join(', ') || 'use no tools'}${agent.capabilities.includes('spawn') ? '' : '; never Task'}`,
  `  models    ${agent.models.join(', ')}`,
  `  from      ${agent.source}`,
  '',
  ...agent.prompt.split('\n'),
];

/** The fields of an agent that is about to be created. */
export const agentLines = ({ name, description, tools, prompt }: AgentText): readonly string[] => [
  `${name}: ${description}`,
  `  tools: ${toolsText(tools)}`,
  ...indented(prompt),
];

const indented = (text: string): readonly string[] => text.split('\n').map((line) => `  ${line}`);

/** Finds an agent by its name. The fault names the reason if its file was left out, otherwise similar names. */
export function findAgent(name: string, { all, leftOut }: Agents): Result<AgentInfo, string> {
  const found = all.find((one) => one.name === name);
  if (found !== undefined) return ok(found);
  const why = leftOut.filter((note) => note.includes(`/${name}.`));
  const known = all.map((one) => one.name);
  return fail(`there is no agent "${name}"\n  ${why.length > 0 ? why.join('\n  ') : suggestion(name, known)}`);
}

/** The sentence typed after `agents create`. `model` is false if `--no-model` precedes it. */
export function parseSentence(typed: string): { readonly sentence: string; readonly model: boolean } {
  const sentence = typed.trim().replace(/^--no-model(?:\s+|$)/, '');
  return { sentence, model: sentence === typed.trim() };
}

/** The help of the `agents` command, also shown by line mode. */
export const AGENTS_HELP: readonly string[] = HELP.lines;

/** How a person is asked for an agent. */
export interface Questioner {
  say(...lines: readonly string[]): void;
  /** The typed line; null at the end of input. */
  ask(prompt: string): Promise<string | null>;
  nameProblem(name: string): string | null;
}

const cancelled = (): Exit => new Exit(EXIT.notApproved, 'Nothing was created.');

/** The typed line; throws an `Exit` (4) at the end of input. */
async function ask(person: Questioner, prompt: string): Promise<string> {
  const typed = await person.ask(prompt);
  if (typed === null) throw cancelled();
  return typed;
}

export const askDescription = (person: Questioner): Promise<string> =>
  askUntilValid(person, 'Description, one sentence on when to use the agent: ', requiredProblem);

/** Asks for an agent line by line, with the draft as the default of each field. Throws an `Exit` (4) if the person cancels. */
export async function askAgent(person: Questioner, draft: AgentDraft, sentence: string): Promise<AgentText> {
  const agent = await askFields(person, draft, sentence);
  person.say(...agentLines(agent));
  const yes = await ask(person, 'Create this agent? Type yes; anything else cancels: ');
  if (!IS_YES.test(yes.trim())) throw cancelled();
  return agent;
}

async function askFields(person: Questioner, draft: AgentDraft, sentence: string): Promise<AgentText> {
  const name = await askUntilValid(
    person,
    draft.name === '' ? 'Name, such as code-review: ' : `Name (Enter is ${draft.name}): `,
    (text) => person.nameProblem(text || draft.name),
  );
  const description = await askWording(person, draft, sentence);
  person.say('Tools:', ...AGENT_TOOLS.map((tool) => `  ${tool.name}: ${tool.words}`), ...draft.because);
  const tools = await askUntilValid(person, `Tools (Enter is ${draft.tools.join(', ')}): `, toolProblem);
  const prompt = await askPrompt(person, draft.prompt);
  return {
    name: name || draft.name,
    description,
    tools: tools === '' ? draft.tools : splitNames(tools),
    prompt,
  };
}

const requiredProblem = (text: string): string | null =>
  text === '' ? 'This field is required; Ctrl-D cancels.' : null;

async function askPrompt(person: Questioner, suggested: string): Promise<string> {
  if (suggested !== '') {
    person.say('The prompt holds the instructions of the agent. Suggested:', ...indented(suggested));
    const lines = 'Prompt, line by line; an empty first line takes the suggestion, "." ends: ';
    return (await askLines(person, lines)) || suggested;
  }
  for (;;) {
    const prompt = await askLines(person, 'Prompt, the instructions of the agent, line by line; "." ends: ');
    if (prompt !== '') return prompt;
    person.say(requiredProblem(prompt) ?? '');
  }
}

/** Asks for the description only if the draft's differs from what the user typed. */
async function askWording(person: Questioner, { description }: AgentDraft, sentence: string): Promise<string> {
  const letters = (text: string): string =>
    text
      .toLowerCase()
      .replaceAll(/[\s.]+/g, ' ')
      .trim();
  if (letters(sentence) === letters(description)) return description;
  return (await ask(person, `Description (Enter is "${description}"): `)).trim() || description;
}

async function askUntilValid(
  person: Questioner,
  prompt: string,
  problem: (text: string) => string | null,
): Promise<string> {
  for (;;) {
    const typed = (await ask(person, prompt)).trim();
    const wrong = problem(typed);
    if (wrong === null) return typed;
    person.say(wrong);
  }
}

async function askLines(person: Questioner, prompt: string): Promise<string> {
  const lines: string[] = [];
  for (;;) {
    const typed = await ask(person, lines.length === 0 ? prompt : '. ');
    if (typed.trim() === '.' || (typed.trim() === '' && lines.length === 0)) return lines.join('\n').trim();
    lines.push(typed);
  }
}

const splitNames = (typed: string): readonly string[] => typed.split(/[\s,]+/).filter((name) => name !== '');

function toolProblem(typed: string): string | null {
  const unknown = splitNames(typed).find((name) => !isToolName(name));
  return unknown === undefined ? null : `There is no tool "${unknown}"; ${suggestion(unknown, TOOL_NAMES)}.`;
}
