/**
 * Sanitises foreign text for a terminal: nothing in it can move the cursor, change a colour, hide or overwrite. Applied
 * once, when text enters the state.
 */
import { clusterWidth } from './width.ts';

/** Sanitises a whole text: only printable characters and newlines remain; tabs become spaces. */
export function toTerminal(text: string): string {
  if (CLEAN.test(text)) return text;
  const sanitiser = new Sanitiser();
  return sanitiser.push(text) + sanitiser.end();
}

/** Sanitises a text for a title or label: line breaks become spaces. */
export const toLabel = (text: string): string => toTerminal(text).replaceAll('\n', ' ');

/** A part of a text for an approval: the text itself, or the escape of a hidden character. */
export interface Piece {
  readonly text: string;
  readonly hidden: boolean;
}

/**
 * Splits a text that a person must see exactly. What `toTerminal` would drop becomes an escape (`\x1b`, `\u{202e}`),
 * and so do blanks that look like a space. Newlines stay.
 */
function pieces(text: string): readonly Piece[] {
  if (CLEAN.test(text)) return [{ text, hidden: false }];
  const out: Piece[] = [];
  let at = 0;
  for (const { 0: found, index } of text.matchAll(HIDDEN_RUNS)) {
    if (index > at) out.push({ text: text.slice(at, index), hidden: false });
    out.push({ text: Array.from(found, escapeOf).join(''), hidden: true });
    at = index + found.length;
  }
  return at < text.length ? [...out, { text: text.slice(at), hidden: false }] : out;
}

/** As `pieces`, joined to one text, for places without styles. */
export const escapeHidden = (text: string): string =>
  pieces(text)
    .map((piece) => piece.text)
    .join('');

/**
 * As `visible`, with a marker character on each side of an escape. Foreign text cannot contain the markers, since they
 * are hidden characters themselves, so an escape differs from the same letters in the text.
 */
export const markHidden = (text: string): string =>
  pieces(text)
    .map((piece) => (piece.hidden ? MARKS[0] + piece.text + MARKS[1] : piece.text))
    .join('');

/** Splits the result of `marked` into its pieces again. */
export const splitMarked = (text: string): readonly Piece[] =>
  text
    .split(/(\ufdd0[^\ufdd1]*\ufdd1)/)
    .filter((part) => part !== '')
    .map((part) => {
      const hidden = part.startsWith(MARKS[0]);
      return { text: hidden ? part.slice(1, -1) : part, hidden };
    });

/** Sanitises a stream, one instance each: a sequence that is split between two chunks is recognised. */
export class Sanitiser {
  readonly #escapes = new Escapes();
  /** A high surrogate or a joiner at the end of a chunk, kept until the next one. */
  #waiting = '';
  #before = '';
  #marks = 0;
  #column = 0;
  #afterReturn = false;

  /** Returns the sanitised text that is certain so far. */
  push(chunk: string): string {
    const text = this.#waiting + chunk;
    const last = text.charCodeAt(text.length - 1);
    const split = last >= 0xd800 && last <= 0xdbff;
    this.#waiting = split ? text.slice(-1) : '';
    return this.#harmless(split ? text.slice(0, -1) : text);
  }

  /** Returns the rest at the end of the stream. */
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

  /** The run of unproblematic characters from here; empty inside a sequence. */
  #runAt(text: string, at: number): string {
    if (!this.#escapes.ground || this.#afterReturn) return '';
    RUN.lastIndex = at;
    return RUN.exec(text)?.[0] ?? '';
  }

