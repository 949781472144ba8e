/** Finds the paths that match the text after an `@`. The project is asked once per query; answers are cached for a few seconds. */
import type { Millis } from '../../../domain/ids.ts';
import type { ProjectService } from '../../../ports/project-service.ts';
import { sanitiseData } from '../../../app/views/index.ts';

export interface FoundFilesParts {
  readonly projectService: ProjectService;
  readonly now: () => Millis;
  /** Called when an answer arrived. */
  readonly changed: () => void;
  readonly fail: (error: unknown) => void;
}

const MOST_PATHS = 50;
/** Cached queries; each typed letter is one. */
const MOST_QUERIES = 64;
/** Agents create files too, so older answers are refreshed while they are shown. */
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

  /** The known paths for a query; null until the first answer, empty if the project cannot search. */
  of(query: string): readonly string[] | null {
    if (this.#of.projectService.files === undefined) return [];
    const known = this.#found.get(query);
    if (known === undefined || this.#of.now() - known.asked > FRESH) this.#ask(query, known?.paths ?? null);
    return this.#found.get(query)?.paths ?? null;
  }

  #ask(query: string, meanwhile: readonly string[] | null): void {
    const { projectService, now, changed, fail } = this.#of;
    if (this.#found.size >= MOST_QUERIES) this.#found.clear();
    const asked = now();
    this.#found.set(query, { paths: meanwhile, asked });
    void projectService.files?.(query, MOST_PATHS).then((paths) => {
      // Names that cannot be shown cannot be typed into a field either.
      this.#found.set(query, { paths: paths.filter((path) => sanitiseData(path) === path), asked });
      changed();
    }, fail);
  }
}
