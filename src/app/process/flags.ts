/**
 * Reads the arguments of a command by its table of flags, and holds the flags that several commands share. An unknown
 * flag is refused with a suggestion (exit 2).
 */
import { parseArgs } from 'node:util';
import { Chalk, type ChalkInstance } from 'chalk';
import { listed } from '../../domain/lists.ts';
import { nearest } from '../../domain/text/text.ts';
import { wrongUse } from './exit.ts';

export interface Flag {
  /** The placeholder of the value in the help: `USD`, `DIR`; empty for a switch. */
  readonly value: string;
  readonly help: string;
  readonly many?: true;
  readonly short?: string;
  /** Used only between Mimir's own processes; left out of the help. */
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

/** Parses `argv`. `most`: the number of positional arguments that the command takes. Throws an `Exit` (2) for wrong usage. */
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
  const text = error instanceof Error ? error.message : String(error);
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

// Flags that several commands share. Other modules interpret their values, so that a command loads only what it needs.

const COLOURS = ['never', '16', '256', 'truecolor'] as const;
type Colour = (typeof COLOURS)[number];

export const COLOR: Flags = {
  color: { value: COLOURS.join('|'), help: 'colours, if they are detected wrongly' },
};

/** The value of `--flag`; undefined if it was not given. Exit 2 if it is none of `choices`. */
export function readChoice<T extends string>(args: Arguments, flag: string, choices: readonly T[]): T | undefined {
  const text = args.get(flag);
  const choice = choices.find((one) => one === text);
  if (text === undefined || choice !== undefined) return choice;
  throw wrongUse(`--${flag} ${text}\n  expected ${listed(choices, 'or')}`);
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

export const CWD: Flags = { cwd: { value: 'DIR', help: 'the project (default: the current directory)' } };
export const JSON_FLAG: Flags = { json: { value: '', help: 'print only JSON on stdout' } };

export const MODELS: Flags = {
  model: { value: 'M', help: 'use this model for every agent (`offline`: the built-in analyst)' },
  'role-model': { value: 'role=M', help: 'use this model for one role; may be repeated', many: true },
  'no-offline': { value: '', help: 'exit with 6 if no model is available, instead of using the offline analyst' },
};

export const ALLOW: Flags = {
  allow: {
    value: 'edits,commands',
    help: 'what agents may do without approval: edits, sandboxed commands, or both',
  },
  commit: { value: '', help: 'let main commit the work at the end, after the reviews' },
};

export const LIMITS: Flags = {
  mode: { value: 'human|confirm|yolo', help: 'how often you are asked (default: confirm)' },
  'max-cost': { value: 'USD', help: 'cost limit of the run' },
  'max-tokens': { value: 'N', help: 'token limit of the run' },
  'max-duration': { value: '10m', help: 'time limit of the run' },
};

export const SCREEN: Flags = {
  ...COLOR,
  theme: { value: 'NAME', help: 'colour theme (default: auto, dark or light as the terminal is)' },
  plain: { value: '', help: 'line mode instead of the full screen' },
};
