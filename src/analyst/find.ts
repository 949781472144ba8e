/** Where a name is: the lines that define it, exported ones in source folders first, what is said there, and who uses it. */
import { inventory } from './imports.ts';
import type { Inventory } from './imports.ts';
import {
  definitionPattern,
  globFor,
  isComment,
  isDefinition,
  isPrototype,
  isSource,
  languageOf,
  rankOf,
  TABLE,
} from './languages.ts';
import { behind, claim, excerpt, faults, hitsOf, isCut, linesOf, read, search, section } from './tools.ts';
import type { Hit } from './tools.ts';
import type { Ask, Looking, Part, Seen, Work } from './turns.ts';
import { code, escaped, listed, plural, stem, termsIn } from './words.ts';
import type { Term } from './words.ts';

const MOST_TERMS = 4;
const MOST_DEFINITIONS = 8;
const MOST_FILES = 10;
const BODY_LINES = 16;

/** A term with how it is looked for: `Foo.bar` is `bar`, best where `Foo` is. */
interface Sought {
  readonly term: Term;
  /** A regular expression of the name. */
  readonly name: string;
  readonly owner: string;
}

interface Found {
  readonly sought: Sought;
  readonly definitions: readonly Hit[];
  readonly uses: readonly Hit[];
  readonly looks: readonly Seen[];
  readonly useLook: Seen | undefined;
}

export const find: Part = {
  todos: ['See what is there', 'Search for definitions and uses', 'Read the best places'],
  work: places,
};

function* places({ task }: { readonly task: string }): Work {
  const terms = termsIn(task, 8).filter(({ is, text }) => is !== 'path' || /\.\w{1,5}$/.test(text));
  const project = yield* inventory(terms.some(({ is }) => is !== 'path') ? withoutFiles(task) : task);
  const sought = terms
    .filter(({ is }) => is !== 'path')
    .slice(0, MOST_TERMS)
    .map(soughtOf);
  const files = terms.filter(({ is }) => is === 'path').map(({ text }) => text);
  const found = sought.some(({ term }) => term.is === 'word')
    ? [yield* byWords(sought, project)]
    : yield* byName(sought, project);
  const best = found.flatMap(({ definitions }) => definitions.slice(0, 1)).slice(0, 3);
  const around = yield {
    say:
      best.length === 0
        ? 'There is no definition to read.'
        : `I read ${listed(best.map(({ path }) => path))} around the definitions.`,
    todo: 2,
    asks: best.map((hit) => read(hit.path, Math.max(1, hit.line - 12), 12 + BODY_LINES + 4)),
  };
  const seen = [...project.seen, ...found.flatMap(({ looks, useLook }) => [...looks, useLook]), ...around];
  return [
    [...found.map((one) => headText(one)), ...files.map((file) => fileText(file, project))].join(' '),
    ...section('Definitions', found.flatMap(definitionRows)),
    ...best.flatMap((hit, at) => readingText(hit, around[at])),
    ...found.flatMap((one) =>
      section(
        `Lines that hold ${one.sought.term.text.includes(' ') ? 'at least two of ' : ''}${wordsOf(one)}`,
        useRows(one),
      ),
    ),
    ...faults(seen),
  ].join('\n');
}

const withoutFiles = (task: string): string =>
  task.replaceAll(/[\w@.-]+\.\w{1,5}\b(?!\/)/g, (word) => (/^\w+$/.test(word) ? word : ' '));

