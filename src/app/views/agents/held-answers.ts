/** Since when a key is down. Terminals tell of no release: a key that comes again within a second, with no other between, may be held. */
import type { Millis } from '../../../domain/ids.ts';

/** Longer than the pause that keyboards make before a held key begins to repeat. */
const PAUSE: Millis = 1000;

export class Held {
  #key: string | null = null;
  #since: Millis = 0;
  #last: Millis = 0;

  /** Since when this key, or this line, may repeat. */
  since(key: string, now: Millis): Millis {
    // Another one ends what the one before it repeats.
    if (key !== this.#key || now - this.#last >= PAUSE) this.#since = now;
    this.#key = key;
    this.#last = now;
    return this.#since;
  }
}
