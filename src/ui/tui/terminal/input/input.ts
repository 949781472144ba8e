/** Listens to the terminal and hands on inputs; decides by time whether a lone ESC was the key. Pastes are sanitised here. */
import { toTerminal } from '../../../../app/views/text/sanitise.ts';
import type { Input } from '../terminal.ts';
import { csiKey, plainKey, ss3Key, withModifiers } from './keys.ts';

export interface InputParts {
  onInput(input: Input): void;
  /** Answers to our queries. */
  onReply(text: string): void;
  /** The terminal is gone. */
  onEnd(): void;
}

/** Keys come as soon as they are read; a lone ESC after this many milliseconds. */
const ESC_TIME = 30;
/** A sequence or a paste that stops in the middle is given up after this. */
const BROKEN_TIME = 1000;

/** Starts reading; the function that comes back stops. */
export function listen(stream: NodeJS.ReadStream, parts: InputParts): () => void {
  const tokenizer = new Tokenizer();
  let timer: NodeJS.Timeout | undefined;
  const emit = (tokens: readonly Token[]): void => {
    for (const token of tokens) {
      if (token.is === 'reply') parts.onReply(token.text);
      else parts.onInput(token.is === 'paste' ? { is: 'paste', text: toTerminal(token.text) } : token);
    }
  };
  const giveUp = (): void => {
    emit(tokenizer.giveUp());
  };
  const flush = (): void => {
    emit(tokenizer.flush());
    if (tokenizer.waits) timer = setTimeout(giveUp, BROKEN_TIME);
  };
  const read = (chunk: Uint8Array): void => {
    clearTimeout(timer);
    emit(tokenizer.push(chunk));
    if (tokenizer.waits) timer = setTimeout(flush, ESC_TIME);
  };
  const end = (): void => {
    parts.onEnd();
  };
  stream.on('data', read);
  stream.on('end', end);
  stream.on('error', end);
  stream.resume();
  return () => {
    clearTimeout(timer);
    stream.off('data', read);
    stream.off('end', end);
    stream.off('error', end);
    // Errors of a terminal that goes away after us are nobody's concern.
    stream.on('error', () => {});
    stream.pause();
  };
}

// Bytes of a terminal into inputs, the same however they were split over reads. Pastes are one input, so that nothing in
// them acts as a key; answers to queries never do either. Time is the caller's: it flushes what waits (input.ts).

/** An input, or the answer of the terminal to a query. */
export type Token = Input | { readonly is: 'reply'; readonly text: string };

export class Tokenizer {
  readonly #decoder = new TextDecoder('utf-8');
  #text = '';
  /** What was pasted so far; null outside of a paste. */
  #paste: string | null = null;

  /** True when something began that isn't complete: an ESC may be a key, or the begin of a sequence. */
  get waits(): boolean {
    return this.#text !== '' || this.#paste !== null;
  }

  /** What is complete with these bytes. */
  push(bytes: Uint8Array): readonly Token[] {
    this.#text += this.#decoder.decode(bytes, { stream: true });
    return this.#tokens();
  }

