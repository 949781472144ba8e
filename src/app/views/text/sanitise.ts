/** Sanitises foreign text once, as it enters the state: nothing in it can move the cursor, change a colour, hide or overwrite. */
import { clusterWidth, isSimple } from './width.ts';

/** Sanitises a whole text: only printable characters and newlines remain; tabs become spaces. */
export const toTerminal = (text: string): string =>
  CLEAN.test(text) ? text : expandTabs(toLetters(withoutHidden(text)), 0);

/** Sanitises a text for a title or label: line breaks become spaces. */
export const toLabel = (text: string): string => toTerminal(text).replaceAll('\n', ' ');

/** A part of a text for an approval: the text itself, or the escape of a hidden character. */
export interface Piece {
  readonly text: string;
  readonly hidden: boolean;
}

/** Splits a text that a person must see exactly. What `toTerminal` would drop becomes an escape (`\x1b`, `\u{202e}`),
 * and so do blanks that look like a space. Newlines stay. */
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

/** As `pieces`, with a marker character on each side of an escape. Foreign text cannot contain the markers, since they
 * are hidden characters themselves, so an escape differs from the same letters in the text. */
export const markHidden = (text: string): string =>
  pieces(text)
    .map((piece) => (piece.hidden ? MARKS[0] + piece.text + MARKS[1] : piece.text))
    .join('');

/** Splits the result of `markHidden` into its pieces again. */
export const splitMarked = (text: string): readonly Piece[] =>
  text
    .split(/(\ufdd0[^\ufdd1]*\ufdd1)/)
    .filter((part) => part !== '')
    .map((part) => {
      const hidden = part.startsWith(MARKS[0]);
      return { text: hidden ? part.slice(1, -1) : part, hidden };
    });

/** Sanitises a stream, one instance each. The result is that of the whole text, however it was split into chunks. */
export class Sanitiser {
  /** An escape sequence or a high surrogate that the next chunk may complete. */
  #sequence = '';
  /** Letters whose meaning depends on the next one. */
  #waiting = '';
  /** The last letters, on which marks and joiners depend. */
  #before = '';
  #column = 0;

  /** Returns the sanitised text that is certain so far. */
  push(chunk: string): string {
    const raw = this.#sequence + chunk;
    this.#sequence = UNFINISHED.exec(raw)?.[0] ?? '';
    return this.#take(raw.slice(0, raw.length - this.#sequence.length), /(?:\r|\u200d(?:\u200d|\ufe0f)*)$/);
  }

  end(): string {
    return this.#take(this.#sequence);
  }

  #take(raw: string, waits?: RegExp): string {
    const text = this.#waiting + withoutHidden(raw);
    this.#waiting = waits?.exec(text)?.[0] ?? '';
    const known = toLetters(this.#before).length;
    const letters = toLetters(this.#before + text.slice(0, text.length - this.#waiting.length)).slice(known);
    this.#before = (this.#before + letters).slice(-CONTEXT);
    const shown = expandTabs(letters, this.#column);
    const line = shown.lastIndexOf('\n') + 1;
    this.#column = (line === 0 ? this.#column : 0) + columnsOf(shown.slice(line));
    return shown;
  }
}

/** Letters of which the meaning of the next one depends: four marks, or a pictograph with its style. */
const CONTEXT = 16;

const withoutHidden = (text: string): string => (CLEAN.test(text) ? text : text.toWellFormed().replaceAll(REMOVED, ''));

/** Applies the rules for single characters. Tabs stay. */
const toLetters = (text: string): string =>
  CLEAN.test(text) ? text : RULES.reduce((letters, [pattern, instead]) => letters.replaceAll(pattern, instead), text);

/** The columns of all characters by themselves, which does not depend on how a stream was split. */
const columnsOf = (text: string): number =>
  isSimple(text) ? text.length : Array.from(text).reduce((sum, char) => sum + clusterWidth(char), 0);

function expandTabs(text: string, column: number): string {
  if (!text.includes('\t')) return text;
  let at = column;
  return text.replaceAll(/[^\t\n]+|[\t\n]/g, (part) => {
    const shown = part === '\t' ? ' '.repeat(TAB - (at % TAB)) : part;
    at = part === '\n' ? 0 : at + columnsOf(shown);
    return shown;
  });
}

const TAB = 4;
const CLEAN = /^[\x20-\x7e\n]*$/;

/** 7-bit and 8-bit escape sequences: strings (DCS, SOS, OSC, PM, APC, and the title of screen and tmux), CSI, and other escapes; also CAN,
 * SUB and ST, which end a sequence. An unfinished one ends with the line or at a maximum length, so that it cannot swallow the text that
 * follows. Terminals execute other controls inside of CSI without ending it. */
const STRING = String.raw`(?:\x1b[PX\]^_k]|[\x90\x98\x9d-\x9f])[^\x07\n\r\x18\x1a\x1b\x90\x98\x9b-\x9f]{0,8192}`;
const CSI = String.raw`(?:\x1b\[|\x9b)[\x00-\x09\x0b\x0c\x0e-\x17\x19\x1c-\x3f\x7f]{0,256}`;
const ESCAPE = String.raw`\x1b[\x20-\x2f]{0,8}`;
const SEQUENCE = String.raw`${STRING}\x07?|${CSI}[\x40-\x7e]?|${ESCAPE}[\x30-\x7e]?|[\x18\x1a\x9c]`;
const UNFINISHED = new RegExp(String.raw`(?:${STRING}|${CSI}|${ESCAPE}|[\ud800-\udbff])$`, 'u');

/** Controls and invisible characters: zero-width, bidi, fillers, tags, selectors, interlinear. */
const INVISIBLE = String.raw`[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\p{Noncharacter_Code_Point}\ufff9-\ufffb]`;
const REMOVED = new RegExp(
  String.raw`${SEQUENCE}|(?![\n\r\t\u2028\u2029\u200d\ufe0f]|\p{Noncharacter_Code_Point})${INVISIBLE}`,
  'gu',
);
const MAX_MARKS = 4;

/** What becomes of characters, in this order. */
const RULES: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/\r\n?|[\u2028\u2029]/g, '\n'],
  [/\u3000/g, '  '],
  [/(?! )\p{Zs}/gu, ' '],
  [/\p{Noncharacter_Code_Point}/gu, '\ufffd'],
  // The emoji style stays only behind a character that has one, a joiner only between two pictographs.
  [/\ufe0f(?<!\p{Emoji}\ufe0f)/gu, ''],
  [/\u200d(?:(?<!\p{Extended_Pictographic}(?:\ufe0f|\p{Emoji_Modifier})?\u200d)|(?!\p{Extended_Pictographic}))/gu, ''],
  [new RegExp(String.raw`(\p{M}{${MAX_MARKS}})\p{M}+`, 'gu'), '$1'],
];

/** Markers around an escape: noncharacters, which Unicode reserves for internal use. */
const MARKS = ['\ufdd0', '\ufdd1'] as const;

/** Runs of hidden characters except newlines, of blanks that look like a space, and of combining marks beyond the allowed number. */
const HIDDEN_RUNS = new RegExp(String.raw`(?:(?!\n)(?:${INVISIBLE}|(?! )\p{Zs})|(?<=\p{M}{${MAX_MARKS}})\p{M})+`, 'gu');

function escapeOf(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  if (char === '\t') return '\\t';
  if (char === '\r') return '\\r';
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
}
