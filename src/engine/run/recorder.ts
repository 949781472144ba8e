/**
 * The one way into the log. What is recorded is appended, then folded, then told to subscribers: nobody sees what a crash
 * could take back. Keeps no state of its own beside the fold.
 */
import type { SessionId } from '../../domain/ids.ts';
import type { Redactor } from '../../domain/text/redact.ts';
import type { EventOf } from '../../events/by-type.ts';
import type { EventBody, EventType, MimirEvent } from '../../events/event.ts';
import { fold } from '../../events/fold.ts';
import { withoutOutput } from '../../events/child-results.ts';
import type { RunState } from '../../events/state.ts';
import { EMPTY } from '../../events/state.ts';
import type { Log, Some } from '../../ports/log.ts';
import type { World } from '../../ports/world.ts';
import { redactedBody } from '../gate/redaction.ts';
import type { SteadyWorld } from './steady.ts';

export interface Recorder {
  readonly session: SessionId;
  state(): RunState;
  /** In the log when it returns, all or nothing, as `Log.append` promises. Throws `LogFault` when it could not be written. */
  record(...bodies: readonly EventBody[]): readonly MimirEvent[];
  /**
   * What a resume reads of the events that were in the log when it was opened, in order: how the session and its agents began, calls of
   * tools without an end, and what agents knew of files. Empty from the second call on: the first one lets them go.
   */
  takeEarlier(): readonly MimirEvent[];
  /** Stored events after `seq`, without outputs where so asked, then those to come, whole; ends after `session.finished` or `close`. */
  events(afterSeq: number, how?: Pick<Some, 'outputs'>): AsyncIterable<MimirEvent>;
  /** Everything stored, or what came after `after`, read again from the log: all of it, so never for each of many. */
  stored(after?: number): readonly MimirEvent[];
  /** The same, or some of it, one by one, for who keeps little: each walk reads the log anew, and holds a few events at a time. */
  each(some?: Some): Iterable<MimirEvent>;
  /** Tells `heard` of each event from now on, in the step in which it is recorded. */
  onRecord(heard: (event: MimirEvent) => void): void;
  close(): void;
}

/** Without a `redactor` nothing is taken out. A jump of the clock is recorded before what comes next. */
export function openRecorder(
  log: Log,
  session: SessionId,
  world: World & Partial<SteadyWorld>,
  redactor?: Redactor,
): Recorder {
  // Outputs are in the log, and nobody here reads them from the state.
  let state = EMPTY;
  const earlier = new Earlier();
  for (const event of log.each(session, 0, { outputs: false })) {
    state = fold(state, event);
    earlier.hear(event);
  }
  let closed = false;
  const listeners = new Set<(event: MimirEvent) => void>();
  const ends = new Set<() => void>();

  return {
    session,
    state: () => state,
    record(...bodies) {
      const by = world.moved?.() ?? 0;
      const moved: readonly EventBody[] = by === 0 || state.seq === 0 ? [] : [{ type: 'clock.moved', by }];
      const time = new Date(world.now()).toISOString();
      const clean = redactor === undefined ? bodies : bodies.map((body) => redactedBody(body, redactor));
      const events = log.append(session, time, [...moved, ...clean]);
      for (const event of events) state = fold(state, withoutOutput(event));
      for (const event of events) for (const listener of listeners) listener(event);
      return moved.length === 0 ? events : events.slice(moved.length);
    },
    takeEarlier: () => earlier.take(),
    events: (afterSeq, how) =>
      follow({
        after: afterSeq,
        seq: () => state.seq,
        stored: (after) => log.each(session, after, how),
        listeners,
        ends,
        over: () => closed,
      }),
    stored: (after) => log.read(session, after),
    each: (some) => log.each(session, 0, some),
    onRecord: (heard) => void listeners.add(heard),
    close() {
      closed = true;
      for (const end of ends) end();
    },
  };
}

const KEPT: ReadonlySet<EventType> = new Set<EventType>([
  'session.started',
  'session.resumed',
  'budget.changed',
  'agent.created',
  'agent.status',
]);

class Earlier {
  /** By their numbers, in order. */
  readonly #few = new Map<number, MimirEvent>();
  /** Where calls began that have not ended. */
  readonly #open = new Map<string, readonly number[]>();

  hear(event: MimirEvent): void {
    if (KEPT.has(event.type)) this.#few.set(event.seq, event);
    if (event.type === 'tool.started') {
      // Ids of calls may be the model's own, and come again.
      this.#open.set(callOf(event), [...(this.#open.get(callOf(event)) ?? []), event.seq]);
      this.#few.set(event.seq, { ...event, input: null });
    }
    if (event.type !== 'tool.finished') return;
    for (const begun of this.#open.get(callOf(event)) ?? []) this.#few.delete(begun);
    this.#open.delete(callOf(event));
    if (event.saw !== undefined) this.#few.set(event.seq, event);
  }

  /** In order. Once: it is let go. */
  take(): readonly MimirEvent[] {
    const few = [...this.#few.values()];
    this.#few.clear();
    this.#open.clear();
    return few;
  }
}

const callOf = ({ agent, call }: EventOf<'tool.started' | 'tool.finished'>): string => `${agent} ${call}`;

interface Following {
  readonly after: number;
  /** Of the last event that is in the log. */
  readonly seq: () => number;
  readonly stored: (after: number) => Iterable<MimirEvent>;
  readonly listeners: Set<(event: MimirEvent) => void>;
  readonly ends: Set<() => void>;
  readonly over: () => boolean;
}

/**
 * Stored events first, read while the follower takes them, then the events recorded from then on. Memory holds only events that were
 * recorded while the follower took the last stored ones, or later.
 */
async function* follow(following: Following): AsyncGenerator<MimirEvent> {
  const { after, seq, stored, listeners, ends, over } = following;
  let told = after;
  for (const event of stored(told)) {
    told = event.seq;
    yield event;
  }
  // Read the rest and subscribe in one step, so that no event is missed, and reads don't grow with the events that come meanwhile.
  const queue: MimirEvent[] = told < seq() ? [...stored(told)] : [];
  const isClosed = (queue.at(-1)?.seq ?? told) < seq();
  if (isClosed) {
    yield* queue;
    return;
  }
  let wake = (): void => {};
  const heard = (event: MimirEvent): void => {
    queue.push(event);
    wake();
  };
  const ended = (): void => wake();
  listeners.add(heard);
  ends.add(ended);
  try {
    for (;;) {
      const event = queue.shift();
      if (event !== undefined) yield event;
      else if (over()) return;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    listeners.delete(heard);
    ends.delete(ended);
  }
}
