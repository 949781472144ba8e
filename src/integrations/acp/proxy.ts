/** The way of one foreign agent to its provider: a proxy on a Unix socket that connects to the listed hosts and to nothing else. It sees encrypted
 * connections only (CONNECT, RFC 9110 section 9.3.6), and no port is opened on the machine. */
import { mkdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import path from 'node:path';
import { fail, messageOf, ok, type Result } from '../../domain/result.ts';

export interface Proxy {
  readonly socket: string;
  /** The hosts that were refused, each once. */
  refused(): readonly string[];
  close(): void;
}

const HTTPS = 443;

/** Opens a proxy for `hosts` (`host`, or `host:port` for another port than 443), with its socket at `socket`, which is replaced. */
export async function openProxy(socket: string, hosts: readonly string[]): Promise<Result<Proxy, string>> {
  const allowed = new Set(hosts.map((host) => (/:\d+$/.test(host) ? host : `${host}:${HTTPS}`).toLowerCase()));
  const refused = new Set<string>();
  const open = new Set<Socket>();
  const server = createServer((_, response) => response.writeHead(405).end());
  server.on('connect', (request, from: Socket, head) => {
    const wanted = (request.url ?? '').toLowerCase();
    open.add(from);
    from.on('close', () => open.delete(from)).on('error', () => from.destroy());
    if (!allowed.has(wanted)) {
      if (refused.size < 100) refused.add(wanted.slice(0, 300));
      from.end('HTTP/1.1 403 Forbidden\r\n\r\n');
      return;
    }
    const at = wanted.lastIndexOf(':');
    const to = connect(Number(wanted.slice(at + 1)), wanted.slice(0, at).replaceAll(/[[\]]/g, ''), () => {
      from.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      to.write(head);
      from.pipe(to).pipe(from);
    });
    to.on('error', () => from.destroy());
    from.on('close', () => to.destroy());
  });
  try {
    mkdirSync(path.dirname(socket), { recursive: true, mode: 0o700 });
    rmSync(socket, { force: true });
    await new Promise((resolve, reject) => server.once('error', reject).listen(socket, () => resolve(null)));
  } catch (error) {
    return fail(`the proxy cannot be opened: ${messageOf(error)}`);
  }
  return ok({
    socket,
    refused: () => [...refused],
    close() {
      server.close();
      for (const one of open) one.destroy();
      rmSync(socket, { force: true });
    },
  });
}
