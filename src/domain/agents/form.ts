/** The form by which a model drafts a custom agent, and the parsing of its answer: untrusted text, limited in size and in access.
 * config/roles/agent-files.ts checks whether it is a valid agent file. */
import { z } from 'zod';
import { fail, ok, type Result } from '../result.ts';
import { bytesIn, headOf, objectIn, plainLine, seenText } from '../text/text.ts';
import ACCESS from './access.json' with { type: 'json' };

/** Tools that a custom agent may have, with their purpose. */
export const AGENT_TOOLS: readonly { readonly name: string; readonly words: string }[] = [
  { name: 'read_file', words: 'reads files of the project' },
  { name: 'search', words: 'searches files of the project' },
  { name: 'git', words: 'reads the history: status, diff, log, blame' },
  { name: 'bash', words: 'runs commands; read-only without edit_file or write_file' },
  { name: 'edit_file', words: 'changes files' },
  { name: 'write_file', words: 'writes new files' },
];

/** The parts of a custom agent. */
export interface AgentText {
  readonly name: string;
  readonly description: string;
  readonly tools: readonly string[];
  readonly prompt: string;
}

export interface AgentDraft extends AgentText {
  /** What was chosen and by whom, one line each, for the person. Empty where no model drafted it. */
  readonly because: readonly string[];
}

const TOOLS = AGENT_TOOLS.map(({ name }) => name);
const ALWAYS = ['read_file', 'search'];
const [LONGEST_NAME, LONGEST_DESCRIPTION] = [32, 300];
/** Bytes; the prompt precedes every task of the agent. */
const MOST_PROMPT = 8000;
/** Bytes of the description that a model is given. */
const MOST_SENTENCE = 12_000;
const MOST_FAULTS = 5;

/** Every property is required and no other allowed, as structured output demands. */
export const AGENT_FORM = z.strictObject({
  name: z.string().describe('One to three English words, lower case, joined by "-": code-review.'),
  description: z.string().describe('One sentence, in the language of the request: when to use this agent.'),
  tools: z.array(z.enum(TOOLS)).describe('No more than the request needs.'),
  prompt: z.string().describe('Instructions for the agent: who it is, how it works, what its answer looks like.'),
});

/** Accepts unknown tools, so that they can be reported by name. */
const READ = AGENT_FORM.extend({ tools: z.array(z.string()) });

const unknownWords = (tools: readonly string[]): string =>
  `tools: there is no ${tools
    .slice(0, MOST_FAULTS)
    .map((tool) => `"${oneLine(tool, LONGEST_NAME)}"`)
    .join(', ')}; available: ${TOOLS.join(', ')}`;

/** The request for a model: without invisible characters, limited in size. */
export const agentRequest = (sentence: string): string =>
  `# The request\n${headOf(seenText(sentence).trim(), MOST_SENTENCE)}\n\n# The tools\n${AGENT_TOOLS.map(({ name, words }) => `- ${name}: ${words}`).join('\n')}`;

/** The cleaned agent in a model's answer; or its faults, in words for the model. */
export function agentIn(answer: string): Result<AgentText, string> {
  const json = objectIn(answer, 'prompt');
  if (json === undefined) return fail('the answer is not one JSON object with name, description, tools and prompt');
  const read = READ.safeParse(json);
  if (!read.success) return fail(read.error.issues.slice(0, MOST_FAULTS).map(faultWords).join('; '));
  const unknown = read.data.tools.filter((tool) => !TOOLS.includes(tool));
  if (unknown.length > 0) return fail(unknownWords(unknown));
  const prompt = seenText(read.data.prompt)
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
  const agent = {
    name: nameOf(read.data.name),
    description: oneLine(read.data.description, LONGEST_DESCRIPTION),
    tools: TOOLS.filter((tool) => ALWAYS.includes(tool) || read.data.tools.includes(tool)),
    prompt,
  };
  const problem = problemIn(agent);
  return problem === null ? ok(agent) : fail(problem);
}

const faultWords = ({ path, message }: { readonly path: PropertyKey[]; readonly message: string }): string =>
  oneLine(`${path.length === 0 ? '' : `${path.map(String).join('.')}: `}${message}`, LONGEST_DESCRIPTION);

