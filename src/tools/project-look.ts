/** Small looks at the project for facts about it. What can't be read is empty, never a failure. */
import { readdir } from 'node:fs/promises';
import { plainText } from '../domain/text/text.ts';
import { decode, isBinary } from './shell/output.ts';
import type { Root } from './paths/root.ts';
import { openFile } from './workspace.ts';

/** Folders that are no part of a project even where nothing ignores them. */
const NOT_SHOWN: ReadonlySet<string> = new Set(['.git', 'node_modules']);

/** Names at the top, folders with a trailing slash. Ignored names are left out where the listing `files` is complete. */
export async function topOf(root: Root, files: readonly string[], more: boolean): Promise<readonly string[]> {
  const listed = new Set(files.map((file) => file.split('/', 1)[0] ?? file));
  const entries = await readdir(root.path, { withFileTypes: true }).catch(() => []);
  return entries
    .filter(({ name }) => !NOT_SHOWN.has(name) && (more || listed.has(name)))
    .map((entry) => `${entry.name}${entry.isDirectory() ? '/' : ''}`)
    .sort();
}

/** The first `bytes` of a text file; empty for a binary one. */
export async function headOf(root: Root, name: string, bytes: number): Promise<string> {
  const file = await openFile(root, name);
  if (!file.ok) return '';
  try {
    const { buffer, bytesRead } = await file.value.handle.read(Buffer.alloc(bytes), 0, bytes, 0);
    const head = buffer.subarray(0, bytesRead);
    // A character cut in two at the end is better left out than shown as broken.
    return isBinary(head) ? '' : plainText(decode(head).replace(/\uFFFD+$/, ''));
  } catch {
    return '';
  } finally {
    await file.value.handle.close();
  }
}
