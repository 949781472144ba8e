/** Keeps the authors of the changes of the shown run, which are read again some time after an agent changed something. */
import { changesOf, sanitiseData } from '../../../app/views/index.ts';
import type { AuthoredChanges } from '../../../domain/changes/authorship.ts';
import type { Millis, SessionId } from '../../../domain/ids.ts';
import { memoize } from '../../../domain/memoize.ts';
import type { RunState } from '../../../events/index.ts';
import type { AppServices } from './app-options.ts';

/** Reading them takes several calls of git, so a busy run is not read for each change. */
const REST: Millis = 3000;

type Services = Pick<AppServices, 'world' | 'projectService' | 'changed' | 'fail'>;

export class ChangeAuthors {
  readonly #app: Services;
  #known: {
    readonly session: SessionId;
    readonly acts: string;
    readonly changes: AuthoredChanges | null;
  } | null = null;
  #asking = false;
  #asked: Millis = Number.NEGATIVE_INFINITY;

  constructor(app: Services) {
    this.#app = app;
  }

  /** The authors as they were read last; null before that. */
  of({ session, agents, phase }: Pick<RunState, 'session' | 'agents' | 'phase'>): AuthoredChanges | null {
    const done = actsOf(agents);
    if (session === null || (done === '' && phase !== 'finished')) return null;
    // The person may have changed files until the end.
    const acts = `${phase} ${done}`;
    const known = this.#known?.session === session ? this.#known : null;
    if (known?.acts !== acts) this.#ask(session, acts);
    return known?.changes ?? null;
  }

  /** Reads them again at once: files were changed by the person. */
  renew(): void {
    this.#asked = Number.NEGATIVE_INFINITY;
    if (this.#known !== null) this.#known = { ...this.#known, acts: '' };
  }

  #ask(session: SessionId, acts: string): void {
    const { world, projectService, changed, fail } = this.#app;
    if (projectService.authors === undefined || this.#asking || world.elapsed() - this.#asked < REST) return;
    this.#asking = true;
    this.#asked = world.elapsed();
    void projectService.authors(session).then((changes) => {
      this.#asking = false;
      this.#known = { session, acts, changes: changes === null ? null : sanitiseData(changes) };
      changed();
    }, fail);
  }
}

/** Differs as soon as another act has changed files; empty where none has. */
const actsOf = memoize(
  (agents: RunState['agents']) => [agents],
  (agents) => {
    const all = [...agents.values()].flatMap((agent) => changesOf(agent));
    return all.map(({ added, removed }) => `${added}.${removed}`).join(' ');
  },
);
