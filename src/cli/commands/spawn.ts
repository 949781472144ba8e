/** `mimir spawn`: a child of the calling agent, of ROOT for a person; it works on its own. */
import type { AgentId, SessionId } from '../../domain/ids.ts';
import type { Receipt } from '../../ports/controls.ts';
import type { SessionRecord } from '../../events/sessions/record.ts';
import { CWD, JSON_FLAG } from '../../app/process/flags/plain.ts';
import { EXIT, Exit } from '../../app/process/exit.ts';
import type { Arguments } from '../../app/process/flags/flags.ts';
import type { Io } from '../../app/process/io.ts';
import { fieldLines, only, picked, RECORD, SPAWNED } from '../sessions/fields.ts';
import { doneOrExit, doorOf, seated } from '../../app/client/session-client.ts';
import { named, selfOf } from '../sessions/target.ts';
import { requireFolder, wishFrom, withFolder } from '../sessions/spawn-request.ts';
import type { Verb } from '../verb.ts';
import type { Seat } from '../../ports/control.ts';

export const spawnVerb: Verb = {
  usage: 'mimir spawn [ROLE] "<prompt>" [options]',
  summary: 'Starts a child session that works on its own, and returns at once; its end is told to whoever spawned it.',
  example: 'mimir spawn code "Implement the cache of src/http" --name cache --wait 600',
  words: 2,
  flags: {
    model: { value: 'M', help: "instead of the role's own: opus, sonnet, haiku or the name of a model" },
    wait: { value: 'SECONDS', help: 'wake the parent when the child has ended, or was idle this long' },
    name: {
      value: 'NAME',
      help: 'what it is called, with ROLE before it where one is given: `scout` finds `finder-scout`',
    },
    run: { value: 'SESSION', help: 'the run, by the start of its id (default: the newest that goes on, or a new one)' },
    'working-dir': { value: 'DIR', help: "where its commands start (default: the parent's)" },
    ...JSON_FLAG,
    ...CWD,
  },
  notes: fieldLines('--json prints an object:', only(RECORD, SPAWNED)),
  run: spawn,
};

async function spawn(args: Arguments, io: Io): Promise<number> {
  const wish = wishFrom(args);
  // A run without a plan that waits for children, where none lives.
  const isFirst =
    doorOf(io) === null &&
    !args.has('run') &&
    (await (
      await import('../../app/hosting/first-run.ts')
    ).startFirstRun(args, io, (root) => requireFolder(wish, root, io)));
  return seated(args, io, async (seat) => {
    const { record, seen } = await selfOf(seat, args.get('run'));
    const root = seen.family.sessions[0]?.working_dir ?? record.working_dir;
    const command = { do: 'spawn', parent: record.agent, wish: withFolder(wish, root, io) } as const;
    const done = await seat.submit(record.run, command);
    // Nobody wants the run that was begun for nothing.
    if (!done.ok && isFirst) await seat.submit(record.run, { do: 'stop run', reason: 'its first child was refused' });
    // What is wrong in the words of the caller is no rule that says no.
    if (!done.ok) requireFolder(wish, root, io);
    const receipt = doneOrExit(done);
    const child = await childIn(seat, record.run, receipt.agent);
    if (args.has('json')) io.json(picked(child, SPAWNED));
    else for (const line of spawnedLines(child, receipt)) io.say(line);
    sayWhere(io, args.has('json') ? null : whereWords(seat, record.run, { isFirst, args }));
    return EXIT.done;
  });
}

/** What it is called; and of one whose role is none, what it works as. */
const spawnedLines = (child: SessionRecord, { note }: Receipt): readonly string[] => [
  `Spawned ${named(child)}`,
  ...(note === undefined ? [] : [`  ${note}`]),
];

function sayWhere(io: Io, words: string | null): void {
  if (io.terminal && words !== null) io.say(`  ${words}`);
}

/** For a person at a terminal, where it is not plain which run it went to. */
function whereWords(
  seat: Seat,
  run: SessionId,
  { isFirst, args }: { readonly isFirst: boolean; readonly args: Arguments },
): string | null {
  if (seat.as !== null || args.has('run')) return null;
  if (isFirst)
    return `in run ${run}, which was begun for it: \`mimir attach ${run}\` shows it, \`mimir kill ${run}\` ends it`;
  const living = seat.runs().filter(({ state }) => state === 'running').length;
  return living < 2 ? null : `in run ${run}, the newest of ${living} that go on: --run SESSION chooses another`;
}

async function childIn(seat: Seat, run: SessionId, agent: AgentId | undefined): Promise<SessionRecord> {
  const { family } = await seat.look(run);
  const child = family.sessions.find((one) => one.agent === agent);
  if (child === undefined)
    throw new Exit(EXIT.refused, 'the child is not among the sessions\n  `mimir children` lists them');
  return child;
}
