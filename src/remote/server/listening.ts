/** One socket that listens: who comes is talked to as whom it is for, up to a number. Kept where it can be found; leaves no file. */
import type { Server, Socket } from 'node:net';
import { createServer } from 'node:net';
import type { AgentId } from '../../domain/ids.ts';
import type { Given } from '../../ports/control.ts';
import { ControlFault } from '../../ports/control.ts';
import type { World } from '../../ports/world.ts';
import type { Conversation } from './client-connection.ts';
import { converse, turnAway } from './client-connection.ts';
import type { Pace } from './rate-limit.ts';
import { openPace, unpaced } from './rate-limit.ts';
import type { Where } from '../socket-paths.ts';
import { isOurSocket, keepToOwner, placeFor } from '../socket-paths.ts';

/** Connections at all doors together. */
const MOST_OF_AGENTS = 256;
/** Milliseconds that closing waits for answers under way, and for those who read slowly. */
const CLOSE_WITHIN = 1000;
/** Milliseconds for another process to let go of a socket, and between two looks whether it has. */
const LEAVE_WITHIN = 2000;
const LOOK_EVERY = 50;

/** What all sockets of a run have in common. */
export interface House {
  readonly where: Where;
  readonly world: World;
  readonly given: Promise<Given>;
  /** All that are talked to at doors. */
  readonly agents: Set<Conversation>;
}

export interface Door {
  /** Who knocks here; null: the person. */
  readonly as: AgentId | null;
  /** Connections at the same time. */
  readonly most: number;
  /** Somebody said hello, with a name perhaps; `left` resolves when they say no more. */
  came(client: string | null, left: Promise<void>): void;
}

export interface Listening {
  path(): string;
  /** Listens again where its file is gone; those who are there stay. False: there is no place for it. */
  stillThere(): Promise<boolean>;
  /** Nobody comes any more; who is there has a second for what was asked. */
  close(): Promise<void>;
}

/** Throws `ControlFault` when nobody can listen there. */
export async function listenAs(house: House, door: Door, name: string): Promise<Listening> {
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
