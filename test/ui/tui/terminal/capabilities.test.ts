/** What a terminal can do, from what it says about itself and what the user says. */
import { describe, expect, it } from 'vitest';
import { capabilities } from '../../../../src/ui/tui/terminal/styles.ts';

const depth = (env: Readonly<Record<string, string>>): number => capabilities(env).depth;

describe('capabilities', () => {
  it('take the depth of colour from the terminal', () => {
    expect(depth({ TERM: 'xterm-256color', COLORTERM: 'truecolor' })).toBe(24);
    expect(['xterm-kitty', 'xterm-direct', 'foot', 'alacritty', 'wezterm'].map((TERM) => depth({ TERM }))).toEqual([
      24, 24, 24, 24, 24,
    ]);
    expect(depth({ TERM: 'xterm-256color', TERM_PROGRAM: 'iTerm.app' })).toBe(24);
    expect(['xterm-256color', 'tmux-256color', 'xterm', 'linux', 'vt100'].map((TERM) => depth({ TERM }))).toEqual([
      8, 8, 4, 4, 4,
    ]);
  });

  it('obey NO_COLOR, and the user before it', () => {
    expect(depth({ TERM: 'xterm-256color', NO_COLOR: '1' })).toBe(0);
    expect(depth({ TERM: 'xterm-256color', NO_COLOR: '' })).toBe(8);
    expect(capabilities({ TERM: 'xterm', NO_COLOR: '1' }, 'truecolor').depth).toBe(24);
    expect(capabilities({ TERM: 'xterm', COLORTERM: 'truecolor' }, 'never').depth).toBe(0);
    expect(capabilities({ TERM: 'xterm', COLORTERM: 'truecolor' }, '16').depth).toBe(4);
  });

  it('know a terminal that can show lines only', () => {
    expect([{ TERM: 'dumb' }, {}, { TERM: 'vt100' }].map((env) => capabilities(env).screen)).toEqual([
      false,
      false,
      true,
    ]);
  });

  it('take the letters from the locale', () => {
    const unicode = (env: Readonly<Record<string, string>>): boolean => capabilities(env).unicode;
    expect(unicode({ LANG: 'en_GB.UTF-8' })).toBe(true);
    expect(unicode({ LANG: 'en_GB.UTF-8', LC_ALL: 'C' })).toBe(false);
    expect(unicode({ LANG: 'C', LC_CTYPE: 'C.utf8' })).toBe(true);
    expect(unicode({ LC_ALL: '', LANG: 'POSIX' })).toBe(false);
    expect(unicode({})).toBe(true);
  });
});