function problemIn({ name, description, prompt }: AgentText): string | null {
  if (name === '') return 'name: use lower-case letters, digits and "-", starting with a letter';
  if (description === '') return 'description: it is empty';
  if (prompt === '') return 'prompt: it is empty';
  return bytesIn(prompt) <= MOST_PROMPT ? null : `prompt: it has more than ${MOST_PROMPT} bytes; shorten it`;
}

const nameOf = (written: string): string =>
  written
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replace(/^[^a-z]+/, '')
    .slice(0, LONGEST_NAME)
    .replace(/-+$/, '');

const oneLine = (text: string, length: number): string => plainLine(text, length, seenText);

/** Tells which names are taken, and whether another was chosen instead. */
export interface Naming {
  readonly isTaken: (name: string) => boolean;
  readonly named?: string | undefined;
}

function freeAgentName(name: string, isTaken: (name: string) => boolean): string {
  const others = Array.from({ length: 98 }, (_, index) => `${name}-${index + 2}`);
  return [name, ...others].find((each) => !isTaken(each)) ?? name;
}

/** The start of a manual draft: the sentence as the description, with read-only tools. */
export const blankAgent = (sentence: string, name = ''): AgentDraft => ({
  name,
  description: oneLine(sentence, LONGEST_DESCRIPTION),
  tools: ALWAYS,
  prompt: '',
  because: [],
});

const LOOKING = [...ALWAYS, 'git'];
const CHANGING = ['edit_file', 'write_file'];

/** Limits a model's draft to the access that the sentence states: only read-only tools, or no shell. `by` names the model. */
export function withinSentence(
  agent: AgentText,
  sentence: string,
  by: string,
  { isTaken, named }: Naming = { isTaken: () => false },
): AgentDraft {
  const { readOnly, noCommands } = saidOfAccess(seenText(sentence));
  const barred = (tool: string): string | null => {
    if (readOnly !== null && !LOOKING.includes(tool)) return readOnly;
    return noCommands !== null && tool === 'bash' ? noCommands : null;
  };
  const tools = agent.tools.filter((tool) => barred(tool) === null);
  const chosen = tools.filter((tool) => !ALWAYS.includes(tool));
  return {
    ...agent,
    name: named ?? freeAgentName(agent.name, isTaken),
    tools,
    because: [
      `${ALWAYS.join(', ')}: every agent needs them`,
      ...(chosen.length === 0 ? [] : [`${chosen.join(', ')}: chosen by ${by}`]),
      ...agent.tools.flatMap((tool) => outWords(tool, barred(tool))),
      ...(tools.some((tool) => CHANGING.includes(tool)) ? [] : [readOnlyWords(readOnly)]),
    ],
  };
}

const outWords = (tool: string, words: string | null): readonly string[] =>
  words === null ? [] : [`${tool}: left out because the sentence says "${words}"`];

const readOnlyWords = (said: string | null): string => (said === null ? 'it only reads' : `it only reads: "${said}"`);

// What a sentence states about access, by the patterns of access.json: that nothing may be changed, or no command may run. A false match only
// removes access.

/** In English, \b can be used; it works only for ASCII letters. */
const patterns = (byLanguage: Readonly<Record<string, readonly string[]>>): readonly RegExp[] =>
  Object.values(byLanguage).flatMap((all) => all.map((pattern) => new RegExp(pattern, 'u')));

const READ_ONLY = patterns(ACCESS.readOnly);
const NO_COMMANDS = patterns(ACCESS.noCommands);
const MOST_QUOTED = 40;

/** The matching words of the sentence; null where it states no such limit. */
export function saidOfAccess(sentence: string): Readonly<Record<'readOnly' | 'noCommands', string | null>> {
  const words = sentence.normalize('NFC').replaceAll('’', "'").toLowerCase();
  return { readOnly: found(READ_ONLY, words), noCommands: found(NO_COMMANDS, words) };
}

function found(patterns: readonly RegExp[], words: string): string | null {
  for (const pattern of patterns) {
    const match = pattern.exec(words)?.[0].trim();
    if (match !== undefined) return match.slice(0, MOST_QUOTED);
  }
  return null;
}
