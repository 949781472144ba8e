/**
 * A custom agent from one sentence: name, tools and prompt drawn from its words by rules that always give the same.
 * What is unclear only reads. It says what it chose and why; the person changes what they want, and files are for others.
 */
import { saidOfAccess } from './access.ts';
import { seenText } from '../text/text.ts';

/** What a custom agent is made of. */
export interface AgentText {
  readonly name: string;
  readonly description: string;
  /** Tools as files name them. */
  readonly tools: readonly string[];
  readonly prompt: string;
}

export interface AgentDraft extends AgentText {
  /** What was chosen and why, a line each, for the person. */
  readonly because: readonly string[];
}

/** Longer sentences are cut: a description is a line or two, the prompt can say more. */
const MOST_WORDS = 1000;

/** Tools that the draft chooses from, with what they are for. */
export const AGENT_TOOLS: readonly { readonly name: string; readonly words: string }[] = [
  { name: 'read_file', words: 'reads files of the project' },
  { name: 'search', words: 'searches in them' },
  { name: 'git', words: 'reads the history: status, diff, log, blame' },
  { name: 'bash', words: 'runs commands in the sandbox; without the two below it can change nothing' },
  { name: 'edit_file', words: 'changes files' },
  { name: 'write_file', words: 'writes new files' },
];

/** `isTaken`: a name that can't be used; then a number is put behind it. `named`: the name that was chosen instead. */
export function draftAgent(
  sentence: string,
  isTaken: (name: string) => boolean = () => false,
  named?: string,
): AgentDraft {
  // What is said of access may stand at the end of a long sentence.
  const all = seenText(sentence)
    .replaceAll(/[\p{C}\s]+/gu, ' ')
    .trim();
  const words = all.slice(0, MOST_WORDS).toWellFormed().trim();
  const wants = wantsOf(all.toLowerCase());
  const tools = [
    'read_file',
    'search',
    ...(wants.git === null ? [] : ['git']),
    ...(wants.commands === null ? [] : ['bash']),
    ...(wants.writes === null ? [] : ['edit_file', 'write_file']),
  ];
  const name = named ?? freeAgentName(nameFrom(words), isTaken);
  return {
    name,
    description: capital(words).replace(/[.\s]+$/, ''),
    tools,
    prompt: promptFor(words, wants),
    because: [...(named === undefined ? [`name ${name}: from the words`] : []), ...becauseOf(wants)],
  };
}

interface Wants {
  /** The words that ask for it; null: not asked for. */
  readonly writes: string | null;
  readonly commands: string | null;
  readonly git: string | null;
  /** The words that forbid changes. */
  readonly readOnly: string | null;
  /** What no custom agent has, by the words that ask for it. */
  readonly refused: readonly string[];
}

const WRITES =
  /\b(?:fix(?:es|ing)?|implement\w*|refactor\w*|rewrit\w*|renam(?:e|es|ing)|migrat(?:e|es|ing)|edit(?:s|ing)?|modif(?:y|ies|ying)|updat(?:e|es|ing)|simplif(?:y|ies|ying)|repair\w*|(?:chang|remov|delet|replac)(?:e|es|ing)|(?:creat|generat|writ)(?:e|es|ing)|add(?:s|ing)?)\b/;
/** What is written as an answer is no file. */
const ANSWERS =
  /\b(?:writ|creat|generat)(?:e|es|ing) (?:(?:a|an|the|its|short|brief|clear|good|detailed) )*(?:reports?|summar\w+|reviews?|answers?|explanations?|lists?|findings|changelogs?|release notes?)\b/g;
const COMMANDS =
  /\b(?:bash|terminal|shell (?:access|commands?)|commands?|test runner|run(?:s|ning)?|execut(?:e|es|ing)|compil(?:e|es|ing)|lint(?:s|ing|ers?)?|benchmark(?:s|ing)?|builds? (?:it|the))\b/;
const TESTS = /\btests?\b/;
const GIT =
  /\b(?:git|history|diffs?|blame|commits?|pull requests?|review\w*|changelogs?|release notes?|regressions?)\b/;
const REFUSED: readonly (readonly [RegExp, string])[] = [
  [
    /\b(?:web|internet|online|browse\w*|urls?|https?|download\w*|fetch(?:es|ing)? pages?)\b/,
    'the web: agents have no network, so it was left out',
  ],
  [
    /\b(?:sub-?agents?|delegat\w*|spawn\w*|other agents)\b/,
    'other agents: a custom agent never gets Task, so it was left out',
  ],
  [
    /\b(?:commits? (?:the|its|all|them|changes)|makes? (?:a )?commits?|push(?:es|ing)?)\b/,
    'commits: they are for the main agent, so they were left out',
  ],
];

