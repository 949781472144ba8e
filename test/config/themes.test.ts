/** Themes: what is shipped can be read, and what is wrong in a file is said with its line. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { afterAll, describe, expect, it } from 'vitest';
import { loadTheme, themeNames } from '../../src/config/themes.ts';
import { roleColour, type Theme } from '../../src/domain/theme.ts';

const shipped = new URL('../../themes', import.meta.url).pathname;
const own = mkdtempSync(`${tmpdir()}/mimir-themes-`);
mkdirSync(`${own}/a`);
afterAll(() => {
  rmSync(own, { recursive: true });
});

function load(name: string, text?: string): Theme | string {
  if (text !== undefined) writeFileSync(`${own}/a/${name}.yml`, text);
  const result = loadTheme([`${own}/a`, shipped], name);
  return result.ok ? result.value : result.fault.replace(`${own}/a/`, '');
}

/** Contrast of two colours as WCAG counts it. */
function contrast(a: string, b: string): number {
  const light = (hex: string): number => {
    const [r = 0, g = 0, b = 0] = [1, 3, 5]
      .map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255)
      .map((value) => (value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const [bright = 0, dark = 0] = [light(a), light(b)].toSorted((x, y) => y - x);
  return (bright + 0.05) / (dark + 0.05);
}

describe.each([
  ['mimir-dark', '#7fca95', 'green', [], 4.5, 3],
  ['mimir-light', '#17602c', 'green', ['#ffffff'], 4.5, 3],
  ['high-contrast', '#8cff9e', 'brightGreen', ['#000000'], 7, 7],
  ['red-green', '#64a8ff', 'brightBlue', [], 4.5, 3],
  ['ansi16', '#7fca95', 'green', [], 4.5, 3],
  ['mono', '#7fca95', 'green', [], 4.5, 3],
] as const)('the theme %s that is shipped', (name, hex, ansi, terminal, least, leastFaint) => {
  const theme = load(name);
  if (typeof theme === 'string') throw new Error(theme);

  it('has a colour for every role that is built in', () => {
    expect(Object.keys(theme.roles)).toEqual([
      'main',
      'finder',
      'oracle',
      'librarian',
      'refactoring',
      'rush',
      'reviewer',
      'security',
      'tester',
    ]);
    expect(theme.roles['main']).toEqual(theme.tokens.title);
    expect(theme.tokens.ok).toEqual({ hex, ansi });
  });

  it('can be read on every background', () => {
    const painted = [theme.tokens.surface, theme.tokens.raised, theme.tokens.selection].map(({ hex }) => hex);
    const backgrounds = [...painted, ...terminal];
    const worst = (hex: string): number => Math.min(...backgrounds.map((background) => contrast(hex, background)));
    const { fg, muted, focus, ok, warn, err, info, title, faint } = theme.tokens;
    const weak = [fg, muted, focus, ok, warn, err, info, title, ...Object.values(theme.roles)].filter(
      (colour) => worst(colour.hex) < least,
    );
    expect(weak).toEqual([]);
    expect(worst(faint.hex)).toBeGreaterThanOrEqual(leastFaint);
  });

  it('gives roles of your own a colour, always the same', () => {
    expect(roleColour(theme, 'gardener')).toEqual(roleColour(theme, 'gardener'));
    expect(Object.values(theme.roles)).toContainEqual(roleColour(theme, 'gardener'));
  });
});

/** Linear light of a colour, as eyes without red cones (protanopia) or green ones (deuteranopia) see it: Viénot, Brettel, Mollon 1999. */
function seen(hex: string, without: 'red' | 'green'): readonly [number, number, number] {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => (Number.parseInt(hex.slice(at, at + 2), 16) / 255) ** 2.2);
  const [x, y, z] = without === 'red' ? [0.11238, 0.88762, 0.00401] : [0.29275, 0.70725, -0.02234];
  const both = x * r + y * g;
  return [both, both, z * (r - g) + b];
}

/** How far apart two colours look, 0 to about 1.7. */
const apart = (a: string, b: string, without: 'red' | 'green'): number => {
  const [one, other] = [seen(a, without), seen(b, without)];
  return Math.hypot(
    ...one.map((value, at) => Math.max(0, value) ** (1 / 2.2) - Math.max(0, other[at] ?? 0) ** (1 / 2.2)),
  );
};

describe('the theme red-green', () => {
  it.each(['red', 'green'] as const)('keeps good, bad and doubtful apart for eyes without %s', (without) => {
    const theme = load('red-green');
    if (typeof theme === 'string') throw new Error(theme);
    const { ok, warn, err } = theme.tokens;
    for (const [a, b] of [
      [ok, err],
      [ok, warn],
      [warn, err],
    ] as const)
      expect(apart(a.hex, b.hex, without)).toBeGreaterThan(0.25);
  });

  it.each(['red', 'green'] as const)('is better at that than the usual one, without %s', (without) => {
    const [usual, own] = [load('mimir-dark'), load('red-green')];
    if (typeof usual === 'string' || typeof own === 'string') throw new Error('not loaded');
    expect(apart(own.tokens.ok.hex, own.tokens.err.hex, without)).toBeGreaterThan(
      apart(usual.tokens.ok.hex, usual.tokens.err.hex, without),
    );
  });
});

describe('themes to choose from', () => {
  it('are the shipped ones first, then those of one’s own, each once', () => {
    const shippedOnes = ['ansi16', 'high-contrast', 'mimir-dark', 'mimir-light', 'mono', 'red-green'];
    const folder = mkdtempSync(`${own}/names-`);
    writeFileSync(`${folder}/zebra.yml`, '');
    writeFileSync(`${folder}/mono.yml`, '');
    writeFileSync(`${folder}/notes.txt`, '');
    expect(themeNames([folder, `${own}/missing`, shipped])).toEqual([...shippedOnes, 'zebra']);
  });

  it('may say how much colour they are shown with', () => {
    const coloursOf = (name: string, text?: string): string => {
      const theme = load(name, text);
      return typeof theme === 'string' ? theme : theme.colours;
    };
    expect(coloursOf('mimir-dark')).toBe('all');
    expect(coloursOf('mono')).toBe('none');
    expect(coloursOf('mine', 'name: mine\nextends: ansi16\n')).toBe('16');
  });
});

describe('a theme of your own', () => {
  it('extends another one', () => {
    const mine = load('mine', 'name: mine\nextends: mimir-dark\ntokens:\n  ok: "#00ff00"\nroles: {oracle: warn}\n');
    const base = load('mimir-dark');
    if (typeof mine === 'string' || typeof base === 'string') throw new Error('not loaded');
    expect(mine).toEqual({
      ...base,
      name: 'mine',
      tokens: { ...base.tokens, ok: { hex: '#00ff00', ansi: 'default' } },
      roles: { ...base.roles, oracle: base.tokens.warn },
    });
  });

  it('is told its faults with file, line and what is right', () => {
    expect(load('bad', 'name: bad\nextends: mimir-dark\ntokens:\n  ok: "#00ff00"\n  okay: "#00ff00"\n')).toBe(
      'bad.yml:5: tokens.okay: unknown token; use one of: fg, muted, faint, surface, raised, selection, border, focus, ok, warn, err, info, title',
    );
    expect(load('bad', 'name: bad\ntokens:\n  ok: "#00f"\n')).toBe(
      'bad.yml:3: tokens.ok: a colour must be "#" and six hex digits, such as "#7fca95"',
    );
    expect(load('bad', 'name: bad\nroles: {oracle: purple}\n')).toMatch(
      /^bad\.yml:2: roles\.oracle: the colour of a role must be a token \(fg, muted, /,
    );
    expect(load('bad', 'name: bad\nfonts: 3\n')).toBe(
      'bad.yml:2: fonts: unknown key; use one of: name, mode, extends, glyphs, colours, tokens, roles',
    );
    expect(load('bad', 'name: bad\ntokens: {fg: "#ffffff"\n')).toMatch(/^bad\.yml:\d:\d: /);
    expect(load('bad', 'name: bad\ntokens: {fg: "#ffffff"}\n')).toMatch(/^theme bad has no colour for muted, faint/);
  });

  it('is looked for by name only', () => {
    expect(load('../mimir-dark')).toBe('"../mimir-dark" is not a valid theme name: use letters, digits and hyphens');
    expect(load('none')).toMatch(/^there is no theme "none": looked for none\.yml in /);
    expect(load('loop', 'name: loop\nextends: loop\n')).toMatch(/extends more than 3 others, or itself/);
  });
});
