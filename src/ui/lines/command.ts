/** A command of line mode in words: its name, its arguments and help, and where it can be used; and which command a typed line means. */
import { nearest } from '../../domain/text/text.ts';
import { wrongUse } from '../../app/process/index.ts';
import { listed } from './agents.ts';

/** Where the person is: before a run, at its plan, in an active run, after its end. */
export type Place = 'start' | 'plan' | 'run' | 'result';

export interface CommandWords {
  readonly name: string;
  /** Other words for the command, shorter ones first. */
  readonly short?: readonly string[];
  /** `N TEXT`, optional ones in brackets; absent: the command takes none. */
  readonly arguments?: string;
  /** One sentence. */
  readonly help: string;
  readonly where: readonly Place[];
}

/** The first word and the rest of a typed text. */
export function headOf(typed: string): readonly [string, string] {
  const [, first = '', rest = ''] = /^\s*(\S*)\s*([^]*)$/.exec(typed) ?? [];
  return [first, rest.trim()];
}

/** The words of a typed text; text in quotes is one word. */
export const splitWords = (typed: string): readonly string[] =>
  Array.from(typed.matchAll(/"([^"]*)"|\S+/g), ([word, quoted]) => quoted ?? word);

interface Meant<Command> {
  readonly command: Command;
  readonly rest: string;
}

/** The command that a typed line means, or null for other text. Throws what is near where several commands begin so, one is spelled similarly,
 * or it is for another place. `exact`: only whole words of commands count, with as many arguments as the command takes. */
export function meantBy<Command extends CommandWords>(
  typed: string,
  table: readonly Command[],
  place: Place,
  exact = false,
): Meant<Command> | null {
  const isMarked = /^\s*[/:]/.test(typed);
  const [word, rest] = headOf(typed.replace(/^\s*[/:]/, ''));
  const here = table.filter(({ where }) => where.includes(place));
  const named = here.find((command) => isNamed(command, word));
  if (exact && !isMarked && (named === undefined || !takes(named, rest))) return null;
  const command = named ?? begunBy(word.toLowerCase(), here);
  if (command !== null) return { command, rest };
  refuseOtherPlace(word.toLowerCase(), table);
  refuseTypo(word, here);
  if (!isMarked) return null;
  throw wrongUse(noCommand(word));
}

/** What a line means where any text is a task or a message: only whole words of commands count. */
export function meantInSpeech<Command extends CommandWords>(
  line: string,
  table: readonly Command[],
  place: Place,
): Meant<Command> | null {
  const exact = meantBy(line, table, place, true);
  // A single word that is similar to a command is rarely a task.
  return exact === null && !/\s/.test(line) ? meantBy(line, table, place) : exact;
}

export const isNamed = ({ name, short }: CommandWords, word: string): boolean =>
  name === word.toLowerCase() || short?.includes(word) === true;

/** Is the number of typed arguments right? It is for `mode yolo`, and not for `mode of failure is unclear`. */
function takes({ arguments: wanted = '' }: CommandWords, rest: string): boolean {
  if (/\b(?:TEXT|HINT|WORDS)\b/.test(wanted)) return true;
  const given = wordsIn(rest);
  return given >= wordsIn(wanted.replaceAll(/\[[^\]]*\]/g, '')) && given <= wordsIn(wanted);
}

const wordsIn = (text: string): number => text.split(/\s+/).filter((word) => word !== '').length;

/** A shorter prefix is a typo, or an answer such as `no`. */
const MIN_PREFIX_LENGTH = 3;

function begunBy<Command extends CommandWords>(word: string, here: readonly Command[]): Command | null {
  const found = word.length < MIN_PREFIX_LENGTH ? [] : here.filter(({ name }) => name.startsWith(word));
  if (found.length > 1) throw wrongUse(`"${word}" could be ${listed(found.map(({ name }) => name))}. ${NOTHING_DONE}`);
  return found[0] ?? null;
}

const NOTHING_DONE = 'Nothing was done';

function refuseOtherPlace(word: string, table: readonly CommandWords[]): void {
  const found = table.find(({ name }) => name === word);
  const places = found?.where.map((place) => PLACES[place]) ?? [];
  if (found !== undefined) throw wrongUse(`${word} is for ${listed(places)}. ${NOTHING_DONE}`);
}

const PLACES: Readonly<Record<Place, string>> = {
  start: 'the start, before a run',
  plan: 'a plan that waits for approval',
  run: 'an active run',
  result: 'a finished run',
};

/** A shorter word is rarely a mistyped command. */
const MIN_TYPO_LENGTH = 4;

function refuseTypo(word: string, here: readonly CommandWords[]): void {
  if (!/^[a-z-]+$/i.test(word) || word.length < MIN_TYPO_LENGTH) return;
  const close = nearest(
    word,
    here.map(({ name }) => name),
  );
  if (close !== null) throw wrongUse(`unknown command "${word}". Did you mean ${close}? ${NOTHING_DONE}`);
}

export const noCommand = (word: string): string => `Unknown command "${word}". Try help`;

/** `message N TEXT (or msg): Message agent.` */
export function usageOf({ name, short = [], arguments: wanted = '', help }: CommandWords): string {
  const also = short.length === 0 ? '' : ` (or ${listed(short)})`;
  return `${name}${wanted === '' ? '' : ` ${wanted}`}${also}: ${help}`;
}