  /** The output for one character; null if it depends on the next chunk. */
  #one(char: string, text: string, next: number): string | null {
    if (char === JOINER && this.#escapes.ground) return this.#joined(text, next);
    if (this.#escapes.takes(char)) return '';
    // Carriage return and newline are one line break.
    if (char !== '\n' || !this.#afterReturn) return this.#letter(char);
    this.#afterReturn = false;
    return '';
  }

  /** Keeps a joiner only between two pictographs. Null if the next character is not known yet. */
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
    return this.#marks > MAX_MARKS ? '' : char;
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
    // A skin tone belongs to the pictograph before it; a joiner may still follow.
    this.#before = SKIN.test(text) && PICTURE.test(this.#before) ? this.#before + text : text;
    this.#marks = 0;
    return text;
  }
}

const TAB = 4;
const MAX_MARKS = 4;
const JOINER = '\u200d';
const PICTURE_STYLE = '\ufe0f';

const CLEAN = /^[\x20-\x7e\n]*$/;
/** Characters that are copied without inspection: ASCII and the letters and signs of common scripts. */
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
/** Controls and invisible characters: zero-width, bidi, fillers, tags, selectors, interlinear; and blanks other than the space. */
const HIDDEN =
  /^(?:[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\p{Noncharacter_Code_Point}\ufff9-\ufffb]|(?! )\p{Zs})/u;

/** Markers around an escape: noncharacters, which Unicode reserves for internal use. */
const MARKS = ['\ufdd0', '\ufdd1'] as const;

/** Runs of hidden characters except newlines, and of combining marks beyond the allowed number. */
const HIDDEN_RUNS = new RegExp(`(?:(?!\\n)${HIDDEN.source.slice(1)}|(?<=\\p{M}{${MAX_MARKS}})\\p{M})+`, 'gu');

function escapeOf(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  if (char === '\t') return '\\t';
  if (char === '\r') return '\\r';
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
}

/**
 * Recognises 7-bit and 8-bit escape sequences across chunks. An unfinished sequence ends with the line or at a maximum
 * length, so that it cannot swallow the text that follows.
 */
class Escapes {
  #state: State = 'ground';
  #length = 0;

  /** True outside of any sequence. */
  get ground(): boolean {
    return this.#state === 'ground';
  }

  /** True if the character belongs to a sequence, or starts one, and must not be shown. */
  takes(char: string): boolean {
    const code = char.codePointAt(0) ?? 0;
    if (code === 0x1b) return this.#enter('escape');
    // 8-bit introducers, and CAN and SUB, which cancel a sequence.
    const introduced = INTRODUCERS.get(code);
    if (introduced !== undefined) return this.#enter(introduced);
    if (this.#state === 'ground') return false;
    this.#length += 1;
    if (code === 0x0a || code === 0x0d || this.#length > MAX_LENGTH[this.#state]) {
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
/** Handles a character inside a sequence; true if it belongs to it. */
type Step = (code: number, to: (state: State) => void) => boolean;

/** Maximum length per state; the rest of a longer sequence is shown as text. */
const MAX_LENGTH: Readonly<Record<State, number>> = { ground: 0, escape: 1, intermediate: 8, csi: 256, string: 8192 };

const INTRODUCERS: ReadonlyMap<number, State> = new Map([
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
    // `ESC [`, and the introducers of strings: DCS, SOS, OSC, PM, APC, and the title of screen and tmux.
    if (code === 0x5b) return enterState(to, 'csi');
    if ('PX]^_k'.includes(String.fromCodePoint(code))) return enterState(to, 'string');
    if (code >= 0x20 && code <= 0x2f) return enterState(to, 'intermediate');
    to('ground');
    return code >= 0x30 && code <= 0x7e;
  },
  intermediate(code, to) {
    if (code >= 0x20 && code <= 0x2f) return true;
    to('ground');
    return code >= 0x30 && code <= 0x7e;
  },
  csi(code, to) {
    // Parameters and intermediates; terminals execute other controls inside without ending the sequence.
    if (code < 0x40 || code === 0x7f) return true;
    to('ground');
    return code <= 0x7e;
  },
  string(code, to) {
    // BEL ends a string; `ESC \` and ST are handled as introducers above.
    if (code === 0x07) to('ground');
    return true;
  },
};

function enterState(to: (state: State) => void, state: State): true {
  to(state);
  return true;
}
