/** Where a program begins: what manifests, code and names tell, each with the reason. */
import { beginningOf, declaredIn, ENTRY_PATTERN, nameBeginning, NAMING } from '../beginnings.ts';
import type { Beginning } from '../beginnings.ts';
import { claim } from '../claims.ts';
import type { Hit } from '../claims.ts';
import { groundOf, missingText } from '../ground.ts';
import type { Ground } from '../ground.ts';
import { definedName, isComment, isDefinition, isForeign } from '../languages.ts';
import { faultOf, filesOf, hitsOf, linesOf, list, read, search } from '../looking.ts';
import type { Seen, Work } from '../step.ts';
import type { Topic } from '../topic.ts';
import { listed, plural } from '../words.ts';
import { faults, section } from './parts.ts';

const MOST_SHOWN = 10;
const MOST_READ = 5;

export const ENTRY_TODOS: readonly string[] = [
  'See what is there',
  'Ask manifests and code where it starts',
  'Read the first lines of each',
];

/** Lists, searches and reads what looks like a beginning. */
export function* entryPoints(topic: Topic): Work {
  const ground = yield* groundOf(topic, {
    say: `I list the files of ${listed([...topic.folders, ...topic.files]) || 'the repository'} to see how it is laid out.`,
    todo: 0,
    limit: 400,
  });
  const [begins, naming] = yield {
    say: 'A program starts where a manifest or the code says so: main functions, commands, servers, scripts. I search for those.',
    todo: 1,
    asks: [
      search(ENTRY_PATTERN, { limit: 60, path: ground.path, about: 'where programs start' }),
      list(12, { glob: NAMING, about: 'manifests' }),
    ],
  };
  const manifests = filesOf(naming)
    .names.filter((name) => !isForeign(name))
    .toSorted((a, b) => depth(a) - depth(b) || (a < b ? -1 : 1))
    .slice(0, 2);
  const inCode = onePerFile(hitsOf(begins).flatMap((hit) => (ground.has(hit.path) ? (beginningOf(hit) ?? []) : [])));
  const named = ground.names
    .filter((path) => nameBeginning(path) !== null && !inCode.some(({ hit }) => hit.path === path))
    .toSorted((a, b) => depth(a) - depth(b) || (a < b ? -1 : 1));
  const paths = [...inCode.map(({ hit }) => hit.path), ...named].slice(0, MOST_READ);
  const seen = yield {
    say:
      paths.length + manifests.length === 0
        ? 'Nothing that I know as a beginning: nothing to read.'
        : `I read ${listed([...manifests, ...paths])}: what they declare, and what they say first.`,
    todo: 2,
    asks: [...manifests.map((path) => read(path, 1, 160)), ...paths.map((path) => read(path, 1, 45))],
  };
  const declared = manifests.flatMap((path, index) => declaredIn(path, linesOf(seen[index])));
  const heads = seen.slice(manifests.length);
  const byName = heads.flatMap((one) => (named.includes(pathOf(one)) ? (byNameIn(one) ?? []) : []));
  return answer(ground, [...inCode, ...declared, ...byName].toSorted(byStart), heads, [begins, naming, ...seen]);
}

function answer(
  ground: Ground,
  found: readonly Beginning[],
  heads: readonly Seen[],
  seen: readonly (Seen | undefined)[],
): string {
  if (ground.count === 0)
    return ground.seen.map(faultOf).find((fault) => fault !== null) ?? 'The folder holds no files that I can see.';
  const [first, second, ...more] = found;
  const called = ground.called === 'this repository' ? 'The repository' : ground.called;
  const told =
    first === undefined
      ? `${called} has no entry point that I know the look of (${plural(ground.count, 'file')}).`
      : `${called} ${first.rank <= 5 ? 'begins' : 'has no start of its own that I know; it can be entered'} at ${claim(first.hit)}: ${first.why}.${second === undefined ? '' : ` Then ${claim(second.hit)}: ${second.why}${more.length === 0 ? '' : `; ${more.length} more below`}.`}`;
  return [
    told,
    ...missingText(ground),
    ...section(
      'Entry points, and why each is one',
      found.slice(0, MOST_SHOWN).map(({ hit, why }, index) => `${index + 1}. ${claim(hit)}: ${why}`),
    ),
    ...section(
      'What these files say of themselves',
      heads.flatMap((one) => headOf(one)),
    ),
    ...section(
      'Where the files lie',
      foldersOf(ground).map(([name, files]) => `- ${name}: ${plural(files, 'file')}`),
    ),
    ...faults([...ground.seen, ...seen]),
  ].join('\n');
}

const pathOf = ({ ask }: Seen): string => (typeof ask.input['path'] === 'string' ? ask.input['path'] : '');

/** A file that only its name makes a beginning: shown by the first line that defines or hands on something. */
function byNameIn(seen: Seen): Beginning | undefined {
  const lines = linesOf(seen);
  const hit =
    lines.find(({ text }) => isDefinition(text) && definedName(text) !== null) ??
    lines.find(
      ({ text }) =>
        /\w/.test(text) && !isComment(text) && !/^\s*(?:import|from|use|package)\b|^\s*\w+,$|\bfrom\b/.test(text),
    ) ??
    lines.find(({ text }) => /\w/.test(text));
  return hit === undefined
    ? undefined
    : { hit, why: nameBeginning(hit.path) ?? '', rank: depth(hit.path) <= 2 ? 3 : 5 };
}

/** What a file says of itself: its first comment with words. */
function headOf(seen: Seen): readonly string[] {
  const telling = linesOf(seen).find(
    ({ text }) =>
      isComment(text) &&
      !text.startsWith('#!') &&
      /\p{L}{3,} \p{L}+/u.test(text) &&
      !/@\w+|eslint|copyright|licen[cs]e|coding[:=]/i.test(text),
  );
  return telling === undefined ? [] : [`- ${claim(telling)}`];
}

/** One for a file, those nearest to the start first. */
function onePerFile(all: readonly Beginning[]): readonly Beginning[] {
  const sorted = all.toSorted(
    (a, b) => a.rank - b.rank || depth(a.hit.path) - depth(b.hit.path) || byPlace(a.hit, b.hit),
  );
  return sorted.filter(({ hit }, index) => sorted.findIndex((other) => other.hit.path === hit.path) === index);
}

/** Code that starts a program before what a manifest declares: that is where one reads. */
const byStart = (a: Beginning, b: Beginning): number => (a.rank || 2.5) - (b.rank || 2.5);

const byPlace = (a: Hit, b: Hit): number => (a.path < b.path ? -1 : a.path > b.path ? 1 : a.line - b.line);

function foldersOf({ names, path, count }: Ground): readonly (readonly [string, number])[] {
  if (count > names.length) return [];
  const under = path === undefined ? '' : `${path}/`;
  const counts = new Map<string, number>();
  for (const name of names.filter((each) => each.startsWith(under) && each.slice(under.length).includes('/'))) {
    const top = name.slice(0, name.indexOf('/', under.length) + 1);
    counts.set(top, (counts.get(top) ?? 0) + 1);
  }
  return [...counts].toSorted((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, 8);
}

const depth = (path: string): number => path.split('/').length;
