/**
 * One line in front of each provider, for all agents of a session. After a refusal everybody waits until its time is
 * over; then one call goes first, and each that gets through lets two follow it, so that a provider in trouble is never
 * run into by all at once. First come, first served. Why and how long is decided in backoff.ts.
 */
import type { Millis } from '../../../domain/ids.ts';
import type { ModelFault } from '../../../ports/model.ts';
import type { World } from '../../../ports/world.ts';

/** A call that wasn't refused for so long has got through: refusals come at once, first words may take minutes. */
const PROVEN_AFTER: Millis = 5000;

/** The right to make one call. */
export interface Pass {
  /** Something came that is no refusal. */
  through(): void;
  /** Nobody should call for `wait` milliseconds. */
  refused(fault: ModelFault, wait: Millis): void;
  /** The call is over, however it ended; to be said always. */
  end(): void;
}

/** What one who waits should know. `wait`: 0 when only others are in front. */
export interface Standing {
  readonly fault: ModelFault;
  readonly wait: Millis;
  readonly tries: number;
  /** Milliseconds for which the provider has refused everybody. */
  readonly trouble: Millis;
}

export interface Visitor {
  /** Tries made so far: those that others fail while this one stands in line count as its own. */
  readonly tries: number;
  /** Asked before it is told to wait: who does not stay goes away at once. */
  readonly stays: (standing: Standing) => boolean;
  /** Told when waiting begins, and when it begins again. */
  readonly onWait: (standing: Standing) => void;
  readonly signal: AbortSignal;
}

export type Entry =
  | { readonly is: 'pass'; readonly pass: Pass; readonly tries: number }
  /** No call was made, and none is worth making: the fault that all of them meet. */
  | { readonly is: 'hopeless'; readonly fault: ModelFault; readonly tries: number }
  /** The signal was aborted. */
  | { readonly is: 'left' };

export interface Lines {
  /** A pass without waiting, or null when `enter` has more to say. */
  pass(provider: string): Pass | null;
  /** At once where nothing is wrong with the provider; otherwise when it is the visitor's turn. */
  enter(provider: string, visitor: Visitor): Promise<Entry>;
  /** No call is sent there any more: it refused the key. */
  close(provider: string, fault: ModelFault): void;
  isClosed(provider: string): boolean;
  /** Milliseconds for which it has refused everybody; 0 when nothing is wrong. */
  trouble(provider: string): Millis;
  /** Somebody has used up all tries there. Forgotten as soon as a call gets through. */
  giveUp(provider: string): void;
  /** Has every provider that was called been given up, and does none answer right now? */
  allDown(): boolean;
}

export function openLines(world: Pick<World, 'elapsed' | 'sleep'>): Lines {
  const lines = new Map<string, Line>();
  const lineOf = (provider: string): Line => {
    const line = lines.get(provider) ?? new Line(world);
    lines.set(provider, line);
    return line;
  };
  return {
    pass: (provider) => lineOf(provider).passNow(),
    enter: (provider, visitor) => lineOf(provider).enter(visitor),
    close: (provider, fault) => lineOf(provider).close(fault),
    isClosed: (provider) => lines.get(provider)?.isClosed() ?? false,
    trouble: (provider) => lines.get(provider)?.trouble() ?? 0,
    giveUp: (provider) => lineOf(provider).giveUp(),
    allDown: () => [...lines.values()].every((line) => line.isDown()),
  };
}

interface Waiting {
  tries: number;
  stays(standing: Standing): boolean;
  /** Passes given out before it came: their refusals are none of its tries. */
  readonly since: number;
  say(standing: Standing): void;
  leave(entry: Entry): void;
}

class Line {
  private readonly world: Pick<World, 'elapsed' | 'sleep'>;
  private readonly queue = new Set<Waiting>();
  private fault: ModelFault | null = null;
  private closed = false;
  private down = false;
  /** When the first of the refusals came that nothing else came between; null when there is none. */
  private since: Millis | null = null;
  /** Nobody is let through before, by the clock that never goes back. */
  private until: Millis = 0;
  /** Calls that may be under way without having got through; no limit while nothing is wrong. */
  private window = Infinity;
  private unproven = 0;
  private live = 0;
  private passes = 0;
  /** Counts refusals that changed something: what was sent before one says nothing about the time after it. */
  private era = 0;
  private timer: AbortController | null = null;

  constructor(world: Pick<World, 'elapsed' | 'sleep'>) {
    this.world = world;
  }

