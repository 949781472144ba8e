/** Themes: what is shipped can be read, and what is wrong in a file is said with its line. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { afterAll, describe, expect, it } from 'vitest';
import { loadTheme } from '../../src/config/themes.ts';
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
  ['mimir-dark', '#7fca95', []],
  ['mimir-light', '#17602c', ['#ffffff']],
])('the theme %s that is shipped', (name, green, terminal) => {
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
    expect(theme.tokens.ok).toEqual({ hex: green, ansi: 'green' });
  });

  it('can be read on every background', () => {
    const painted = [theme.tokens.surface, theme.tokens.raised, theme.tokens.selection].map(({ hex }) => hex);
    const backgrounds = [...painted, ...terminal];
    const worst = (hex: string): number => Math.min(...backgrounds.map((background) => contrast(hex, background)));
    const { fg, muted, focus, ok, warn, err, info, title, faint } = theme.tokens;
    const weak = [fg, muted, focus, ok, warn, err, info, title, ...Object.values(theme.roles)].filter(
      ({ hex }) => worst(hex) < 4.5,
    );
    expect(weak).toEqual([]);
    expect(worst(faint.hex)).toBeGreaterThanOrEqual(3);
  });

  it('gives roles of your own a colour, always the same', () => {
    expect(roleColour(theme, 'gardener')).toEqual(roleColour(theme, 'gardener'));
    expect(Object.values(theme.roles)).toContainEqual(roleColour(theme, 'gardener'));
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
      'bad.yml:5: tokens.okay: there is no such token; tokens are fg, muted, faint, surface, raised, selection, border, focus, ok, warn, err, info, title',
    );
    expect(load('bad', 'name: bad\ntokens:\n  ok: "#00f"\n')).toBe(
      'bad.yml:3: tokens.ok: a colour is "#" and six hex digits, such as "#7fca95"',
    );
    expect(load('bad', 'name: bad\nroles: {oracle: purple}\n')).toMatch(
      /^bad\.yml:2: roles\.oracle: a role's colour is a token \(fg, muted, /,
    );
    expect(load('bad', 'name: bad\nfonts: 3\n')).toBe(
      'bad.yml:2: fonts: not known; a theme has name, mode, extends, glyphs, tokens, roles',
    );
    expect(load('bad', 'name: bad\ntokens: {fg: "#ffffff"\n')).toMatch(/^bad\.yml:\d: /);
    expect(load('bad', 'name: bad\ntokens: {fg: "#ffffff"}\n')).toMatch(/^theme bad: no colour for muted, faint/);
  });

  it('is looked for by name only', () => {
    expect(load('../mimir-dark')).toBe('"../mimir-dark" is no name of a theme: letters, digits and hyphens');
    expect(load('none')).toMatch(/^there is no theme "none": looked for none\.yml in /);
    expect(load('loop', 'name: loop\nextends: loop\n')).toMatch(/extends more than 3 others, or itself/);
  });
});
