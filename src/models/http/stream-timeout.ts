/**
 * Watches one streaming call: ends it when it is aborted from outside or says nothing for too long, whether or not the client library
 * settles. Two timers that look in now and then, not one for each event. What a silence means is the gate's to say.
 */
import type { ProviderSetup } from '../../domain/models/provider.ts';
import { fail, type Result } from '../../domain/result.ts';
import type { World } from '../../ports/world.ts';

export type WhyStopped = 'aborted' | 'silent';

export interface Watch {
  /** For the client library: aborted as soon as the call is over for us, from outside or by silence. */
  readonly signal: AbortSignal;
  /** Something came, be it only a sign of life. */
  readonly beat: () => void;
  /** What came has content. */
  readonly said: () => void;
  /** Did anything with content come? */
  begun(): boolean;
  /** Why the call was stopped; null while it wasn't. */
  why(): WhyStopped | null;
  /** `work`, or why the call was stopped as soon as it is: what `work` does afterwards, a rejection too, is left to itself. */
  unlessStopped<T>(work: Promise<T>): Promise<Result<T, WhyStopped>>;
  /** To be called once, when the call has ended: nothing is left behind. It aborts nothing. */
  readonly end: () => void;
}

const OVER = 'over';
/** A silence is noticed at most this share of its bound late, and never early. */
const LOOKS = 8;

/** Resolves when `count` has stayed the same for `bound`, or `ended` is aborted. */
async function quietFor(
  bound: number,
  count: () => number,
  world: Pick<World, 'sleep'>,
  ended: AbortSignal,
): Promise<void> {
  for (let quiet = 0; quiet < LOOKS && !ended.aborted; ) {
    const seen = count();
    await world.sleep(bound / LOOKS, ended);
    quiet = count() === seen ? quiet + 1 : 0;
  }
}

/**
 * Watches a call that begins now. Silent: nothing with content within `firstEventMs`, then nothing for `idleMs`; signs of life count
 * for neither. Where `pingMs` is given, also when nothing at all comes for so long, once anything came.
 */
export function watchStream(
  setup: Pick<ProviderSetup, 'firstEventMs' | 'idleMs' | 'pingMs'>,
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
  const stopWhenQuiet = async (count: () => number, bound: number): Promise<void> => {
    await quietFor(bound, count, world, ended.signal);
    stop('silent');
  };
  const lookForWords = async (): Promise<void> => {
    await world.sleep(setup.firstEventMs, first.signal);
    if (words === 0) stop('silent');
    await stopWhenQuiet(() => words, setup.idleMs);
  };

  if (outside.aborted) stop('aborted');
  else outside.addEventListener('abort', onAbort, { once: true });
  if (why === null) void lookForWords();
  return {
    signal: inner.signal,
    beat: () => {
      beats += 1;
      if (beats === 1 && setup.pingMs !== undefined) void stopWhenQuiet(() => beats, setup.pingMs);
    },
    said: () => {
      words += 1;
      if (words === 1) first.abort(OVER);
    },
    begun: () => words > 0,
    why: () => why,
    unlessStopped: (work) =>
      Promise.race([
        work.then((value) => ({ ok: true as const, value })),
        stopped.promise.then((because) => fail(because)),
      ]),
    end,
  };
}
