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

interface Known {
  readonly session: SessionId;
  readonly acts: string;
  readonly changes: AuthoredChanges | null;
}

export function openChangeAuthors({ world, projectService, changed, fail }: Services) {
  let last: Known | null = null;
  let isAsking = false;
  let asked: Millis = Number.NEGATIVE_INFINITY;
  const ask = (session: SessionId, acts: string): void => {
    if (projectService.authors === undefined || isAsking || world.elapsed() - asked < REST) return;
    isAsking = true;
    asked = world.elapsed();
    void projectService.authors(session).then((changes) => {
      isAsking = false;
      last = { session, acts, changes: changes === null ? null : sanitiseData(changes) };
      changed();
    }, fail);
  };
  return {
    /** The authors as they were read last; null before that. */
    of({ session, agents, phase }: Pick<RunState, 'session' | 'agents' | 'phase'>): AuthoredChanges | null {
      const done = actsOf(agents);
      if (session === null || (done === '' && phase !== 'finished')) return null;
      // The person may have changed files until the end.
      const acts = `${phase} ${done}`;
      const known = last?.session === session ? last : null;
      if (known?.acts !== acts) ask(session, acts);
      return known?.changes ?? null;
    },
    /** Reads them again at once: files were changed by the person. */
    renew(): void {
      asked = Number.NEGATIVE_INFINITY;
      if (last !== null) last = { ...last, acts: '' };
    },
  };
}

/** Differs as soon as another act has changed files; empty where none has. */
const actsOf = memoize(
  (agents: RunState['agents']) => [agents],
  (agents) => {
    const all = [...agents.values()].flatMap((agent) => changesOf(agent));
    return all.map(({ added, removed }) => `${added}.${removed}`).join(' ');
  },
);
