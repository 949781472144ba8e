/**
 * Line mode with a person at it: what is typed becomes an answer, a command or a task, while the run goes on and is announced. What waits
 * for the person is said first, questions before the plan; the texts of the plan prompt are CONTRACT's (O099 to O111).
 */
import { world } from './world.ts';
import { keepCopy } from '../tui/term/clipboard.ts';
import { kindOf } from '../tui/dialogs/inbox-state.ts';
import type { MimirEvent } from '../events/event.ts';
import type { RunState } from '../events/state.ts';
import { EMPTY } from '../events/state.ts';
import type { Command, Controls } from '../ports/controls.ts';
import type { Lobby } from '../ports/lobby.ts';
import type { Io } from './io.ts';
import { harmless } from './io.ts';
import { SAYS_YES, sumWords } from './line-change.ts';
import type { Going, LineDesk, Place } from './line-command.ts';
import { meantBy } from './line-command.ts';
import { LINE_COMMANDS } from './line-commands.ts';
import type { LineConsole, Typed } from './line-console.ts';
import { roomOf, sayAll } from './line-exact.ts';
import { statusLine } from './line-look-commands.ts';
import { newMemory, rememberPlan } from './line-memory.ts';
import { editsOf, optionsFor, planWord, PROCEED } from './line-plan.ts';
import type { Put } from './line-questions.ts';
import { answerLines, answerOf, LineQuestions, promptFor, questionLines } from './line-questions.ts';
import { LineRun } from './line-run.ts';
import { startLines, take } from './line-start-commands.ts';

export interface SessionParts {
  readonly io: Io;
  readonly console: LineConsole;
  /** Null: one run is carried, and the session ends with it. */
  readonly lobby: Lobby | null;
  /** The plan is put to the person; false where it is approved by other means. */
  readonly approves: boolean;
  /** The plan's models are asked for as well, where `e` edits it. */
  readonly models: boolean;
  /** Where the last copy is kept. */
  readonly folder: string;
}

/** How long a stopped run may take to say that it has ended. */
const GRACE_MS = 5000;
/** Until a change of the plan is in the log. */
const CHANGED_MS = 2000;

export class LineSession implements LineDesk {
  readonly #of: SessionParts;
  readonly memory = newMemory();
  #questions = new LineQuestions();
  #run: LineRun | null = null;
  #wake = new AbortController();
  #over = Promise.withResolvers<void>();
  #isOver = false;
  #leaving = false;
  /** The proposal whose options were said, by the number of its event. */
  #said = 0;
  #proposed = 0;
  #saidAt = 0;
  #inputEnded = false;

  constructor(parts: SessionParts) {
    this.#of = parts;
  }

