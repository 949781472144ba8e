/** Globs for the files that a task may change, relative to the project's root: `*` and `?` match characters of one name, `**` any number of
 * folders, `{a,b}` either alternative; all other characters match themselves. A glob that matches a folder matches everything in it. */

/** One name of a path, or `**`. */
type Segment = readonly Token[] | typeof DEEP;
/** A character, or `*` or `?` as a wild card. */
type Token = string | typeof STAR | typeof ANY;

const STAR = Symbol('*');
const ANY = Symbol('?');
const DEEP = '**';

/** More alternatives of one glob than this are refused. */
const MOST_ALTERNATIVES = 64;

/** The fault of a glob, in words; null if it has none. */
export function globProblem(glob: string): string | null {
  if (glob.trim() === '') return 'an empty pattern';
  if (/^[!]/.test(glob)) return `"${glob}" starts with "!", but patterns cannot exclude files`;
  if (/^(?:\/|~|[A-Za-z]:[\\/])/.test(glob))
    return `"${glob}" is not a path in the project: give it relative to the root`;
  const alternatives = alternativesIn(glob);
  if (alternatives === null) return `"${glob}" has more than ${MOST_ALTERNATIVES} alternatives`;
  return alternatives.some((each) => each.split('/').includes('..')) ? `"${glob}" leads outside the project` : null;
}

/** Whether `globs` match the file `name` (relative to the root, with `/`). */
export function matchesGlob(globs: readonly string[], name: string): boolean {
  const segments = literalOf(name);
  return parsedAll(globs).some((pattern) => canMeet(pattern, segments));
}

/** Whether `globs` match every possible file below `folder`; false if uncertain. The root is the empty name. */
export const coversFolder = (globs: readonly string[], folder: string): boolean => matchesGlob(globs, folder);

/** Whether `globs` match the whole project. */
export const coversAll = (globs: readonly string[]): boolean => coversFolder(globs, '');

/** Whether `globs` may match something below `folder`. */
export function reachesInto(globs: readonly string[], folder: string): boolean {
  const below: readonly Segment[] = [...literalOf(folder), [STAR], DEEP];
  return parsedAll(globs).some((pattern) => canMeet(pattern, below));
}

/** The longest folder without a wild card that everything of the glob lies in, one for each alternative; empty for the root. */
export function literalFolders(glob: string): readonly string[] {
  const folders = (alternativesIn(glob) ?? []).map((text) => {
    const names = namesOf(text).map(literalName);
    // Without a wild card the last name may be that of a file.
    return names.slice(0, names.includes(null) ? names.indexOf(null) : -1).join('/');
  });
  return [...new Set(folders)];
}

/** The names that a glob without wild cards matches: files or folders. */
export const literalNames = (glob: string): readonly string[] =>
  (alternativesIn(glob) ?? []).flatMap((text) => {
    const names = namesOf(text).map(literalName);
    return names.length === 0 || names.includes(null) ? [] : [names.join('/')];
  });

/** The first two that may match the same file; null if none do. Case is ignored, as some file systems do, so that no overlap is missed. */
export function meetingGlobs(a: readonly string[], b: readonly string[]): readonly [string, string] | null {
  for (const one of a) for (const other of b) if (pairMayMeet(one, other)) return [one, other];
  return null;
}

const pairMayMeet = (a: string, b: string): boolean =>
  patternsOf(a).some((one) => patternsOf(b).some((other) => canMeet(one, other, isSameLetter)));

const isSameLetter = (one: Token, other: Token): boolean =>
  one === other || (typeof one === 'string' && typeof other === 'string' && one.toLowerCase() === other.toLowerCase());

/** An invalid glob matches nothing; the check of a plan refuses it. */
const parsedAll = (globs: readonly string[]): readonly (readonly Segment[])[] => globs.flatMap(patternsOf);

const PARSED = new Map<string, readonly (readonly Segment[])[]>();

function patternsOf(glob: string): readonly (readonly Segment[])[] {
  const known = PARSED.get(glob);
  if (known !== undefined) return known;
  const patterns = (alternativesIn(glob) ?? []).map((text): readonly Segment[] => [
    ...namesOf(text).map(segmentOf),
    DEEP,
  ]);
  if (PARSED.size > 5000) PARSED.clear();
  PARSED.set(glob, patterns);
  return patterns;
}

