/** How much colour a style is drawn with: what the terminal can, and no more than the theme wants. */
import { describe, expect, it } from 'vitest';
import type { Depth } from '../../../../src/ui/tui/terminal/styles.ts';
import { Styles } from '../../../../src/ui/tui/terminal/styles.ts';
import type { Style } from '../../../../src/app/views/text/line.ts';
import { theme } from '../../../support/theme.ts';

const look = (depth: Depth, colours: 'all' | '16' | 'none'): string => {
  const styles = new Styles({ ...theme, colours }, depth);
  return styles.step(0, styles.id({ fg: 'ok', bold: true })).replaceAll('\u001b', '^');
};

describe('a bold green style', () => {
  it.each([
    [24, 'all', '^[1;38;2;127;202;149m'],
    [8, 'all', '^[1;38;5;114m'],
    [4, 'all', '^[1;32m'],
    [0, 'all', '^[1m'],
    [24, '16', '^[1;32m'],
    [8, '16', '^[1;32m'],
    [0, '16', '^[1m'],
    [24, 'none', '^[1m'],
    [4, 'none', '^[1m'],
  ] as const)('at %d bits with a theme of %s colours', (depth, colours, sequence) => {
    expect(look(depth, colours)).toBe(sequence);
  });
});

describe('a light theme on a dark terminal', () => {
  const light = { ...theme, mode: 'light' } as const;
  const bare = (depth: Depth, background: 'dark' | 'light'): string => {
    const styles = new Styles(light, depth, false, background);
    return styles.step(0, styles.id({})).replaceAll('\u001b', '^');
  };
  const { fg, surface } = light.tokens;
  const parts = (hex: string): string => [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)).join(';');

  it('paints its own ground and letters, and nothing on a terminal that is light as well', () => {
    expect(bare(24, 'dark')).toBe(`^[38;2;${parts(fg.hex)};48;2;${parts(surface.hex)}m`);
    expect(bare(8, 'dark')).toMatch(/^\^\[38;5;\d+;48;5;\d+m$/);
    expect([bare(24, 'light'), bare(8, 'light'), bare(4, 'dark'), bare(0, 'dark')]).toEqual(['', '', '', '']);
  });
});

describe('with the sixteen colours', () => {
  const sixteen = (style: Style): string => {
    const styles = new Styles(theme, 4);
    return styles.step(0, styles.id(style)).replaceAll('\u001b', '^');
  };

  it('draws a badge by inversion, since the ground below the letters is the terminal’s own', () => {
    expect(sixteen({ fg: 'surface', bg: 'focus' })).toBe('^[7;96m');
  });

  it('never draws a colour on itself or its bright form', () => {
    expect(sixteen({ fg: 'role:finder', bg: 'selection' })).toBe('^[44m');
    expect(sixteen({ fg: 'ok', bg: 'selection' })).toBe('^[32;44m');
  });
});
