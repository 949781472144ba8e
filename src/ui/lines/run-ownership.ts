/**
 * Line mode and the process that carries its run: lets go of a run, which goes on in a process of its own; says that the process of
 * another one was lost, and goes on with it here.
 */
import type { SessionId } from '../../domain/ids.ts';
import type { Result } from '../../domain/result.ts';
import { fail } from '../../domain/result.ts';
import type { RunState } from '../../events/state.ts';
import { ControlFault } from '../../ports/control.ts';
import type { Controls, Receipt, Refusal } from '../../ports/controls.ts';
import { underWay } from '../../app/views/agents/in-flight.ts';
import { SAYS_YES } from '../../app/process/asker.ts';
import { world } from '../../app/process/world.ts';

/** How long a stopped run may take to say that it has ended. */
const GRACE_MS = 5000;

export interface CarryingParts {
  /** Starts a process that goes on with a session that was handed over. */
  readonly detach: (session: SessionId) => Promise<Result<Receipt, Refusal>>;
  readonly state: () => RunState;
  readonly say: (...lines: readonly string[]) => void;
  readonly refuse: (line: string) => void;
  readonly ask: (prompt: string) => Promise<string | null>;
  /** The session in lines is over, and the run goes on. */
  readonly leave: () => void;
}

/** What a person may want of the process: see `help detach`. */
export type Parting = 'detach' | 'detach now' | 'detach stay';

export class LineCarrying {
  readonly #of: CarryingParts;
  #controls: Controls | null = null;
  #handing: Promise<void> | null = null;
  #detached = false;
  #lost = false;

  constructor(parts: CarryingParts) {
    this.#of = parts;
  }

  /** Does the run go on when this session is left? */
  get goesOn(): boolean {
    return this.#detached || (this.isElsewhere && !this.#lost && this.#of.state().finished === null);
  }

  /** Another process carries it: leaving stops nothing. */
  get isElsewhere(): boolean {
    return this.#controls?.lost !== undefined;
  }

  /** Was its process lost before it ended? */
  get isLost(): boolean {
    return this.#lost;
  }

  /** Resolves when a handing over that was begun has ended, however. */
  get settled(): Promise<void> {
    return this.#handing ?? Promise.resolve();
  }

  get isHanding(): boolean {
    return this.#handing !== null;
  }

  /** Another run is followed from now on; none. `ended`: its last event is known, after which a process that is gone was not lost. */
  follow(controls: Controls | null, ended: Promise<void> = Promise.resolve()): void {
    this.#controls = controls;
    this.#lost = false;
    const lost = (why: string): void => {
      if (controls !== null) this.#wasLost(controls, why);
    };
    void controls?.lost?.then((why) => ended.catch(() => {}).then(() => lost(why)));
  }

  /** Asks whether to leave a run that is not over; true when it is left, or when there is nothing to ask. */
  async mayLeave(): Promise<boolean> {
    const { state, say, ask } = this.#of;
    if (this.#controls === null || state().finished !== null || this.isElsewhere) return true;
    say('The run is stopped and its state kept: mimir resume goes on with it. (detach lets it go on instead.)');
    const typed = await ask('Leave? yes leaves, anything else stays: ');
    if (typed === null || SAYS_YES.test(typed.trim())) return true;
    say('The run goes on.');
    return false;
  }

  /** Before the session ends: a run that is carried here is stopped, and kept; the others go on. `ended`: no event comes any more. */
  async stop(ended: Promise<void>): Promise<void> {
    const { say, state } = this.#of;
    const { session, finished } = state();
    if (this.#controls === null || finished !== null) return;
    if (this.isElsewhere)
      return say(
        this.#lost
          ? `mimir resume ${session ?? ''} goes on with it.`
          : `The run goes on: mimir attach ${session ?? ''} comes back to it.`,
      );
    say('Stopping the agents; their state is kept.');
    await this.#controls.submit({ do: 'stop run', reason: 'the person left' });
    await Promise.race([ended, world.sleep(GRACE_MS)]);
    if (session !== null) say(`mimir resume ${session} goes on with it.`);
  }

  async part(how: Parting): Promise<void> {
    const controls = this.#controls;
    if (controls === null) return this.#of.refuse('there is no run');
    if (this.isElsewhere) return how === 'detach stay' ? undefined : this.#of.leave();
    if (how !== 'detach') return this.#hasten(controls, how === 'detach now' ? 'now' : 'stay');
    if (this.#handing !== null) return this.#sayWaits();
    this.#handing = this.#handOver(controls).finally(() => {
      this.#handing = null;
    });
  }

  /** What came of it is heard by who waits for the first. */
  async #hasten(controls: Controls, how: 'now' | 'stay'): Promise<void> {
    if (this.#handing === null) return this.#of.refuse('the run is not being handed over');
    const done = await controls.submit({ do: 'hand over', how });
    if (!done.ok && this.isHanding) this.#of.refuse(done.fault.text);
  }

  async #handOver(controls: Controls): Promise<void> {
    const { say, refuse, leave, detach, state } = this.#of;
    const asked = controls.submit({ do: 'hand over', how: 'when quiet' });
    this.#sayWaits();
    const done = await asked;
    if (!done.ok) return state().finished === null ? say(done.fault.text) : undefined;
    const started = await detach(controls.session);
    if (!started.ok) return refuse(`${started.fault.text}; resume goes on here`);
    this.#detached = true;
    say(started.value.text);
    leave();
  }

  #sayWaits(): void {
    const waits = underWay(this.#of.state()).map(({ who, what }) => `- ${who}: ${what}`);
    if (waits.length === 0) return this.#of.say('The run is handed over to a process of its own.');
    this.#of.say(
      'The run goes on in a process of its own as soon as what runs now has ended:',
      ...waits,
      'detach now cuts that off, detach stay keeps the run here.',
    );
  }

  #wasLost(controls: Controls, why: string): void {
    if (controls !== this.#controls || this.#of.state().finished !== null) return;
    this.#lost = true;
    this.#of.say(
      `The run stands still: ${why}`,
      'Nothing that it recorded is lost. here goes on with it in this process, quit leaves.',
    );
  }
}

/** The same controls, whose process may be gone at any time: what is asked then is refused in words, and nothing more happens. */
export function forgiving(controls: Controls): Controls {
  if (controls.lost === undefined) return controls;
  return {
    ...controls,
    async submit(command) {
      try {
        return await controls.submit(command);
      } catch (error) {
        if (error instanceof ControlFault) return fail({ text: error.message });
        throw error;
      }
    },
    async *events(afterSeq) {
      try {
        yield* controls.events(afterSeq);
      } catch (error) {
        if (!(error instanceof ControlFault)) throw error;
      }
    },
  };
}
