/** Measures how many terminal columns text takes, by grapheme clusters, so that a visible character is never cut in half. Expects sanitised text. */

/** The user-perceived characters of a text, in order. */
export const graphemes = (text: string): readonly string[] => (isSimple(text) ? text.split('') : [...clustersOf(text)]);

/** True if every UTF-16 unit of the text is a character of one column, so that it can be measured and cut by units. */
export const isSimple = (text: string): boolean => SIMPLE.test(text);

export function widthOf(text: string): number {
  if (isSimple(text)) return text.length;
  let width = 0;
  for (const cluster of clustersOf(text)) width += clusterWidth(cluster);
  return width;
}

/** Columns of one grapheme cluster: 0 for a mark without a base, 2 for wide letters and emoji, otherwise 1. */
export function clusterWidth(cluster: string): 0 | 1 | 2 {
  const code = cluster.codePointAt(0) ?? 0;
  // CR LF is one cluster too.
  if (code < 0x20 || (code > 0x7e && code < 0xa0)) return 0;
  if (code < 0x300 && cluster.length === 1) return 1;
  if (ZERO.test(cluster)) return 0;
  return WIDE.test(cluster) || PICTURE.test(cluster) ? 2 : 1;
}

/** True if all terminals agree on the width of this cluster, so that the cursor position after it is certain. */
export function isAgreed(cluster: string): boolean {
  const code = cluster.codePointAt(0) ?? 0;
  if (cluster.length > 1 || PREPENDED.test(cluster)) return false;
  return (
    code < 0x2000 || (code >= 0x2010 && code < 0x2100) || BOXES.test(cluster) || (isCjk(code) && !NEW.test(cluster))
  );
}

/** Characters of one unit and one column that never join: nearly all text on a screen. */
const SIMPLE =
  /^[\x20-\x7e\u00a1-\u00ac\u00ae-\u02ff\u2010-\u2027\u2030-\u205e\u2190-\u2319\u23ce\u2500-\u25fc\u2800-\u28ff\u276f\u27e9\u2713\u2717]*$/;

/** Splits off a Prepend character, which would otherwise join whatever follows, even a blank, so that lines can be composed of parts. */
function* clustersOf(text: string): Generator<string> {
  for (const { segment } of segmentsOf(text)) {
    let rest = segment;
    for (let first = firstOf(rest); first.length < rest.length && PREPENDED.test(first); first = firstOf(rest)) {
      yield first;
      rest = rest.slice(first.length);
    }
    yield rest;
  }
}

const firstOf = (text: string): string => String.fromCodePoint(text.codePointAt(0) ?? 0);

/** The Unicode property Prepended_Concatenation_Mark and some Indic letters. */
const PREPENDED =
  /^[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u0d4e\u{110bd}\u{110cd}\u{111c2}\u{111c3}\u{113d1}\u{1193f}\u{11941}\u{11a3a}\u{11a84}-\u{11a89}\u{11d46}\u{11f02}]$/u;

let segmenter: Intl.Segmenter | null = null;

/** Created on demand: it takes 15 ms, and few starts need it. */
function segmentsOf(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  return segmenter.segment(text);
}

/** Combining marks and invisible characters. */
const ZERO = /^[\p{Mn}\p{Me}\p{Default_Ignorable_Code_Point}]+$/u;
/** Flags, emoji, and characters that VS16 turns into an emoji: ❤️, 1️⃣. */
const PICTURE = /^(?:\p{Regional_Indicator}{2}|(?!\p{Regional_Indicator})\p{Emoji_Presentation}|\p{Emoji}\ufe0f)/u;
/** Arrows, mathematics, box drawing, blocks, shapes, braille: one column unless the terminal is set to CJK widths. */
const BOXES = /^(?!\p{Emoji_Presentation})[\u2190-\u22ff\u2500-\u25ff\u2800-\u28ff\u276f\u27e9\u2713\u2717\u25c6]$/u;

const isCjk = (code: number): boolean => (code >= 0x3041 && code < 0x4db0) || (code >= 0x4e00 && code < 0xd7a4);
/** Recent or unassigned CJK characters, which older terminals draw narrow. */
const NEW = /^[\p{Cn}\u31e4-\u31ef]$/u;

/** The wide ranges except emoji (East Asian Width W and F, Unicode 17). */
const WIDE = new RegExp(
  String.raw`^[\u1100-\u115f\u2329\u232a\u2e80-\u303e\u3041-\u3247\u3250-\u4dbf\u4e00-\ua4cf\ua960-\ua97c\uac00-\ud7a3` +
    String.raw`\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18dff}\u{1aff0}-\u{1b2ff}` +
    String.raw`\u{1f200}-\u{1f265}\u{20000}-\u{2fffd}\u{30000}-\u{3fffd}]`,
  'u',
);
