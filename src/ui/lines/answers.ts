/** What one run asks the person, questions first, then the plan, and typed lines as answers. Scripts rely on its texts. */
import type { Answer } from '../../app/actions/index.ts';
import { sanitise, type Io, world, wrongUse } from '../../app/process/index.ts';
import { capitalise, HeldKey, kindOf } from '../../app/views/index.ts';
import { ROOT, type Millis } from '../../domain/ids.ts';
import type { PlanEdit } from '../../domain/plan/plan-edit.ts';
import type { PlanTask, SoundPlan } from '../../domain/plan/plan.ts';
import type { RunState } from '../../events/index.ts';
import type { Command, Controls } from '../../ports/controls.ts';
import { type CommandWords, meantBy, noCommand, type Place } from './command.ts';
import type { LineConsole, Typed } from './console.ts';
import type { NumberedQuestion } from './questions.ts';
import { answerLines, answerOf, LineQuestions, printPages, promptFor, questionLines } from './questions.ts';
import { terminalSize } from './questions.ts';

interface AnswersContext {
  readonly place: Place;
  readonly state: RunState;
  readonly commands: readonly CommandWords[];
  say(...lines: readonly string[]): void;
  send(command: Command): ReturnType<Controls['submit']>;
  submit(command: Command): Promise<void>;
}

export interface AnswersParts {
  readonly context: AnswersContext;
  readonly console: LineConsole;
  readonly io: Pick<Io, 'paint' | 'terminal'>;
  /** The person is asked to approve the plan; false where it was approved beforehand. */
  readonly approves: boolean;
  /** Editing the plan asks for models as well. */
  readonly models: boolean;
}

/** Input that begins within this time after a question was printed was meant for something else. */
const INPUT_IGNORED: Millis = 300;
const BEFORE = 'was printed, so it is ignored: type it again';

export class LineAnswers {
  readonly questions = new LineQuestions();
  readonly #of: AnswersParts;
  /** Proposals by the numbers of their events: the newest one, and the one whose options were printed. */
  #proposed = 0;
  #printed = 0;
  /** The proposal that was accepted or discarded: the event of it may take a moment. */
  #decided = 0;
  #printedAt: Millis = 0;
  readonly #held = new HeldKey();
  /** The last typed line: when it was begun, and since when the same line may be a held key. */
  #typed: { readonly begun: Millis; readonly since: Millis } = { begun: 0, since: 0 };
  #isTalkExplained = false;

  constructor(parts: AnswersParts) {
    this.#of = parts;
  }

  proposed(seq: number): void {
    this.#proposed = seq;
  }

  /** Call when the person accepted or discarded the plan, or asked for another one. */
  decided(): void {
    this.#decided = this.#proposed;
  }

  isOffered(): boolean {
    const { phase, plan } = this.#of.context.state;
    const isOpen = this.#proposed === 0 || this.#decided !== this.#proposed;
    return this.#of.approves && isOpen && phase === 'approving' && plan !== null;
  }

