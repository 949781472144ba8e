/** One client connection from its hello to its end: validates requests and answers them concurrently, up to a limit. Whatever a client sends, at most
 * its own connection ends. */
import type { Socket } from 'node:net';
import type { AgentId, Millis, SessionId } from '../domain/ids.ts';
import { fail, messageOf, ok, type Result, unreachable } from '../domain/result.ts';
import type { MimirEvent } from '../events/index.ts';
import type { RunApi } from '../ports/control.ts';
import type { World } from '../ports/world.ts';
import type { Outbox } from './wire.ts';
import { hangUp, linesOf, LONGEST_REQUEST, openLive, openOutbox, PROTOCOL, readClientHello, readLine } from './wire.ts';
import { readRequest, type Request } from './protocol.ts';

/** How long a client may take to send its hello, in milliseconds. */
const HELLO_WITHIN = 10_000;
/** The most requests of one client that are answered at the same time; further ones wait in its socket. */
const AT_ONCE = 32;

/** The least cost of a command in milliseconds: even a refused one is logged asynchronously. */
const COMMAND = 5;

export interface Serving {
  readonly session: SessionId;
  /** The client's identity, stamped on every request. */
  readonly as: AgentId | null;
  /** Resolves when the run accepts requests. */
  readonly given: Promise<RunApi>;
  readonly world: World;
  /** Limits the rate of all requests at this socket. */
  readonly pace: Pace;
  /** Called after the hello, with the client's name if it has one; `left` resolves when it sends nothing more. */
  readonly came: (client: string | null, left: Promise<void>) => void;
}

export interface Conversation {
  readonly over: Promise<void>;
  /** Finishes the current requests, then closes. */
  end(why: string): Promise<void>;
  drop(): void;
}

/** Serves a client until either side ends. */
export function converse(socket: Socket, serving: Serving): Conversation {
  const outbox = openOutbox(socket);
  const over = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  // Any error also closes the socket.
  socket.on('error', () => undefined);
  const work: Work = { answers: new Set(), follow: null };
  const leave = (why: string): void => {
    hangUp(socket, outbox, { why, world: serving.world });
  };
  outbox.send({ mimir: 'control', protocol: PROTOCOL, session: serving.session, as: serving.as });
  const left = listen({ socket, outbox, serving, work, leave, over, left: () => left });
  return {
    over,
    async end(why) {
      await Promise.all([...work.answers, work.follow]);
      leave(why);
      await over;
    },
    drop: () => void socket.destroy(),
  };
}

/** Refuses a client, for example when there are too many. */
export function turnAway(socket: Socket, world: World, why: string): void {
  socket.on('error', () => undefined);
  hangUp(socket, openOutbox(socket), { why, world });
}

interface Work {
  readonly answers: Set<Promise<void>>;
  /** At most one: an endless request must not block others. */
  follow: Promise<void> | null;
}

interface Parts {
  readonly socket: Socket;
  readonly outbox: Outbox;
  readonly serving: Serving;
  readonly work: Work;
  readonly leave: (why: string) => void;
  readonly over: Promise<void>;
  readonly left: () => Promise<void>;
}

/** Resolves when the client sends no more requests. */
async function listen(parts: Parts): Promise<void> {
  const { socket, outbox, serving, work, leave, over } = parts;
  const lines = linesOf(socket, LONGEST_REQUEST);
  if (!(await greeted(lines, parts))) return;
  const asking = serving.given.then(
    (given): Asking => ({ given, as: serving.as, outbox, world: serving.world, ticks: null }),
  );
  // If the run never starts, there are no ticks to stop.
  void Promise.all([asking, over]).then(
    ([asked]) => setTicks(asked, false),
    () => undefined,
  );
  for await (const line of lines) {
    await serving.pace.turn();
    const began = serving.world.elapsed();
    const read = line === null ? null : requestIn(line, serving.as);
    if (read === null) {
      leave(`not a request: send JSON with an "id", up to ${LONGEST_REQUEST / 1024 / 1024} MiB per line`);
      return;
    }
    if (!read.ok) outbox.send(read.fault);
    else if (read.value.ask === 'follow' && work.follow !== null) {
      outbox.send({ id: read.value.id, refused: 'this connection already follows the run: open another' });
    } else begin(read.value, work, (request) => reply(parts, asking, request));
    serving.pace.spent(serving.world.elapsed() - began);
    while (work.answers.size >= AT_ONCE) await Promise.race(work.answers);
    if (!(await outbox.room())) return;
  }
  // Pending requests are answered, but a `follow` is not continued.
  void Promise.all(work.answers).then(() => socket.destroySoon());
}

