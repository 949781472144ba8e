/** Simple measures over lines that were read: how long functions are, and which blocks come again. Indentation is believed. */
import type { Hit } from './claims.ts';
import { isComment } from './languages.ts';

const BEGINS =
  /^\s*(?:export\s+)?(?:default\s+)?(?:async\s+)?function\b|^\s*(?:async\s+)?def\s|^func\s|^\s*(?:pub(?:\([^)]*\))?\s+)?(?:async\s+)?fn\s|^\s*(?:export\s+)?(?:const|let|var)\s+\w+\s*=\s*(?:async\s*)?(?:function\b|\([^)]*\)\s*(?::[^=]*)?=>\s*\{)|^\s+(?:public|private|protected|static|async)\s[^=;]*\([^;]*\{\s*$/;
const LONG = 40;

export interface LongFunction {
  readonly hit: Hit;
  readonly lines: number;
  /** False when it goes on behind what was read. */
  readonly whole: boolean;
}

/** Functions of more than 40 lines in the lines of one file. */
export function longFunctions(lines: readonly Hit[]): readonly LongFunction[] {
  return lines.flatMap((hit, at) => {
    if (!BEGINS.test(hit.text)) return [];
    const indent = indentOf(hit.text);
    const rest = lines.slice(at + 1);
    const end = rest.findIndex(
      ({ text }) => text.trim() !== '' && indentOf(text) <= indent && !/^\s*[)\]]|^\s*\{$/.test(text),
    );
    const length = end === -1 ? rest.length + 1 : end + (/^\s*\}/.test(rest[end]?.text ?? '') ? 2 : 1);
    return length > LONG ? [{ hit, lines: length, whole: end !== -1 }] : [];
  });
}

const indentOf = (text: string): number => text.replaceAll('\t', '    ').search(/\S|$/);

export interface Repeated {
  readonly first: Hit;
  readonly again: Hit;
  readonly lines: number;
}

const BLOCK = 6;

/** Blocks of at least six telling lines that come twice, longest first. Imports, comments and brackets tell nothing. */
export function repeatedBlocks(lines: readonly Hit[]): readonly Repeated[] {
  const telling = lines.filter(
    ({ text }) =>
      text.replaceAll(/\W/g, '').length > 5 &&
      !isComment(text) &&
      !/^\s*(?:import|export \{|from|use|package)\b/.test(text),
  );
  const keys = telling.map(({ text }) => text.trim().replaceAll(/\s+/g, ' '));
  const seen = new Map<string, number>();
  const found: Repeated[] = [];
  for (let at = 0; at + BLOCK <= telling.length; at += 1) {
    const key = keys.slice(at, at + BLOCK).join('\n');
    const before = seen.get(key);
    if (before === undefined || before + BLOCK > at) {
      if (before === undefined) seen.set(key, at);
      continue;
    }
    const length = sharedLength(keys, before, at);
    const [first, again] = [telling[before], telling[at]];
    if (first !== undefined && again !== undefined) found.push({ first, again, lines: length });
    at += length - 1;
  }
  return found.toSorted((a, b) => b.lines - a.lines);
}

function sharedLength(keys: readonly string[], one: number, two: number): number {
  let length = 0;
  while (two + length < keys.length && one + length < two && keys[one + length] === keys[two + length]) length += 1;
  return length;
}
