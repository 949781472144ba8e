/**
 * Answers of a run elsewhere without waiting for a promise: what a screen asks while it draws. A thread asks over its own
 * connection, and this one stands still for it, for a second at most; after that it refuses at once until the answer came.
 */
import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads';
import type { Result } from '../../domain/result.ts';
import { fail } from '../../domain/result.ts';
import { isRecord } from '../lines.ts';
import { resultOf } from './connection.ts';

/** Milliseconds. */
const BOUND = 1000;
const LATE = 'the process that carries the run does not answer in time';

export interface AskNow {
  /** The answer, or why there is none. */
  ask(question: { readonly ask: string }): Result<unknown, string>;
  /** Starts the thread before the first question, which then needs not wait for that. */
  warm(): void;
  close(): void;
}

/** Nothing is started before it is needed. */
export function openAskNow(path: string, client: string): AskNow {
  let line: Line | null = null;
  const lineNow = (): Line => (line ??= openLine(path, client));
  return {
    ask: (question) => lineNow().ask(question),
    warm: () => void lineNow(),
    close: () => line?.close(),
  };
}

interface Line {
  ask(question: { readonly ask: string }): Result<unknown, string>;
  close(): void;
}

/** Beside this file: a source in a checkout, a part of the bundle in a package. */
const THREAD = import.meta.url.endsWith('.ts')
  ? new URL('./ask-now-thread.ts', import.meta.url)
  : new URL('./ask-now-thread.js', import.meta.url);

function openLine(path: string, client: string): Line {
  const { port1: here, port2: there } = new MessageChannel();
  const shared = new SharedArrayBuffer(4);
  const answered = new Int32Array(shared);
  const thread = new Worker(THREAD, {
    workerData: { path, client, port: there, shared },
    transferList: [there],
    // Ours may be a test's or a debugger's.
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  let [count, open, dead]: [number, number | null, string | null] = [0, null, null];
  thread.on('error', (error) => {
    dead = error instanceof Error ? error.message : String(error);
  });
  thread.unref();
  here.unref();

  /** The answer to question `n`; answers to those before it come too late for anybody. */
  const received = (n: number): Readonly<Record<string, unknown>> | null => {
    for (;;) {
      const got: { readonly message: unknown } | undefined = receiveMessageOnPort(here);
      if (got === undefined) return null;
      if (isRecord(got.message) && got.message['n'] === n) return got.message;
    }
  };
  return {
    ask(question) {
      if (dead !== null) return fail(dead);
      if (open !== null && received(open) === null) return fail(LATE);
      const n = (count += 1);
      open = n;
      here.postMessage({ n, question }, []);
      for (;;) {
        const seen = Atomics.load(answered, 0);
        const answer = received(n);
        if (answer !== null) {
          open = null;
          return resultOf(answer);
        }
        if (Atomics.wait(answered, 0, seen, BOUND) === 'timed-out') return fail(LATE);
      }
    },
    close() {
      here.close();
      void thread.terminate();
    },
  };
}
