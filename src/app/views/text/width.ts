/**
 * How many columns text takes on a terminal, counted by grapheme clusters: what a person sees as one character is never
 * cut in half. Text is sanitised already (sanitise.ts); what is left to the painter is not to trust the terminal's count.
 */

/** The user-perceived characters of a text, in order. */
export function graphemes(text: string): readonly string[] {
  if (isSimple(text)) return text.split('');
  return [...clustersOf(text)];
}

/** True when every unit of a text is a letter or sign of one column by itself: it can be measured and cut by units. */
export const isSimple = (text: string): boolean => SIMPLE.test(text);

/** Columns of a text. */
export function widthOf(text: string): number {
  if (isSimple(text)) return text.length;
  let width = 0;
  for (const cluster of clustersOf(text)) width += clusterWidth(cluster);
  return width;
}

/** Columns of one grapheme cluster: 0 for a mark without a base, 2 for wide letters and emoji, else 1. */
export function clusterWidth(cluster: string): 0 | 1 | 2 {
  const code = cluster.codePointAt(0) ?? 0;
  // Also carriage return and newline, which are one cluster of nothing that can be shown.
  if (code < 0x20 || (code > 0x7e && code < 0xa0)) return 0;
  if (code < 0x300 && cluster.length === 1) return 1;
  if (ZERO.test(cluster)) return 0;
  return isWide(code) || PICTURE.test(cluster) ? 2 : 1;
}

/** True when every terminal agrees on the columns of this cluster, so that its cursor may be trusted after it. */
export function isAgreed(cluster: string): boolean {
  const code = cluster.codePointAt(0) ?? 0;
  if (cluster.length > 1 || PREPENDED.test(cluster)) return false;
  return (
    code < 0x2000 || (code >= 0x2010 && code < 0x2100) || BOXES.test(cluster) || (isCjk(code) && !NEW.test(cluster))
  );
}

/** Letters and signs of one unit and one column that never join: nearly all that is on a screen, found without segmenting. */
const SIMPLE =
  /^[\x20-\x7e\u00a1-\u00ac\u00ae-\u02ff\u2010-\u2027\u2030-\u205e\u2190-\u2319\u23ce\u2500-\u25fc\u2800-\u28ff\u276f\u27e9\u2713\u2717]*$/;

/** The first letter alone where it would take whatever follows, a blank too, into its cluster: a line could not be put together of parts. */
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

/** What Unicode calls Prepend: signs before a number, and a few letters of India. */
const PREPENDED =
  /^[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u0d4e\u{110bd}\u{110cd}\u{111c2}\u{111c3}\u{113d1}\u{1193f}\u{11941}\u{11a3a}\u{11a84}-\u{11a89}\u{11d46}\u{11f02}]$/u;

let segmenter: Intl.Segmenter | null = null;

/** Made for the first text that needs it: that takes 15 ms, and hardly a start has such a text. */
function segmentsOf(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  return segmenter.segment(text);
}

/** Marks, and what shows nothing at all. */
const ZERO = /^[\p{Mn}\p{Me}\p{Default_Ignorable_Code_Point}]+$/u;
/** Flags, emoji, and what is letters or signs otherwise when VS16 asks for its picture: ❤️, 1️⃣. */
const PICTURE = /^(?:\p{Regional_Indicator}{2}|(?!\p{Regional_Indicator})\p{Emoji_Presentation}|\p{Emoji}\ufe0f)/u;
/** Arrows, mathematics, boxes, blocks, shapes, braille: one column where the terminal isn't set to CJK widths. */
const BOXES = /^(?!\p{Emoji_Presentation})[\u2190-\u22ff\u2500-\u25ff\u2800-\u28ff\u276f\u27e9\u2713\u2717\u25c6]$/u;

const isCjk = (code: number): boolean => (code >= 0x3041 && code < 0x4db0) || (code >= 0x4e00 && code < 0xd7a4);
/** Of those what Unicode has only of late, or not yet: older terminals take it for narrow. */
const NEW = /^[\p{Cn}\u31e4-\u31ef]$/u;

/** First and last of each wide range that isn't emoji (East Asian Width W and F, Unicode 17). */
const WIDE: readonly (readonly [first: number, last: number])[] = [
  [0x1100, 0x115f],
  [0x2329, 0x232a],
  [0x2e80, 0x303e],
  [0x3041, 0x3247],
  [0x3250, 0x4dbf],
  [0x4e00, 0xa4cf],
  [0xa960, 0xa97c],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe10, 0xfe19],
  [0xfe30, 0xfe6f],
  [0xff01, 0xff60],
  [0xffe0, 0xffe6],
  [0x16fe0, 0x18dff],
  [0x1aff0, 0x1b2ff],
  [0x1f200, 0x1f265],
  [0x20000, 0x2fffd],
  [0x30000, 0x3fffd],
];

const isWide = (code: number): boolean => code >= 0x1100 && WIDE.some(([first, last]) => code >= first && code <= last);
