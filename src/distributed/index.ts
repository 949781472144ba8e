/** The entrance of what runs and workers share through the team's database. Loaded only where a cluster is configured. */
export { type Cluster, openCluster } from './cluster.ts';
export { checkDatabase, clockDifference, ClusterFault, type Database, migrate, openDatabase } from './database.ts';
export { openSharedDay } from './day.ts';
export { answerLines, openLine, processIn } from './line.ts';
export { drainWorker, queuedIn, releaseRun, runsIn, runsText, type Worker, workersIn } from './liveness.ts';
export { lastBatch, type LogBatch, type LogReader, openLogReader } from './log.ts';
export { openPauses, type Pauses } from './pauses.ts';
export { publicKeyOf, type TreeAt } from './step.ts';
export { type KeptPlace, openStore, type SharedStore, type TreeState } from './store.ts';
export { openWorker, type PerformedStep, type Performer } from './worker.ts';
