/** `mimir me`: shows the caller: an agent with its place, or a person. */
import { userInfo } from 'node:os';
import type { SessionRecord } from '../../events/index.ts';
import { type Arguments, sanitise, type Io } from '../../app/process/index.ts';
import { named, sessionVerb, usualRun } from '../sessions/target.ts';
import { spentWords } from '../sessions/rows.ts';
import { tell } from '../verb.ts';
import type { SessionClient, Seen } from '../../ports/control.ts';

export const meVerb = sessionVerb('me', (args, io) => async (client) => {
  const session = usualRun(client);
  const seen = session === null ? null : await client.look(session);
  if (client.as === null || seen === null) sayPerson(seen, args, io);
  else sayAgent(client, seen, args, io);
});

function sayAgent({ as }: SessionClient, { family }: Seen, args: Arguments, io: Io): void {
  const you = family.sessions.find(({ agent }) => agent === as) ?? null;
  const parent = family.sessions.find(({ session_id }) => session_id === you?.parent_session_id) ?? null;
  const notYet = `You are ${String(as)} of run ${family.run}, which has not started you yet`;
  const lines = you === null ? [notYet] : agentLines(you, parent, family.mode);
  tell(args, io, { you, parent, person: null, run: family.run, mode: family.mode }, lines);
}

const agentLines = (you: SessionRecord, parent: SessionRecord | null, mode: string): readonly string[] =>
  [
    `You are ${named(you)}, ${you.agent} of run ${you.run}`,
    `  Role:   ${you.role} · ${you.model}`,
    `  Parent: ${parent === null ? 'none, you are the root' : named(parent)}`,
    `  Folder: ${you.working_dir}`,
    `  Mode:   ${mode}`,
    `  Used:   ${spentWords(you)}`,
  ].map((line) => sanitise(line).replaceAll('\n', ' '));

function sayPerson(seen: Seen | null, args: Arguments, io: Io): void {
  const person = userName(io);
  const family = seen?.family ?? null;
  tell(args, io, { you: null, parent: null, person, run: family?.run ?? null, mode: family?.mode ?? null }, [
    sanitise(`You are ${person}, a person. You may use every session here.`),
    family === null
      ? '  No runs in this project yet: `mimir` starts one'
      : `  Newest run: ${family.run}, ${family.state}: \`mimir status\` shows it`,
  ]);
}

function userName({ env }: Io): string {
  try {
    return userInfo().username;
  } catch {
    return env['USER'] ?? 'unknown user';
  }
}
