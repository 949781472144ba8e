/** Words of a shell command after quote removal and escapes. A word that depends on anything but the text (a variable, a substitution, a
 * file name pattern, a translation) is unknown. */
import * as shell from 'unbash';
import { tried } from '../../domain/result.ts';

/** Doubts about a command: what the text does not show. */
export const DOUBTS = {
  words: 'it has words that only the shell knows',
  substitution: 'a substitution could not be read',
  variable: 'it sets a variable that the text does not name',
  program: 'what it runs is not in the text',
  file: 'it writes to a file',
  notInText: (name: string): string => `what ${name} runs is not in the text`,
  unreadable: (name: string): string => `what ${name} runs cannot be determined`,
} as const;

/** A set of words that are separated by blanks. */
export const setOf = (words: string): ReadonlySet<string> => new Set(words.split(' '));

/** A word after quote removal; null when the text alone does not determine it or the number of words it becomes. */
export type Known = string | null;

/** One program with its arguments. */
export interface Simple {
  readonly words: readonly Known[];
  /** The same words as written. */
  readonly texts: readonly string[];
  /** Further unknown arguments follow, as with `xargs`. */
  readonly open: boolean;
}

interface KnownText {
  readonly text: string;
  readonly whole: boolean;
}

const UNKNOWN: KnownText = { text: '', whole: false };

/** The word as the shell would expand it. */
export function knownWord(word: shell.Word): Known {
  const { text, whole } = beginning(word);
  return whole ? text : null;
}

const beginning = ({ parts, value }: shell.Word): KnownText =>
  parts === undefined ? { text: value, whole: true } : joined(parts.map(textOfPart), '');

function textOfPart(part: shell.WordPart): KnownText {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
      return { text: part.value, whole: true };
    case 'AnsiCQuoted':
      // A NUL ends the string in the shell, but not here.
      return part.value.includes('\0') || part.text.includes('\\0') ? UNKNOWN : { text: part.value, whole: true };
    case 'DoubleQuoted':
      return joined(part.parts.map(textOfPart), '');
    default:
      return UNKNOWN;
  }
}

/** The text up to the first piece whose end is unknown. */
function joined(pieces: readonly KnownText[], between: string): KnownText {
  const cut = pieces.findIndex(({ whole }) => !whole);
  const known = cut === -1 ? pieces : pieces.slice(0, cut + 1);
  return { text: known.map(({ text }) => text).join(between), whole: cut === -1 };
}

/** `name=value` as an argument, as with `export`. */
export function knownAssignment({ name, index, value, text }: shell.Assignment): Known {
  if (index !== undefined || value.type !== 'Word') return null;
  const known = knownWord(value);
  return known === null ? null : `${name}${text.startsWith(`${name}+`) ? '+' : ''}=${known}`;
}

/** The last part of a path: `/usr/bin/curl` is `curl`. */
export const programOf = ({ words }: Simple): Known => baseName(words[0] ?? null);

export const baseName = (word: Known): Known => (word === null ? null : (word.split('/').at(-1) ?? ''));

// What a shell command certainly prints first, because it begins with an `echo` or a `printf`. Parsed with the shell's grammar; text that
// depends on a variable, a file or another command is never certain.

/** Longer commands are not read. */
const MOST_CHARACTERS = 100_000;

/** The first line that `command` prints, if its first program is an `echo` or a `printf` that contains the whole line, without pipe, redirection or
 * background. The two characters `\n` end a line like a real line break. Otherwise null; never throws. */
export function firstLineEchoed(command: string): string | null {
  if (command.length > MOST_CHARACTERS) return null;
  return tried(() => {
    const first = firstCommand(shell.parse(command).commands[0]);
    const said = first === null ? null : saidBy(first);
    return said === null ? null : firstLine(said);
  }, null);
}

/** Whether a here-document begins in `command` and does not end. The shell would use what there is and write half a file. */
export function isHereDocOpen(command: string): boolean {
  const isOpen = (node: shell.SyntaxNode): boolean => {
    if (node.type === 'HereDoc') return node.closing === undefined || node.delimiter === undefined;
    let open = false;
    shell.forEachChild(node, (child) => void (open ||= isOpen(child)));
    return open;
  };
  return (
    command.length <= MOST_CHARACTERS && command.includes('<<') && tried(() => isOpen(shell.parse(command)), false)
  );
}

/** The program that runs before anything else in the script, if it is a simple command. */
function firstCommand(statement: shell.Statement | undefined): shell.Command | null {
  if (statement === undefined || statement.background === true) return null;
  const { command } = statement;
  const node = command.type === 'AndOr' ? command.commands[0] : command;
  if (node?.type !== 'Command') return null;
  return node.prefix.length === 0 && node.redirects.length === 0 ? node : null;
}

function saidBy({ name, args }: shell.Command): KnownText | null {
  const program = name === undefined ? null : knownWord(name);
  const words = args.flatMap((one) => (one.type === 'Word' ? [one] : []));
  // `echo a=1` has an argument that looks like an assignment, which is not accepted.
  if (words.length < args.length) return null;
  if (program === 'echo') return echoed(words);
  return program === 'printf' ? printed(words) : null;
}

function echoed(words: readonly shell.Word[]): KnownText {
  const from = words.findIndex((word) => !/^-[neE]+$/.test(knownWord(word) ?? ''));
  const options = words.slice(0, from === -1 ? words.length : from);
  const said = joined(words.slice(options.length).map(beginning), ' ');
  return options.some(({ value }) => value.includes('n')) ? { ...said, whole: false } : said;
}

/** `%s` and `%b` stand for the words after the format, once; after any other sign the rest is unknown. */
function printed(words: readonly shell.Word[]): KnownText | null {
  const [format, ...values] = words.map(beginning);
  if (format === undefined || format.text.startsWith('-')) return null;
  let next = 0;
  const pieces: KnownText[] = [];
  for (const piece of format.text.split(/(%.)/s)) {
    if (piece === '%s' || piece === '%b') pieces.push(values[next++] ?? { text: '', whole: true });
    else if (piece === '%%') pieces.push({ text: '%', whole: true });
    else pieces.push({ text: piece, whole: !/^%./s.test(piece) });
  }
  // It does not end the line by itself.
  return joined([...pieces, { text: '', whole: false }], '');
}

function firstLine({ text, whole }: KnownText): string | null {
  const end = text.search(/\n|\\n/);
  if (end !== -1) return text.slice(0, end);
  return whole ? text : null;
}