  /** 30 ms without more: an ESC was the key; ESC and a letter were Alt. Sequences that began go on waiting. */
  flush(): readonly Token[] {
    const rest = this.#text;
    if (this.#paste !== null || rest === '') return [];
    const body = rest.slice(rest.startsWith(ESC + ESC) ? 2 : 1);
    if (rest.startsWith(ESC) && body.length > 1 && '[O]P_^X'.includes(body.charAt(0))) return [];
    this.#text = '';
    return pressed(rest);
  }

  /** Nothing more for long: what began was cut off. A paste ends here, so that keys work again. */
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

  /** The paste goes on until its end mark, which may itself come in pieces. */
  #pasted(before: string): Found | null {
    const end = this.#text.indexOf(PASTE_END);
    if (end === -1) {
      const kept = Math.max(0, this.#text.length - PASTE_END.length + 1);
      if (before.length < MOST_PASTE) this.#paste = before + this.#text.slice(0, kept);
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
/** Characters of a paste that are kept. */
const MOST_PASTE = 4_000_000;
/** Characters of an answer; a longer one was cut off. */
const MOST_REPLY = 4096;

const lines = (text: string): string => text.replace(/\r\n?/g, '\n');
const key = (name: string): Input => ({ is: 'key', key: name });

/** The first token of a text; null when it is empty or not complete. */
function next(text: string): Found | null {
  if (text === '') return null;
  if (!text.startsWith(ESC)) return letter(text);
  const second = text[1];
  if (second === undefined) return null;
  if (second === ESC) return afterTwo(text);
  return sequence(text, 0) ?? (waitsForMore(text) ? null : alt(text));
}

/** ESC ESC: Alt with a sequence for some terminals, else the key ESC and what follows. */
function afterTwo(text: string): Found | null {
  const third = text[2];
  if (third === undefined) return null;
  if (third !== '[' && third !== 'O') return { length: 1, tokens: [key('esc')] };
  const found = sequence(text.slice(1), ALT);
  return found === null ? null : { ...found, length: found.length + 1 };
}

const ALT = 2;
// The control character of all these is ESC: `next` has looked.
const CSI = /^\p{Cc}\[([<=>?]?)([0-9;:]*)([ -/]*)([@-~])/u;
const CSI_BEGUN = /^\p{Cc}\[[<=>?]?[0-9;:]*[ -/]*/u;
const STRING = /^\p{Cc}[\]P_^X]/u;

const waitsForMore = (text: string): boolean =>
  CSI_BEGUN.exec(text)?.[0].length === text.length ||
  text === '\u001b[[' ||
  text === '\u001bO' ||
  text.startsWith('\u001b[M') ||
  STRING.test(text);

/** A whole sequence at the start of the text, or null. */
function sequence(text: string, modifiers: number): Found | null {
  if (text.startsWith('\u001b[[')) return console1(text);
  // The old mouse report: three bytes follow.
  if (text.startsWith('\u001b[M')) return text.length < 6 ? null : { length: 6, tokens: [] };
  const csi = CSI.exec(text);
  if (csi !== null) return ofCsi(csi, modifiers);
  if (text.startsWith('\u001bO') && text.length > 2) return named(ss3Key(text.charAt(2)), 3, modifiers);
  return STRING.test(text) ? stringReply(text) : brokenOff(text);
}

/** A sequence that ends in another one, or in a letter that can't be part of it. */
function brokenOff(text: string): Found | null {
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
  if ((button & WHEEL) !== 0) {
    return (button & 2) === 0 ? [{ is: 'wheel', ...place, by: (button & 1) === 0 ? -1 : 1 }] : [];
  }
  return (button & (MOTION | 3)) === 0 ? [{ is: 'click', ...place }] : [];
}

/** An answer as a string (OSC, DCS …); one that was cut off ends where the next sequence begins. */
function stringReply(text: string): Found | null {
  const ends = ['\u0007', '\u009c', ESC].map((end) => text.indexOf(end, 2)).filter((at) => at !== -1);
  const at = Math.min(...ends);
  if (at === Infinity) return text.length < MOST_REPLY ? null : { length: text.length, tokens: [] };
  if (text[at] !== ESC) return { length: at + 1, tokens: [{ is: 'reply', text: text.slice(0, at + 1) }] };
  if (at + 1 === text.length) return null;
  return text[at + 1] === '\\'
    ? { length: at + 2, tokens: [{ is: 'reply', text: text.slice(0, at + 2) }] }
    : { length: at, tokens: [] };
}

/** ESC and a letter: Alt. */
function alt(text: string): Found | null {
  const found = letter(text.slice(1));
  const first = found?.tokens[0];
  if (found === null || first?.is !== 'key') return null;
  return { length: found.length + 1, tokens: [key(altered(first.key))] };
}

const altered = (name: string): string => (name.startsWith('ctrl-') ? `ctrl-alt-${name.slice(5)}` : `alt-${name}`);

/** A picture may consist of several code points, and more of them may still come. */
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
  // 8-bit controls and broken bytes aren't keys.
  const isKey = (code < 0x80 || code > 0x9f) && char !== '\ufffd';
  return { length: char.length, tokens: isKey ? [key(plainKey(char))] : [] };
}

/** What waited turns out to be keys: ESC, ESC ESC, Alt and a letter, or a picture. */
function pressed(text: string): readonly Token[] {
  if (!text.startsWith(ESC)) return [key(text)];
  if (text === ESC || text === ESC + ESC) return Array.from(text, () => key('esc'));
  const before = text.lastIndexOf(ESC);
  return [...Array.from(text.slice(0, before), () => key('esc')), key(altered(text.slice(before + 1)))];
}
