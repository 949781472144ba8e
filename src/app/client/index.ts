/** The entrance of the clients of a run, in this process or in another one. */
export { asRefusal, attachTo, goesOnElsewhere, handOver, patiently, placeOf, reachRun } from './connect.ts';
export { saidMeanwhile, stopKept } from './connect.ts';
export { FollowedRun, Previews } from './followed-run.ts';
export { runApi } from './run-api.ts';
export { agentSocketOf, doneOrExit, isHidden, seenOrExit, withSessionClient } from './session-client.ts';
export { Live } from './stream-buffers.ts';
