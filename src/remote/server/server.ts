/**
 * The sockets of a run: one for the person, one door for each agent that has a shell. Decides who asks, by the socket that
 * was knocked at, and how many may; what is said is a conversation's (conversation.ts).
 */
import { lstatSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import type { AgentId, Millis } from '../../domain/ids.ts';
import type { Doors } from '../../ports/agent-sockets.ts';
import { ControlFault, type Given } from '../../ports/control.ts';
import type { World } from '../../ports/world.ts';
import {
  doorName,
  forget,
  isAnswered,
  isOurSocket,
  keepToOwner,
  noteDown,
  placeFor,
  type Where,
} from '../socket-paths.ts';
import { type Conversation, converse, openPace, type Pace, turnAway, unpaced } from './client-connection.ts';

/** Connections at the same time. A screen has three, a verb one. */
const MOST_OF_PERSON = 256;
const MOST_OF_AGENT = 32;
/** Milliseconds between two looks whether the person's socket is still there: a runtime folder goes with its login. */
const LOOK_AGAIN = 30_000;

export interface Control {
  /** Doors of agents; requests there wait until `serve` was called. */
  readonly doors: Doors;
  /** Resolves when the person's socket listens; throws `ControlFault` where that can't be. Called once. */
  serve(given: Given): Promise<void>;
  /** Screens and verbs of the person that are connected now. Agents don't count. */
  clients(): number;
  /** Told whenever their number changes. Returns what ends that. */
  onClients(listener: (clients: number) => void): () => void;
  /** What was asked is answered within a second, then all sockets are gone. Before the log is closed. */
  close(): Promise<void>;
}

/** Nothing listens yet. */
export function openControl(where: Where, world: World): Control {
  const given = Promise.withResolvers<Given>();
  // A run that never comes: whoever waits for it is turned away when all is closed.
  given.promise.catch(() => undefined);
  const listeners = new Set<(clients: number) => void>();
  const present: (string | symbol)[] = [];
  const count = (): number => new Set(present).size;
  const change = (move: () => void): void => {
    const before = count();
    move();
    if (count() !== before) for (const listener of listeners) listener(count());
  };
  const person: Door = {
    as: null,
    most: MOST_OF_PERSON,
    came: (client, left) => {
      const name = client ?? Symbol('unnamed');
      change(() => present.push(name));
      void left.then(() => change(() => present.splice(present.indexOf(name), 1)));
    },
  };
  const house: House = { where, world, given: given.promise, agents: new Set() };
  const open = new Set<Promise<Listening | null>>();
  const closing = new AbortController();
  return {
    doors: openDoors(house, open, closing.signal),
    async serve(run) {
      given.resolve(run);
      const listening = listenAs(house, person, where.name);
      open.add(listening.catch(() => null));
      const there = await listening;
      noteDown(where, there.path());
      void sweep(where, dirname(there.path()), world.now());
      void stay(house, there, closing.signal);
    },
    clients: count,
    onClients(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async close() {
      closing.abort();
      given.reject(new ControlFault('the run has ended here'));
      forget(where);
      await Promise.all([...open].map(async (each) => await (await each)?.close()));
    },
  };
}

/** Keeps the person's socket where it can be found. */
async function stay({ where, world }: House, listening: Listening, closing: AbortSignal): Promise<void> {
  for (;;) {
    await world.sleep(LOOK_AGAIN, closing);
    if (closing.aborted) return;
    // Where there is no place by now, there may be one later.
    if (await listening.stillThere()) noteDown(where, listening.path());
  }
}

function openDoors(house: House, open: Set<Promise<Listening | null>>, closed: AbortSignal): Doors {
  const doors = new Map<AgentId, Promise<Listening | null>>();
  const closing = new Map<AgentId, Promise<void>>();
  const openFor = async (agent: AgentId): Promise<Listening | null> => {
    await closing.get(agent);
    const door: Door = { as: agent, most: MOST_OF_AGENT, came: () => undefined };
    try {
      return await listenAs(house, door, doorName(house.where, agent));
    } catch (error) {
      // Commands go without.
      if (error instanceof ControlFault) return null;
      throw error;
    }
  };
  return {
    async open(agent) {
      if (closed.aborted) return null;
      const listening = doors.get(agent) ?? openFor(agent);
      doors.set(agent, listening);
      open.add(listening);
      const found = await listening;
      return found !== null && (await found.stillThere()) ? found.path() : null;
    },
    close(agent) {
      const listening = doors.get(agent);
      if (listening === undefined) return;
      doors.delete(agent);
      open.delete(listening);
      // Nobody comes in from then on; who is there is waited for by nobody.
      const shut = listening.then((found) => void found?.close());
      closing.set(agent, shut);
    },
  };
}

// Takes away what processes that were killed have left in the folders of sockets. What somebody may still use stays.

const DAY: Millis = 24 * 3600 * 1000;
/** Of a session that begins just now nobody may listen yet: only what has lain there for a while is looked at. */
const OLD_SOCKET = DAY;
const OLD_OUTPUT = 30 * DAY;

const SOCKET = /^[0-9a-f]{16}(?:-[0-9a-f]{7})?$/;

/** Sockets of this session where nobody listens, old ones of others, and outputs of long ago. Never throws. */
export async function sweep(where: Where, folder: string, now: Millis): Promise<void> {
  for (const one of new Set([folder, dirname(where.note)])) {
    for (const name of namesIn(one)) await look(join(one, name), name, { where, now });
  }
}

async function look(path: string, name: string, { where, now }: { where: Where; now: Millis }): Promise<void> {
  try {
    const age = now - lstatSync(path).mtimeMs;
    if (await isLeft(path, name, name.startsWith(`${where.name}-`) ? Infinity : age)) rmSync(path);
  } catch {
    // Somebody else was quicker.
  }
}

async function isLeft(path: string, name: string, age: Millis): Promise<boolean> {
  if (SOCKET.test(name)) return age > OLD_SOCKET && isOurSocket(path) && !(await isAnswered(path));
  if (name.endsWith('.at')) return age > OLD_SOCKET && !isOurSocket(readlinkSync(path));
  return name.endsWith('.out') && age > OLD_OUTPUT;
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

// One socket that listens: who comes is talked to as whom it is for, up to a number. Kept where it can be found; leaves no file.

/** Connections at all doors together. */
const MOST_OF_AGENTS = 256;
/** Milliseconds that closing waits for answers under way, and for those who read slowly. */
const CLOSE_WITHIN = 1000;
/** Milliseconds for another process to let go of a socket, and between two looks whether it has. */
const LEAVE_WITHIN = 2000;
const LOOK_EVERY = 50;

/** What all sockets of a run have in common. */
interface House {
  readonly where: Where;
  readonly world: World;
  readonly given: Promise<Given>;
  /** All that are talked to at doors. */
  readonly agents: Set<Conversation>;
}

interface Door {
  /** Who knocks here; null: the person. */
  readonly as: AgentId | null;
  /** Connections at the same time. */
  readonly most: number;
  /** Somebody said hello, with a name perhaps; `left` resolves when they say no more. */
  came(client: string | null, left: Promise<void>): void;
}

interface Listening {
  path(): string;
  /** Listens again where its file is gone; those who are there stay. False: there is no place for it. */
  stillThere(): Promise<boolean>;
  /** Nobody comes any more; who is there has a second for what was asked. */
  close(): Promise<void>;
}

/** Throws `ControlFault` when nobody can listen there. */
async function listenAs(house: House, door: Door, name: string): Promise<Listening> {
  const talks = new Set<Conversation>();
  const pace = door.as === null ? unpaced : openPace(house.world);
  const came = (socket: Socket): void => meet(socket, { house, door, talks, pace });
  let path = await freePlace(house, name);
  let server = await listenAt(path, came);
  let [mending, closed]: [Promise<boolean> | null, boolean] = [null, false];
  const mend = async (): Promise<boolean> => {
    // First: it would take the new one's file with it.
    server.close();
    try {
      path = await freePlace(house, name);
      const again = await listenAt(path, came);
      if (closed) again.close();
      server = again;
    } catch (error) {
      if (!(error instanceof ControlFault)) throw error;
    }
    mending = null;
    return isOurSocket(path);
  };
  return {
    path: () => path,
    async stillThere() {
      if (closed || isOurSocket(path)) return !closed;
      return await (mending ??= mend());
    },
    async close() {
      closed = true;
      // It takes its file with it.
      server.close();
      const told = new AbortController();
      const all = Promise.all([...talks].map((talk) => talk.end('the run has ended here')));
      await Promise.race([all, house.world.sleep(CLOSE_WITHIN, told.signal)]);
      told.abort();
      for (const talk of talks) talk.drop();
    },
  };
}

/** A process that hands its run over may be there for a moment still: who holds the session's claim waits for that. */
async function freePlace({ where, world }: House, name: string): Promise<string> {
  for (let waited = 0; waited <= LEAVE_WITHIN; waited += LOOK_EVERY) {
    const path = await placeFor(where, name);
    if (path !== null) return path;
    await world.sleep(LOOK_EVERY);
  }
  throw new ControlFault(`another process listens for session ${where.session} already`);
}

interface Meeting {
  readonly house: House;
  readonly door: Door;
  readonly talks: Set<Conversation>;
  readonly pace: Pace;
}

function meet(socket: Socket, { house, door, talks, pace }: Meeting): void {
  const { where, world, given, agents } = house;
  if (talks.size >= door.most || (door.as !== null && agents.size >= MOST_OF_AGENTS)) {
    turnAway(socket, world, `${talks.size} clients are here already: try again when one has gone`);
    return;
  }
  const hello = (client: string | null, left: Promise<void>): void => door.came(client, left);
  const talk = converse(socket, { session: where.session, as: door.as, given, world, pace, came: hello });
  for (const set of door.as === null ? [talks] : [talks, agents]) {
    set.add(talk);
    void talk.over.then(() => set.delete(talk));
  }
}

function listenAt(path: string, came: (socket: Socket) => void): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer({ allowHalfOpen: true }, came);
    const failed = (error: unknown): void => {
      server.close();
      reject(
        new ControlFault(`nobody can listen at ${path}: ${error instanceof Error ? error.message : String(error)}`),
      );
    };
    // Too many open files at some moment, later on: those who knock then find nobody.
    server.on('error', failed);
    server.listen(path, () => {
      try {
        keepToOwner(path);
        resolve(server);
      } catch (error) {
        failed(error);
      }
    });
  });
}
