/**
 * Leaving the session: at once where nothing goes on, else after a question, with the run stopped and kept resumable; a run that
 * another process carries is left as it is.
 */
import type { Millis } from '../../../domain/ids.ts';
import type { World } from '../../../ports/world.ts';
import type { Boxes } from './overlays/overlay-stack.ts';
import { quitOverlay } from '../dialogs/quit.ts';
import type { Runs } from '../components/runs/runs.ts';
import type { Context, Toast } from '../frame/screen.ts';

/** A second Ctrl-C within this time leaves. */
const TWICE: Millis = 1500;
/** How long a stopped run may take to say that it has ended before we leave anyway. */
const GRACE: Millis = 5000;

export interface LeavingParts {
  readonly world: World;
  readonly boxes: Boxes;
  readonly runs: Runs;
  readonly context: () => Context;
  readonly toast: (toast: Toast) => void;
  /** The session is over; called again when the person doesn't want to wait. */
  readonly leave: () => void;
  readonly fail: (error: unknown) => void;
}

export class Leaving {
  readonly #of: LeavingParts;
  #stoppedAt = Number.NEGATIVE_INFINITY;
  #begun = false;

  constructor(parts: LeavingParts) {
    this.#of = parts;
  }

  /** Ctrl-C was pressed: is it meant as leaving? */
  isMeant(): boolean {
    const now = this.#of.world.elapsed();
    const again = now - this.#stoppedAt < TWICE;
    this.#stoppedAt = now;
    return this.#of.boxes.top?.kind === 'quit' || again;
  }

  /** Leaves, or asks whether to. Asked a second time while it is asked: meant. */
  quit(): void {
    const { boxes, runs, context } = this.#of;
    const run = runs.feed;
    if (run === null || run.state.finished || boxes.top?.kind === 'quit') return this.#leave();
    boxes.push(quitOverlay(context(), () => this.#leave()));
  }

  #leave(): void {
    const { boxes, runs, toast, world, leave, fail } = this.#of;
    const run = runs.feed;
    // What another process carries goes on there.
    if (this.#begun || run === null || run.state.finished || run.elsewhere !== undefined) return leave();
    this.#begun = true;
    boxes.clear();
    toast({ level: 'warn', text: 'Stopping the agents; their state is kept. Ctrl-C twice leaves at once.' });
    const stopped = run.controls.submit({ do: 'stop run', reason: 'the person left' }).then(() => run.ended);
    void Promise.race([stopped, world.sleep(GRACE)]).then(() => leave(), fail);
  }
}
