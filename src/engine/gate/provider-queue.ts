/** A circuit breaker and queue for each provider, shared by all agents of a session. After a refusal all calls wait;
 * then one call goes first, and each success admits two more, so that a failing provider is not flooded. First come,
 * first served. Why and how long a call waits is decided in call-scope.ts. */
import type { Millis } from '../../domain/ids.ts';
import type { ModelFault } from '../../ports/model.ts';
import type { World } from '../../ports/world.ts';

/** A call that is not refused within this time counts as accepted: refusals come at once, first tokens may take minutes. */
const PROVEN_AFTER: Millis = 5000;

/** The right to make one call. */
export interface Ticket {
  /** Something other than a refusal arrived. */
  accepted(): void;
  /** No call should be made for `wait` milliseconds. */
  refused(fault: ModelFault, wait: Millis): void;
  /** The call is over, however it ended. Always call this. */
  end(): void;
}

/** What a waiting call is told. `wait`: 0 when only other calls are ahead. */
export interface QueueStatus {
  readonly fault: ModelFault;
  readonly wait: Millis;
  readonly tries: number;
  /** Milliseconds for which the provider has refused every call. */
  readonly downFor: Millis;
}

export interface QueuedCall {
  /** Tries so far: failures of other calls while this one waits count as its own. */
  readonly tries: number;
  /** Asked before the call is told to wait; false makes it leave at once. */
  readonly mayWait: (status: QueueStatus) => boolean;
  /** Called when waiting begins, and when it begins again. */
  readonly onWait: (status: QueueStatus) => void;
  readonly signal: AbortSignal;
}

export type Entry =
  | { readonly is: 'ticket'; readonly ticket: Ticket; readonly tries: number }
  /** No call was made, and none would succeed: the fault that every call meets. */
  | { readonly is: 'hopeless'; readonly fault: ModelFault; readonly tries: number }
  /** The signal was aborted. */
  | { readonly is: 'left' };

export type ProviderQueues = ReturnType<typeof openProviderQueues>;

export function openProviderQueues(world: Pick<World, 'elapsed' | 'sleep'>) {
  const queues = new Map<string, ProviderQueue>();
  return {
    of(provider: string): ProviderQueue {
      const queue = queues.get(provider) ?? new ProviderQueue(world);
      queues.set(provider, queue);
      return queue;
    },
    /** Whether every provider that was called has been given up, and none is answering now. */
    allDown: (): boolean => [...queues.values()].every((queue) => queue.isDown()),
  };
}

interface Waiting {
  tries: number;
  mayWait(status: QueueStatus): boolean;
  /** Tickets given out before this call came: their refusals are not its tries. */
  readonly since: number;
  notify(status: QueueStatus): void;
  leave(entry: Entry): void;
}

class ProviderQueue {
  private readonly world: Pick<World, 'elapsed' | 'sleep'>;
  private readonly queue = new Set<Waiting>();
  private fault: ModelFault | null = null;
  private closed = false;
  private down = false;
  /** When the first of an unbroken series of refusals came; null when there is none. */
  private since: Millis | null = null;
  /** No call is admitted earlier; monotonic clock. */
  private until: Millis = 0;
  /** Calls that may be in flight without being accepted yet; unlimited while the provider works. */
  private window = Infinity;
  private unproven = 0;
  private live = 0;
  private tickets = 0;
  /** Counts refusals that changed the state: a call sent before such a refusal says nothing about the time after it. */
  private epoch = 0;
  private timer: AbortController | null = null;

  constructor(world: Pick<World, 'elapsed' | 'sleep'>) {
    this.world = world;
  }

