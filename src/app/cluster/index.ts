/** The entrance of runs and workers that share a database. Loaded only where a cluster is asked for. */
export { WorkerFacts, usableIds } from './body.ts';
export { bringRun, openLogs, type SharedLogs } from './continue.ts';
export { type ClusterRun, type ClusterSide, joinCluster } from './run-side.ts';
export { asExit, continueText, lookAtCluster, openConfigured, poolOf, reachElsewhere, signingKey } from './settings.ts';
export { openPerformer, openSettings } from './worker-side.ts';
