/** What must hold of the log of any run, however it was steered, cut off and gone on with. */
import { ROOT, toMicro } from '../../src/domain/ids.ts';
import type { MimirEvent } from '../../src/events/event.ts';
import { foldAll } from '../../src/events/fold.ts';
import { spentOf } from '../../src/events/queries.ts';

/** A line for each promise that was broken. */
export const brokenByRun = (events: readonly MimirEvent[]): readonly string[] => [
  ...afterTheEnd(events),
  ...afterOwnEnd(events),
  ...toldTwice(events),
  ...questions(events),
  ...namesTwice(events),
  ...bill(events),
];

/** Nothing happens between the end of a run and the next time that it goes on. */
function afterTheEnd(events: readonly MimirEvent[]): readonly string[] {
  return events.flatMap((event, at) =>
    events[at - 1]?.type === 'session.finished' && event.type !== 'session.resumed'
      ? [`${event.seq}: ${event.type} after the end of the run: ${JSON.stringify(event)}`]
      : [],
  );
}

type Begins = Extract<MimirEvent, { readonly type: 'agent.status' | 'agent.changed' }>;

const goesOn = (event: MimirEvent): event is Begins =>
  event.type === 'agent.changed' ||
  (event.type === 'agent.status' && (event.status === 'initializing' || event.status === 'pending'));

const DOING: ReadonlySet<string> = new Set([
  'agent.status',
  'model.started',
  'tool.started',
  'agent.told',
  'approval.requested',
]);

/** Who has ended does nothing before it goes on. */
function afterOwnEnd(events: readonly MimirEvent[]): readonly string[] {
  const ended = new Set<string>();
  return events.flatMap((event) => {
    if (event.type === 'agent.finished') ended.add(event.agent);
    if (goesOn(event)) ended.delete(event.agent);
    if (event.type === 'session.resumed') ended.delete(ROOT);
    const agent = 'agent' in event ? event.agent : null;
    return agent !== null && ended.has(agent) && DOING.has(event.type)
      ? [`${event.seq}: ${event.type} of ${agent} after its end`]
      : [];
  });
}

function toldTwice(events: readonly MimirEvent[]): readonly string[] {
  const told = new Set<number>();
  return events.flatMap((event) => {
    if (event.type !== 'agent.told') return [];
    const twice = event.messages.filter((seq) => told.has(seq));
    for (const seq of event.messages) told.add(seq);
    return twice.map((seq) => `${event.seq}: message ${seq} was read twice`);
  });
}

/** Each is answered once, and none is open when the run ends. */
function questions(events: readonly MimirEvent[]): readonly string[] {
  const open = new Set<string>();
  return events.flatMap((event) => {
    if (event.type === 'approval.requested') open.add(event.approval);
    if (event.type === 'approval.answered' && !open.delete(event.approval))
      return [`${event.seq}: ${event.approval} was answered and not asked`];
    if (event.type === 'session.resumed') open.clear();
    if (event.type !== 'session.finished' || open.size === 0) return [];
    return [`${event.seq}: questions are left open: ${[...open].join(', ')}`];
  });
}

function namesTwice(events: readonly MimirEvent[]): readonly string[] {
  const spawned = [...foldAll(events).agents.values()];
  const names = spawned.filter(({ call }) => call === null).map(({ name }) => name);
  return names.filter((name, at) => names.indexOf(name) !== at).map((name) => `two are called ${name}`);
}

/** What the models were paid is what the agents have cost, and what the end of the run says. */
function bill(events: readonly MimirEvent[]): readonly string[] {
  let micro = 0;
  return events.flatMap((event, at) => {
    if (event.type === 'model.finished' || event.type === 'model.failed') micro += toMicro(event.cost ?? 0);
    if (event.type !== 'session.finished') return [];
    const spent = spentOf(foldAll(events.slice(0, at + 1)));
    const same = toMicro(spent.cost) === micro && toMicro(event.totals.cost) === micro;
    return same ? [] : [`${event.seq}: models cost ${micro}, the run says ${event.totals.cost} and ${spent.cost}`];
  });
}
