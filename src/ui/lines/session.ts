/** Line mode with a person: a typed line becomes an answer, a command or a task, while the run continues and is printed. */
import wrapAnsi from 'wrap-ansi';
import { NO_HISTORY, NO_RUN, type PlanHistory, trackPlan } from '../../app/actions/index.ts';
import { goesOnElsewhere, handOver, stopKept } from '../../app/client/index.ts';
import { EXIT, Exit, IS_YES, sanitise, saveCopy, world, wrongUse } from '../../app/process/index.ts';
import { planFigures } from '../../app/reports/index.ts';
import { capitalise, isOpen, operationsInFlight } from '../../app/views/index.ts';
import type { AgentId, Millis, SessionId } from '../../domain/ids.ts';
import { fail, type Result } from '../../domain/result.ts';
import { EMPTY, type MimirEvent, type RunState } from '../../events/index.ts';
import type { Command, Controls, Refusal } from '../../ports/controls.ts';
import type { ProjectInfo, ProjectService } from '../../ports/project-service.ts';
import { statusLine } from './agents.ts';
import { type AnswersParts, LineAnswers } from './answers.ts';
import { type CommandWords, meantBy, meantInSpeech, type Place } from './command.ts';
import type { Typed } from './console.ts';
import { terminalSize } from './questions.ts';
import { DECIDING, LineRun, PROMPT_EVENTS, until, type Verbosity } from './run.ts';

export interface LineCommand extends CommandWords {
  /** Throws `Exit` when nothing is done: its message says why. */
  run(rest: string, session: LineSession): Promise<void> | void;
}

export interface SessionParts extends Omit<AnswersParts, 'context'> {
  readonly service: ProjectService;
  readonly commands: readonly LineCommand[];
  /** The folder of the last copy. */
  readonly folder: string;
  readonly mimir: (words: readonly string[]) => Promise<void>;
  /** The session ends with its run. */
  readonly once: boolean;
}

export class LineSession {
  verbosity: Verbosity = 'normal';
  /** The id of the agent that `attention` printed last. */
  attended = '';
  plans: PlanHistory = NO_HISTORY;
  readonly #of: SessionParts;
  readonly #over = Promise.withResolvers<void>();
  #answers: LineAnswers;
  #run: LineRun | null = null;
  /** Aborted when the prompt may have to change. */
  #wake = new AbortController();
  #isOver = false;
  #leaving = false;
  #inputEnded = false;
  #handingOver = false;
  #detached = false;

  constructor(parts: SessionParts) {
    this.#of = parts;
    this.#answers = new LineAnswers({ ...parts, context: this });
  }

  get place(): Place {
    if (this.#run === null) return 'start';
    const { phase } = this.state;
    if (phase === 'finished') return 'result';
    return phase === 'running' || phase === 'merging' ? 'run' : 'plan';
  }

  /** The present state of the run, sanitised; the empty state without a run. */
  get state(): RunState {
    return this.#run?.state ?? EMPTY;
  }

  get controls(): Controls | null {
    return this.#run?.controls ?? null;
  }

  get service(): ProjectService {
    return this.#of.service;
  }

  get commands(): readonly LineCommand[] {
    return this.#of.commands;
  }

  get answers(): LineAnswers {
    return this.#answers;
  }

  /** Does the run continue when this session ends? */
  get continues(): boolean {
    const run = this.#run;
    return this.#detached || (run !== null && goesOnElsewhere(run.controls, this.#lost !== null, run.state));
  }

  get #lost(): { readonly why: string } | null {
    return this.#run?.elsewhere?.lost ?? null;
  }

  /** Prints lines, sanitised; a text may have several lines. */
  say(...lines: readonly string[]): void {
    for (const text of lines) for (const line of sanitise(text).split('\n')) this.#print(line);
  }

