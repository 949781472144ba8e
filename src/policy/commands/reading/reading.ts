/** Decides whether a command only reads: it is understood completely, all its programs and options are listed as reading, its paths are in
 * the project by their text, and its output goes only to the agent. Such a command runs without a question in a read-only sandbox, so that
 * a wrong list entry cannot write. */
import * as shell from 'unbash';
import { readCommand } from '../read.ts';
import { type Argument, argumentOf, CERTAIN, isInProject, namesOutside, OUTSIDE } from './options.ts';
import type { ReadingPlace, Scope } from './options.ts';
import { whyProgram } from './programs.ts';
import { DOUBTS, knownWord } from '../words.ts';

export type { ReadingPlace } from './options.ts';

/** Why `command`, started in this place, may do more than read; null when it only reads. Pure and total for any text. */
export function moreThanReading(command: string, place: ReadingPlace): string | null {
  const [doubt] = readCommand(command).doubts;
  if (doubt !== undefined) return doubt;
  const scope: Scope = {
    place,
    moves: mayName('cd', command),
    variables: new Map(),
    script: ({ script }) => (script === undefined ? DOUBTS.substitution : whyAll(script.commands, scope)),
  };
  try {
    const script: shell.ParsedScript = shell.parse(command);
    return script.commands.length === 0 ? 'it runs nothing' : whyAll(script.commands, scope);
  } catch {
    return 'it could not be read';
  }
}

/** Whether `program` may be among the words, however it is quoted. */
const mayName = (program: string, command: string): boolean =>
  new RegExp(String.raw`\b${program}\b|\$'`).test(`${command}\n${command.replaceAll(/\\\n|[\\'"]/g, '')}`);

const first = <T>(all: readonly T[], why: (one: T) => string | null): string | null => {
  for (const one of all) {
    const found = why(one);
    if (found !== null) return found;
  }
  return null;
};

const whyAll = (statements: readonly shell.Statement[], scope: Scope): string | null =>
  first(statements, ({ command, background }) =>
    background === true ? 'it leaves something running' : whyNode(command, scope),
  );

function whyNode(node: shell.SyntaxNode, scope: Scope): string | null {
  switch (node.type) {
    case 'Command':
      return whyCommand(node, scope);
    case 'Pipeline':
    case 'AndOr':
      return first(node.commands, (each) => whyNode(each, scope));
    case 'CompoundList':
      return whyAll(node.commands, scope);
    case 'Subshell':
    case 'BraceGroup':
      return whyNode(node.body, scope);
    case 'Redirected':
      return first(node.redirects, (each) => whyRedirection(each, scope)) ?? whyNode(node.command, scope);
    case 'If':
    case 'Elif':
      return first(partsOfIf(node), (each) => whyNode(each, scope));
    case 'While':
      return whyNode(node.clause, scope) ?? whyNode(node.body, scope);
    case 'For':
      return whyLoop(node, scope);
    default:
      return `the shell's ${node.type} may do more than read`;
  }
}

const partsOfIf = (node: Extract<shell.SyntaxNode, { readonly type: 'If' | 'Elif' }>): readonly shell.SyntaxNode[] => [
  node.clause,
  node.then,
  ...(node.type === 'If' ? [...node.elif, ...(node.else === undefined ? [] : [node.else])] : []),
];

/** Names in lower case, which none of the shell's own variables has. */
const NAME = /^[a-z][a-z0-9_]*$/;

function whyLoop(
  { name, wordlist, body }: Extract<shell.SyntaxNode, { readonly type: 'For' }>,
  scope: Scope,
): string | null {
  const variable = knownWord(name) ?? '';
  if (!NAME.test(variable) || wordlist === undefined) return 'it sets a variable';
  const all: Argument[] = [];
  const why = first(wordlist, (word) => addWord(word, all, scope));
  if (why !== null) return why;
  // A variable that is set twice has the less certain of both values.
  const before = scope.variables.get(variable);
  scope.variables.set(variable, {
    is: lessCertain(certaintyOf(all, scope), before?.is ?? 'inside'),
    whole: all.every(isPlain) && before?.whole !== false,
  });
  return whyNode(body, scope);
}

const isPlain = (one: Argument): boolean => one.is === 'known' && /^[\w./@%+=:,][\w./@%+=:,-]*$/.test(one.text);

