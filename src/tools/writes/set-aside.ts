/**
 * Repositories that a command made within the project: a mount covers only what is there before a command begins, and the next
 * git or Mimir that somebody starts there would obey what an agent wrote. They get another name when the command has ended.
 */
import { lstatSync, renameSync } from 'node:fs';
import path from 'node:path';
import type { Root } from '../paths/root.ts';
import type { Sandbox } from '../sandbox/run.ts';

/** Looks at what there is. Gives what looks again after a command: renames what is new, and says so, or nothing. */
export async function watchNested(root: Root, sandbox: Sandbox): Promise<() => Promise<string>> {
  const before = new Set((await sandbox.walk()).nested);
  return async () => {
    const made = (await sandbox.walk()).nested.filter((place) => !before.has(place));
    return made.map((place) => setAside(root.path, place)).join('\n');
  };
}

function setAside(root: string, place: string): string {
  const name = path.relative(root, place);
  const named = (count: number): string =>
    path.join(
      path.dirname(place),
      `${count === 0 ? '' : `${count}-`}set-aside-${path.basename(place).replace(/^\.+/, '')}`,
    );
  let count = 0;
  while (lstatSync(named(count), { throwIfNoEntry: false }) !== undefined) count += 1;
  try {
    renameSync(place, named(count));
    return `${name} was made by this command, and agents make no repository and no .mimir within the project: it is ${path.relative(root, named(count))} now`;
  } catch (error) {
    return `${name} was made by this command, which agents may not, and could not be renamed: ${error instanceof Error ? error.message : String(error)}`;
  }
}
