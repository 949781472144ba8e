/**
 * A coding agent in a session of tmux: prompts are typed, and its last lines and its transcript tell when its turn is over. What they mean is judged in
 * detection.ts. */
import type { StopReason } from '@agentclientprotocol/sdk';
import type { Usage } from '../../domain/budget.ts';
import { fail, ok, type Result } from '../../domain/result.ts';
import { firstLine } from '../../domain/text/text.ts';
import type { World } from '../../ports/world.ts';
import type { AgentEvents, Connection } from '../acp/connection.ts';
import { judge, type Judged, type Phrases } from './detection.ts';
import { Transcript } from './transcript.ts';
import type { TerminalProgram } from '../../ports/program.ts';

export interface TerminalProcess extends TerminalProgram {
  /** What its transcript has got since the last call, as whole lines. */
  newLines(): readonly string[];
  /** A note on why it may have failed; empty without one. */
  errors(): string;
}

export interface TerminalSettings extends Phrases {
  readonly tokens: boolean;
  readonly tools: boolean;
  /** Milliseconds between two snapshots that are told of a terminal without a transcript. */
  readonly snapshotEvery: number;
}

export interface TerminalOptions {
  readonly name: string;
  readonly process: TerminalProcess;
  readonly settings: TerminalSettings;
  readonly events: AgentEvents;
  readonly world: Pick<World, 'sleep' | 'elapsed'>;
  /** The program continues its earlier conversation. */
  readonly isLoaded: boolean;
}

/** How a person looks at a session. */
export const attachCommand = (session: string): string => `tmux -L mimir attach -t =${session}`;

/** How often the terminal is looked at. */
const LOOK_MS = 300;
/** How long the program may take to show something at its start. */
const START_MS = 30_000;
/** At a prompt, without a phrase: after so long the turn is over. */
const IDLE_MS = 10_000;
/** Programs take a key that comes with a paste for a part of it. */
const KEY_MS = 200;
/** How often a question that nobody answers is dismissed. */
const MOST_DISMISSED = 3;

export const connectTerminal = (options: TerminalOptions): Connection => new TerminalConnection(options);

class TerminalConnection implements Connection {
  readonly session: string;
  readonly agent: string;
  readonly isLoaded: boolean;
  readonly protocol = null;
  readonly lost: Promise<string>;
  readonly #lose: (why: string) => void;
  readonly #options: TerminalOptions;
  readonly #transcript = new Transcript();
  #screen = '';
  #changedAt: number;
  #toldAt: number;
  #toldScreen = '';
  #used: Usage | null = null;
  #isCancelled = false;
  #isEnded = false;
  #isFirst = true;
  #typed = 1;
  /** What it had said last when the present prompt was typed. */
  #before = '';

