/**
 * What of one run waits for the person: questions first, then the plan. Says it, knows the prompt for it, and takes a typed line as an
 * answer where it is one. The texts of the plan prompt are a promise to scripts.
 */
import type { Asker } from '../../app/process/asker.ts';
import { type Io, harmless } from '../../app/process/io.ts';
import { Held } from '../../app/views/agents/held-answers.ts';
import { kindOf } from '../../app/views/questions/question.ts';
import { ROOT, type Millis } from '../../domain/ids.ts';
import type { PlanEdit } from '../../domain/plan/plan-edit.ts';
import type { PlanTask, SoundPlan } from '../../domain/plan/plan.ts';
import { type LineDesk, meantBy } from './command.ts';
import { LINE_COMMANDS } from './commands/commands.ts';
import type { LineConsole, Typed } from './console.ts';
import {
  roomOf,
  sayAll,
  type Answer,
  type Put,
  answerLines,
  answerOf,
  LineQuestions,
  promptFor,
  questionLines,
} from './words/questions.ts';

export interface AnswersParts {
  readonly desk: LineDesk;
  readonly console: LineConsole;
  readonly io: Pick<Io, 'paint' | 'terminal'>;
  /** The plan is put to the person. */
  readonly approves: boolean;
  readonly models: boolean;
}

/** What is begun within this time after a question was said was meant for something else. */
const DEAF: Millis = 300;
const BEFORE = 'was said, so it answers nothing: type it again';

export class LineAnswers {
  readonly questions = new LineQuestions();
  readonly #of: AnswersParts;
  /** Proposals, by the numbers of their events: the newest, and below it the one whose options were said. */
  #proposed = 0;
  #said = 0;
  /** The one that was accepted or refused: the run may take a moment to say so. */
  #decided = 0;
  #saidAt: Millis = 0;
  readonly #held = new Held();
  /** The line that was typed last: when it was begun, and since when the same may have been repeated. */
  #typed: { readonly begun: Millis; readonly since: Millis } = { begun: 0, since: 0 };
  /** Was it said that what is typed goes to main? */
  #talks = false;

  constructor(parts: AnswersParts) {
    this.#of = parts;
  }

  proposed(seq: number): void {
    this.#proposed = seq;
  }

  /** The plan that waited was accepted, refused, or is made anew. */
  decided(): void {
    this.#decided = this.#proposed;
  }

  /** Does a plan wait for the person? */
  isOffered(): boolean {
    const { phase, plan } = this.#of.desk.state;
    const isOpen = this.#proposed === 0 || this.#decided !== this.#proposed;
    return this.#of.approves && isOpen && phase === 'approving' && plan !== null;
  }

