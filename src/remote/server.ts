/** The sockets of a run: one for the person, and one for each agent with a shell. Identifies clients by their socket and limits their number;
 * client-connection.ts serves them. */
import { messageOf, tried } from '../domain/result.ts';
import { lstatSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import type { AgentId, Millis } from '../domain/ids.ts';
import { ControlFault, type AgentSockets, type RunApi } from '../ports/control.ts';
import type { World } from '../ports/world.ts';
import type { Where } from './socket-paths.ts';
import { socketName, forget, isAnswered, isOurSocket, keepToOwner, noteDown, placeFor } from './socket-paths.ts';
import { type Conversation, converse, openPace, type Pace, turnAway, unpaced } from './client-connection.ts';

/** The most connections at the same time. A screen has three, a command one. */
const MOST_OF_PERSON = 256;
const MOST_OF_AGENT = 32;
/** Milliseconds between checks that the person's socket exists: a runtime folder is removed at logout. */
const LOOK_AGAIN = 30_000;

export interface Control {
  /** Sockets of agents; requests there wait until `serve` was called. */
  readonly agentSockets: AgentSockets;
  /** Resolves when the person's socket listens; throws `ControlFault` if it cannot. Called once. */
  serve(given: RunApi): Promise<void>;
  /** The number of connected screens and commands of the person, without agents. */
  clients(): number;
  /** `listener` is called when that number changes. Returns the function that unsubscribes. */
  onClients(listener: (clients: number) => void): () => void;
  /** Answers current requests within a second, then removes all sockets. Call it before the log is closed. */
  close(): Promise<void>;
}

/** Nothing listens until `serve` or `agentSockets.open` is called. */
export function openControl(where: Where, world: World): Control {
  const given = Promise.withResolvers<RunApi>();
  // If the run never starts, waiting clients are refused at the end.
  given.promise.catch(() => undefined);
  const listeners = new Set<(clients: number) => void>();
  const present: (string | symbol)[] = [];
  const count = (): number => new Set(present).size;
  const change = (move: () => void): void => {
    const before = count();
    move();
    if (count() !== before) for (const listener of listeners) listener(count());
  };
  const person: Endpoint = {
    as: null,
    most: MOST_OF_PERSON,
    came: (client, left) => {
      const name = client ?? Symbol('unnamed');
      change(() => present.push(name));
      void left.then(() => change(() => present.splice(present.indexOf(name), 1)));
    },
  };
  const shared: SharedSockets = { where, world, given: given.promise, agents: new Set() };
  const open = new Set<Promise<Listening | null>>();
  const closing = new AbortController();
  return {
    agentSockets: openAgentSockets(shared, open, closing.signal),
    async serve(run) {
      given.resolve(run);
      const listening = listenAs(shared, person, where.name);
      open.add(listening.catch(() => null));
      const there = await listening;
      noteDown(where, there.path());
      void sweep(where, dirname(there.path()), world.now());
      void stay(shared, there, closing.signal);
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

/** Recreates the person's socket if its file is gone. */
async function stay({ where, world }: SharedSockets, listening: Listening, closing: AbortSignal): Promise<void> {
  for (;;) {
    await world.sleep(LOOK_AGAIN, closing);
    if (closing.aborted) return;
    // If there is no usable folder now, there may be one later.
    if (await listening.stillThere()) noteDown(where, listening.path());
  }
}

function openAgentSockets(
  shared: SharedSockets,
  open: Set<Promise<Listening | null>>,
  closed: AbortSignal,
): AgentSockets {
  const agentSockets = new Map<AgentId, Promise<Listening | null>>();
  const closing = new Map<AgentId, Promise<void>>();
  const openFor = async (agent: AgentId): Promise<Listening | null> => {
    await closing.get(agent);
    const door: Endpoint = { as: agent, most: MOST_OF_AGENT, came: () => undefined };
    try {
      return await listenAs(shared, door, socketName(shared.where, agent));
    } catch (error) {
      // The agent's commands then have no socket.
      if (error instanceof ControlFault) return null;
      throw error;
    }
  };
  return {
    async open(agent) {
      if (closed.aborted) return null;
      const listening = agentSockets.get(agent) ?? openFor(agent);
      agentSockets.set(agent, listening);
      open.add(listening);
      const found = await listening;
      return found !== null && (await found.stillThere()) ? found.path() : null;
    },
    close(agent) {
      const listening = agentSockets.get(agent);
      if (listening === undefined) return;
      agentSockets.delete(agent);
      open.delete(listening);
      // No new client is accepted from now on; present ones are closed in the background.
      const shut = listening.then((found) => void found?.close());
      closing.set(agent, shut);
    },
  };
}

// Removes sockets and outputs that killed processes have left behind.

const DAY: Millis = 24 * 3600 * 1000;
/** A session that is just starting may not listen yet, so only older sockets are checked. */
const OLD_SOCKET = DAY;
const OLD_OUTPUT = 30 * DAY;
const SOCKET = /^[0-9a-f]{16}(?:-[0-9a-f]{7})?$/;

/** Removes dead sockets of this session, old ones of others, and old outputs. Never throws. */
export async function sweep(where: Where, folder: string, now: Millis): Promise<void> {
  for (const one of new Set([folder, dirname(where.note)])) {
    for (const name of tried(() => readdirSync(one), [])) await look(join(one, name), name, { where, now });
  }
}

async function look(path: string, name: string, { where, now }: { where: Where; now: Millis }): Promise<void> {
  try {
    const age = now - lstatSync(path).mtimeMs;
    if (await isLeft(path, name, name.startsWith(`${where.name}-`) ? Infinity : age)) rmSync(path);
  } catch {
    // Another process has removed it.
  }
}

async function isLeft(path: string, name: string, age: Millis): Promise<boolean> {
  if (SOCKET.test(name)) return age > OLD_SOCKET && isOurSocket(path) && !(await isAnswered(path));
  if (name.endsWith('.at')) return age > OLD_SOCKET && !isOurSocket(readlinkSync(path));
  return name.endsWith('.out') && age > OLD_OUTPUT;
}

// One listening socket: serves clients under its identity, up to a number; recreates its file if needed and removes it at the end.

const MOST_OF_AGENTS = 256;
/** How long closing waits for current answers and slow readers, in milliseconds. */
const CLOSE_WITHIN = 1000;
/** How long to wait for another process to release a socket, and between two checks, in milliseconds. */
const LEAVE_WITHIN = 2000;
const LOOK_EVERY = 50;

interface SharedSockets {
  readonly where: Where;
  readonly world: World;
  readonly given: Promise<RunApi>;
  readonly agents: Set<Conversation>;
}

interface Endpoint {
  /** The identity of its clients; null for the person. */
  readonly as: AgentId | null;
  readonly most: number;
  /** Called after a hello, with a name if there is one; `left` resolves when the client sends nothing more. */
  came(client: string | null, left: Promise<void>): void;
}

interface Listening {
  path(): string;
  /** Recreates the socket if its file is gone; connections stay. False if that is impossible. */
  stillThere(): Promise<boolean>;
  /** Accepts no new clients; present ones get a second for current requests. */
  close(): Promise<void>;
}

/** Throws `ControlFault` if listening fails. */
async function listenAs(shared: SharedSockets, door: Endpoint, name: string): Promise<Listening> {
  const talks = new Set<Conversation>();
  const pace = door.as === null ? unpaced : openPace(shared.world);
  const came = (socket: Socket): void => meet(socket, { shared, door, talks, pace });
  let path = await freePlace(shared, name);
  let server = await listenAt(path, came);
  let [mending, closed]: [Promise<boolean> | null, boolean] = [null, false];
  const mend = async (): Promise<boolean> => {
    // Closed first, because closing later would remove the new socket's file.
    server.close();
    try {
      path = await freePlace(shared, name);
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
      return closed || isOurSocket(path) ? !closed : await (mending ??= mend());
    },
    async close() {
      closed = true;
      // This removes the socket's file, too.
      server.close();
      const told = new AbortController();
      const all = Promise.all([...talks].map((talk) => talk.end('the run has ended here')));
      await Promise.race([all, shared.world.sleep(CLOSE_WITHIN, told.signal)]);
      told.abort();
      for (const talk of talks) talk.drop();
    },
  };
}

/** Waits briefly for a process that is handing the run over and still holds the socket. */
async function freePlace({ where, world }: SharedSockets, name: string): Promise<string> {
  for (let waited = 0; waited <= LEAVE_WITHIN; waited += LOOK_EVERY) {
    const path = await placeFor(where, name);
    if (path !== null) return path;
    await world.sleep(LOOK_EVERY);
  }
  throw new ControlFault(`another process already listens for session ${where.session}`);
}

interface Meeting {
  readonly shared: SharedSockets;
  readonly door: Endpoint;
  readonly talks: Set<Conversation>;
  readonly pace: Pace;
}

function meet(socket: Socket, { shared, door, talks, pace }: Meeting): void {
  const { where, world, given, agents } = shared;
  if (talks.size >= door.most || (door.as !== null && agents.size >= MOST_OF_AGENTS)) {
    turnAway(socket, world, `${talks.size} clients are already connected: try again when one has disconnected`);
    return;
  }
  const hello = (client: string | null, left: Promise<void>): void => door.came(client, left);
  const talk = converse(socket, { session: where.session, as: door.as, given, world, pace, came: hello });
  for (const set of door.as === null ? [talks] : [talks, agents]) {
    set.add(talk);
    void talk.over.then(() => set.delete(talk));
  }
}

const listenAt = (path: string, came: (socket: Socket) => void): Promise<Server> =>
  new Promise((resolve, reject) => {
    const server = createServer({ allowHalfOpen: true }, came);
    const failed = (error: unknown): void => {
      server.close();
      reject(new ControlFault(`cannot listen at ${path}: ${messageOf(error)}`));
    };
    // For example too many open files later on; new clients then cannot connect.
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
