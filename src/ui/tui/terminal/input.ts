/** Reads the terminal and emits inputs. Decides by time whether a lone ESC was the key. Sanitises pastes. */
import { toTerminal } from '../../../app/views/index.ts';
import type { Input } from './terminal.ts';

export interface InputParts {
  onInput(input: Input): void;
  /** Receives answers of the terminal to queries. */
  onReply(text: string): void;
  /** Called when the terminal is closed. */
  onEnd(): void;
}

/** Milliseconds after which a lone ESC counts as the key. */
const ESC_TIME = 30;
/** Milliseconds after which an incomplete sequence or paste is given up. */
const GIVE_UP_TIME = 1000;

/** Starts reading; the returned function stops. */
export function listen(stream: NodeJS.ReadStream, parts: InputParts): () => void {
  const tokenizer = new Tokenizer();
  let timer: NodeJS.Timeout | undefined;
  const emit = (tokens: readonly Token[]): void => {
    for (const token of tokens) {
      if (token.is === 'reply') parts.onReply(token.text);
      else parts.onInput(token.is === 'paste' ? { is: 'paste', text: toTerminal(token.text) } : token);
    }
  };
  const giveUp = (): void => emit(tokenizer.giveUp());
  const flush = (): void => {
    emit(tokenizer.flush());
    if (tokenizer.waits) timer = setTimeout(giveUp, GIVE_UP_TIME);
  };
  const read = (chunk: Uint8Array): void => {
    clearTimeout(timer);
    emit(tokenizer.push(chunk));
    if (tokenizer.waits) timer = setTimeout(flush, ESC_TIME);
  };
  const end = (): void => parts.onEnd();
  stream.on('data', read);
  stream.on('end', end);
  stream.on('error', end);
  stream.resume();
  return () => {
    clearTimeout(timer);
    stream.off('data', read);
    stream.off('end', end);
    stream.off('error', end);
    // Ignores errors of a terminal that closes later.
    stream.on('error', () => {});
    stream.pause();
  };
}

/** An input, or an answer of the terminal. */
export type Token = Input | { readonly is: 'reply'; readonly text: string };

/** Converts bytes of a terminal to tokens, however they are split over reads. A paste is one token, so that nothing in it acts as a
 * key; neither do answers to queries. The caller keeps time and flushes. */
export class Tokenizer {
  readonly #decoder = new TextDecoder('utf-8');
  #text = '';
  #paste: string | null = null;

  /** True if something is incomplete: an ESC may be a key or start a sequence. */
  get waits(): boolean {
    return this.#text !== '' || this.#paste !== null;
  }

  push(bytes: Uint8Array): readonly Token[] {
    this.#text += this.#decoder.decode(bytes, { stream: true });
    return this.#tokens();
  }

  /** Called after 30 ms without input: an ESC was the key, ESC and a letter were Alt. Longer sequences keep waiting. */
  flush(): readonly Token[] {
    const rest = this.#text;
    if (this.#paste !== null || rest === '') return [];
    const body = rest.slice(rest.startsWith(ESC + ESC) ? 2 : 1);
    if (rest.startsWith(ESC) && body.length > 1 && '[O]P_^X'.includes(body.charAt(0))) return [];
    this.#text = '';
    return pressed(rest);
  }

  /** Called after a long pause: drops an incomplete sequence and ends a paste, so that keys work again. */
  giveUp(): readonly Token[] {
    const paste = this.#paste;
    const rest = this.#text;
    this.#text = '';
    this.#paste = null;
    return paste === null ? [] : [{ is: 'paste', text: lines(paste + rest) }];
  }

  #tokens(): readonly Token[] {
    const tokens: Token[] = [];
    for (;;) {
      const found = this.#paste === null ? next(this.#text) : this.#pasted(this.#paste);
      if (found === null) return tokens;
      this.#text = this.#text.slice(found.length);
      if (found.begins === 'paste') this.#paste = '';
      tokens.push(...found.tokens);
    }
  }

