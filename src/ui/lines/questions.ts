/** Questions in line mode: printed whole before they can be answered, equal ones once; an empty line allows nothing. */
import type { ChalkInstance } from 'chalk';
import { type Answer, answerCommands } from '../../app/actions/index.ts';
import type { Io } from '../../app/process/index.ts';
import type { ExactRow, Question } from '../../app/views/index.ts';
import { dangerOf, plural, exactMeasure, exactRows, formatDuration, kindOf, labelOf } from '../../app/views/index.ts';
import { offersFor, openQuestions, takesAmount, escapeHidden, WITHOUT_SANDBOX } from '../../app/views/index.ts';
import type { Millis } from '../../domain/ids.ts';
import type { Approval, ApprovalRequest, RunState } from '../../events/index.ts';
import type { Command } from '../../ports/controls.ts';
import { firstLine } from './agents.ts';

/** A question with the number that the person sees, which stays the same while the run lasts. */
export interface NumberedQuestion extends Question {
  readonly number: number;
}

/** The open questions of a run, which of them were printed, and which one a typed line answers. */
export class LineQuestions {
  readonly #numbers = new Map<string, number>();
  /** Approvals that were printed whole. */
  readonly #printed = new Set<string>();
  readonly #answered = new Set<string>();
  /** Allowed for the session: an equal question may still arrive before the run knows the answer. */
  readonly #granted = new Set<string>();
  #current: string | null = null;
  #printedAt: Millis = 0;

