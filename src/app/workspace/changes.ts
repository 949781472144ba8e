/** Reads whose the changes of a stored session are: its log, the contents that it names, and the project as it is now. */
import { type AuthoredChanges, type AuthoredFile, isOfAgents } from '../../domain/changes/authorship.ts';
import type { SessionId } from '../../domain/ids.ts';
import { ACT_EVENTS, actsIn, comparedWith, type RecordedActs, type RunState } from '../../events/index.ts';
import type { Rules } from '../../policy/index.ts';
import type { ChangesPort } from '../../ports/changes.ts';
import type { Log } from '../../ports/log.ts';
import type { ProjectPlace } from './place.ts';
import { eventsOf } from './sessions.ts';

/** What is known of the changes in a project, under its rules about paths; null in a folder where no agent may work. */
export async function changesIn({ root, places }: ProjectPlace, box: Rules['box']): Promise<ChangesPort | null> {
  // Loaded on first use: a start needs none of it.
  const [{ checkRoot, openChanges }, { pathsOf }] = await Promise.all([
    import('../../tools/index.ts'),
    import('./sandbox.ts'),
  ]);
  const checked = checkRoot(root, { home: places.home, state: places.state, rules: pathsOf(box, places) });
  return checked.ok ? openChanges({ root: checked.value, stateDir: places.state }) : null;
}

const recordedIn = (reader: Pick<Log, 'each'>, session: SessionId): RecordedActs =>
  actsIn(eventsOf(reader, session, 0, { types: [...ACT_EVENTS, 'forced.began'], outputs: false }));

/** The acts of a session; those on files of which not every change is known are left out. */
function knownActs(reader: Pick<Log, 'each'>, session: SessionId): RecordedActs {
  const recorded = recordedIn(reader, session);
  return { ...recorded, acts: recorded.acts.filter(({ path }) => !recorded.unknown.has(path)) };
}

/** The authors of all changes of a session; null where nothing is known of them. */
export async function authorsIn(
  project: ProjectPlace,
  box: Rules['box'],
  reader: Pick<Log, 'each' | 'sessions'>,
  session: SessionId,
): Promise<AuthoredChanges | null> {
  const recorded = knownActs(reader, session);
  if (recorded.acts.length === 0 && recorded.tree === null) return null;
  const changes = await changesIn(project, box);
  const { signal } = new AbortController();
  const found = await changes?.authored(recorded, signal);
  if (found?.ok !== true) return null;
  const files = withoutOthers(found.value, reader, session);
  // Counting them takes a while, so it waits for the end.
  const isOver = reader.sessions().every((one) => one.session !== session || one.state !== 'running');
  const uncovered = isOver ? await changes?.uncovered(recorded, signal) : '';
  return { files, ...(uncovered ? { uncovered } : {}) };
}

/** Without what only agents of other sessions changed since, which is not the person's. */
function withoutOthers(files: readonly AuthoredFile[], reader: Pick<Log, 'each' | 'sessions'>, session: SessionId) {
  if (files.every(isOfAgents)) return files;
  const all = reader.sessions();
  const start = all.find((one) => one.session === session)?.startedAt ?? '';
  const others = all.filter((one) => one.session !== session && one.lastAt >= start);
  const theirs = others.map((one) => recordedIn(reader, one.session));
  const known = new Set(theirs.flatMap(({ acts, unknown }) => [...acts.map(({ path }) => path), ...unknown]));
  return files.filter((file) => isOfAgents(file) || !known.has(file.path));
}

/** The state of an ended run whose checks are stale where anything was changed since, also by a person. A running one looks itself. */
export async function checksNow(project: ProjectPlace, box: Rules['box'], state: RunState): Promise<RunState> {
  const hasChecks = [...state.agents.values()].some(({ checks = [] }) => checks.length > 0);
  if (!hasChecks || state.finished === null) return state;
  const tree = await (await changesIn(project, box))?.tree(new AbortController().signal);
  return tree?.ok === true ? comparedWith(state, tree.value) : state;
}
