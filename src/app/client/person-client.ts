/** The seat of the person: the log is read, nothing is written to it; a living run is asked by its socket. */
import { knownPaths } from '../../remote/socket-paths.ts';
import type { SessionId } from '../../domain/ids.ts';
import { foldAll } from '../../events/fold.ts';
import { type RunState, EMPTY } from '../../events/state.ts';
import { CHILD_DEFAULTS, childRules } from '../../policy/children.ts';
import type { RunView } from '../../ports/controls.ts';
import type { SessionSummary } from '../../ports/log.ts';
import type { LogReader } from '../../store/log.ts';
import { openMailbox } from '../../store/message-store.ts';
import { EXIT, Exit } from '../process/exit.ts';
import type { Arguments } from '../process/flags/flags.ts';
import type { Io } from '../process/io.ts';
import { eventsOf, openReader, orExit } from './log-of.ts';
import { loadHere } from '../project/project-trust.ts';
import { type ProjectPlace, environmentOf, projectOf } from '../project/project.ts';
import { type Knowing, givenBy } from './run-api.ts';
import { patiently, placeOf, reachSoon } from './connect.ts';
import { world } from '../process/world.ts';
import type { Seat, Seen } from '../../ports/control.ts';

export function personSeat(args: Arguments, io: Io): Seat {
  const project = projectOf(args, io);
  const reader = openReader(project);
  const children = once(() => childrenHere(project, io));
  const sessions = (): readonly SessionSummary[] => orExit(() => reader.sessions());
  return {
    as: null,
    runs: sessions,
    look: (session) => {
      const is = (): SessionSummary['state'] => sessions().find((one) => one.session === session)?.state ?? 'stopped';
      return Promise.resolve(seenIn(reader, session, { children: children(), is, project }));
    },
    socket: (session) => knownPaths(placeOf(project, session))[0] ?? null,
    submit: async (session, command) => {
      const lives = (): boolean => sessions().some((one) => one.session === session && one.state === 'running');
      const reached = await patiently(io, session, reachSoon(project, session, lives));
      if (reached === null) throw new Exit(EXIT.wrongUse, notCarried(session));
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
  `no process carries session ${session} now\n  \`mimir resume ${session}\` goes on with it, if it is not over`;

interface Ground {
  readonly children: Knowing['children'];
  readonly is: () => SessionSummary['state'];
  readonly project: ProjectPlace;
}

function seenIn(reader: LogReader, session: SessionId, { children, is, project }: Ground): Seen {
  const view = followed(reader, session);
  const mailbox = openMailbox({ stateDir: project.places.state, project: project.root });
  const given = givenBy(view, {
    children,
    now: () => world.now(),
    letters: () => orExit(() => mailbox.waiting(session)).length,
    is,
  });
  return {
    family: given.family(null),
    again: () => {
      view.catchUp();
      return Promise.resolve(given.family(null));
    },
    state: view.state(),
    detail: (agent) => Promise.resolve(given.detail(null, agent)),
    events: (agent, after) => {
      view.catchUp();
      return Promise.resolve(given.events(null, agent, after));
    },
  };
}

/** The log of a session as it was read last; `catchUp` reads what was written since. */
function followed(reader: LogReader, session: SessionId): RunView & { catchUp(): void } {
  let state: RunState = EMPTY;
  const catchUp = (): void => {
    state = foldAll(eventsOf(reader, session, state.seq, { outputs: false }), state);
  };
  catchUp();
  return { session, state: () => state, each: (after, some) => eventsOf(reader, session, after, some), catchUp };
}

/** How children are called here; a fault in a file is said by those who would run something, not by who looks. */
function childrenHere(project: ProjectPlace, io: Io): Knowing['children'] {
  const loaded = loadHere(project, environmentOf(project, io), {}, 'look');
  return loaded.ok ? childRules(loaded.value.config.rules) : CHILD_DEFAULTS;
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => (made ??= { value: make() }).value;
}
