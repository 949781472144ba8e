/** Paths for what stands behind an `@`: asked of the lobby once a query, remembered for a moment, never waited for. */
import type { Millis } from '../../../domain/ids.ts';
import type { Lobby } from '../../../ports/project-service.ts';
import { harmless } from '../../../app/views/text/sanitise-text.ts';

export interface FoundFilesParts {
  readonly lobby: Lobby;
  readonly now: () => Millis;
  /** Something was found: there is something to paint. */
  readonly changed: () => void;
  readonly fail: (error: unknown) => void;
}

/** Paths for one query. */
const MOST_PATHS = 50;
/** Queries that are remembered; each letter typed is one. */
const MOST_QUERIES = 64;
/** Agents make files too: what is older than this is asked again, and shown meanwhile. */
const FRESH: Millis = 5000;

interface Found {
  readonly paths: readonly string[] | null;
  readonly asked: Millis;
}

export class FoundFiles {
  readonly #of: FoundFilesParts;
  readonly #found = new Map<string, Found>();

  constructor(parts: FoundFilesParts) {
    this.#of = parts;
  }

  /** What is known for this query, or null while it is looked for. Empty where nobody can look. */
  of(query: string): readonly string[] | null {
    if (this.#of.lobby.files === undefined) return [];
    const known = this.#found.get(query);
    if (known === undefined || this.#of.now() - known.asked > FRESH) this.#ask(query, known?.paths ?? null);
    return this.#found.get(query)?.paths ?? null;
  }

  #ask(query: string, meanwhile: readonly string[] | null): void {
    const { lobby, now, changed, fail } = this.#of;
    if (this.#found.size >= MOST_QUERIES) this.#found.clear();
    const asked = now();
    this.#found.set(query, { paths: meanwhile, asked });
    void lobby.files?.(query, MOST_PATHS).then((paths) => {
      // A name that can't be shown as it is can't be written into a field either.
      this.#found.set(query, { paths: paths.filter((path) => harmless(path) === path), asked });
      changed();
    }, fail);
  }
}
