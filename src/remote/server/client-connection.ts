/**
 * One client of a run from its hello to its end: requests checked, answered side by side, bounded in number. Whatever a client
 * sends, or however it goes, ends this conversation at most.
 */
import type { Socket } from 'node:net';
import type { AgentId, Millis, SessionId } from '../../domain/ids.ts';
import { fail, ok, type Result, unreachable } from '../../domain/result.ts';
import type { MimirEvent } from '../../events/event.ts';
import type { Given } from '../../ports/control.ts';
import type { World } from '../../ports/world.ts';
import { hangUp, linesOf, openLive, openOutbox } from '../stream.ts';
import { LONGEST_REQUEST, readLine } from '../lines.ts';
import { readRequest, type Request } from '../protocol.ts';
import type { Outbox } from '../stream.ts';
import { PROTOCOL, readClientHello } from '../handshake.ts';

/** Milliseconds until a client must have said who it is. */
const HELLO_WITHIN = 10_000;
/** Requests of one client that are answered at the same time; the next ones wait in its socket. */
const AT_ONCE = 32;

/** What a command costs at least, in milliseconds: it is written into the log behind a wait, refused as well. */
const COMMAND = 5;

export interface Serving {
  readonly session: SessionId;
  /** Who knocks here: stamped on every request. */
  readonly as: AgentId | null;
  /** Resolves when the run can be asked. */
  readonly given: Promise<Given>;
  readonly world: World;
  /** Of all that is asked at this door. */
  readonly pace: Pace;
  /** It said hello, with its name where it has one; `left` resolves when it says no more. */
  readonly came: (client: string | null, left: Promise<void>) => void;
}

export interface Conversation {
  /** Resolves when it is over, and the client gone. */
  readonly over: Promise<void>;
  /** What was asked is answered, then it is closed. */
  end(why: string): Promise<void>;
  /** Closed as it stands. */
  drop(): void;
}

/** Talks to a client until either side ends. */
export function converse(socket: Socket, serving: Serving): Conversation {
  const outbox = openOutbox(socket);
  const over = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  // Whatever went wrong with it, it is closed with that.
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

/** For one client too many. */
export function turnAway(socket: Socket, world: World, why: string): void {
  socket.on('error', () => undefined);
  hangUp(socket, openOutbox(socket), { why, world });
}

interface Work {
  readonly answers: Set<Promise<void>>;
  /** One at most: what never ends must not take the place of what does. */
  follow: Promise<void> | null;
}

interface Parts {
  readonly socket: Socket;
  readonly outbox: Outbox;
  readonly serving: Serving;
  readonly work: Work;
  readonly leave: (why: string) => void;
  readonly over: Promise<void>;
  /** Itself, as a promise. */
  readonly left: () => Promise<void>;
}

/** Resolves when nothing more is asked. */
async function listen(parts: Parts): Promise<void> {
  const { socket, outbox, serving, work, leave, over } = parts;
  const lines = linesOf(socket, LONGEST_REQUEST);
  if (!(await greeted(lines, parts))) return;
  const asking = serving.given.then(
    (given): Asking => ({ given, as: serving.as, outbox, world: serving.world, ticks: null }),
  );
  // A run that never came streams nothing.
  void Promise.all([asking, over]).then(
    ([asked]) => setTicks(asked, false),
    () => undefined,
  );
  for await (const line of lines) {
    await serving.pace.turn();
    const began = serving.world.elapsed();
    const read = line === null ? null : requestIn(line, serving.as);
    if (read === null) {
      leave(`no request: JSON with an "id", up to ${LONGEST_REQUEST / 1024 / 1024} MiB a line`);
      return;
    }
    if (!read.ok) outbox.send(read.fault);
    else if (read.value.ask === 'follow' && work.follow !== null) {
      outbox.send({ id: read.value.id, refused: 'one connection follows once: open another' });
    } else begin(read.value, work, (request) => reply(parts, asking, request));
    serving.pace.spent(serving.world.elapsed() - began);
    while (work.answers.size >= AT_ONCE) await Promise.race(work.answers);
    if (!(await outbox.room())) return;
  }
  // What it asked is answered, but nobody is followed for it.
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

/** The request, or the answer to one that can't be asked; null when there is nothing to answer to. */
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
    if (!said.signal.aborted) leave('no hello came');
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

/** Sends the answer. What goes wrong inside is said to who asked, and to nobody else: a run does not end by a question. */
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
      // What it waits for is nobody's time.
      pace.spent(Math.max(world.elapsed() - began, request.ask === 'submit' ? COMMAND : 0));
      return answered;
    };
    const given = await (request.ask === 'events' ? pace.alone(answering) : answering());
    outbox.send(given.ok ? { id: request.id, value: given.value } : { id: request.id, refused: given.fault });
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    outbox.send({ id: request.id, refused: `${request.ask} went wrong: ${words}` });
  }
}

// How much of the time of this process one agent may take by asking: a run goes on, and answers its person, whatever a command does.

/** Part of the time that goes to the questions of one agent when they never end. */
const SHARE = 0.2;
/** What may be used at once after a while of silence: two hundred spawns are below it. */
const BURST: Millis = 1500;
/** What a question costs at least: reading its line, and writing the answer. */
const LEAST: Millis = 0.1;

export interface Pace {
  /** Resolves when the next question may be looked at, one after the other; others of this process come in between. */
  turn(): Promise<void>;
  /** One after the other, each to its end: for answers that are kept in memory until they have been read. */
  alone<T>(answer: () => Promise<T>): Promise<T>;
  /** A question has taken this long, nobody else having been served meanwhile. */
  spent(time: Millis): void;
}

/** Nobody waits. */
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
    // What the one before has cost is known then, and everybody else has had a turn.
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

// What is done for a request that was checked. Who may see or do what is decided by who gives (`Given`), with the asker's name.

/** How long a client may keep a source of events open without reading; then the source is opened anew where it stopped. */
const PATIENCE = 5000;

interface Asking {
  readonly given: Given;
  /** An agent, or null for the person. */
  readonly as: AgentId | null;
  readonly outbox: Outbox;
  readonly world: World;
  /** Ends the ticks of this client; kept between its requests. */
  ticks: (() => void) | null;
}

/** The answer to a request; events it asks for are sent before. */
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
      return ok(controls.previewMode(request.mode, request.agent));
    case 'plan':
      return controls.previewPlan(request.edits);
    case 'poke':
      given.poke?.();
      return ok(null);
    default:
      return unreachable(request);
  }
}

/** Nothing streams to this client any more. */
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

/** All events after `after` and those to come. A client that stops reading costs no memory: what it missed is read again for it. */
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

/** False: the client is gone, or does not read. */
async function roomSoon(outbox: Outbox, world: World): Promise<boolean> {
  if (!outbox.full()) return outbox.there();
  const done = new AbortController();
  const late = world.sleep(PATIENCE, done.signal).then(() => false);
  const soon = await Promise.race([outbox.room(), late]);
  done.abort();
  return soon;
}
