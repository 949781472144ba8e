/** `mimir me`: who calls: an agent and its place, or a person. */
import { userInfo } from 'node:os';
import type { SessionRecord } from '../../events/sessions/record.ts';
import { CWD, JSON_FLAG } from '../../app/process/flags/plain.ts';
import { EXIT } from '../../app/process/exit.ts';
import type { Arguments } from '../../app/process/flags/flags.ts';
import { type Io, harmless } from '../../app/process/io.ts';
import { fieldLines, WHICH_LOOK } from '../sessions/fields.ts';
import { seated } from '../../app/client/session-client.ts';
import { named, usualRun } from '../sessions/target.ts';
import { spentWords } from '../sessions/words.ts';
import type { Verb } from '../verb.ts';
import type { Seat, Seen } from '../../ports/control.ts';

export const meVerb: Verb = {
  usage: 'mimir me [--json]',
  summary: 'Says who you are: an agent with its place in the run, or a person.',
  example: 'mimir me',
  words: 0,
  flags: { ...JSON_FLAG, ...CWD },
  notes: [
    ...fieldLines('--json prints an object:', {
      you: 'a record as of `mimir children --json`; null for a person',
      parent: 'the same of its parent, or null',
      person: 'the name of the user; null for an agent',
      run: 'id of the run: the own one, for a person the newest; null without one',
      mode: 'mode of that run, or null',
    }),
    ...WHICH_LOOK,
  ],
  run: me,
};

function me(args: Arguments, io: Io): Promise<number> {
  return seated(args, io, async (seat) => {
    const session = usualRun(seat);
    const seen = session === null ? null : await seat.look(session);
    if (seat.as === null || seen === null) sayPerson(seen, args, io);
    else sayAgent(seat, seen, args, io);
    return EXIT.done;
  });
}

function sayAgent({ as }: Seat, { family }: Seen, args: Arguments, io: Io): void {
  const you = family.sessions.find(({ agent }) => agent === as) ?? null;
  const parent = family.sessions.find(({ session_id }) => session_id === you?.parent_session_id) ?? null;
  if (args.has('json')) io.json({ you, parent, person: null, run: family.run, mode: family.mode });
  else if (you === null) io.say(`You are ${String(as)} of run ${family.run}, which has not begun you yet`);
  else for (const line of agentLines(you, parent, family.mode)) io.say(line);
}

const agentLines = (you: SessionRecord, parent: SessionRecord | null, mode: string): readonly string[] =>
  [
    `You are ${named(you)}, ${you.agent} of run ${you.run}`,
    `  Role:   ${you.role} · ${you.model}`,
    `  Parent: ${parent === null ? 'none, you are the root' : named(parent)}`,
    `  Folder: ${you.working_dir}`,
    `  Mode:   ${mode}`,
    `  Used:   ${spentWords(you)}`,
  ].map((line) => harmless(line).replaceAll('\n', ' '));

function sayPerson(seen: Seen | null, args: Arguments, io: Io): void {
  const person = userName(io);
  const family = seen?.family ?? null;
  if (args.has('json')) {
    io.json({ you: null, parent: null, person, run: family?.run ?? null, mode: family?.mode ?? null });
    return;
  }
  io.say(harmless(`You are ${person}: a person, no agent. You may ask anything of any session here.`));
  io.say(
    family === null
      ? '  Nothing was run in this project yet: `mimir` starts something'
      : `  Newest run: ${family.run}, ${family.state}: \`mimir status\` shows it`,
  );
}

function userName({ env }: Io): string {
  try {
    return userInfo().username;
  } catch {
    return env['USER'] ?? 'somebody';
  }
}
