/** `mimir children`: the children of a session, with how they stand. */
import { below, childrenOf } from '../../events/sessions/find.ts';
import type { SessionRecord } from '../../events/sessions/record.ts';
import { CWD, JSON_FLAG } from '../../app/process/flags/plain.ts';
import { EXIT, Exit } from '../../app/process/exit.ts';
import type { Arguments } from '../../app/process/flags/flags.ts';
import type { Io } from '../../app/process/io.ts';
import { fieldLines, RECORD, WHICH_LOOK } from '../sessions/fields.ts';
import { flat, sayRows } from '../sessions/rows.ts';
import type { Target } from '../sessions/target.ts';
import { named, selfOf, targetOf } from '../sessions/target.ts';
import { seated } from '../../app/client/session-client.ts';
import { branches } from '../sessions/words.ts';
import type { Verb } from '../verb.ts';

const STATUSES = ['running', 'completed', 'error', 'all'] as const;
type Wanted = (typeof STATUSES)[number];

export const childrenVerb: Verb = {
  usage: 'mimir children [ID] [--recursive] [--status running|completed|error|all] [--json]',
  summary: 'Lists the children of a session: those of the caller, of the newest run for a person.',
  example: 'mimir children --recursive --status running',
  words: 1,
  flags: {
    recursive: { value: '', help: 'with their children, as a tree' },
    status: { value: 'STATUS', help: 'running (not at its end), completed, error (killed and abandoned too) or all' },
    ...JSON_FLAG,
    ...CWD,
  },
  notes: [
    'Each is `name (id) | status | age | how it ended, or In progress`; its age is the time since it was spawned.',
    ...fieldLines('--json prints an array, each of:', RECORD),
    ...WHICH_LOOK,
  ],
  run: (args, io) => children(args, io, wantedBy(args)),
};

function wantedBy(args: Arguments): Wanted {
  const said = args.get('status') ?? 'all';
  const wanted = STATUSES.find((one) => one === said);
  if (wanted === undefined)
    throw new Exit(EXIT.wrongUse, `--status ${said}\n  expected running, completed, error or all`);
  return wanted;
}

function children(args: Arguments, io: Io, wanted: Wanted): Promise<number> {
  const [word] = args.words;
  return seated(args, io, async (seat) => {
    const target = word === undefined ? await selfOf(seat) : await targetOf(seat, word);
    const rows = rowsOf(target, wanted, args.has('recursive'));
    if (args.has('json')) io.json(rows.map(({ record }) => record));
    else if (rows.length === 0) io.say(noneWords(target, wanted));
    else sayRows(rows, io);
    return EXIT.done;
  });
}

function rowsOf({ seen, record }: Target, wanted: Wanted, recursive: boolean): Parameters<typeof sayRows>[0] {
  const direct = childrenOf(seen.family, record);
  if (!recursive) return flat(direct.filter(isWanted(wanted)));
  const all = below(seen.family, record);
  // A tree with holes would put children under the wrong parents: what is left out takes its branch along.
  return wanted === 'all' ? branches(all, direct) : flat(all.filter(isWanted(wanted)));
}

const isWanted =
  (wanted: Wanted) =>
  ({ is_complete, completion_status }: SessionRecord): boolean => {
    if (wanted === 'all') return true;
    if (wanted === 'running') return !is_complete;
    return wanted === 'completed'
      ? completion_status === 'completed'
      : is_complete && completion_status !== 'completed';
  };

const noneWords = ({ record }: Target, wanted: Wanted): string =>
  wanted === 'all' || record.children === 0
    ? `${named(record)} has no children yet: \`mimir spawn "<prompt>"\` makes one`
    : `${named(record)} has no children with --status ${wanted}`;
