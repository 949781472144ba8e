/** A `Log` in memory with the contract of the real one (test/store/log.test.ts holds both to it). */
import { fromMicro, toMicro } from '../../src/domain/ids.ts';
import type { SessionId } from '../../src/domain/ids.ts';
import type { MimirEvent } from '../../src/events/event.ts';
import { withoutOutput } from '../../src/events/fold-agent.ts';
import type { Log, SessionSummary, Some } from '../../src/ports/log.ts';
import { LogFault } from '../../src/ports/log.ts';

export interface MemoryLog extends Log {
  /** From now on appending throws, as a full disk does; null ends it. */
  fail(words: string | null): void;
}

/** Those that the running test has opened. */
export const memoryLogs: MemoryLog[] = [];

export function memoryLog(): MemoryLog {
  const sessions = new Map<SessionId, MimirEvent[]>();
  const claimed = new Set<SessionId>();
  let fault: string | null = null;
  const log: MemoryLog = {
    append: (session, time, bodies) => {
      if (fault !== null) throw new LogFault(fault);
      const known = sessions.get(session) ?? [];
      const events = bodies.map(
        (body, index): MimirEvent => ({ v: 1, seq: known.length + index + 1, time, session, ...body }),
      );
      known.push(...structuredClone(events));
      if (known.length > 0) sessions.set(session, known);
      return events;
    },
    read: (session, after = 0) => structuredClone((sessions.get(session) ?? []).slice(Math.max(0, after))),
    each: (session, after = 0, some = {}) => ({ [Symbol.iterator]: () => someOf(log.read(session, after), some) }),
    at: (session, seq) => structuredClone(sessions.get(session)?.[seq - 1] ?? null),
    sessions: () => [...sessions].map(([session, events]) => summary(session, events, claimed.has(session))).reverse(),
    claim: (session) => {
      claimed.add(session);
      return { ok: true };
    },
    release: (session) => void claimed.delete(session),
    close: () => undefined,
    fail: (words) => {
      fault = words;
    },
  };
  memoryLogs.push(log);
  return log;
}

function* someOf(events: readonly MimirEvent[], some: Some): Generator<MimirEvent> {
  for (const event of events) if (isOf(event, some)) yield some.outputs === false ? withoutOutput(event) : event;
}

function isOf(event: MimirEvent, { types = [event.type], agents }: Some): boolean {
  const agent = 'agent' in event ? event.agent : null;
  return types.includes(event.type) && (agent === null || agents === undefined || agents.includes(agent));
}

function summary(session: SessionId, events: readonly MimirEvent[], isClaimed: boolean): SessionSummary {
  const first = events[0];
  return {
    session,
    task: first?.type === 'session.started' ? first.task : '',
    startedAt: first?.time ?? '',
    lastAt: events.at(-1)?.time ?? '',
    state: isOver(events) ? 'finished' : isClaimed ? 'running' : 'stopped',
    events: events.length,
    ...endedIn(events),
  };
}

function endedIn(events: readonly MimirEvent[]): Pick<SessionSummary, 'ended' | 'cost'> {
  const last = events.findLast(({ type }) => type === 'session.finished' || type === 'session.resumed');
  if (last?.type !== 'session.finished') {
    const micro = events.reduce(
      (sum, one) => sum + (one.type === 'model.finished' || one.type === 'model.failed' ? toMicro(one.cost ?? 0) : 0),
      0,
    );
    return micro > 0 ? { cost: fromMicro(micro) } : {};
  }
  return { ended: { status: last.status, cost: last.totals.cost, agents: last.totals.agents } };
}

/** A stopped run is not over, and one that was resumed after its end isn't either. */
function isOver(events: readonly MimirEvent[]): boolean {
  const end = events.findLast(({ type }) => type === 'session.finished' || type === 'session.resumed');
  return end?.type === 'session.finished' && end.status !== 'stopped';
}

/** The log of a run that was cut off after these events. */
export function cutLog(session: SessionId, events: readonly MimirEvent[]): MemoryLog {
  const log = memoryLog();
  for (const { v: _, seq: __, time, session: ___, ...body } of events) log.append(session, time, [body]);
  return log;
}

/** The same log; `lengths` are those that it had: what is appended together is in it together or not at all. */
export const lengthsOf = (log: MemoryLog, lengths: number[]): MemoryLog => ({
  ...log,
  append: (session, time, bodies) => {
    const events = log.append(session, time, bodies);
    lengths.push(events.at(-1)?.seq ?? 0);
    return events;
  },
});
