/** Ranks files for the words of a task: names of folders and files, definitions, uses, words side by side. */
import type { Hit } from '../claims.ts';
import { definedName, isAside, isComment, isForeign, isSource, isTest } from '../languages.ts';
import { nameFits } from '../topic.ts';
import { patternOf, plural } from '../words.ts';
import type { Term } from '../words.ts';

export interface Ranked {
  readonly path: string;
  readonly score: number;
  readonly why: string;
  readonly best: Hit;
}

/** Each line once. */
export const onceEach = (hits: readonly Hit[]): readonly Hit[] => [
  ...new Map(hits.map((hit) => [`${hit.path}:${hit.line}`, hit])).values(),
];

/** The folder whose whole name is a word of the task, nearest to the top; no folder of tests. */
export function homeOf(names: readonly string[], terms: readonly Term[]): string | null {
  const folders = new Set(
    names
      .filter((name) => isSource(name) && !isTest(name) && !isForeign(name))
      .map((name) => name.slice(0, name.lastIndexOf('/') + 1)),
  );
  const homes = [...folders].filter((folder) =>
    terms.some((term) => nameFits(folder.slice(0, -1).split('/').at(-1) ?? '', [term]) === 2),
  );
  return homes.toSorted((a, b) => a.split('/').length - b.split('/').length || (a < b ? -1 : 1))[0] ?? null;
}

interface Evidence {
  readonly terms: readonly Term[];
  readonly byName: readonly string[];
  /** The folder that goes by a word of the task. */
  readonly home: string | null;
  readonly definitions: readonly Hit[];
  readonly uses: readonly Hit[];
  readonly heads: readonly Hit[];
}

/** Names of folders and files first, then definitions, then uses; tests and foreign code come after the code itself. */
export function rank({ terms, byName, home, definitions, uses, heads }: Evidence): readonly Ranked[] {
  const paths = [...new Set([...heads, ...definitions, ...uses].map(({ path }) => path))];
  return paths
    .map((path): Ranked => {
      const own = definitions.filter((hit) => hit.path === path);
      const lines = uses.filter((hit) => hit.path === path);
      const head = heads.find((hit) => hit.path === path);
      const fits = nameFits(path, terms);
      const inName = fits > 0 || byName.includes(path) || head !== undefined;
      const both = terms.filter((term) => lines.some(({ text }) => new RegExp(patternOf(term), 'i').test(text))).length;
      const pair = adjacent(terms).filter(
        (both2) => both2.test(path) || lines.some(({ text }) => both2.test(text)),
      ).length;
      const score =
        Math.min(6, own.length) * 5 +
        (head === undefined ? 0 : 60) +
        fits * 20 +
        (home !== null && path.startsWith(home) ? 30 : 0) +
        Math.min(12, lines.length) +
        Math.max(0, both - 1) * 8 +
        pair * 25;
      const exact = own.toSorted((a, b) => fitness(b, terms) - fitness(a, terms) || a.line - b.line)[0];
      return {
        path,
        score: score * weightOf(path),
        why: whyOf({ definitions: own.length, uses: lines.length, inName, both, terms: terms.length }),
        best: exact ?? head ?? lines.find(({ text }) => !isComment(text)) ?? lines[0] ?? { path, line: 1, text: '' },
      };
    })
    .toSorted((a, b) => b.score - a.score || (a.path < b.path ? -1 : 1));
}

const weightOf = (path: string): number =>
  (isTest(path) ? 0.3 : 1) * (isForeign(path) ? 0.2 : 1) * (isAside(path) ? 0.5 : 1) * (isSource(path) ? 1 : 0.3);

/** Words that stand side by side in the task, as one name: `key presses` -> `keyPress`, `key_press`. */
const adjacent = (terms: readonly Term[]): readonly RegExp[] =>
  terms.slice(1).flatMap((term, index) => {
    const before = terms[index];
    return before?.is === 'word' && term.is === 'word'
      ? [
          new RegExp(
            `${patternOf(before).replaceAll('\\b', '')}[a-z]{0,3}[-_ ]?${patternOf(term).replaceAll('\\b', '')}`,
            'i',
          ),
        ]
      : [];
  });

/** A definition whose name holds more of the words, and little else, is the better one. */
function fitness(hit: Hit, terms: readonly Term[]): number {
  const name = definedName(hit.text) ?? '';
  const held = terms.filter((term) => new RegExp(patternOf(term), 'i').test(name)).length;
  return held * 100 - name.length;
}

function whyOf(of: {
  readonly definitions: number;
  readonly uses: number;
  readonly inName: boolean;
  readonly both: number;
  readonly terms: number;
}): string {
  return [
    ...(of.inName ? ['its name fits'] : []),
    ...(of.definitions > 0 ? [plural(of.definitions, 'definition')] : []),
    ...(of.uses > 0 ? [plural(of.uses, 'line')] : []),
    ...(of.terms > 1 && of.both > 1 ? [`${of.both} of the ${of.terms} words`] : []),
  ].join(', ');
}
