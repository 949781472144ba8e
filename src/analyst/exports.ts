/** Names that files offer to others, and those of them that no other file holds. */
import { importsOf, inventory, programOf } from './imports.ts';
import type { Link } from './imports.ts';
import {
  exportsIn,
  globFor,
  isAside,
  isComment,
  isPrototype,
  isTest,
  LANGUAGES,
  languageOf,
  languagesIn,
  TABLE,
} from './languages.ts';
import {
  behind,
  claim,
  faults,
  hitsOf,
  isCut,
  linesOf,
  LONGEST_PATTERN,
  place,
  read,
  search,
  searchAll,
  section,
} from './tools.ts';
import type { Hit } from './tools.ts';
import type { Looking, Part, Seen, Work } from './turns.ts';
import { captured, listed, plural } from './words.ts';

/** A name that a line offers to other files. */
export interface Export {
  readonly name: string;
  readonly hit: Hit;
}

const BLOCK = /^module\.exports\s*=\s*\{\s*$/;

/** The names that `names` offer, as their lines tell; a `module.exports` of several lines is read. */
export function* exportsOf(
  names: readonly string[],
  where: string | undefined,
  todo: number,
): Looking<{ readonly exports: readonly Export[]; readonly seen: readonly Seen[] }> {
  const asks = languagesIn(names)
    .filter((language) => TABLE[language].exports !== null)
    .map((language) =>
      search(TABLE[language].exports ?? '', {
        glob: globFor([language]),
        path: where,
        limit: 1000,
        about: `exported names in ${globFor([language])}`,
      }),
    );
  const seen = yield* searchAll(asks, names, 'I search for the names that files offer to others.', todo);
  const known = new Set(names);
  const hits = seen.flatMap((look) => hitsOf(look)).filter((hit) => known.has(hit.path) && !isComment(hit));
  const blocks = hits.filter(({ text }) => BLOCK.test(text)).slice(0, MOST_BLOCKS);
  const texts =
    blocks.length === 0
      ? []
      : yield {
          say: 'I read the lists of exported names.',
          todo,
          asks: blocks.map(({ path: file, line }) => read(file, line, 60)),
        };
  const listedNames = texts.flatMap((text) => {
    const lines = linesOf(text).slice(1);
    const end = lines.findIndex((hit) => hit.text.startsWith('}'));
    return lines
      .slice(0, end === -1 ? undefined : end)
      .flatMap((hit) => namesOf(captured(/^\s+([A-Za-z_$][\w$]*)\s*(?:,|:|$)/, hit.text), hit));
  });
  return {
    exports: [...hits.flatMap((hit) => exportsIn(hit).flatMap((name) => namesOf(name, hit))), ...listedNames],
    seen,
  };
}

const MOST_BLOCKS = 40;
/** Names that say nothing of whose they are. */
const COMMON_NAMES =
  /^(?:main|default|setup|teardown|configure|init|index|config|module|exports|register|activate|get|set|run|parse|name|type|test|data)$/;
const namesOf = (name: string, hit: Hit): readonly Export[] =>
  name.length > 2 && !COMMON_NAMES.test(name) ? [{ name, hit }] : [];

const MOST_DEAD = 40;
const ROUNDS = 24;
export const deadExports: Part = {
  todos: ['List the sources', 'Search for exported names', 'Search for their uses'],
  work: burying,
};

function* burying({ task }: { readonly task: string }): Work {
  const project = yield* inventory(task);
  const program = new Set(programOf(project).filter((name) => !isAside(name)));
  const { exports: all, seen: looks } = yield* exportsOf([...program], project.path, 1);
  const exports = all.filter(({ name }, at) => all.findIndex((other) => other.name === name) === at);
  const imports = yield* importsOf(project.sources, undefined, 1);
  const { single, seen, left } = yield* lonely(
    exports,
    new Map(all.map(({ name, hit }) => [`${hit.path}:${hit.line}`, name])),
  );
  const open = wholeExports(imports.links, single);
  const dead = single.filter((one) => !open.some(({ to }) => to === one.hit.path));
  const nowhere = dead.filter(({ own, tests }) => !own && !tests);
  const inTests = dead.filter(({ own, tests }) => !own && tests);
  const inside = dead.filter(({ own, tests }) => own && !tests);
  const both = dead.filter(({ own, tests }) => own && tests);
  const checked = exports.length - left;
  return [
    `${nowhere.length} of ${plural(checked, 'exported name')} ${nowhere.length === 1 ? 'is' : 'are'} held by no other line of code, ${inTests.length} by tests alone, ${inside.length} by no other file than its own, ${both.length} by its own and by tests ${behind(...looks)} ${behind(...seen)}.${left > 0 ? ` ${plural(left, 'name')} more could not be told: ${left === 1 ? 'it is' : 'they are'} held too often for these searches.` : ''}`,
    '',
    'What a library offers to its users is such a name, too: that no file here uses it does not say that nobody does.',
    ...section('Held by no other line of code', deadRows(nowhere)),
    ...section('Held by tests alone', deadRows(inTests)),
    ...section('Held by no other file than their own', deadRows(inside)),
    ...section('Held by their own file and by tests', namesRow(both)),
    ...section('Left out: files that another one exports as a whole', [
      ...new Set(open.map((link) => `- ${link.to}, by ${claim(link.hit)}`)),
    ]),
    ...faults([...project.seen, ...looks, ...imports.seen, ...seen]),
  ].join('\n');
}

interface Lonely extends Export {
  /** Other lines of its own file hold it; lines of tests do. */
  readonly own: boolean;
  readonly tests: boolean;
}

/** Names that no other file of the program holds: searched together, those that were found taken out, until the rest fits. */
function* lonely(
  exports: readonly Export[],
  definitions: ReadonlyMap<string, string>,
): Looking<{ readonly single: readonly Lonely[]; readonly seen: readonly Seen[]; readonly left: number }> {
  const single: Lonely[] = [];
  const looks: Seen[] = [];
  let open = exports;
  let most = exports.length;
  for (let round = 0; round < ROUNDS && open.length > 0 && most > 0; round += 1) {
    const some = batch(open).slice(0, most);
    const [look] = yield {
      say: `Who holds ${listed(some.slice(0, 3).map(({ name }) => name))} (of ${some.length})?`,
      todo: 2,
      asks: [
        search(`\\b(?:${some.map(({ name }) => name.replaceAll('$', String.raw`\$`)).join('|')})\\b`, {
          limit: 1000,
          glob: globFor(LANGUAGES),
          about: `${plural(some.length, 'name')} in code`,
        }),
      ],
    };
    if (look?.ok !== true) break;
    looks.push(look);
    const uses = usesOf(look);
    const used = some.filter((one) => isUsed(one, uses.get(one.name) ?? [], definitions));
    const cut = isCut(look);
    if (!cut)
      single.push(
        ...some.filter((one) => !used.includes(one)).map((one) => lonelyOf(one, uses.get(one.name) ?? [], definitions)),
      );
    // Names that are held so often that even the search for few of them is cut: fewer at a time.
    if (cut && used.length === 0) most = Math.floor(some.length / 2);
    const done = new Set(cut ? used : some);
    open = open.filter((one) => !done.has(one));
  }
  return { single, seen: looks, left: open.length };
}

/** The lines that hold each word. */
const usesOf = (look: Seen): ReadonlyMap<string, readonly Hit[]> =>
  new Map(
    [
      ...Map.groupBy(
        hitsOf(look).flatMap((hit) => [...new Set(hit.text.match(/[A-Za-z_$][\w$]*/g))].map((word) => ({ word, hit }))),
        ({ word }) => word,
      ),
    ].map(([word, all]) => [word, all.map(({ hit }) => hit)] as const),
  );

const isUsed = (one: Export, hits: readonly Hit[], definitions: ReadonlyMap<string, string>): boolean =>
  hits.some((hit) => hit.path !== one.hit.path && !isTest(hit.path) && counts(hit, one.name, definitions));

/** A line of documents is no use of a name in code, a prototype none of a function. */
const counts = (hit: Hit, name: string, definitions: ReadonlyMap<string, string>): boolean =>
  languageOf(hit.path) !== undefined &&
  !isPrototype(hit) &&
  !isComment(hit) &&
  definitions.get(`${hit.path}:${hit.line}`) !== name;

function lonelyOf(one: Export, hits: readonly Hit[], definitions: ReadonlyMap<string, string>): Lonely {
  const others = hits.filter(
    (hit) => !(hit.path === one.hit.path && hit.line === one.hit.line) && counts(hit, one.name, definitions),
  );
  return {
    ...one,
    own: others.some(({ path }) => path === one.hit.path),
    tests: others.some(({ path }) => isTest(path)),
  };
}

function batch(open: readonly Export[]): readonly Export[] {
  let length = 10;
  const end = open.findIndex(({ name }) => (length += name.length + 2) > LONGEST_PATTERN);
  return open.slice(0, end === -1 ? undefined : Math.max(1, end));
}

/** `export * from './a'`, `from .a import *`: what is in such a file is offered under its own name elsewhere. */
function wholeExports(links: readonly Link[], single: readonly Export[]): readonly Link[] {
  const files = new Set(single.map(({ hit }) => hit.path));
  return links.filter(
    ({ to, hit }) =>
      files.has(to) && /export\s+\*|import\s+\*(?!\s+as)|\bpub use\b.*\*|exports\s*=\s*require/.test(hit.text),
  );
}

const namesRow = (dead: readonly Lonely[]): readonly string[] =>
  dead.length === 0
    ? []
    : [
        `- ${dead
          .slice(0, MOST_DEAD)
          .map(({ name, hit }) => `${name} (${place(hit)})`)
          .join(', ')}${dead.length > MOST_DEAD ? ` and ${dead.length - MOST_DEAD} more` : ''}`,
      ];

const deadRows = (dead: readonly Lonely[]): readonly string[] => [
  ...dead.slice(0, MOST_DEAD).map(({ name, hit }) => `- ${name}: ${claim(hit)}`),
  ...(dead.length > MOST_DEAD
    ? [
        `- and ${dead.length - MOST_DEAD} more: ${dead
          .slice(MOST_DEAD, MOST_DEAD + 30)
          .map(({ name }) => name)
          .join(', ')}`,
      ]
    : []),
];
