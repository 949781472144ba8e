/** Names of keys (terminal.ts) for the sequences that terminals send: xterm, VT, kitty (CSI u), rxvt, the Linux console. */

/** Modifiers as xterm and kitty count them, less one. */
const SHIFT = 1;
const ALT = 2;
const CTRL = 4;

/** A key with its modifiers in front, in the order ctrl, alt, shift. */
export function withModifiers(key: string, modifiers: number): string {
  if (key === 'tab' && (modifiers & SHIFT) !== 0) return withModifiers('backtab', modifiers & ~SHIFT);
  const shift = (modifiers & SHIFT) !== 0 && key !== 'backtab' ? 'shift-' : '';
  return `${(modifiers & CTRL) === 0 ? '' : 'ctrl-'}${(modifiers & ALT) === 0 ? '' : 'alt-'}${shift}${key}`;
}

/** The key of one control character or letter. */
export function plainKey(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  const named = CONTROLS[code];
  if (named !== undefined) return named;
  // 1..26 are the letters, 28..31 the signs behind them.
  return code < 0x20 ? `ctrl-${String.fromCharCode(code + (code < 27 ? 96 : 64))}` : char;
}

const CONTROLS: Readonly<Record<number, string>> = {
  0: 'ctrl- ',
  9: 'tab',
  13: 'enter',
  27: 'esc',
  127: 'backspace',
};

/** The key of `ESC [ parameters final`, or null for none that we know. */
export function csiKey(parameters: string, final: string): string | null {
  const [first = '', second = ''] = parameters.split(';');
  const modifiers = modifiersOf(second);
  if (modifiers === null) return null;
  if (final === 'u') return kittyKey(first, modifiers);
  if (final === '~') return tildeKey(parameters, first, modifiers);
  if (final === '^') return named(TILDE[first], modifiers | CTRL);
  return named(FINAL[final], modifiers);
}

/** The key of `ESC O final`. */
export const ss3Key = (final: string): string | null => FINAL[final] ?? KEYPAD[final] ?? null;

/** Null for the release of a key. */
function modifiersOf(parameter: string): number | null {
  const [modifiers = '', event = ''] = parameter.split(':');
  if (event === '3') return null;
  return modifiers === '' ? 0 : (Number(modifiers) - 1) & (SHIFT | ALT | CTRL);
}

const named = (key: string | undefined, modifiers: number): string | null =>
  key === undefined ? null : withModifiers(key, modifiers);

function tildeKey(parameters: string, first: string, modifiers: number): string | null {
  // modifyOtherKeys: 27 ; modifiers ; code.
  if (first === '27') return kittyKey(parameters.split(';')[2] ?? '', modifiers);
  return named(TILDE[first], modifiers);
}

function kittyKey(parameter: string, modifiers: number): string | null {
  const code = Number(parameter.split(':')[0]);
  const key = KITTY[code] ?? (code > 0x1f && code < 0xe000 ? String.fromCodePoint(code) : undefined);
  if (key === undefined) return null;
  if (key.length > 1) return withModifiers(key, modifiers);
  // Shift is in the letter already when nothing else is held.
  return modifiers === SHIFT ? key.toUpperCase() : withModifiers(key, modifiers);
}

const FINAL: Readonly<Record<string, string>> = {
  A: 'up',
  B: 'down',
  C: 'right',
  D: 'left',
  E: 'begin',
  F: 'end',
  H: 'home',
  P: 'f1',
  Q: 'f2',
  R: 'f3',
  S: 'f4',
  Z: 'backtab',
  a: 'shift-up',
  b: 'shift-down',
  c: 'shift-right',
  d: 'shift-left',
};

/** The number pad of a VT. */
const KEYPAD: Readonly<Record<string, string>> = {
  M: 'enter',
  j: '*',
  k: '+',
  l: ',',
  m: '-',
  n: '.',
  o: '/',
  p: '0',
  q: '1',
  r: '2',
  s: '3',
  t: '4',
  u: '5',
  v: '6',
  w: '7',
  x: '8',
  y: '9',
};

const TILDE: Readonly<Record<string, string>> = {
  1: 'home',
  2: 'insert',
  3: 'delete',
  4: 'end',
  5: 'pageup',
  6: 'pagedown',
  7: 'home',
  8: 'end',
  11: 'f1',
  12: 'f2',
  13: 'f3',
  14: 'f4',
  15: 'f5',
  17: 'f6',
  18: 'f7',
  19: 'f8',
  20: 'f9',
  21: 'f10',
  23: 'f11',
  24: 'f12',
};

const KITTY: Readonly<Record<number, string>> = {
  9: 'tab',
  13: 'enter',
  27: 'esc',
  127: 'backspace',
  57414: 'enter',
  57417: 'left',
  57418: 'right',
  57419: 'up',
  57420: 'down',
  57421: 'pageup',
  57422: 'pagedown',
  57423: 'home',
  57424: 'end',
  57425: 'insert',
  57426: 'delete',
};
