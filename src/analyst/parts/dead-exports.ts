/** Exported names that no other file holds. */
import { behind, claim, faults, place, section } from '../evidence.ts';
import { exportsOf, holdersOf } from '../exports.ts';
import type { Export } from '../exports.ts';
import { importsOf } from '../imports.ts';
import type { Link } from '../imports.ts';
import { globFor, LANGUAGES, languageOf } from '../languages.ts';
import { isComment, isPrototype } from '../lines.ts';
import { isAside, isTest } from '../paths.ts';
import { inventory, programOf } from '../project.ts';
import type { Hit } from '../tools.ts';
import type { Part, Work } from '../turns.ts';
import { byPlace, plural, shortened } from '../words.ts';

const MOST_DEAD = 40;

export const deadExports: Part = {
  todos: ['List the sources', 'Search for exported names', 'Search for their uses'],
  work: burying,
};

function* burying({ task }: { readonly task: string }): Work {
  const project = yield* inventory(task);
  const program = programOf(project).filter((name) => !isAside(name));
  const { exports: all, seen: looks } = yield* exportsOf(program, project.path, 1);
  const exports = all.filter(({ name }, at) => all.findIndex((other) => other.name === name) === at);
  const imports = yield* importsOf(project.sources, undefined, 1);
  const definitions = new Map(all.map(({ name, hit }) => [`${hit.path}:${hit.line}`, name]));
  /** A line of documents is no use of a name in code, a prototype none of a function, nor another definition of it. */
  const counts = ({ name }: Export, hit: Hit): boolean =>
    languageOf(hit.path) !== undefined &&
    !isPrototype(hit) &&
    !isComment(hit) &&
    definitions.get(`${hit.path}:${hit.line}`) !== name;
  const isUse = (one: Export, hit: Hit): boolean => hit.path !== one.hit.path && !isTest(hit.path) && counts(one, hit);
  const { of, left, seen } = yield* holdersOf(exports, globFor(LANGUAGES), 'code', isUse);
  const single = [...of].flatMap(([one, hits]) =>
    hits.some((hit) => isUse(one, hit))
      ? []
      : [
          lonelyFrom(
            one,
            hits.filter((hit) => counts(one, hit)),
          ),
        ],
  );
  const open = wholeExports(imports.links, single);
  const dead = single
    .filter((one) => !open.some(({ to }) => to === one.hit.path))
    .toSorted((a, b) => byPlace(a.hit, b.hit));
  const nowhere = dead.filter(({ own, tests }) => !own && !tests);
  const inTests = dead.filter(({ own, tests }) => !own && tests);
  const inside = dead.filter(({ own, tests }) => own && !tests);
  const both = dead.filter(({ own, tests }) => own && tests);
  return [
    `${nowhere.length} of ${plural(exports.length - left, 'exported name')} ${nowhere.length === 1 ? 'is' : 'are'} held by no other line of code, ${inTests.length} by tests alone, ${inside.length} by no other file than its own, ${both.length} by its own and by tests ${behind(...looks)} ${behind(...seen)}.${leftText(left)}`,
    '',
    'What a library offers to its users is such a name, too: that no file here uses it does not say that nobody does.',
    ...section('Held by no other line of code', deadRows(nowhere)),
    ...section('Held by tests alone', deadRows(inTests)),
    ...section('Held by no other file than their own', deadRows(inside)),
    ...section('Held by their own file and by tests', namesRow(both)),
    ...section('Left out: files that another one exports as a whole', [
      ...new Set(open.map(({ to, hit }) => `- ${to}, by ${claim(hit)}`)),
    ]),
    ...faults([...project.seen, ...looks, ...imports.seen, ...seen]),
  ].join('\n');
}

const leftText = (left: number): string =>
  left === 0
    ? ''
    : ` ${plural(left, 'name')} more could not be told: ${left === 1 ? 'it is' : 'they are'} held too often for these searches.`;

interface Lonely extends Export {
  /** Other lines of its own file hold it; lines of tests do. */
  readonly own: boolean;
  readonly tests: boolean;
}

function lonelyFrom(one: Export, hits: readonly Hit[]): Lonely {
  const others = hits.filter(({ path, line }) => path !== one.hit.path || line !== one.hit.line);
  return {
    ...one,
    own: others.some(({ path }) => path === one.hit.path),
    tests: others.some(({ path }) => isTest(path)),
  };
}

/** `export * from './a'`, `from .a import *`: what is in such a file is offered under its own name elsewhere. */
function wholeExports(links: readonly Link[], single: readonly Export[]): readonly Link[] {
  const files = new Set(single.map(({ hit }) => hit.path));
  const whole = /export\s+\*|import\s+\*(?!\s+as)|\bpub use\b.*\*|exports\s*=\s*require/;
  return links.filter(({ to, hit }) => files.has(to) && whole.test(hit.text));
}

/** Names with their places, in one row. */
function namesRow(dead: readonly Lonely[]): readonly string[] {
  const names = dead.slice(0, MOST_DEAD).map(({ name, hit }) => `${name} (${place(hit)})`);
  const more = dead.length > MOST_DEAD ? ` and ${dead.length - MOST_DEAD} more` : '';
  return dead.length === 0 ? [] : [`- ${names.join(', ')}${more}`];
}

const deadRows = (dead: readonly Lonely[]): readonly string[] =>
  shortened(
    dead,
    MOST_DEAD,
    ({ name, hit }) => `- ${name}: ${claim(hit)}`,
    (others) =>
      `${others.length} more: ${others
        .slice(0, 30)
        .map(({ name }) => name)
        .join(', ')}`,
  );
