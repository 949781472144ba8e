/** Names to colours (themes/*.yml). Read by `config`, drawn by `tui`. */

const PLAIN = ['fg', 'muted', 'faint', 'surface', 'raised', 'selection', 'border', 'focus'] as const;
/** What a piece of text means; a theme says how it looks. `role:finder` and the like come from the theme's roles. */
export const TOKENS = [...PLAIN, 'ok', 'warn', 'err', 'info', 'title'] as const;
export type Token = (typeof TOKENS)[number];
const FROM_0 = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'] as const;
const FROM_8 = ['brightBlack', 'brightRed', 'brightGreen', 'brightYellow'] as const;
const FROM_12 = ['brightBlue', 'brightMagenta', 'brightCyan', 'brightWhite'] as const;
/** The sixteen colours of terminals, by their numbers. */
export const ANSI_NAMES = [...FROM_0, ...FROM_8, ...FROM_12] as const;
export type AnsiName = (typeof ANSI_NAMES)[number];

export interface Colour {
  /** `#rrggbb` */
  readonly hex: string;
  /** The colour at 16 colours; `default` and null are the terminal's own. */
  readonly ansi: AnsiName | 'default' | null;
}

export interface Theme {
  readonly name: string;
  readonly mode: 'dark' | 'light';
  readonly glyphs: 'unicode' | 'ascii';
  /** The most that it is shown with, whatever the terminal could: all, the terminal's own sixteen, or attributes alone. */
  readonly colours: 'all' | '16' | 'none';
  readonly tokens: Readonly<Record<Token, Colour>>;
  /** Role name -> colour; roles that are missing take one by a hash of their name. */
  readonly roles: Readonly<Record<string, Colour>>;
}

/** The colour of a role: its own in the theme, else one of the theme's by a hash of its name, always the same. */
export function roleColour(theme: Theme, role: string): Colour {
  const own = theme.roles[role];
  if (own !== undefined) return own;
  const names = Object.keys(theme.roles);
  let sum = 0;
  for (let at = 0; at < role.length; at++) sum = (sum * 31 + role.charCodeAt(at)) % 0xffff;
  return theme.roles[names[sum % Math.max(1, names.length)] ?? ''] ?? theme.tokens.fg;
}
