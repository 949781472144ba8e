/**
 * The form in which a model is asked for a custom agent, and what is made of its answer: untrusted text, brought within bounds, and never
 * more access than the sentence leaves. Whether it could stand in a file is config/roles/agent-files.ts's to say.
 */
import { z } from 'zod';
import { saidOfAccess } from './access.ts';
import { AGENT_TOOLS, type AgentDraft, type AgentText, draftAgent, freeAgentName, IN_A_BOX } from './draft.ts';
import { objectIn } from '../text/json-in.ts';
import { type Result, fail, ok } from '../result.ts';
import { bytesIn, headOf, seenText } from '../text/text.ts';

const TOOLS = AGENT_TOOLS.map(({ name }) => name);
/** What every agent needs to look at anything. */
const ALWAYS = ['read_file', 'search'];
const [LONGEST_NAME, LONGEST_DESCRIPTION] = [32, 300];
/** Bytes. It goes before every task of the agent. */
const MOST_PROMPT = 8000;
/** Bytes of the sentence that a model is given. */
const MOST_SENTENCE = 12_000;
const MOST_FAULTS = 5;

/** Every property is required and nothing else allowed, as structured output wants it. */
export const AGENT_FORM = z.strictObject({
  name: z.string().describe('One to three English words, lower case, joined by "-": code-review.'),
  description: z.string().describe('One sentence, in the language of the request: when this agent is of use.'),
  tools: z.array(z.enum(TOOLS)).describe('No more than the request needs.'),
  prompt: z.string().describe('What the agent is told: who it is, how it works, what its answer looks like.'),
});

/** As an answer is read: a tool that there is not is told in words. */
const READ = AGENT_FORM.extend({ tools: z.array(z.string()) });

const unknownWords = (tools: readonly string[]): string =>
  `tools: there is no ${tools
    .slice(0, MOST_FAULTS)
    .map((tool) => `"${oneLine(tool, LONGEST_NAME)}"`)
    .join(', ')}; there are ${TOOLS.join(', ')}`;

/** The sentence as a model is given it: without what nobody sees, bounded. */
export const agentRequest = (sentence: string): string =>
  `# The request\n${headOf(seenText(sentence).trim(), MOST_SENTENCE)}\n\n# The tools\n${AGENT_TOOLS.map(({ name, words }) => `- ${name}: ${words}`).join('\n')}`;

/** The agent in a model's answer, cleaned; or what is wrong with it, in words that a model can mend it by. */
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
  if (name === '') return 'name: use lower case letters, digits and "-", a letter first';
  if (description === '') return 'description: it is empty';
  if (prompt === '') return 'prompt: it is empty';
  return bytesIn(prompt) <= MOST_PROMPT ? null : `prompt: it has more than ${MOST_PROMPT} bytes, shorten it`;
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

function oneLine(text: string, length: number): string {
  const line = seenText(text).replaceAll(/\s+/g, ' ').trim();
  return line.length <= length ? line : `${line.slice(0, length - 1).toWellFormed()}…`;
}

/** Who makes the name free, and which one was chosen instead. */
export interface Naming {
  readonly isTaken: (name: string) => boolean;
  readonly named?: string | undefined;
}

/**
 * What a model drafted, kept to what the sentence says of access: where that is read-only, nothing that the fixed rules would not give;
 * without commands, no bash. `by` names the model.
 */
export function withinSentence(
  agent: AgentText,
  sentence: string,
  by: string,
  { isTaken, named }: Naming = { isTaken: () => false },
): AgentDraft {
  const rules = draftAgent(sentence);
  const { readOnly, noCommands } = saidOfAccess(seenText(sentence));
  const barred = (tool: string): string | null => {
    if (readOnly !== null && !rules.tools.includes(tool)) return readOnly;
    return noCommands !== null && tool === 'bash' ? noCommands : null;
  };
  const tools = agent.tools.filter((tool) => barred(tool) === null);
  const name = named ?? freeAgentName(agent.name, isTaken);
  const chosen = tools.filter((tool) => !rules.tools.includes(tool));
  const writes = tools.some((tool) => CHANGING.includes(tool));
  const asked = rules.because.filter((line) => isAbout(line, tools));
  return {
    ...agent,
    name,
    tools,
    because: [
      ...asked.map((line) => (writes ? line.replace(IN_A_BOX, '') : line)),
      ...(chosen.length === 0 ? [] : [`${chosen.join(', ')}: chosen by ${by}; no word of the sentence asks for it`]),
      ...agent.tools.flatMap((tool) => outWords(tool, barred(tool))),
      ...(writes ? [] : [readOnly === null ? 'it only reads' : `it only reads: "${readOnly}"`]),
      ...rules.because.filter((line) => line.endsWith('left out')),
    ],
  };
}

const CHANGING = ['edit_file', 'write_file'];

/** `edit_file, write_file: "fixes"` is about tools that it has. */
const isAbout = (line: string, tools: readonly string[]): boolean =>
  (line.split(':')[0] ?? '').split(', ').every((word) => tools.includes(word));

const outWords = (tool: string, words: string | null): readonly string[] =>
  words === null ? [] : [`${tool}: left out, since the sentence says "${words}"`];
