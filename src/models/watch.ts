/**
 * Watches one streaming call: ends it when it is aborted from outside or stays silent for too long, whether or not the client library
 * settles. One timer that looks in now and then, not one for each event. What a silence means is the gate's to say.
 */
import type { ProviderSetup } from '../domain/provider.ts';
import { fail } from '../domain/result.ts';
import type { Result } from '../domain/result.ts';
import type { World } from '../ports/world.ts';

export type WhyStopped = 'aborted' | 'silent';

export interface Watch {
  /** For the client library: aborted as soon as the call is over for us, from outside or by silence. */
  readonly signal: AbortSignal;
  /** Something came, be it only a sign of life. */
  readonly beat: () => void;
  /** What came says something. */
  readonly said: () => void;
  /** Why the call was stopped; null while it wasn't. */
  why(): WhyStopped | null;
  /** `work`, or why the call was stopped as soon as it is: what `work` does afterwards, a rejection too, is left to itself. */
  unlessStopped<T>(work: Promise<T>): Promise<Result<T, WhyStopped>>;
  /** To be called once, when the call has ended: nothing is left behind. It aborts nothing. */
  readonly end: () => void;
}

const OVER = 'over';
/** A silence is noticed at most this share of `idleMs` late, and never early. */
const LOOKS = 8;

/**
 * Watches a call that begins now. Silent: no beat within `firstEventMs`, then none for `idleMs`. Signs of life alone don't keep a call
 * alive for ever: where nothing else came for `firstEventMs` it is silent too.
 */
export function watchStream(
  setup: Pick<ProviderSetup, 'firstEventMs' | 'idleMs'>,
  world: Pick<World, 'sleep'>,
  outside: AbortSignal,
): Watch {
  const inner = new AbortController();
  const ended = new AbortController();
  const first = new AbortController();
  const stopped = Promise.withResolvers<WhyStopped>();
  let why: WhyStopped | null = null;
  let beats = 0;
  let words = 0;

  const step = setup.idleMs / LOOKS;
  const patience = Math.max(setup.firstEventMs, setup.idleMs);
  const stop = (because: WhyStopped): void => {
    if (why !== null || ended.signal.aborted) return;
    why = because;
    stopped.resolve(because);
    inner.abort();
    end();
  };
  const onAbort = (): void => stop('aborted');
  const end = (): void => {
    outside.removeEventListener('abort', onAbort);
    // With a word: without one each makes an error with a stack.
    first.abort(OVER);
    ended.abort(OVER);
  };
  const look = async (): Promise<void> => {
    await world.sleep(setup.firstEventMs, first.signal);
    if (beats === 0) stop('silent');
    for (let quiet = 0, empty = 0; !ended.signal.aborted; ) {
      const [seen, heard] = [beats, words];
      await world.sleep(step, ended.signal);
      quiet = beats === seen ? quiet + 1 : 0;
      empty = words === heard ? empty + step : 0;
      if (quiet >= LOOKS || empty >= patience) stop('silent');
    }
  };

  if (outside.aborted) stop('aborted');
  else outside.addEventListener('abort', onAbort, { once: true });
  if (why === null) void look();
  return {
    signal: inner.signal,
    beat: () => {
      beats += 1;
      if (beats === 1) first.abort(OVER);
    },
    said: () => {
      words += 1;
    },
    why: () => why,
    unlessStopped: (work) =>
      Promise.race([
        work.then((value) => ({ ok: true as const, value })),
        stopped.promise.then((because) => fail(because)),
      ]),
    end,
  };
}
