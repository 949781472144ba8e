/** Connects to a run in another process and offers its controls and queries. The other process decides about every request; nothing is cached. */
import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import type { SessionId } from '../domain/ids.ts';
import { codeOf, fail, ok, type Result } from '../domain/result.ts';
import type { RunSessions, MimirEvent, SessionDetail } from '../events/index.ts';
import { ControlFault, type RemoteRun } from '../ports/control.ts';
import type { Controls, ModePreview, PlanPreview, Receipt, Tick } from '../ports/controls.ts';
import type { ServerHello } from './wire.ts';
import { isRecord, lineOf, linesOf, LONGEST_ANSWER, LONGEST_REQUEST, PROTOCOL, readLine } from './wire.ts';
import { readServerHello, refusal } from './wire.ts';
import type { Ask } from './protocol.ts';
import { knownPaths, type Where } from './socket-paths.ts';

/** The run of `session`, or null when nobody carries it. Throws `ControlFault` when somebody else listens there. */
export async function reach(where: Where, session: SessionId): Promise<RemoteRun | null> {
  for (const path of knownPaths(where)) {
    const reached = await reachAt(path);
    if (reached === null) continue;
    if (reached.session === session) return reached;
    reached.close();
    throw new ControlFault(`${path} belongs to session ${reached.session}, not ${session}`);
  }
  return null;
}

/** The run behind an agent's door. Throws `ControlFault` when nobody opens. */
export async function reachSocket(path: string): Promise<RemoteRun> {
  const reached = await reachAt(path);
  if (reached === null) throw new ControlFault(`nothing listens at ${path}: the run of this agent has ended`);
  return reached;
}

async function reachAt(path: string): Promise<RemoteRun | null> {
  const client = randomBytes(8).toString('hex');
  const listeners = new Set<(tick: Tick) => void>();
  const link = await openLink(path, client, (tick) => {
    if (isTick(tick)) for (const listener of listeners) listener(tick);
  });
  if (link === null) return null;
  const { session, as } = link.hello;
  const closed = new AbortController();
  const { ask } = link;
  return {
    session,
    as,
    controls: controlsOver(link, listeners, { path, client, session, closed: closed.signal }),
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
      link.close();
    },
  };
}

function controlsOver({ ask, gone }: Link, listeners: Set<(tick: Tick) => void>, followed: Followed): Controls {
  const setTicks = (on: boolean): void => {
    // For a lost run this has no effect; `lost` reports it.
    ask({ ask: 'ticks', on }).catch(() => undefined);
  };
  return {
    session: followed.session,
    lost: gone,
    async previewMode(mode, agent) {
      const answer = await answerIn(
        ask({ ask: 'mode', mode, ...(agent === undefined ? {} : { agent }) }),
        isModePreview,
      );
      return answer.ok ? answer.value : { refused: answer.fault, looser: false, changes: [], answers: 0 };
    },
    async previewPlan(edits) {
      return await answerIn(ask({ ask: 'plan', edits }), isPlanPreview);
    },
    async submit(command) {
      const { result } = await ask({ ask: 'submit', command });
      return result.ok ? ok(known(result.value, isReceipt)) : fail({ text: result.fault });
    },
    events: (afterSeq) => followRun(followed, afterSeq),
    ticks(listener) {
      if (listeners.size === 0) setTicks(true);
      listeners.add(listener);
      return () => {
        if (listeners.delete(listener) && listeners.size === 0) setTicks(false);
      };
    },
  };
}

const STRANGE = 'the process that hosts the run sent an invalid answer';

/** The value of an answer; a fault if there is none for any reason. Rejects for a bug only. */
async function answerIn<T>(asked: Promise<Answer>, is: (value: unknown) => value is T): Promise<Result<T, string>> {
  try {
    const { result } = await asked;
    return result.ok ? ok(known(result.value, is)) : result;
  } catch (error) {
    if (error instanceof ControlFault) return fail(error.message);
    throw error;
  }
}

function must<T>({ result }: Answer, is: (value: unknown) => value is T): T {
  if (!result.ok) throw new ControlFault(result.fault);
  return known(result.value, is);
}

function known<T>(value: unknown, is: (value: unknown) => value is T): T {
  if (is(value)) return value;
  throw new ControlFault(STRANGE);
}

// The hello has identified Mimir and its version, so these checks only distinguish one answer from another.
const isTick = (value: unknown): value is Tick =>
  isRecord(value) && typeof value['agent'] === 'string' && typeof value['delta'] === 'string';
const isReceipt = (value: unknown): value is Receipt => isRecord(value) && typeof value['text'] === 'string';
const isFamily = (value: unknown): value is RunSessions => isRecord(value) && Array.isArray(value['sessions']);
const isDetail = (value: unknown): value is SessionDetail => isRecord(value) && Array.isArray(value['recent_tools']);
const isModePreview = (value: unknown): value is ModePreview => isRecord(value) && Array.isArray(value['changes']);
const isPlanPreview = (value: unknown): value is PlanPreview => isRecord(value) && isRecord(value['plan']);

// The events of a remote run as they happen: over a separate connection, read only as fast as they are used.

interface Followed {
  readonly path: string;
  readonly client: string;
  readonly session: SessionId;
  /** Ends it without an error. */
  readonly closed: AbortSignal;
}

