/** From the word that a person or an agent wrote to the session that it means. A miss is exit 2, with what there is. */
import { nearest } from '../../domain/text/nearest.ts';
import type { SessionId } from '../../domain/ids.ts';
import { type Miss, foundIn } from '../../events/sessions/find.ts';
import type { SessionRecord } from '../../events/sessions/record.ts';
import { EXIT, Exit } from '../../app/process/exit.ts';
import { harmless } from '../../app/process/io.ts';
import type { Delivery, Receipt } from '../../ports/controls.ts';
import type { Seat, Seen } from '../../ports/control.ts';

export interface Target {
  readonly seen: Seen;
  readonly record: SessionRecord;
}

/** So many are named that may be meant. */
const NEAR = 4;
/** Runs that are looked through for a name that the newest doesn't know. */
const FAR = 20;

/** The run that is meant where none is named: the newest that lives, else the newest. Null: there is none yet. */
export function usualRun(seat: Seat): SessionId | null {
  const runs = seat.runs();
  return (runs.find(({ state }) => state === 'running') ?? runs[0])?.session ?? null;
}

/** The usual run, seen; exit 2 where there is none. */
export async function usualSeen(seat: Seat): Promise<Seen> {
  const session = usualRun(seat);
  if (session === null) throw nothingYet();
  return seat.look(session);
}

const nothingYet = (): Exit =>
  new Exit(
    EXIT.wrongUse,
    'there is no session of this project yet\n  `mimir` starts one, `mimir spawn "<prompt>"` an agent in one',
  );

/** Who calls; for a person ROOT of the run that `run` begins, of the usual one without it. */
export async function selfOf(seat: Seat, run?: string): Promise<Target> {
  const seen = run === undefined ? await usualSeen(seat) : await seat.look(runNamed(seat, run));
  const record = seen.family.sessions.find(({ agent }) => agent === (seat.as ?? 'ROOT'));
  if (record === undefined) throw new Exit(EXIT.wrongUse, `run ${seen.family.run} has no agents yet\n  wait a moment`);
  return { seen, record };
}

/** The session that `word` names: `ROOT::S1`, `SESSION/ROOT::S1`, a session's id (its ROOT), a short id, a name. */
export async function targetOf(seat: Seat, word: string): Promise<Target> {
  const [, run, inner] = /^([^/]+)\/(.+)$/.exec(word) ?? [];
  if (run !== undefined && inner !== undefined) return inRun(seat, runNamed(seat, run), inner);
  const runs = ordered(seat);
  if (runs.length === 0) throw nothingYet();
  const whole = runs.find(({ session }) => session === word);
  if (whole !== undefined) return inRun(seat, whole.session, 'ROOT');
  return (await wherever(seat, word)) ?? byStart(seat, word);
}

/** Newest first, those that live before the others. */
const ordered = (seat: Seat): ReturnType<Seat['runs']> => {
  const runs = seat.runs();
  return [...runs.filter(({ state }) => state === 'running'), ...runs.filter(({ state }) => state !== 'running')];
};

async function wherever(seat: Seat, word: string): Promise<Target | null> {
  for (const { session } of ordered(seat).slice(0, FAR)) {
    const seen = await seat.look(session);
    const found = foundIn(seen.family, word);
    if (found.ok) return { seen, record: found.value };
    if (found.fault.is === 'several') throw missed(word, found.fault);
  }
  return null;
}

/** The start of a session's id is enough where it is the only one; else nothing is meant. */
async function byStart(seat: Seat, word: string): Promise<Target> {
  const begin = ordered(seat).filter(({ session }) => word.length >= 3 && session.startsWith(word));
  const [one] = begin;
  if (one !== undefined && begin.length === 1) return inRun(seat, one.session, 'ROOT');
  const { family } = await usualSeen(seat);
  throw unknown(word, family.sessions);
}

async function inRun(seat: Seat, session: SessionId, word: string): Promise<Target> {
  const seen = await seat.look(session);
  const found = foundIn(seen.family, word);
  if (found.ok) return { seen, record: found.value };
  throw found.fault.is === 'several' ? missed(word, found.fault) : unknown(word, seen.family.sessions);
}

function runNamed(seat: Seat, word: string): SessionId {
  const found = seat.runs().filter(({ session }) => word !== '' && session.startsWith(word));
  const one = found.find(({ session }) => session === word) ?? (found.length === 1 ? found[0] : undefined);
  if (one !== undefined) return one.session;
  const words = found.length > 1 ? `${found.length} sessions begin with "${word}"` : `there is no session "${word}"`;
  throw new Exit(
    EXIT.wrongUse,
    seat.as === null
      ? `${words} of this project\n  \`mimir sessions\` lists them`
      : `${words} here: an agent reaches those of its own run only\n  \`mimir others\` lists them`,
  );
}

function missed(word: string, { candidates }: Miss): Exit {
  const lines = candidates.map((one) => `  ${one.agent} (${one.session_id})  ${one.status}`);
  return new Exit(
    EXIT.wrongUse,
    `${candidates.length} sessions are called "${word}"\n${lines.join('\n')}\n  name one by its id`,
  );
}

function unknown(word: string, sessions: readonly SessionRecord[]): Exit {
  const names = new Map(sessions.flatMap((one) => [one.name, one.session_id, one.agent].map((name) => [name, one])));
  const low = word.toLowerCase();
  const begun = [...names].filter(([name]) => low.length > 1 && name.toLowerCase().startsWith(low));
  const close = names.get(nearest(word, [...names.keys()]) ?? '');
  const near = begun.length > 0 ? [...new Set(begun.map(([, one]) => one))] : close === undefined ? [] : [close];
  const some = sessions.slice(0, 12).map(named).join(', ');
  const hint =
    near.length === 0
      ? `there are ${some}${sessions.length > 12 ? ', …; `mimir all` lists them' : ''}`
      : `did you mean ${near.slice(0, NEAR).map(named).join(' or ')}${near.length > NEAR ? ' or …' : ''}?`;
  return new Exit(
    EXIT.wrongUse,
    `there is no session "${word}"\n  ${sessions.length === 0 ? '`mimir all` lists them' : hint}`,
  );
}

/** `engineer-task1 (4f9a2c)` */
export const named = ({ name, session_id }: Pick<SessionRecord, 'name' | 'session_id'>): string =>
  `${harmless(name).replaceAll('\n', ' ')} (${session_id})`;

/** What becomes of a text for somebody at work. */
export const BY_DELIVERY: Readonly<Record<Delivery, Sent>> = {
  sequential: 'queued',
  important: 'sent',
  urgent: 'interrupted',
};

/** What became of the text, in words that scripts rely on. */
export function sentWords({ record }: Pick<Target, 'record'>, sent: Sent): string {
  if (sent === 'queued') return `Queued for ${record.session_id} (will inject when idle)`;
  if (sent === 'resumed') return `Input sent to ${named(record)}`;
  return `Input sent to ${record.session_id}${sent === 'interrupted' ? ' (interrupted)' : ''}`;
}

type Sent = NonNullable<Receipt['sent']>;