  refuse(line: string): void {
    if (!this.#isOver) this.#of.console.complain(sanitise(`${capitalise(line)}${/[.?!]$/.test(line) ? '' : '.'}`));
  }

  /** The next typed line, for one command alone; null at the end of input. Lines that were typed before are ignored. */
  ask(prompt: string): Promise<string | null> {
    return this.#of.console.ask(sanitise(prompt), 'fresh');
  }

  /** Hands a command to the run and prints nothing; a refusal without a run. After an edit of the plan `state` has it. */
  async send(command: Command): ReturnType<Controls['submit']> {
    const run = this.#run;
    const before = this.state.seq;
    const done = (await run?.submit(command)) ?? WITHOUT_RUN;
    if (done.ok && command.do === 'edit plan') await until(() => this.state.seq > before);
    return done;
  }

  /** The same, and prints the receipt; throws the refusal. */
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

  /** Writes a text into the clipboard file; the name of the file, or null when it cannot be written. */
  keepCopy(text: string): string | null {
    return saveCopy(text, this.#of.folder);
  }

  /** Works until the person leaves, or where the session has one run, until that has ended. */
  async work(): Promise<void> {
    await Promise.race([this.#loop(), this.#over.promise]);
  }

  /** Follows the run that is being started, or prints why there is none. `joined`: it had begun before that time. */
  async begin(starting: Promise<Result<Controls, Refusal>>, joined?: Millis): Promise<void> {
    const started = await starting;
    if (started.ok) this.follow(started.value, joined);
    else this.refuse(started.fault.text);
  }

  resume(id: SessionId, followUp?: string, to?: AgentId): Promise<void> {
    return this.begin(this.service.resume(id, followUp, ...(to === undefined ? [] : [to])), world.now());
  }

  /** Follows a run: its events are printed from now on. */
  follow(controls: Controls, joined?: Millis): void {
    this.#run?.stop();
    this.#answers = new LineAnswers({ ...this.#of, context: this });
    const print = {
      say: (line: string) => this.#print(line),
      paint: this.#of.io.paint,
      now: () => world.now(),
      verbosity: () => this.verbosity,
      authors: async (id: SessionId) => (await this.service.authors?.(id)) ?? null,
    };
    const listeners = {
      happened: (event: MimirEvent, state: RunState) => this.#happened(event, state),
      lost: (why: string) => {
        if (run === this.#run)
          this.say(
            `The run has no process: ${why}`,
            'The recorded state is kept. here continues it in this process, quit quits.',
          );
      },
    };
    const run = new LineRun(controls, print, listeners, joined);
    this.#run = run;
    void run.ended.then(
      () => this.#ended(run),
      (error: unknown) => this.#over.reject(error),
    );
  }

  /** Returns to the start, for another run: prints the project and what can be started. */
  welcome(): void {
    this.#run?.stop();
    this.#run = null;
    this.say(...startLines(this.service.info()));
  }

  /** Hands the run over to a background process; `now` cuts off the calls that a hand-over waits for, `stay` cancels it. */
  async detach(how: 'when quiet' | 'now' | 'stay'): Promise<void> {
    const run = this.#run;
    if (run === null) throw wrongUse(NO_RUN);
    if (run.elsewhere !== undefined) return how === 'stay' ? undefined : this.leave();
    if (how === 'when quiet' && this.#handingOver) return this.#sayInFlight();
    if (how === 'when quiet') return void this.#handOver(run).catch(this.#over.reject);
    if (!this.#handingOver) throw wrongUse('the run is not being detached');
    const done = await run.submit({ do: 'hand over', how });
    // The hand-over itself reports the result.
    if (!done.ok && this.#handingOver) throw wrongUse(done.fault.text);
  }

  async #handOver(run: LineRun): Promise<void> {
    this.#handingOver = true;
    const handedOver = handOver(run.controls, (session) => this.service.detach(session));
    this.#sayInFlight();
    const done = await handedOver;
    this.#handingOver = false;
    this.#detached ||= done.ok;
    if (done.ok) {
      this.say(done.value.text);
      await this.leave();
    } else if (done.fault.is === 'halted') this.refuse(`${done.fault.text}; resume continues it here`);
    else if (run.state.finished === null) this.say(done.fault.text);
  }

  #sayInFlight(): void {
    const calls = operationsInFlight(this.state).map(({ who, what }) => `- ${who}: ${what}`);
    if (calls.length === 0) return this.say('No calls left; detaching.');
    this.say(
      'Current calls finish, then the run continues in the background:',
      ...calls,
      'detach now cuts these calls off, detach stay keeps the run here.',
    );
  }

  /** Leaves, after a question where that stops a run. */
  async quit(): Promise<void> {
    const run = this.#run;
    if (run !== null && run.state.finished === null && run.elsewhere === undefined) {
      this.say('Quitting stops the run; mimir resume continues it. (detach keeps it running.)');
      const typed = await this.ask('Quit? yes quits, anything else stays: ');
      if (typed !== null && !IS_YES.test(typed.trim())) return this.say('The run continues.');
    }
    await this.leave();
  }

  /** Stops a run of this process resumably and ends the session; a second call ends it at once. */
  async leave(): Promise<void> {
    const run = this.#run;
    if (!this.#leaving && run !== null && run.state.finished === null) {
      this.#leaving = true;
      await this.#stop(run);
    }
    this.#finish();
  }

  async #stop({ controls, ended, elsewhere, state: { session } }: LineRun): Promise<void> {
    if (elsewhere?.lost === null) return this.say(`The run continues: mimir attach ${session ?? ''} shows it again.`);
    if (elsewhere === undefined) {
      this.say('Stopping the agents; their state is kept.');
      await stopKept(controls, ended, world);
    }
    if (session !== null) this.say(`mimir resume ${session} continues it.`);
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
    const isAsked = this.place === 'plan' || this.place === 'run';
    if (!this.#inputEnded) return this.#of.console.next(isAsked ? this.#answers.prompt() : '> ', signal);
    return new Promise((resolve) => {
      if (signal.aborted) resolve('woken');
      else signal.addEventListener('abort', () => resolve('woken'), { once: true });
    });
  }

  /** The input has ended: so does a session with several runs; a single run continues, and all its questions are denied. */
  async #noInput(): Promise<void> {
    this.#inputEnded = true;
    if (!this.#of.once) await this.leave();
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
    const meant = (this.#answers.isTalk() ? meantInSpeech : meantBy)(line, this.commands, this.place);
    await (meant === null ? this.#answers.takeOther(line) : meant.command.run(meant.rest, this));
  }

  async #atStart(line: string): Promise<void> {
    if (line === '') return this.welcome();
    const suggestion = /^\d+$/.test(line) ? this.service.info().suggestions[Number(line) - 1] : undefined;
    if (suggestion !== undefined) this.say(`Task: ${suggestion}`);
    else if (/^\d+$/.test(line)) throw wrongUse(`there is no suggestion ${line}`);
    const meant = suggestion === undefined ? meantInSpeech(line, this.commands, 'start') : null;
    await (meant === null ? this.begin(this.service.start(suggestion ?? line)) : meant.command.run(meant.rest, this));
  }

  #print(line: string): void {
    if (!this.#isOver) this.#of.console.say(wrapped(line, terminalSize(this.#of.io)?.columns));
  }

  #happened(event: MimirEvent, state: RunState): void {
    this.plans = trackPlan(this.plans, state);
    // A resumed run offers its plan again.
    if (event.type === 'plan.proposed' || event.type === 'session.resumed') this.#answers.proposed(event.seq);
    if (event.type === 'plan.edited')
      this.say(`${capitalise(event.edit)}. Now ${planFigures(event.plan, state)}; plan shows all of it.`);
    if (event.type === 'plan.amended') this.say(`The plan is changed: ${event.changes.join('; ')}.`);
    if (PROMPT_EVENTS.has(event.type)) this.#wake.abort();
  }

  #ended(run: LineRun): void {
    if (run !== this.#run) return;
    const { finished } = run.state;
    this.#wake.abort();
    if (this.#handingOver || (run.elsewhere !== undefined && finished === null)) return;
    if (this.#of.once) return this.#finish();
    if (!this.#leaving) this.say(finished?.status === 'rejected' ? 'new starts another task, quit quits.' : AFTERWARDS);
  }
}

/** The line broken at blanks where the terminal would break words, indented as it begins. A longer word stays whole, so that it can be copied. */
function wrapped(line: string, columns = Infinity): string {
  const [indent = ''] = /^ *(?:[-*] |\d+\. )?/.exec(line) ?? [];
  const rows = wrapAnsi(line.slice(indent.length), Math.max(20, columns - indent.length), { trim: false }).split('\n');
  return rows.map((row, at) => (at === 0 ? indent : ' '.repeat(indent.length)) + row.trimEnd()).join('\n');
}

const WITHOUT_RUN = fail({ text: NO_RUN });

const AFTERWARDS =
  'report shows it again, agents lists the agents, export writes it to a file; new starts another task, quit quits.';

function startLines(info: ProjectInfo): readonly string[] {
  const { project, cwd, version, provider, sandbox, mode, policy, notes, suggestions, sessions, templates } = info;
  const counts = [
    ...(suggestions.length === 0 ? [] : ['a number plans a suggestion']),
    ...(sessions.length === 0 ? [] : ['sessions lists earlier ones']),
    ...(templates.length === 0 ? [] : ['templates lists templates']),
  ];
  const facts = [
    `Mimir ${version}, ${project} in ${cwd}. ${provider}`,
    `mode ${mode}`,
    ...(sandbox === '' ? [] : [`sandbox ${sandbox}`]),
    ...(policy === '' ? [] : [policy]),
  ];
  return [
    `${facts.join(', ')}.`,
    ...notes.map((note) => `note: ${note}`),
    ...(isOpen(info.trust)
      ? ['This project is not trusted: only its restrictions apply. trust shows what it wants to add.']
      : []),
    ...(suggestions.length === 0 ? [] : ['Suggestions:', ...suggestions.map((one, at) => `${at + 1}. ${one}`)]),
    ['Type a task', ...counts, 'help lists the commands', 'quit quits'].join('; ').concat('.'),
  ];
}
