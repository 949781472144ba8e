/** The only way into the log. Each event is appended, then folded, then passed to subscribers, so nobody sees an event
 * that a crash could lose. No state is kept beside the fold. */
import { planDigest } from '../../domain/digest.ts';
import type { Millis, SessionId } from '../../domain/ids.ts';
import type { SoundPlan } from '../../domain/plan/plan.ts';
import { cleanData, type Redactor } from '../../domain/text/redact.ts';
import { type EventBody, fold, type MimirEvent, ResumedLog, type RunState, withoutOutput } from '../../events/index.ts';
import type { Tick } from '../../ports/controls.ts';
import type { Log, Some } from '../../ports/log.ts';
import type { World } from '../../ports/world.ts';

export type Recorder = ReturnType<typeof openRecorder>;

interface Follower {
  readonly queue: MimirEvent[];
  wake(): void;
}

/** Without a `redactor` nothing is removed. A jump of the clock is recorded before the next event. `folded`: the part of
 * the log that was read already; the rest is read now. */
export function openRecorder(
  log: Log,
  session: SessionId,
  world: World & Partial<Pick<SteadyWorld, 'clockJump'>>,
  redactor?: Redactor,
  folded: ResumedLog = new ResumedLog(),
) {
  // The state needs no outputs; they stay in the log.
  for (const event of log.each(session, folded.state.seq, { outputs: false })) folded.hear(event);
  let { state } = folded;
  let closed = false;
  const listeners = new Set<(event: MimirEvent) => void>();
  const followers = new Set<Follower>();

  return {
    session,
    initial: state,
    /** The state at the last end before that which was not a stop; empty without one. */
    lastEnd: folded.lastEnd,
    state: (): RunState => state,
    /** Appends the events, all or nothing, as `Log.append` promises. Throws `LogFault` when they could not be written. */
    record(...bodies: readonly EventBody[]): readonly MimirEvent[] {
      const by = world.clockJump?.() ?? 0;
      const moved: readonly EventBody[] = by === 0 || state.seq === 0 ? [] : [{ type: 'clock.moved', by }];
      const clean = bodies.map((body) => redactedBody(body, redactor));
      const events = log.append(session, new Date(world.now()).toISOString(), [...moved, ...clean]);
      for (const event of events) state = fold(state, withoutOutput(event));
      for (const follower of followers) {
        follower.queue.push(...events);
        follower.wake();
      }
      for (const event of events) for (const listener of listeners) listener(event);
      return events.slice(moved.length);
    },
    /** Events from before the recorder was opened that a resume needs, in order: starts of the session and its agents,
     * tool calls without an end, and what agents knew of files. Empty from the second call on, to free the memory. */
    takeEarlier: () => folded.take(),
    /** Stored events after `after` (without outputs if so requested), read at the follower's pace, then new events; ends after
     * `session.finished` or `close`. Memory holds only events recorded while the follower reads the last stored ones, or later. */
    async *events(after: number, how?: Pick<Some, 'outputs'>): AsyncGenerator<MimirEvent> {
      let lastSeq = after;
      for (const event of log.each(session, after, how)) {
        lastSeq = event.seq;
        yield event;
      }
      // Read the rest and subscribe in one step, so that no event is missed and the amount read does not grow with new events.
      const queue = lastSeq < state.seq ? [...log.each(session, lastSeq, how)] : [];
      const isOver = (queue.at(-1)?.seq ?? lastSeq) < state.seq;
      const follower: Follower = { queue, wake: () => {} };
      if (!isOver) followers.add(follower);
      try {
        for (;;) {
          const event = queue.shift();
          if (event !== undefined) yield event;
          else if (isOver || closed) return;
          else await new Promise<void>((resolve) => (follower.wake = resolve));
        }
      } finally {
        followers.delete(follower);
      }
    },
    /** Reads stored events after `after` one by one; each iteration reads the log again and holds only a few events. */
    each: (after = 0, some?: Some) => log.each(session, after, some),
    /** Calls `listener` for each new event, synchronously when it is recorded. */
    onRecord: (listener: (event: MimirEvent) => void): void => void listeners.add(listener),
    close(): void {
      closed = true;
      for (const follower of followers) follower.wake();
    },
  };
}

export interface SteadyWorld extends World {
  /** By how much the wall clock jumped since the last call, in milliseconds; 0 without a jump. Afterwards `now` follows the wall clock again. */
  clockJump(): Millis;
}

/** Smaller differences are usual clock corrections. */
const JUMP: Millis = 1000;

export function steadyWorld(world: World): SteadyWorld {
  let [wall, passed] = [world.now(), world.elapsed()];
  const now = (): Millis => wall + (world.elapsed() - passed);
  return {
    ...world,
    now,
    clockJump: () => {
      const by = world.now() - now();
      [wall, passed] = [world.now(), world.elapsed()];
      return Math.abs(by) < JUMP ? 0 : Math.round(by);
    },
  };
}

// Secrets are removed from everything recorded or shown. Texts for a model lose only known keys: text that merely looks
// like a key may be a line to edit.

function redactedBody(body: EventBody, redactor: Redactor | undefined): EventBody {
  if (redactor === undefined || !holdsSecret(body, redactor.clean)) return body;
  const copy = cleanData(body, redactor.clean);
  if (!isBody(copy)) return body;
  // The digest must match the plan as recorded, which is the one that is approved and carried out.
  const hasPlan = copy.type === 'plan.proposed' || copy.type === 'plan.edited' || copy.type === 'plan.amended';
  return hasPlan ? { ...copy, digest: planDigest(copy.plan) } : copy;
}

/** The plan as it will be recorded, so that a person approves exactly what is carried out. */
export function redactedPlan(plan: SoundPlan, redactor: Redactor | undefined): SoundPlan {
  const body = redactedBody({ type: 'plan.amended', plan, digest: '', changes: [], by: 'person' }, redactor);
  return body.type === 'plan.amended' ? body.plan : plan;
}

function holdsSecret(value: unknown, clean: Redactor['clean']): boolean {
  if (typeof value === 'string') return clean(value) !== value;
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).some((part) => holdsSecret(part, clean));
}

/** Redaction changes only strings, and never `type`. */
const isBody = (value: unknown): value is EventBody => typeof value === 'object' && value !== null && 'type' in value;

/** Redacts streamed text: a possible beginning of a secret is held back until more text arrives. The end of a text may
 * therefore be missing here; the event that follows has it. */
export function redactedTicks(show: (tick: Tick) => void, { clean, open }: Redactor): (tick: Tick) => void {
  const pending = new Map<string, string>();
  return ({ delta, ...of }) => {
    const name = JSON.stringify([of.agent, of.is, of.tool]);
    const text = (pending.get(name) ?? '') + delta;
    const growing = open(text);
    // Held back unredacted, so that a key that arrives in pieces is recognised and removed whole.
    const cut = text.length - (growing > LONGEST_PENDING ? 0 : growing);
    pending.set(name, text.slice(cut));
    if (cut > 0) show({ ...of, delta: clean(text.slice(0, cut)) });
  };
}

/** Characters; longer than the longest private key. */
const LONGEST_PENDING = 24_000;