function begin(request: Request, work: Work, answered: (request: Request) => Promise<void>): void {
  const answer = answered(request);
  if (request.ask === 'follow') {
    work.follow = answer;
    return;
  }
  work.answers.add(answer);
  void answer.then(() => work.answers.delete(answer));
}

/** The validated request, or the refusal to send; null if there is no id to answer to. */
function requestIn(line: string, as: AgentId | null): Result<Request, { id: number; refused: string }> | null {
  const said = readLine(line);
  const id = said?.['id'];
  if (said === null || typeof id !== 'number' || !Number.isSafeInteger(id) || id < 0) return null;
  const request = readRequest(said, as);
  return request.ok ? request : fail({ id, refused: request.fault });
}

async function greeted(
  lines: AsyncGenerator<string | null>,
  { serving, leave, over, left }: Pick<Parts, 'serving' | 'leave' | 'over' | 'left'>,
): Promise<boolean> {
  const said = new AbortController();
  void over.then(() => said.abort());
  void serving.world.sleep(HELLO_WITHIN, said.signal).then(() => {
    if (!said.signal.aborted) leave('no hello was received');
  });
  const first = await lines.next();
  said.abort();
  const hello = readClientHello(first.done === true || first.value === null ? null : readLine(first.value));
  if (typeof hello === 'string') {
    leave(hello);
    return false;
  }
  serving.came(hello.client ?? null, Promise.race([left(), over]));
  return true;
}

/** Sends the answer. An internal error is reported to this client only; it does not end the run. */
async function reply(
  { outbox, serving: { pace, world } }: Pick<Parts, 'outbox' | 'serving'>,
  asking: Promise<Asking>,
  request: Request,
): Promise<void> {
  try {
    const asked = await asking;
    const answering = (): ReturnType<typeof answer> => {
      const began = world.elapsed();
      const answered = answer(asked, request);
      // Waiting does not count as used time.
      pace.spent(Math.max(world.elapsed() - began, request.ask === 'submit' ? COMMAND : 0));
      return answered;
    };
    const given = await (request.ask === 'events' ? pace.alone(answering) : answering());
    outbox.send(given.ok ? { id: request.id, value: given.value } : { id: request.id, refused: given.fault });
  } catch (error) {
    const words = messageOf(error);
    outbox.send({ id: request.id, refused: `${request.ask} failed: ${words}` });
  }
}

// Limits how much time of this process the requests of one agent may take, so that the run and its person are not delayed.

const SHARE = 0.2;
/** The time that may be used at once after a pause; enough for two hundred spawns. */
const BURST: Millis = 1500;
/** The least cost of a request: reading its line and writing the answer. */
const LEAST: Millis = 0.1;

export interface Pace {
  /** Resolves when the next request may be processed; requests are processed one after the other. */
  turn(): Promise<void>;
  /** Runs one at a time, for answers that stay in memory until they are read. */
  alone<T>(answer: () => Promise<T>): Promise<T>;
  spent(time: Millis): void;
}

/** No limit. */
export const unpaced: Pace = {
  turn: () => Promise.resolve(),
  alone: (answer) => answer(),
  spent: () => undefined,
};

