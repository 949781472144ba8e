/** A text through $VISUAL or $EDITOR: a private file in a fresh folder, the command as a shell splits it. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';

/** The edited text; null when the editor could not be run or ended with a failure. The terminal is free meanwhile. */
export async function editOutside(text: string, folder: string): Promise<string | null> {
  const editor = process.env['VISUAL'] ?? process.env['EDITOR'] ?? 'vi';
  const own = mkdtempSync(`${folder}/mimir-edit-`);
  const file = `${own}/text.md`;
  try {
    writeFileSync(file, `${text}\n`, { mode: 0o600, flag: 'wx' });
    const code = await ended(editor, file);
    return code === 0 ? readFileSync(file, 'utf8').slice(0, MOST).replace(/\n$/, '') : null;
  } catch {
    return null;
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
}

/** Characters that are taken back from an editor. */
const MOST = 1_000_000;

const ended = (editor: string, file: string): Promise<number | null> =>
  new Promise((resolve) => {
    const child = spawn('/bin/sh', ['-c', `${editor} "$1"`, 'sh', file], { stdio: 'inherit' });
    child.on('error', () => {
      resolve(null);
    });
    child.on('exit', resolve);
  });