/** Every event after `after`, until the run has ended. Throws `ControlFault` if the connection is lost before. */
async function* followRun(run: Followed, after: number): AsyncGenerator<MimirEvent> {
  if (run.closed.aborted) return;
  const greeted = await greet(run.path, run.client);
  if (greeted === null) throw new ControlFault(GONE);
  const { socket, lines, hello } = greeted;
  const hangUp = (): void => void socket.destroy();
  run.closed.addEventListener('abort', hangUp);
  try {
    if (hello.session !== run.session) throw new ControlFault(`session ${hello.session} now listens there`);
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

/** Time limits in milliseconds for a hello and for an answer other than to a command. */
const HELLO_WITHIN = 5000;
const ANSWER_WITHIN = 30_000;
const GONE = 'the process that hosted the run has ended';

interface Answer {
  readonly result: Result<unknown, string>;
  readonly events: readonly MimirEvent[];
}

interface Link {
  readonly hello: ServerHello;
  /** Rejects with `ControlFault` when the connection is lost, or after a timeout for anything but a command. */
  readonly ask: (question: Ask) => Promise<Answer>;
  /** Resolves with the reason when the connection is lost; never after `close`. */
  readonly gone: Promise<string>;
  close(): void;
}

/** The connection after the hello; null if nothing listens there. Throws `ControlFault` if the listener is not Mimir. */
async function greet(path: string, client: string) {
  const socket = await connectTo(path);
  if (socket === null) return null;
  const lines = linesOf(socket, LONGEST_ANSWER);
  socket.write(lineOf({ mimir: 'control', protocol: PROTOCOL, client }));
  const late = AbortSignal.timeout(HELLO_WITHIN);
  const hangUp = (): void => void socket.destroy();
  late.addEventListener('abort', hangUp);
  const first = await lines.next();
  late.removeEventListener('abort', hangUp);
  // The process ended during the connection.
  if (first.done === true && !late.aborted) return null;
  const hello = first.done === true ? SILENT : readServerHello(readLine(first.value ?? ''));
  if (typeof hello !== 'string') return { socket, lines, hello };
  socket.destroy();
  throw new ControlFault(`${path}: ${hello}`);
}

const SILENT = 'the process that listens there does not answer: is it stopped?';

/** Null if nothing listens there. `onTick` gets streamed text, if that was requested. */
async function openLink(
  path: string,
  client: string,
  onTick: (tick: unknown) => void = () => undefined,
): Promise<Link | null> {
  const greeted = await greet(path, client);
  if (greeted === null) return null;
  const { socket, lines, hello } = greeted;
  const open = new Map<number, Waiting>();
  const gone = Promise.withResolvers<string>();
  let [count, ended, closed]: [number, string | null, boolean] = [0, null, false];
  void read(lines, open, onTick).then((words) => {
    ended = words;
    socket.destroy();
    for (const { reject } of open.values()) reject(new ControlFault(words));
    open.clear();
    if (!closed) gone.resolve(words);
  });
  return {
    hello,
    gone: gone.promise,
    ask(question) {
      if (ended !== null) return Promise.reject(new ControlFault(ended));
      const id = (count += 1);
      const line = lineOf({ id, ...question });
      if (Buffer.byteLength(line) > LONGEST_REQUEST) return Promise.resolve({ result: fail(TOO_LONG), events: [] });
      const answer = new Promise<Answer>((resolve, reject) => open.set(id, { resolve, reject, events: [] }));
      socket.write(line);
      return question.ask === 'submit' ? answer : inTime(answer, () => open.delete(id));
    },
    close() {
      closed = true;
      socket.destroy();
    },
  };
}

const TOO_LONG = `the request is too long: at most ${LONGEST_REQUEST / 1024 / 1024} MiB`;

interface Waiting {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (fault: ControlFault) => void;
  readonly events: MimirEvent[];
}

const STRANGE_LINE = 'the run sent an invalid message';

/** Delivers answers to pending requests until the connection ends; resolves with the reason. */
async function read(
  lines: AsyncGenerator<string | null>,
  open: Map<number, Waiting>,
  onTick: (tick: unknown) => void,
): Promise<string> {
  for await (const line of lines) {
    const said = line === null ? null : readLine(line);
    if (said === null) return STRANGE_LINE;
    const bye = refusal(said);
    if (bye !== null) return bye;
    if ('tick' in said) onTick(said['tick']);
    const id = said['id'];
    const waiting = typeof id === 'number' ? open.get(id) : undefined;
    if (typeof id !== 'number' || waiting === undefined) continue;
    if (isEvent(said['event'])) waiting.events.push(said['event']);
    else {
      open.delete(id);
      waiting.resolve({ result: resultOf(said), events: waiting.events });
    }
  }
  return GONE;
}

/** What an answer's line says. */
const resultOf = (said: Readonly<Record<string, unknown>>): Result<unknown, string> =>
  typeof said['refused'] === 'string' ? fail(said['refused']) : ok(said['value']);

/** The hello has identified Mimir and its version, so the type can be trusted. */
const isEvent = (value: unknown): value is MimirEvent =>
  isRecord(value) && typeof value['type'] === 'string' && typeof value['seq'] === 'number';

function inTime(answer: Promise<Answer>, late: () => void): Promise<Answer> {
  const bound = AbortSignal.timeout(ANSWER_WITHIN);
  return new Promise((resolve, reject) => {
    const giveUp = (): void => {
      late();
      reject(new ControlFault('the process that hosts the run does not answer: is it stopped?'));
    };
    bound.addEventListener('abort', giveUp);
    answer.then(resolve, reject).finally(() => bound.removeEventListener('abort', giveUp));
  });
}

const connectTo = (path: string): Promise<Socket | null> =>
  new Promise((resolve, reject) => {
    const socket = connect(path);
    socket.once('connect', () => {
      // Later errors end the lines.
      socket.on('error', () => undefined);
      resolve(socket);
    });
    socket.once('error', (error) => {
      if (['ENOENT', 'ECONNREFUSED'].includes(codeOf(error))) resolve(null);
      else reject(new ControlFault(`cannot connect to ${path}: ${error.message}`));
    });
  });
