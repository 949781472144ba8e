/** The entrance of `app/publish`: what becomes of a run's changes: a request in the repository's remote, or undone. */
export { type AllowedBy, openPublishing, type Publishing } from './publishing.ts';
export { openUndoing, reviewsAgain, type ShownUndo, type Undoing, type UndoParts } from './undoing.ts';
