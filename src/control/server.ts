/**
 * The sockets of a run: one for the person, one door for each agent that has a shell. Decides who asks, by the socket that
 * was knocked at, and how many may; what is said is a conversation's (conversation.ts).
 */
import type { Server, Socket } from 'node:net';
import { createServer } from 'node:net';
import type { AgentId } from '../domain/ids.ts';
import type { Given } from '../ports/control.ts';
import { ControlFault } from '../ports/control.ts';
import type { Doors } from '../ports/doors.ts';
import type { World } from '../ports/world.ts';
import type { Conversation } from './conversation.ts';
import { converse, turnAway } from './conversation.ts';
import type { Where } from './places.ts';
import { doorName, forget, isOurSocket, keepToOwner, noteDown, placeFor } from './places.ts';

/** Connections at the same time. A screen has three, a verb one. */
const MOST_OF_PERSON = 256;
const MOST_OF_AGENT = 32;
const MOST_OF_AGENTS = 256;
/** Milliseconds between two looks whether the person's socket is still there: a runtime folder goes with its login. */
const LOOK_AGAIN = 30_000;
/** Milliseconds that closing waits for answers under way, and for those who read slowly. */
const CLOSE_WITHIN = 1000;

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
    came: (client, over) => {
      const name = client ?? Symbol('unnamed');
      change(() => present.push(name));
      void over.then(() => change(() => present.splice(present.indexOf(name), 1)));
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
      noteDown(where, (await listening).path());
      void stay(house, await listening, closing.signal);
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

interface House {
  readonly where: Where;
  readonly world: World;
  readonly given: Promise<Given>;
  /** All that are talked to at doors. */
  readonly agents: Set<Conversation>;
}

interface Door {
  readonly as: AgentId | null;
  readonly most: number;
  came(client: string | null, over: Promise<void>): void;
}

interface Listening {
  path(): string;
  /** Listens again where its file is gone; those who are there stay. Throws `ControlFault` where it can't. */
  mend(): Promise<void>;
  close(): Promise<void>;
}

/** Keeps the person's socket where it can be found. */
async function stay({ where, world }: House, listening: Listening, closing: AbortSignal): Promise<void> {
  for (;;) {
    await world.sleep(LOOK_AGAIN, closing);
    if (closing.aborted) return;
    if (isOurSocket(listening.path())) continue;
    try {
      await listening.mend();
      noteDown(where, listening.path());
    } catch (error) {
      // No place by now; there may be one later.
      if (!(error instanceof ControlFault)) throw error;
    }
  }
}

function openDoors(house: House, open: Set<Promise<Listening | null>>, closed: AbortSignal): Doors {
  const doors = new Map<AgentId, Promise<Listening | null>>();
  const closing = new Map<AgentId, Promise<void>>();
  const openFor = async (agent: AgentId): Promise<Listening | null> => {
    await closing.get(agent);
    try {
      return await listenAs(
        house,
        { as: agent, most: MOST_OF_AGENT, came: () => undefined },
        doorName(house.where, agent),
      );
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
      if (found !== null && !isOurSocket(found.path())) await found.mend().catch(() => undefined);
      return found?.path() ?? null;
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

async function listenAs(house: House, door: Door, name: string): Promise<Listening> {
  const { where, world, given } = house;
  const talks = new Set<Conversation>();
  const came = (socket: Socket): void => {
    const full = talks.size >= door.most || (door.as !== null && house.agents.size >= MOST_OF_AGENTS);
    if (full) {
      turnAway(socket, world, `${talks.size} clients are here already: try again when one has gone`);
      return;
    }
    const hello = (client: string | null): void => door.came(client, talk.over);
    const talk = converse(socket, { session: where.session, as: door.as, given, world, came: hello });
    for (const set of door.as === null ? [talks] : [talks, house.agents]) {
      set.add(talk);
      void talk.over.then(() => set.delete(talk));
    }
  };
  let path = await placeFor(where, name);
  let server = await listenAt(path, came);
  return {
    path: () => path,
    async mend() {
      // First: it would take the new one's file with it.
      server.close();
      path = await placeFor(where, name);
      server = await listenAt(path, came);
    },
    async close() {
      // It takes its file with it, and nobody comes any more.
      server.close();
      const told = new AbortController();
      const all = Promise.all([...talks].map((talk) => talk.end('the run has ended here')));
      await Promise.race([all, world.sleep(CLOSE_WITHIN, told.signal)]);
      told.abort();
      for (const talk of talks) talk.drop();
    },
  };
}

function listenAt(path: string, came: (socket: Socket) => void): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer({ allowHalfOpen: true }, came);
    server.once('error', (error) => {
      reject(new ControlFault(`nobody can listen at ${path}: ${error.message}`));
    });
    server.listen(path, () => {
      keepToOwner(path);
      // Too many open files at some moment: those who knock then find nobody.
      server.on('error', () => undefined);
      resolve(server);
    });
  });
}