  current(): NumberedQuestion | null {
    return this.questions.current(this.#of.context.state);
  }

  prompt(): string {
    const current = this.current();
    if (current !== null) return promptFor(current, this.#of.context.state);
    return this.isOffered() ? PROCEED : this.isTalk() ? `main (${ROOT})> ` : '> ';
  }

  /** Is a line that is no command a message to main? It is in a run without a plan, while no question is open. */
  isTalk(): boolean {
    const { place, state } = this.#of.context;
    return place === 'run' && state.idle && state.finished === null && this.current() === null;
  }

  /** Takes a line that is neither an answer nor a command. */
  async takeOther(line: string): Promise<void> {
    const { context } = this.#of;
    if (this.current() !== null)
      throw wrongUse(`that is not an answer or a command; the question is still open. ${this.prompt().trim()}`);
    if (this.isTalk()) return context.submit({ do: 'message', to: ROOT, text: line, delivery: 'important' });
    // Any other answer cancels.
    if (this.isOffered()) await context.submit({ do: 'reject plan' });
    else throw wrongUse(noCommand(line.split(/\s/)[0] ?? ''));
  }

  /** Prints what was not printed yet: an open question, the options of a plan, or where typed text goes. */
  async printPending(): Promise<void> {
    const { context, console, models } = this.#of;
    const next = this.questions.unprinted(context.state);
    if (next !== null) return this.#print(next);
    if (this.isTalk() && !this.#isTalkExplained) {
      this.#isTalkExplained = true;
      console.say('Text is sent to main as a message; help lists the commands.');
    }
    if (!this.isOffered() || this.#printed === this.#proposed) return;
    this.#printed = this.#proposed;
    for (const line of optionsFor(models)) console.say(line);
    console.say('  or a command: help lists them');
    this.#printedAt = world.now();
  }

  /** True when the line is an answer, whether it was accepted or not. */
  async takes(typed: Typed): Promise<boolean> {
    this.#typed = { begun: typed.begun, since: this.#held.since(typed.text.trim(), typed.begun) };
    const current = this.current();
    if (current !== null) return this.#takeAnswer(current, typed);
    return this.isOffered() && this.#takePlanWord(typed);
  }

  /** Answers the question that was printed last, also with words that are a command. */
  async answer(text: string): Promise<void> {
    const { context } = this.#of;
    const current = this.current();
    if (current === null) throw wrongUse('no question was printed: questions lists them');
    const given = answerOf(current.first.request, text, true);
    if (given === null) throw wrongUse(`that is not an answer: ${promptFor(current, context.state).trim()}`);
    this.#refuseUnintended();
    await this.#give(current, given);
  }

  /** Refuses an answer that was begun before the question was printed, or that comes from a held key. */
  #refuseUnintended(): void {
    const { begun, since } = this.#typed;
    const { printedAt } = this.questions;
    if (begun < printedAt) throw wrongUse(`that was begun before the question ${BEFORE}`);
    // The lines of a pipe were written for questions to come.
    if (this.#of.io.terminal && since < printedAt + INPUT_IGNORED)
      throw wrongUse('that came as fast as a held key repeats, so it is ignored: type it again');
  }

  /** Nobody is there to answer: denies all open questions and discards a plan that waits. */
  async refuseAll(): Promise<void> {
    const { context } = this.#of;
    for (const { all } of this.questions.open(context.state))
      for (const { id } of all) await context.send({ do: 'answer', approval: id, allow: false, scope: 'once' });
    if (this.isOffered()) await context.send({ do: 'reject plan' });
  }

  async #print(next: NumberedQuestion): Promise<void> {
    const { context, console, io } = this.#of;
    await console.fresh();
    const size = terminalSize(io);
    const lines = [...questionLines(next, context.state, io, { size, now: world.now() }), ...answerLines(next.first)];
    const read = await printPages(lines, console, size);
    this.questions.setPrinted(next, world.now());
    if (!read && kindOf(next.first.request) === 'permission')
      await this.#give(next, { allow: false, scope: 'once', text: '' });
  }

  async #takeAnswer(current: NumberedQuestion, { text }: Typed): Promise<boolean> {
    const { context } = this.#of;
    const { request } = current.first;
    const isCommand = meantBy(text, context.commands, context.place, true) !== null;
    const given = answerOf(request, text, false) ?? (isCommand ? null : answerOf(request, text, true));
    if (given === null) return false;
    this.#refuseUnintended();
    await this.#give(current, given);
    return true;
  }

  async #give(current: NumberedQuestion, given: Answer): Promise<void> {
    const { context } = this.#of;
    let receipt = '';
    for (const command of this.questions.answer(current, given)) {
      const done = await context.send(command);
      if (!done.ok) {
        this.questions.reopen(current);
        throw wrongUse(done.fault.text);
      }
      receipt = `${capitalise(done.value.text)}.${given.scope === 'once' ? '' : ' grants lists and withdraws it.'}`;
    }
    context.say(receipt);
  }

