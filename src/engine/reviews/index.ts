/** The entrance of the mandatory reviews. */
export { dueByLog, dueFrom, isDue, isWork, expiredReviews, markWork } from './batch.ts';
export { mayGoOn } from './judge.ts';
export { forcedNodes, forcedRoles, nodesAfter } from './review-plan.ts';
export { MandatoryReviews } from './reviews.ts';
