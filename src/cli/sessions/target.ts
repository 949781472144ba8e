/** Finds the session that a word names, for the session commands. Exits with 2 and suggestions if there is none. */
import { nearest } from '../../domain/text/text.ts';
import type { SessionId } from '../../domain/ids.ts';
import { foundIn, type Miss, type RunSessions, type SessionRecord } from '../../events/index.ts';
import { withSessionClient } from '../../app/client/index.ts';
import { type Arguments, type Exit, sanitise, type Io, wrongUse } from '../../app/process/index.ts';
import type { Delivery, Receipt } from '../../ports/controls.ts';
import type { SessionClient, Seen } from '../../ports/control.ts';
import { command, type Verb } from '../verb.ts';

/** A session command: `run` checks the arguments; the returned function then uses the caller's client. */
export const sessionVerb = (
  name: Parameters<typeof command>[0],
  run: (args: Arguments, io: Io) => (client: SessionClient) => Promise<void>,
): Verb => command(name, (args, io) => withSessionClient(args, io, run(args, io)));

/** The required argument that names a session. */
export function idIn({ words: [word] }: Arguments, verb: string): string {
  if (word !== undefined) return word;
  throw wrongUse(`missing argument: ID\n  mimir ${verb} ID; \`mimir children --recursive\` lists them`);
}

export interface Target {
  readonly seen: Seen;
  readonly record: SessionRecord;
}

const NEAR = 4;
const FAR = 20;

/** The default run: the newest active one, otherwise the newest. Null if there is none yet. */
export function usualRun(client: SessionClient): SessionId | null {
  const runs = client.runs();
  return (runs.find(({ state }) => state === 'running') ?? runs[0])?.session ?? null;
}

/** Snapshots of these runs, each read when it is asked for. */
export async function* lookAt(client: SessionClient, runs: readonly SessionId[]): AsyncIterable<RunSessions> {
  for (const session of runs) yield (await client.look(session)).family;
}

/** A snapshot of the default run; exits with 2 if there is none. */
export async function usualSeen(client: SessionClient): Promise<Seen> {
  const session = usualRun(client);
  if (session === null) throw nothingYet();
  return client.look(session);
}

const nothingYet = (): Exit =>
  wrongUse('this project has no sessions yet\n  `mimir` starts one; `mimir spawn "<prompt>"` starts one with an agent');

/** The caller; for a person, ROOT of the run whose id begins with `run`, or of the default run. */
export async function selfOf(client: SessionClient, run?: string): Promise<Target> {
  const seen = run === undefined ? await usualSeen(client) : await client.look(runNamed(client, run));
  const record = seen.family.sessions.find(({ agent }) => agent === (client.as ?? 'ROOT'));
  if (record === undefined) throw wrongUse(`run ${seen.family.run} has no agents yet\n  wait a moment`);
  return { seen, record };
}

/** The session that `word` names: `ROOT::S1`, `SESSION/ROOT::S1`, a session's id (its ROOT), a short id, a name. */
export async function targetOf(client: SessionClient, word: string): Promise<Target> {
  const [, run, inner] = /^([^/]+)\/(.+)$/.exec(word) ?? [];
  if (run !== undefined && inner !== undefined) return inRun(client, runNamed(client, run), inner);
  const runs = ordered(client);
  if (runs.length === 0) throw nothingYet();
  const whole = runs.find(({ session }) => session === word);
  if (whole !== undefined) return inRun(client, whole.session, 'ROOT');
  return (await wherever(client, word)) ?? byStart(client, word);
}

/** Active runs first, then the newest. */
const ordered = (client: SessionClient): ReturnType<SessionClient['runs']> => {
  const runs = client.runs();
  return [...runs.filter(({ state }) => state === 'running'), ...runs.filter(({ state }) => state !== 'running')];
};

async function wherever(client: SessionClient, word: string): Promise<Target | null> {
  for (const { session } of ordered(client).slice(0, FAR)) {
    const seen = await client.look(session);
    const found = foundIn(seen.family, word);
    if (found.ok) return { seen, record: found.value };
    if (found.fault.is === 'several') throw missed(word, found.fault);
  }
  return null;
}

/** Accepts the start of a session id if only one id begins so. */
async function byStart(client: SessionClient, word: string): Promise<Target> {
  const begin = ordered(client).filter(({ session }) => word.length >= 3 && session.startsWith(word));
  const [one] = begin;
  if (one !== undefined && begin.length === 1) return inRun(client, one.session, 'ROOT');
  const { family } = await usualSeen(client);
  throw unknown(word, family.sessions);
}

async function inRun(client: SessionClient, session: SessionId, word: string): Promise<Target> {
  const seen = await client.look(session);
  const found = foundIn(seen.family, word);
  if (found.ok) return { seen, record: found.value };
  throw found.fault.is === 'several' ? missed(word, found.fault) : unknown(word, seen.family.sessions);
}

function runNamed(client: SessionClient, word: string): SessionId {
  const found = client.runs().filter(({ session }) => word !== '' && session.startsWith(word));
  const one = found.find(({ session }) => session === word) ?? (found.length === 1 ? found[0] : undefined);
  if (one !== undefined) return one.session;
  const words = found.length > 1 ? `${found.length} sessions start with "${word}"` : `there is no session "${word}"`;
  throw wrongUse(
    client.as === null
      ? `${words} of this project\n  \`mimir sessions\` lists them`
      : `${words} here: agents can reach only sessions of their own run\n  \`mimir others\` lists them`,
  );
}

function missed(word: string, { candidates }: Miss): Exit {
  const lines = candidates.map((one) => `  ${one.agent} (${one.session_id})  ${one.status}`);
  return wrongUse(
    `${candidates.length} sessions are named "${word}"\n${lines.join('\n')}\n  use the id of one of them`,
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
  return wrongUse(`there is no session "${word}"\n  ${sessions.length === 0 ? '`mimir all` lists them' : hint}`);
}

/** `engineer-task1 (4f9a2c)` */
export const named = ({ name, session_id }: Pick<SessionRecord, 'name' | 'session_id'>): string =>
  `${sanitise(name).replaceAll('\n', ' ')} (${session_id})`;

/** What happens to a message for a busy session. */
export const BY_DELIVERY: Readonly<Record<Delivery, Sent>> = {
  sequential: 'queued',
  important: 'sent',
  urgent: 'interrupted',
};

/** Says what happened to the message. Scripts rely on these texts. */
export function sentWords({ record }: Pick<Target, 'record'>, sent: Sent): string {
  if (sent === 'queued') return `Queued for ${record.session_id} (will inject when idle)`;
  if (sent === 'resumed') return `Input sent to ${named(record)}`;
  return `Input sent to ${record.session_id}${sent === 'interrupted' ? ' (interrupted)' : ''}`;
}

type Sent = NonNullable<Receipt['sent']>;
