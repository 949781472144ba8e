/**
 * A command of line mode: a word and its arguments, what it stands for on the full screen, and where it can be used. How a typed line
 * becomes one is decided here, and what is near where it becomes none; what it does stands with the groups (commands.ts).
 */
import { nearest } from '../../domain/text/nearest.ts';
import type { Millis, SessionId } from '../../domain/ids.ts';
import type { PlanEdit } from '../../domain/plan/plan-edit.ts';
import type { RunState } from '../../events/state.ts';
import type { Command, Controls } from '../../ports/controls.ts';
import type { Lobby } from '../../ports/project-service.ts';
import type { Parting } from './run-ownership.ts';
import type { LineMemory } from './memory.ts';
import type { LineQuestions } from './words/questions.ts';
import { counted } from '../../app/views/text/format.ts';
import { listed } from './words/agents.ts';

/** Where the person is: before a run, at its plan, while it goes on, behind its end. */
export type Place = 'start' | 'plan' | 'run' | 'result';

/** What only the session itself can do (session.ts). */
export type Going =
  | { readonly start: string; readonly direct?: 'direct' }
  /** `followUp`: said to main. */
  | { readonly resume: SessionId; readonly followUp?: string }
  /** A run that another process carries. */
  | { readonly attach: SessionId }
  | { readonly template: string; readonly values: Readonly<Record<string, string>> }
  /** Lets the run go on in a process of its own. */
  | Parting
  /** Back to the start, with another run to come. */
  | 'start'
  | 'quit';

/** All that a command may look at and do. */
export interface LineDesk {
  readonly place: Place;
  /** As it is now; empty without a run. */
  readonly state: RunState;
  /** Null without a run. */
  readonly controls: Controls | null;
  /** Null where only one run is carried, without a session around it (`mimir run`). */
  readonly lobby: Lobby | null;
  readonly memory: LineMemory;
  readonly questions: LineQuestions;
  /** Work that Ctrl-C stops instead of asking whether to leave. */
  readonly stoppable: Pick<Stoppable, 'run'>;
  now(): Millis;
  /** Made harmless; a text of several lines is as many lines. */
  say(...lines: readonly string[]): void;
  /** Something was not done: why. */
  refuse(line: string): void;
  /** What is typed next, for this command alone; null at the end of input. What was typed before is no answer. */
  ask(prompt: string): Promise<string | null>;
  /** Hands it to the run and says the receipt, or why not; true when it was done. */
  submit(command: Command): Promise<boolean>;
  /** Changes the plan that waits; resolves when `state` has the change in it. Says nothing. */
  edited(edit: PlanEdit): ReturnType<Controls['submit']>;
  go(to: Going): Promise<void>;
  /** Keeps a text in the file that always has the last copy; its name, or null where it can't be written. */
  keepCopy(text: string): string | null;
  /** Answers the question that was said last. */
  answer(text: string): Promise<void>;
}

export interface LineCommand {
  readonly name: string;
  /** Other words for it, shorter ones first. */
  readonly short: readonly string[];
  /** `N TEXT`; in brackets what may be left out. */
  readonly arguments: string;
  /** A sentence. */
  readonly help: string;
  readonly where: readonly Place[];
  /** The actions of the full screen's key tables that it stands for. */
  readonly actions: readonly string[];
  run(rest: string, desk: LineDesk): Promise<void> | void;
}

type Meant =
  | { readonly is: 'command'; readonly command: LineCommand; readonly rest: string }
  /** What to say: several begin so, one is near, or it is for another place. */
  | { readonly is: 'unclear'; readonly words: string }
  | { readonly is: 'other' };

const FEWEST_LETTERS_OF_A_SLIP = 4;

/** What a typed line means here. `exact`: only the very words of a command count, and only with arguments as it takes them. */
export function meantBy(typed: string, table: readonly LineCommand[], place: Place, exact = false): Meant {
  const { sign, word, rest } = partsOf(typed.trim());
  const here = table.filter(({ where }) => where.includes(place));
  const named = here.find((command) => isNamed(command, word));
  const strict = exact && sign === '';
  if (named !== undefined && (!strict || takes(named, rest))) return { is: 'command', command: named, rest };
  return strict ? OTHER : nearly(word, rest, { here, table, forced: sign !== '' });
}

/** What a line means where any words mean something: only the very words of a command are one, and a slip of one is none. */
export function meantInSpeech(line: string, table: readonly LineCommand[], place: Place): Meant {
  const exact = meantBy(line, table, place, true);
  // A single word that is nearly a command is hardly anything else.
  return exact.is === 'other' && !/\s/.test(line) ? meantBy(line, table, place) : exact;
}

