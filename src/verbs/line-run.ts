/** One run as line mode follows it: events folded into state and announced; it decides nothing. */
import type { MimirEvent } from '../events/event.ts';
import { fold } from '../events/fold.ts';
import type { RunState } from '../events/state.ts';
import { EMPTY } from '../events/state.ts';
import type { Controls } from '../ports/controls.ts';
import { Announcer } from './line-announce.ts';
import type { AnnouncerParts } from './line-announce.ts';
import { thinkingOnce } from './line-mode.ts';

/** How often sums that are due are said. */
const TICK_MS = 1000;

export class LineRun {
  readonly controls: Controls;
  /** Settles when there are no more events; rejects for a bug in their source. */
  readonly ended: Promise<void>;
  #state: RunState = EMPTY;
  #changes = 0;
  #stopped = false;

  constructor(controls: Controls, of: AnnouncerParts, heard: (event: MimirEvent, state: RunState) => void = () => {}) {
    this.controls = controls;
    this.ended = this.#follow(of, heard);
  }

  get state(): RunState {
    return this.#state;
  }

  /** How often the plan was changed: a change is in `state` only when this has grown. */
  get changes(): number {
    return this.#changes;
  }

  /** Nothing is announced any more; the run itself goes on. */
  stop(): void {
    this.#stopped = true;
  }

  async #follow(of: AnnouncerParts, heard: (event: MimirEvent, state: RunState) => void): Promise<void> {
    const announcer = new Announcer(of);
    const think = thinkingOnce(() => this.#state, of);
    const unwatch = this.controls.ticks((tick) => {
      if (of.verbosity() !== 'quiet' && !this.#stopped) think(tick);
    });
    const timer = setInterval(() => announcer.tick(this.#state), TICK_MS).unref();
    try {
      for await (const event of this.controls.events(0)) {
        if (this.#stopped) return;
        this.#state = fold(this.#state, event);
        if (event.type === 'plan.edited' || event.type === 'plan.amended') this.#changes += 1;
        announcer.hear(event, this.#state);
        heard(event, this.#state);
      }
    } finally {
      clearInterval(timer);
      unwatch();
    }
  }
}
