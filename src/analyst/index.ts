/** The entrance of the offline analyst: a provider of models that calls nothing. */
export { offlineAnalyst } from './offline-analyst.ts';
