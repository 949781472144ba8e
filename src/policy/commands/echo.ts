/**
 * What a shell command prints first for sure, because it begins with an `echo` or a `printf` of it. Read from the text with
 * the shell's grammar; what depends on a variable, a file or another command is never sure.
 */
import { type Command, type Statement, type SyntaxNode, type Word, forEachChild, parse } from 'unbash';
import { knownWord } from './words.ts';

/** Longer commands are not read. */
const MOST_CHARACTERS = 100_000;

/**
 * The first line that `command` prints, when its very first program is an `echo` or a `printf` whose text says that line whole:
 * in no pipe, with no redirection, not in the background. `\n` ends a line as well as a real end does. Null otherwise; never throws.
 */
export function firstLineEchoed(command: string): string | null {
  if (command.length > MOST_CHARACTERS) return null;
  try {
    const first = firstCommand(parse(command).commands[0]);
    const said = first === null ? null : saidBy(first);
    return said === null ? null : firstLine(said);
  } catch {
    return null;
  }
}

/** Does a here-document begin in `command` and not end? The shell would take what there is, and write half a file. */
export function isHereDocOpen(command: string): boolean {
  const isOpen = (node: SyntaxNode): boolean => {
    if (node.type === 'HereDoc') return node.closing === undefined || node.delimiter === undefined;
    let open = false;
    forEachChild(node, (child) => void (open ||= isOpen(child)));
    return open;
  };
  try {
    return command.length <= MOST_CHARACTERS && command.includes('<<') && isOpen(parse(command));
  } catch {
    return false;
  }
}

/** The program that runs before anything else of the script, when it is a plain one on its own. */
function firstCommand(statement: Statement | undefined): Command | null {
  if (statement === undefined || statement.background === true) return null;
  const { command } = statement;
  const node = command.type === 'AndOr' ? command.commands[0] : command;
  if (node?.type !== 'Command') return null;
  return node.prefix.length === 0 && node.redirects.length === 0 ? node : null;
}

/** What was read of a text: all of it, with the end of its line, or only how it begins. */
interface Said {
  readonly text: string;
  readonly whole: boolean;
}

function saidBy({ name, args }: Command): Said | null {
  const program = name === undefined ? null : knownWord(name);
  const words = args.flatMap((one) => (one.type === 'Word' ? [one] : []));
  // `echo a=1` is an argument that looks like an assignment: too odd to be meant.
  if (words.length < args.length) return null;
  if (program === 'echo') return echoed(words);
  return program === 'printf' ? printed(words) : null;
}

function echoed(words: readonly Word[]): Said {
  const from = words.findIndex((word) => !/^-[neE]+$/.test(knownWord(word) ?? ''));
  const options = words.slice(0, from === -1 ? words.length : from);
  const said = joined(words.slice(options.length).map(beginning), ' ');
  return options.some(({ value }) => value.includes('n')) ? { ...said, whole: false } : said;
}

/** `%s` and `%b` stand for the words that follow the format, once; with any other sign nothing more is known. */
function printed(words: readonly Word[]): Said | null {
  const [format, ...values] = words.map(beginning);
  if (format === undefined || format.text.startsWith('-')) return null;
  let next = 0;
  const pieces: Said[] = [];
  for (const piece of format.text.split(/(%.)/s)) {
    if (piece === '%s' || piece === '%b') pieces.push(values[next++] ?? { text: '', whole: true });
    else if (piece === '%%') pieces.push({ text: '%', whole: true });
    else pieces.push({ text: piece, whole: !/^%./s.test(piece) });
  }
  // It ends no line by itself.
  return joined([...pieces, { text: '', whole: false }], '');
}

/** Up to the first that isn't known to its end. */
function joined(pieces: readonly Said[], between: string): Said {
  const cut = pieces.findIndex(({ whole }) => !whole);
  const known = cut === -1 ? pieces : pieces.slice(0, cut + 1);
  return { text: known.map(({ text }) => text).join(between), whole: cut === -1 };
}

/** The part of a word that its text alone says. */
function beginning(word: Word): Said {
  const all = knownWord(word);
  if (all !== null) return { text: all, whole: true };
  let text = '';
  for (const part of word.parts ?? []) {
    if (part.type === 'DoubleQuoted') {
      const { text: inner, whole } = quoted(part.parts);
      text += inner;
      if (!whole) break;
    } else if (part.type === 'Literal' || part.type === 'SingleQuoted') text += part.value;
    else break;
  }
  return { text, whole: false };
}

function quoted(parts: readonly { readonly type: string; readonly value?: unknown }[]): Said {
  const cut = parts.findIndex(({ type }) => type !== 'Literal');
  const known = cut === -1 ? parts : parts.slice(0, cut);
  return { text: known.map(({ value }) => String(value)).join(''), whole: cut === -1 };
}

function firstLine({ text, whole }: Said): string | null {
  const end = text.search(/\n|\\n/);
  if (end !== -1) return text.slice(0, end);
  return whole ? text : null;
}
