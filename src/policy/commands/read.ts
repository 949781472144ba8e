/** Parses a shell command with a real shell grammar: every program that it would run (in lists, pipes, substitutions, here-documents,
 * function bodies, wrappers), and what makes that list uncertain. */
import * as shell from 'unbash';
import { DOUBTS, type Known, knownAssignment, knownWord, programOf, setOf, type Simple } from './words.ts';
import { doubt, type Inner, innerOf, WRAPPERS } from './wrap.ts';

export interface Reading {
  readonly simples: readonly Simple[];
  /** Why a program might run that is not in `simples`; empty without doubt. */
  readonly doubts: readonly string[];
  /** What the command does besides running `simples` with plain words, which an allow rule cannot express. */
  readonly more: readonly string[];
}

/** Longer commands are not read. */
const MOST_CHARACTERS = 10_000;
const MOST_NODES = 20_000;
/** Nested substitutions are read repeatedly; more would delay the run noticeably. */
const MOST_SUBSTITUTIONS = 300;
const SUBSTITUTION = /\$[({[]|`|[<>]\(|\(\(/g;
const MOST_SHELLS = 8;
/** Characters that a terminal may hide or a shell may treat as blanks: all but letters, marks, signs and ASCII blanks; also fillers. */
const HIDDEN = /[^\t\n\x20-\x7e\p{L}\p{M}\p{N}\p{P}\p{S}]|\u034f|\u115f|\u1160|\u17b4|\u17b5|\u3164|\uffa0/u;

/** Never throws. Deterministic. */
export function readCommand(text: string): Reading {
  const found: Found = { simples: [], doubts: new Set(), more: new Set(), nodes: 0, evaluates: false, code: false };
  if (text.length > MOST_CHARACTERS) {
    found.doubts.add(`it has more than ${MOST_CHARACTERS} characters`);
    return readingOf(found);
  }
  if ((text.match(SUBSTITUTION)?.length ?? 0) > MOST_SUBSTITUTIONS) {
    found.doubts.add(`it has more than ${MOST_SUBSTITUTIONS} substitutions`);
    return readingOf(found);
  }
  try {
    if (HIDDEN.test(text)) found.doubts.add('it has characters that a terminal hides');
    readScript(text, found, 0);
  } catch {
    found.doubts.add('it could not be read');
  }
  return readingOf(found);
}

interface Found {
  readonly simples: Simple[];
  readonly doubts: Set<string>;
  readonly more: Set<string>;
  nodes: number;
  /** Somewhere text becomes code by arithmetic or by a name (`a[$(x)]`), and somewhere there is quoted code. */
  evaluates: boolean;
  code: boolean;
}

function readingOf({ simples, doubts, more, evaluates, code }: Found): Reading {
  if (evaluates && code) doubts.add('it may evaluate text as code');
  return { simples, doubts: [...doubts], more: [...more] };
}

function readScript(text: string, found: Found, shells: number): void {
  if (shells > MOST_SHELLS) found.doubts.add('its shells are nested too deeply');
  else visit(shell.parse(text), found, shells);
}

function visit(node: shell.SyntaxNode, found: Found, shells: number): void {
  found.nodes += 1;
  if (found.nodes > MOST_NODES) throw new Error('too many parts');
  note(node, found, shells);
  shell.forEachChild(node, (child) => visit(child, found, shells));
}

function note(node: shell.SyntaxNode, found: Found, shells: number): void {
  apply(effectsOfNode(node), found, shells);
  switch (node.type) {
    case 'Script':
      return noteErrors(node, found);
    case 'Command':
      return noteCommand(node, found, shells);
    case 'Word':
      return noteWord(node, found);
    case 'Assignment':
      return apply(effectsOf(node.name, node.value.type === 'Word' ? knownWord(node.value) : null), found, shells);
    case 'For':
    case 'Select':
    case 'Coproc':
      return apply(effectsOf(node.name?.text ?? 'COPROC', null), found, shells);
    case 'Function':
      found.more.add('it defines a function');
      return;
    case 'Redirect':
      return noteRedirect(node, found);
    case 'HereDoc':
      return noteHereDoc(node, found);
    case 'ParameterExpansion':
      return noteExpansion(node, found);
    case 'CommandExpansion':
    case 'ProcessSubstitution':
      if (node.script === undefined) found.doubts.add(DOUBTS.substitution);
      return;
    default:
      if (node.type.startsWith('Arithmetic') || node.type.startsWith('Test')) found.evaluates = true;
  }
}

function apply(effects: readonly Effect[], found: Found, shells: number): void {
  for (const effect of effects) {
    if (effect.is === 'sets') found.more.add('it sets a variable');
    else if (effect.is === 'doubt') found.doubts.add(effect.why);
    else if (effect.is === 'script') readScript(effect.text, found, shells + 1);
    else if (shells >= MOST_SHELLS) found.doubts.add('its programs are nested too deeply');
    else noteSimple(effect.simple, found, shells + 1);
  }
}

function noteErrors({ errors }: shell.ParsedScript, found: Found): void {
  const [error] = errors ?? [];
  if (error !== undefined) found.doubts.add(`it is incomplete: ${error.message}`);
}

const HISTORY = /![^\s=(]/;
const CODE = /\$\(|`|\$\{/;

function noteWord(word: shell.Word, found: Found): void {
  const known = knownWord(word);
  if (known === null) found.more.add(DOUBTS.words);
  else if (CODE.test(known)) found.code = true;
  const unquoted = word.parts === undefined ? word.text : word.parts.map(unquotedText).join('');
  if (HISTORY.test(unquoted)) found.doubts.add('it may mean an earlier command (!)');
}

/** The text in which an interactive shell would expand `!`. */
const unquotedText = (part: NonNullable<shell.Word['parts']>[number]): string =>
  part.type === 'Literal' || part.type === 'DoubleQuoted' || part.type === 'ExtendedGlob' ? part.text : '';

/** Harmless if it goes to /dev/null or another descriptor; otherwise it writes a file or opens a connection. */
function noteRedirect({ operator, target }: shell.Redirect, found: Found): void {
  const to = (target === undefined ? null : knownWord(target)) ?? '';
  const harmless = operator === '<' ? READ.test(to) : operator.endsWith('&') ? DESCRIPTOR.test(to) : to === '/dev/null';
  if (!harmless) found.more.add(operator === '<' ? 'it reads from a redirect that is not a plain file' : DOUBTS.file);
}

const DESCRIPTOR = /^(?:\d+-?|-)$/;
const READ = /^(?:\/dev\/null|(?!\/dev\/|\/+dev\/|\/proc\/).+)$/s;

function noteHereDoc({ closing, delimiter, body }: shell.HereDoc, found: Found): void {
  if (closing === undefined || delimiter === undefined) found.doubts.add('a here-document has no end');
  if (CODE.test(body.text)) found.code = true;
}

function noteExpansion({ index, operation, prefix, text }: shell.ParameterExpansionPart, found: Found): void {
  const type = operation?.type;
  if (index !== undefined || prefix === '!' || type === 'Slice' || type === 'Transform' || type === 'Unknown')
    found.evaluates = true;
  // The pattern ends at its delimiter, which may be inside a substitution: `${A/$(/bin/x)/b}`.
  if (type !== undefined && type !== 'Default' && SUBSTITUTES.test(text))
    found.doubts.add('a pattern contains a substitution');
}

const SUBSTITUTES = /[$<>]\(|`|\$\{[ \t\n|]/;

/** Builtins that take names or numbers, in which a subscript is evaluated. */
const EVALUATING: ReadonlySet<string> = new Set(
  'let unset declare typeset local readonly export printf read test [ wait getopts return exit shift'.split(' '),
);

function noteCommand(command: shell.Command, found: Found, shells: number): void {
  if (command.name === undefined) return;
  const words: Known[] = [knownWord(command.name)];
  const texts: string[] = [command.name.text];
  for (const argument of command.args) {
    words.push(argument.type === 'Word' ? knownWord(argument) : knownAssignment(argument));
    texts.push(argument.text);
  }
  noteSimple({ words, texts, open: false }, found, shells);
}

function noteSimple(simple: Simple, found: Found, shells: number): void {
  found.nodes += 1;
  if (found.nodes > MOST_NODES) throw new Error('too many parts');
  found.simples.push(simple);
  if (EVALUATING.has(simple.words[0] ?? '')) found.evaluates = true;
  apply([...effectsOfProgram(simple), ...innerOf(simple)], found, shells);
}

// Effects of a command on the variables of its shell: which builtins set one, where the shell evaluates arithmetic (an assignment there is
// an assignment), and which variables hold text that a program runs. Anything that the text does not show is a doubt, never a guess.

/** What runs besides, or that a variable is set. */
type Effect = Inner | { readonly is: 'sets' };

const SETS: readonly Effect[] = [{ is: 'sets' }];

/** Programs run the content of these variables. */
const RUN = setOf(
  'PROMPT_COMMAND PAGER GIT_PAGER MANPAGER EDITOR VISUAL FCEDIT GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_SSH GIT_SSH_COMMAND GIT_ASKPASS ' +
    'SSH_ASKPASS SUDO_ASKPASS GIT_EXTERNAL_DIFF GIT_PROXY_COMMAND LESSOPEN LESSCLOSE BROWSER RSYNC_RSH',
);
/** The shell expands these, with substitutions, each time it shows them. */
const FILLED_IN = setOf('PS0 PS1 PS2 PS4');
/** Code from their files runs before every program. */
const LOADED = setOf('BASH_ENV ENV LD_PRELOAD LD_AUDIT');

/** The effects of setting a variable to `value`; null: an unknown value. */
function effectsOf(name: string, value: Known): readonly Effect[] {
  if (LOADED.has(name) && value !== '') return [...SETS, doubt(`${name} runs code that is not in the text`)];
  const isRun = RUN.has(name);
  if (!isRun && !FILLED_IN.has(name)) return SETS;
  if (value === null) return [...SETS, doubt(DOUBTS.notInText(name))];
  if (isRun) return value.trim() === '' ? SETS : [...SETS, { is: 'script', text: value }];
  return /[$`\\]/.test(value) ? [...SETS, doubt(`the shell evaluates ${name}`)] : SETS;
}

/** A whole number. Anything else in arithmetic may be a name, whose value is evaluated again, including assignments in it. */
const NUMBER = /^(?:0[xX][\da-fA-F]+|\d+(?:#[\da-zA-Z@_]+)?)$/;
const ARITHMETIC_TESTS = setOf('-eq -ne -lt -le -gt -ge');
const PLAIN_NAME = /^[A-Za-z_]\w*$/;

/** The effects of a node of the grammar, except commands and plain assignments. */
function effectsOfNode(node: shell.SyntaxNode): readonly Effect[] {
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

/** Unparsed arithmetic is not known to be harmless. */
const ofArithmetic = (expression: shell.ArithmeticExpression | undefined, body: string): readonly Effect[] =>
  expression === undefined && body.trim() !== '' ? SETS : [];

function ofTest(test: Extract<shell.TestExpression, { readonly type: 'TestBinary' | 'TestUnary' }>): readonly Effect[] {
  const isNumber = (word: shell.Word): boolean => /^-?\d+$/.test(knownWord(word) ?? '');
  if (test.type === 'TestUnary')
    return /^-[vR]$/.test(test.operator) && !PLAIN_NAME.test(knownWord(test.operand) ?? '') ? SETS : [];
  if (!ARITHMETIC_TESTS.has(test.operator)) return [];
  return isNumber(test.left) && isNumber(test.right) ? [] : SETS;
}

function ofExpansion({ parameter, index, prefix, operation }: shell.ParameterExpansionPart): readonly Effect[] {
  if (index !== undefined || prefix === '!') return [...SETS, ...ofOperation(parameter, operation)];
  return ofOperation(parameter, operation);
}

function ofOperation(parameter: string, operation: shell.ParameterExpansionPart['operation']): readonly Effect[] {
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
      return [doubt(DOUBTS.unreadable(program))];
    case 'jobs':
      return rest.some((word) => word === null || /^-\w*x/.test(word)) ? [doubt('jobs may run a program')] : [];
    default:
      return [];
  }
}

/** `export A=1`, `export 'A=1'`, `declare -n other=A`. */
const ofDeclaration = ({ words, texts }: Simple): readonly Effect[] =>
  words.slice(1).flatMap((word, at): readonly Effect[] => {
    const text = texts[at + 1] ?? '';
    // An assignment in the grammar was judged with its value already.
    if (word === null) return PLAIN_ASSIGNMENT.test(text) ? SETS : [...SETS, doubt(DOUBTS.variable)];
    if (/^[-+]/.test(word))
      return words[0] !== 'export' && /^-\w*n/.test(word) ? [doubt('a variable refers to another')] : [];
    return ofAssigned(word);
  });

const PLAIN_ASSIGNMENT = /^[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=/;

function ofAssigned(word: string): readonly Effect[] {
  const [, name, value] = /^([A-Za-z_]\w*)\+?=(.*)$/s.exec(word) ?? [];
  return name === undefined ? SETS : effectsOf(name, value ?? '');
}

/** The effects of a program on its own variables and on those it passes to another program. */
const effectsOfProgram = (simple: Simple): readonly Effect[] =>
  WRAPPERS.get(programOf(simple) ?? '')?.assigns === true
    ? [...effectsOfBuiltin(simple), ...effectsOfEnvironment(simple)]
    : effectsOfBuiltin(simple);

/** `A=1` before the program of `env` and similar wrappers: the command's own shell keeps its variables. */
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
