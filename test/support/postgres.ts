/** A PostgreSQL server of a test's own, in a temporary folder and as an ordinary user, on loopback. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';

const HOME = '/usr/lib/postgresql';

/** The folder of the newest server's programs; null without one. */
function postgresPrograms(): string | null {
  if (!existsSync(HOME)) return null;
  const versions = readdirSync(HOME).sort((one, other) => Number(other) - Number(one));
  const bin = versions
    .map((version) => join(HOME, version, 'bin'))
    .find((folder) => existsSync(join(folder, 'initdb')));
  return bin ?? null;
}

/** Why a test with a database cannot run here; null if it can. */
export const withoutPostgres = (): string | null =>
  postgresPrograms() === null ? 'needs PostgreSQL, which is missing here (the package postgresql)' : null;

export interface Postgres {
  readonly url: string;
  /** Of its first process. */
  pid(): number;
  /** Ends the server at once, without goodbye to its clients. */
  stop(): Promise<void>;
  /** Starts it again after `stop`. */
  start(): Promise<void>;
  /** Stops it for good and removes its files. */
  remove(): Promise<void>;
}

/** The server refuses to run as root: then its files and process belong to the user of the package. */
function account(): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const idOf = (flag: string): number => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: idOf('-u'), gid: idOf('-g') };
}

export async function startPostgres(): Promise<Postgres> {
  const bin = postgresPrograms();
  if (bin === null) throw new Error('PostgreSQL is not installed');
  const folder = mkdtempSync(join(tmpdir(), 'mimir-postgres-'));
  const as = account();
  if (as.uid !== undefined && as.gid !== undefined) chownSync(folder, as.uid, as.gid);
  const data = join(folder, 'data');
  const plain = { ...as, cwd: folder, stdio: 'ignore' as const };
  execFileSync(join(bin, 'initdb'), ['-D', data, '-U', 'mimir', '-A', 'trust', '-E', 'UTF8', '--no-sync'], plain);
  const port = await freePort();
  const url = `postgresql://mimir@127.0.0.1:${port}/postgres`;
  let server: ChildProcess | null = null;
  const start = async (): Promise<void> => {
    const settings = { port, listen_addresses: '127.0.0.1', unix_socket_directories: '', max_connections: 300 };
    const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    server = spawn(join(bin, 'postgres'), ['-D', data, ...flags], plain);
    await answers(url);
  };
  const stop = async (): Promise<void> => {
    const running = server;
    server = null;
    if (running === null || running.exitCode !== null) return;
    const ended = new Promise((done) => running.once('exit', done));
    // Immediate: as after a crash, it recovers at the next start.
    running.kill('SIGQUIT');
    await ended;
  };
  await start();
  return {
    url,
    pid: () => server?.pid ?? 0,
    start,
    stop,
    async remove() {
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A way to the server that can be cut: nothing passes then, and connections are ended. */
export interface Way {
  readonly url: string;
  cut(): void;
  mend(): void;
  close(): void;
}

export async function wayTo({ url }: Pick<Postgres, 'url'>): Promise<Way> {
  const to = new URL(url);
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer((client) => {
    if (isCut) {
      client.destroy();
      return;
    }
    const upstream = connect(Number(to.port), to.hostname);
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
      one.pipe(other);
    }
  });
  const port = await freePort();
  await new Promise<void>((done) => server.listen(port, '127.0.0.1', done));
  const through = new URL(url);
  through.port = String(port);
  const drop = (): void => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  return {
    url: through.href,
    cut() {
      isCut = true;
      drop();
    },
    mend: () => void (isCut = false),
    close() {
      drop();
      server.close();
    },
  };
}

async function answers(url: string): Promise<void> {
  for (;;) {
    const client = new Client({ connectionString: url });
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.end();
      return;
    } catch {
      await new Promise((done) => setTimeout(done, 50));
    }
  }
}

const freePort = (): Promise<number> =>
  new Promise((done) => {
    const server = createServer();
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      server.close(() => done(port));
    });
  });
