/** Checks a program's arguments against the options with which it only reads. Anything not listed counts as more than reading. */
import type { Word, WordPart } from 'unbash';
import { isAmong, lengthOf, optionIn, type Options } from '../options.ts';
import { knownWord } from '../words.ts';
import { namesOf } from '../../../domain/text/glob.ts';

export const FURTHER_FILE = 'it would write another file';
export const NOT_IN_TEXT = 'it has arguments that are not in the text';

/** The meanings of the words of a program that are no options; `pattern`: the first is a pattern, the rest are paths. */
export const OPERANDS = ['paths', 'text', 'pattern', 'none'] as const;

/** A program that only reads with these options. */
export interface Reader extends Options {
  /** Absent: paths. */
  readonly operands?: (typeof OPERANDS)[number];
  /** Options that give the pattern, so that no operand does. */
  readonly instead?: string;
  /** The most operands, all known; a further one would be written. */
  readonly most?: number;
  /** It only reads, whatever other arguments it has. */
  readonly open?: boolean;
}

/** Why a pattern (such as a `sed` script) does more than read, or null. */
export type ScriptJudge = (text: string) => string | null;

interface Reading {
  readonly reader: Reader;
  readonly script: ScriptJudge | undefined;
  readonly scope: Scope;
  readonly operands: Argument[];
  hasPattern: boolean;
}

/** Why `given` (without the program) is more than reading; null when it only reads. Without `script`, any pattern is accepted. */
export function whyMoreThan(
  reader: Reader,
  given: readonly Argument[],
  scope: Scope,
  script?: ScriptJudge,
): string | null {
  const reading: Reading = { reader, script, scope, operands: [], hasPattern: false };
  for (let at = 0; at < given.length; ) {
    const argument = given[at] ?? { is: 'any' };
    if (argument.is === 'known' && argument.text === '--') {
      reading.operands.push(...given.slice(at + 1).map((rest) => (rest.is === 'leading' ? INSIDE : rest)));
      break;
    }
    if (argument.is === 'known' && /^-./.test(argument.text)) {
      const used = option(argument.text, given[at + 1], reading);
      if (typeof used === 'string') return used;
      at += used;
    } else {
      reading.operands.push(argument);
      at += 1;
    }
  }
  return whyOperands(reading);
}

const INSIDE: Argument = { is: 'inside' };

/** How many words the option takes, or why it is more than reading. */
function option(text: string, next: Argument | undefined, reading: Reading): 1 | 2 | string {
  const found = optionIn(text, reading.reader);
  if (typeof found === 'string') return `its option ${found} is not known to be read-only`;
  const givesPattern = (name: string): boolean => isAmong(reading.reader.instead, name);
  if (found.names.some(givesPattern)) reading.hasPattern = true;
  const given = found.value === null ? next : ({ is: 'known', text: found.value } as const);
  if (found.takes === 'nothing' || given === undefined) return lengthOf(found);
  const isScript = found.takes === 'text' && givesPattern(found.names.at(-1) ?? '');
  const why = isScript ? whyScript(given, reading) : whyWord(given, found.takes === 'file', reading);
  return why ?? lengthOf(found);
}

function whyScript(given: Argument, reading: Reading): string | null {
  const { script } = reading;
  if (script === undefined) return whyWord(given, false, reading);
  return given.is === 'known' ? script(given.text) : 'its script is not in the text';
}

function whyOperands(reading: Reading): string | null {
  const { operands: kind = 'paths' } = reading.reader;
  const odd = whyCount(reading);
  if (odd !== null) return odd;
  const paths = kind === 'pattern' && !reading.hasPattern ? 1 : 0;
  for (const [at, operand] of reading.operands.entries()) {
    const why = at < paths ? whyScript(operand, reading) : whyWord(operand, kind !== 'text', reading);
    if (why !== null) return why;
  }
  return null;
}

function whyCount({ reader: { most, operands: kind }, operands }: Reading): string | null {
  if (kind === 'none' && operands.length > 0) return 'it has arguments that are not known to be read-only';
  if (most === undefined) return null;
  const isOver = operands.length > most || operands.some(({ is }) => is !== 'known');
  return isOver ? FURTHER_FILE : null;
}

function whyWord(word: Argument, isPath: boolean, { reader, scope }: Reading): string | null {
  if (word.is === 'known') return !isPath || isInProject(word.text, scope) ? null : OUTSIDE;
  if (word.is === 'outside' && isPath) return OUTSIDE;
  return word.is === 'inside' || reader.open === true ? null : NOT_IN_TEXT;
}

// The words of a command for the read-only check: the text where it is known, otherwise what is certain about it; and where a path leads,
// by its text alone.

/** `inside`: paths in the project that do not begin with "-" (a file name pattern with a literal beginning, `$f` of a loop). `leading`:
 * paths in the project that may begin with "-" (`*.ts`). `one`: a single unknown word (`"$(ls)"`); `any`: any number of them; `outside`: the
 * same, of which one is a path outside of the project (`$f` of a loop over `/etc`). */
export type Argument =
  | { readonly is: 'known'; readonly text: string }
  | { readonly is: 'inside' | 'leading' | 'one' | 'any' | 'outside' };

/** The project and the folder in which the command starts: absolute, without links, `.` and `..`. */
export type ReadingPlace = Readonly<Record<'root' | 'folder', string>>;

export interface Scope {
  readonly place: ReadingPlace;
  /** The command changes its folder, so a path with leading `..` may lead anywhere. */
  readonly moves: boolean;
  /** Variables set by loops and `read`, in the order of the text. `whole`: the text of the variable stays one word without quotes. */
  readonly variables: Map<string, { readonly is: (typeof CERTAIN)[number]; readonly whole: boolean }>;
  /** Why the script of a substitution does more than read; null when it only reads. */
  readonly script: (part: Extract<WordPart, { readonly script: unknown }>) => string | null;
}

