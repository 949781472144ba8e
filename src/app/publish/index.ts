/** The entrance of `app/publish`: what becomes of a run's changes in the repository's remote. */
export { type AllowedBy, openPublishing, type Publishing } from './publishing.ts';
