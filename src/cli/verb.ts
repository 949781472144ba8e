/** The commands: their help and flags from data/commands.json, and what several of them do. Each has a file of its own, loaded only when it is called. */
import { type Arguments, EXIT, type Flag, type Flags, type Io } from '../app/process/index.ts';
import type { OpenProject } from '../app/project/index.ts';
import { defined } from '../domain/result.ts';
import type { First } from '../ui/lines/follow.ts';
import DATA from './data/commands.json' with { type: 'json' };

export interface Verb {
  /** `mimir run "<task>" [options]` */
  readonly usage: string;
  readonly summary: string;
  readonly example: string;
  readonly flags: Flags;
  /** Help lines after the options, such as its JSON fields. */
  readonly notes: readonly string[];
  /** The number of plain arguments it takes. */
  readonly words: number;
  /** Resolves with the exit code; throws `Exit` for errors that a person can fix. */
  run(args: Arguments, io: Io): Promise<number>;
}

type VerbName = keyof typeof DATA.commands;

/** The flags of these names that several commands share. */
export const sharedFlags = (...names: readonly string[]): Flags => Object.fromEntries(names.map(flagOf));

/** One sentence of help for each command, in the order of the help. */
export const SUMMARIES: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(DATA.commands).map(([name, { summary }]) => [name, summary]),
);

/** Names of JSON fields that a command prints of a record. */
export const LISTS = DATA.lists;

/** The command of this name. `run` may leave the exit code out if it is 0. */
export function command(
  name: VerbName,
  run: (args: Arguments, io: Io) => Promise<number | void> | number | void,
): Verb {
  const { flags, notes = [], looks, ...text }: CommandText = DATA.commands[name];
  return {
    ...text,
    flags: Object.fromEntries(flags.map(flagOf)),
    notes: [...notes.flatMap(noteLines), ...(looks === true ? DATA.looks : [])],
    run: async (args, io) => (await run(args, io)) ?? EXIT.done,
  };
}

interface CommandText extends Pick<Verb, 'usage' | 'summary' | 'example' | 'words'> {
  /** `-o, output FILE: write it to a file`, or the name of a shared flag. */
  readonly flags: readonly string[];
  readonly notes?: readonly (string | FieldNote)[];
  /** The help also says which command shows what. */
  readonly looks?: boolean;
}

/** JSON fields below a heading: those of a set by its name, or only some of it. */
interface FieldNote {
  readonly head: string;
  readonly fields: string | Fields;
  readonly only?: string;
  readonly more?: Fields;
}

type Fields = Readonly<Record<string, string>>;
const FIELDS: Readonly<Record<string, Fields>> = DATA.fields;

function noteLines(note: string | FieldNote): readonly string[] {
  if (typeof note === 'string') return [note];
  const { head, fields, only, more } = note;
  const all = { ...(typeof fields === 'string' ? FIELDS[fields] : fields), ...more };
  const lists: Readonly<Record<string, readonly string[]>> = LISTS;
  const names = (only === undefined ? undefined : lists[only]) ?? Object.keys(all);
  const width = Math.max(...names.map((name) => name.length));
  return [head, ...names.map((name) => `  ${name.padEnd(width)}  ${all[name] ?? ''}`)];
}

/** The flag of a line of help: `-o, output FILE: write it to a file`, or of the name of a shared flag. */
function flagOf(text: string): readonly [name: string, flag: Flag] {
  const line = text.includes(': ') ? text : DATA.shared.find((one) => one.split(/[ :]/)[0] === text);
  const read = /^(?:-(\w), )?([\w-]+)(?: (\S+))?: (hidden: )?(.*)$/.exec(line ?? '');
  const [, short, name = '', value = '', hidden, help = ''] = read ?? [];
  return [name, { value, help, ...defined({ short, hidden: hidden === undefined ? undefined : true }) }];
}

/** True if the terminal can show the full screen and --plain is not set. */
export const isScreen = (args: Arguments, io: Io): boolean =>
  io.terminal && !args.has('plain') && io.env['TERM'] !== 'dumb';

/** Opens a session with a person, on the full screen or in line mode if the terminal cannot show it, to its end; the exit code is that of its
 * last run. */
export async function openSession(
  args: Arguments,
  io: Io,
  opened: OpenProject,
  first: Exclude<First, { readonly only: unknown }>,
): Promise<number> {
  if (!isScreen(args, io)) return (await import('../ui/lines/follow.ts')).openLines(args, io, opened, first);
  const { openScreen } = await import('./open-screen.ts');
  if (first === null) return openScreen(args, io, opened, {});
  if ('start' in first) return openScreen(args, io, opened, { firstTask: first.start });
  if ('attach' in first) return openScreen(args, io, opened, { attach: { session: first.attach, agent: first.agent } });
  return openScreen(args, io, opened, { resumeSession: first.resume, ...defined({ followUp: first.followUp }) });
}

/** Prints `value` with --json, otherwise `lines`. */
export function tell(args: Arguments, io: Io, value: unknown, lines: readonly string[]): void {
  if (args.has('json')) io.json(value);
  else for (const line of lines) io.say(line);
}
