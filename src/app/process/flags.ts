/** Reads the arguments of a command by its table of flags. An unknown flag is refused with a suggestion (exit 2). */
import { messageOf } from '../../domain/result.ts';
import { parseArgs } from 'node:util';
import { Chalk, type ChalkInstance } from 'chalk';
import { listed } from '../../domain/lists.ts';
import { nearest } from '../../domain/text/text.ts';
import { invalidFlag, wrongUse } from './exit.ts';

export interface Flag {
  /** The placeholder of the value in the help: `USD`, `DIR`; empty for a switch. */
  readonly value: string;
  readonly help: string;
  readonly short?: string;
  /** Used only between Mimir's own processes; left out of the help. */
  readonly hidden?: boolean;
}

export type Flags = Readonly<Record<string, Flag>>;

export interface Arguments {
  readonly words: readonly string[];
  has(flag: string): boolean;
  get(flag: string): string | undefined;
  all(flag: string): readonly string[];
}

/** Parses `argv`. `maxWords`: the number of positional arguments that the command takes. Throws an `Exit` (2) for wrong usage. */
export function readArguments(argv: readonly string[], flags: Flags, maxWords: number): Arguments {
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
  const parsed = parseStrictly(argv, options, flags);
  if (parsed.positionals.length > maxWords) {
    const extra = parsed.positionals.slice(maxWords).map((word) => `"${word}"`);
    throw wrongUse(`unexpected argument: ${extra.join(' ')}\n  put a task of several words in quotes`);
  }
  const values = new Map(Object.entries(parsed.values).map(([name, value]) => [name, [value].flat()]));
  const texts = (flag: string): readonly string[] =>
    (values.get(flag) ?? []).filter((value) => typeof value === 'string');
  return { words: parsed.positionals, has: (flag) => values.has(flag), get: (flag) => texts(flag).at(-1), all: texts };
}

function parseStrictly(
  argv: readonly string[],
  options: NonNullable<NonNullable<Parameters<typeof parseArgs>[0]>['options']>,
  flags: Flags,
): { readonly values: Readonly<Record<string, unknown>>; readonly positionals: readonly string[] } {
  try {
    const { values, positionals } = parseArgs({
      args: [...argv],
      options,
      allowPositionals: true,
      strict: true,
    });
    return { values, positionals };
  } catch (error) {
    throw wrongUse(usageError(error, flags));
  }
}

function usageError(error: unknown, flags: Flags): string {
  const text = messageOf(error);
  const unknown = /^Unknown option '(--?)([^']+)'/.exec(text);
  if (unknown) {
    const [, dashes = '', name = ''] = unknown;
    const close = nearest(name, Object.keys(flags));
    return `unknown option ${dashes}${name}${close === null ? '' : `\n  did you mean --${close}?`}`;
  }
  // The remaining errors concern a value: missing, beginning with a dash, or unwanted.
  const name = /^Option '(?:-\w, )?--([\w-]+)/.exec(text)?.[1] ?? '';
  const flag = flags[name];
  if (flag === undefined) return text;
  return flag.value === '' ? `--${name} takes no value` : `--${name} needs a value: --${name}=${flag.value}`;
}

/** The lines that describe `flags` in the help of a command, aligned. */
export function flagLines(flags: Flags): readonly string[] {
  const shown = Object.entries(flags).filter(([, { hidden }]) => hidden !== true);
  const rows = shown.map(([name, { value, help, short }]) => ({
    left: `${short === undefined ? '' : `-${short}, `}--${name}${value === '' ? '' : ` ${value}`}`,
    help,
  }));
  const width = Math.max(0, ...rows.map(({ left }) => left.length));
  return rows.map(({ left, help }) => `  ${left.padEnd(width)}  ${help}`);
}

const COLOURS = ['never', '16', '256', 'truecolor'] as const;
type Colour = (typeof COLOURS)[number];

/** The value of `--flag`; undefined if it was not given. Exit 2 if it is none of `choices`. */
export function readChoice<T extends string>(args: Arguments, flag: string, choices: readonly T[]): T | undefined {
  const text = args.get(flag);
  const choice = choices.find((one) => one === text);
  if (text === undefined || choice !== undefined) return choice;
  throw invalidFlag(flag, text, listed(choices, 'or'));
}

export const readColour = (args: Arguments): Colour | undefined => readChoice(args, 'color', COLOURS);

/** Colours for printed lines: as `asked`, otherwise 16 colours on a terminal and none elsewhere. */
export function createPainter(
  env: Readonly<Record<string, string | undefined>>,
  isTty: boolean,
  asked?: Colour,
): ChalkInstance {
  if (asked !== undefined) return new Chalk({ level: ({ never: 0, '16': 1, '256': 2, truecolor: 3 } as const)[asked] });
  const plain = !isTty || env['TERM'] === 'dumb' || (env['NO_COLOR'] ?? '') !== '';
  return new Chalk({ level: plain ? 0 : 1 });
}