const first = (pattern: RegExp, words: string): string | null => pattern.exec(words)?.[0].trim() ?? null;

function wantsOf(words: string): Wants {
  const { readOnly, noCommands } = saidOfAccess(words);
  const asked = words.replaceAll(ANSWERS, ' ');
  const writes = readOnly === null ? first(WRITES, asked) : null;
  const runs = noCommands === null ? first(COMMANDS, asked) : null;
  // Who writes tests has to run them.
  const tests = writes !== null && noCommands === null ? first(TESTS, words) : null;
  return {
    writes,
    commands: runs ?? tests,
    git: first(GIT, words),
    readOnly,
    refused: REFUSED.flatMap(([pattern, why]) => (pattern.test(words) ? [why] : [])),
  };
}

/** Behind a shell of one that only reads. */
export const IN_A_BOX = ', in a box where nothing can be changed';

function becauseOf({ writes, commands, git, readOnly, refused }: Wants): readonly string[] {
  const reads = 'read_file, search: every agent needs them';
  const unsure = 'it only reads, since nothing says that it changes files';
  return [
    reads,
    ...(git === null ? [] : [`git: "${git}"`]),
    ...(commands === null ? [] : [`bash: "${commands}"${writes === null ? IN_A_BOX : ''}`]),
    ...(writes === null
      ? [readOnly === null ? unsure : `it only reads: "${readOnly}"`]
      : [`edit_file, write_file: "${writes}"`]),
    ...refused,
  ];
}

function promptFor(words: string, { writes, commands, git }: Wants): string {
  const opening = openingOf(words.replace(/[.\s]+$/, ''));
  const rules = [
    writes === null
      ? 'You read and judge; you never create, change or delete a file.'
      : 'You change what the task needs and nothing else, in the style of the files around it.',
    ...(git === null ? [] : ['What changed lately says much: look at the diff and the history before you judge.']),
    ...(commands === null ? [] : ['Run what shows whether it works, and report what it printed, not what you expect.']),
  ];
  const answer =
    writes === null
      ? 'Answer so that nobody has to read those files again: findings in order of importance, each with `path:line` and what to do about it; then what you looked at and found in order.'
      : 'Answer with what you changed and why, each with `path:line`; how you know that it works; and what is left to do.';
  return [opening, rules.join(' '), answer].join('\n\n');
}

/** `a reviewer of …`, `fixes failing tests`, or an order. */
function openingOf(sentence: string): string {
  const small = `${sentence.charAt(0).toLowerCase()}${sentence.slice(1)}`;
  if (/^(?:an?|the) /i.test(sentence)) return `You are ${small}.`;
  return /^[a-z]+[^s\W]s /i.test(sentence) ? `You are an agent that ${small}.` : `Your work: ${sentence}.`;
}

/** Words that say nothing of what it is. */
const EMPTY_WORDS = new Set(
  'a an the that which who whom for to of in on at by with and or is are be it its this these my our your i want need please make create build me new custom very good agent assistant bot helper role tool expert specialist who only all any project codebase'.split(
    ' ',
  ),
);
const MOST_IN_NAME = 3;
const LONGEST_NAME = 32;

/** `a code review agent with …`: code-review. Else the first words that say something. */
function nameFrom(words: string): string {
  const plain = words.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
  const [, before = ''] =
    /^(?:(?:an?|the|my|our)\s+)?([a-z][a-z0-9 _-]*?)\s+(?:sub-?)?(?:agent|assistant|bot|expert|specialist|helper)\b/.exec(
      plain,
    ) ?? [];
  const said = (text: string): readonly string[] => partsOf(text).filter((part) => !EMPTY_WORDS.has(part));
  const named = said(before);
  const clauses = plain.split(/[,;.:]|\s(?:and|with|for|about|that|which|who)\s/).map(said);
  const parts =
    named.length > 0 && named.length <= MOST_IN_NAME ? named : (clauses.find((one) => one.length > 0) ?? []);
  const name = parts
    .slice(0, MOST_IN_NAME)
    .join('-')
    .slice(0, LONGEST_NAME)
    .replace(/^[^a-z]+|-+$/g, '');
  return name === '' ? 'custom' : name;
}

const partsOf = (text: string): readonly string[] => text.split(/[^a-z0-9]+/).filter((part) => part !== '');

/** The name, or where that is taken, with the first number behind it that makes it free. */
export function freeAgentName(name: string, isTaken: (name: string) => boolean): string {
  const others = Array.from({ length: 98 }, (_, index) => `${name}-${index + 2}`);
  return [name, ...others].find((each) => !isTaken(each)) ?? name;
}

const capital = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
