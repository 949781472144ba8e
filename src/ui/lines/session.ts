/**
 * Line mode with a person at it: what is typed becomes an answer, a command or a task, while the run goes on and is announced. Which answers
 * there are is line-answers.ts's, what commands do stands with them.
 */
import { attachTo } from '../../app/client/attach.ts';
import { keepCopy } from '../../app/process/clipboard-file.ts';
import { type Io, harmless } from '../../app/process/io.ts';
import { world } from '../../app/process/world.ts';
import type { PlanEdit } from '../../domain/plan/plan-edit.ts';
import { fail } from '../../domain/result.ts';
import type { MimirEvent } from '../../events/event.ts';
import { type RunState, EMPTY } from '../../events/state.ts';
import type { Command, Controls } from '../../ports/controls.ts';
import type { Lobby } from '../../ports/project-service.ts';
import { sumWords } from './change.ts';
import { type Going, type LineDesk, type Place, meantBy, meantInSpeech, Stoppable } from './command.ts';
import { LINE_COMMANDS } from './commands/commands.ts';
import { statusLine } from './commands/look.ts';
import { startLines, take } from './commands/start.ts';
import type { LineConsole, Typed } from './console.ts';
import { newMemory, rememberPlan } from './memory.ts';
import { DECIDING, ROUSING, until, type Joined, LineRun } from './run.ts';
import { forgiving, LineCarrying } from './run-ownership.ts';
import { LineAnswers, type AnswersParts } from './answers.ts';
import type { LineQuestions } from './words/questions.ts';

interface SessionParts extends Pick<AnswersParts, 'approves' | 'models'> {
  readonly io: Pick<Io, 'paint' | 'terminal'>;
  readonly console: LineConsole;
  /** Null: one run is carried, and the session ends with it. */
  readonly lobby: Lobby | null;
  /** Where the last copy is kept. */
  readonly folder: string;
  /** Where one run is carried: starts a process that goes on with it. */
  readonly detach?: Lobby['detach'];
}

export class LineSession implements LineDesk {
  readonly memory = newMemory();
  readonly stoppable = new Stoppable();
  readonly #of: SessionParts;
  readonly #over = Promise.withResolvers<void>();
  readonly #carrying: LineCarrying;
  #answers: LineAnswers;
  #run: LineRun | null = null;
  #wake = new AbortController();
  #isOver = false;
  #leaving = false;
  #inputEnded = false;

