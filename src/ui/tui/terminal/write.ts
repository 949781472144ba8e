/** Bytes to a terminal by the two ways: without waiting while it runs, and at once when it must be given back. */
import { writeSync } from 'node:fs';

const PATIENCE = 400;
const PAUSE = 5;
const sleeping = new Int32Array(new SharedArrayBuffer(4));

/** Writes at once, also to a terminal that is slow: tries for 400 ms. A terminal that is gone is no failure. */
export function writeNow(fd: number, text: string): void {
  let rest: Uint8Array = Buffer.from(text);
  for (let waited = 0; rest.length > 0 && waited < PATIENCE; ) {
    try {
      rest = rest.subarray(writeSync(fd, rest));
    } catch (error) {
      if (!isAgain(error)) return;
      Atomics.wait(sleeping, 0, 0, PAUSE);
      waited += PAUSE;
    }
  }
}

const isAgain = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'EAGAIN';

/** A terminal that stalls must not stop the agents: on a TTY Node writes and waits, unless told otherwise. */
export function setBlocking(stream: NodeJS.WriteStream, blocks: boolean): void {
  const handle: unknown = Reflect.get(stream, '_handle');
  if (canBlock(handle)) handle.setBlocking(blocks);
}

const canBlock = (handle: unknown): handle is { setBlocking(blocks: boolean): void } =>
  typeof handle === 'object' && handle !== null && 'setBlocking' in handle && typeof handle.setBlocking === 'function';

/**
 * Holds back what libraries and warnings write to stderr while the screen is ours. What comes back lets go again and
 * returns the last of it.
 */
export function holdStderr(): () => string {
  if (!process.stderr.isTTY) return () => '';
  let held = '';
  const write = process.stderr.write.bind(process.stderr);
  process.stderr.write = (chunk: string | Uint8Array, ...rest: readonly unknown[]): boolean => {
    held = (held + (typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString())).slice(-MOST_HELD);
    const done = rest.find(isCallback);
    if (done !== undefined) queueMicrotask(done);
    return true;
  };
  return () => {
    process.stderr.write = write;
    return held;
  };
}

const MOST_HELD = 16_384;
const isCallback = (part: unknown): part is () => void => typeof part === 'function';