  constructor(options: TerminalOptions) {
    const { process, world } = options;
    const { promise, resolve } = Promise.withResolvers<string>();
    [this.#options, this.lost, this.#lose] = [options, promise, resolve];
    [this.session, this.isLoaded] = [process.session, options.isLoaded];
    this.agent = `in a terminal: ${attachCommand(process.session)}`;
    this.#changedAt = this.#toldAt = world.elapsed();
  }

  async prompt(text: string): Promise<Result<StopReason, string>> {
    this.#isCancelled = false;
    const wrong = this.#isFirst ? await Promise.race([this.#untilReady(), this.lost]) : null;
    if (wrong !== null) return this.#over(wrong);
    this.#isFirst = false;
    this.#transcript.next();
    this.#before = (await this.#look()).words;
    this.#typed = 1;
    await this.#type(text);
    return Promise.race([this.#untilOver(text), this.lost.then((why) => fail(why))]);
  }

  cancel(): void {
    this.#isCancelled = true;
    void this.#key('Escape');
  }

  end(): Promise<void> {
    this.#isEnded = true;
    this.#lose(`${this.#options.name} was ended`);
    return this.#options.process.end();
  }

  /** Until the program waits for a prompt; answers to what it asks at its start are typed. Why it does not, or null. */
  async #untilReady(): Promise<string | null> {
    const { world, name, process } = this.#options;
    const begun = world.elapsed();
    for (let dismissed = 0; dismissed < MOST_DISMISSED && !this.#isEnded; ) {
      const judged = await this.#look();
      if (process.exitCode() !== null) return this.#endText(judged);
      if (judged.isHeld) dismissed += (await this.#ask(judged)) ? 0 : 1;
      else if (judged.state !== 'working' || this.#isStill(begun)) return null;
      if (this.#screen.trim() === '' && world.elapsed() - begun > START_MS)
        return `${name} showed nothing within ${START_MS / 1000} s`;
      await world.sleep(LOOK_MS);
    }
    return `${name} asks at its start, and nobody answers`;
  }

  /** A program without a prompt that can be recognised is ready when it shows nothing new. */
  #isStill(begun: number): boolean {
    const since = Math.max(begun, this.#changedAt);
    return this.#screen.trim() !== '' && this.#options.world.elapsed() - since > QUIET_MS;
  }

  async #untilOver(prompt: string): Promise<Result<StopReason, string>> {
    const { world, process } = this.#options;
    for (let [before, dismissed] = ['', 0]; !this.#isEnded; ) {
      await world.sleep(LOOK_MS);
      const judged = await this.#look();
      this.#tell();
      const now = `${judged.state} ${judged.words}`;
      // What a running program shows has to be seen twice: a screen may be caught half drawn.
      const isSettled = process.exitCode() !== null || now === before;
      before = now;
      const end = isSettled ? await this.#endUnlessLost(prompt, judged) : null;
      if (end !== null) return end;
      if (!isSettled || judged.state !== 'waiting' || this.#isEarlier(judged)) continue;
      if (!(await this.#ask(judged))) dismissed += 1;
      if (dismissed >= MOST_DISMISSED) return this.#unanswered(judged);
      before = '';
    }
    return fail(await this.lost);
  }

  /** A prompt that did not arrive is typed again. */
  async #endUnlessLost(prompt: string, judged: Judged): Promise<Result<StopReason, string> | null> {
    const end = this.#endOf(judged);
    if (end?.ok !== true || !this.#isLost(prompt, judged)) return end;
    if (this.#typed === MOST_TYPED) return this.#over(`${this.#options.name} does not take what is typed`);
    this.#typed += 1;
    await this.#type(prompt);
    return null;
  }

  /** Null while the turn goes on. */
  #endOf(judged: Judged): Result<StopReason, string> | null {
    const { name } = this.#options;
    const { state, words } = judged;
    if (state === 'crashed') return this.#over(this.#endText(judged));
    if (this.#isCancelled && state !== 'working') return ok('cancelled');
    if (this.#isEarlier(judged)) return null;
    if (state === 'failed') return this.#over(`${name} says: ${words}`);
    return state === 'done' || (state === 'idle' && this.#isIdle()) ? this.#answered(judged) : null;
  }

  /** Whether the screen still shows the end of the turn before. */
  #isEarlier({ words, isHeld }: Judged): boolean {
    const isRunning = this.#options.process.exitCode() === null;
    return isRunning && !isHeld && words === this.#before && !this.#isIdle();
  }

  /** A program that is not ready yet drops what is typed: then it says what it said before, and shows no prompt. */
  #isLost(prompt: string, { words, isHeld }: Judged): boolean {
    const isSilent =
      !this.#isCancelled && !isHeld && words === this.#before && this.#transcript.told()?.isOver !== true;
    return isSilent && this.#options.process.exitCode() === null && !this.#screen.includes(firstOf(prompt));
  }

  #isIdle(): boolean {
    return this.#transcript.told()?.isOver === true || this.#options.world.elapsed() - this.#changedAt >= IDLE_MS;
  }

  #answered({ words }: Judged): Result<StopReason, string> {
    const text = this.#transcript.told()?.text || words;
    if (text !== '')
      this.#options.events.update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } });
    // After its answer was taken: a further prompt then starts the program anew.
    const { world, process, name } = this.#options;
    if (process.exitCode() !== null) void world.sleep(LOOK_MS).then(() => this.#lose(`${name} has ended`));
    return ok('end_turn');
  }

  /** What it asks at the end of its turn is its answer then. */
  #unanswered(judged: Judged): Result<StopReason, string> {
    if (!judged.isHeld) return this.#answered(judged);
    return this.#over(`${this.#options.name} asks, and nobody answers: ${judged.words}`);
  }

  #over(why: string): Result<StopReason, string> {
    this.#lose(why);
    return fail(why);
  }

  #endText({ words }: Judged): string {
    const { name, process } = this.#options;
    const parts = [`${name} ended with exit code ${process.exitCode()}`, words, process.errors()];
    return parts.filter(Boolean).join(': ');
  }

  async #look(): Promise<Judged> {
    const { process, settings, world } = this.#options;
    const exit = process.exitCode();
    // Its last words may still be on their way to the screen.
    if (exit !== null) await world.sleep(KEY_MS);
    const shown = await process.tmux(['capture-pane', '-p', '-J', '-S', '-50', '-t', `=${process.session}:`]);
    if (!shown.ok) this.#lose(`the terminal of ${this.#options.name} was closed`);
    const screen = shown.ok ? shown.value : this.#screen;
    if (screen !== this.#screen) [this.#screen, this.#changedAt] = [screen, world.elapsed()];
    this.#readTranscript();
    // No transcript tells the end of a turn that was interrupted.
    const told = this.#isCancelled ? null : this.#transcript.told();
    return judge({ screen, quiet: world.elapsed() - this.#changedAt, exit, told }, settings);
  }

  #readTranscript(): void {
    const { process, settings, events } = this.#options;
    const updates = this.#transcript.add(process.newLines());
    for (const update of updates) if (settings.tools || update.sessionUpdate === 'plan') events.update(update);
    const { used } = this.#transcript;
    if (settings.tokens && this.#transcript.told() !== null && used !== this.#used) events.used((this.#used = used));
  }

  /** Records what a terminal without a transcript shows. */
  #tell(): void {
    const { events, settings, world } = this.#options;
    const isNew = this.#transcript.told() === null && this.#screen !== this.#toldScreen;
    if (!settings.tools || !isNew || world.elapsed() - this.#toldAt < settings.snapshotEvery) return;
    [this.#toldScreen, this.#toldAt] = [this.#screen, world.elapsed()];
    const title = this.#screen.split('\n').findLast((line) => /[\p{L}\p{N}]{3}/u.test(line)) ?? '';
    if (title === '') return;
    events.update({ sessionUpdate: 'tool_call', toolCallId: 'screen', title: title.trim(), status: 'completed' });
  }

  /** Asks the person what the program asks, and types the answer. False if nobody answers: then the question is dismissed. */
  async #ask(judged: Judged): Promise<boolean> {
    const { words, isHeld, isSecret } = judged;
    const answer = await this.#options.events.question(...this.#questionOf(judged));
    const now = await this.#look();
    // The person may have answered in the terminal.
    if (now.state !== 'waiting' || now.words !== words || (isSecret && answer !== null)) return true;
    if (answer === null && isHeld) await this.#key('Escape');
    else if (answer === null)
      await this.#type('Nobody is there to answer. Decide yourself, and say in your answer what you assumed.');
    else await this.#answer(answer, judged);
    return answer !== null;
  }

  #questionOf({ words, options, isSecret }: Judged): readonly [text: string, options: readonly string[]] {
    const { name, process } = this.#options;
    const lines = words.split('\n');
    const asked = lines.findLast((line) => /\?(?:\s|$)/.test(line)) ?? lines.at(-1) ?? '';
    const first = isSecret ? `${name} asks for a secret: type it in its terminal, not here` : asked;
    const rest = lines.filter((line) => line !== first);
    const text = [first, ...rest, `Its terminal: ${attachCommand(process.session)}`].join('\n');
    return [text, isSecret ? ['I have typed it'] : options.map((one) => one.text)];
  }

  async #answer(answer: string, judged: Judged): Promise<void> {
    const { options, isHeld, words } = judged;
    const chosen = options.find(({ text }) => text === answer) ?? (answer === YES ? options[0] : undefined);
    if (chosen === undefined) return this.#type(answer === YES && isHeld ? '' : answer);
    for (const key of chosen.keys) {
      await this.#key(key);
      await this.#options.world.sleep(KEY_MS);
    }
    if (chosen.keys.at(-1) === 'Enter') return;
    const now = await this.#look();
    if (now.words.endsWith(words) || this.#hasBehind(words)) await this.#key('Enter');
  }

  /** Some programs take a key at once, others with Enter: then their question is still there, with the key behind it. */
  #hasBehind(words: string): boolean {
    return this.#screen.trimEnd().split('\n').at(-1)?.trim().startsWith(words) === true;
  }

  /** Types a text and Enter. */
  async #type(text: string): Promise<void> {
    const { process } = this.#options;
    const { session } = process;
    const clean = text.replaceAll('\r\n', '\n').replaceAll(CONTROLS, '');
    if (clean !== '') {
      await process.tmux(['load-buffer', '-b', session, '-'], clean);
      await process.tmux(['paste-buffer', '-p', '-r', '-d', '-b', session, '-t', `=${session}:`]);
      await this.#options.world.sleep(KEY_MS);
    }
    await this.#key('Enter');
    this.#changedAt = this.#options.world.elapsed();
  }

  async #key(key: string): Promise<void> {
    const { process } = this.#options;
    await process.tmux(['send-keys', '-t', `=${process.session}:`, key]);
  }
}

/** How often a prompt is typed that does not arrive. */
const MOST_TYPED = 3;
/** The first words of a prompt, few enough to stand in one line of the screen. */
const firstOf = (prompt: string): string => firstLine(prompt).trim().slice(0, 20).trim();

const QUIET_MS = 3000;
/** What `ask_user` gives for a yes without words. */
const YES = 'Yes.';

/** What ends a paste or acts on the terminal. Tabs and new lines are text. */
// oxlint-disable-next-line no-control-regex -- these are what is removed
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
