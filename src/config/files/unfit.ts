/**
 * Refuses some texts before YAML parsing: characters that other programs show as a line end but YAML does not, so that a comment could
 * hide keys; and input that is slow to parse. One pass of the lexer, linear in time.
 */
import { Lexer } from 'yaml';

export interface Unfit {
  readonly line: number;
  readonly column: number;
  readonly problem: string;
  readonly remedy: string;
}

export const MAX_KEYS = 2000;
export const MAX_DEPTH = 12;
/** Problem and remedy. */
export const TOO_DEEP = [`is nested deeper than ${MAX_DEPTH} levels`, 'make it flatter'] as const;
export const TWO_DOCUMENTS = ['a second document begins here', 'keep one document, without "---"'] as const;
/** The most list items, and the most empty or comment lines. */
const MOST_ITEMS = 5000;
const MOST_LINES = 10_000;
/** Up to this many oddities of one kind are left to the parser, which words them better. */
const FEW = 16;
/** Up to this many anchors, aliases and tags are left to the tree walk, which reports the place of the first. */
const MOST_PROPERTIES = 200;
/** Up to this depth the exact check is left to the tree walk. */
const DEEP = 4 * MAX_DEPTH;

/** A lone CR, NEL, LINE SEPARATOR, PARAGRAPH SEPARATOR, and control characters other than tabs and line ends. */
const ODD = /\r(?!\n)|(?![\t\n\r])[\p{Cc}\u2028\u2029]/u;

/** The first reason not to parse `text`; null if there is none. `keys` is the most keys it may have. */
export function unfitIn(text: string, keys: number): Unfit | null {
  const odd = ODD.exec(text);
  return odd === null ? tooMuchIn(text, keys) : oddAt(text, odd.index);
}

function oddAt(text: string, index: number): Unfit {
  const code = (text.codePointAt(index) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  const before = text.slice(0, index);
  const line = before.split('\n').length;
  return {
    line,
    column: index - before.lastIndexOf('\n'),
    ...(/[\r\v\f\u0085\u2028\u2029]/.test(text[index] ?? '')
      ? {
          problem: `has the character U+${code}, which some programs show as the end of a line and YAML does not`,
          remedy: 'remove it, or begin a new line',
        }
      : { problem: `has the control character U+${code}`, remedy: 'remove it, or save the file as UTF-8' }),
  };
}

const nothingYet = () => ({
  line: 1,
  column: 1,
  keys: 0,
  depth: 0,
  /** Unmatched brackets and other errors that the parser reports one by one. */
  odd: 0,
  properties: 0,
  items: 0,
  ends: 0,
  documents: 0,
  /** List and key signs at the beginning of this line. */
  signs: 0,
  last: '',
});
type Counts = ReturnType<typeof nothingYet>;

function tooMuchIn(text: string, keys: number): Unfit | null {
  const counts = nothingYet();
  for (const token of new Lexer().lex(text)) {
    count(counts, token);
    const why = whyTooMuch(counts, keys);
    if (why !== null) return { line: counts.line, column: counts.column, problem: why[0], remedy: why[1] };
    move(counts, token);
  }
  return null;
}

/** The counter that a token of one sign increases; `depth` is handled apart. */
const COUNTED: ReadonlyMap<string, 'keys' | 'signs' | 'documents' | 'items'> = new Map([
  [':', 'keys'],
  ['-', 'signs'],
  ['?', 'signs'],
  ['---', 'documents'],
  ['...', 'documents'],
  [',', 'items'],
]);
const STEPS: ReadonlyMap<string, number> = new Map([
  ['[', 1],
  ['{', 1],
  [']', -1],
  ['}', -1],
]);

function count(counts: Counts, token: string): void {
  const first = token.charAt(0);
  const counted = COUNTED.get(token);
  if (counted !== undefined) counts[counted] += 1;
  if (token === '-') counts.items += 1;
  if (/^[&*!]/.test(token)) counts.properties += 1;
  const depth = counts.depth + (STEPS.get(token) ?? 0);
  if (depth < 0 || isOdd(counts.last, first)) counts.odd += 1;
  counts.depth = Math.max(0, depth);
  if (token.includes('\n') && token.trim() === '') counts.ends += 1;
  if (isWritten(token)) counts.last = first;
}

const isWritten = (token: string): boolean => token.trim() !== '' && !ADDED.has(token);

/** True for text after quoted text, or a comma without a value before it. */
const isOdd = (last: string, first: string): boolean =>
  ('"\''.includes(first) && first !== '' && '"\''.includes(last) && last !== '') ||
  (first === ',' && ',[{'.includes(last));

function whyTooMuch(counts: Counts, keys: number): readonly [string, string] | null {
  if (counts.keys > keys) return [`has more than ${keys} keys`, 'shorten it'];
  if (counts.depth > DEEP || counts.signs > DEEP) return TOO_DEEP;
  if (counts.properties > MOST_PROPERTIES)
    return ['anchors, aliases and tags are not accepted', 'write the values out'];
  if (counts.documents > FEW) return TWO_DOCUMENTS;
  if (counts.items > MOST_ITEMS) return [`has more than ${MOST_ITEMS} items`, 'shorten it'];
  if (counts.ends > MOST_LINES) return [`has more than ${MOST_LINES} lines`, 'shorten it'];
  return counts.odd > FEW ? ['is not readable as YAML', 'fix the YAML here'] : null;
}

/** Tokens that the lexer inserts. */
const ADDED: ReadonlySet<string> = new Set(['\u0002', '\u0018', '\u001f']);

function move(counts: Counts, token: string): void {
  if (ADDED.has(token)) return;
  const ends = token.split('\n').length - 1;
  if (ends > 0) counts.signs = 0;
  counts.line += ends;
  counts.column = ends === 0 ? counts.column + token.length : token.length - token.lastIndexOf('\n');
}