  async #takePlanWord({ text, begun }: Typed): Promise<boolean> {
    const { context } = this.#of;
    const word = planWord(text);
    if (word === 'other') return false;
    if (begun < this.#printedAt) throw wrongUse(`that was begun before the plan ${BEFORE}`);
    if (word === 'cancel') {
      await context.submit({ do: 'reject plan' });
      return true;
    }
    if (word !== 'proceed') await this.#editAll(word);
    const done = await context.send({ do: 'approve plan', digest: context.state.planDigest });
    if (!done.ok) throw wrongUse(done.fault.text);
    this.decided();
    return true;
  }

  /** Asks for the edits of each task. A refused edit is printed, and the next one is made. */
  async #editAll(word: 'e' | 'm'): Promise<void> {
    const { context, console, models } = this.#of;
    for (const edit of await editsOf(word, console, { plan: context.state.plan, models })) {
      const done = await context.send({ do: 'edit plan', edit });
      if (!done.ok) console.complain(`  not changed: ${sanitise(done.fault.text)}`);
    }
  }
}

// The plan prompt: proceed, cancel, edit, manual. Any other answer cancels.

export const optionsFor = (models: boolean): readonly string[] => [
  'Options:',
  '  Y  proceed with the recommended plan (Enter)',
  '  n  cancel',
  `  e  edit task descriptions${models ? ' or models' : ''}`,
  '  m  manual mode: description, model and max tokens of each agent',
];

const PROCEED = 'Proceed? [Y/n/e/m] ';

/** A line typed at the plan prompt: `e` and `m` ask for edits. */
type PlanWord = 'proceed' | 'cancel' | 'e' | 'm' | 'other';

export function planWord(typed: string): PlanWord {
  const word = typed.trim();
  if (['', 'y', 'Y'].includes(word)) return 'proceed';
  if (word === 'n') return 'cancel';
  return word === 'e' || word === 'm' ? word : 'other';
}

/** Asks for the edits of each task in turn; throws an `Exit` when the input ends. Without `models` (`promptForModels`) only `m` asks for models. */
export async function editsOf(
  answer: 'e' | 'm',
  io: Pick<Io, 'ask' | 'say' | 'complain'>,
  { plan, models }: { readonly plan: SoundPlan | null; readonly models: boolean },
): Promise<readonly PlanEdit[]> {
  const edits: PlanEdit[] = [];
  for (const [index, task] of (plan?.tasks ?? []).entries()) {
    const manual = answer === 'm';
    edits.push(...(await editTask(io, task, index + 1, { manual, models: models || manual })));
  }
  return edits;
}

/** Prints the present values; Enter keeps one. */
async function editTask(
  io: Pick<Io, 'ask' | 'say' | 'complain'>,
  task: PlanTask,
  number: number,
  { manual, models }: { readonly manual: boolean; readonly models: boolean },
): Promise<readonly PlanEdit[]> {
  const typed = async (prompt: string): Promise<string> => {
    const text = await io.ask(`  ${prompt} (Enter keeps): `);
    if (text === null) throw wrongUse('the input has ended: the plan is unchanged');
    return text.trim();
  };
  io.say(`\nEdit Task ${number} (${task.role})`);
  io.say(`  Current: ${sanitise(task.description)}`);
  const description = await typed('New description');
  io.say(`  Current model: ${sanitise(task.model.asked)}`);
  const model = models ? await typed('New model') : '';
  const tokens = manual ? await typed('Max tokens') : '';
  const isNumber = /^\d+$/.test(tokens);
  if (tokens !== '' && !isNumber) io.complain(`  not changed: "${sanitise(tokens)}" is not a number of tokens`);
  const budget = { ...task.budget, maxTokens: Number(tokens) };
  return [
    ...(description === '' ? [] : [{ is: 'describe', task: task.id, description } as const]),
    ...(model === '' ? [] : [{ is: 'model', task: task.id, model } as const]),
    ...(isNumber ? [{ is: 'budget', task: task.id, budget } as const] : []),
  ];
}