  get place(): Place {
    if (this.#run === null) return 'start';
    const { phase } = this.state;
    if (phase === 'finished') return 'result';
    return phase === 'running' || phase === 'merging' ? 'run' : 'plan';
  }

  get state(): RunState {
    return this.#run?.state ?? EMPTY;
  }

  get controls(): Controls | null {
    return this.#run?.controls ?? null;
  }

  get lobby(): Lobby | null {
    return this.#of.lobby;
  }

  get questions(): LineQuestions {
    return this.#questions;
  }

  now(): number {
    return world.now();
  }

  say(...lines: readonly string[]): void {
    if (this.#isOver) return;
    for (const text of lines) for (const line of harmless(text).split('\n')) this.#of.console.say(line);
  }

  refuse(line: string): void {
    this.#of.console.complain(
      harmless(`${line.charAt(0).toUpperCase()}${line.slice(1)}${/[.?!]$/.test(line) ? '' : '.'}`),
    );
  }

  ask(prompt: string): Promise<string | null> {
    return this.#of.console.ask(harmless(prompt), 'fresh');
  }

  async submit(command: Command): Promise<boolean> {
    const run = this.#run;
    if (run === null) {
      this.refuse('there is no run');
      return false;
    }
    const before = run.changes;
    const done = await run.controls.submit(command);
    if (!done.ok) this.refuse(`not done: ${done.fault.text}`);
    else if (command.do !== 'edit plan') this.say(capital(done.value.text));
    // What is approved next is the plan with this change in it.
    else await this.#until(() => run.changes > before);
    return done.ok;
  }

  /** Works until the person leaves, or where only one run is carried, until that has ended. */
  async work(): Promise<void> {
    await Promise.race([this.#loop(), this.#over.promise]);
  }

  /** Takes a run over: what it does is announced from now on. */
  follow(controls: Controls): void {
    this.#run?.stop();
    this.#questions = new LineQuestions();
    const { io } = this.#of;
    const parts = {
      say: (line: string) => this.#announce(line),
      paint: io.paint,
      now: () => world.now(),
      verbosity: () => this.memory.verbosity,
    };
    const run = new LineRun(controls, parts, (event, state) => this.#heard(event, state));
    this.#run = run;
    void run.ended.then(
      () => this.#ended(run),
      (error: unknown) => this.#over.reject(error),
    );
  }

  /** Says where one is, before anything was begun. */
  welcome(): void {
    const info = this.#of.lobby?.info();
    if (info !== undefined) this.say(...startLines(info));
  }

  async go(to: Going): Promise<void> {
    if (to === 'quit') return this.#quit();
    if (to === 'start') {
      this.#run?.stop();
      this.#run = null;
      return this.welcome();
    }
    const { lobby } = this.#of;
    if (lobby === null) return this.refuse('only a session begins runs: mimir --plain');
    const begun = await this.#begin(lobby, to);
    if (begun === undefined) return this.refuse('templates can’t be used here');
    if (begun.ok) this.follow(begun.value);
    else this.refuse(begun.fault.text);
  }

  keepCopy(text: string): string | null {
    return keepCopy(text, this.#of.folder);
  }

  async answer(text: string): Promise<void> {
    const put = this.#questions.current(this.state);
    if (put === null) return this.refuse('no question was said: question says the next');
    const given = answerOf(put.question.first.request, text, true);
    if (given === null) return this.refuse(`that is no answer to it: ${promptFor(put, this.state).trim()}`);
    await this.#give(put, given);
  }

  /** Stops the run, whose state is kept, and ends; at once when it is asked for again. */
  async leave(): Promise<void> {
    const run = this.#run;
    if (!this.#leaving && run !== null && run.state.finished === null) {
      this.#leaving = true;
      this.say('Stopping the agents; their state is kept.');
      await run.controls.submit({ do: 'stop run', reason: 'the person left' });
      await Promise.race([run.ended, world.sleep(GRACE_MS)]);
    }
    this.#finish();
  }

  #finish(): void {
    this.#isOver = true;
    this.#over.resolve();
    this.#wake.abort();
  }

  async #loop(): Promise<void> {
    while (!this.#isOver) {
      await this.#sayWhatWaits();
      if (this.#isOver) return;
      const typed = this.#inputEnded
        ? await this.#nothing()
        : await this.#of.console.next(this.#prompt(), this.#wake.signal);
      if (typed === 'woken') this.#wake = new AbortController();
      else if (typed === null) await this.#noInput();
      else await this.#take(typed);
    }
  }

  /** Something changed that the person has to be told of. */
  #rouse(): void {
    this.#wake.abort();
  }

  #nothing(): Promise<'woken'> {
    const { signal } = this.#wake;
    return new Promise((resolve) => {
      if (signal.aborted) resolve('woken');
      else signal.addEventListener('abort', () => resolve('woken'), { once: true });
    });
  }

  /** Nobody types any more: a session ends; a run that is carried goes on, and whatever it asks is a no. */
  async #noInput(): Promise<void> {
    if (this.#of.lobby !== null) return this.leave();
    this.#inputEnded = true;
  }

  async #refuseAll(): Promise<void> {
    for (const { question } of this.#questions.waiting(this.state)) {
      for (const { id } of question.all)
        await this.controls?.submit({ do: 'answer', approval: id, allow: false, scope: 'once' });
    }
    if (this.#isOffered()) await this.controls?.submit({ do: 'reject plan' });
  }

  #isOffered(): boolean {
    return this.#of.approves && this.state.phase === 'approving' && this.state.plan !== null;
  }

  #prompt(): string {
    const put = this.#questions.current(this.state);
    if (put !== null) return promptFor(put, this.state);
    return this.#isOffered() ? PROCEED : '> ';
  }

