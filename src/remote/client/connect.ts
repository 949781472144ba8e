/**
 * Reaches a run that another process carries: its controls, and what may be seen of it. What is asked here is decided there;
 * nothing of it is kept, but answers that are drawn again and again.
 */
import { randomBytes } from 'node:crypto';
import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads';
import type { SessionId } from '../../domain/ids.ts';
import { fail, ok, type Result } from '../../domain/result.ts';
import type { MimirEvent } from '../../events/event.ts';
import type { Family, SessionDetail } from '../../events/sessions/record.ts';
import { ControlFault, type Reached } from '../../ports/control.ts';
import type { Controls, ModePreview, PlanPreview, Receipt, Tick } from '../../ports/controls.ts';
import { isRecord, lineOf, readLine } from '../lines.ts';
import type { Ask } from '../protocol.ts';
import { refusal } from '../handshake.ts';
import { knownPaths, type Where } from '../socket-paths.ts';
import { GONE, greet, isEvent, type Link, openLink, resultOf, STRANGE_LINE } from './connection.ts';

/** The run of `session`, or null when nobody carries it. Throws `ControlFault` when somebody else listens there. */
export async function reach(where: Where, session: SessionId): Promise<Reached | null> {
  for (const path of knownPaths(where)) {
    const reached = await reachAt(path);
    if (reached === null) continue;
    if (reached.session === session) return reached;
    reached.close();
    throw new ControlFault(`${path}: session ${reached.session} listens there, not ${session}`);
  }
  return null;
}

/** The run behind an agent's door. Throws `ControlFault` when nobody opens. */
export async function reachDoor(path: string): Promise<Reached> {
  const reached = await reachAt(path);
  if (reached === null) throw new ControlFault(`nobody listens at ${path}: the run of this agent has ended`);
  return reached;
}

async function reachAt(path: string): Promise<Reached | null> {
  const client = randomBytes(8).toString('hex');
  const listeners = new Set<(tick: Tick) => void>();
  const link = await openLink(path, client, (tick) => {
    if (isTick(tick)) for (const listener of listeners) listener(tick);
  });
  if (link === null) return null;
  const { session, as } = link.hello;
  const closed = new AbortController();
  const now = openAskNow(path, client);
  const ask = async (question: Ask): ReturnType<Link['ask']> => await link.ask(question);
  return {
    session,
    as,
    controls: controlsOver({ link, ask, now, listeners, path, client, closed: closed.signal }),
    family: async () => must(await ask({ ask: 'family' }), isFamily),
    async detail(agent) {
      const { result } = await ask({ ask: 'detail', agent });
      return result.ok ? ok(known(result.value, isDetail)) : result;
    },
    async events(agent, after) {
      const { result, events } = await ask({ ask: 'events', agent, after });
      return result.ok ? ok(events) : result;
    },
    async poke() {
      must(await ask({ ask: 'poke' }), (value): value is null => value === null);
    },
    close() {
      closed.abort();
      now.close();
      link.close();
    },
  };
}

interface Over {
  readonly link: Link;
  readonly ask: (question: Ask) => ReturnType<Link['ask']>;
  readonly now: AskNow;
  readonly listeners: Set<(tick: Tick) => void>;
  readonly path: string;
  readonly client: string;
  readonly closed: AbortSignal;
}

function controlsOver({ link, ask, now, listeners, path, client, closed }: Over): Controls {
  const { session } = link.hello;
  const previews = openPreviews(now);
  const setTicks = (on: boolean): void => {
    // Whoever is gone streams nothing: `lost` says it.
    ask({ ask: 'ticks', on }).catch(() => undefined);
  };
  return {
    session,
    lost: link.gone,
    previewMode(mode, agent) {
      const answer = previews.ask(agent === undefined ? { ask: 'mode', mode } : { ask: 'mode', mode, agent });
      if (answer.ok && isModePreview(answer.value)) return answer.value;
      return { refused: answer.ok ? STRANGE : answer.fault, looser: false, changes: [], answers: 0 };
    },
    previewPlan(edits): Result<PlanPreview, string> {
      const answer = previews.ask({ ask: 'plan', edits });
      if (!answer.ok) return answer;
      return isPlanPreview(answer.value) ? ok(answer.value) : fail(STRANGE);
    },
    async submit(command) {
      const { result } = await ask({ ask: 'submit', command });
      return result.ok ? ok(known(result.value, isReceipt)) : fail({ text: result.fault });
    },
    events: (afterSeq) => previews.watch(followRun({ path, client, session, closed }, afterSeq)),
    ticks(listener) {
      if (listeners.size === 0) setTicks(true);
      listeners.add(listener);
      // A screen: it will want to know something while it draws.
      now.warm();
      return () => {
        if (listeners.delete(listener) && listeners.size === 0) setTicks(false);
      };
    },
  };
}

