/** The file that always holds the last copy, for terminals without a clipboard: private, in the state folder. */
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';

/** The file's path, home as `~`; null when it could not be written. What was there before stays whole until then. */
export function keepCopy(text: string, folder: string): string | null {
  const file = `${folder}/clipboard.txt`;
  const next = `${file}.${process.pid}`;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    // What somebody else put in our way is not written to.
    rmSync(next, { force: true });
    writeFileSync(next, text, { mode: 0o600, flag: 'wx' });
    renameSync(next, file);
    return shown(file);
  } catch {
    return null;
  } finally {
    leave(next);
  }
}

/** What could not be put in its place is no second copy beside it. */
function leave(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // There is nothing that could be done, and nothing was promised.
  }
}

function shown(file: string): string {
  const home = process.env['HOME'] ?? '';
  return home !== '' && file.startsWith(`${home}/`) ? `~${file.slice(home.length)}` : file;
}