function partsOf(typed: string): { readonly sign: string; readonly word: string; readonly rest: string } {
  const [, sign = '', word = '', rest = ''] = /^([/:]?)\s*(\S*)\s*([^]*)$/.exec(typed) ?? [];
  return { sign, word, rest };
}

interface Tables {
  readonly here: readonly LineCommand[];
  readonly table: readonly LineCommand[];
  /** It was marked as a command. */
  readonly forced: boolean;
}

const nearly = (word: string, rest: string, { here, table, forced }: Tables): Meant =>
  begun(word.toLowerCase(), rest, here) ?? elsewhere(word, table) ?? near(word, here, forced);

const OTHER: Meant = { is: 'other' };

const isNamed = ({ name, short }: LineCommand, word: string): boolean =>
  name === word.toLowerCase() || short.includes(word);

/** By the number of its words: `mode yolo`, and not `mode of failure is unclear`. */
function takes({ arguments: wanted }: LineCommand, rest: string): boolean {
  if (/\b(?:TEXT|HINT|WORDS)\b/.test(wanted)) return true;
  const given = wordsIn(rest);
  return given >= wordsIn(wanted.replaceAll(/\[[^\]]*\]/g, '')) && given <= wordsIn(wanted);
}

const wordsIn = (text: string): number => text.split(/\s+/).filter((word) => word !== '').length;

/** Of a beginning; fewer are a slip, or an answer such as `no`. */
const FEWEST_LETTERS = 3;

/** A beginning that only one has. */
function begun(word: string, rest: string, here: readonly LineCommand[]): Meant | null {
  if (word.length < FEWEST_LETTERS) return null;
  const found = here.filter(({ name }) => name.startsWith(word));
  const [first] = found;
  if (first === undefined) return null;
  if (found.length === 1) return { is: 'command', command: first, rest };
  return { is: 'unclear', words: `"${word}" could be ${listed(found.map(({ name }) => name))}: nothing was done` };
}

function elsewhere(word: string, table: readonly LineCommand[]): Meant | null {
  const found = table.find((command) => command.name === word.toLowerCase());
  if (found === undefined) return null;
  return {
    is: 'unclear',
    words: `${found.name} is for ${listed(found.where.map((place) => PLACES[place]))}: nothing was done`,
  };
}

const PLACES: Readonly<Record<Place, string>> = {
  start: 'the start, before a run',
  plan: 'a plan that waits for you',
  run: 'a run that goes on',
  result: 'a run that has ended',
};

function near(word: string, here: readonly LineCommand[], forced: boolean): Meant {
  const close = /^[a-z-]+$/i.test(word) && word.length >= FEWEST_LETTERS_OF_A_SLIP ? closest(word, here) : null;
  if (close !== null)
    return { is: 'unclear', words: `there is no command "${word}": did you mean ${close}? Nothing was done` };
  return forced ? { is: 'unclear', words: `there is no command "${word}": help lists them. Nothing was done` } : OTHER;
}

const closest = (word: string, here: readonly LineCommand[]): string | null =>
  nearest(
    word,
    here.map(({ name }) => name),
  );

/** `message N TEXT (or msg): Sends a message …` */
export function usageOf({ name, short, arguments: wanted, help }: LineCommand): string {
  const also = short.length === 0 ? '' : ` (or ${listed(short)})`;
  return `${name}${wanted === '' ? '' : ` ${wanted}`}${also}: ${help}`;
}

/** Work of a command that Ctrl-C stops, one at a time: what else Ctrl-C means is decided in follow.ts. */
export class Stoppable {
  #now: AbortController | null = null;

  async run<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const control = new AbortController();
    this.#now = control;
    try {
      return await work(control.signal);
    } finally {
      this.#now = null;
    }
  }

  /** False where there is no such work, or it was stopped already. */
  stop(): boolean {
    if (this.#now === null || this.#now.signal.aborted) return false;
    this.#now.abort('stopped');
    return true;
  }
}

// Long texts in lines: a part at a time, so that a screen reader can be stopped, and `more` goes on.

const PART = 40;

/** Says the first part; `more` says the next. */
export function sayLong(desk: LineDesk, lines: readonly string[], most = PART): void {
  const all = lines.flatMap((line) => line.split('\n'));
  desk.say(...all.slice(0, most));
  desk.memory.rest = all.slice(most);
  const left = desk.memory.rest.length;
  if (left > 0)
    desk.say(`-- ${counted(left, 'line')} left: more says the next ${Math.min(PART, left)}, more all the rest.`);
}

export function sayMore(rest: string, desk: LineDesk): void {
  const { rest: lines } = desk.memory;
  if (lines.length === 0) return desk.refuse('there is nothing more to say');
  sayLong(desk, lines, rest === 'all' ? lines.length : PART);
}
