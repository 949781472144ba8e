/**
 * Makes text that others wrote harmless for a terminal: nothing in it can move the cursor, change a colour,
 * hide or overwrite. Applied once, where text enters the state. How it is drawn is the views' business.
 */
import { clusterWidth } from './width.ts';

/** A whole text made harmless. Only printable characters and newlines are left; tabs become spaces. */
export function toTerminal(text: string): string {
  if (HARMLESS.test(text)) return text;
  const sanitiser = new Sanitiser();
  return sanitiser.push(text) + sanitiser.end();
}

/** The same on one line, for titles and labels: line breaks become spaces. */
export const toLabel = (text: string): string => toTerminal(text).replaceAll('\n', ' ');

/** A part of a text for a prompt: as it is, or an escape that stands for something hidden. */
export interface Piece {
  readonly text: string;
  readonly hidden: boolean;
}

/**
 * For prompts where a person decides about exactly this text: what `toTerminal` would drop is shown as an escape instead
 * (`\x1b`, `\u{202e}`), blanks that look like a space too. Newlines stay; nothing is collapsed.
 */
export function pieces(text: string): readonly Piece[] {
  if (HARMLESS.test(text)) return [{ text, hidden: false }];
  const out: Piece[] = [];
  let at = 0;
  for (const { 0: found, index } of text.matchAll(UNSEEN)) {
    if (index > at) out.push({ text: text.slice(at, index), hidden: false });
    out.push({ text: Array.from(found, escaped).join(''), hidden: true });
    at = index + found.length;
  }
  return at < text.length ? [...out, { text: text.slice(at), hidden: false }] : out;
}

/** The same as one text, for where an escape can't look different from the same letters. */
export const visible = (text: string): string =>
  pieces(text)
    .map((piece) => piece.text)
    .join('');

/**
 * The same with signs around each escape, which no text can bring along: they are hidden characters themselves. So an
 * escape is never taken for the same letters in the text, and different texts stay different.
 */
export const marked = (text: string): string =>
  pieces(text)
    .map((piece) => (piece.hidden ? MARKS[0] + piece.text + MARKS[1] : piece.text))
    .join('');

/** What `marked` put together, taken apart again. */
export const unmarked = (text: string): readonly Piece[] =>
  text
    .split(/(\ufdd0[^\ufdd1]*\ufdd1)/)
    .filter((part) => part !== '')
    .map((part) => {
      const hidden = part.startsWith(MARKS[0]);
      return { text: hidden ? part.slice(1, -1) : part, hidden };
    });

/** Text that comes in pieces: a sequence split between two of them is still caught. One per stream. */
export class Sanitiser {
  readonly #escapes = new Escapes();
  /** A high surrogate or a joiner that waits for what follows. */
  #waiting = '';
  #before = '';
  #marks = 0;
  #column = 0;
  #afterReturn = false;

  /** The harmless part of what is known so far. */
  push(chunk: string): string {
    const text = this.#waiting + chunk;
    const last = text.charCodeAt(text.length - 1);
    // Half of a pair at the end waits for its other half.
    const split = last >= 0xd800 && last <= 0xdbff;
    this.#waiting = split ? text.slice(-1) : '';
    return this.#harmless(split ? text.slice(0, -1) : text);
  }

  /** What is left when nothing follows any more. */
  end(): string {
    const rest = this.#waiting;
    this.#waiting = '';
    return rest === '' || rest === JOINER ? '' : this.#letter('\ufffd');
  }

