/** How the tables of this folder write the options of programs, and how a word is read by them. */

/** Names in one text or in several lines, separated by blanks. */
type Names = string | readonly string[];

export interface Options {
  /** Letters of options without a value, with a text value, and with a file name. */
  readonly flags?: string;
  readonly values?: string;
  readonly files?: string;
  /** The same for long names. A name in `long` may have a value after "=". Abbreviations are not accepted. */
  readonly long?: Names;
  readonly longValues?: Names;
  readonly longFiles?: Names;
}

/** The rows of a table by each of their names. A map, so that names of Object.prototype are not found. */
export const rowsOf = <T>(table: Readonly<Record<string, T>>): ReadonlyMap<string, T> =>
  new Map(Object.entries(table).flatMap(([names, row]) => names.split(' ').map((name) => [name, row] as const)));

const SETS = new Map<Names, ReadonlySet<string>>();

/** Whether `name` is among `names`. Each list is divided once, because a command may have thousands of words. */
export function isAmong(names: Names | undefined, name: string): boolean {
  if (names === undefined) return false;
  const known = SETS.get(names) ?? new Set([names].flat().join(' ').split(' '));
  SETS.set(names, known);
  return known.has(name);
}

export interface Option {
  /** Letters or a name, without dashes. */
  readonly names: readonly string[];
  /** The value of the last of them. */
  readonly takes: 'nothing' | 'text' | 'file';
  /** That value where it is in the same word; null: it is the next word, or there is none. */
  readonly value: string | null;
}

/** The options in `word`, which begins with a dash; otherwise the first that the row does not have. */
export const optionIn = (word: string, row: Options): Option | string =>
  word.startsWith('--') ? longOption(word, row) : letters(word, row);

/** The number of words that an option is: its value may be the next one. */
export const lengthOf = ({ takes, value }: Option): 1 | 2 => (takes !== 'nothing' && value === null ? 2 : 1);

function longOption(word: string, { long, longValues, longFiles }: Options): Option | string {
  const cut = word.indexOf('=');
  const name = word.slice(2, cut === -1 ? undefined : cut);
  const value = cut === -1 ? null : word.slice(cut + 1);
  if (isAmong(long, name)) return { names: [name], takes: 'nothing', value };
  if (isAmong(longFiles, name)) return { names: [name], takes: 'file', value };
  return isAmong(longValues, name) ? { names: [name], takes: 'text', value } : `--${name}`;
}

function letters(word: string, { flags = '', values = '', files = '' }: Options): Option | string {
  const all = Array.from(word.slice(1));
  const at = all.findIndex((letter) => !flags.includes(letter) || values.includes(letter) || files.includes(letter));
  const letter = all[at];
  if (letter === undefined) return { names: all, takes: 'nothing', value: null };
  if (!values.includes(letter) && !files.includes(letter)) return `-${letter}`;
  const rest = all.slice(at + 1).join('');
  const takes = files.includes(letter) ? 'file' : 'text';
  return { names: all.slice(0, at + 1), takes, value: rest === '' ? null : rest };
}
