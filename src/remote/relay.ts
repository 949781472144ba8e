/** Carries connections to the socket of a run over lines to another machine: one end beside the run, one beside the client. */
import { connect, createServer, type Socket } from 'node:net';
import { ControlFault, type TextLine } from '../ports/control.ts';
import { keepToOwner, knownPaths, placeFor, type Where } from './socket-paths.ts';

/** Connects the line to the socket of the run; closes it where nothing listens there. */
export function relayToRun(where: Where, line: TextLine): void {
  const [path] = knownPaths(where);
  if (path === undefined) return line.close();
  join(connect(path), line);
}

/** Listens where the socket of the run would be if it ran here, and opens a line for each client that connects. Resolves with the end of it; throws
 * `ControlFault` where the socket cannot be made, or the run is here. */
export async function relayFromClients(where: Where, open: () => TextLine): Promise<() => void> {
  const path = await placeFor(where, where.name);
  if (path === null) throw new ControlFault(`session ${where.session} runs on this machine: attach without --cluster`);
  const server = createServer((socket) => join(socket, open()));
  await new Promise<void>((done, failed) => {
    server.once('error', (error) => failed(new ControlFault(`cannot create a socket at ${path}: ${error.message}`)));
    server.listen(path, done);
  });
  keepToOwner(path);
  return () => void server.close();
}

function join(socket: Socket, line: TextLine): void {
  socket.setEncoding('utf8');
  socket.on('data', (text) => line.send(String(text)));
  socket.on('error', () => line.close());
  socket.on('close', () => line.close());
  line.receive((text) => socket.write(text));
  void line.closed.then(() => socket.destroy());
}
