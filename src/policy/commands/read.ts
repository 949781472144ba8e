/**
 * Reads a shell command with a real shell grammar: every program it would run, wherever it stands (lists, pipes,
 * substitutions, here-documents, function bodies, wrappers), and what keeps that list from being sure.
 */
import {
  type Command,
  type HereDoc,
  type ParameterExpansionPart,
  type ParsedScript,
  type Redirect,
  type SyntaxNode,
  type Word,
  forEachChild,
  parse,
} from 'unbash';
import { innerOf } from './wrap.ts';
import { type Effect, effectsOf, effectsOfNode, effectsOfProgram } from './variables.ts';
import { type Known, type Simple, knownAssignment, knownWord } from './words.ts';

export interface Reading {
  readonly simples: readonly Simple[];
  /** Why a program might run that is not in `simples`; empty: there is none. */
  readonly doubts: readonly string[];
  /** What the command does beside running `simples` with plain words: more than an allow rule can speak of. */
  readonly more: readonly string[];
}

/** Longer commands are not read. */
const MOST_CHARACTERS = 10_000;
const MOST_NODES = 20_000;
/** Nested ones are read over and over: more would hold up the run for longer than a key press may. */
const MOST_SUBSTITUTIONS = 300;
const SUBSTITUTION = /\$[({[]|`|[<>]\(|\(\(/g;
const MOST_SHELLS = 8;
/** A terminal may hide them, or a shell see blanks in them: all but letters, marks, signs, blanks of ASCII; and fillers. */
const HIDDEN = /[^\t\n\x20-\x7e\p{L}\p{M}\p{N}\p{P}\p{S}]|\u034f|\u115f|\u1160|\u17b4|\u17b5|\u3164|\uffa0/u;

/** Never throws. The same for the same text. */
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
  if (shells > MOST_SHELLS) found.doubts.add('its shells are nested too deep');
  else visit(parse(text), found, shells);
}

function visit(node: SyntaxNode, found: Found, shells: number): void {
  found.nodes += 1;
  if (found.nodes > MOST_NODES) throw new Error('too many parts');
  note(node, found, shells);
  forEachChild(node, (child) => visit(child, found, shells));
}

function note(node: SyntaxNode, found: Found, shells: number): void {
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
      if (node.script === undefined) found.doubts.add('a substitution could not be read');
      return;
    default:
      if (node.type.startsWith('Arithmetic') || node.type.startsWith('Test')) found.evaluates = true;
  }
}

function apply(effects: readonly Effect[], found: Found, shells: number): void {
  for (const effect of effects) {
    if (effect.is === 'sets') found.more.add('it sets a variable');
    else if (effect.is === 'doubt') found.doubts.add(effect.why);
    else readScript(effect.text, found, shells + 1);
  }
}

function noteErrors({ errors }: ParsedScript, found: Found): void {
  const [error] = errors ?? [];
  if (error !== undefined) found.doubts.add(`it is not whole: ${error.message}`);
}

const HISTORY = /![^\s=(]/;
const CODE = /\$\(|`|\$\{/;

function noteWord(word: Word, found: Found): void {
  const known = knownWord(word);
  if (known === null) found.more.add('it has words that only the shell knows');
  else if (CODE.test(known)) found.code = true;
  const unquoted = word.parts === undefined ? word.text : word.parts.map(unquotedText).join('');
  if (HISTORY.test(unquoted)) found.doubts.add('it may mean an earlier command (!)');
}

/** Where the shell of a terminal would look for `!`. */
const unquotedText = (part: NonNullable<Word['parts']>[number]): string =>
  part.type === 'Literal' || part.type === 'DoubleQuoted' || part.type === 'ExtendedGlob' ? part.text : '';

/** To nowhere or to another descriptor; anything else writes a file, or opens a connection. */
function noteRedirect({ operator, target }: Redirect, found: Found): void {
  const to = (target === undefined ? null : knownWord(target)) ?? '';
  const harmless = operator === '<' ? READ.test(to) : operator.endsWith('&') ? DESCRIPTOR.test(to) : to === '/dev/null';
  if (!harmless) found.more.add(operator === '<' ? 'what it reads is not plain' : 'it writes to a file');
}

const DESCRIPTOR = /^(?:\d+-?|-)$/;
const READ = /^(?:\/dev\/null|(?!\/dev\/|\/+dev\/|\/proc\/).+)$/s;

function noteHereDoc({ closing, delimiter, body }: HereDoc, found: Found): void {
  if (closing === undefined || delimiter === undefined) found.doubts.add('a here-document has no end');
  if (CODE.test(body.text)) found.code = true;
}

function noteExpansion({ index, operation, prefix, text }: ParameterExpansionPart, found: Found): void {
  const type = operation?.type;
  if (index !== undefined || prefix === '!' || type === 'Slice' || type === 'Transform' || type === 'Unknown')
    found.evaluates = true;
  // Where the pattern ends is found by its delimiter, which may stand in a substitution: `${A/$(/bin/x)/b}`.
  if (type !== undefined && type !== 'Default' && SUBSTITUTES.test(text))
    found.doubts.add('a substitution stands in a pattern');
}

const SUBSTITUTES = /[$<>]\(|`|\$\{[ \t\n|]/;

/** Builtins that take names or numbers, in which a subscript is evaluated. */
const EVALUATING: ReadonlySet<string> = new Set(
  'let unset declare typeset local readonly export printf read test [ wait getopts return exit shift'.split(' '),
);

function noteCommand(command: Command, found: Found, shells: number): void {
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
  apply(effectsOfProgram(simple), found, shells);
  for (const inner of innerOf(simple)) {
    if (inner.is === 'doubt') found.doubts.add(inner.why);
    else if (inner.is === 'script') readScript(inner.text, found, shells + 1);
    else if (shells >= MOST_SHELLS) found.doubts.add('its programs are nested too deep');
    else noteSimple(inner.simple, found, shells + 1);
  }
}
