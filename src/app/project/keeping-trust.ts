/** What the person changes in their own project by a command of Mimir stays as trusted as it was; what others changed does not. */
import { digestOf, trustFiles } from '../../config/trust/files.ts';
import type { ProjectPlace } from './project-trust.ts';
import { trustHere, trustNow } from './project-trust.ts';

/**
 * To be made before `file` is written or taken away, and asked afterwards: then that is trusted as well, and nothing else that
 * changed. False where the project was not trusted as it was.
 */
export function keepingTrust(project: ProjectPlace, listed: readonly string[], file: string): () => boolean {
  const { problem, state } = trustHere(project, listed);
  const others = othersThan(file, project);
  const settled = problem === null && others !== null && (state === 'nothing' || state === 'trusted');
  return () =>
    settled && othersThan(file, project) === others && trustNow(project, trustHere(project, listed).digest).ok;
}

/** One fingerprint of all else that is trusted; null where it can't be told. */
function othersThan(file: string, { root }: ProjectPlace): string | null {
  const files = trustFiles(root, false);
  return files.ok ? digestOf(files.value.filter((one) => one.file !== file)) : null;
}
