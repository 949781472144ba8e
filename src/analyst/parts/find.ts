/** Where a name is: the lines that define it, exported ones in source folders first, what is said there, and who uses it. */
import { behind, claim, excerpt, faults, section } from '../evidence.ts';
import { anyOf, definitionPattern, globFor, languageOf, TABLE } from '../languages.ts';
import { isComment, isDefinition, isPrototype } from '../lines.ts';
import { isSource, rankOf } from '../paths.ts';
import { inventory } from '../project.ts';
import type { Inventory } from '../project.ts';
import { hitsOf, isCut, linesOf, read, search } from '../tools.ts';
import type { Ask, Hit, Looking, Seen } from '../tools.ts';
import type { Part, Work } from '../turns.ts';
import { byPlace, code, escaped, isFilePath, listed, plural, shortened, stem, termsIn } from '../words.ts';

const MOST_TERMS = 4;
const MOST_DEFINITIONS = 8;
const MOST_FILES = 10;
const BODY_LINES = 16;

/** What is looked for together: one identifier, or all plain words. */
interface Sought {
  /** As the task has it: `Foo.bar`. */
  readonly said: string;
  /** What is really searched for: `bar`; or the words. */
  readonly names: readonly string[];
  /** A regular expression of each name. */
  readonly patterns: readonly string[];
  /** `Foo` of `Foo.bar`: a definition is best where its file or line holds it. */
  readonly owner: string;
  /** Words of language are looked for by their stems, within names and in any case. */
  readonly words: boolean;
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
  const terms = termsIn(task, 8);
  const files = terms.flatMap(({ is, text }) => (is === 'path' && isFilePath(text) ? [text] : []));
  const named = terms.filter(({ is }) => is !== 'path').slice(0, MOST_TERMS);
  const project = yield* inventory(named.length > 0 ? withoutFiles(task) : task);
  const words = named.filter(({ is }) => is === 'word').map(({ text }) => text);
  const all =
    words.length > 0 ? [wordsSought(named.map(({ text }) => text))] : named.map(({ text }) => nameSought(text));
  const found: Found[] = [];
  for (const sought of all) found.push(yield* lookFor(sought, project));
  const best = found.flatMap(({ definitions }) => definitions.slice(0, 1)).slice(0, 3);
  const around = yield {
    say:
      best.length === 0
        ? 'There is no definition to read.'
        : `I read ${listed(best.map(({ path }) => path))} around the definitions.`,
    todo: 2,
    asks: best.map((hit) => read(hit.path, Math.max(1, hit.line - 12), 12 + BODY_LINES + 4)),
  };
  return [
    [...found.map(headText), ...files.map((file) => fileText(file, project))].join(' '),
    ...section('Definitions', found.flatMap(definitionRows)),
    ...best.flatMap((hit, at) => readingText(hit, around[at])),
    ...found.flatMap((one) =>
      section(`Lines that hold ${one.sought.names.length > 1 ? 'at least two of ' : ''}${namesIn(one)}`, useRows(one)),
    ),
    ...faults([...project.seen, ...found.flatMap(({ looks, useLook }) => [...looks, useLook]), ...around]),
  ].join('\n');
}

const withoutFiles = (task: string): string =>
  task.replaceAll(/[\w@.-]+\.\w{1,5}\b(?!\/)/g, (word) => (/^\w+$/.test(word) ? word : ' '));