  #harmless(text: string): string {
    let out = '';
    for (let at = 0; at < text.length; ) {
      const run = this.#runAt(text, at);
      if (run !== '') {
        out += run;
        this.#after(run);
        at += run.length;
        continue;
      }
      const char = String.fromCodePoint(text.codePointAt(at) ?? 0);
      at += char.length;
      const kept = this.#one(char, text, at);
      if (kept === null) break;
      out += kept;
    }
    return out;
  }

  /** The rest of the letters from here that need no second look; none inside a sequence. */
  #runAt(text: string, at: number): string {
    if (!this.#escapes.ground || this.#afterReturn) return '';
    RUN.lastIndex = at;
    return RUN.exec(text)?.[0] ?? '';
  }

  /** What is shown of one character; null when it has to wait for the next. */
  #one(char: string, text: string, next: number): string | null {
    if (char === JOINER && this.#escapes.ground) return this.#joined(text, next);
    if (this.#escapes.takes(char)) return '';
    // Carriage return and newline are one line break.
    if (char !== '\n' || !this.#afterReturn) return this.#letter(char);
    this.#afterReturn = false;
    return '';
  }

  /** A joiner stays between two pictures only. Null: what follows isn't known yet. */
  #joined(text: string, next: number): string | null {
    if (!PICTURE.test(this.#before)) return '';
    if (next >= text.length) {
      this.#waiting = JOINER + this.#waiting;
      return null;
    }
    if (!PICTURE_START.test(text.slice(next, next + 2))) return '';
    this.#before = '';
    return JOINER;
  }

  #after(run: string): void {
    const line = run.lastIndexOf('\n');
    this.#column = line === -1 ? this.#column + run.length : run.length - line - 1;
    this.#before = run.slice(-1);
    this.#marks = 0;
  }

  #letter(char: string): string {
    this.#afterReturn = char === '\r';
    if (BREAKS.has(char)) return this.#break();
    if (char === '\t') return this.#wide(' '.repeat(TAB - (this.#column % TAB)));
    if (char === PICTURE_STYLE) return EMOJI.test(this.#before) ? this.#picture() : '';
    if (SPACE.test(char)) return this.#wide(char === '\u3000' ? '  ' : ' ');
    if (BROKEN.test(char)) return this.#wide('\ufffd');
    if (HIDDEN.test(char)) return '';
    return MARK.test(char) ? this.#mark(char) : this.#wide(char);
  }

  #break(): string {
    this.#column = 0;
    return this.#keep('\n');
  }

  #mark(char: string): string {
    this.#marks += 1;
    return this.#marks > MOST_MARKS ? '' : char;
  }

  #picture(): string {
    this.#before += PICTURE_STYLE;
    return PICTURE_STYLE;
  }

  #wide(text: string): string {
    this.#column += text.length === 1 ? clusterWidth(text) : text.length;
    return this.#keep(text);
  }

  #keep(text: string): string {
    // A skin tone belongs to the picture before it: a joiner may still follow.
    this.#before = SKIN.test(text) && PICTURE.test(this.#before) ? this.#before + text : text;
    this.#marks = 0;
    return text;
  }
}

const TAB = 4;
const MOST_MARKS = 4;
const JOINER = '\u200d';
const PICTURE_STYLE = '\ufe0f';

const HARMLESS = /^[\x20-\x7e\n]*$/;
/** Text that needs no second look: ASCII and the letters and signs of common scripts. */
const RUN =
  /[\x20-\x7e\n\u00a1-\u00ac\u00ae-\u02ff\u0370-\u0377\u037a-\u037f\u0384-\u038a\u0391-\u03a1\u03a3-\u0482\u2010-\u2027\u2030-\u205e\u2190-\u2319\u2500-\u25ff]+/y;
const MARK = /^\p{M}/u;
const SKIN = /^\p{Emoji_Modifier}/u;
const EMOJI = /^\p{Emoji}$/u;
const PICTURE = /^\p{Extended_Pictographic}(?:\ufe0f|\p{Emoji_Modifier})?$/u;
const PICTURE_START = /^\p{Extended_Pictographic}/u;
const BREAKS = new Set(['\n', '\r', '\u2028', '\u2029']);
const BROKEN = /^[\p{Cs}\p{Noncharacter_Code_Point}]/u;
const SPACE = /^\p{Zs}/u;
/** Controls, and everything that shows nothing: zero-width, bidi, fillers, tags, selectors, interlinear; foreign blanks. */
const HIDDEN =
  /^(?:[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\p{Noncharacter_Code_Point}\ufff9-\ufffb]|(?! )\p{Zs})/u;