/** `./a//b/` and `a/b` are the same. */
export const namesOf = (text: string): readonly string[] =>
  text.split('/').filter((name) => name !== '' && name !== '.');

const literalOf = (name: string): readonly (readonly Token[])[] => namesOf(name).map((each) => Array.from(each));

function segmentOf(name: string): Segment {
  if (name === '**') return DEEP;
  const tokens: Token[] = [];
  let escaped = false;
  for (const character of name) {
    if (!escaped && character === '\\') escaped = true;
    else {
      tokens.push(escaped ? character : (WILD.get(character) ?? character));
      escaped = false;
    }
  }
  return tokens;
}

const WILD: ReadonlyMap<string, Token> = new Map<string, Token>([
  ['*', STAR],
  ['?', ANY],
]);

/** The only name that a part of a glob matches; null for a part with a wild card. */
function literalName(part: string): string | null {
  const segment = segmentOf(part);
  if (segment === '**') return null;
  const letters = segment.filter((token) => typeof token === 'string');
  return letters.length === segment.length ? letters.join('') : null;
}

/** All expansions of `{a,b}`; null if there are too many. Braces without a comma match themselves. */
function alternativesIn(glob: string): readonly string[] | null {
  let open: readonly string[] = [glob];
  const done: string[] = [];
  while (open.length > 0) {
    const next: string[] = [];
    for (const text of open) {
      const parts = firstBraces(text);
      if (parts === null) done.push(text);
      else next.push(...parts);
    }
    if (done.length + next.length > MOST_ALTERNATIVES) return null;
    open = next;
  }
  return done;
}

/** The expansions of the first `{a,b}` in `text`; null if there is none. */
function firstBraces(text: string): readonly string[] | null {
  for (let start = indexOf(text, '{', 0); start !== -1; start = indexOf(text, '{', start + 1)) {
    const cuts = cutsOf(text, start);
    if (cuts === null || cuts.length < 3) continue;
    const [head, tail] = [text.slice(0, start), text.slice((cuts.at(-1) ?? start) + 1)];
    return cuts.slice(1).map((end, at) => `${head}${text.slice((cuts[at] ?? start) + 1, end)}${tail}`);
  }
  return null;
}

/** The positions of the brace at `start`, its commas and its end; null if it is not closed. */
function cutsOf(text: string, start: number): readonly number[] | null {
  const cuts = [start];
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const character = text[at];
    if (character === '\\') at += 1;
    else if (character === '{') depth += 1;
    else if (character === ',' && depth === 1) cuts.push(at);
    else if (character === '}' && (depth -= 1) === 0) return [...cuts, at];
  }
  return null;
}

function indexOf(text: string, character: string, from: number): number {
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === character) return at;
  }
  return -1;
}

type IsSame = (one: Token, other: Token) => boolean;

/** Whether some path matches both. */
const canMeet = (a: readonly Segment[], b: readonly Segment[], isSame: IsSame = Object.is): boolean =>
  meets(a, b, {
    isMany: (segment) => segment === DEEP,
    isOne: (one, other) => one !== DEEP && other !== DEEP && namesCanMeet(one, other, isSame),
  });

const namesCanMeet = (a: readonly Token[], b: readonly Token[], isSame: IsSame): boolean =>
  meets(a, b, {
    isMany: (token) => token === STAR,
    isOne: (one, other) => one === ANY || other === ANY || isSame(one, other),
  });

interface Comparing<T> {
  /** Whether it matches any number of parts; false after the last part. */
  readonly isMany: (part: T | undefined) => boolean;
  /** Whether both can match the same part; neither matches several. */
  readonly isOne: (a: T, b: T) => boolean;
}

/** Whether some sequence matches both patterns, computed from the ends, row by row. */
function meets<T>(a: readonly T[], b: readonly T[], { isMany, isOne }: Comparing<T>): boolean {
  let below: readonly boolean[] = [];
  for (let i = a.length; i >= 0; i -= 1) {
    const row: boolean[] = [];
    for (let j = b.length; j >= 0; j -= 1) {
      const [one, other] = [a[i], b[j]];
      if (isMany(one) || isMany(other)) row[j] = [below[j], row[j + 1]].includes(true);
      else if (one === undefined || other === undefined) row[j] = one === other;
      else row[j] = below[j + 1] === true && isOne(one, other);
    }
    below = row;
  }
  return below[0] === true;
}