function nameSought(said: string): Sought {
  const parts = said.split(/\.|::|->|#/).filter((part) => part !== '');
  const name = parts.at(-1) ?? said;
  return { said, names: [name], patterns: [escaped(name)], owner: parts.at(-2) ?? '', words: false };
}

const wordsSought = (names: readonly string[]): Sought => ({
  said: names.join(' '),
  names,
  patterns: names.map((name) => `\\w*${escaped(stem(name))}\\w*`),
  owner: '',
  words: true,
});

const searchDefinitions = (
  patterns: readonly string[],
  about: string,
  anyCase: boolean,
  { path, languages }: Inventory,
): readonly Ask[] =>
  languages.map((language) => {
    const glob = globFor([language]);
    const where = { glob, path, anyCase, limit: 400, about: `definitions of ${about} in ${glob}` };
    return search(definitionPattern(language, patterns), where);
  });

/** Identifiers as they are written; one that nobody defines so is looked for within names and in any case. */
function* lookFor(sought: Sought, project: Inventory): Looking<Found> {
  const { names, patterns, words } = sought;
  const quoted = names.map(code);
  const about = words ? `names with ${names.join(', ')}` : listed(quoted);
  const asks = searchDefinitions(patterns, about, words, project);
  const holding = words ? anyOf(names.map((name) => escaped(stem(name)))) : bounded(patterns.join(''));
  const seen = yield {
    say: words
      ? `I search for names that hold ${listed(quoted)}, and for all lines that do.`
      : `I search for the lines that define ${code(sought.said)}, and for all that hold it.`,
    todo: 1,
    asks: [
      ...asks,
      search(holding, {
        path: project.path,
        anyCase: words,
        limit: 600,
        about: names.map(words ? String : code).join(', '),
      }),
    ],
  };
  const looks = seen.slice(0, asks.length);
  const useLook = seen.at(-1);
  const definitions = definitionsIn(looks, sought);
  const found = { sought, definitions, uses: usesIn(useLook, definitions, sought), looks, useLook };
  if (words || definitions.length > 0) return found;
  const within = yield {
    say: `Nothing defines ${code(sought.said)} as it is written: I search for names that hold it, in any case.`,
    todo: 1,
    asks: searchDefinitions(
      patterns.map((name) => `\\w*${name}\\w*`),
      `names with ${listed(quoted)}`,
      true,
      project,
    ),
  };
  return { ...found, definitions: definitionsIn(within, sought), looks: [...looks, ...within] };
}

const bounded = (pattern: string): string =>
  `${/^\w/.test(pattern) ? '\\b' : ''}${pattern}${/\w$/.test(pattern) ? '\\b' : ''}`;

function definitionsIn(looks: readonly Seen[], sought: Sought): readonly Hit[] {
  const weight = sought.words ? weightByWords(sought) : weightByName(sought);
  const hits = looks.flatMap((look) => hitsOf(look)).filter((hit) => isSource(hit.path) && isDefinition(hit));
  return hits
    .filter((hit, at) => hits.findIndex((other) => byPlace(hit, other) === 0) === at)
    .toSorted((a, b) => weight(a) - weight(b) || byPlace(a, b));
}

/** What comes first has the smallest weight: source folders, the owner's, real definitions, those offered to others. */
const weightByName =
  ({ owner }: Sought) =>
  (hit: Hit): number =>
    rankOf(hit.path) * 10 +
    (owner !== '' && !`${hit.path} ${hit.text}`.toLowerCase().includes(owner.toLowerCase()) ? 5 : 0) +
    (isPrototype(hit) ? 4 : 0) +
    (isLocal(hit) ? 3 : 0) -
    (isOffered(hit) ? 1 : 0);

/** Names and files that hold most of the words come first. */
const weightByWords =
  (sought: Sought) =>
  (hit: Hit): number => {
    const name = new RegExp(sought.patterns.join('|'), 'i').exec(hit.text)?.[0] ?? '';
    const fits = 2 * heldIn(name, sought) + heldIn(hit.path, sought);
    return Math.max(2, rankOf(hit.path)) * 100 - fits + weightByName(sought)(hit) / 100;
  };

const heldIn = (text: string, { names }: Sought): number =>
  names.filter((name) => text.toLowerCase().includes(stem(name))).length;

/** A value that is only kept under that name, or one within a function. */
const isLocal = ({ text }: Hit): boolean => /^\s+(?:const|let|var|local|readonly)\b|^\s*\w+\s*=[^=>]*$/.test(text);

function isOffered({ path, text }: Hit): boolean {
  const language = languageOf(path);
  const pattern = language === undefined ? null : TABLE[language].exports;
  return pattern !== null && new RegExp(pattern).test(text);
}

/** Lines that hold it beside its definitions; of several words at least two. */
const usesIn = (look: Seen | undefined, definitions: readonly Hit[], sought: Sought): readonly Hit[] => {
  const own = new Set(definitions.map(({ path, line }) => `${path}:${line}`));
  return hitsOf(look)
    .filter(({ path, line }) => !own.has(`${path}:${line}`))
    .filter(({ text }) => !sought.words || heldIn(text, sought) >= Math.min(2, sought.names.length))
    .toSorted((a, b) => rankOf(a.path) - rankOf(b.path));
};

const namesIn = ({ sought }: Found): string => listed(sought.names.map(code));

function headText(found: Found): string {
  const { definitions, uses, looks, useLook } = found;
  const [best] = definitions;
  const [use] = uses;
  if (best !== undefined) return `${definedText(found, best)}${aloneText(found)}`;
  const none = `No line that defines ${namesIn(found)} was found ${behind(...looks)}`;
  if (use === undefined) return `${none}, and no line holds it ${behind(useLook)}.`;
  return `${none}; it is held by ${claim(use)} and ${plural(uses.length - 1, 'other line')} ${behind(useLook)}.`;
}

function definedText({ sought, definitions }: Found, best: Hit): string {
  const names = sought.names.map(code);
  const exact = !sought.words && new RegExp(`(?:^|\\W)${sought.patterns.join('')}(?:\\W|$)`).test(best.text);
  const name = exact ? listed(names) : `A name with ${listed(names, 'or')}`;
  const more = definitions.length > 1 ? ` (the first of ${plural(definitions.length, 'such line')})` : '';
  return `${name} is ${isPrototype(best) ? 'declared' : 'defined'} at ${claim(best)}${more}.`;
}

/** That no other line holds a name, where a search tells so. */
const aloneText = ({ sought, uses, useLook }: Found): string =>
  uses.length > 0 || sought.words || useLook?.ok !== true || isCut(useLook)
    ? ''
    : ` No other line holds it ${behind(useLook)}.`;

const definitionRows = ({ definitions, looks }: Found): readonly string[] =>
  shortened(
    definitions,
    MOST_DEFINITIONS,
    (hit) => `- ${claim(hit)}${isPrototype(hit) ? ' (a declaration)' : ''}`,
    (others) => `${others.length} more ${behind(...looks.filter((look) => hitsOf(look).length > 0))}`,
  );

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
    ...shortened(
      files,
      MOST_FILES,
      ([path, hits]) => {
        const first = hits.find((hit) => !isComment(hit)) ?? hits[0];
        return `- ${path}: ${plural(hits.length, 'line')}${first === undefined ? '' : `, for example ${claim(first)}`}`;
      },
      (others) => `${plural(others.length, 'file')} more of that search`,
    ),
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
    ({ text }) => text.trim() !== '' && text.search(/\S/) <= indent && !/^\s*[\])({>]/.test(text),
  );
  const closing = /^\s*\}/.test(rest[end]?.text ?? '') ? 1 : 0;
  return excerpt([
    ...lines.slice(above + 1, at + 1),
    ...rest.slice(0, end === -1 ? BODY_LINES : Math.min(BODY_LINES, end + closing)),
  ]);
}
