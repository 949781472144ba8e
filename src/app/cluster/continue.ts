/** Brings a run here from the database that has lost its process, or was stopped on another machine: its project into a new folder, the trees of its agents,
 * and its log. Then it is continued like any run. */
import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { z } from 'zod';
import type { Loaded } from '../../config/index.ts';
import * as distributed from '../../distributed/index.ts';
import { jsonDigest } from '../../domain/digest.ts';
import { SessionId } from '../../domain/ids.ts';
import type { Result } from '../../domain/result.ts';
import { type EventBody, foldAll, type MimirEvent } from '../../events/index.ts';
import { placeProject, toolEnvironment } from '../../tools/index.ts';
import { openProjectLog, type ProjectPlace } from '../workspace/index.ts';
import { openProjectTools, type ProjectTools, trySandbox } from '../workspace/sandbox.ts';
import { EXIT, Exit, exitOnFault, world, wrongUse } from '../process/index.ts';
import { Place } from './body.ts';
import { asExit, openConfigured, peopleOf } from './settings.ts';

/** Making a project is not stopped: one that is half made could not be used. */
const { signal } = new AbortController();

interface Here {
  readonly project: ProjectPlace;
  readonly config: Loaded;
}

export interface BringOptions {
  /** The new folder of the project. */
  readonly into: string;
  /** Told what is waited for, as long as the run has its process; absent: it must have none. */
  readonly whenLost?: (text: string) => void;
}

/** The run in the folder `into`, which must be empty or missing. Rejects with an `Exit` where it runs, has ended, or cannot be brought here. */
export async function bringRun(
  here: Here,
  session: SessionId,
  { into, whenLost }: BringOptions,
): Promise<ProjectPlace> {
  const { project, config } = here;
  if (existsSync(into) && readdirSync(into).length > 0)
    throw wrongUse(`${into} is not empty\n  --into needs a new folder for the project`);
  const db = openConfigured(config);
  try {
    await distributed.checkDatabase(db);
    await takeRun(db, session, whenLost);
    const events = await eventsOf(readerFor(db, here, session));
    const store = distributed.openStore(db);
    const places = await store.places(session);
    const root = await placed(project, store, places, into);
    const place = { root, places: project.places };
    await makeTrees(openProjectTools(place, await trySandbox(place, config.rules)), store, places, events);
    keepLog(place, session, events);
    return place;
  } catch (error) {
    throw asExit(error);
  } finally {
    await db.close();
  }
}

/** From now on no process writes the log of the run, until the next registers it. */
async function takeRun(
  db: distributed.Database,
  session: SessionId,
  whenLost: BringOptions['whenLost'],
): Promise<void> {
  let told = '';
  const tell = (text: string): void => {
    if (text !== told) whenLost?.(text);
    told = text;
  };
  for (;;) {
    let wait = LOOK_MS;
    try {
      const host = await ownerOf(db, session);
      if (host === null) return;
      if (whenLost === undefined) throw wrongUse(distributed.runsText(session, host));
      tell(`run ${session} runs on ${host}; this continues it here as soon as it is lost`);
    } catch (error) {
      if (told === '' || !(error instanceof distributed.ClusterFault)) throw error;
      tell(error.message);
      // Its process may not have reached the database either.
      wait = AFTER_OUTAGE_MS;
    }
    await world.sleep(wait);
  }
}

/** The machine on which the run has its process; null: it has none, and is taken. */
async function ownerOf(db: distributed.Database, session: SessionId): Promise<string | null> {
  const found = (await distributed.runsIn(db)).find(({ run }) => run === session);
  if (found === undefined)
    throw wrongUse(
      `the database has no run ${session} that could be continued\n  \`mimir cluster status\` lists the runs`,
    );
  return !found.alive && (await distributed.releaseRun(db, session)) ? null : found.host;
}

/** How often a standby looks. */
const LOOK_MS = 1000;
const AFTER_OUTAGE_MS = 15_000;

/** The person has signed it. */
const Body = z.custom<EventBody>((body) => typeof body === 'object' && body !== null);

const eventsIn = ({ run, first, entries }: distributed.LogBatch): readonly MimirEvent[] => {
  let seq = first;
  return entries.flatMap(([time, bodies]) =>
    bodies.map((body): MimirEvent => ({ v: 1, seq: seq++, time, session: SessionId.parse(run), ...Body.parse(body) })),
  );
};

