/** The acts that changed files, read from the log. */
import type { Act } from '../domain/changes/authorship.ts';
import { type ChangedFile, type CommandChanges, type VersionChange, versionsOf } from '../domain/changes/changes.ts';
import { mayChangeFiles } from '../domain/agents/tool-facts.ts';
import type { Millis } from '../domain/ids.ts';
import type { EventOf, EventType, MimirEvent } from './event.ts';

/** What a log tells of the changes of a run. */
export interface RecordedActs {
  /** In the order in which they ended. */
  readonly acts: readonly Act[];
  /** The project at the start, where and when it was recorded; in earlier logs before the first command that changed something, without a time. */
  readonly tree: { readonly id: string; readonly at: number; readonly time?: Millis } | null;
  /** Every change of an agent is known, so that what else has changed is the person's. */
  readonly isWhole: boolean;
  /** Files that were changed without a record of their contents, by an earlier version or without git. */
  readonly unknown: ReadonlySet<string>;
}

/** The types of the events that `actsIn` needs, besides `forced.began`. */
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
  const open = new Set<string>();
  const acts: Act[] = [];
  const unknown = new Set<string>();
  let tree: RecordedActs['tree'] = null;
  const put = (change: ChangedFile | VersionChange, act: Omit<Act, keyof VersionChange>): void => {
    const known = versionsOf(change);
    if (known === null) unknown.add(change.path);
    else acts.push({ ...known, ...act });
  };
  for (const event of events) {
    tree ??= startIn(event);
    if (!isAct(event)) continue;
    const call = callOf(event);
    if (isStart(event)) began.set(call, event.seq);
    if (leavesOpen(event)) open.add(call);
    else open.delete(call);
    const at = began.get(call) ?? event.seq;
    const { all, agents, before } = changedBy(event);
    tree ??= before === undefined ? null : { id: before, at };
    for (const change of all) put(change, { agents, began: at, ended: event.seq });
  }
  return { acts, tree, unknown, isWhole: open.size === 0 };
}

const startIn = (event: MimirEvent): RecordedActs['tree'] =>
  event.type === 'forced.began' ? { id: event.tree, at: event.seq, time: Date.parse(event.time) } : null;

const isStart = ({ type }: ActEvent): boolean => type.endsWith('.started');

/** Whether something may have changed from here on that no record tells: an act has begun, or a command was not compared. */
const leavesOpen = (event: ActEvent): boolean =>
  isStart(event) ? !('tool' in event) || mayChangeFiles(event.tool) : 'unseen' in event;

/** What an act changed in the project; an agent's work in a tree of its own comes there by a merge. */
function changedBy(event: ActEvent) {
  const { files = [], rest = [], also = [], tree: before }: Partial<CommandChanges> = changesIn(event) ?? {};
  return { all: [...files, ...rest], agents: [event.agent, ...also].toSorted(), before };
}

function changesIn(event: ActEvent): CommandChanges | undefined {
  if (event.type === 'check.finished') return event.changes;
  if (event.type !== 'tool.finished' && event.type !== 'merge.finished') return undefined;
  return event.changed?.inOwnTree === true ? undefined : event.changed;
}

type ActEvent = EventOf<(typeof ACT_EVENTS)[number]>;
/** What ran before anything had begun is no agent's act. */
const isAct = (event: MimirEvent): event is MimirEvent & ActEvent =>
  !('first' in event) && ACT_EVENTS.some((type) => type === event.type);

/** An agent has one merge and one check at a time. */
function callOf(event: ActEvent): string {
  const [kind] = event.type.split('.');
  return `${event.agent} ${kind} ${'call' in event ? event.call : ''}`;
}
