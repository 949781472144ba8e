/**
 * A command of line mode: its word, arguments and help, and where it can be used. Here a typed line is matched with a command; what commands
 * do is in commands/.
 */
import { type Result } from '../../domain/result.ts';
import { nearest } from '../../domain/text/text.ts';
import {
  type Action,
  type Confirmation,
  type Interaction,
  NO_HISTORY,
  type PlanHistory,
} from '../../app/actions/index.ts';
import { saidMeanwhile } from '../../app/client/index.ts';
import { EXIT, Exit, IS_YES, wrongUse } from '../../app/process/index.ts';
import { plural } from '../../app/views/index.ts';
import type { Millis, SessionId } from '../../domain/ids.ts';
import type { RunState } from '../../events/index.ts';
import { type Command, type Controls, type Receipt, type Refusal } from '../../ports/controls.ts';
import type { ProjectService } from '../../ports/project-service.ts';
import { listed } from './agents.ts';
import type { LineQuestions } from './questions.ts';

/** Where the person is: before a run, at its plan, in an active run, after its end. */
export type Place = 'start' | 'plan' | 'run' | 'result';

/** What the command `detach` can do: see its help. */
export type Detaching = 'detach' | 'detach now' | 'detach stay';

/** What only the session can do: start or leave a run (session.ts). */
export type Going =
  | { readonly start: string; readonly direct?: 'direct' }
  /** `followUp`: a message to main. */
  | { readonly resume: SessionId; readonly followUp?: string }
  /** A run that another process carries. */
  | { readonly attach: SessionId }
  | { readonly template: string; readonly values: Readonly<Record<string, string>> }
  /** Hands the run over to a background process. */
  | Detaching
  /** Answers the question that was printed last. */
  | { readonly answer: string }
  /** Returns to the start, for another run. */
  | 'start'
  | 'quit';

/** What a command may read and do. */
export interface LineContext {
  readonly place: Place;
  /** The present state of the run, sanitised; the empty state without a run. */
  readonly state: RunState;
  /** Null without a run. */
  readonly controls: Controls | null;
  /** Null where only one run is carried (`mimir run`). */
  readonly projectService: ProjectService | null;
  readonly memory: LineMemory;
  readonly questions: LineQuestions;
  now(): Millis;
  /** Prints lines, sanitised; a text may have several lines. */
  say(...lines: readonly string[]): void;
  /** Prints why something was not done. */
  refuse(line: string): void;
  /** The next typed line, for this command alone; null at the end of input. Lines that were typed before are ignored. */
  ask(prompt: string): Promise<string | null>;
  /** Hands a command to the run and prints nothing; a refusal without a run. After an edit of the plan `state` has it. */
  send(command: Command): ReturnType<Controls['submit']>;
  /** The same, and prints the receipt; throws the refusal. */
  submit(command: Command): Promise<void>;
  go(to: Going): Promise<void>;
  /** Runs a command of Mimir, with its words, in this session. */
  mimir(words: readonly string[]): Promise<void>;
  /** Writes a text into the clipboard file; the name of the file, or null when it cannot be written. */
  keepCopy(text: string): string | null;
}

export interface LineCommand {
  readonly name: string;
  /** Other words for the command, shorter ones first. */
  readonly short?: readonly string[];
  /** `N TEXT`, optional ones in brackets; absent: the command takes none. */
  readonly arguments?: string;
  /** One sentence. */
  readonly help: string;
  readonly where: readonly Place[];
  /** Throws `Exit` when nothing is done: its message says why. */
  run(rest: string, context: LineContext): Promise<void> | void;
}

/** Ends a command that the person cancelled, with what is printed about it. */
export const cancelled = (...lines: readonly string[]): Exit => new Exit(EXIT.notApproved, lines.join('\n'));

/** The first word and the rest of a typed text. */
export function headOf(typed: string): readonly [string, string] {
  const [, first = '', rest = ''] = /^\s*(\S*)\s*([^]*)$/.exec(typed) ?? [];
  return [first, rest.trim()];
}

