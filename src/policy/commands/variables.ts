/**
 * What a command does to variables of its shell: which builtins set one, where the shell evaluates arithmetic (an assignment there is
 * an assignment), and which variables hold text that a program runs. Where the text doesn't say, that is a doubt, never a guess.
 */
import type { ArithmeticExpression, ParameterExpansionPart, SyntaxNode, TestExpression, Word } from 'unbash';
import { type Known, type Simple, knownWord, programOf } from './words.ts';
import { WRAPPERS } from './wrappers.ts';

/** What follows from a variable that is set. */
export type Effect =
  | { readonly is: 'sets' }
  /** Its value is a text for a shell. */
  | { readonly is: 'script'; readonly text: string }
  | { readonly is: 'doubt'; readonly why: string };

const SETS: readonly Effect[] = [{ is: 'sets' }];
const doubt = (why: string): Effect => ({ is: 'doubt', why });
const setOf = (words: string): ReadonlySet<string> => new Set(words.split(' '));

/** Programs run what stands in these. */
const RUN = setOf(
  'PROMPT_COMMAND PAGER GIT_PAGER MANPAGER EDITOR VISUAL FCEDIT GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_SSH GIT_SSH_COMMAND GIT_ASKPASS ' +
    'SSH_ASKPASS SUDO_ASKPASS GIT_EXTERNAL_DIFF GIT_PROXY_COMMAND LESSOPEN LESSCLOSE BROWSER RSYNC_RSH',
);
/** The shell fills these in, substitutions among it, each time it shows them. */
const FILLED_IN = setOf('PS0 PS1 PS2 PS4');
/** Code of their files comes before every program. */
const LOADED = setOf('BASH_ENV ENV LD_PRELOAD LD_AUDIT');

/** A variable is set to `value`; null: to what the text doesn't say. */
export function effectsOf(name: string, value: Known): readonly Effect[] {
  if (LOADED.has(name) && value !== '') return [...SETS, doubt(`${name} has code run that is not in the text`)];
  const isRun = RUN.has(name);
  if (!isRun && !FILLED_IN.has(name)) return SETS;
  if (value === null) return [...SETS, doubt(`what ${name} runs is not in the text`)];
  if (isRun) return value.trim() === '' ? SETS : [...SETS, { is: 'script', text: value }];
  return /[$`\\]/.test(value) ? [...SETS, doubt(`the shell evaluates ${name}`)] : SETS;
}

/** A whole number: anything else in arithmetic may be a name, whose value is evaluated again, assignments in it as well. */
const NUMBER = /^(?:0[xX][\da-fA-F]+|\d+(?:#[\da-zA-Z@_]+)?)$/;
const ARITHMETIC_TESTS = setOf('-eq -ne -lt -le -gt -ge');
const PLAIN_NAME = /^[A-Za-z_]\w*$/;

/** Of a node of the grammar, but for commands and plain assignments. */
export function effectsOfNode(node: SyntaxNode): readonly Effect[] {
  switch (node.type) {
    case 'ArithmeticFor':
    case 'ArithmeticCommandExpansion':
      return SETS;
    case 'ArithmeticWord':
      return NUMBER.test(node.value) ? [] : SETS;
    case 'ArithmeticCommand':
      return ofArithmetic(node.expression, node.body);
    case 'ArithmeticExpansion':
      return ofArithmetic(node.expression, node.text.replace(/^\$(?:\(\(|\[)|(?:\)\)|\])$/g, ''));
    case 'TestBinary':
    case 'TestUnary':
      return ofTest(node);
    case 'ParameterExpansion':
      return ofExpansion(node);
    case 'FileDescriptorVariable':
      return effectsOf(node.name, null);
    default:
      return [];
  }
}

/** What could not be read is no arithmetic that is known to be harmless. */
const ofArithmetic = (expression: ArithmeticExpression | undefined, body: string): readonly Effect[] =>
  expression === undefined && body.trim() !== '' ? SETS : [];

function ofTest(test: Extract<TestExpression, { readonly type: 'TestBinary' | 'TestUnary' }>): readonly Effect[] {
  const isNumber = (word: Word): boolean => /^-?\d+$/.test(knownWord(word) ?? '');
  if (test.type === 'TestUnary')
    return /^-[vR]$/.test(test.operator) && !PLAIN_NAME.test(knownWord(test.operand) ?? '') ? SETS : [];
  if (!ARITHMETIC_TESTS.has(test.operator)) return [];
  return isNumber(test.left) && isNumber(test.right) ? [] : SETS;
}

function ofExpansion({ parameter, index, prefix, operation }: ParameterExpansionPart): readonly Effect[] {
  if (index !== undefined || prefix === '!') return [...SETS, ...ofOperation(parameter, operation)];
  return ofOperation(parameter, operation);
}

function ofOperation(parameter: string, operation: ParameterExpansionPart['operation']): readonly Effect[] {
  switch (operation?.type) {
    case 'Default':
      return operation.operator.endsWith('=') ? effectsOf(parameter, knownWord(operation.operand)) : [];
    case 'Transform':
      return /^[QEAaKkULu]$/.test(knownWord(operation.operand) ?? '')
        ? []
        : [doubt('a value is evaluated as a prompt')];
    case 'Slice':
    case 'Unknown':
      return SETS;
    default:
      return [];
  }
}

/** Builtins whose arguments are names, or names with values. */
const DECLARES = setOf('declare typeset local readonly export');
const NAMES = setOf('read getopts unset mapfile readarray');
/** Letters and names of `set` that change neither parameters nor how words are read. */
const SET_OPTIONS = /^(?:[-+][euxvfnC]*o?|pipefail|errexit|nounset|xtrace|verbose|noglob|noexec|noclobber)$/;

/** Of a builtin by its arguments. */
function effectsOfBuiltin(simple: Simple): readonly Effect[] {
  const [program = null, ...rest] = simple.words;
  if (program === null) return [];
  if (DECLARES.has(program)) return ofDeclaration(simple);
  if (NAMES.has(program)) return ofNames(program, rest);
  switch (program) {
    case 'let':
      return SETS;
    case 'printf':
      return ofPrintf(rest);
    case 'wait':
      return rest.some((word) => word?.startsWith('-') !== false) ? SETS : [];
    case 'set':
      return rest.every((word) => word !== null && SET_OPTIONS.test(word)) ? [] : SETS;
    case 'test':
    case '[':
      return rest.some((word, at) => word === '-v' && !PLAIN_NAME.test(rest[at + 1] ?? '')) ? SETS : [];
    case 'compgen':
    case 'compopt':
      return [doubt(`what ${program} runs can't be read here`)];
    case 'jobs':
      return rest.some((word) => word === null || /^-\w*x/.test(word)) ? [doubt('jobs may run a program')] : [];
    default:
      return [];
  }
}