  open(state: RunState): readonly NumberedQuestion[] {
    return openQuestions(state, this.#answered)
      .filter(({ key }) => !this.#granted.has(key))
      .map((question) => ({ ...question, number: this.#numberOf(question.key) }));
  }

  unprinted(state: RunState): NumberedQuestion | null {
    const all = this.open(state);
    const current = all.find(({ key }) => key === this.#current);
    return current?.all.every(({ id }) => this.#printed.has(id)) === true ? null : (current ?? all[0] ?? null);
  }

  /** The question that a typed line answers, only for those askers in whose name it was printed; or null. */
  current(state: RunState): NumberedQuestion | null {
    const found = this.open(state).find(({ key }) => key === this.#current);
    const all = found?.all.filter(({ id }) => this.#printed.has(id)) ?? [];
    return found === undefined || all.length === 0 ? null : { ...found, all };
  }

  /** Call when a question was printed whole. */
  setPrinted({ key, all }: NumberedQuestion, now: Millis): void {
    this.#current = key;
    this.#printedAt = now;
    for (const { id } of all) this.#printed.add(id);
  }

  get printedAt(): Millis {
    return this.#printedAt;
  }

  select({ key, all }: NumberedQuestion): void {
    this.#current = key;
    for (const { id } of all) this.#printed.delete(id);
  }

  answer(question: NumberedQuestion, answer: Answer): readonly Command[] {
    const ids = question.all.map(({ id }) => id);
    for (const id of ids) this.#answered.add(id);
    this.#current = null;
    if (answer.scope !== 'once' && question.first.request.action !== 'write') this.#granted.add(question.key);
    return answerCommands(question, ids, answer);
  }

  /** The run refused the answer: the question is open again. */
  reopen({ key, all }: NumberedQuestion): void {
    this.#granted.delete(key);
    for (const { id } of all) {
      this.#answered.delete(id);
      this.#printed.delete(id);
    }
  }

  #numberOf(key: string): number {
    const number = this.#numbers.get(key) ?? this.#numbers.size + 1;
    this.#numbers.set(key, number);
    return number;
  }
}

/** The title, the askers, the reason and the whole exact text of a question. */
export function questionLines(
  { all }: Pick<Question, 'all'>,
  state: RunState,
  { paint }: Pick<Io, 'paint'>,
  { size = null, now }: { readonly size?: TerminalSize | null; readonly now: Millis },
): readonly string[] {
  const [first] = all;
  if (first === undefined) return [];
  const { request } = first;
  const danger = dangerOf(request);
  const title = all.length > 1 ? `${all.length} agents ask the same question: ${actionTitle(request)}` : request.title;
  return [
    `\n${paint.bold(title)}`,
    ...all.map((one) => `  ${askerText(one, state, now)}`),
    ...(request.because === '' ? [] : [paint.dim(`  because ${request.because}`)]),
    ...(request.unsandboxed ? [paint.red.bold(`  UNSANDBOXED: ${WITHOUT_SANDBOX}`)] : []),
    ...(danger === null ? [] : [paint.red.bold(`  DANGER: ${danger}`)]),
    ...exactText(request, paint, size),
  ];
}

const LONGEST_TITLE = 120;

/** The first line of the exact text, cut: the whole text is printed below. */
function actionTitle({ exact }: ApprovalRequest): string {
  const line = escapeHidden(exact.split('\n')[0] ?? '');
  return line.length > LONGEST_TITLE ? `${line.slice(0, LONGEST_TITLE)} ...` : line;
}

/** `ROOT::S4, #4 refactoring, role refactoring, waiting 5s: Move rotation into TokenStore` */
function askerText({ agent, askedAt }: Approval, state: RunState, now: Millis): string {
  const found = state.agents.get(agent);
  const waits = `waiting ${formatDuration(now - askedAt)}`;
  if (found === undefined) return `${agent}, ${waits}`;
  return `${agent}, ${labelOf(state, agent)}, role ${found.role}, ${waits}: ${firstLine(found.task)}`;
}

/** The possible answers, one a line. */
export function answerLines({ request }: Pick<Approval, 'request'>): readonly string[] {
  const kind = kindOf(request);
  if (request.action === 'turn')
    return ['  Enter continues; a line with ! is run as a command; other text is a message to it.'];
  if (kind === 'words') return ['  Type the answer.'];
  if (kind === 'options') {
    const options = request.options.map((option, index) => `  ${index + 1}  ${option}`);
    const amount = hasAmount(request) ? ['  or type add and an amount'] : [];
    return [...options, ...amount, ...(request.action === 'question' ? ['  or type another answer'] : [])];
  }
  return offersFor(request).map(({ number, label, covers }) => {
    const letter = { '1': '  y', '4': '  n' }[number] ?? '';
    const more = number === '5' ? ': 5 or n, and words' : covers === null ? '' : `: ${covers}`;
    return `  ${number}${letter}  ${label}${more}`;
  });
}

/** The prompt while a question waits for an answer. */
export function promptFor({ number, first, all }: NumberedQuestion, state: RunState): string {
  const { request } = first;
  const who = all.length > 1 ? plural(all.length, 'agent') : labelOf(state, first.agent);
  const kind = kindOf(request);
  if (kind === 'words' || request.action === 'turn') return `Question ${number}, ${who}: your answer? `;
  if (kind === 'options') return `Question ${number}, ${who}: 1 to ${request.options.length}? `;
  const numbers = offersFor(request).map((offer) => offer.number);
  return `Question ${number}, ${who}: allow it? ${numbers.join(', ')}, y or n? `;
}

/** A typed line as an answer, or null. `words`: any text is an answer to a question that takes words. */
export function answerOf(request: ApprovalRequest, typed: string, words: boolean): Answer | null {
  const kind = kindOf(request);
  const text = typed.trim();
  if (kind === 'permission') return permissionIn(request, text);
  const option = kind === 'options' ? optionIn(request, text) : null;
  if (option !== null) return { allow: true, scope: 'once', text: option };
  if (text === '') return request.action === 'turn' ? { allow: true, scope: 'once', text: '' } : null;
  const takesWords = words && (request.action === 'question' || request.action === 'turn' || kind === 'words');
  return takesWords ? { allow: true, scope: 'once', text } : null;
}

/** A permission needs its own letter or number; after a no the reason may follow. */
function permissionIn(request: ApprovalRequest, text: string): Answer | null {
  const [, word = '', why = ''] = /^(\S+)(?:\s+([^]*))?$/.exec(text) ?? [];
  const number = { y: '1', n: '4', N: '4', A: sessionNumber(request) }[word] ?? word;
  const offer = offersFor(request).find((one) => one.number === number);
  if (offer === undefined || (why !== '' && offer.allow) || (offer.asks === 'reason' && why === '')) return null;
  return { allow: offer.allow, scope: offer.scope, text: why };
}

/** The number of the answer that covers equal questions of the session; empty where none does. */
const sessionNumber = (request: ApprovalRequest): string =>
  offersFor(request).find(({ scope }) => scope === 'session')?.number ?? '';

const hasAmount = (request: ApprovalRequest): boolean => request.options.some((option) => takesAmount(request, option));

/** An option by its number, by its first word, or as `add` with another amount. */
function optionIn(request: ApprovalRequest, text: string): string | null {
  if (hasAmount(request) && /^add\s+\S+$/i.test(text)) return text;
  const byNumber = /^\d+$/.test(text) ? request.options[Number(text) - 1] : undefined;
  const word = text.toLowerCase();
  const isNamed = (option: string): boolean => option === text || option.split(/[:\s]/)[0]?.toLowerCase() === word;
  return byNumber ?? request.options.find(isNamed) ?? null;
}

// The exact text of a question, broken where the terminal would break it, and printed a screen at a time.

interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

/** Null where the output is no terminal. */
export function terminalSize({ terminal }: Pick<Io, 'terminal'>): TerminalSize | null {
  const { columns, rows } = process.stdout;
  return terminal && columns > 0 && rows > 0 ? { columns, rows } : null;
}

/** In front of a row: a new line, a line broken at a blank, a line broken within a word. */
const SIGNS: Readonly<Record<ExactRow['continues'], string>> = { new: '  | ', blank: '  : ', word: '  + ' };
const BRACKETS = 2;

/** Each line of the text, and below them its size and whether it contains hidden characters. */
export function exactText(
  request: ApprovalRequest,
  paint: ChalkInstance,
  size: TerminalSize | null,
): readonly string[] {
  const width = size === null ? Number.POSITIVE_INFINITY : Math.max(1, size.columns - SIGNS.new.length - BRACKETS - 1);
  const { words, hidden } = exactMeasure(request);
  const escapes = paint.level === 0 ? '<escapes>' : 'escapes';
  return [
    ...request.exact
      .split('\n')
      .flatMap((line) => exactRows(line, width))
      .map(({ continues, pieces }) => SIGNS[continues] + pieces.map((piece) => pieceText(piece, paint)).join('')),
    paint.dim(`  ${words.join(', ')}`),
    ...(hidden ? [paint.yellow(`  hidden characters are shown as ${escapes}`)] : []),
  ];
}

/** Without colours an escape is in brackets. */
function pieceText(
  { text, hidden }: { readonly text: string; readonly hidden: boolean },
  paint: ChalkInstance,
): string {
  if (!hidden) return text;
  return paint.level === 0 ? `<${text}>` : paint.black.bgYellow(text);
}

/** Prints the lines a screen at a time, with two rows left for the prompt; false when the person stops reading, which denies. */
export async function printPages(
  lines: readonly string[],
  io: Pick<Io, 'say' | 'ask'>,
  size: TerminalSize | null,
): Promise<boolean> {
  const page = size === null ? lines.length : Math.max(4, size.rows - 2);
  for (let from = 0; from < lines.length; from += page) {
    for (const line of lines.slice(from, from + page)) io.say(line);
    const left = lines.length - from - page;
    if (left <= 0) break;
    const typed = await io.ask(`-- ${plural(left, 'line')} more: Enter continues, n denies -- `, 'fresh');
    if (typed?.trim().toLowerCase() === 'n') return false;
  }
  return true;
}