/** A typed text; an empty one cancels the command. */
export async function askText(prompt: string, ifEmpty: string, context: LineContext): Promise<string> {
  const text = ((await context.ask(prompt)) ?? '').trim();
  if (text === '') throw cancelled(ifEmpty);
  return text;
}

/** Adds the places where the commands can be used. */
export const at = (
  where: readonly Place[],
  ...commands: readonly Omit<LineCommand, 'where'>[]
): readonly LineCommand[] => commands.map((command) => ({ ...command, where }));

/** Word, arguments and help of a row of app/actions. */
export const wordsOf = ({
  word,
  short = [],
  arguments: wanted = '',
  help,
  more = '',
}: Interaction): Omit<LineCommand, 'where' | 'run'> => ({
  name: word,
  short,
  arguments: wanted,
  help: `${help}.${more === '' ? '' : ` ${more}`}`,
});

/** The command of an action. `read` reads the typed arguments. */
export const commandOf = <Args>(
  action: Action<Args>,
  read: (typed: string, context: LineContext) => Args,
): Omit<LineCommand, 'where'> => ({
  ...wordsOf(action),
  run: (typed, context) => perform(action, read(typed.trim(), context), context),
});

/** A command of Mimir that a session runs as it is. */
export const mimirCommand = (name: string, wanted: string, help: string): Omit<LineCommand, 'where'> => ({
  name,
  arguments: wanted,
  help,
  run: (typed, context) =>
    context.mimir([name, ...typed.matchAll(/"([^"]*)"|\S+/g).map(([word, quoted]) => quoted ?? word)]),
});

/** Asks the question of the action, if it has one, and submits its command; throws why it is impossible. */
export async function perform<Args>(action: Action<Args>, args: Args, context: LineContext): Promise<void> {
  const { state } = context;
  const why = action.whyNot(state, args);
  if (why !== null) throw wrongUse(why);
  const question = action.confirm?.(state, args);
  if (question !== undefined) await confirm(question, context);
  await context.submit(action.command(state, args));
}

/** Prints the receipt; throws why nothing was done. */
export function printReceipt(done: Result<Receipt, Refusal>, context: LineContext): void {
  if (!done.ok) throw wrongUse(done.fault.text);
  context.say(done.value.text);
}

/** Awaits a preview, and prints after a second that the run has not answered yet. */
export const previewed = async <T>(asked: Promise<T> | undefined, context: LineContext): Promise<T | undefined> =>
  await (asked &&
    saidMeanwhile({ complain: (line) => context.say(line) }, 'the run has not said yet what this would do', asked));

/** Asks a question; every answer but the wanted one cancels the command. */
export async function confirm({ title, lines, yes, no, word }: Confirmation, context: LineContext): Promise<void> {
  context.say(...lines);
  const typed = (await context.ask(`${title} Type ${word || 'yes'} to ${yes}, anything else to ${no}: `))?.trim() ?? '';
  if (word === '' ? !IS_YES.test(typed) : typed !== word) throw cancelled('Nothing changed.');
}

interface Meant {
  readonly command: LineCommand;
  readonly rest: string;
}

/**
 * The command that a typed line means, or null for other text. Throws what is near where several commands begin so, one is spelled similarly,
 * or it is for another place. `exact`: only whole words of commands count, with as many arguments as the command takes.
 */
export function meantBy(typed: string, table: readonly LineCommand[], place: Place, exact = false): Meant | null {
  const isMarked = /^\s*[/:]/.test(typed);
  const [word, rest] = headOf(typed.replace(/^\s*[/:]/, ''));
  const here = table.filter(({ where }) => where.includes(place));
  const named = here.find((command) => isNamed(command, word));
  const strict = exact && !isMarked;
  if (strict && (named === undefined || !takes(named, rest))) return null;
  const command = named ?? begunBy(word.toLowerCase(), here);
  if (command !== null) return { command, rest };
  refuseOtherPlace(word.toLowerCase(), table);
  refuseTypo(word, here);
  if (!isMarked) return null;
  throw wrongUse(noCommand(word));
}

/** What a line means where any text is a task or a message: only whole words of commands count. */
export function meantInSpeech(line: string, table: readonly LineCommand[], place: Place): Meant | null {
  const exact = meantBy(line, table, place, true);
  // A single word that is similar to a command is rarely a task.
  return exact === null && !/\s/.test(line) ? meantBy(line, table, place) : exact;
}

export const isNamed = ({ name, short }: LineCommand, word: string): boolean =>
  name === word.toLowerCase() || short?.includes(word) === true;

/** Is the number of typed arguments right? It is for `mode yolo`, and not for `mode of failure is unclear`. */
function takes({ arguments: wanted = '' }: LineCommand, rest: string): boolean {
  if (/\b(?:TEXT|HINT|WORDS)\b/.test(wanted)) return true;
  const given = wordsIn(rest);
  return given >= wordsIn(wanted.replaceAll(/\[[^\]]*\]/g, '')) && given <= wordsIn(wanted);
}

