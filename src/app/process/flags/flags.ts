/** Reads a verb's arguments by its table of flags; anything unknown is refused with a suggestion (exit 2). */
import { parseArgs } from 'node:util';
import { nearest } from '../../../domain/text/nearest.ts';
import { EXIT, Exit } from '../exit.ts';

export interface Flag {
  /** What stands for the value in the help: `USD`, `DIR`; empty for a switch. */
  readonly value: string;
  readonly help: string;
  readonly many?: true;
  readonly short?: string;
  /** For Mimir's own processes: the help doesn't name it. */
  readonly hidden?: true;
}

export type Flags = Readonly<Record<string, Flag>>;

export interface Arguments {
  readonly words: readonly string[];
  has(flag: string): boolean;
  /** The last value given, or undefined. */
  get(flag: string): string | undefined;
  all(flag: string): readonly string[];
}

/** `most` is how many plain words the verb takes. */
export function readArguments(argv: readonly string[], flags: Flags, most: number): Arguments {
  const options = Object.fromEntries(
    Object.entries(flags).map(([name, { value, short }]) => [
      name,
      {
        type: value === '' ? ('boolean' as const) : ('string' as const),
        multiple: true,
        ...(short === undefined ? {} : { short }),
      },
    ]),
  );
  const parsed = parsedBy(argv, options, flags);
  if (parsed.positionals.length > most) {
    const extra = parsed.positionals.slice(most).map((word) => `"${word}"`);
    throw new Exit(EXIT.wrongUse, `not expected: ${extra.join(' ')}\n  put a task of several words into quotes`);
  }
  const values = new Map(Object.entries(parsed.values).map(([name, value]) => [name, [value].flat()]));
  const texts = (flag: string): readonly string[] =>
    (values.get(flag) ?? []).filter((value) => typeof value === 'string');
  return { words: parsed.positionals, has: (flag) => values.has(flag), get: (flag) => texts(flag).at(-1), all: texts };
}

function parsedBy(
  argv: readonly string[],
  options: NonNullable<Parameters<typeof parseArgs>[0]>['options'],
  flags: Flags,
): { readonly values: Readonly<Record<string, unknown>>; readonly positionals: readonly string[] } {
  try {
    const { values, positionals } = parseArgs({
      args: [...argv],
      options: options ?? {},
      allowPositionals: true,
      strict: true,
    });
    return { values, positionals };
  } catch (error) {
    throw new Exit(EXIT.wrongUse, wordsFor(error, flags));
  }
}

function wordsFor(error: unknown, flags: Flags): string {
  const text = error instanceof Error ? error.message : String(error);
  const unknown = /^Unknown option '(--?)([^']+)'/.exec(text);
  if (unknown) {
    const [, dashes = '', name = ''] = unknown;
    const close = nearest(name, Object.keys(flags));
    return `unknown option ${dashes}${name}${close === null ? '' : `\n  did you mean --${close}?`}`;
  }
  // The rest is about a value: missing, beginning with a dash, or one too many.
  const name = /^Option '(?:-\w, )?--([\w-]+)/.exec(text)?.[1] ?? '';
  const flag = flags[name];
  if (flag === undefined) return text;
  return flag.value === '' ? `--${name} takes no value` : `--${name} needs a value: --${name}=${flag.value}`;
}

/** The lines of a verb's help for its flags, aligned. */
export function flagLines(flags: Flags): readonly string[] {
  const shown = Object.entries(flags).filter(([, { hidden }]) => hidden !== true);
  const rows = shown.map(([name, { value, help, short }]) => ({
    left: `${short === undefined ? '' : `-${short}, `}--${name}${value === '' ? '' : ` ${value}`}`,
    help,
  }));
  const width = Math.max(0, ...rows.map(({ left }) => left.length));
  return rows.map(({ left, help }) => `  ${left.padEnd(width)}  ${help}`);
}
