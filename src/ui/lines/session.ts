/**
 * Line mode with a person at the terminal: a typed line becomes an answer, a command or a task, while the run continues and is printed.
 * Answers are read in answers.ts, and what commands do is in commands/.
 */
import { NO_RUN, trackPlan } from '../../app/actions/index.ts';
import { attachTo } from '../../app/client/index.ts';
import { EXIT, Exit, sanitise, type Io, saveCopy, world, wrongUse } from '../../app/process/index.ts';
import { capitalise } from '../../app/views/index.ts';
import { fail } from '../../domain/result.ts';
import { EMPTY, type MimirEvent, type RunState } from '../../events/index.ts';
import type { Command, Controls } from '../../ports/controls.ts';
import type { ProjectService } from '../../ports/project-service.ts';
import { type AnswersParts, LineAnswers } from './answers.ts';
import { type Going, type LineContext, meantBy, meantInSpeech, newMemory, type Place } from './command.ts';
import { LINE_COMMANDS } from './commands/commands.ts';
import { sumWords } from './commands/edits.ts';
import { statusLine } from './commands/look.ts';
import { startLines, takeSuggestion } from './commands/start.ts';
import type { LineConsole, Typed } from './console.ts';
import type { LineQuestions } from './questions.ts';
import { LineRunOwnership } from './run-ownership.ts';
import { DECIDING, type Joined, LineRun, PROMPT_EVENTS, until } from './run.ts';

interface SessionParts extends Pick<AnswersParts, 'approves' | 'models'> {
  readonly io: Pick<Io, 'paint' | 'terminal'>;
  readonly console: LineConsole;
  /** Null: one run is carried, and the session ends with it. */
  readonly projectService: ProjectService | null;
  /** The folder of the last copy. */
  readonly folder: string;
  /** Runs a command of Mimir in this session. */
  readonly mimir: LineContext['mimir'];
  /** Where one run is carried: starts a process that continues it. */
  readonly detach?: ProjectService['detach'];
}

export class LineSession implements LineContext {
  readonly memory = newMemory();
  readonly #of: SessionParts;
  readonly #over = Promise.withResolvers<void>();
  readonly #ownership: LineRunOwnership;
  #answers: LineAnswers;
  #run: LineRun | null = null;
  /** Aborted when the prompt may have to change. */
  #wake = new AbortController();
  #isOver = false;
  #leaving = false;
  #inputEnded = false;

