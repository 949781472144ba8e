/** Numbers styles and computes the SGR between two of them. Capabilities come from the environment, never from terminfo. */
import type { Ink, Style } from '../../../app/views/index.ts';
import { ANSI_NAMES, type AnsiName, type Colour, roleColour, type Theme } from '../../../domain/theme.ts';

/** 0 is the terminal's default style. */
export type StyleId = number;

interface Look {
  /** SGR parameters; `39` and `49` are the terminal's defaults. */
  readonly fg: string;
  readonly bg: string;
  readonly flags: readonly number[];
  /** A hyperlink address, or empty. */
  readonly link: string;
}

export class Styles {
  readonly #theme: Theme;
  readonly #depth: Depth;
  readonly #links: boolean;
  /** Default foreground and background; the terminal's own if it is as light or dark as the theme. */
  readonly #own: Pick<Look, 'fg' | 'bg'>;
  readonly #looks: Look[] = [OWN];
  readonly #ids = new Map<string, StyleId>([[keyOf(OWN), 0]]);
  /** Ids by the parts of a style, since views create most styles anew in each frame. */
  readonly #known = new Map<string, StyleId>();
  readonly #steps = new Map<number, string>();

  /** Without `links`, links are styled but not sent. `background` is the terminal's. */
  constructor(theme: Theme, depth: Depth, links = false, background: Theme['mode'] = theme.mode) {
    this.#links = links;
    this.#theme = theme;
    this.#depth = lowerDepth(depth, theme);
    this.#own = OWN;
    // The sixteen colours are the terminal's own and fit its background.
    if (background !== theme.mode && this.#depth >= 8)
      this.#own = { fg: this.#colour('fg', 38), bg: this.#colour('surface', 48) };
  }

  id(style: Style): StyleId {
    const { fg, bg, bold, dim, italic, underline, inverse, link } = style;
    const parts = `${fg}/${bg}/${bold}/${dim}/${italic}/${underline}/${inverse}/${link}`;
    const known = this.#known.get(parts);
    if (known !== undefined) return known;
    const look = this.#look(style);
    const key = keyOf(look);
    const id = this.#ids.get(key) ?? this.#looks.push(look) - 1;
    this.#ids.set(key, id);
    if (this.#known.size >= MAX_LOOKS) this.#known.clear();
    this.#known.set(parts, id);
    return id;
  }

  /** The sequence that changes one style to another; empty if equal. */
  step(from: StyleId, to: StyleId): string {
    if (from === to) return '';
    const key = from * 0x10000 + to;
    const known = this.#steps.get(key);
    if (known !== undefined) return known;
    const [was, is] = [this.#looks[from] ?? OWN, this.#looks[to] ?? OWN];
    const sequence = stepBetween(was, is) + linkBetween(was, is);
    this.#steps.set(key, sequence);
    return sequence;
  }

  #look(style: Style): Look {
    // With few colours, a badge is shown by inversion instead of the background colour.
    const badge = this.#depth <= 4 && style.fg === 'surface' && style.bg !== undefined;
    const flags = FLAGS.filter(([name]) => style[name] === true || (badge && name === 'inverse')).map(
      ([, code]) => code,
    );
    const link = this.#link(style.link);
    if (badge) return { fg: this.#colour(style.bg, 38), bg: OWN.bg, flags, link };
    const [fg, bg] = [this.#colour(style.fg, 38), this.#colour(style.bg, 48)];
    return { fg: this.#depth === 4 && isSameHue(fg, bg) ? OWN.fg : fg, bg, flags, link };
  }

  /** Only addresses that Mimir may have built, and a limited number, since each is a style of its own. */
  #link(address: string | undefined): string {
    const sends = this.#links && address !== undefined && this.#looks.length < MAX_LOOKS;
    return sends && address.length <= MAX_LINK && ADDRESS.test(address) ? address : '';
  }

  #colour(ink: Ink | undefined, base: 38 | 48): string {
    const own = base === 38 ? this.#own.fg : this.#own.bg;
    if (ink === undefined || this.#depth === 0) return own;
    const colour = colourOf(this.#theme, ink);
    if (this.#depth === 4) return ansi(colour.ansi, base) ?? own;
    const [r, g, b] = rgb(colour.hex);
    return this.#depth === 24 ? `${base};2;${r};${g};${b}` : `${base};5;${nearest256(r, g, b)}`;
  }
}

/** True for one of the sixteen colours and its bright form, which are unreadable on each other. */
const isSameHue = (fg: string, bg: string): boolean => bg !== OWN.bg && Number(fg) % 10 === Number(bg) % 10;

const lowerDepth = (depth: Depth, { colours }: Theme): Depth =>
  colours === 'none' || depth === 0 ? 0 : colours === '16' ? 4 : depth;

const OWN: Look = { fg: '39', bg: '49', flags: [], link: '' };

const FLAGS = [
  ['bold', 1],
  ['dim', 2],
  ['italic', 3],
  ['underline', 4],
  ['inverse', 7],
] as const;

/** Percent-encoded addresses of files and pages, which cannot end the sequence or hide anything. */
const ADDRESS = /^(?:file|https?):\/\/(?:[\w\-.~:/?#[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})+$/;
const MAX_LINK = 2000;
const MAX_LOOKS = 30_000;
const linkBetween = (from: Look, to: Look): string => (from.link === to.link ? '' : `\u001b]8;;${to.link}\u001b\\`);
const keyOf = ({ fg, bg, flags, link }: Look): string => `${fg}/${bg}/${flags.join()}/${link}`;

const colourOf = (theme: Theme, ink: Ink): Colour =>
  isRole(ink) ? roleColour(theme, ink.slice('role:'.length)) : theme.tokens[ink];

const isRole = (ink: Ink): ink is `role:${string}` => ink.startsWith('role:');

function stepBetween(from: Look, to: Look): string {
  if (keyOf({ ...from, link: to.link }) === keyOf(to)) return '';
  const on = to.flags.filter((flag) => !from.flags.includes(flag));
  if (from.flags.some((flag) => !to.flags.includes(flag))) {
    // No sequence removes bold but keeps dim, so start from the default style.
    const colours = [to.fg, to.bg].filter((part) => part !== '39' && part !== '49');
    return `\u001b[${['0', ...to.flags, ...colours].join(';')}m`;
  }
  const colours = [...(from.fg === to.fg ? [] : [to.fg]), ...(from.bg === to.bg ? [] : [to.bg])];
  if (on.length === 0 && to.flags.length === 0 && to.fg === '39' && to.bg === '49') return '\u001b[0m';
  return `\u001b[${[...on, ...colours].join(';')}m`;
}

function ansi(name: AnsiName | 'default' | null, base: 38 | 48): string | null {
  if (name === null || name === 'default') return null;
  const index = ANSI_NAMES.indexOf(name);
  return String((index < 8 ? index : index + 52) + base - 8);
}

const rgb = (hex: string): readonly [number, number, number] => {
  const value = Number.parseInt(hex.slice(1), 16);
  return [value >> 16, (value >> 8) & 0xff, value & 0xff];
};

const CUBE = [0, 95, 135, 175, 215, 255];

/** The nearest colour of the cube and the greys of the 256-colour palette; the first 16 depend on the user's theme. */
function nearest256(r: number, g: number, b: number): number {
  const [cr, cg, cb] = [cubeStep(r), cubeStep(g), cubeStep(b)];
  const grey = Math.max(0, Math.min(23, Math.round(((r + g + b) / 3 - 8) / 10)));
  const level = 8 + grey * 10;
  const cube = distance([r, g, b], [CUBE[cr] ?? 0, CUBE[cg] ?? 0, CUBE[cb] ?? 0]);
  return distance([r, g, b], [level, level, level]) < cube ? 232 + grey : 16 + 36 * cr + 6 * cg + cb;
}

const cubeStep = (value: number): number =>
  CUBE.reduce((best, level, at) => (Math.abs(level - value) < Math.abs((CUBE[best] ?? 0) - value) ? at : best), 0);

const distance = (a: readonly [number, number, number], b: readonly [number, number, number]): number =>
  (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 + (a[2] - b[2]) ** 2;

/** Bits of colour: none, 16, 256, or 24-bit. */
export type Depth = 0 | 4 | 8 | 24;

/** Values of `--color`. */
export type ColourChoice = 'auto' | 'never' | '16' | '256' | 'truecolor';

interface Capabilities {
  readonly depth: Depth;
  /** False if the locale is not UTF-8: only ASCII is drawn. */
  readonly unicode: boolean;
  /** True if hyperlinks (OSC 8) may be sent; consoles and screen print garbage for them. */
  readonly links: boolean;
  readonly background: 'dark' | 'light' | null;
  /** True if the terminal may be queried for its background colour. */
  readonly answers: boolean;
  /** False for `TERM=dumb` or none: only line mode works. */
  readonly screen: boolean;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** The capabilities: colours by the user's choice, otherwise by NO_COLOR, otherwise by the terminal. */
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

/** Terminals that print unknown sequences. */
export const NO_OSC = /^(?:$|dumb|linux|vt\d+|ansi|cons25)/;

/** Parses COLORFGBG (`15;0`, `15;default;0`): the last part is the background. */
function backgroundOf(colours: string): 'dark' | 'light' | null {
  const last = colours.split(';').at(-1) ?? '';
  if (!/^\d{1,2}$/.test(last)) return null;
  return last === '7' || (Number(last) >= 9 && Number(last) <= 15) ? 'light' : 'dark';
}

/** Parses an answer to `OSC 11 ; ?`; null for any other answer. */
export function backgroundFrom(reply: string): 'dark' | 'light' | null {
  const parts = /^.\]11;rgba?:([0-9a-f]{1,4})\/([0-9a-f]{1,4})\/([0-9a-f]{1,4})/isu.exec(reply)?.slice(1);
  if (parts === undefined) return null;
  const [r = 0, g = 0, b = 0] = parts.map((part) => Number.parseInt(part, 16) / (16 ** part.length - 1));
  return 0.299 * r + 0.587 * g + 0.114 * b > 0.5 ? 'light' : 'dark';
}

const CHOSEN: Readonly<Record<Exclude<ColourChoice, 'auto'>, Depth>> = { never: 0, '16': 4, '256': 8, truecolor: 24 };

/** Terminals known for 24-bit colour even without COLORTERM, for example over ssh. */
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

/** The first variable that is set decides, as in the C library. Without any, UTF-8 is assumed. */
function isUtf8(env: Environment): boolean {
  const locale = [env['LC_ALL'], env['LC_CTYPE'], env['LANG']].find((value) => value !== undefined && value !== '');
  return locale === undefined || /utf-?8/i.test(locale);
}
