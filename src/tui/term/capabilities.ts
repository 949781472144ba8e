/** What the terminal can show, decided from the environment and the user's word, never from terminfo. */

/** Bits of colour: none, 16, 256, or 24-bit. */
export type Depth = 0 | 4 | 8 | 24;

/** Values of `--color`. */
export type ColourChoice = 'auto' | 'never' | '16' | '256' | 'truecolor';

export interface Capabilities {
  readonly depth: Depth;
  /** False when the locale isn't UTF-8: only ASCII is drawn. */
  readonly unicode: boolean;
  /** False for `TERM=dumb`, or none at all: a full screen can't be drawn, the line mode can. */
  readonly screen: boolean;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Colours by the user's choice, else NO_COLOR, else what the terminal says about itself. */
export function capabilities(env: Environment, colour: ColourChoice = 'auto'): Capabilities {
  const term = env['TERM'] ?? '';
  return {
    depth: colour === 'auto' ? depthOf(env, term) : CHOSEN[colour],
    unicode: isUtf8(env),
    screen: term !== '' && term !== 'dumb',
  };
}

const CHOSEN: Readonly<Record<Exclude<ColourChoice, 'auto'>, Depth>> = { never: 0, '16': 4, '256': 8, truecolor: 24 };

/** Terminals that are known for 24 bits although not all of them set COLORTERM, over ssh for one. */
const KNOWN = /^(?:xterm-(?:kitty|ghostty)|ghostty|wezterm|foot|alacritty|contour)|-direct$/;
const KNOWN_PROGRAMS = new Set(['iTerm.app', 'WezTerm', 'ghostty', 'vscode']);

function depthOf(env: Environment, term: string): Depth {
  if ((env['NO_COLOR'] ?? '') !== '' || term === 'dumb') return 0;
  if (isKnown(env, term)) return 24;
  return term.includes('256color') ? 8 : 4;
}

function isKnown(env: Environment, term: string): boolean {
  if (/^(?:truecolor|24bit)$/.test(env['COLORTERM'] ?? '') || KNOWN.test(term)) return true;
  return env['WT_SESSION'] !== undefined || KNOWN_PROGRAMS.has(env['TERM_PROGRAM'] ?? '');
}

/** The first of these that is set decides, as for the C library. With none, today's terminals are UTF-8. */
function isUtf8(env: Environment): boolean {
  const locale = [env['LC_ALL'], env['LC_CTYPE'], env['LANG']].find((value) => value !== undefined && value !== '');
  return locale === undefined || /utf-?8/i.test(locale);
}