/** The events of the run, as its processes have recorded them. */
async function eventsOf(reader: distributed.LogReader): Promise<readonly MimirEvent[]> {
  const events: MimirEvent[] = [];
  for (let some = await reader.next(); some.length > 0; some = await reader.next())
    for (const batch of some) events.push(...eventsIn(batch));
  return events;
}

const readerFor = (db: distributed.Database, { project, config }: Here, session: SessionId | null) =>
  distributed.openLogReader(db, peopleOf(project, config), session);

/** The logs of runs in the database. */
export interface SharedLogs {
  /** What has come since the last call, at most a part of it: of each run in order. Rejects with an `Exit`. */
  readonly next: () => Promise<readonly MimirEvent[]>;
  /** Whether nothing more will come: the run has no process, or has ended. */
  isOver(): Promise<boolean>;
  close(): Promise<void>;
}

/** Reads the log of a run, or with null those of all runs of the person and of `cluster.people`, on whichever machine they are. Rejects with an `Exit`. */
export async function openLogs(here: Here, session: SessionId | null): Promise<SharedLogs> {
  const db = openConfigured(here.config);
  const fault = (error: unknown): never => {
    throw asExit(error);
  };
  await distributed.checkDatabase(db).catch(fault);
  const reader = readerFor(db, here, session);
  return {
    next: () => reader.next().then((batches) => batches.flatMap(eventsIn), fault),
    isOver: async () => {
      if (session === null) return false;
      const runs = await distributed.runsIn(db).catch(fault);
      return !runs.some(({ run, alive }) => run === session && alive);
    },
    close: () => db.close(),
  };
}

/** Puts the project into the folder; its real path. */
async function placed(
  { places: { state } }: ProjectPlace,
  store: distributed.SharedStore,
  places: readonly distributed.KeptPlace[],
  into: string,
): Promise<string> {
  const kept = places.find(({ tree }) => tree === '');
  if (kept === undefined || kept.body === '')
    throw new Exit(
      EXIT.refused,
      'the project of this run could not be kept in the database, so it cannot be continued',
    );
  const { packed, packs } = Place.parse(JSON.parse(kept.body));
  const content = { ...packed, packs: await store.read(packs) };
  given(await placeProject(into, state, toolEnvironment(into), content, signal));
  return realpathSync(into);
}

/** Makes the trees that the agents of the run still need, as their workers have left them. */
async function makeTrees(
  { transport, workspaces }: ProjectTools,
  store: distributed.SharedStore,
  places: readonly distributed.KeptPlace[],
  events: readonly MimirEvent[],
): Promise<void> {
  const agents = [...foldAll(events).agents.values()];
  for (const { tree, chain, body } of places) {
    if (!agents.some(({ ownTree }) => ownTree?.name === tree && ownTree.stands !== 'merged')) continue;
    const { packed, packs } = Place.parse(JSON.parse(body));
    const later = await store.trees(chain, 0, MOST_STATES);
    given(await transport.take(await store.read([...packs, ...later.map(({ pack }) => pack)]), signal));
    const content = `${later.at(-1)?.commit ?? packed.content}^{tree}`;
    given(await workspaces.make(tree, signal, { of: tree, ours: packed.base, content }));
  }
}

/** The states of a tree are numbered from 1. */
const MOST_STATES = 2 ** 31 - 1;

/** Records here what is not recorded yet. Throws an `Exit` where another part of the run was recorded in this folder before. */
function keepLog(place: ProjectPlace, session: SessionId, events: readonly MimirEvent[]): void {
  exitOnFault(() => {
    const log = openProjectLog(place);
    try {
      const known = log.read(session);
      if (jsonDigest(known) !== jsonDigest(events.slice(0, known.length)))
        throw wrongUse(
          `this folder has had another part of run ${session}\n  name a folder that was never used: --into`,
        );
      for (const { v: _v, seq: _seq, session: _session, time, ...body } of events.slice(known.length))
        log.append(session, time, [body]);
    } finally {
      log.close();
    }
  });
}

function given<T>(result: Result<T, string>): T {
  if (!result.ok) throw new Exit(EXIT.refused, `the run cannot be brought here: ${result.fault}`);
  return result.value;
}