  /** The question that waits for a line, or null. */
  current(): Put | null {
    return this.questions.current(this.#of.desk.state);
  }

  prompt(): string {
    const put = this.current();
    if (put !== null) return promptFor(put, this.#of.desk.state);
    return this.isOffered() ? PROCEED : this.isTalk() ? `main (${ROOT})> ` : '> ';
  }

  /** Is what is typed, and is no command, a word to main? So it is in a run without a plan, while nothing else is asked. */
  isTalk(): boolean {
    const { place, state } = this.#of.desk;
    return place === 'run' && state.idle && state.finished === null && this.current() === null;
  }

  /** What is neither an answer nor a command. */
  async strange(line: string): Promise<void> {
    const { desk } = this.#of;
    if (this.current() !== null)
      return desk.refuse(`that is no answer, and no command: the question waits. ${this.prompt().trim()}`);
    if (this.isTalk()) return void (await desk.submit({ do: 'message', to: ROOT, text: line, delivery: 'important' }));
    // Any other answer cancels.
    if (this.isOffered()) await desk.submit({ do: 'reject plan' });
    else desk.refuse(`there is no command "${line.split(/\s/)[0] ?? ''}": help lists them. Nothing was done`);
  }

  /** Says what has not been said: a question whole, the options of a plan, or whom one talks to. */
  async sayWhatWaits(): Promise<void> {
    const { desk, console, models } = this.#of;
    const put = this.questions.unsaid(desk.state);
    if (put !== null) return this.#put(put);
    if (this.isTalk() && !this.#talks) {
      this.#talks = true;
      console.say('What you type is a message to main; help lists the commands.');
    }
    if (!this.isOffered() || this.#said === this.#proposed) return;
    this.#said = this.#proposed;
    for (const line of optionsFor(models)) console.say(line);
    console.say('  or a command: help lists them');
    this.#saidAt = desk.now();
  }

  /** True when the line was meant as an answer, taken or not. */
  async takes(typed: Typed): Promise<boolean> {
    this.#typed = { begun: typed.begun, since: this.#held.since(typed.text.trim(), typed.begun) };
    const put = this.current();
    if (put !== null) return this.#asAnswer(put, typed);
    return this.isOffered() && this.#asPlanWord(typed);
  }

  /** The words as an answer to the question that was said last, whatever else they could mean. */
  async answer(text: string): Promise<void> {
    const { desk } = this.#of;
    const put = this.current();
    if (put === null) return desk.refuse('no question was said: question says the next');
    const given = answerOf(put.question.first.request, text, true);
    if (given === null) return desk.refuse(`that is no answer to it: ${promptFor(put, desk.state).trim()}`);
    if (this.#isMeant()) await this.#give(put, given);
  }

  /** Was the line that was typed last meant for the question that was said? If not, that is said. */
  #isMeant(): boolean {
    const { desk, io } = this.#of;
    const { begun, since } = this.#typed;
    const { since: said } = this.questions;
    if (begun < said) desk.refuse(`that was begun before the question ${BEFORE}`);
    // What a pipe holds was written for the questions to come.
    else if (io.terminal && since < said + DEAF)
      desk.refuse('that came as fast as a held key repeats, so it answers nothing: type it again');
    else return true;
    return false;
  }

  /** Nobody is there: whatever is asked is a no. */
  async refuseAll(): Promise<void> {
    const { state, controls } = this.#of.desk;
    for (const { question } of this.questions.waiting(state)) {
      for (const { id } of question.all) {
        await controls?.submit({ do: 'answer', approval: id, allow: false, scope: 'once' });
      }
    }
    if (this.isOffered()) await controls?.submit({ do: 'reject plan' });
  }

  async #put(put: Put): Promise<void> {
    const { desk, console, io } = this.#of;
    await console.fresh();
    const room = roomOf(io);
    const { all, first } = put.question;
    const lines = [...questionLines({ all }, desk.state, io, { room, now: desk.now() }), ...answerLines(first)];
    const ask = (prompt: string): Promise<string | null> => console.ask(prompt, 'fresh');
    const read = await sayAll(lines, { asker: { ask }, io: console, room });
    this.questions.said(put, desk.now());
    if (!read && kindOf(first.request) === 'permission')
      await this.#give(put, { allow: false, scope: 'once', text: '' });
  }

  async #asAnswer(put: Put, { text }: Typed): Promise<boolean> {
    const { desk } = this.#of;
    const { request } = put.question.first;
    const isCommand = meantBy(text, LINE_COMMANDS, desk.place, true).is !== 'other';
    const given = answerOf(request, text, false) ?? (isCommand ? null : answerOf(request, text, true));
    if (given === null) return false;
    if (this.#isMeant()) await this.#give(put, given);
    return true;
  }

  async #give(put: Put, given: Answer): Promise<void> {
    const { desk } = this.#of;
    let said = '';
    for (const approval of this.questions.answered(put, given)) {
      const done = await desk.controls?.submit({ do: 'answer', approval, ...given });
      if (done?.ok !== true) {
        this.questions.refused(put);
        return desk.refuse(done?.fault.text ?? 'there is no run');
      }
      said = `${capitalised(done.value.text)}.${given.scope === 'once' ? '' : ' grants lists and withdraws it.'}`;
    }
    desk.say(said);
  }

  async #asPlanWord({ text, begun }: Typed): Promise<boolean> {
    const { desk } = this.#of;
    const word = planWord(text);
    if (word === 'other') return false;
    if (begun < this.#saidAt) desk.refuse(`that was begun before the plan ${BEFORE}`);
    else if (word === 'cancel') await desk.submit({ do: 'reject plan' });
    else {
      if (word !== 'proceed') await this.#editAll(word);
      const done = await desk.controls?.submit({ do: 'approve plan', digest: desk.state.planDigest });
      if (done?.ok === true) this.decided();
      else desk.refuse(done?.fault.text ?? 'there is no run');
    }
    return true;
  }

  /** One task after the other; what can't be changed is said, and the rest goes on. */
  async #editAll(word: 'e' | 'm'): Promise<void> {
    const { desk, console, models } = this.#of;
    for (const edit of await editsOf(word, console, console, { plan: desk.state.plan, models })) {
      const done = await desk.edited(edit);
      if (!done.ok) console.complain(`  not changed: ${harmless(done.fault.text)}`);
    }
  }
}

