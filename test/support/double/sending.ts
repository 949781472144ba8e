/** Puts frames on a connection, all at once or at a rate, and ends it as it was told. Knows nothing of any wire. */
import type { ServerResponse } from 'node:http';
import type { Clock, Ticker } from './clock.ts';
import type { Frame } from './frame.ts';

/** `cut` breaks the connection off, `hang` leaves it open and says no more, or only the same again and again. */
export type Ending = 'end' | 'cut' | 'hang' | { readonly again: string; readonly everyMs: number };

export interface Sending {
  readonly frames: readonly Frame[];
  readonly ending: Ending;
  /** Tokens a second; null: all at once. */
  readonly rate: number | null;
}

export interface Sent {
  readonly frames: number;
  readonly tokens: number;
}

/** Time as all streams of a double have it. */
export interface Time {
  readonly clock: Clock;
  readonly ticker: Ticker;
}

/** Sends until the end or until the client leaves; `sent()` says at any time how far it came. */
export function send(response: ServerResponse, sending: Sending, { clock, ticker }: Time): { sent(): Sent } {
  const { frames, rate } = sending;
  let [next, tokens] = [0, 0];
  const upTo = (due: number): void => {
    let text = '';
    for (let frame = frames[next]; frame !== undefined && tokens + frame.tokens <= due; frame = frames[next]) {
      text += frame.data;
      tokens += frame.tokens;
      next += 1;
    }
    if (text !== '') response.write(text);
  };
  const isOver = (): boolean => next >= frames.length;
  if (rate === null) {
    upTo(Infinity);
    finish(response, sending.ending, { clock, ticker });
  } else {
    const start = clock.now();
    const step = (): 'more' | 'done' => {
      if (response.destroyed) return 'done';
      if (!response.writableNeedDrain) upTo(((clock.now() - start) * rate) / 1000);
      if (!isOver()) return 'more';
      finish(response, sending.ending, { clock, ticker });
      return 'done';
    };
    upTo(0);
    const stop = ticker.add(step);
    response.once('close', stop);
  }
  return { sent: (): Sent => ({ frames: next, tokens }) };
}

/** A cut comes after what was written is on its way, else it would swallow it. */
function finish(response: ServerResponse, ending: Ending, { clock, ticker }: Time): void {
  if (ending === 'end') response.end();
  if (ending === 'cut') response.write('', () => response.destroy());
  if (typeof ending === 'string') return;
  let last = clock.now();
  const stop = ticker.add(() => {
    if (response.destroyed) return 'done';
    if (clock.now() - last < ending.everyMs) return 'more';
    last = clock.now();
    response.write(ending.again);
    return 'more';
  });
  response.once('close', stop);
}