  async #sayWhatWaits(): Promise<void> {
    if (this.#run === null || this.place === 'result') return;
    if (this.#inputEnded) return this.#refuseAll();
    const put = this.#questions.unsaid(this.state);
    if (put !== null) return this.#put(put);
    if (!this.#isOffered() || this.#said === this.#proposed) return;
    this.#said = this.#proposed;
    for (const line of optionsFor(this.#of.models)) this.#of.console.say(line);
    this.say('  or a command: help lists them');
    this.#saidAt = world.now();
  }

  async #put(put: Put): Promise<void> {
    const { console, io } = this.#of;
    await console.fresh();
    const room = roomOf(io);
    const { all, first } = put.question;
    const lines = [...questionLines({ all }, this.state, io, { room, now: world.now() }), ...answerLines(first)];
    const asker = { ask: (prompt: string) => console.ask(prompt, 'fresh') };
    const read = await sayAll(lines, { asker, io: console, room });
    this.#questions.said(put, world.now());
    if (!read && kindOf(first) === 'permission') await this.#give(put, { allow: false, scope: 'once', text: '' });
  }

  async #take({ text, begun }: Typed): Promise<void> {
    const line = text.trim();
    const put = this.#questions.current(this.state);
    if (put !== null && this.#run !== null) {
      if (await this.#asAnswer(put, line, begun)) return;
    } else if (this.#isOffered() && (await this.#asPlanWord(line, begun))) return;
    if (line === '') return this.#status();
    if (this.place === 'start') return this.#atStart(line);
    const meant = meantBy(line, LINE_COMMANDS, this.place);
    if (meant.is === 'command') return meant.command.run(meant.rest, this);
    if (meant.is === 'unclear') return this.refuse(meant.words);
    if (put !== null) return this.refuse(`that is no answer: the question waits. ${promptFor(put, this.state).trim()}`);
    // Any other answer cancels (CONTRACT O107).
    if (this.#isOffered()) await this.submit({ do: 'reject plan' });
    else this.refuse(`there is no command "${line.split(/\s/)[0] ?? ''}": help lists them. Nothing was done`);
  }

  /** True when the line was meant for the question, taken or not. */
  async #asAnswer(put: Put, line: string, begun: number): Promise<boolean> {
    const { request } = put.question.first;
    const sure = answerOf(request, line, false);
    const isCommand = meantBy(line, LINE_COMMANDS, this.place, true).is !== 'other';
    const given = sure ?? (isCommand ? null : answerOf(request, line, true));
    if (given === null) return false;
    if (begun < this.#questions.since) {
      this.refuse('that was begun before the question was said, so it answers nothing: type it again');
      return true;
    }
    await this.#give(put, given);
    return true;
  }

  async #give(put: Put, given: NonNullable<ReturnType<typeof answerOf>>): Promise<void> {
    for (const approval of this.#questions.answered(put, given)) {
      const done = await this.controls?.submit({ do: 'answer', approval, ...given });
      if (done?.ok === true) continue;
      this.#questions.refused(put);
      return this.refuse(done?.fault.text ?? 'there is no run');
    }
    this.say(given.allow ? 'Answered.' : 'Denied.');
  }

  /** True when the line was one of the four answers to the plan. */
  async #asPlanWord(line: string, begun: number): Promise<boolean> {
    const word = planWord(line);
    if (word === 'other') return false;
    if (begun < this.#saidAt) {
      this.refuse('that was begun before the plan was said, so it answers nothing: type it again');
      return true;
    }
    if (word === 'cancel') await this.submit({ do: 'reject plan' });
    else {
      if (word !== 'proceed') await this.#editAll(word);
      await this.controls?.submit({ do: 'approve plan', digest: this.state.planDigest });
    }
    return true;
  }

  async #editAll(word: 'e' | 'm'): Promise<void> {
    const { console, models } = this.#of;
    for (const edit of await editsOf(word, console, console, { plan: this.state.plan, models })) {
      const run = this.#run;
      const before = run?.changes ?? 0;
      const done = await run?.controls.submit({ do: 'edit plan', edit });
      if (done?.ok === true) await this.#until(() => (run?.changes ?? 0) > before);
      else console.complain(`  not changed: ${harmless(done?.fault.text ?? '')}`);
    }
  }

  async #atStart(line: string): Promise<void> {
    if (/^\d+$/.test(line)) return take(line, this);
    const exact = meantBy(line, LINE_COMMANDS, 'start', true);
    // A single word that is nearly a command is hardly a task.
    const meant = exact.is === 'other' && !/\s/.test(line) ? meantBy(line, LINE_COMMANDS, 'start') : exact;
    if (meant.is === 'command') return meant.command.run(meant.rest, this);
    if (meant.is === 'unclear') return this.refuse(`${meant.words}. A task of this one word: task ${line}`);
    await this.go({ start: line });
  }

