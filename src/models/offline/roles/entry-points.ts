/** Without words to look for: where a reader would begin. */
import { claim } from '../claims.ts';
import type { Hit } from '../claims.ts';
import {
  definedName,
  ENTRY_PATTERN,
  isComment,
  isDefinition,
  isEntryName,
  isForeign,
  isSource,
  isTest,
} from '../languages.ts';
import { faultOf, filesOf, hitsOf, linesOf, list, read, search } from '../looking.ts';
import type { Seen, Work } from '../step.ts';
import { listed, plural } from '../words.ts';
import { faults, section, upper } from './parts.ts';

/** Lists, searches and reads what looks like a beginning. */
export function* entryPoints(): Work {
  const [all] = yield {
    say: 'The task names no word to search for, so I list the files and look for where the code begins.',
    todo: 0,
    asks: [list(250)],
  };
  const { names, count } = filesOf(all);
  const [begins] = yield {
    say: 'I search for entry points: main functions, servers, command lines.',
    todo: 1,
    asks: [search(ENTRY_PATTERN, { limit: 40 })],
  };
  const hits = hitsOf(begins).filter(
    ({ path, text }) => isSource(path) && !isTest(path) && !isForeign(path) && !isComment(text),
  );
  const named = names.filter((path) => isEntryName(path) && isSource(path) && !isTest(path) && !isForeign(path));
  const paths = [...new Set([...hits.map(({ path }) => path), ...named.toSorted((a, b) => depth(a) - depth(b))])].slice(
    0,
    4,
  );
  const heads = yield {
    say: paths.length === 0 ? 'Nothing to read.' : `I read the heads of ${listed(paths)}.`,
    todo: 2,
    asks: paths.map((path) => read(path, 1, 25)),
  };
  if (count === 0) return faultOf(all) ?? 'The folder holds no files that I can see.';
  return [
    `${upper(plural(count, 'file'))}; ${hits.length + named.length === 0 ? 'no entry point that I know the look of' : `the code begins in ${listed(paths)}`}.`,
    ...section(
      'Lines where a program begins',
      onePerFile(hits)
        .slice(0, 8)
        .map((hit) => `- ${claim(hit)}`),
    ),
    ...section(
      'What these files say first',
      heads.flatMap((seen) => headOf(seen)),
    ),
    ...section(
      'Folders',
      foldersOf(names).map(
        ([name, files]) => `- ${name}: ${plural(files, 'file')}${count > names.length ? ' among those listed' : ''}`,
      ),
    ),
    ...faults([all, begins, ...heads]),
  ].join('\n');
}

/** What a file says of itself: its first comment, else what it defines first. */
function headOf(seen: Seen): readonly string[] {
  const lines = linesOf(seen).filter(({ text }) => text.trim().length > 12 && !text.startsWith('#!'));
  const telling =
    lines.find(({ text }) => isComment(text) && text.replaceAll(/\W/g, '').length > 12) ??
    lines.find(({ text }) => isDefinition(text) && definedName(text) !== null);
  return telling === undefined ? [] : [`- ${claim(telling)}`];
}

const onePerFile = (hits: readonly Hit[]): readonly Hit[] =>
  hits.filter((hit, index) => hits.findIndex(({ path }) => path === hit.path) === index);

function foldersOf(names: readonly string[]): readonly (readonly [string, number])[] {
  const counts = new Map<string, number>();
  for (const name of names.filter((each) => each.includes('/'))) {
    const top = name.slice(0, name.indexOf('/') + 1);
    counts.set(top, (counts.get(top) ?? 0) + 1);
  }
  return [...counts].toSorted((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, 8);
}

const depth = (path: string): number => path.split('/').length;