/** What is known of a variable's value, the most certain first. */
export const CERTAIN = ['inside', 'any', 'outside'] as const;

export const OUTSIDE = 'a path may lie outside the project';
const UNKNOWN_WORD = 'it has words that are not in the text';

/** The word, or why the command cannot be judged by its text. */
export function argumentOf(word: Word, scope: Scope): Argument | string {
  const text = knownWord(word);
  if (text !== null) return { is: 'known', text };
  const shape: Shape = { text: '', unknown: null, leading: false, patterns: false, outside: false };
  for (const part of word.parts ?? []) {
    const why = addPart(part, shape, scope, false);
    if (why !== null) return why;
  }
  if (shape.unknown !== null) return { is: shape.outside ? 'outside' : shape.unknown };
  // File names that match `--include=*.ts` are the same option with another value.
  if (/^--[a-z][a-z-]*=/.test(shape.text)) return { is: 'known', text: shape.text };
  return leadsOut(shape, scope) ? OUTSIDE : { is: shape.leading ? 'leading' : 'inside' };
}

const leadsOut = ({ text, patterns }: Shape, scope: Scope): boolean =>
  text.startsWith('-') || !isInProject(text, scope) || (patterns && mayMatchParent(text));

/** A pattern that begins with a dot may match `..`. */
const mayMatchParent = (text: string): boolean =>
  text.split('/').some((name) => /^\.(?![A-Za-z0-9]).*[*?{[]/.test(name));

/** Whether a path of the text, which the shell may divide at blanks and take for a pattern, leads out of the project. */
export const namesOutside = (text: string, scope: Scope): boolean =>
  text.split(/\s+/).some((path) => !isInProject(path, scope) || mayMatchParent(path));

interface Shape {
  /** The text with patterns as written, and a letter for each unknown part. */
  text: string;
  unknown: 'one' | 'any' | null;
  leading: boolean;
  patterns: boolean;
  /** A part is a variable that may be a path outside of the project. */
  outside: boolean;
}

function addPart(part: WordPart, shape: Shape, scope: Scope, quoted: boolean): string | null {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
      shape.text += part.value;
      return null;
    case 'AnsiCQuoted':
      shape.text += part.value;
      return part.value.includes('\0') || part.text.includes(String.raw`\0`) ? UNKNOWN_WORD : null;
    case 'DoubleQuoted': {
      for (const child of part.parts) {
        const why = addPart(child, shape, scope, true);
        if (why !== null) return why;
      }
      return null;
    }
    case 'Glob':
      return addPattern(part.text, shape, /[$`\\'"/]/);
    case 'BraceExpansion':
      return addPattern(part.text, shape, /[$`\\'"~]|\.\.|[{,]\//);
    case 'SimpleExpansion':
      return addVariable(part.text.slice(1), shape, scope, quoted);
    case 'ParameterExpansion':
      return addExpansion(part, shape, scope, quoted);
    case 'ProcessSubstitution':
      shape.text += 'x';
      return part.operator === '<' ? scope.script(part) : 'it writes to a program';
    case 'CommandExpansion':
      hide(shape, quoted);
      return scope.script(part);
    default:
      return UNKNOWN_WORD;
  }
}

function addPattern(text: string, shape: Shape, odd: RegExp): string | null {
  if (odd.test(text)) return UNKNOWN_WORD;
  if (shape.text === '') shape.leading = true;
  shape.patterns = true;
  shape.text += text;
  return null;
}

function addExpansion(
  { index, prefix, operation, parameter }: Extract<WordPart, { readonly type: 'ParameterExpansion' }>,
  shape: Shape,
  scope: Scope,
  quoted: boolean,
): string | null {
  if (index !== undefined || prefix !== undefined) return UNKNOWN_WORD;
  if (operation === undefined) return addVariable(parameter, shape, scope, quoted);
  // `${f##}`: a part of it, which may begin with anything.
  if (operation.type !== 'Remove' || !/^[\w.*?/-]*$/.test(operation.operand.text) || !scope.variables.has(parameter))
    return UNKNOWN_WORD;
  hide(shape, quoted);
  return null;
}

const hide = (shape: Shape, quoted: boolean): void =>
  void (shape.unknown = quoted && shape.unknown !== 'any' ? 'one' : 'any');

function addVariable(name: string, shape: Shape, { variables }: Scope, quoted: boolean): string | null {
  shape.text += 'x';
  // The last exit code, the number of arguments, the process id: digits.
  if (/^[?#$]$/.test(name)) return null;
  const known = variables.get(name);
  if (known === undefined) return UNKNOWN_WORD;
  if (known.is !== 'inside' || !(quoted || known.whole)) hide(shape, quoted);
  shape.outside ||= known.is === 'outside';
  return null;
}

/** Decided by the text; links are left to the sandbox. */
export function isInProject(path: string, { place, moves }: Pick<Scope, 'place' | 'moves'>): boolean {
  if (path === '/dev/null' || path === '-') return true;
  if (path.startsWith('~')) return false;
  if (path.startsWith('/')) return `${normal(path)}/`.startsWith(`${place.root}/`);
  let depth = moves ? 0 : namesOf(place.folder.slice(place.root.length)).length;
  for (const name of namesOf(path)) {
    depth += name === '..' ? -1 : 1;
    if (depth < 0) return false;
  }
  return true;
}

function normal(path: string): string {
  const names: string[] = [];
  for (const name of namesOf(path)) {
    if (name === '..') names.pop();
    else names.push(name);
  }
  return `/${names.join('/')}`;
}
