/** What runs and workers keep in the database beside the engine's records: content by its id, and the chain of states of each agent's tree. */
import { z } from 'zod';
import type { Database } from './database.ts';
import { contentId } from './step.ts';

/** A change of an agent's tree as a commit, and the id of the pack with its objects. */
export type TreeState = z.output<typeof Tree>;

export interface SharedStore {
  /** Keeps content and returns its id; content that is there already is not sent again. */
  keep(content: string | Uint8Array): Promise<string>;
  /** Content by its ids, in their order. Rejects where one is missing. */
  read(ids: readonly string[]): Promise<readonly Buffer[]>;
  /** Replaces what an attempt without a record has left under this number. */
  keepTree(run: string, chain: string, state: TreeState): Promise<void>;
  /** The states above `after`, up to `to`, in order. */
  trees(chain: string, after: number, to: number): Promise<readonly TreeState[]>;
  /** Keeps what the states of a tree begin with, in place of what was kept before. */
  keepPlace(run: string, place: KeptPlace): Promise<void>;
  places(run: string): Promise<readonly KeptPlace[]>;
}

/** What another machine needs of a tree, or of the project where `tree` is empty: a text, the ids of its packs, and the chain of its states. */
export type KeptPlace = z.output<typeof KeptPlace>;

/** The same store, where `repeat` makes each access. */
export const repeating = (store: SharedStore, repeat: <T>(act: () => Promise<T>) => Promise<T>): SharedStore => ({
  keep: (content) => repeat(() => store.keep(content)),
  read: (ids) => repeat(() => store.read(ids)),
  keepTree: (...state) => repeat(() => store.keepTree(...state)),
  trees: (...range) => repeat(() => store.trees(...range)),
  keepPlace: (...place) => repeat(() => store.keepPlace(...place)),
  places: (run) => repeat(() => store.places(run)),
});

/** The most content that is held for the next step, in bytes. */
const CACHE_BYTES = 64 * 1024 * 1024;
/** Content of more bytes is sent only when the database does not have it. */
const LARGE = 64 * 1024;
const USE = 'update mimir.blob set used = clock_timestamp() where id = $1';
/** How often the database is told that content is still used: a day. */
const TOLD_MS = 86_400_000;

export function openStore(db: Database): SharedStore {
  const held = new Map<string, Buffer>();
  /** When the database was last told that content is in use. */
  const told = new Map<string, number>();
  let bytes = 0;
  const hold = (id: string, content: Buffer): void => {
    if (held.has(id) || content.length > CACHE_BYTES / 4) return;
    held.set(id, content);
    bytes += content.length;
    for (const [old, { length }] of held) {
      if (bytes <= CACHE_BYTES) break;
      held.delete(old);
      told.delete(old);
      bytes -= length;
    }
  };
  return {
    async keep(content) {
      const id = contentId(content);
      if (held.has(id) && performance.now() - (told.get(id) ?? -TOLD_MS) < TOLD_MS) return id;
      const body = Buffer.from(content);
      const isThere = body.length > LARGE && (await db.run(USE, [id])) > 0;
      const insert =
        'insert into mimir.blob (id, body) values ($1, $2) on conflict (id) do update set used = clock_timestamp()';
      if (!isThere) await db.run(insert, [id, body]);
      hold(id, body);
      told.set(id, performance.now());
      return id;
    },
    async read(ids) {
      // What is held now may have to make room for what is read.
      const found = new Map([...held].filter(([id]) => ids.includes(id)));
      const missing = [...new Set(ids)].filter((id) => !found.has(id));
      if (missing.length > 0) {
        const rows = await db.rows(Blob, 'select id, body from mimir.blob where id = any($1)', [missing]);
        for (const { id, body } of rows) {
          found.set(id, body);
          hold(id, body);
        }
      }
      return ids.map((id) => {
        const body = found.get(id);
        if (body === undefined) throw new Error(`content that a step needs is no longer in the database: ${id}`);
        return body;
      });
    },
    async keepTree(run, chain, { n, commit, pack }) {
      const insert = `insert into mimir.tree (run, chain, n, commit, pack) values ($1, $2, $3, $4, $5)
        on conflict (chain, n) do update set commit = excluded.commit, pack = excluded.pack`;
      await db.run(insert, [run, chain, n, commit, pack]);
    },
    trees: (...range) =>
      db.rows(Tree, 'select n, commit, pack from mimir.tree where chain = $1 and n > $2 and n <= $3 order by n', range),
    async keepPlace(run, { tree, chain, body, packs }) {
      const insert = `insert into mimir.place (run, tree, chain, body, packs) values ($1, $2, $3, $4, $5)
        on conflict (run, tree) do update set chain = excluded.chain, body = excluded.body, packs = excluded.packs`;
      await db.run(insert, [run, tree, chain, body, packs]);
    },
    places: (run) => db.rows(KeptPlace, 'select tree, chain, body, packs from mimir.place where run = $1', [run]),
  };
}

const Blob = z.object({ id: z.string(), body: z.instanceof(Buffer) });
const KeptPlace = z.object({ tree: z.string(), chain: z.string(), body: z.string(), packs: z.array(z.string()) });
const Tree = z.object({ n: z.number(), commit: z.string(), pack: z.string() });