  /** Reads a paste until its end mark, which may arrive in parts. */
  #pasted(before: string): Found | null {
    const end = this.#text.indexOf(PASTE_END);
    if (end === -1) {
      const kept = Math.max(0, this.#text.length - PASTE_END.length + 1);
      if (before.length < MAX_PASTE) this.#paste = before + this.#text.slice(0, kept);
      this.#text = this.#text.slice(kept);
      return null;
    }
    this.#paste = null;
    return {
      length: end + PASTE_END.length,
      tokens: [{ is: 'paste', text: lines(before + this.#text.slice(0, end)) }],
    };
  }
}

interface Found {
  readonly length: number;
  readonly tokens: readonly Token[];
  readonly begins?: 'paste';
}

const ESC = '\u001b';
const PASTE_END = '\u001b[201~';
const MAX_PASTE = 4_000_000;
const MAX_REPLY = 4096;
const lines = (text: string): string => text.replace(/\r\n?/g, '\n');
const key = (name: string): Input => ({ is: 'key', key: name });

/** The first token of a text; null if it is empty or incomplete. */
function next(text: string): Found | null {
  if (text === '') return null;
  if (!text.startsWith(ESC)) return letter(text);
  const second = text[1];
  if (second === undefined) return null;
  return second === ESC ? afterTwo(text) : (sequence(text, 0) ?? (waitsForMore(text) ? null : alt(text)));
}

/** ESC ESC is Alt with a sequence for some terminals, otherwise the key ESC followed by more. */
function afterTwo(text: string): Found | null {
  const third = text[2];
  if (third === undefined) return null;
  if (third !== '[' && third !== 'O') return { length: 1, tokens: [key('esc')] };
  const found = sequence(text.slice(1), ALT);
  return found === null ? null : { ...found, length: found.length + 1 };
}

// The control character in these patterns is ESC, as `next` has checked.
const CSI = /^\p{Cc}\[([<=>?]?)([0-9;:]*)([ -/]*)([@-~])/u;
const CSI_BEGUN = /^\p{Cc}\[[<=>?]?[0-9;:]*[ -/]*/u;
const STRING = /^\p{Cc}[\]P_^X]/u;

const waitsForMore = (text: string): boolean =>
  CSI_BEGUN.exec(text)?.[0].length === text.length ||
  text === '\u001b[[' ||
  text === '\u001bO' ||
  text.startsWith('\u001b[M') ||
  STRING.test(text);

function sequence(text: string, modifiers: number): Found | null {
  if (text.startsWith('\u001b[[')) return console1(text);
  // The old mouse report has three further bytes.
  if (text.startsWith('\u001b[M')) return text.length < 6 ? null : { length: 6, tokens: [] };
  const csi = CSI.exec(text);
  if (csi !== null) return ofCsi(csi, modifiers);
  if (text.startsWith('\u001bO') && text.length > 2) return named(ss3Key(text.charAt(2)), 3, modifiers);
  return STRING.test(text) ? stringReply(text) : cutOff(text);
}

/** A sequence that is cut off by another one or by a letter that cannot belong to it. */
function cutOff(text: string): Found | null {
  const begun = CSI_BEGUN.exec(text)?.[0].length ?? 0;
  return begun < 3 || begun === text.length ? null : { length: begun, tokens: [] };
}

const named = (name: string | null, length: number, modifiers: number): Found => ({
  length,
  tokens: name === null ? [] : [key(withModifiers(name, modifiers))],
});

/** F1 to F5 of the Linux console: `ESC [ [ A`. */
function console1(text: string): Found | null {
  const letter = text.charAt(3);
  if (letter === '') return null;
  const at = 'ABCDE'.indexOf(letter);
  return { length: 4, tokens: at === -1 ? [] : [key(`f${at + 1}`)] };
}

function ofCsi(csi: RegExpExecArray, modifiers: number): Found {
  const [whole, mark = '', parameters = '', between = '', final = ''] = csi;
  const length = whole.length;
  if (mark === '<') return { length, tokens: mouse(parameters, final) };
  if (mark !== '' || between !== '') return { length, tokens: [{ is: 'reply', text: whole }] };
  const special = SPECIAL[whole.slice(1)];
  return special === undefined ? named(csiKey(parameters, final), length, modifiers) : { length, ...special };
}

const SPECIAL: Readonly<Record<string, Omit<Found, 'length'>>> = {
  '[I': { tokens: [{ is: 'focus' }] },
  '[O': { tokens: [{ is: 'blur' }] },
  '[200~': { tokens: [], begins: 'paste' },
};

const WHEEL = 64;
const MOTION = 32;

function mouse(parameters: string, final: string): readonly Token[] {
  const [button = 0, x = 1, y = 1] = parameters.split(';').map(Number);
  const place = { x: x - 1, y: y - 1 };
  if (final !== 'M') return [];
  if ((button & WHEEL) !== 0)
    return (button & 2) === 0 ? [{ is: 'wheel', ...place, by: (button & 1) === 0 ? -1 : 1 }] : [];
  return (button & (MOTION | 3)) === 0 ? [{ is: 'click', ...place }] : [];
}

/** An answer as a string (OSC, DCS …); an interrupted one ends where the next sequence starts. */
function stringReply(text: string): Found | null {
  const ends = ['\u0007', '\u009c', ESC].map((end) => text.indexOf(end, 2)).filter((at) => at !== -1);
  const at = Math.min(...ends);
  if (at === Infinity) return text.length < MAX_REPLY ? null : { length: text.length, tokens: [] };
  if (text[at] !== ESC) return { length: at + 1, tokens: [{ is: 'reply', text: text.slice(0, at + 1) }] };
  if (at + 1 === text.length) return null;
  return text[at + 1] === '\\'
    ? { length: at + 2, tokens: [{ is: 'reply', text: text.slice(0, at + 2) }] }
    : { length: at, tokens: [] };
}

function alt(text: string): Found | null {
  const found = letter(text.slice(1));
  const first = found?.tokens[0];
  if (found === null || first?.is !== 'key') return null;
  return { length: found.length + 1, tokens: [key(withAlt(first.key))] };
}

const withAlt = (name: string): string => (name.startsWith('ctrl-') ? `ctrl-alt-${name.slice(5)}` : `alt-${name}`);

/** An emoji may have several code points, and more may follow. */
const PICTURE =
  /^(?:\p{Regional_Indicator}{1,2}|(?![\x20-\x7e\p{Regional_Indicator}])\p{Extended_Pictographic}(?:\ufe0f|\p{Emoji_Modifier})?(?:\u200d(?:\p{Extended_Pictographic}(?:\ufe0f|\p{Emoji_Modifier})?)?)*)/u;

function letter(text: string): Found | null {
  const picture = PICTURE.exec(text)?.[0];
  if (picture !== undefined) {
    const isFlag = /^\p{Regional_Indicator}{2}$/u.test(picture);
    return picture.length === text.length && !isFlag ? null : { length: picture.length, tokens: [key(picture)] };
  }
  const char = String.fromCodePoint(text.codePointAt(0) ?? 0);
  const code = char.codePointAt(0) ?? 0;
  // 8-bit controls and invalid bytes are no keys.
  const isKey = (code < 0x80 || code > 0x9f) && char !== '\ufffd';
  return { length: char.length, tokens: isKey ? [key(plainKey(char))] : [] };
}

/** Converts waiting text to keys: ESC, ESC ESC, Alt and a letter, or an emoji. */
function pressed(text: string): readonly Token[] {
  if (!text.startsWith(ESC)) return [key(text)];
  if (text === ESC || text === ESC + ESC) return Array.from(text, () => key('esc'));
  const before = text.lastIndexOf(ESC);
  return [...Array.from(text.slice(0, before), () => key('esc')), key(withAlt(text.slice(before + 1)))];
}

/** Modifier bits of xterm and kitty, whose parameters are one higher. */
const SHIFT = 1;
const ALT = 2;
const CTRL = 4;

function withModifiers(key: string, modifiers: number): string {
  if (key === 'tab' && (modifiers & SHIFT) !== 0) return withModifiers('backtab', modifiers & ~SHIFT);
  const shift = (modifiers & SHIFT) !== 0 && key !== 'backtab' ? 'shift-' : '';
  return `${(modifiers & CTRL) === 0 ? '' : 'ctrl-'}${(modifiers & ALT) === 0 ? '' : 'alt-'}${shift}${key}`;
}

function plainKey(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  const name = CONTROLS[code];
  if (name !== undefined) return name;
  // 1 to 26 are letters, 28 to 31 the characters after them.
  return code < 0x20 ? `ctrl-${String.fromCharCode(code + (code < 27 ? 96 : 64))}` : char;
}

const CONTROLS: Readonly<Record<number, string>> = {
  0: 'ctrl- ',
  9: 'tab',
  13: 'enter',
  27: 'esc',
  127: 'backspace',
};

function csiKey(parameters: string, final: string): string | null {
  const [first = '', second = ''] = parameters.split(';');
  const modifiers = modifiersOf(second);
  if (modifiers === null) return null;
  if (final === 'u') return kittyKey(first, modifiers);
  if (final === '~') return tildeKey(parameters, first, modifiers);
  return final === '^' ? keyNamed(TILDE[first], modifiers | CTRL) : keyNamed(FINAL[final], modifiers);
}

const ss3Key = (final: string): string | null => FINAL[final] ?? KEYPAD[final] ?? null;

function modifiersOf(parameter: string): number | null {
  const [modifiers = '', event = ''] = parameter.split(':');
  if (event === '3') return null;
  return modifiers === '' ? 0 : (Number(modifiers) - 1) & (SHIFT | ALT | CTRL);
}

const keyNamed = (key: string | undefined, modifiers: number): string | null =>
  key === undefined ? null : withModifiers(key, modifiers);

function tildeKey(parameters: string, first: string, modifiers: number): string | null {
  // modifyOtherKeys: 27 ; modifiers ; code.
  if (first === '27') return kittyKey(parameters.split(';')[2] ?? '', modifiers);
  return keyNamed(TILDE[first], modifiers);
}

function kittyKey(parameter: string, modifiers: number): string | null {
  const code = Number(parameter.split(':')[0]);
  const key = KITTY[code] ?? (code > 0x1f && code < 0xe000 ? String.fromCodePoint(code) : undefined);
  if (key === undefined) return null;
  if (key.length > 1) return withModifiers(key, modifiers);
  // Without other modifiers, Shift is part of the letter.
  return modifiers === SHIFT ? key.toUpperCase() : withModifiers(key, modifiers);
}

/** Parses key names by their code in a sequence: `A:up`. */
const namesOf = (...rows: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(
    rows.flatMap((row) =>
      row.split(' ').map((pair) => [pair.slice(0, pair.indexOf(':')), pair.slice(pair.indexOf(':') + 1)]),
    ),
  );

const FINAL = namesOf(
  'A:up B:down C:right D:left E:begin F:end H:home P:f1 Q:f2 R:f3 S:f4 Z:backtab a:shift-up',
  'b:shift-down c:shift-right d:shift-left',
);

/** The number pad of a VT. */
const KEYPAD = namesOf('M:enter j:* k:+ l:, m:- n:. o:/ p:0 q:1 r:2 s:3 t:4 u:5 v:6 w:7 x:8 y:9');

const TILDE = namesOf(
  '1:home 2:insert 3:delete 4:end 5:pageup 6:pagedown 7:home 8:end 11:f1 12:f2 13:f3 14:f4 15:f5 17:f6',
  '18:f7 19:f8 20:f9 21:f10 23:f11 24:f12',
);

const KITTY = namesOf(
  '9:tab 13:enter 27:esc 127:backspace 57414:enter 57417:left 57418:right 57419:up 57420:down',
  '57421:pageup 57422:pagedown 57423:home 57424:end 57425:insert 57426:delete',
);
