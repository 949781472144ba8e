/** The acts that changed files, read from the log. */
import type { Act } from '../domain/changes/authorship.ts';
import type { ChangedFile, CommandChanges, VersionChange } from '../domain/changes/changes.ts';
import { defined } from '../domain/result.ts';
import type { EventOf, EventType, MimirEvent } from './event.ts';

/** What a log tells of the changes of a run. */
export interface RecordedActs {
  /** In the order in which they ended. */
  readonly acts: readonly Act[];
  /** The tree of the project before the first command that changed something, and the record with which that began; null without one. */
  readonly tree: { readonly id: string; readonly at: number } | null;
  /** Files that were changed without a record of their contents, by an earlier version or without git. */
  readonly unknown: ReadonlySet<string>;
}

/** The types of the events that `actsIn` needs. */
export const ACT_EVENTS = [
  'tool.started',
  'tool.finished',
  'merge.started',
  'merge.finished',
  'check.started',
  'check.finished',
] as const satisfies readonly EventType[];

/** The acts in these events of a session. */
export function actsIn(events: Iterable<MimirEvent>): RecordedActs {
  const began = new Map<string, number>();
  const acts: Act[] = [];
  const unknown = new Set<string>();
  let tree: RecordedActs['tree'] = null;
  for (const event of events) {
    if (isAct(event) && event.type.endsWith('.started')) began.set(callOf(event), event.seq);
    const changed = changedBy(event);
    if (changed === null) continue;
    const at = began.get(callOf(changed.event)) ?? event.seq;
    tree ??= changed.tree === undefined ? null : { id: changed.tree, at };
    for (const change of changed.all) {
      const { agents } = changed;
      const known = versionsOf(change);
      if (known === null) unknown.add(change.path);
      else acts.push({ ...known, agents, began: at, ended: event.seq });
    }
  }
  return { acts, tree, unknown };
}

/** What an act changed in the project; an agent's work in a tree of its own comes there by a merge. */
function changedBy(event: MimirEvent): Changed | null {
  const changes = changesIn(event);
  if (!isAct(event) || changes === undefined) return null;
  const { files, rest = [], also, tree } = changes;
  return { event, all: [...files, ...rest], agents: [event.agent, ...also].toSorted(), ...defined({ tree }) };
}

function changesIn(event: MimirEvent): CommandChanges | undefined {
  if (event.type === 'check.finished') return event.changes;
  if (event.type !== 'tool.finished' && event.type !== 'merge.finished') return undefined;
  return event.changed?.inOwnTree === true ? undefined : event.changed;
}

interface Changed extends Pick<CommandChanges, 'tree'>, Pick<Act, 'agents'> {
  readonly event: ActEvent;
  readonly all: readonly (ChangedFile | VersionChange)[];
}

type ActEvent = EventOf<(typeof ACT_EVENTS)[number]>;
const isAct = (event: MimirEvent): event is MimirEvent & ActEvent => ACT_EVENTS.some((type) => type === event.type);

/** An agent has one merge and one check at a time. */
function callOf(event: ActEvent): string {
  const [kind] = event.type.split('.');
  return `${event.agent} ${kind} ${'call' in event ? event.call : ''}`;
}
const versionsOf = ({ path, before, after }: ChangedFile | VersionChange): VersionChange | null =>
  before === undefined || after === undefined ? null : { path, before, after };
