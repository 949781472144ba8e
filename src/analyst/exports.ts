/** The names that files offer to others, and who holds them. */
import { anyOf, languagesIn, LONGEST_PATTERN } from './languages.ts';
import { exportsIn, isComment } from './lines.ts';
import { hitsOf, isCut, linesOf, read, search, searchAll, searchEach } from './tools.ts';
import type { Hit, Looking, Seen } from './tools.ts';
import { captured, listed, plural } from './words.ts';

/** A name that a line offers to other files. */
export interface Export {
  readonly name: string;
  readonly hit: Hit;
}

const BLOCK = /^module\.exports\s*=\s*\{\s*$/;
const MOST_BLOCKS = 40;
/** Names that say nothing of whose they are. */
const COMMON_NAMES =
  /^(?:main|default|setup|teardown|configure|init|index|config|module|exports|register|activate|get|set|run|parse|name|type|test|data)$/;

/** The names that `files` offer, as their lines tell; a `module.exports` of several lines is read. */
export function* exportsOf(
  files: readonly string[],
  where: string | undefined,
  todo: number,
): Looking<{ readonly exports: readonly Export[]; readonly seen: readonly Seen[] }> {
  const asks = searchEach(languagesIn(files), 'exports', { path: where, limit: 1000, about: 'exported names' });
  const seen = yield* searchAll(asks, files, 'I search for the names that files offer to others.', todo);
  const known = new Set(files);
  const hits = seen.flatMap((look) => hitsOf(look)).filter((hit) => known.has(hit.path) && !isComment(hit));
  const blocks = hits.filter(({ text }) => BLOCK.test(text)).slice(0, MOST_BLOCKS);
  const reads = blocks.map(({ path, line }) => read(path, line, 60));
  const texts = reads.length === 0 ? [] : yield { say: 'I read the lists of exported names.', todo, asks: reads };
  const all = [
    ...hits.flatMap((hit) => exportsIn(hit).map((name) => ({ name, hit }))),
    ...texts.flatMap((text) => namesInBlock(linesOf(text).slice(1))),
  ];
  return { exports: all.filter(({ name }) => name.length > 2 && !COMMON_NAMES.test(name)), seen };
}

function namesInBlock(lines: readonly Hit[]): readonly Export[] {
  const end = lines.findIndex(({ text }) => text.startsWith('}'));
  return lines
    .slice(0, end === -1 ? undefined : end)
    .map((hit) => ({ name: captured(/^\s+([A-Za-z_$][\w$]*)\s*(?:,|:|$)/, hit.text), hit }));
}

/** Who holds names: the lines of each whose search was whole or that is used, and how many could not be told. */
interface Holders {
  readonly of: ReadonlyMap<Export, readonly Hit[]>;
  readonly left: number;
  readonly seen: readonly Seen[];
}

const ROUNDS = 24;
/** Searches of one step. */
const PER_STEP = 4;

/**
 * The lines of files of `glob` that hold each of `wanted`. Many names are searched together. Where a search is cut, only names that it
 * shows to be used (`isUse`) are settled; the others are asked for again, fewer at a time when nothing was settled.
 */
export function* holdersOf(
  wanted: readonly Export[],
  glob: string,
  where: string,
  isUse: (one: Export, hit: Hit) => boolean,
): Looking<Holders> {
  const of = new Map<Export, readonly Hit[]>();
  const looks: Seen[] = [];
  let open = wanted;
  let most = wanted.length;
  for (let round = 0; round < ROUNDS && open.length > 0 && most > 0; round += 1) {
    const groups = groupsOf(open, most).slice(0, PER_STEP);
    const seen: readonly Seen[] = yield {
      say: `Who holds ${listed(open.slice(0, 3).map(({ name }) => name))} (of ${open.length})?`,
      todo: 2,
      asks: groups.map((group) => searchFor(group, glob, where)),
    };
    looks.push(...seen);
    if (seen.some(({ ok }) => !ok)) break;
    for (const [at, group] of groups.entries()) {
      for (const [one, hits] of settledBy(seen[at], group, isUse)) of.set(one, hits);
    }
    const before = open.length;
    open = open.filter((one) => !of.has(one));
    if (open.length === before) most = Math.floor(Math.max(...groups.map((group) => group.length)) / 2);
  }
  return { of, left: open.length, seen: looks };
}

/** Names that a search settles: all of them where it is whole, else those that it shows to be used. */
function settledBy(
  look: Seen | undefined,
  group: readonly Export[],
  isUse: (one: Export, hit: Hit) => boolean,
): readonly (readonly [Export, readonly Hit[]])[] {
  const lines = linesByWord(look);
  return group
    .map((one) => [one, lines.get(one.name) ?? []] as const)
    .filter(([one, hits]) => !isCut(look) || hits.some((hit) => isUse(one, hit)));
}

const searchFor = (group: readonly Export[], glob: string, where: string): ReturnType<typeof search> =>
  search(`\\b${anyOf(group.map(({ name }) => name.replaceAll('$', String.raw`\$`)))}\\b`, {
    glob,
    limit: 1000,
    about: `${plural(group.length, 'name')} in ${where}`,
  });

/** As many names together as a search takes, at most `most`. */
function groupsOf(open: readonly Export[], most: number): readonly (readonly Export[])[] {
  const groups: Export[][] = [];
  let length = LONGEST_PATTERN;
  for (const one of open) {
    length += one.name.length + 2;
    const last = groups.at(-1);
    if (last === undefined || length > LONGEST_PATTERN || last.length >= most) {
      groups.push([one]);
      length = one.name.length + 12;
    } else last.push(one);
  }
  return groups;
}

/** The lines that hold each word. */
function linesByWord(look: Seen | undefined): ReadonlyMap<string, readonly Hit[]> {
  const words = hitsOf(look).flatMap((hit) =>
    [...new Set(hit.text.match(/[A-Za-z_$][\w$]*/g))].map((word) => ({ word, hit })),
  );
  return new Map([...Map.groupBy(words, ({ word }) => word)].map(([word, all]) => [word, all.map(({ hit }) => hit)]));
}
