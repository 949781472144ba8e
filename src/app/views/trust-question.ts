/** What front ends ask of the question whether a project is trusted. */
import type { TrustQuestion } from '../../ports/project-service.ts';

/** Does this question need an answer before what the project says may count? */
export const isOpen = (trust: TrustQuestion | undefined): trust is TrustQuestion =>
  trust !== undefined && (trust.state === 'new' || trust.state === 'changed');
