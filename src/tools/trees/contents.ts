/** Contents of files by git's id, in Mimir's own store. They are written there without starting git, and copied there from the project's
 * repository, so that they outlive whatever happens to its history. */
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { deflateSync, inflateSync } from 'node:zlib';
import { tried } from '../../domain/result.ts';
import { type RepositoryFacts, TreeFault, type TreeStore } from './store.ts';

/** Stores `bytes` and returns their id. Throws an error of the file system. */
export function keepBytes(store: TreeStore, facts: RepositoryFacts, bytes: Uint8Array): string {
  const blob = Buffer.concat([Buffer.from(`blob ${bytes.length}\0`), bytes]);
  const id = createHash(facts.format).update(blob).digest('hex');
  const file = objectFile(store, facts, id);
  if (existsSync(file)) return id;
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  // The name begins as that of an object that git was writing, which nobody reads.
  const fresh = path.join(path.dirname(file), `tmp_obj_${randomBytes(8).toString('hex')}`);
  writeFileSync(fresh, deflateSync(blob, { level: 1 }), { mode: 0o600, flag: 'wx' });
  renameSync(fresh, file);
  return id;
}

/** As `keepBytes`, for bytes of the project's file `name`: with line ends as git stores them, so that the id is the one that a look at the
 * whole project finds. Asks git only where that matters. */
export async function keepFile(
  store: TreeStore,
  facts: RepositoryFacts,
  { name, text }: { readonly name: string; readonly text: string },
  signal: AbortSignal,
): Promise<string> {
  if (!text.includes('\r\n')) return keepBytes(store, facts, Buffer.from(text));
  const args = ['hash-object', '-w', '--stdin', `--path=${name}`];
  const index = path.join(store.folder(facts), 'no-index');
  return (await store.git(facts, args, signal, { index, input: text })).trim();
}

/** The contents with these ids; those that cannot be read are left out. Throws `TreeFault`. */
export async function readContents(
  store: TreeStore,
  facts: RepositoryFacts,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Buffer>> {
  const found = new Map<string, Buffer>();
  const others: string[] = [];
  for (const id of new Set(ids)) {
    const own = readLoose(store, facts, id);
    if (own === null) others.push(id);
    else found.set(id, own);
  }
  for (let at = 0; at < others.length; at += BATCH)
    for (const [id, bytes] of await readBatch(store, facts, others.slice(at, at + BATCH), signal)) found.set(id, bytes);
  return found;
}

/** Copies contents that only the project's repository has into Mimir's own store. Throws `TreeFault`. */
export async function keepContents(
  store: TreeStore,
  facts: RepositoryFacts,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const missing = ids.filter((id) => !existsSync(objectFile(store, facts, id)));
  if (missing.length === 0) return;
  for (const bytes of (await readContents(store, facts, missing, signal)).values()) keepBytes(store, facts, bytes);
}

/** How many contents git is asked for at once. */
const BATCH = 200;

async function readBatch(
  store: TreeStore,
  facts: RepositoryFacts,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Buffer>> {
  const input = ids.map((id) => `${id}\n`).join('');
  try {
    return batchIn(
      Buffer.from(await store.git(facts, ['cat-file', '--batch'], signal, { input, bytes: true }), 'latin1'),
    );
  } catch (error) {
    if (!(error instanceof TreeFault) || signal.aborted) throw error;
    // Together they are too long; one that is too long alone is left out.
    if (ids.length === 1) return new Map();
    const half = Math.ceil(ids.length / 2);
    const parts = [ids.slice(0, half), ids.slice(half)];
    const read = await Promise.all(parts.map((part) => readBatch(store, facts, part, signal)));
    return new Map(read.flatMap((one) => [...one]));
  }
}

/** Each content after a line with its id, kind and length; a missing one has only a line. */
function batchIn(output: Buffer): ReadonlyMap<string, Buffer> {
  const found = new Map<string, Buffer>();
  for (let at = 0; at < output.length; ) {
    const end = output.indexOf('\n', at);
    const [id = '', kind = '', length = ''] = output.subarray(at, end).toString('latin1').split(' ');
    at = end + 1;
    if (length === '') continue;
    if (kind === 'blob') found.set(id, output.subarray(at, at + Number(length)));
    at += Number(length) + 1;
  }
  return found;
}

const objectFile = (store: TreeStore, facts: RepositoryFacts, id: string): string =>
  path.join(store.folder(facts), 'objects', id.slice(0, 2), id.slice(2));

const readLoose = (store: TreeStore, facts: RepositoryFacts, id: string): Buffer | null =>
  tried(() => {
    const object = inflateSync(readFileSync(objectFile(store, facts, id)));
    return object.subarray(object.indexOf(0) + 1);
  }, null);