/** `export A=1`, `export 'A=1'`, `declare -n other=A`. */
function ofDeclaration({ words, texts }: Simple): readonly Effect[] {
  return words.slice(1).flatMap((word, at): readonly Effect[] => {
    const text = texts[at + 1] ?? '';
    // As an assignment of the grammar it was judged with its value.
    if (word === null)
      return PLAIN_ASSIGNMENT.test(text) ? SETS : [...SETS, doubt('it sets a variable that the text does not name')];
    if (/^[-+]/.test(word))
      return words[0] !== 'export' && /^-\w*n/.test(word) ? [doubt('a variable stands for another')] : [];
    return ofAssigned(word);
  });
}

const PLAIN_ASSIGNMENT = /^[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=/;

/** `name=value` as a word. */
function ofAssigned(word: string): readonly Effect[] {
  const [, name, value] = /^([A-Za-z_]\w*)\+?=(.*)$/s.exec(word) ?? [];
  return name === undefined ? SETS : effectsOf(name, value ?? '');
}

/** Of a program, of itself and of the variables that it gives to another. */
export const effectsOfProgram = (simple: Simple): readonly Effect[] =>
  WRAPPERS.get(programOf(simple) ?? '')?.assigns === true
    ? [...effectsOfBuiltin(simple), ...effectsOfEnvironment(simple)]
    : effectsOfBuiltin(simple);

/** `A=1` before the program of `env` and its like: the shell of this command keeps its variables. */
const effectsOfEnvironment = ({ words, texts }: Simple): readonly Effect[] =>
  words
    .flatMap((word, at) => {
      const [, name = '', value = ''] = /^([A-Z_]\w*)=(.*)$/s.exec(word ?? texts[at] ?? '') ?? [];
      return name === '' ? [] : effectsOf(name, word === null ? null : value);
    })
    .filter(({ is }) => is !== 'sets');

function ofNames(program: string, words: readonly Known[]): readonly Effect[] {
  if (words.includes(null)) return [...SETS, doubt(`${program} sets a variable that the text does not name`)];
  return [...SETS, ...words.flatMap((word) => effectsOf(word ?? '', program === 'unset' ? '' : null))];
}

function ofPrintf([first = '', second = '']: readonly Known[]): readonly Effect[] {
  if (first !== null && !first.startsWith('-v')) return [];
  const name = first === '-v' ? second : (first?.slice(2) ?? null);
  return name === null ? [...SETS, doubt('printf sets a variable that the text does not name')] : effectsOf(name, null);
}