/** Signs around an escape: characters that Unicode keeps for such use inside of a program. */
const MARKS = ['\ufdd0', '\ufdd1'] as const;

/** Runs of what `HIDDEN` knows but newlines, and marks beyond those that a letter may carry. */
const UNSEEN = new RegExp(`(?:(?!\\n)${HIDDEN.source.slice(1)}|(?<=\\p{M}{${MOST_MARKS}})\\p{M})+`, 'gu');

function escaped(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  if (char === '\t') return '\\t';
  if (char === '\r') return '\\r';
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
}

/**
 * Recognises escape sequences, in 7 and 8 bits, wherever they are split; it only says which characters belong to one.
 * A sequence that is never finished ends at the line's end or after a while: it must not swallow the text that follows.
 */
class Escapes {
  #state: State = 'ground';
  #length = 0;

  /** True outside of any sequence. */
  get ground(): boolean {
    return this.#state === 'ground';
  }

  /** True when this character belongs to a sequence (or begins one) and must not be shown. */
  takes(char: string): boolean {
    const code = char.codePointAt(0) ?? 0;
    if (code === 0x1b) return this.#enter('escape');
    // 8-bit beginnings, and CAN and SUB, which cancel whatever was begun.
    const begun = BEGINNINGS.get(code);
    if (begun !== undefined) return this.#enter(begun);
    if (this.#state === 'ground') return false;
    this.#length += 1;
    if (code === 0x0a || code === 0x0d || this.#length > LONGEST[this.#state]) {
      this.#state = 'ground';
      return false;
    }
    return STEPS[this.#state](code, (state) => {
      this.#state = state;
    });
  }

  #enter(state: State): true {
    this.#state = state;
    this.#length = 0;
    return true;
  }
}

type State = 'ground' | 'escape' | 'intermediate' | 'csi' | 'string';
/** What a character does inside a sequence: true when it belongs to it. */
type Step = (code: number, to: (state: State) => void) => boolean;

/** Longer ones aren't sequences that a terminal would know; their rest is shown as text. */
const LONGEST: Readonly<Record<State, number>> = { ground: 0, escape: 1, intermediate: 8, csi: 256, string: 8192 };

const BEGINNINGS: ReadonlyMap<number, State> = new Map([
  [0x18, 'ground'],
  [0x1a, 'ground'],
  [0x90, 'string'],
  [0x98, 'string'],
  [0x9b, 'csi'],
  [0x9c, 'ground'],
  [0x9d, 'string'],
  [0x9e, 'string'],
  [0x9f, 'string'],
]);

const STEPS: Readonly<Record<State, Step>> = {
  ground: () => false,
  escape(code, to) {
    // `ESC [` and the beginnings of strings: DCS, SOS, OSC, PM, APC, and the title of screen and tmux.
    if (code === 0x5b) return belongs(to, 'csi');
    if ('PX]^_k'.includes(String.fromCodePoint(code))) return belongs(to, 'string');
    if (code >= 0x20 && code <= 0x2f) return belongs(to, 'intermediate');
    to('ground');
    return code >= 0x30 && code <= 0x7e;
  },
  intermediate(code, to) {
    if (code >= 0x20 && code <= 0x2f) return true;
    to('ground');
    return code >= 0x30 && code <= 0x7e;
  },
  csi(code, to) {
    // Parameters and intermediates; other controls inside are obeyed by terminals without ending the sequence.
    if (code < 0x40 || code === 0x7f) return true;
    to('ground');
    return code <= 0x7e;
  },
  string(code, to) {
    // BEL ends a string; `ESC \` and ST are beginnings of their own (above).
    if (code === 0x07) to('ground');
    return true;
  },
};

function belongs(to: (state: State) => void, state: State): true {
  to(state);
  return true;
}
