/** A text through $VISUAL or $EDITOR: a private file in a fresh folder, the command as a shell splits it. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fail, ok } from '../../../domain/result.ts';
import type { Result } from '../../../domain/result.ts';

/** The edited text, or a sentence why there is none. The terminal is free meanwhile. */
export async function editOutside(text: string, folder: string): Promise<Result<string, string>> {
  const editor = editorOf(process.env);
  let own: string | null = null;
  try {
    own = mkdtempSync(`${folder}/mimir-edit-`);
    const file = `${own}/text.md`;
    writeFileSync(file, `${text}\n`, { mode: 0o600, flag: 'wx' });
    const code = await ended(editor, file);
    if (code !== 0) return fail(whyNot(editor, code));
    return ok(readFileSync(file, 'utf8').slice(0, MOST).replace(/\n$/, ''));
  } catch (error) {
    return fail(`The text could not be given to an editor: ${error instanceof Error ? error.message : String(error)}.`);
  } finally {
    if (own !== null) rmSync(own, { recursive: true, force: true });
  }
}

/** The first that is set and isn't empty. */
const editorOf = (env: NodeJS.ProcessEnv): string =>
  [env['VISUAL'], env['EDITOR']].find((command) => command !== undefined && command.trim() !== '') ?? 'vi';

/** Characters that are taken back from an editor. */
const MOST = 1_000_000;

/** As a shell says it. */
const NOT_FOUND = 127;
const NOT_A_PROGRAM = 126;

function whyNot(editor: string, code: number | null): string {
  if (code === NOT_FOUND) return `There is no "${editor}": set $VISUAL or $EDITOR to your editor.`;
  if (code === NOT_A_PROGRAM) return `"${editor}" can't be run: set $VISUAL or $EDITOR to your editor.`;
  return code === null ? `"${editor}" was stopped.` : `"${editor}" ended with ${code}.`;
}

const ended = (editor: string, file: string): Promise<number | null> =>
  new Promise((resolve) => {
    const child = spawn('/bin/sh', ['-c', `${editor} "$1"`, 'sh', file], { stdio: 'inherit' });
    child.on('error', () => {
      resolve(NOT_FOUND);
    });
    child.on('exit', resolve);
  });
