/**
 * Recognises escape sequences, in 7 and 8 bits, wherever they are split; it only says which characters belong to one.
 * A sequence that is never finished ends at the line's end or after a while: it must not swallow the text that follows.
 */
export class Escapes {
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