  constructor(parts: SessionParts) {
    this.#of = parts;
    this.#answers = new LineAnswers({ ...parts, context: this });
    this.#ownership = new LineRunOwnership({
      detach: parts.detach ?? ((session) => parts.projectService?.detach?.(session) ?? Promise.resolve(WITHOUT_RUN)),
      context: this,
      run: () => this.#run,
      leave: () => void this.leave(),
    });
  }

  /** Resolves when a hand-over that was begun has ended, with whatever result. */
  get handedOver(): Promise<void> {
    return this.#ownership.settled;
  }

  /** Does the run continue without this session? */
  get continues(): boolean {
    return this.#ownership.continues;
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

  get projectService(): ProjectService | null {
    return this.#of.projectService;
  }

  get questions(): LineQuestions {
    return this.#answers.questions;
  }

  now(): number {
    return world.now();
  }

  say(...lines: readonly string[]): void {
    for (const text of lines) for (const line of sanitise(text).split('\n')) this.#print(line);
  }

  refuse(line: string): void {
    if (!this.#isOver) this.#of.console.complain(sanitise(`${capitalise(line)}${/[.?!]$/.test(line) ? '' : '.'}`));
  }

  ask(prompt: string): Promise<string | null> {
    return this.#of.console.ask(sanitise(prompt), 'fresh');
  }

  async send(command: Command): ReturnType<Controls['submit']> {
    const run = this.#run;
    const before = run?.changes ?? 0;
    const done = (await run?.submit(command)) ?? WITHOUT_RUN;
    if (done.ok && command.do === 'edit plan') await until(() => (run?.changes ?? 0) > before);
    return done;
  }

  async submit(command: Command): Promise<void> {
    const done = await this.send(command);
    if (!done.ok) throw wrongUse(`not done: ${done.fault.text}`);
    if (DECIDING.has(command.do)) this.#answers.decided();
    // The event of an edit is printed.
    if (command.do !== 'edit plan') this.say(capitalise(done.value.text));
  }

  mimir(words: readonly string[]): Promise<void> {
    return this.#of.mimir(words);
  }

  keepCopy(text: string): string | null {
    return saveCopy(text, this.#of.folder);
  }

  /** Works until the person leaves, or where only one run is carried, until that has ended. */
  async work(): Promise<void> {
    await Promise.race([this.#loop(), this.#over.promise]);
  }

  /** Follows a run: its events are printed from now on. */
  follow(controls: Controls, how?: Joined): void {
    this.#run?.stop();
    this.#answers = new LineAnswers({ ...this.#of, context: this });
    const print = {
      say: (line: string) => this.#print(line),
      paint: this.#of.io.paint,
      now: () => world.now(),
      verbosity: () => this.memory.verbosity,
    };
    const listeners = {
      happened: (event: MimirEvent, state: RunState) => this.#happened(event, state),
      lost: (why: string) => {
        if (run === this.#run) this.#ownership.reportLoss(why);
      },
    };
    const run = new LineRun(controls, print, listeners, how);
    this.#run = run;
    void run.ended.then(
      () => this.#ended(run),
      (error: unknown) => this.#over.reject(error),
    );
  }

  /** Prints the project and what can be started. */
  welcome(): void {
    const info = this.#of.projectService?.info();
    if (info !== undefined) this.say(...startLines(info));
  }

  async go(to: Going): Promise<void> {
    if (to === 'quit') return this.#quit();
    if (to === 'start') return this.#toStart();
    if (typeof to === 'string') return this.#ownership.detach(to);
    if ('answer' in to) return this.#answers.answer(to.answer);
    const { projectService } = this.#of;
    const joined = 'resume' in to ? { resumed: world.now() } : 'attach' in to ? 'attached' : undefined;
    const started =
      projectService === null
        ? fail({ text: 'runs start only in a session: mimir --plain' })
        : await start(projectService, to);
    if (started.ok) this.follow(started.value, joined);
    else this.refuse(started.fault.text);
  }

  #toStart(): void {
    this.#run?.stop();
    this.#run = null;
    this.welcome();
  }

  /** Stops a run of this process resumably and ends the session; a second call ends it at once. */
  async leave(): Promise<void> {
    if (!this.#leaving && this.#run !== null) {
      this.#leaving = true;
      await this.#ownership.stop();
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
      const asks = this.#run !== null && this.place !== 'result';
      if (asks) await (this.#inputEnded ? this.#answers.refuseAll() : this.#answers.printPending());
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

  /** The input has ended: so does a session; a run that is carried continues, and all its questions are denied. */
  async #noInput(): Promise<void> {
    this.#inputEnded = true;
    if (this.#of.projectService !== null) await this.leave();
  }

  /** Takes a typed line; prints why it did nothing. */
  async #take(typed: Typed): Promise<void> {
    const line = typed.text.trim();
    try {
      await (this.place === 'start' ? this.#atStart(line) : this.#inRun(line, typed));
    } catch (error) {
      if (!(error instanceof Exit)) throw error;
      if (error.code !== EXIT.notApproved) this.refuse(error.message);
      else if (error.message !== '') this.say(error.message);
    }
  }

  async #inRun(line: string, typed: Typed): Promise<void> {
    if (this.place !== 'result' && (await this.#answers.takes(typed))) return;
    if (line === '') return this.say(statusLine(this.state, world.now()));
    const meant = (this.#answers.isTalk() ? meantInSpeech : meantBy)(line, LINE_COMMANDS, this.place);
    await (meant === null ? this.#answers.takeOther(line) : meant.command.run(meant.rest, this));
  }

  async #atStart(line: string): Promise<void> {
    if (line === '') return this.say('Type a task, or help.');
    if (/^\d+$/.test(line)) return takeSuggestion(Number(line), this);
    const meant = meantInSpeech(line, LINE_COMMANDS, 'start');
    await (meant === null ? this.go({ start: line }) : meant.command.run(meant.rest, this));
  }

  #print(line: string): void {
    if (!this.#isOver) this.#of.console.say(line);
  }

  #happened(event: MimirEvent, state: RunState): void {
    this.memory.plans = trackPlan(this.memory.plans, state);
    // A resumed run offers its plan again.
    if (event.type === 'plan.proposed' || event.type === 'session.resumed') this.#answers.proposed(event.seq);
    if (event.type === 'plan.edited')
      this.say(`${capitalise(event.edit)}. Now ${sumWords(event.plan, state)}; plan shows all of it.`);
    if (event.type === 'plan.amended') this.say(`The plan is changed: ${event.changes.join('; ')}.`);
    if (PROMPT_EVENTS.has(event.type)) this.#wake.abort();
  }

  #ended(run: LineRun): void {
    if (run !== this.#run) return;
    const { finished } = run.state;
    const continues = this.#ownership.isElsewhere && finished === null;
    if (this.#ownership.isHandingOver || continues) return this.#wake.abort();
    if (this.#of.projectService === null) return this.#finish();
    if (!this.#leaving) this.say(finished?.status === 'rejected' ? 'new starts another task, quit quits.' : AFTERWARDS);
    this.#wake.abort();
  }

  async #quit(): Promise<void> {
    if (await this.#ownership.mayLeave()) await this.leave();
  }
}

const WITHOUT_RUN = fail({ text: NO_RUN });

/** Starts, resumes or attaches to a run. */
async function start(
  projectService: ProjectService,
  to: Exclude<Going, string | { readonly answer: string }>,
): ReturnType<ProjectService['start']> {
  if ('start' in to) return projectService.start(to.start, to.direct);
  if ('resume' in to) return projectService.resume(to.resume, to.followUp);
  if ('attach' in to) return attachTo(projectService, to.attach);
  return projectService.startTemplate(to.template, to.values);
}

/** Printed once after the end of a run. */
const AFTERWARDS =
  'report shows it again, agents lists the agents, export writes it to a file; new starts another task, quit quits.';