function certaintyOf(all: readonly Argument[], scope: Scope): (typeof CERTAIN)[number] {
  if (all.some((one) => one.is === 'outside' || (one.is === 'known' && namesOutside(one.text, scope))))
    return 'outside';
  const isInside = (one: Argument): boolean => one.is === 'inside' || (one.is === 'known' && !one.text.startsWith('-'));
  return all.every(isInside) ? 'inside' : 'any';
}

const lessCertain = (...both: readonly (typeof CERTAIN)[number][]): (typeof CERTAIN)[number] =>
  CERTAIN.findLast((one) => both.includes(one)) ?? 'outside';

function addWord(word: shell.Word, all: Argument[], scope: Scope): string | null {
  const argument = argumentOf(word, scope);
  if (typeof argument === 'string') return argument;
  all.push(argument);
  return null;
}

function whyCommand(command: shell.Command, scope: Scope): string | null {
  const why = first(command.redirects, (each) => whyRedirection(each, scope));
  if (why !== null) return why;
  if (command.name === undefined) return 'it sets a variable';
  const given: Argument[] = [];
  const odd =
    addWord(command.name, given, scope) ??
    first(command.args, (each) => (each.type === 'Word' ? addWord(each, given, scope) : 'it sets a variable'));
  if (odd !== null) return odd;
  const [name] = given;
  const program = name?.is === 'known' ? name.text : '';
  const assigned = first(command.prefix, (each) => (each.type === 'Assignment' ? whyAssignment(each, program) : null));
  if (assigned !== null) return assigned;
  return program === 'read' ? whyRead(given.slice(1), scope) : whyProgram(given, scope);
}

/** Variables for sorting and writing text, and for how `read` divides its line. */
function whyAssignment({ name, value, index, append }: shell.Assignment, program: string): string | null {
  const text = value.type === 'Word' && index === undefined && append !== true ? knownWord(value) : null;
  const harmless = /^(?:LC_[A-Z]+|LANG|NO_COLOR)$/.test(name) ? /^[\w.@-]*$/.test(text ?? '/') : false;
  return harmless || (name === 'IFS' && program === 'read' && text !== null) ? null : 'it sets a variable';
}

/** `read` sets the variables it names to whatever it reads. */
function whyRead(given: readonly Argument[], { variables }: Scope): string | null {
  for (const [at, argument] of given.entries()) {
    if (argument.is !== 'known') return DOUBTS.variable;
    const { text } = argument;
    if (/^-[rs]+$/.test(text) || (/^-r?d$/.test(text) && at < given.length - 1)) continue;
    if (text === '' && /^-r?d$/.test(textOf(given[at - 1]))) continue;
    if (!NAME.test(text)) return 'it sets a variable';
    variables.set(text, { is: 'any', whole: false });
  }
  return null;
}

const textOf = (argument: Argument | undefined): string => (argument?.is === 'known' ? argument.text : '');

/** Redirections from the project, from the text itself, or to /dev/null. */
function whyRedirection(redirection: shell.Redirection, scope: Scope): string | null {
  if (redirection.descriptor?.type === 'FileDescriptorVariable') return 'it sets a variable';
  if (redirection.type === 'HereDoc') return whyHereDoc(redirection, scope);
  const target = redirection.target === undefined ? 'it is incomplete' : argumentOf(redirection.target, scope);
  if (typeof target === 'string') return target;
  return redirection.type === 'HereString' ? null : whyTarget(redirection.operator, target, scope);
}

function whyTarget(operator: shell.RedirectOperator, target: Argument, scope: Scope): string | null {
  const to = textOf(target);
  switch (operator) {
    case '<':
      return target.is === 'inside' || (target.is === 'known' && isInProject(to, scope)) ? null : OUTSIDE;
    case '<&':
    case '>&':
      return /^(?:\d+-?|-)$/.test(to) ? null : DOUBTS.file;
    default:
      return to === '/dev/null' && operator !== '<>' ? null : DOUBTS.file;
  }
}

/** The text is one word whatever it contains; only what the shell would run or expand counts. */
function whyHereDoc({ body }: shell.HereDoc, scope: Scope): string | null {
  const parts = (body.parts ?? []).filter(({ type }) => type !== 'Literal');
  if (parts.length === 0) return null;
  const odd = argumentOf({ ...body, type: 'Word', value: '', parts }, scope);
  return typeof odd === 'string' ? odd : null;
}
