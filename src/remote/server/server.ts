/**
 * The sockets of a run: one for the person, one door for each agent that has a shell. Decides who asks, by the socket that
 * was knocked at, and how many may; what is said is a conversation's (conversation.ts).
 */
import { dirname } from 'node:path';
import type { AgentId } from '../../domain/ids.ts';
import type { Given } from '../../ports/control.ts';
import { ControlFault } from '../../ports/control.ts';
import type { Doors } from '../../ports/agent-sockets.ts';
import type { World } from '../../ports/world.ts';
import type { Door, House, Listening } from './listening.ts';
import { listenAs } from './listening.ts';
import type { Where } from '../socket-paths.ts';
import { doorName, forget, noteDown } from '../socket-paths.ts';
import { sweep } from './stale-sockets.ts';

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
