/** How much colour a style is drawn with: what the terminal can, and no more than the theme wants. */
import { describe, expect, it } from 'vitest';
import type { Depth } from '../../../src/tui/term/capabilities.ts';
import { Styles } from '../../../src/tui/term/styles.ts';
import type { Style } from '../../../src/tui/text/line.ts';
import { theme } from '../../support/theme.ts';

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
