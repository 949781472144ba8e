/** What the terminal can show, decided from the environment and the user's word, never from terminfo. */

/** Bits of colour: none, 16, 256, or 24-bit. */
export type Depth = 0 | 4 | 8 | 24;

/** Values of `--color`. */
export type ColourChoice = 'auto' | 'never' | '16' | '256' | 'truecolor';

export interface Capabilities {
  readonly depth: Depth;
  /** False when the locale isn't UTF-8: only ASCII is drawn. */
  readonly unicode: boolean;
  /** Links may be sent (OSC 8): consoles and screen show litter for them. */
  readonly links: boolean;
  /** What COLORFGBG says of the background; null where it says nothing. */
  readonly background: 'dark' | 'light' | null;
  /** The terminal may be asked for the colour of its background. */
  readonly answers: boolean;
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
    links: !NO_OSC.test(term) && !term.startsWith('screen'),
    background: backgroundOf(env['COLORFGBG'] ?? ''),
    answers: !NO_OSC.test(term),
    screen: term !== '' && term !== 'dumb',
  };
}

/** Terminals that print what they don't know. */
const NO_OSC = /^(?:$|dumb|linux|vt\d+|ansi|cons25)/;

/** `15;0`, or `15;default;0`: the last one is the number of the background's colour. */
function backgroundOf(colours: string): 'dark' | 'light' | null {
  const last = colours.split(';').at(-1) ?? '';
  if (!/^\d{1,2}$/.test(last)) return null;
  return last === '7' || (Number(last) >= 9 && Number(last) <= 15) ? 'light' : 'dark';
}

/** Whether an answer to `OSC 11 ; ?` says that the background is light; null for any other answer. */
export function backgroundFrom(reply: string): 'dark' | 'light' | null {
  const parts = /^.\]11;rgba?:([0-9a-f]{1,4})\/([0-9a-f]{1,4})\/([0-9a-f]{1,4})/isu.exec(reply)?.slice(1);
  if (parts === undefined) return null;
  const [r = 0, g = 0, b = 0] = parts.map((part) => Number.parseInt(part, 16) / (16 ** part.length - 1));
  return 0.299 * r + 0.587 * g + 0.114 * b > 0.5 ? 'light' : 'dark';
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
