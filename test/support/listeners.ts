/** Servers of each kind outside of a sandbox, and the ways in which a command could talk to them. */
import { createSocket } from 'node:dgram';
import { chmodSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import path from 'node:path';

export interface Listeners {
  /** The ports of TCP and UDP, and a socket that the sandbox does not hide. */
  readonly tcp: number;
  readonly udp: number;
  readonly open: string;
  close(): Promise<void>;
}

/** The commands by their names; each succeeds where it reaches a server. */
export function talking(home: string, listening: Listeners): Readonly<Record<string, string>> {
  const node = (code: string): string => `${process.execPath} -e '${code}'`;
  const connect = (to: string): string =>
    node(`require("net").connect(${to}).on("connect",()=>process.exit(0)).on("error",()=>process.exit(1))`);
  return {
    tcp: connect(`${listening.tcp},"127.0.0.1"`),
    'dev tcp': `exec 3<>/dev/tcp/127.0.0.1/${listening.tcp}`,
    unix: connect(`"${home}/s"`),
    'unix that is not hidden': connect(`"${listening.open}"`),
    abstract: connect(String.raw`"\0mimir-e02-${process.pid}"`),
    dns: node(
      `const r=new(require("dns").Resolver)({timeout:200,tries:1});r.setServers(["127.0.0.1:${listening.udp}"]);r.resolve4("a.example",(e)=>process.exit(e?1:0))`,
    ),
    raw: 'perl -MSocket -e "socket(S, PF_INET, SOCK_RAW, 1) or exit 1"',
    packet: 'perl -e "socket(S, 17, 3, 768) or exit 1"',
  };
}

/** One of each kind, outside the box; it notes where it was reached. */
export async function listeners(home: string, heard: string[]): Promise<Listeners> {
  const servers: Server[] = [];
  const listen = async (where: number | string): Promise<Server> => {
    const server = createServer((socket) => {
      heard.push(String(where));
      socket.destroy();
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(where, resolve));
    return server;
  };
  const open = path.join(path.dirname(home), 'other', 'open');
  const tcp = await listen(0);
  for (const place of [path.join(home, 's'), open, `\0mimir-e02-${process.pid}`]) await listen(place);
  for (const place of [path.join(home, 's'), open]) chmodSync(place, 0o777);
  const socket = createSocket('udp4', () => heard.push('udp'));
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  const address = tcp.address();
  return {
    tcp: typeof address === 'object' && address !== null ? address.port : 0,
    udp: socket.address().port,
    open,
    async close() {
      await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
      await new Promise<void>((resolve) => socket.close(() => resolve()));
    },
  };
}