export function openPace(world: Pick<World, 'elapsed' | 'sleep'>): Pace {
  let last: Promise<void> = Promise.resolve();
  let kept: Promise<unknown> = Promise.resolve();
  let [left, at] = [BURST, world.elapsed()];
  const refill = (): void => {
    const now = world.elapsed();
    left = Math.min(BURST, left + (now - at) * SHARE);
    at = now;
  };
  const next = async (before: Promise<void>): Promise<void> => {
    await before;
    // The cost of the previous request is known now, and other work has had a turn.
    await new Promise<void>((resolve) => void setImmediate(resolve));
    refill();
    if (left < 0) await world.sleep(-left / SHARE);
  };
  const turn = (): Promise<void> => {
    last = next(last);
    return last;
  };
  const behind = async <T>(before: Promise<unknown>, answer: () => Promise<T>): Promise<T> => {
    await before;
    await turn();
    return await answer();
  };
  return {
    turn,
    alone(answer) {
      const own = behind(kept, answer);
      kept = own.catch(() => undefined);
      return own;
    },
    spent(time) {
      left -= Math.max(time, LEAST);
    },
  };
}

/** How long a source of events may stay open without being read; then it is reopened where it stopped. */
const PATIENCE = 5000;

interface Asking {
  readonly given: RunApi;
  readonly as: AgentId | null;
  readonly outbox: Outbox;
  readonly world: World;
  ticks: (() => void) | null;
}

/** The answer to a request; requested events are sent before it. */
async function answer(asking: Asking, request: Request): Promise<Result<unknown, string>> {
  const { given, as } = asking;
  const { controls } = given;
  switch (request.ask) {
    case 'submit': {
      const done = await (as === null ? controls.submit(request.command) : controls.submit(request.command, as));
      return done.ok ? done : fail(done.fault.text);
    }
    case 'family':
      return ok(given.family(as));
    case 'detail':
      return given.detail(as, request.agent);
    case 'events':
      return await sendStored(asking, request);
    case 'follow':
      await follow(asking, request.id, request.after);
      return ok(null);
    case 'ticks':
      setTicks(asking, request.on);
      return ok(null);
    case 'mode':
      return ok(await controls.previewMode(request.mode, request.agent));
    case 'plan':
      return await controls.previewPlan(request.edits);
    case 'poke':
      given.poke?.();
      return ok(null);
    default:
      return unreachable(request);
  }
}

function setTicks(asking: Asking, on: boolean): void {
  asking.ticks?.();
  asking.ticks = on ? asking.given.controls.ticks(openLive(asking.outbox)) : null;
}

async function sendStored(
  { given, as, outbox }: Asking,
  { id, agent, after }: Extract<Request, { readonly ask: 'events' }>,
): Promise<Result<null, string>> {
  const found = given.events(as, agent, after);
  if (!found.ok) return found;
  for (const event of found.value) {
    if (outbox.full() && !(await outbox.room())) break;
    outbox.send({ id, event });
  }
  return ok(null);
}

/** Sends all events after `after` and new ones. A client that stops reading needs no memory: missed events are read again later. */
async function follow(asking: Asking, id: number, after: number): Promise<void> {
  let seq = after;
  for (;;) {
    const end = await stretch(asking, seq, (event) => {
      asking.outbox.send({ id, event });
      seq = event.seq;
    });
    if (end === 'over' || !(await asking.outbox.room())) return;
  }
}

async function stretch(
  { given, outbox, world }: Asking,
  after: number,
  send: (event: MimirEvent) => void,
): Promise<'over' | 'left'> {
  for await (const event of given.controls.events(after)) {
    send(event);
    if (!(await roomSoon(outbox, world))) return 'left';
  }
  return 'over';
}

/** False if the client is gone or does not read. */
async function roomSoon(outbox: Outbox, world: World): Promise<boolean> {
  if (!outbox.full()) return outbox.there();
  const done = new AbortController();
  const late = world.sleep(PATIENCE, done.signal).then(() => false);
  const soon = await Promise.race([outbox.room(), late]);
  done.abort();
  return soon;
}
