/** The entrance of what runs and workers share through the team's database. Loaded only where a cluster is configured. */
export { type Cluster, openCluster } from './cluster.ts';
export { checkDatabase, clockDifference, ClusterFault, type Database, migrate, openDatabase } from './database.ts';
export { openSharedDay } from './day.ts';
export { answerLines, openLine, processIn } from './line.ts';
export { drainWorker, queuedIn, runsIn, type Worker, workersIn } from './liveness.ts';
export { openPauses, type Pauses } from './pauses.ts';
export { publicKeyOf, type TreeAt } from './step.ts';
export type { SharedStore, TreeState } from './store.ts';
export { openWorker, type PerformedStep, type Performer } from './worker.ts';