  /** Resolves at once when the provider works; otherwise when it is the call's turn. */
  enter({ tries, mayWait, onWait, signal }: QueuedCall): Promise<Entry> {
    if (this.closed && this.fault) return Promise.resolve({ is: 'hopeless', fault: this.fault, tries });
    if (signal.aborted) return Promise.resolve({ is: 'left' });
    const now = this.ticket();
    if (now !== null) return Promise.resolve({ is: 'ticket', ticket: now, tries });
    return new Promise((resolve, reject) => {
      const abandon = (): void => waiting.leave({ is: 'left' });
      const remove = (): void => {
        this.queue.delete(waiting);
        signal.removeEventListener('abort', abandon);
        if (this.queue.size === 0) this.timer?.abort('nobody waits');
      };
      const waiting: Waiting = {
        tries,
        mayWait,
        since: this.tickets,
        leave: (entry) => {
          remove();
          resolve(entry);
        },
        // A fault of the log must reach the waiting call, not the call whose refusal is being reported.
        notify: (status) => {
          try {
            onWait(status);
          } catch (error) {
            remove();
            reject(error instanceof Error ? error : new Error(String(error)));
          }
        },
      };
      this.queue.add(waiting);
      signal.addEventListener('abort', abandon, { once: true });
      this.tell(waiting);
      this.admit();
    });
  }

  /** A ticket without waiting, or null when the call has to `enter`. */
  ticket(): Ticket | null {
    return !this.closed && this.queue.size === 0 && this.isOpen() ? this.issue() : null;
  }

  /** No further call is sent there: the provider rejected the key. */
  close(fault: ModelFault): void {
    this.fault = fault;
    this.closed = true;
    for (const waiting of this.queue) waiting.leave({ is: 'hopeless', fault, tries: waiting.tries });
  }

  isClosed(): boolean {
    return this.closed;
  }

  /** Milliseconds for which the provider has refused every call; 0 when it works. */
  downFor(): Millis {
    return this.since === null ? 0 : this.world.elapsed() - this.since;
  }

  /** A call used up all its tries. Forgotten as soon as a call succeeds. */
  giveUp(): void {
    this.down = true;
  }

  isDown(): boolean {
    return (this.down || this.closed || this.tickets === 0) && this.live === 0;
  }

  private isOpen(): boolean {
    return this.world.elapsed() >= this.until && this.unproven < this.window;
  }

  private issue(): Ticket {
    const { epoch } = this;
    const number = (this.tickets += 1);
    this.unproven += 1;
    this.live += 1;
    let [proven, ended] = [false, false];
    const watch = new AbortController();
    const prove = (): boolean => {
      if (proven) return false;
      proven = true;
      watch.abort('proven');
      if (epoch === this.epoch) this.unproven -= 1;
      return true;
    };
    const ticket: Ticket = {
      accepted: () => {
        this.since = null;
        if (prove()) this.onAccepted(epoch);
      },
      refused: (fault, wait) => {
        prove();
        this.backOff(fault, wait, { epoch, number });
      },
      end: () => {
        if (ended) return;
        ended = true;
        this.live -= 1;
        prove();
        this.admit();
      },
    };
    const proveInTime = async (): Promise<void> => {
      await this.world.sleep(PROVEN_AFTER, watch.signal);
      if (prove()) this.onAccepted(epoch);
    };
    if (this.window !== Infinity) void proveInTime();
    return ticket;
  }

  private onAccepted(epoch: number): void {
    this.down = false;
    if (epoch !== this.epoch) return;
    this.window += 1;
    this.admit();
    if (this.queue.size === 0) this.window = Infinity;
  }

  private backOff(
    fault: ModelFault,
    wait: Millis,
    { epoch, number }: { readonly epoch: number; readonly number: number },
  ): void {
    this.until = Math.max(this.until, this.world.elapsed() + wait);
    if (this.closed) return;
    this.fault = fault;
    this.since ??= this.world.elapsed();
    // Refusals of calls sent before the first refusal change nothing more.
    if (epoch === this.epoch) {
      this.epoch += 1;
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
    const status = { fault, wait, tries, downFor: this.downFor() };
    if (waiting.mayWait(status)) waiting.notify(status);
    else waiting.leave({ is: 'hopeless', fault, tries });
  }

  /** Admits the calls that may go, and sets a timer for the rest. */
  private admit(): void {
    for (const waiting of this.queue) {
      if (!this.isOpen()) break;
      waiting.leave({ is: 'ticket', ticket: this.issue(), tries: waiting.tries });
    }
    if (this.queue.size > 0 && this.world.elapsed() < this.until && this.timer === null) void this.wake();
  }

  private async wake(): Promise<void> {
    const timer = new AbortController();
    this.timer = timer;
    await this.world.sleep(this.until - this.world.elapsed(), timer.signal);
    this.timer = null;
    this.admit();
  }
}
