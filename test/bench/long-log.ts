/**
 * The log of a long session: what agents of a real run began and ended with, and between that the steps of recorded runs of real
 * work, written by the real store. The last agents are cut off at work, as by the end of a machine.
 */
import type { AgentId, SessionId } from '../../src/domain/ids.ts';
import { CallId, ROOT } from '../../src/domain/ids.ts';
import type { EventBody, MimirEvent } from '../../src/events/event.ts';
import type { EventOf } from '../../src/events/event.ts';
import type { Log } from '../../src/ports/log.ts';
import { openLog, openLogReadOnly } from '../../src/store/log.ts';
import type { Trajectory } from '../support/replay.ts';
import { trajectories } from '../support/replay.ts';
import type { Setting } from './headless.ts';
import { mimirRun } from './headless.ts';
import type { Place } from './place.ts';
import { prose } from './work.ts';

export interface LongLog {
  readonly agents: number;
  /** Of these the last ones, which had not ended. */
  readonly cut: number;
  /** About as large as the database is to be. */
  readonly bytes: number;
}

/** Outputs are so many times as long as those of the recorded runs, whose shell cut them; none is longer than `MOST`. */
const LARGER = 8;
const MOST = 200_000;
/** Bytes of a step beside its texts. */
const STEP = 2500;

/** Writes it in the place of the place's log; its session. The double answers a run whose agents read one file. */
export async function writeLongLog(setting: Setting, { agents, cut, bytes }: LongLog): Promise<SessionId> {
  const { place } = setting;
  await mimirRun(setting, agents);
  const [session, real] = newest(place);
  place.forget();
  const log = openLog(storeOf(place));
  const told = new Set<AgentId>();
  const isCut = (agent: AgentId): boolean => Number(agent.slice(`${ROOT}::S`.length)) > agents - cut;
  for (const event of real.slice(0, real.findIndex(isOver))) {
    const { v: _v, seq: _seq, time, session: _session, ...body } = event;
    const agent = 'agent' in event ? event.agent : null;
    if (agent !== null && told.has(agent) && isCut(agent)) continue;
    log.append(session, time, [body]);
    if (event.type !== 'tool.finished' || told.has(event.agent)) continue;
    const appending = { log, session, time, pattern: patternOf(real, event.agent) };
    if (isCut(event.agent)) appendRuns(appending, { from: told.size, bytes: 1, larger: 1 });
    else appendRuns(appending, { from: told.size, bytes: bytes / (agents - cut), larger: LARGER });
    told.add(event.agent);
  }
  log.close();
  return session;
}

/** From here on the run is told to its end. */
const isOver = (event: MimirEvent): boolean => event.type === 'model.started' && event.purpose === 'merge';

const RUNS = trajectories();

/** Recorded runs one after the other, from the one with that number on, until that much is written. */
function appendRuns(
  to: Appending,
  { from, bytes, larger }: { readonly from: number; readonly bytes: number; readonly larger: number },
): void {
  let at = from;
  for (let done = 0; done < bytes; at += 1) {
    const run = RUNS[at % RUNS.length];
    if (run !== undefined) done += appendRun(to, run, larger);
  }
}

const storeOf = ({ env, project }: Place) => ({ stateDir: `${env['XDG_STATE_HOME'] ?? ''}/mimir`, project });

function newest(place: Place): [SessionId, readonly MimirEvent[]] {
  const reader = openLogReadOnly(storeOf(place));
  try {
    const session = reader.sessions()[0]?.session;
    if (session === undefined) throw new Error('nothing was run');
    return [session, reader.read(session)];
  } finally {
    reader.close();
  }
}

/** One turn as this agent had it: the steps are like it. */
interface Pattern {
  readonly asked: EventOf<'model.started'>;
  readonly replied: EventOf<'model.finished'>;
  readonly began: EventOf<'tool.started'>;
  readonly ended: EventOf<'tool.finished'>;
}

function patternOf(real: readonly MimirEvent[], agent: AgentId): Pattern {
  const own = real.filter((event) => 'agent' in event && event.agent === agent);
  const asked = own.find((event) => event.type === 'model.started');
  const replied = own.find((event) => event.type === 'model.finished');
  const began = own.find((event) => event.type === 'tool.started');
  const ended = own.find((event) => event.type === 'tool.finished');
  if (asked && replied && began && ended) return { asked, replied, began, ended };
  throw new Error(`${agent} called no tool`);
}

interface Appending {
  readonly log: Log;
  readonly session: SessionId;
  readonly time: string;
  readonly pattern: Pattern;
}

let calls = 0;
const TEXT = prose(MOST);

/** So many characters of plain text that is like no other. */
const textOf = (length: number): string => {
  const head = `${(calls += 1)} `.slice(0, length);
  return head + TEXT.slice(0, length - head.length);
};

/** Appends what one recorded run did; about how many bytes it was. */
function appendRun({ log, session, time, pattern }: Appending, { steps }: Trajectory, larger: number): number {
  let bytes = 0;
  const bodies = steps.flatMap(([said, command, output]): readonly EventBody[] => {
    const [ask, call] = [CallId.parse(`long-${(calls += 1)}`), CallId.parse(`used-${calls}`)];
    const { asked, replied, began, ended } = pattern;
    const [input, length] = [{ command: textOf(command) }, Math.min(output * larger, MOST)];
    bytes += STEP + said + command + length;
    return [
      { ...bodyOf(asked), call: ask },
      { ...bodyOf(replied), call: ask, calls: replied.calls.map((one) => ({ ...one, id: call, input })) },
      { type: 'agent.message', agent: asked.agent, call: ask, text: textOf(said) },
      { ...bodyOf(began), call, input },
      { ...bodyOf(ended), call, output: textOf(length) },
    ];
  });
  log.append(session, time, bodies);
  return bytes;
}

function bodyOf<T extends MimirEvent>(event: T): Omit<T, 'v' | 'seq' | 'time' | 'session'> {
  const { v: _v, seq: _seq, time: _time, session: _session, ...body } = event;
  return body;
}
