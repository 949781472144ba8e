/** The run behind the screens: begins or goes on with one, hands it commands, and remembers the last one for the end. */
import { RunFeed } from './feed.ts';
import type { MimirEvent } from '../../../../events/event.ts';
import type { RunState } from '../../../../events/state.ts';
import type { Result } from '../../../../domain/result.ts';
import { ControlFault } from '../../../../ports/control.ts';
import type { Command, Controls, Refusal } from '../../../../ports/controls.ts';
import type { World } from '../../../../ports/world.ts';
import type { Toast } from '../../frame/screen.ts';

export interface RunsParts {
  readonly world: World;
  /** A run stands behind the screens now. */
  readonly begun: () => void;
  /** None could be begun. */
  readonly refused: (why: string) => void;
  /** An event that is no old one; the state before and after it. */
  readonly happened: (event: MimirEvent, before: RunState, after: RunState) => void;
  /** The run goes on, or has answered: there is something to paint. */
  readonly changed: () => void;
  readonly toast: (toast: Toast) => void;
  readonly fail: (error: unknown) => void;
}

export class Runs {
  readonly #of: RunsParts;
  #feed: RunFeed | null = null;
  #last: RunFeed | null = null;
  #starting = false;

  constructor(parts: RunsParts) {
    this.#of = parts;
  }

  /** The run that is shown, or null. */
  get feed(): RunFeed | null {
    return this.#feed;
  }

  /** The run that is shown, or that was. */
  get last(): RunFeed | null {
    return this.#feed ?? this.#last;
  }

  /** Was one asked for that isn't there yet? */
  get starting(): boolean {
    return this.#starting;
  }

  /** Nothing while there is a run, or one begins. */
  begin(source: () => Promise<Result<Controls, Refusal>>): void {
    if (this.#starting || this.#feed !== null) return;
    this.#starting = true;
    void this.#connect(source).catch(this.#of.fail);
  }

  async #connect(source: () => Promise<Result<Controls, Refusal>>): Promise<void> {
    const controls = await source();
    this.#starting = false;
    if (controls.ok) this.#follow(controls.value);
    else this.#of.refused(controls.fault.text);
  }

  #follow(controls: Controls): void {
    const { world, begun, changed, happened, fail } = this.#of;
    const feed = new RunFeed(controls, world, { changed, happened });
    this.#feed = feed;
    feed.ended.catch(fail);
    begun();
  }

  /** Another source of the run that is shown: it is followed from now on. Words why not, where there is none. */
  async change(source: () => Promise<Result<Controls, Refusal>>): Promise<string | null> {
    const before = this.#feed;
    if (this.#starting) return 'a run is being begun';
    this.#starting = true;
    const controls = await source().finally(() => {
      this.#starting = false;
    });
    if (!controls.ok) return controls.fault.text;
    if (this.#feed !== before) return 'another run is shown by now';
    before?.stop();
    this.#follow(controls.value);
    return null;
  }

  /** The run is shown no longer. */
  letGo(): void {
    this.#last = this.last;
    this.#feed?.stop();
    this.#feed = null;
  }

  /** What the run says to it becomes a toast; `refused` is called where it says no. */
  submit(command: Command, refused: () => void): void {
    const { toast, changed } = this.#of;
    if (this.#feed === null) return toast({ level: 'warn', text: 'There is no run.' });
    void this.#feed.controls.submit(command).then(
      (result) => {
        if (result.ok && result.value.text !== '' && !SEEN.has(command.do))
          toast({ level: 'info', text: result.value.text });
        if (!result.ok) {
          toast({ level: 'warn', text: result.fault.text });
          refused();
        }
        changed();
      },
      (error: unknown) => this.#unreached(error),
    );
  }

  /** Its process is gone: what was asked for was not done, which the screen says by itself. */
  #unreached(error: unknown): void {
    if (!(error instanceof ControlFault)) return this.#of.fail(error);
    this.#of.toast({ level: 'warn', text: `Not done: ${error.message}` });
    this.#of.changed();
  }
}

/** What the screen that follows says by itself. */
const SEEN: ReadonlySet<Command['do']> = new Set(['approve plan', 'reject plan']);
