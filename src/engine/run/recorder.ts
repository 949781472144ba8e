/**
 * The one way into the log. What is recorded is appended, then folded, then told to subscribers: nobody sees what a crash
 * could take back. Keeps no state of its own beside the fold.
 */
import type { SessionId } from '../../domain/ids.ts';
import type { Redactor } from '../../domain/text/redact.ts';
import type { EventBody, MimirEvent } from '../../events/event.ts';
import { fold, foldAll } from '../../events/fold.ts';
import type { RunState } from '../../events/state.ts';
import type { Log } from '../../ports/log.ts';
import type { World } from '../../ports/world.ts';
import { redactedBody } from '../gate/redaction.ts';
import type { SteadyWorld } from './steady.ts';

export interface Recorder {
  readonly session: SessionId;
  state(): RunState;
  /** In the log when it returns, all or nothing, as `Log.append` promises. Throws `LogFault` when it could not be written. */
  record(...bodies: readonly EventBody[]): readonly MimirEvent[];
  /** Stored events after `seq`, then those to come; ends after `session.finished` or `close`. */
  events(afterSeq: number): AsyncIterable<MimirEvent>;
  /** Everything stored, or what came after `after`, read again from the log: all of it, so never for each of many. */
  stored(after?: number): readonly MimirEvent[];
  /** The same one by one, for who keeps little of it: each walk reads the log anew, and holds a few events at a time. */
  each(): Iterable<MimirEvent>;
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
  let state = foldAll(log.each(session));
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
      for (const event of events) state = fold(state, event);
      for (const event of events) for (const listener of listeners) listener(event);
      return moved.length === 0 ? events : events.slice(moved.length);
    },
    events: (afterSeq) =>
      follow({
        backlog: () => log.read(session, afterSeq),
        listeners,
        ends,
        over: () => closed,
      }),
    stored: (after) => log.read(session, after),
    each: () => log.each(session),
    onRecord: (heard) => void listeners.add(heard),
    close() {
      closed = true;
      for (const end of ends) end();
    },
  };
}

interface Following {
  readonly backlog: () => readonly MimirEvent[];
  readonly listeners: Set<(event: MimirEvent) => void>;
  readonly ends: Set<() => void>;
  readonly over: () => boolean;
}

/** Backlog first, then what is recorded from now on. Read and subscribed in one step, at the first `next`: none is missed. */
async function* follow({ backlog, listeners, ends, over }: Following): AsyncGenerator<MimirEvent> {
  const queue: MimirEvent[] = [...backlog()];
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
