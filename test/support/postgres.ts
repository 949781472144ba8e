/** Databases of tests' own: a PostgreSQL server in a temporary folder and as an ordinary user, on loopback. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { atEndOfFile, isLookedOver } from './aftermath.ts';

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

/** A fresh database. Its server is that of all databases of the test file. */
export interface Postgres {
  readonly url: string;
  /** Of the server's first process. */
  pid(): number;
  /** Ends the server at once, without goodbye to its clients. */
  stop(): Promise<void>;
  /** Starts it again after `stop`. */
  start(): Promise<void>;
  /** Ends what is still connected; the files go with those of the server. */
  remove(): Promise<void>;
}

/** The server refuses to run as root: then its files and process belong to the user of the package. */
function account(): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const idOf = (flag: string): number => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: idOf('-u'), gid: idOf('-g') };
}

interface Server extends Omit<Postgres, 'url' | 'remove'> {
  /** Of a database. */
  url(name: string): string;
  /** Databases that were made here, and how many of them are in use. */
  made: number;
  used: number;
}

let opened: Promise<Server> | null = null;

/** A server is dear to prepare, a database is not: the first one of a test file opens the server for all that come after it. */
export async function startPostgres(): Promise<Postgres> {
  opened ??= openServer();
  const server = await opened;
  await server.start();
  server.made += 1;
  server.used += 1;
  const name = `test_${server.made}`;
  const run = async (statement: string): Promise<void> => {
    const client = new Client({ connectionString: server.url('postgres') });
    await client.connect();
    await client.query(statement);
    await client.end();
  };
  await run(`create database ${name}`);
  return {
    url: server.url(name),
    pid: server.pid,
    start: server.start,
    stop: server.stop,
    async remove() {
      await server.start();
      await run(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`);
      server.used -= 1;
      if (server.used === 0 && !isLookedOver()) await endServer();
    },
  };
}

let folder: string | null = null;

async function endServer(): Promise<void> {
  const server = await opened;
  opened = null;
  await server?.stop();
  if (folder !== null) rmSync(folder, { recursive: true, force: true });
}

/** None of these tests is about a machine that loses its power. Measurements are of the server as people run it. */
const QUICK = { fsync: 'off', full_page_writes: 'off', wal_level: 'minimal', max_wal_senders: 0, autovacuum: 'off' };

async function openServer(): Promise<Server> {
  const bin = postgresPrograms();
  if (bin === null) throw new Error('PostgreSQL is not installed');
  const home = mkdtempSync(join(tmpdir(), 'mimir-postgres-'));
  folder = home;
  atEndOfFile(endServer);
  const as = account();
  if (as.uid !== undefined && as.gid !== undefined) chownSync(home, as.uid, as.gid);
  const data = join(home, 'data');
  const plain = { ...as, cwd: home, stdio: 'ignore' as const };
  execFileSync(join(bin, 'initdb'), ['-D', data, '-U', 'mimir', '-A', 'trust', '-E', 'UTF8', '--no-sync'], plain);
  const port = await freePort();
  const url = (name: string): string => `postgresql://mimir@127.0.0.1:${port}/${name}`;
  let server: ChildProcess | null = null;
  return {
    url,
    made: 0,
    used: 0,
    pid: () => server?.pid ?? 0,
    async start() {
      if (server !== null) return;
      const where = { port, listen_addresses: '127.0.0.1', unix_socket_directories: '', max_connections: 300 };
      const settings = isLookedOver() ? { ...where, ...QUICK } : where;
      const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
      server = spawn(join(bin, 'postgres'), ['-D', data, ...flags], plain);
      await answers(url('postgres'));
    },
    async stop() {
      const running = server;
      server = null;
      if (running === null || running.exitCode !== null) return;
      const ended = new Promise((done) => running.once('exit', done));
      // Immediate: as after a crash, it recovers at the next start.
      running.kill('SIGQUIT');
      await ended;
    },
  };
}

/** A way to the server that can be cut: nothing passes then, and connections are ended. Or it falls silent, as when a machine is gone: nothing
 * passes, and nothing is ended; connections of then stay so when it is mended. */
export interface Way {
  readonly url: string;
  cut(): void;
  fallSilent(): void;
  mend(): void;
  close(): void;
}

export async function wayTo({ url }: Pick<Postgres, 'url'>): Promise<Way> {
  const to = new URL(url);
  const sockets = new Set<Socket>();
  /** Connections through which nothing passes any more, whatever one side does. */
  const silent = new Set<Socket>();
  let isCut = false;
  let isSilent = false;
  const server = createServer((client) => {
    if (isCut) {
      client.destroy();
      return;
    }
    if (isSilent) {
      silent.add(client.on('error', () => undefined).resume());
      return;
    }
    const upstream = connect(Number(to.port), to.hostname);
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(one);
      const end = (): unknown => (sockets.has(one) ? other.destroy() : null);
      one.on('error', end);
      one.on('close', end);
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
    fallSilent() {
      isSilent = true;
      for (const socket of sockets) silent.add(socket.unpipe().resume());
      sockets.clear();
    },
    mend() {
      isCut = false;
      isSilent = false;
    },
    close() {
      drop();
      for (const socket of silent) socket.destroy();
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
