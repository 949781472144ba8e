/** The entrance of runs and workers that share a database. Loaded only where a cluster is asked for. */
export { WorkerFacts, usableIds } from './body.ts';
export { signingKey } from './key.ts';
export { type ClusterSide, joinCluster } from './run-side.ts';
export { asExit, lookAtCluster, openConfigured, poolOf, reachElsewhere } from './settings.ts';
export { openPerformer, openSettings } from './worker-side.ts';
