/** A folder of the project as somebody wrote it, for those who are to work in it: what leads out of the project is none (S028, S153). */
import { type Result, ok } from '../../domain/result.ts';
import { insideName } from './path-rules.ts';
import type { Root } from './root.ts';
import { openFolder } from '../workspace.ts';

/** Relative to the root, `/` between its parts, empty for the root itself; or why it is no folder of the project now. */
export async function projectFolder(root: Root, written: string): Promise<Result<string, string>> {
  const opened = await openFolder(root, written);
  if (!opened.ok) return opened;
  await opened.value.handle.close();
  const name = insideName(root.path, written, { folder: true });
  return name.ok ? ok(name.value) : name;
}
