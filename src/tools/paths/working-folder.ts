/** The folder that an agent's commands start in: below the root, and a real folder now, or words why not. */
import { fail, ok, type Result } from '../../domain/result.ts';
import { replaced, type Root } from './root.ts';
import { exists, openFolder, realPlace } from '../workspace.ts';

/** Its real path. `given` is relative to the root, the root itself when left out. */
export async function workingFolder(root: Root, given: string | undefined): Promise<Result<string, string>> {
  if (given === undefined) {
    const gone = replaced(root);
    return gone === null ? ok(root.path) : fail(gone);
  }
  const opened = await openFolder(root, given);
  if (!opened.ok) return fail(wordsFor(given, (await exists(root, given)) ? opened.fault : `${given}: no such folder`));
  const { handle, place } = opened.value;
  try {
    return ok(await realPlace(handle, place));
  } finally {
    await handle.close();
  }
}

const wordsFor = (given: string, fault: string): string =>
  `the commands of this agent start in ${given}, which can't be used now (${fault}): it has to be a folder of the project again`;