const capitalised = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

// The plan prompt of line mode: proceed, cancel, edit, manual. Any other answer cancels.

export const optionsFor = (models: boolean): readonly string[] => [
  'Options:',
  '  Y  proceed with the recommended plan (Enter)',
  '  n  cancel',
  `  e  edit task descriptions${models ? ' or models' : ''}`,
  '  m  manual mode: description, model and max tokens of each agent',
];

const PROCEED = 'Proceed? [Y/n/e/m] ';

/** What was typed at the prompt, as an answer to it: `e` and `m` ask on. Any other than these four cancels. */
type PlanWord = 'proceed' | 'cancel' | 'e' | 'm' | 'other';

export function planWord(typed: string): PlanWord {
  const word = typed.trim();
  if (['', 'y', 'Y'].includes(word)) return 'proceed';
  if (word === 'n') return 'cancel';
  return word === 'e' || word === 'm' ? word : 'other';
}

/**
 * Goes through the tasks of the plan. `models` false: `e` leaves the recommended models as they are (`promptForModels`); `m` asks for
 * them all the same.
 */
export async function editsOf(
  answer: 'e' | 'm',
  asker: Pick<Asker, 'ask'>,
  io: Pick<Io, 'say' | 'complain'>,
  { plan, models }: { readonly plan: SoundPlan | null; readonly models: boolean },
): Promise<readonly PlanEdit[]> {
  if (plan === null) return [];
  const edits: PlanEdit[] = [];
  for (const [index, task] of plan.tasks.entries()) {
    const manual = answer === 'm';
    edits.push(...(await editTask(asker, io, task, index + 1, { manual, models: models || manual })));
  }
  return edits;
}

/** Shows what there is; Enter keeps it. */
async function editTask(
  asker: Pick<Asker, 'ask'>,
  io: Pick<Io, 'say' | 'complain'>,
  task: PlanTask,
  number: number,
  { manual, models }: { readonly manual: boolean; readonly models: boolean },
): Promise<readonly PlanEdit[]> {
  const typed = async (prompt: string): Promise<string> =>
    ((await asker.ask(`  ${prompt} (Enter keeps): `)) ?? '').trim();
  io.say(`\nEdit Task ${number} (${task.role})`);
  io.say(`  Current: ${harmless(task.description)}`);
  const description = await typed('New description');
  io.say(`  Current model: ${harmless(task.model.asked)}`);
  const model = models ? await typed('New model') : '';
  const tokens = manual ? await typed('Max tokens') : '';
  const isNumber = /^\d+$/.test(tokens);
  if (tokens !== '' && !isNumber) io.complain(`  not changed: "${harmless(tokens)}" is not a number of tokens`);
  const budget = { ...task.budget, maxTokens: Number(tokens) };
  return [
    ...(description === '' ? [] : [{ is: 'describe', task: task.id, description } as const]),
    ...(model === '' ? [] : [{ is: 'model', task: task.id, model } as const]),
    ...(isNumber ? [{ is: 'budget', task: task.id, budget } as const] : []),
  ];
}
