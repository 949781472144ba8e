/**
 * Refactoring: measures what could be simpler (long files and functions, repeated blocks, exports that nobody names). The
 * analyst writes no code and says so; whether a long function is a bad one it can't tell.
 */
import { claim } from '../claims.ts';
import type { Hit } from '../claims.ts';
import { pathsIn } from '../findings.ts';
import { definedName, globFor, isComment, isForeign, isSource, isTest, SOURCE_GLOB } from '../languages.ts';
import { filesOf, hitsOf, isCut, lengthOf, linesOf, list, read, search } from '../looking.ts';
import { longFunctions, repeatedBlocks } from '../measures.ts';
import type { Brief, Part, Seen, Step, Work } from '../step.ts';
import { nameFits, topicIn } from '../topic.ts';
import { escaped, listed, plural } from '../words.ts';
import { faults, section } from './parts.ts';

const MOST_NAMES = 500;
/** One reply may hold sixteen calls, the todo list's among them. */
const MEASURED = 14;
const READ_FILES = 3;
const READ_LINES = 260;
const CANDIDATES = 10;

const FUNCTIONS =
  '^\\s*(?:export\\s+)?(?:default\\s+)?(?:async\\s+)?function\\b|^\\s*(?:async\\s+)?def\\s|^func\\s|^\\s*(?:pub(?:\\([^)]*\\))?\\s+)?(?:async\\s+)?fn\\s|^\\s+(?:public|private|protected)\\s[^=;]*\\(';
const EXPORTS = '^export\\s+(?:async\\s+)?(?:function\\*?|const|class)\\s+\\w+';

export const refactoring: Part = {
  todos: () => [
    'List sources and where functions begin',
    'Measure the likeliest files',
    'Read the longest',
    'Look who uses the exports',
  ],
  work: measure,
};

function* measure(brief: Brief): Work {
  const [all, begins, exported] = yield {
    say: 'I write no code. I measure: first which sources there are, and where functions and exports begin.',
    todo: 0,
    asks: [
      list(MOST_NAMES, { glob: SOURCE_GLOB, about: 'sources' }),
      search(FUNCTIONS, {
        glob: globFor(['js', 'py', 'go', 'rust', 'jvm']),
        limit: 200,
        about: 'where functions begin',
      }),
      search(EXPORTS, { glob: globFor(['js']), limit: 120, about: 'exports' }),
    ],
  };
  const names = filesOf(all).names.filter(own);
  const candidates = likeliest(
    brief,
    names,
    hitsOf(begins).filter(({ path }) => own(path)),
  ).slice(0, MEASURED);
  const heads = yield {
    say:
      candidates.length === 0
        ? 'There is nothing to measure.'
        : `I measure the ${plural(candidates.length, 'file')} with most functions, or closest to the task.`,
    todo: 1,
    asks: candidates.map((path) => read(path, 1, 1)),
  };
  const lengths = candidates
    .map((path, index) => ({ path, lines: lengthOf(heads[index]) ?? 0, head: linesOf(heads[index])[0] }))
    .toSorted((a, b) => b.lines - a.lines || (a.path < b.path ? -1 : 1));
  const longest = lengths.filter(({ lines }) => lines > 0).slice(0, READ_FILES);
  const texts = yield {
    say:
      longest.length === 0
        ? 'Nothing to read.'
        : `I read ${listed(longest.map(({ path }) => path))} and measure functions and repeated blocks.`,
    todo: 2,
    asks: longest.map(({ path }) => read(path, 1, READ_LINES)),
  };
  const near = new Set(candidates);
  const suspects = hitsOf(exported)
    .filter(({ path, text }) => own(path) && definedName(text) !== null)
    .toSorted((a, b) => Number(near.has(b.path)) - Number(near.has(a.path)))
    .slice(0, CANDIDATES);
  const uses = yield* following(suspects);
  return answer({ names, lengths, texts, suspects, uses, seen: [all, begins, exported, ...heads, ...texts, ...uses] });
}