/** Previews that are kept: a person types edits while nothing happens. */
const MOST_KEPT = 64;

interface Previews {
  ask(question: Ask): Result<unknown, string>;
  /** As long as somebody follows the run, answers hold until its next event. */
  watch(events: AsyncIterable<MimirEvent>): AsyncIterable<MimirEvent>;
}

function openPreviews(now: AskNow): Previews {
  const answers = new Map<string, Result<unknown, string>>();
  let watchers = 0;
  return {
    ask(question) {
      const key = JSON.stringify(question);
      const kept = answers.get(key);
      if (kept !== undefined) return kept;
      const answer = now.ask(question);
      // A refusal may be because of the time.
      if (watchers === 0 || !answer.ok) return answer;
      if (answers.size >= MOST_KEPT) answers.clear();
      answers.set(key, answer);
      return answer;
    },
    async *watch(events) {
      watchers += 1;
      try {
        for await (const event of events) {
          answers.clear();
          yield event;
        }
      } finally {
        watchers -= 1;
        answers.clear();
      }
    },
  };
}

const STRANGE = 'the process that carries the run gave an answer that makes no sense';

function must<T>({ result }: Awaited<ReturnType<Link['ask']>>, is: (value: unknown) => value is T): T {
  if (!result.ok) throw new ControlFault(result.fault);
  return known(result.value, is);
}

function known<T>(value: unknown, is: (value: unknown) => value is T): T {
  if (is(value)) return value;
  throw new ControlFault(STRANGE);
}

// The hello said that this is Mimir and of which version: only enough is looked at to tell one answer from another.
const isTick = (value: unknown): value is Tick =>
  isRecord(value) && typeof value['agent'] === 'string' && typeof value['delta'] === 'string';
const isReceipt = (value: unknown): value is Receipt => isRecord(value) && typeof value['text'] === 'string';
const isFamily = (value: unknown): value is Family => isRecord(value) && Array.isArray(value['sessions']);
const isDetail = (value: unknown): value is SessionDetail => isRecord(value) && Array.isArray(value['recent_tools']);
const isModePreview = (value: unknown): value is ModePreview => isRecord(value) && Array.isArray(value['changes']);
const isPlanPreview = (value: unknown): value is PlanPreview => isRecord(value) && isRecord(value['plan']);

// The events of a run elsewhere, as they happen: a connection of its own, read no faster than they are taken.

interface Followed {
  readonly path: string;
  readonly client: string;
  readonly session: SessionId;
  /** Ends it quietly. */
  readonly closed: AbortSignal;
}

/** Every event after `after`, until the run has ended. Throws `ControlFault` when it is gone before. */
async function* followRun(run: Followed, after: number): AsyncGenerator<MimirEvent> {
  if (run.closed.aborted) return;
  const greeted = await greet(run.path, run.client);
  if (greeted === null) throw new ControlFault(GONE);
  const { socket, lines, hello } = greeted;
  const hangUp = (): void => void socket.destroy();
  run.closed.addEventListener('abort', hangUp);
  try {
    if (hello.session !== run.session) throw new ControlFault(`session ${hello.session} listens there by now`);
    socket.write(lineOf({ id: 1, ask: 'follow', after }));
    for await (const line of lines) {
      const event = eventIn(line);
      if (event === null) return;
      yield event;
    }
    if (!run.closed.aborted) throw new ControlFault(GONE);
  } finally {
    run.closed.removeEventListener('abort', hangUp);
    socket.destroy();
  }
}

/** The event of a line; null: the run has ended. */
function eventIn(line: string | null): MimirEvent | null {
  const said = line === null ? null : readLine(line);
  if (said === null) throw new ControlFault(STRANGE_LINE);
  if (isEvent(said['event'])) return said['event'];
  const bye = refusal(said);
  if (bye !== null) throw new ControlFault(bye);
  const result = resultOf(said);
  if (!result.ok) throw new ControlFault(result.fault);
  return null;
}

// Answers of a run elsewhere without waiting for a promise: what a screen asks while it draws. A thread asks over its own
// connection, and this one stands still for it, for a second at most; after that it refuses at once until the answer came.

/** Milliseconds. */
const BOUND = 1000;
const LATE = 'the process that carries the run does not answer in time';

interface AskNow {
  /** The answer, or why there is none. */
  ask(question: { readonly ask: string }): Result<unknown, string>;
  /** Starts the thread before the first question, which then needs not wait for that. */
  warm(): void;
  close(): void;
}

/** Nothing is started before it is needed. */
function openAskNow(path: string, client: string): AskNow {
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