  constructor(parts: SessionParts) {
    this.#of = parts;
    this.#answers = new LineAnswers({ ...parts, desk: this });
    this.#carrying = new LineCarrying({
      detach: parts.detach ?? ((session) => parts.lobby?.detach?.(session) ?? Promise.resolve(NO_RUN)),
      state: () => this.state,
      say: (...lines) => this.say(...lines),
      refuse: (line) => this.refuse(line),
      ask: (prompt) => this.ask(prompt),
      leave: () => void this.leave(),
    });
  }

  /** Resolves when a handing over that was begun has ended, however. */
  async parted(): Promise<void> {
    await this.#carrying.settled;
  }

  /** Does the run go on without this session? */
  get goesOn(): boolean {
    return this.#carrying.goesOn;
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
    return this.#answers.questions;
  }

  now(): number {
    return world.now();
  }

  say(...lines: readonly string[]): void {
    for (const text of lines) for (const line of harmless(text).split('\n')) this.#announce(line);
  }

  refuse(line: string): void {
    if (!this.#isOver) this.#of.console.complain(harmless(`${capital(line)}${/[.?!]$/.test(line) ? '' : '.'}`));
  }

  ask(prompt: string): Promise<string | null> {
    return this.#of.console.ask(harmless(prompt), 'fresh');
  }

  async submit(command: Command): Promise<boolean> {
    const run = this.#run;
    const done =
      command.do === 'edit plan' ? await this.edited(command.edit) : ((await run?.controls.submit(command)) ?? NO_RUN);
    if (done.ok && DECIDING.has(command.do)) this.#answers.decided();
    if (!done.ok) this.refuse(`not done: ${done.fault.text}`);
    // A change of the plan is announced itself.
    else if (command.do !== 'edit plan') this.say(capital(done.value.text));
    return done.ok;
  }

  async edited(edit: PlanEdit): ReturnType<Controls['submit']> {
    const run = this.#run;
    if (run === null) return NO_RUN;
    const before = run.changes;
    const done = await run.controls.submit({ do: 'edit plan', edit });
    if (done.ok) await until(() => run.changes > before);
    return done;
  }

  keepCopy(text: string): string | null {
    return keepCopy(text, this.#of.folder);
  }

  answer(text: string): Promise<void> {
    return this.#answers.answer(text);
  }

  /** Works until the person leaves, or where only one run is carried, until that has ended. */
  async work(): Promise<void> {
    await Promise.race([this.#loop(), this.#over.promise]);
  }

  /** Takes a run over: what it does is announced from now on. */
  follow(given: Controls, how?: Joined): void {
    const controls = forgiving(given);
    this.#run?.stop();
    this.#answers = new LineAnswers({ ...this.#of, desk: this });
    const announcing = {
      say: (line: string) => this.#announce(line),
      paint: this.#of.io.paint,
      now: () => world.now(),
      verbosity: () => this.memory.verbosity,
    };
    const run = new LineRun(controls, announcing, (event, state) => this.#heard(event, state), how);
    this.#run = run;
    this.#carrying.follow(controls, run.ended);
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
    if (to === 'start') return this.#toStart();
    if (typeof to === 'string') return this.#carrying.part(to);
    const { lobby } = this.#of;
    const joined = 'resume' in to ? { resumed: world.now() } : 'attach' in to ? 'attached' : undefined;
    const begun = lobby === null ? fail({ text: 'only a session begins runs: mimir --plain' }) : await begin(lobby, to);
    if (begun.ok) this.follow(begun.value, joined);
    else this.refuse(begun.fault.text);
  }

  #toStart(): void {
    this.#run?.stop();
    this.#run = null;
    this.#carrying.follow(null);
    this.welcome();
  }

  /** Stops the run, whose state is kept, and ends; at once when it is asked for again. What another process carries goes on. */
  async leave(): Promise<void> {
    if (!this.#leaving && this.#run !== null) {
      this.#leaving = true;
      await this.#carrying.stop(this.#run.ended);
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
      const waits = this.#run !== null && this.place !== 'result';
      if (waits) await (this.#inputEnded ? this.#answers.refuseAll() : this.#answers.sayWhatWaits());
      if (this.#isOver) return;
      const typed = await this.#next();
      if (typed === 'woken') this.#wake = new AbortController();
      else if (typed === null) await this.#noInput();
      else await this.#take(typed);
    }
  }

  #next(): Promise<Typed | null | 'woken'> {
    const { signal } = this.#wake;
    if (!this.#inputEnded) return this.#of.console.next(this.#prompt(), signal);
    return new Promise((resolve) => {
      if (signal.aborted) resolve('woken');
      else signal.addEventListener('abort', () => resolve('woken'), { once: true });
    });
  }

  #prompt(): string {
    return this.place === 'start' || this.place === 'result' ? '> ' : this.#answers.prompt();
  }

  /** Nobody types any more: a session ends; a run that is carried goes on, and whatever it asks is a no. */
  async #noInput(): Promise<void> {
    this.#inputEnded = true;
    if (this.#of.lobby !== null) await this.leave();
  }

  async #take(typed: Typed): Promise<void> {
    const line = typed.text.trim();
    if (this.place === 'start') return this.#atStart(line);
    if (this.place !== 'result' && (await this.#answers.takes(typed))) return;
    if (line === '') return this.say(statusLine(this.state, world.now()));
    const meant = (this.#answers.isTalk() ? meantInSpeech : meantBy)(line, LINE_COMMANDS, this.place);
    if (meant.is === 'command') return meant.command.run(meant.rest, this);
    if (meant.is === 'unclear') return this.refuse(meant.words);
    await this.#answers.strange(line);
  }

  async #atStart(line: string): Promise<void> {
    if (line === '') return this.say('Type a task, or help.');
    if (/^\d+$/.test(line)) return take(line, this);
    const meant = meantInSpeech(line, LINE_COMMANDS, 'start');
    if (meant.is === 'command') return meant.command.run(meant.rest, this);
    if (meant.is === 'unclear') return this.refuse(`${meant.words}. A task of this one word: task ${line}`);
    await this.go({ start: line });
  }

  #announce(line: string): void {
    if (!this.#isOver) this.#of.console.say(line);
  }

  #heard(event: MimirEvent, state: RunState): void {
    rememberPlan(this.memory, event, state);
    if (event.type === 'plan.proposed') this.#answers.proposed(event.seq);
    if (event.type === 'plan.edited')
      this.say(`${capital(event.edit)}. Now ${sumWords(event.plan, state)}; plan says all of it.`);
    if (event.type === 'plan.amended') this.say(`The plan is changed: ${event.changes.join('; ')}.`);
    if (ROUSING.has(event.type)) this.#wake.abort();
  }

  #ended(run: LineRun): void {
    if (run !== this.#run) return;
    // Handed over, or lost, which is said where it is known.
    const goesOn = this.#carrying.isElsewhere && run.state.finished === null;
    if (this.#carrying.isHanding || goesOn) return this.#wake.abort();
    if (this.#of.lobby === null) return this.#finish();
    const rejected = run.state.finished?.status === 'rejected';
    if (!this.#leaving) this.say(rejected ? 'new begins another task, quit leaves.' : AFTERWARDS);
    this.#wake.abort();
  }

  async #quit(): Promise<void> {
    if (await this.#carrying.mayLeave()) await this.leave();
  }
}

const NO_RUN = fail({ text: 'there is no run' });

const capital = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

// From what a person typed to a run: a task, a session to go on with, a kept plan; and what can be typed when it is over.

/** Refused where this lobby has no templates. */
async function begin(lobby: Lobby, to: Exclude<Going, string>): ReturnType<Lobby['start']> {
  if ('start' in to) return lobby.start(to.start, to.direct);
  if ('resume' in to) return lobby.resume(to.resume, to.followUp);
  if ('attach' in to) return attachTo(lobby, to.attach);
  return (await lobby.startTemplate?.(to.template, to.values)) ?? fail({ text: 'templates can’t be used here' });
}

/** Said once behind the end of a run. */
const AFTERWARDS =
  'report says it again, agents lists who did what, export writes it to a file; new begins another, quit leaves.';