  enter({ tries, stays, onWait, signal }: Visitor): Promise<Entry> {
    if (this.closed && this.fault) return Promise.resolve({ is: 'hopeless', fault: this.fault, tries });
    if (signal.aborted) return Promise.resolve({ is: 'left' });
    const now = this.passNow();
    if (now !== null) return Promise.resolve({ is: 'pass', pass: now, tries });
    return new Promise((resolve, reject) => {
      const left = (): void => waiting.leave({ is: 'left' });
      const out = (): void => {
        this.queue.delete(waiting);
        signal.removeEventListener('abort', left);
        if (this.queue.size === 0) this.timer?.abort('nobody waits');
      };
      const waiting: Waiting = {
        tries,
        stays,
        since: this.passes,
        leave: (entry) => {
          out();
          resolve(entry);
        },
        // The fault of a log belongs to who waits, not to whose refusal is told.
        say: (standing) => {
          try {
            onWait(standing);
          } catch (error) {
            out();
            reject(error instanceof Error ? error : new Error(String(error)));
          }
        },
      };
      this.queue.add(waiting);
      signal.addEventListener('abort', left, { once: true });
      this.tell(waiting);
      this.look();
    });
  }

  passNow(): Pass | null {
    return !this.closed && this.queue.size === 0 && this.isOpen() ? this.pass() : null;
  }

  close(fault: ModelFault): void {
    this.fault = fault;
    this.closed = true;
    for (const waiting of this.queue) waiting.leave({ is: 'hopeless', fault, tries: waiting.tries });
  }

  isClosed(): boolean {
    return this.closed;
  }

  trouble(): Millis {
    return this.since === null ? 0 : this.world.elapsed() - this.since;
  }

  giveUp(): void {
    this.down = true;
  }

  isDown(): boolean {
    return (this.down || this.closed) && this.live === 0;
  }

  private isOpen(): boolean {
    return this.world.elapsed() >= this.until && this.unproven < this.window;
  }

  private pass(): Pass {
    const { era } = this;
    const number = (this.passes += 1);
    this.unproven += 1;
    this.live += 1;
    let [proven, over] = [false, false];
    const watch = new AbortController();
    const prove = (): boolean => {
      if (proven) return false;
      proven = true;
      watch.abort('proven');
      if (era === this.era) this.unproven -= 1;
      return true;
    };
    const pass: Pass = {
      through: () => {
        this.since = null;
        if (prove()) this.gotThrough(era);
      },
      refused: (fault, wait) => {
        prove();
        this.cool(fault, wait, { era, number });
      },
      end: () => {
        if (over) return;
        over = true;
        this.live -= 1;
        prove();
        this.look();
      },
    };
    const proveInTime = async (): Promise<void> => {
      await this.world.sleep(PROVEN_AFTER, watch.signal);
      if (prove()) this.gotThrough(era);
    };
    if (this.window !== Infinity) void proveInTime();
    return pass;
  }

  private gotThrough(era: number): void {
    this.down = false;
    if (era !== this.era) return;
    this.window += 1;
    this.look();
    if (this.queue.size === 0) this.window = Infinity;
  }

  private cool(
    fault: ModelFault,
    wait: Millis,
    { era, number }: { readonly era: number; readonly number: number },
  ): void {
    this.until = Math.max(this.until, this.world.elapsed() + wait);
    if (this.closed) return;
    this.fault = fault;
    this.since ??= this.world.elapsed();
    // Of many that were sent before the first refusal, the others' refusals are no news.
    if (era === this.era) {
      this.era += 1;
      this.window = 1;
      this.unproven = 0;
    }
    for (const waiting of this.queue) {
      if (number <= waiting.since) continue;
      waiting.tries += 1;
      this.tell(waiting);
    }
  }

  private tell(waiting: Waiting): void {
    const { fault } = this;
    const { tries } = waiting;
    if (fault === null) return;
    const wait = Math.max(0, Math.round(this.until - this.world.elapsed()));
    const standing = { fault, wait, tries, trouble: this.trouble() };
    if (waiting.stays(standing)) waiting.say(standing);
    else waiting.leave({ is: 'hopeless', fault, tries });
  }

  /** Lets in whoever may, and comes back when the time is over. */
  private look(): void {
    for (const waiting of this.queue) {
      if (!this.isOpen()) break;
      waiting.leave({ is: 'pass', pass: this.pass(), tries: waiting.tries });
    }
    if (this.queue.size > 0 && this.world.elapsed() < this.until && this.timer === null) void this.wake();
  }

  private async wake(): Promise<void> {
    const timer = new AbortController();
    this.timer = timer;
    await this.world.sleep(this.until - this.world.elapsed(), timer.signal);
    this.timer = null;
    this.look();
  }
}
