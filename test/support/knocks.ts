/** Sockets as a run has them, one for the person and one an agent: each remembers who was let in where, and answers. */
import { chmodSync, chownSync, mkdirSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import path from 'node:path';
import { isRoot, type Place } from './boxes.ts';

const NOBODY = 65534;

export interface Knocks {
  /** Names of the sockets that were connected to, in order. */
  readonly heard: readonly string[];
  at(name: string): string;
  close(): Promise<void>;
}

/** Listens at `folder/<name>` for each; whoever connects reads the name. */
export async function openKnocks(place: Place, folder: string, names: readonly string[]): Promise<Knocks> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const heard: string[] = [];
  const servers = await Promise.all(names.map((name) => listenAt(path.join(folder, name), name, heard)));
  if (isRoot && place.user === 'ordinary')
    for (const each of ['', ...names]) chownSync(path.join(folder, each), NOBODY, NOBODY);
  return {
    heard,
    at: (name) => path.join(folder, name),
    close: async () => {
      await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
    },
  };
}

function listenAt(where: string, name: string, heard: string[]): Promise<Server> {
  const server = createServer((socket) => {
    heard.push(name);
    socket.on('error', () => undefined).end(`this is ${name}\n`);
  });
  return new Promise((resolve) => {
    server.listen(where, () => {
      chmodSync(where, 0o600);
      resolve(server);
    });
  });
}