  #status(): void {
    if (this.#run === null) return this.say('Type a task, or help.');
    this.say(statusLine(this.state, world.now()));
  }

  #announce(line: string): void {
    if (!this.#isOver) this.#of.console.say(line);
  }

  #heard(event: MimirEvent, state: RunState): void {
    rememberPlan(this.memory, event, state);
    if (event.type === 'plan.proposed') this.#proposed = event.seq;
    if (event.type === 'plan.edited')
      this.say(`${capital(event.edit)}. Now ${sumWords(event.plan, state)}; plan says all of it.`);
    if (event.type === 'plan.amended') this.say(`The plan is changed: ${event.changes.join('; ')}.`);
    if (ROUSING.has(event.type)) this.#rouse();
  }

  #ended(run: LineRun): void {
    if (run !== this.#run) return;
    if (this.#of.lobby === null) return this.#finish();
    if (!this.#leaving)
      this.say(
        'report says it again, agents lists who did what, export writes it to a file; new begins another, quit leaves.',
      );
    this.#rouse();
  }

  #begin(lobby: Lobby, to: Exclude<Going, string>): ReturnType<Lobby['start']> | Promise<undefined> {
    if ('start' in to) return lobby.start(to.start);
    if ('resume' in to) return lobby.resume(to.resume);
    return lobby.startTemplate?.(to.template, to.values) ?? Promise.resolve(undefined);
  }

  async #quit(): Promise<void> {
    const run = this.#run;
    if (run !== null && run.state.finished === null) {
      this.say('The run is stopped and its state kept: mimir resume goes on with it.');
      const typed = await this.ask('Leave? yes leaves, anything else stays: ');
      if (typed !== null && !SAYS_YES.test(typed.trim())) return this.say('The run goes on.');
    }
    await this.leave();
  }

  async #until(done: () => boolean): Promise<void> {
    for (let waited = 0; !done() && waited < CHANGED_MS; waited += 5) await world.sleep(5);
  }
}

const capital = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

/** What changes what the person is asked. */
const ROUSING: ReadonlySet<MimirEvent['type']> = new Set([
  'plan.proposed',
  'plan.approved',
  'plan.rejected',
  'approval.requested',
  'approval.answered',
  'session.finished',
]);
