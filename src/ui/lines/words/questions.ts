/**
 * Questions in line mode: which there are, which is said, and what a typed line means as an answer. Equal ones are one, each is said whole
 * before it can be answered, an empty line allows nothing, and what was begun before a question was said doesn't answer it.
 */
import type { ChalkInstance } from 'chalk';
import type { Asker } from '../../../app/process/asker.ts';
import type { Io } from '../../../app/process/io.ts';
import { harmless } from '../../../app/process/io.ts';
import { labelOf } from '../../../app/views/agents/agent-lines.ts';
import { offersFor } from '../../../app/views/questions/answers.ts';
import type { Part } from '../../../app/views/questions/exact.ts';
import { partsOf } from '../../../app/views/questions/exact.ts';
import type { Question } from '../../../app/views/questions/question.ts';
import { kindOf, questionsOf, takesAmount } from '../../../app/views/questions/question.ts';
import { counted, formatDuration } from '../../../app/views/text/format.ts';
import { marked, pieces, visible } from '../../../app/views/text/sanitise.ts';
import { clusterWidth, graphemes } from '../../../app/views/text/width.ts';
import { WITHOUT_SANDBOX } from '../../../app/views/unsandboxed.ts';
import type { Millis } from '../../../domain/ids.ts';
import { jsonDigest } from '../../../domain/digest.ts';
import type { ApprovalRequest } from '../../../events/event.ts';
import type { Approval, RunState } from '../../../events/state.ts';
import type { Command } from '../../../ports/controls.ts';

export type Answer = Pick<Extract<Command, { do: 'answer' }>, 'allow' | 'scope' | 'text'>;

/** A question as the person meets it: its number stays the same while the run lasts. */
export interface Put {
  readonly number: number;
  readonly question: Question;
}

/** What waits for the person, what of it was said, and when. */
export class LineQuestions {
  readonly #numbers = new Map<string, number>();
  /** Approvals that were said whole. */
  readonly #said = new Set<string>();
  readonly #gone = new Set<string>();
  readonly #later = new Set<string>();
  /** Allowed for the session: the run clears equal ones, which may come later than the next question. */
  readonly #always = new Set<string>();
  #current: string | null = null;
  #since: Millis = 0;

