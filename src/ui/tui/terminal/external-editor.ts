/** Programs that get the terminal: $VISUAL or $EDITOR with a text in a private file in a new folder, its command split by a shell; and tmux. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fail, ok, type Result, messageOf } from '../../../domain/result.ts';

/** Returns the edited text, or a sentence why there is none. The caller releases the terminal meanwhile. */
export async function editExternally(text: string, folder: string): Promise<Result<string, string>> {
  const editor = editorOf(process.env);
  let own: string | null = null;
  try {
    own = mkdtempSync(`${folder}/mimir-edit-`);
    const file = `${own}/text.md`;
    writeFileSync(file, `${text}\n`, { mode: 0o600, flag: 'wx' });
    const code = await runEditor(editor, file);
    if (code !== 0) return fail(whyNot(editor, code));
    return ok(readFileSync(file, 'utf8').slice(0, MAX_LENGTH).replace(/\n$/, ''));
  } catch (error) {
    return fail(`The text could not be given to an editor: ${messageOf(error)}.`);
  } finally {
    if (own !== null) rmSync(own, { recursive: true, force: true });
  }
}

/** The first variable that is set and not empty. */
const editorOf = (env: NodeJS.ProcessEnv): string =>
  [env['VISUAL'], env['EDITOR']].find((command) => command !== undefined && command.trim() !== '') ?? 'vi';

/** Maximum characters read back. */
const MAX_LENGTH = 1_000_000;
const NOT_FOUND = 127;
const NOT_A_PROGRAM = 126;

function whyNot(editor: string, code: number | null): string {
  if (code === NOT_FOUND) return `Editor "${editor}" not found: set $VISUAL or $EDITOR to your editor.`;
  if (code === NOT_A_PROGRAM) return `"${editor}" cannot be run: set $VISUAL or $EDITOR to your editor.`;
  return code === null ? `"${editor}" was stopped.` : `"${editor}" ended with ${code}.`;
}

/** Resolves when the person detaches, or with a sentence why there is nothing to see. Also works inside another tmux. */
export async function attachTo(session: string): Promise<Result<string, string>> {
  const code = await onTerminal('unset TMUX; tmux -u -L mimir attach -t "=$1" 2>/dev/null', session);
  if (code === 0) return ok('');
  return fail(code === NOT_FOUND ? 'tmux is not installed.' : `The terminal ${session} is closed.`);
}

const runEditor = (editor: string, file: string): Promise<number | null> => onTerminal(`${editor} "$1"`, file);

const onTerminal = (command: string, word: string): Promise<number | null> =>
  new Promise((resolve) => {
    const child = spawn('/bin/sh', ['-c', command, 'sh', word], { stdio: 'inherit' });
    child.on('error', () => resolve(NOT_FOUND));
    child.on('exit', resolve);
  });
