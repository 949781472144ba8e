/** Runs that are served in this process or another, and clients that say what they like. All of it ends with the test. */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Where } from '../../src/remote/socket-paths.ts';
import { knownPaths, whereOf } from '../../src/remote/socket-paths.ts';
import { reach, reachSocket } from '../../src/remote/client.ts';
import type { Control } from '../../src/remote/server.ts';
import { openControl } from '../../src/remote/server.ts';
import type { RemoteRun } from '../../src/ports/control.ts';
import type { World } from '../../src/ports/world.ts';
import { world as real } from '../../src/app/process/index.ts';
import type { Child } from './child.ts';
import { start } from './child.ts';
import type { KnockedRun } from './control-run.ts';
import { FINDER, KNOCKED, knockedRun } from './control-run.ts';
import { freshFolder } from './folder.ts';

export interface Served {
  readonly run: KnockedRun;
  readonly where: Where;
  readonly control: Control;
}

export async function served(run: KnockedRun = knockedRun(), world: World = real): Promise<Served> {
  const where = somewhere();
  const control = openControl(where, world);
  onTestFinished(() => control.close());
  await control.serve(run.given);
  return { run, where, control };
}

export function somewhere(stateDir: string = freshFolder()): Where {
  return whereOf({ stateDir, runtimeDir: join(stateDir, 'runtime'), project: '/', session: KNOCKED });
}

/** The person, at the run. */
export async function reached(where: Where): Promise<RemoteRun> {
  const found = await reach(where, KNOCKED);
  if (found === null) throw new Error('nobody is there');
  onTestFinished(() => found.close());
  return found;
}

/** The agent `FINDER`, at its door. */
export async function atDoor(control: Control): Promise<RemoteRun> {
  const door = await reachSocket(await agentSocketOf(control));
  onTestFinished(() => door.close());
  return door;
}

export async function agentSocketOf(control: Control): Promise<string> {
  const path = await control.agentSockets.open(FINDER);
  if (path === null) throw new Error('there is no door');
  return path;
}

export interface Hosted {
  readonly where: Where;
  readonly child: Child;
  readonly door: string;
}

/** A run in another process, listening. */
export async function hosted(stateDir: string = freshFolder()): Promise<Hosted> {
  const child = start(process.execPath, ['test/support/control-child.ts', stateDir, join(stateDir, 'runtime')]);
  onTestFinished(async () => {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  });
  const door = await new Promise<string>((resolve, reject) => {
    child.stdout.once('data', (text: string) => resolve(text.trim()));
    child.once('exit', () => reject(new Error('the process that should carry the run has ended')));
    child.stderr.pipe(process.stderr);
  });
  return { where: somewhere(stateDir), child, door };
}

export const pathOf = (where: Where): string => {
  const [path] = knownPaths(where);
  if (path === undefined) throw new Error('no socket is there');
  return path;
};

export const HELLO = '{"mimir":"control","protocol":1}\n';

export interface Raw {
  readonly socket: Socket;
  /** Everything until it was closed, a value for each line. */
  readonly heard: Promise<readonly unknown[]>;
  /** The next value. */
  next(): Promise<unknown>;
}

/** A client that is no Mimir. */
export async function raw(path: string): Promise<Raw> {
  const socket = connect({ path, allowHalfOpen: true });
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  const all: unknown[] = [];
  let [rest, wake, taken] = ['', (): void => undefined, 0];
  socket.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) all.push(JSON.parse(line));
    wake();
  });
  const heard = new Promise<readonly unknown[]>((resolve) => socket.once('close', () => resolve(all)));
  // Whoever is told that all is said says no more either.
  socket.once('end', () => socket.end());
  return {
    socket,
    heard,
    async next() {
      while (all.length <= taken) await new Promise<void>((resolve) => (wake = resolve));
      return all[taken++];
    },
  };
}