  /** Everything unanswered, the oldest first, those that were put off among them. */
  waiting({ approvals }: RunState): readonly Put[] {
    const left = approvals.filter(({ id }) => !this.#gone.has(id));
    return questionsOf(left)
      .filter(({ key }) => !this.#always.has(key))
      .map((question) => ({ number: this.#numberOf(question.key), question }));
  }

  /** The next that has to be said, or null. */
  unsaid(state: RunState): Put | null {
    const all = this.waiting(state);
    const current = all.find(({ question: { key } }) => key === this.#current);
    if (current !== undefined) return current.question.all.every(({ id }) => this.#said.has(id)) ? null : current;
    return all.find(({ question: { key } }) => !this.#later.has(key)) ?? null;
  }

  /** The one that a line answers now, or null; answered for those only in whose name it was said. */
  current(state: RunState): Put | null {
    const found = this.waiting(state).find(({ question: { key } }) => key === this.#current);
    if (found === undefined) return null;
    const all = found.question.all.filter(({ id }) => this.#said.has(id));
    return all.length === 0 ? null : { ...found, question: { ...found.question, all } };
  }

  /** It was said whole at `now`. */
  said({ question }: Put, now: Millis): void {
    this.#current = question.key;
    this.#since = now;
    this.#later.delete(question.key);
    for (const { id } of question.all) this.#said.add(id);
  }

  /** Since when the current one waits for an answer. */
  get since(): Millis {
    return this.#since;
  }

  /** Turns to another one: it is said next. */
  turnTo({ question }: Put): void {
    this.#current = question.key;
    for (const { id } of question.all) this.#said.delete(id);
  }

  /** Puts the current one off: it stays in the list. */
  later(): void {
    if (this.#current !== null) this.#later.add(this.#current);
    this.#current = null;
  }

  /** It was answered with `answer`: what has to be submitted. A yes for the session is given once. */
  answered({ question }: Put, { scope }: Answer): readonly string[] {
    const all = question.all.map(({ id }) => id);
    for (const id of all) this.#gone.add(id);
    this.#current = null;
    // Changes of files are allowed to one agent, all else to all that ask the same.
    if (scope === 'once' || question.first.request.action === 'write') return all;
    this.#always.add(question.key);
    return all.slice(0, 1);
  }

  /** The answer was not taken: it may be asked again. */
  refused({ question }: Put): void {
    this.#always.delete(question.key);
    for (const { id } of question.all) {
      this.#gone.delete(id);
      this.#said.delete(id);
    }
  }

  #numberOf(key: string): number {
    const number = this.#numbers.get(key) ?? this.#numbers.size + 1;
    this.#numbers.set(key, number);
    return number;
  }
}

/** `ROOT::S4, #4 refactoring: Move rotation …`, the action whole, how long it is, and the numbered answers. */
export function questionLines(
  { all }: Pick<Question, 'all'>,
  state: RunState,
  { paint }: Pick<Io, 'paint'>,
  { room = null, now }: { readonly room?: Room | null; readonly now: Millis },
): readonly string[] {
  const [first] = all;
  if (first === undefined) return [];
  const { request } = first;
  const many = all.length > 1 ? `${all.length} agents ask the same: ` : '';
  const because = request.because === '' ? [] : [paint.dim(`  because ${harmless(request.because)}`)];
  const unboxed = request.unsandboxed ? [paint.red.bold(`  UNSANDBOXED: ${WITHOUT_SANDBOX}`)] : [];
  return [
    `\n${paint.bold(many === '' ? visible(request.title) : `${many}${titleOf(request)}`)}`,
    ...all.map((one) => `  ${whoAsks(one, state, now)}`),
    ...because,
    ...unboxed,
    ...exactText(request.exact, paint, room),
  ];
}

/** The first line of the action, or its beginning: all of it stands below. */
function titleOf({ exact }: ApprovalRequest): string {
  const line = visible(exact.split('\n')[0] ?? '');
  return line.length > MOST_TITLE ? `${line.slice(0, MOST_TITLE)} ...` : line;
}

const MOST_TITLE = 120;

function whoAsks({ agent, askedAt }: Approval, state: RunState, now: Millis): string {
  const found = state.agents.get(agent);
  const waits = `waits ${formatDuration(now - askedAt)}`;
  if (found === undefined) return `${agent}, ${waits}`;
  const task = harmless(found.task.split('\n')[0] ?? '');
  return `${agent}, ${harmless(labelOf(state, agent))}, role ${harmless(found.role)}, ${waits}: ${task}`;
}

/** The answers there are, a line each. */
export function answerLines({ request }: Pick<Approval, 'request'>): readonly string[] {
  const kind = kindOf(request);
  if (request.action === 'turn')
    return ['  Enter lets it go on; a line with ! is run in its place; other words are a message to it.'];
  if (kind === 'words') return ['  Type the answer.'];
  if (kind === 'options') {
    const options = request.options.map((option, index) => `  ${index + 1}  ${visible(option)}`);
    const amount = !asksAmount(request) ? [] : ['  add and an amount: another one than is offered'];
    return [...options, ...amount, ...(request.action === 'question' ? ['  or type another answer'] : [])];
  }
  return offersFor(request).map(({ number, label, covers }) => {
    const letter = { '1': '  y', '4': '  n' }[number] ?? '';
    const more = number === '5' ? ': 5 or n, and words' : covers === null ? '' : `: ${covers}`;
    return `  ${number}${letter}  ${visible(label)}${visible(more)}`;
  });
}

/** What the prompt says while a question waits. */
export function promptFor({ number, question: { first, all } }: Put, state: RunState): string {
  const { request } = first;
  const who = all.length > 1 ? counted(all.length, 'agent') : harmless(labelOf(state, first.agent));
  const kind = kindOf(request);
  if (kind === 'words' || request.action === 'turn') return `Question ${number}, ${who}: your answer? `;
  if (kind === 'options') return `Question ${number}, ${who}: 1 to ${request.options.length}? `;
  return `Question ${number}, ${who}: allow it? ${numbersOf(request)}, y or n? `;
}

/** What was typed, as an answer; null where it is none. `words`: any text is one here. */
export function answerOf(request: ApprovalRequest, typed: string, words: boolean): Answer | null {
  const kind = kindOf(request);
  const text = typed.trim();
  if (kind === 'permission') return permission(request, text);
  if (kind === 'options') {
    const option = optionNamed(request, text);
    if (option !== null) return { allow: true, scope: 'once', text: option };
  }
  if (text === '') return request.action === 'turn' ? { allow: true, scope: 'once', text: '' } : null;
  const free = words && (request.action === 'question' || request.action === 'turn' || kind === 'words');
  return free ? { allow: true, scope: 'once', text } : null;
}

/** `1, 2, 3, 4, 5`: those that are offered. */
const numbersOf = (request: ApprovalRequest): string =>
  offersFor(request)
    .map(({ number }) => number)
    .join(', ');

/** Permission needs its own letter or number; a reason stands behind that of a no. */
function permission(request: ApprovalRequest, text: string): Answer | null {
  const [, word = '', why = ''] = /^(\S+)(?:\s+([^]*))?$/.exec(text) ?? [];
  const number = { y: '1', n: '4', N: '4', A: always(request) }[word] ?? word;
  const offer = offersFor(request).find((one) => one.number === number);
  if (offer === undefined || (why !== '' && offer.allow) || (offer.asks === 'reason' && why === '')) return null;
  return { allow: offer.allow, scope: offer.scope, text: why };
}

const asksAmount = (request: ApprovalRequest): boolean =>
  request.options.some((option) => takesAmount(request, option));

/** The number of the answer that covers equal questions of the session. */
const always = (request: ApprovalRequest): string =>
  offersFor(request).find(({ scope }) => scope === 'session')?.number ?? '';

/** By its number, by the word in front of it, or with an amount of one's own. */
function optionNamed(request: ApprovalRequest, text: string): string | null {
  if (asksAmount(request) && /^add\s+\S+$/i.test(text)) return text;
  const byNumber = /^\d+$/.test(text) ? request.options[Number(text) - 1] : undefined;
  const word = text.toLowerCase();
  return byNumber ?? request.options.find((option) => wordOf(option).toLowerCase() === word || option === text) ?? null;
}

/** What stands in front of the words of an option: `finish`, `add`. */
const wordOf = (option: string): string => visible(option.split(/[:\s]/)[0] ?? option);

// The exact action of a question in lines: every character of it, what is hidden as an escape that looks like none of its
// letters, broken where the terminal would break it; and shown a screen at a time, so that nothing scrolls away unseen.

/** The terminal as it is now; null where the lines go somewhere that doesn't scroll. */
interface Room {
  readonly columns: number;
  readonly rows: number;
}

export function roomOf({ terminal }: Pick<Io, 'terminal'>): Room | null {
  const { columns, rows } = process.stdout;
  return terminal && columns > 0 && rows > 0 ? { columns, rows } : null;
}

/** In front of a line of the action, of what goes on behind a blank, and of what goes on in the middle of a word. */
const SIGNS: Readonly<Record<Part['goesOn'], string>> = { new: '  | ', blank: '  : ', word: '  + ' };
/** Columns of the brackets around an escape. */
const BRACKETS = 2;
/** A longer action has a digest: two that differ anywhere have others. */
const LONG = 200;

/** Each line of the action, and below it how long it is and whether something hides in it. */
export function exactText(exact: string, paint: ChalkInstance, room: Room | null): readonly string[] {
  const lines = exact.split('\n');
  const width = room === null ? Number.POSITIVE_INFINITY : Math.max(1, room.columns - SIGNS.new.length - BRACKETS - 1);
  const hidden = lines.flatMap((line) => pieces(line)).some((piece) => piece.hidden);
  const size = [
    counted(lines.length, 'line'),
    counted(exact.length, 'character'),
    ...(exact.length > LONG ? [`digest ${jsonDigest(marked(exact)).slice(0, 8)}`] : []),
  ];
  const escapes = paint.level === 0 ? '<escapes>' : 'escapes';
  return [
    ...lines.flatMap((line) => broken(line, paint, width)),
    paint.dim(`  ${size.join(', ')}`),
    ...(hidden ? [paint.yellow(`  hidden characters are in it: shown as ${escapes}`)] : []),
  ];
}

/** Letters of one column each, nothing hidden: nearly every action is of these, and some are megabytes of them. */
const SIMPLE = /^[\x20-\x7e]*$/;

/** The rows of a line, each with the sign in front that says how it goes on. */
function broken(line: string, paint: ChalkInstance, width: number): readonly string[] {
  if (SIMPLE.test(line)) {
    if (line.length <= width) return [SIGNS.new + line];
    const units = { length: line.length, isBlank: (at: number) => line[at] === ' ', columns: () => 1 };
    return partsOf(units, width).map(({ from, to, goesOn }) => SIGNS[goesOn] + line.slice(from, to));
  }
  const units = pieces(line).flatMap(({ text, hidden }) => graphemes(text).map((cluster) => ({ cluster, hidden })));
  return partsOf(
    {
      length: units.length,
      isBlank: (at) => units[at]?.cluster === ' ',
      columns: (at) => clusterWidth(units[at]?.cluster ?? ''),
    },
    width,
  ).map(({ from, to, goesOn }) => SIGNS[goesOn] + rowOf(units.slice(from, to), paint));
}

interface Unit {
  readonly cluster: string;
  readonly hidden: boolean;
}

/** Neighbours of one look together, as an escape stands in brackets as a whole. */
function rowOf(units: readonly Unit[], paint: ChalkInstance): string {
  let [row, open, hidden] = ['', '', false];
  for (const unit of units) {
    if (unit.hidden !== hidden) {
      row += look(open, hidden, paint);
      [open, hidden] = ['', unit.hidden];
    }
    open += unit.cluster;
  }
  return row + look(open, hidden, paint);
}

/** Where there are no colours an escape stands in brackets. */
function look(text: string, hidden: boolean, paint: ChalkInstance): string {
  if (!hidden || text === '') return text;
  return paint.level === 0 ? `<${text}>` : paint.black.bgYellow(text);
}

/**
 * Says the lines, a screen at a time where they are more than one; false when the person has read enough to say no. Two
 * rows stay free: for the prompt, and for one that is wrapped.
 */
export async function sayAll(
  lines: readonly string[],
  { asker, io, room }: { readonly asker: Pick<Asker, 'ask'>; readonly io: Pick<Io, 'say'>; readonly room: Room | null },
): Promise<boolean> {
  const page = room === null ? lines.length : Math.max(4, room.rows - 2);
  for (let from = 0; from < lines.length; from += page) {
    for (const line of lines.slice(from, from + page)) io.say(line);
    const left = lines.length - from - page;
    if (left <= 0) break;
    const typed = await asker.ask(`-- ${counted(left, 'line')} more: Enter goes on, n is a no -- `, 'fresh');
    if (typed?.trim().toLowerCase() === 'n') return false;
  }
  return true;
}