const wordsIn = (text: string): number => text.split(/\s+/).filter((word) => word !== '').length;

/** A shorter prefix is a typo, or an answer such as `no`. */
const MIN_PREFIX_LENGTH = 3;

/** The only command that begins with `word`, or null. */
function begunBy(word: string, here: readonly LineCommand[]): LineCommand | null {
  const found = word.length < MIN_PREFIX_LENGTH ? [] : here.filter(({ name }) => name.startsWith(word));
  if (found.length > 1) throw wrongUse(`"${word}" could be ${listed(found.map(({ name }) => name))}. ${NOTHING_DONE}`);
  return found[0] ?? null;
}

const NOTHING_DONE = 'Nothing was done';

function refuseOtherPlace(word: string, table: readonly LineCommand[]): void {
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

function refuseTypo(word: string, here: readonly LineCommand[]): void {
  if (!/^[a-z-]+$/i.test(word) || word.length < MIN_TYPO_LENGTH) return;
  const names = here.map(({ name }) => name);
  const close = nearest(word, names);
  if (close !== null) throw wrongUse(`unknown command "${word}". Did you mean ${close}? ${NOTHING_DONE}`);
}

export const noCommand = (word: string): string => `Unknown command "${word}". Try help`;

/** `message N TEXT (or msg): Message agent.` */
export function usageOf({ name, short = [], arguments: wanted = '', help }: LineCommand): string {
  const also = short.length === 0 ? '' : ` (or ${listed(short)})`;
  return `${name}${wanted === '' ? '' : ` ${wanted}`}${also}: ${help}`;
}

// Long texts are printed in parts, so that a screen reader can be stopped; `more` prints the next part.

const PART_LINES = 40;

/** Prints the first part; `more` prints the next. */
export function sayLong(context: LineContext, lines: readonly string[], most = PART_LINES): void {
  const all = lines.flatMap((line) => line.split('\n'));
  context.say(...all.slice(0, most));
  context.memory.rest = all.slice(most);
  const left = context.memory.rest.length;
  if (left > 0)
    context.say(
      `-- ${plural(left, 'line')} left: more says the next ${Math.min(PART_LINES, left)}, more all the rest.`,
    );
}

export function sayMore(rest: string, context: LineContext): void {
  const { rest: lines } = context.memory;
  if (lines.length === 0) throw wrongUse('there is nothing more to say');
  sayLong(context, lines, rest === 'all' ? lines.length : PART_LINES);
}

// What line mode remembers for the person: how much is printed, and which plans undo returns to.

export type Verbosity = 'quiet' | 'normal' | 'verbose';

export interface LineMemory {
  verbosity: Verbosity;
  /** The id of the agent that `attention` printed last. */
  attended: string;
  /** The lines that `more` prints next. */
  rest: readonly string[];
  /** The plans for undo and redo. */
  plans: PlanHistory;
}

export const newMemory = (): LineMemory => ({
  verbosity: 'normal',
  attended: '',
  rest: [],
  plans: NO_HISTORY,
});
