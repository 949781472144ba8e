/** Finds the paths that match the text after an `@`. The project is asked once per query; answers are cached for a few seconds. */
import { sanitiseData } from '../../../app/views/index.ts';
import type { Millis } from '../../../domain/ids.ts';
import type { AppServices } from './app-options.ts';

const MOST_PATHS = 50;
/** Cached queries; each typed letter is one. */
const MOST_QUERIES = 64;
/** Agents create files too, so older answers are refreshed while they are shown. */
const FRESH: Millis = 5000;

interface Found {
  readonly paths: readonly string[] | null;
  readonly asked: Millis;
}

type Services = Pick<AppServices, 'projectService' | 'world' | 'changed' | 'fail'>;

export class FoundFiles {
  readonly #app: Services;
  readonly #found = new Map<string, Found>();

  constructor(app: Services) {
    this.#app = app;
  }

  /** The known paths for a query; null until the first answer. */
  of(query: string): readonly string[] | null {
    const known = this.#found.get(query);
    if (known === undefined || this.#app.world.elapsed() - known.asked > FRESH) this.#ask(query, known?.paths ?? null);
    return this.#found.get(query)?.paths ?? null;
  }

  #ask(query: string, meanwhile: readonly string[] | null): void {
    const { projectService, world, changed, fail } = this.#app;
    if (this.#found.size >= MOST_QUERIES) this.#found.clear();
    const asked = world.elapsed();
    this.#found.set(query, { paths: meanwhile, asked });
    void projectService.files(query, MOST_PATHS).then((paths) => {
      // Names that cannot be shown cannot be typed into a field either.
      this.#found.set(query, { paths: paths.filter((path) => sanitiseData(path) === path), asked });
      changed();
    }, fail);
  }
}
