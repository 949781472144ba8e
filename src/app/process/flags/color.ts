/** `--color`: how lines are painted. */
import { Chalk, type ChalkInstance } from 'chalk';
import { EXIT, Exit } from '../exit.ts';
import type { Arguments, Flags } from './flags.ts';

const COLOURS = ['never', '16', '256', 'truecolor'] as const;
type Colour = (typeof COLOURS)[number];

export const COLOR: Flags = {
  color: { value: COLOURS.join('|'), help: 'colours, where the terminal is misjudged' },
};

/** `--color`, or undefined when it was not given. */
export function colourFrom(args: Arguments): Colour | undefined {
  const text = args.get('color');
  if (text === undefined) return undefined;
  const colour = COLOURS.find((one) => one === text);
  if (colour === undefined) {
    throw new Exit(EXIT.wrongUse, `--color ${text}\n  expected ${COLOURS.join(', ')}`);
  }
  return colour;
}

/** Colours for lines: as asked for, else few on a terminal and none elsewhere. */
export function painter(
  env: Readonly<Record<string, string | undefined>>,
  isTty: boolean,
  asked?: Colour,
): ChalkInstance {
  if (asked !== undefined) return new Chalk({ level: ({ never: 0, '16': 1, '256': 2, truecolor: 3 } as const)[asked] });
  const plain = !isTty || env['TERM'] === 'dumb' || (env['NO_COLOR'] ?? '') !== '';
  return new Chalk({ level: plain ? 0 : 1 });
}
