/** The client of a person: it reads the log, writes nothing to it, and sends commands to the socket of an active run. */
import { knownPaths } from '../../remote/index.ts';
import type { SessionId } from '../../domain/ids.ts';
import { EMPTY, foldAll, type RunState } from '../../events/index.ts';
import { CHILD_DEFAULTS, childRules } from '../../policy/index.ts';
import type { RunView } from '../../ports/controls.ts';
import type { SessionSummary } from '../../ports/log.ts';
import { type LogReader, openMessageStore } from '../../store/index.ts';
import { type Arguments, type Io, exitOnFault, world, wrongUse } from '../process/index.ts';
import type { ProjectPlace } from '../workspace/index.ts';
import { environmentOf, eventsOf, readConfig, openReader, projectOf, storeOf } from '../workspace/index.ts';
import { type Knowing, runApi } from './run-api.ts';
import { patiently, placeOf, reachSoon } from './connect.ts';
import type { SessionClient, Seen } from '../../ports/control.ts';

export function personClient(args: Arguments, io: Io): SessionClient {
  const project = projectOf(args, io);
  const reader = openReader(project);
  const children = once(() => childrenHere(project, io));
  const sessions = (): readonly SessionSummary[] => exitOnFault(() => reader.sessions());
  return {
    as: null,
    runs: sessions,
    look: (session) => {
      const is = (): SessionSummary['state'] => sessions().find((one) => one.session === session)?.state ?? 'stopped';
      return Promise.resolve(seenIn(reader, session, project, { children: children(), is }));
    },
    socket: (session) => knownPaths(placeOf(project, session))[0] ?? null,
    submit: async (session, command) => {
      const lives = (): boolean => sessions().some((one) => one.session === session && one.state === 'running');
      const reached = await patiently(io, session, reachSoon(project, session, lives));
      if (reached === null) throw wrongUse(notCarried(session));
      try {
        return await reached.controls.submit(command);
      } finally {
        reached.close();
      }
    },
    close: () => reader.close(),
  };
}

const notCarried = (session: SessionId): string =>
  `session ${session} is not running\n  \`mimir resume ${session}\` continues it, unless it has finished`;

function seenIn(
  reader: LogReader,
  session: SessionId,
  project: ProjectPlace,
  knowing: Pick<Knowing, 'children' | 'is'>,
): Seen {
  const view = logView(reader, session);
  const messageStore = openMessageStore(storeOf(project));
  const api = runApi(view, {
    ...knowing,
    now: () => world.now(),
    letters: () => exitOnFault(() => messageStore.waiting(session)).length,
  });
  return {
    family: api.family(null),
    again: () => {
      view.catchUp();
      return Promise.resolve(api.family(null));
    },
    state: view.state(),
    detail: (agent) => Promise.resolve(api.detail(null, agent)),
    events: (agent, after) => {
      view.catchUp();
      return Promise.resolve(api.events(null, agent, after));
    },
  };
}

/** A session as its log was read last; `catchUp` reads newer events. */
function logView(reader: LogReader, session: SessionId): RunView & { catchUp(): void } {
  let state: RunState = EMPTY;
  const catchUp = (): void => {
    state = foldAll(eventsOf(reader, session, state.seq, { outputs: false }), state);
  };
  catchUp();
  return { session, state: () => state, each: (after, some) => eventsOf(reader, session, after, some), catchUp };
}

/** The rules for children of this project. A fault in the configuration is reported by commands that run something, not here. */
function childrenHere(project: ProjectPlace, io: Io): Knowing['children'] {
  const loaded = readConfig(project, environmentOf(project, io), {}, 'look');
  return loaded.ok ? childRules(loaded.value.config.rules) : CHILD_DEFAULTS;
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => (made ??= { value: make() }).value;
}
