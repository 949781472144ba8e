/** Reads the options of a program against the list of those that only read. What is not on the list is more than reading. */
import { type Argument, isInProject, OUTSIDE, type Scope } from './words.ts';

export const FURTHER_FILE = 'a further file would be written';
export const NOT_IN_TEXT = 'it has arguments that are not in the text';

/** A program that only reads with these options. Names are separated by blanks. */
export interface Reader {
  /** Letters of options without a value, with one that is text, with one that names a file. */
  readonly flags?: string;
  readonly values?: string;
  readonly files?: string;
  /** The same for long names. One of `long` may have a value behind a "=". No name is abbreviated. */
  readonly long?: string;
  readonly longValues?: string;
  readonly longFiles?: string;
  /** What the other words are; `pattern`: the first is one, the rest are paths. Absent: paths. */
  readonly operands?: 'paths' | 'text' | 'pattern' | 'none';
  /** Options that give the pattern, so that no operand does. */
  readonly instead?: string;
  /** What the pattern must be, as the script of `sed`: why it does more than read, or null. Absent: any text. */
  readonly script?: (text: string) => string | null;
  /** At most so many operands, each known: a further one would be written. */
  readonly most?: number;
  /** Whatever else it is given, it does no more than read. */
  readonly open?: true;
}

interface Reading {
  readonly reader: Reader;
  readonly scope: Scope;
  readonly operands: Argument[];
  hasPattern: boolean;
}

/** Why `given` (without the program) is more than reading; null when it only reads. */
export function whyMoreThan(reader: Reader, given: readonly Argument[], scope: Scope): string | null {
  const reading: Reading = { reader, scope, operands: [], hasPattern: false };
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

/** How many words it takes, or why it is more than reading. */
function option(text: string, next: Argument | undefined, reading: Reading): 1 | 2 | string {
  return text.startsWith('--') ? longOption(text, next, reading) : shortOptions(text, next, reading);
}

const names = new Map<string, ReadonlySet<string>>();
function has(list: string | undefined, name: string): boolean {
  if (list === undefined) return false;
  const known = names.get(list) ?? new Set(list.split(' '));
  names.set(list, known);
  return known.has(name);
}

function longOption(text: string, next: Argument | undefined, reading: Reading): 1 | 2 | string {
  const { long, longValues, longFiles, instead } = reading.reader;
  const cut = text.indexOf('=');
  const name = text.slice(2, cut === -1 ? undefined : cut);
  if (has(instead, name)) reading.hasPattern = true;
  if (has(long, name)) return 1;
  const isFile = has(longFiles, name);
  if (!isFile && !has(longValues, name)) return `its option --${name} is not known to only read`;
  const isScript = has(instead, name);
  if (cut === -1) return value(next, { isFile, isScript }, reading) ?? 2;
  return value({ is: 'known', text: text.slice(cut + 1) }, { isFile, isScript }, reading) ?? 1;
}

function shortOptions(text: string, next: Argument | undefined, reading: Reading): 1 | 2 | string {
  const { flags = '', values = '', files = '' } = reading.reader;
  for (let at = 1; at < text.length; at += 1) {
    const letter = text.charAt(at);
    if (files.includes(letter) || values.includes(letter)) return shortValue(letter, text.slice(at + 1), next, reading);
    if (has(reading.reader.instead, letter)) reading.hasPattern = true;
    if (!flags.includes(letter)) return `its option -${letter} is not known to only read`;
  }
  return 1;
}

/** The value stands behind the letter, or is the next word. */
function shortValue(letter: string, rest: string, next: Argument | undefined, reading: Reading): 1 | 2 | string {
  const { files = '', instead } = reading.reader;
  const kind = { isFile: files.includes(letter), isScript: has(instead, letter) };
  if (kind.isScript) reading.hasPattern = true;
  return rest === '' ? (value(next, kind, reading) ?? 2) : (value({ is: 'known', text: rest }, kind, reading) ?? 1);
}

interface Kind {
  readonly isFile: boolean;
  readonly isScript: boolean;
}

function value(given: Argument | undefined, { isFile, isScript }: Kind, reading: Reading): string | null {
  if (given === undefined) return null;
  return isScript && !isFile ? whyScript(given, reading) : whyWord(given, isFile, reading);
}

function whyScript(given: Argument, reading: Reading): string | null {
  const { script } = reading.reader;
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
  if (kind === 'none' && operands.length > 0) return 'it has arguments that are not known to only read';
  if (most === undefined) return null;
  const isOver = operands.length > most || operands.some(({ is }) => is !== 'known');
  return isOver ? FURTHER_FILE : null;
}

function whyWord(word: Argument, isPath: boolean, { reader, scope }: Reading): string | null {
  if (word.is === 'known') return !isPath || isInProject(word.text, scope) ? null : OUTSIDE;
  if (word.is === 'inside' || reader.open === true) return null;
  return NOT_IN_TEXT;
}