/** Who names each export. */
function* following(suspects: readonly Hit[]): Generator<Step, readonly Seen[], readonly Seen[]> {
  const names = suspects.map(({ text }) => definedName(text) ?? '');
  return yield {
    say:
      names.length === 0
        ? 'No exports that I could follow.'
        : `I look whether anyone names ${plural(names.length, 'export')} elsewhere.`,
    todo: 3,
    asks: names.map((name) =>
      search(`\\b${escaped(name)}\\b`, { glob: globFor(['js']), limit: 6, about: `uses of ${name}` }),
    ),
  };
}

const own = (path: string): boolean => isSource(path) && !isTest(path) && !isForeign(path);

/** Files of the task and the findings first, then those with most functions. */
function likeliest(brief: Brief, names: readonly string[], begins: readonly Hit[]): readonly string[] {
  const named = new Set(pathsIn(brief.findings));
  const { words, folders, files } = topicIn(brief.task);
  const asked = (path: string): boolean =>
    folders.some((folder) => path.startsWith(folder)) || files.some((file) => `/${path}`.endsWith(`/${file}`));
  const score = (path: string): number =>
    (named.has(path) ? 100 : 0) +
    (asked(path) ? 200 : 0) +
    nameFits(path, words) * 50 +
    begins.filter((hit) => hit.path === path).length;
  return [...new Set([...names, ...begins.map(({ path }) => path)])]
    .map((path) => ({ path, score: score(path) }))
    .toSorted((a, b) => b.score - a.score || (a.path < b.path ? -1 : 1))
    .map(({ path }) => path);
}

interface Measured {
  readonly names: readonly string[];
  readonly lengths: readonly { readonly path: string; readonly lines: number; readonly head: Hit | undefined }[];
  readonly texts: readonly Seen[];
  readonly suspects: readonly Hit[];
  readonly uses: readonly Seen[];
  readonly seen: readonly (Seen | undefined)[];
}

function answer({ names, lengths, texts, suspects, uses, seen }: Measured): string {
  if (lengths.length === 0)
    return ['There are no sources to measure. No code was changed.', ...faults(seen)].join('\n');
  const functions = texts.flatMap((text) => longFunctions(linesOf(text))).toSorted((a, b) => b.lines - a.lines);
  const repeated = repeatedBlocks(texts.flatMap((text) => linesOf(text)));
  const unnamed = suspects.filter((hit, index) => isUnnamed(hit, uses[index]));
  const [longest] = lengths;
  const [first] = functions;
  return [
    `No code was changed: the analyst measures and doesn't write. Longest of ${plural(lengths.length, 'measured file')} is ${longest?.path ?? ''} (${plural(longest?.lines ?? 0, 'line')})${first === undefined ? '' : `; the longest function read is ${claim(first.hit)} (${first.whole ? '' : 'at least '}${plural(first.lines, 'line')})`}.`,
    ...section(
      'Long files',
      lengths
        .slice(0, 6)
        .map(
          ({ path, lines, head }) =>
            `- ${path}: ${plural(lines, 'line')}${head === undefined ? '' : `; it begins ${claim(head)}`}`,
        ),
    ),
    ...section(
      'Long functions, in the files read',
      functions
        .slice(0, 6)
        .map(({ hit, lines, whole }) => `- ${claim(hit)}: ${whole ? '' : 'at least '}${plural(lines, 'line')}`),
    ),
    ...section(
      'Repeated blocks, in the files read',
      repeated
        .slice(0, 4)
        .map(
          ({ first: one, again, lines }) =>
            `- ${claim(one)}: ${plural(lines, 'line')} that come again at ${claim(again)}`,
        ),
    ),
    ...section(
      'Exports that no other file names',
      unnamed.map((hit) => `- ${claim(hit)}`),
    ),
    '',
    `Looked at ${lengths.length} of ${plural(names.length, 'source')} for length, at ${texts.length} for functions and repetition, at ${plural(suspects.length, 'export')} for use. An export may still be used from outside of the repository.`,
    ...faults(seen),
  ].join('\n');
}

/** The search was not cut, and all that it found is in the file itself. */
const isUnnamed = (hit: Hit, seen: Seen | undefined): boolean =>
  seen?.ok === true && !isCut(seen) && hitsOf(seen).every(({ path, text }) => path === hit.path || isComment(text));