function soughtOf(term: Term): Sought {
  if (term.is === 'word') return { term, name: `\\w*${escaped(stem(term.text))}\\w*`, owner: '' };
  const parts = term.text.split(/\.|::|->|#/).filter((part) => part !== '');
  return { term, name: escaped(parts.at(-1) ?? term.text), owner: parts.length > 1 ? (parts.at(-2) ?? '') : '' };
}

const searchDefinitions = (
  name: string,
  about: string,
  anyCase: boolean,
  { path, languages }: Inventory,
): readonly Ask[] =>
  languages.map((language) =>
    search(definitionPattern(language, [name]), {
      glob: globFor([language]),
      path,
      anyCase,
      limit: 200,
      about: `definitions of ${about} in ${globFor([language])}`,
    }),
  );

/** Identifiers as they are written; one that nobody defines so is looked for in any case. */
function* byName(sought: readonly Sought[], project: Inventory): Looking<readonly Found[]> {
  const found: Found[] = [];
  for (const one of sought) {
    const asks = searchDefinitions(one.name, code(bare(one)), false, project);
    const seen = yield {
      say: `I search for the lines that define ${code(one.term.text)}, and for all that hold it.`,
      todo: 1,
      asks: [...asks, search(usePattern(one), { path: project.path, limit: 500, about: code(bare(one)) })],
    };
    const looks = seen.slice(0, asks.length);
    const definitions = definitionsIn(looks, one);
    const useLook = seen.at(-1);
    if (definitions.length > 0)
      found.push({ sought: one, definitions, uses: usesOf(useLook, definitions), looks, useLook });
    else
      found.push(
        yield* inAnyCase(one, project, { sought: one, definitions, uses: usesOf(useLook, []), looks, useLook }),
      );
  }
  return found;
}

const usePattern = ({ name }: Sought): string =>
  `${/^\w/.test(name) ? '\\b' : ''}${name}${/\w$/.test(name) ? '\\b' : ''}`;

function* inAnyCase(one: Sought, project: Inventory, before: Found): Looking<Found> {
  const looks = yield {
    say: `Nothing defines ${code(one.term.text)} as it is written: I search for names that hold it, in any case.`,
    todo: 1,
    asks: searchDefinitions(`\\w*${one.name}\\w*`, `names with ${bare(one)}`, true, project),
  };
  return { ...before, definitions: definitionsIn(looks, one), looks: [...before.looks, ...looks] };
}

/** Plain words: files whose definitions hold most of them. */
function* byWords(sought: readonly Sought[], project: Inventory): Looking<Found> {
  const words = sought.map(({ name }) => name);
  const all = sought.map(({ term }) => term.text);
  const asks = project.languages.map((language) =>
    search(definitionPattern(language, words), {
      glob: globFor([language]),
      path: project.path,
      anyCase: true,
      limit: 400,
      about: `definitions of names with ${all.join(', ')}`,
    }),
  );
  const seen = yield {
    say: `I search for names that hold ${listed(all.map(code))}, and for all lines that do.`,
    todo: 1,
    asks: [
      ...asks,
      search(sought.map(({ term }) => escaped(stem(term.text))).join('|'), {
        path: project.path,
        anyCase: true,
        limit: 600,
        about: all.join(', '),
      }),
    ],
  };
  const looks = seen.slice(0, asks.length);
  const holds = (text: string): number =>
    sought.filter(({ term }) => text.toLowerCase().includes(stem(term.text))).length;
  const fits = ({ path, text }: Hit): number => 2 * holds(nameIn(text, words)) + holds(path);
  const far = ({ path }: Hit): number => Math.max(2, rankOf(path));
  const definitions = definitionsIn(looks, null).toSorted((a, b) => far(a) - far(b) || fits(b) - fits(a));
  const useLook = seen.at(-1);
  const uses = usesOf(useLook, definitions).filter(({ text }) => holds(text) >= Math.min(2, sought.length));
  return {
    sought: { term: { is: 'word', text: all.join(' ') }, name: '', owner: '' },
    definitions,
    uses,
    looks,
    useLook,
  };
}

/** The first word of a line that holds one of the names. */
const nameIn = (text: string, names: readonly string[]): string =>
  new RegExp(names.join('|'), 'i').exec(text)?.[0] ?? '';

function definitionsIn(looks: readonly Seen[], sought: Sought | null): readonly Hit[] {
  const hits = looks.flatMap((look) => hitsOf(look)).filter((hit) => isSource(hit.path) && isDefinition(hit));
  const owner = sought?.owner.toLowerCase() ?? '';
  const weight = (hit: Hit): number =>
    rankOf(hit.path) * 10 +
    (owner !== '' && !`${hit.path} ${hit.text}`.toLowerCase().includes(owner) ? 5 : 0) +
    (isPrototype(hit) ? 4 : 0) +
    (isLocal(hit) ? 3 : 0) -
    (isOffered(hit) ? 1 : 0);
  return hits
    .filter((hit, at) => hits.findIndex(({ path, line }) => path === hit.path && line === hit.line) === at)
    .toSorted((a, b) => weight(a) - weight(b) || (a.path < b.path ? -1 : a.path > b.path ? 1 : a.line - b.line));
}

/** A value that is only kept under that name, or one within a function. */
const isLocal = ({ text }: Hit): boolean => /^\s+(?:const|let|var|local|readonly)\b|^\s*\w+\s*=[^=>]*$/.test(text);

function isOffered({ path, text }: Hit): boolean {
  const language = languageOf(path);
  const pattern = language === undefined ? null : TABLE[language].exports;
  return pattern !== null && new RegExp(pattern).test(text);
}

function usesOf(look: Seen | undefined, definitions: readonly Hit[]): readonly Hit[] {
  const own = new Set(definitions.map(({ path, line }) => `${path}:${line}`));
  return hitsOf(look)
    .filter(({ path, line }) => !own.has(`${path}:${line}`))
    .toSorted((a, b) => rankOf(a.path) - rankOf(b.path));
}

/** A name without its owner: what is really searched for. */
const bare = ({ term }: Sought): string => term.text.split(/\.|::|->|#/).findLast((part) => part !== '') ?? term.text;

const wordsOf = ({ sought }: Found): string =>
  listed((sought.term.is === 'word' ? sought.term.text.split(' ') : [bare(sought)]).map(code));

function headText(found: Found): string {
  const { sought, definitions, uses, looks, useLook } = found;
  const [best] = definitions;
  if (best !== undefined) {
    const exact = new RegExp(`(?:^|\\W)${sought.name}(?:\\W|$)`).test(best.text) && sought.term.is !== 'word';
    const verb = isPrototype(best) ? 'declared' : 'defined';
    const more = definitions.length > 1 ? ` (the first of ${plural(definitions.length, 'such line')})` : '';
    const name = exact
      ? `${wordsOf(found)} is ${verb}`
      : `A name with ${wordsOf(found).replace(/ and (?=`[^`]*`$)/, ' or ')} is ${verb}`;
    return `${name} at ${claim(best)}${more}.`;
  }
  const [use] = uses;
  const none = `No line that defines ${wordsOf(found)} was found ${behind(...looks)}`;
  if (use === undefined) return `${none}, and no line holds it ${behind(useLook)}.`;
  return `${none}; it is held by ${claim(use)} and ${plural(uses.length - 1, 'other line')} ${behind(useLook)}.`;
}

function definitionRows({ definitions, looks }: Found): readonly string[] {
  const rows = definitions
    .slice(0, MOST_DEFINITIONS)
    .map((hit) => `- ${claim(hit)}${isPrototype(hit) ? ' (a declaration)' : ''}`);
  const asked = looks.filter((look) => hitsOf(look).length > 0);
  return definitions.length > MOST_DEFINITIONS
    ? [...rows, `- and ${definitions.length - MOST_DEFINITIONS} more ${behind(...asked)}`]
    : rows;
}

/** Files by how many of their lines hold it, each with its first line. */
function useRows({ uses, useLook }: Found): readonly string[] {
  if (uses.length === 0) return [];
  const files = [...Map.groupBy(uses, ({ path }) => path)].toSorted(
    ([a, x], [b, y]) => rankOf(a) - rankOf(b) || y.length - x.length || (a < b ? -1 : 1),
  );
  const least = isCut(useLook) ? 'at least ' : '';
  return [
    `Beside definitions, ${least}${plural(uses.length, 'line')} in ${least}${plural(files.length, 'file')} ${behind(useLook)}:`,
    '',
    ...files.slice(0, MOST_FILES).map(([path, hits]) => {
      const first = hits.find((hit) => !isComment(hit)) ?? hits[0];
      return `- ${path}: ${plural(hits.length, 'line')}${first === undefined ? '' : `, for example ${claim(first)}`}`;
    }),
    ...(files.length > MOST_FILES ? [`- and ${plural(files.length - MOST_FILES, 'file')} more of that search`] : []),
  ];
}

/** Where a file of that name is. */
function fileText(file: string, project: Inventory): string {
  const paths = project.names.filter((name) => `/${name}`.endsWith(`/${file}`));
  return `${paths.length === 0 ? `There is no file ${code(file)}` : `${code(file)} is ${listed(paths.slice(0, 8))}`} ${project.behind}.`;
}

/** The comment above a definition and its first lines, as they are. */
function readingText(hit: Hit, seen: Seen | undefined): readonly string[] {
  const lines = linesOf(seen);
  const at = lines.findIndex(({ line }) => line === hit.line);
  if (at === -1) return [];
  const isAbove = (line: Hit): boolean => isComment(line) || /^\s*(?:@\w|#\[)|\*\/\s*$/.test(line.text);
  const above = lines.slice(0, at).findLastIndex((line) => !isAbove(line));
  const indent = hit.text.search(/\S/);
  const rest = lines.slice(at + 1);
  const end = rest.findIndex(
    ({ text }) => text.trim() !== '' && text.search(/\S/) <= indent && !/^\s*[\])({]/.test(text),
  );
  const closing = /^\s*\}/.test(rest[end]?.text ?? '') ? 1 : 0;
  return excerpt([
    ...lines.slice(above + 1, at + 1),
    ...rest.slice(0, end === -1 ? BODY_LINES : Math.min(BODY_LINES, end + closing)),
  ]);
}
