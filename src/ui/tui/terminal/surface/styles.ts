/** Styles as numbers: each look is kept once, and the step from one to the next is the shortest SGR that makes it. */
import type { AnsiName, Colour, Theme } from '../../../../domain/theme.ts';
import { ANSI_NAMES, roleColour } from '../../../../domain/theme.ts';
import type { Ink, Style } from '../../../../app/views/text/line.ts';
import type { Depth } from '../capabilities.ts';

/** Number 0 is the terminal's own look. */
export type StyleId = number;

interface Look {
  /** SGR parameters; `39` and `49` are the terminal's own. */
  readonly fg: string;
  readonly bg: string;
  readonly flags: readonly number[];
  /** An address, or empty. */
  readonly link: string;
}

export class Styles {
  readonly #theme: Theme;
  readonly #depth: Depth;
  readonly #links: boolean;
  /** Letters and ground where a view names none; the terminal's own where it is as light or dark as the theme. */
  readonly #own: Pick<Look, 'fg' | 'bg'>;
  readonly #looks: Look[] = [OWN];
  readonly #ids = new Map<string, StyleId>([[keyOf(OWN), 0]]);
  /** By ink, ink below and flags: views make most of their styles anew for each frame, and each is looked up. */
  readonly #plain = new Map<Ink | undefined, Map<Ink | undefined, StyleId[]>>();
  /** Lines with links are kept by their views, and their styles with them. */
  readonly #linked = new WeakMap<Style, StyleId>();
  readonly #steps = new Map<number, string>();

  /** Without `links` what is a link looks like one and leads nowhere. `background` is the terminal's. */
  constructor(theme: Theme, depth: Depth, links = false, background: Theme['mode'] = theme.mode) {
    this.#links = links;
    this.#theme = theme;
    this.#depth = shallower(depth, theme);
    this.#own = OWN;
    // Sixteen colours are the terminal's, and made for its background.
    if (background !== theme.mode && this.#depth >= 8)
      this.#own = { fg: this.#colour('fg', 38), bg: this.#colour('surface', 48) };
  }

  /** The number of a style in this theme. */
  id(style: Style): StyleId {
    if (style.link !== undefined) return this.#linkedId(style);
    const over = this.#plain.get(style.fg) ?? new Map<Ink | undefined, StyleId[]>();
    const ids = over.get(style.bg) ?? [];
    const known = ids[bitsOf(style)];
    if (known !== undefined) return known;
    this.#plain.set(style.fg, over);
    over.set(style.bg, ids);
    return (ids[bitsOf(style)] = this.#newId(style));
  }

  #linkedId(style: Style): StyleId {
    const known = this.#linked.get(style) ?? this.#newId(style);
    this.#linked.set(style, known);
    return known;
  }

  #newId(style: Style): StyleId {
    const look = this.#look(style);
    const key = keyOf(look);
    const id = this.#ids.get(key) ?? this.#looks.push(look) - 1;
    this.#ids.set(key, id);
    return id;
  }

  /** The sequence that turns one look into another; empty when they are the same. */
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
    // What stands out by the letters' ground on a colour stands out by inversion where that ground is the terminal's own.
    const badge = this.#depth <= 4 && style.fg === 'surface' && style.bg !== undefined;
    const flags = FLAGS.filter(([name]) => style[name] === true || (badge && name === 'inverse')).map(
      ([, code]) => code,
    );
    const link = this.#link(style.link);
    if (badge) return { fg: this.#colour(style.bg, 38), bg: OWN.bg, flags, link };
    const [fg, bg] = [this.#colour(style.fg, 38), this.#colour(style.bg, 48)];
    return { fg: this.#depth === 4 && isSameHue(fg, bg) ? OWN.fg : fg, bg, flags, link };
  }

  /** Only addresses that Mimir may have made; and not without end, since each is a look of its own. */
  #link(address: string | undefined): string {
    const sends = this.#links && address !== undefined && this.#looks.length < MOST_LOOKS;
    return sends && address.length <= MOST_LINK && ADDRESS.test(address) ? address : '';
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

/** Of the sixteen, a colour and its bright form: one can't be read on the other. */
const isSameHue = (fg: string, bg: string): boolean => bg !== OWN.bg && Number(fg) % 10 === Number(bg) % 10;

/** What terminal and theme have in common. */
const shallower = (depth: Depth, { colours }: Theme): Depth =>
  colours === 'none' || depth === 0 ? 0 : colours === '16' ? 4 : depth;

const OWN: Look = { fg: '39', bg: '49', flags: [], link: '' };

const FLAGS = [
  ['bold', 1],
  ['dim', 2],
  ['italic', 3],
  ['underline', 4],
  ['inverse', 7],
] as const;

/** The flags of a style as one number. */
const bitsOf = ({ bold, dim, italic, underline, inverse }: Style): number =>
  Number(bold === true) +
  Number(dim === true) * 2 +
  Number(italic === true) * 4 +
  Number(underline === true) * 8 +
  Number(inverse === true) * 16;

/** Of a file or a page, percent-encoded: nothing in it ends the sequence or hides anything. */
const ADDRESS = /^(?:file|https?):\/\/(?:[\w\-.~:/?#[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})+$/;
const MOST_LINK = 2000;
const MOST_LOOKS = 30_000;

const linkBetween = (from: Look, to: Look): string => (from.link === to.link ? '' : `\u001b]8;;${to.link}\u001b\\`);

const keyOf = ({ fg, bg, flags, link }: Look): string => `${fg}/${bg}/${flags.join()}/${link}`;

function colourOf(theme: Theme, ink: Ink): Colour {
  return isRole(ink) ? roleColour(theme, ink.slice('role:'.length)) : theme.tokens[ink];
}

const isRole = (ink: Ink): ink is `role:${string}` => ink.startsWith('role:');

function stepBetween(from: Look, to: Look): string {
  if (keyOf({ ...from, link: to.link }) === keyOf(to)) return '';
  const on = to.flags.filter((flag) => !from.flags.includes(flag));
  if (from.flags.some((flag) => !to.flags.includes(flag))) {
    // There is no sequence for "not bold but still dim": begin from nothing.
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

/** The nearest of the colour cube and the greys of the 256-colour palette; the first 16 depend on the user's theme. */
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
