/** The public interface of the socket protocol, by which another process reaches a run. */
export { reach, reachSocket } from './client.ts';
export { type StartedProcess, startProcess } from './host.ts';
export { relayFromClients, relayToRun } from './relay.ts';
export { knownPaths, type Where, whereOf } from './socket-paths.ts';
