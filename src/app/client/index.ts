/** The entrance of the clients of a run, in this process or in another one. */
export { attachTo, goesOnElsewhere, handOver, patiently, placeOf, reachRun, saidMeanwhile } from './connect.ts';
export { stopKept } from './connect.ts';
export { FollowedRun, Previews } from './followed-run.ts';
export { runApi } from './run-api.ts';
export { agentSocketOf, doneOrExit, isHidden, seenOrExit, withSessionClient } from './session-client.ts';
export { Live } from './stream-buffers.ts';
