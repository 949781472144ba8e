/**
 * The oracle: reads what the others found, draws the import graph, names central modules and cycles, and weighs the likely
 * places for the task. Its reasons are counts; it doesn't understand the code.
 */
import { claim } from '../claims.ts';
import type { Hit } from '../claims.ts';
import { claimsIn, firstWords } from '../findings.ts';
import { central, cycles, IMPORT_PATTERNS, linksOf } from '../import-graph.ts';
import type { Link } from '../import-graph.ts';
import {
  definitionPattern,
  globFor,
  isComment,
  isDefinition,
  isForeign,
  isSource,
  isTest,
  languagesIn,
} from '../languages.ts';
import { filesOf, hitsOf, isCut, linesOf, list, read, search, searchFor } from '../looking.ts';
import type { Brief, Part, Seen, Work } from '../step.ts';
import { listed, patternOf, plural, termsIn } from '../words.ts';
import type { Term } from '../words.ts';
import { faults, section, upper } from './parts.ts';

const MOST_NAMES = 800;
const MOST_IMPORTS = 450;
const MOST_PLACES = 6;
const READ_PLACES = 3;

interface Named {
  readonly role: string;
  readonly hit: Hit;
}

interface Likely {
  readonly path: string;
  readonly score: number;
  readonly why: string;
  readonly hit: Hit | null;
}

export const oracle: Part = {
  todos: ({ findings }) => [
    findings.length > 0 ? `Read what ${listed(findings.map(({ role }) => role))} found` : 'See what is there',
    'Draw the import graph',
    'Weigh the likely places',
    'Read the best of them',
  ],
  work: think,
};

function* think(brief: Brief): Work {
  const terms = termsIn(brief.task, 4);
  const named = brief.findings.flatMap(({ role, summary }) => claimsIn(summary).map((hit) => ({ role, hit })));
  const [all, goMod] = yield {
    say:
      named.length > 0
        ? `The others named ${plural(new Set(named.map(({ hit }) => hit.path)).size, 'file')}. I list the sources to set them in their place.`
        : 'Nobody found anything before me, so I start from the list of sources.',
    todo: 0,
    asks: [list(MOST_NAMES, SOURCES), search('^module\\s', { glob: 'go.mod', limit: 1 })],
  };
  const { names, count } = filesOf(all);
  const files = names.filter((name) => !isForeign(name));
  const languages = languagesIn(files).filter((name) => IMPORT_PATTERNS[name] !== undefined);
  const imports = yield {
    say:
      languages.length === 0
        ? 'No language whose imports I can read.'
        : `I search for imports (${listed(languages)}) and link who uses whom.`,
    todo: 1,
    asks: languages.map((name) => search(IMPORT_PATTERNS[name] ?? '', { glob: globFor([name]), limit: MOST_IMPORTS })),
  };
  const links = linksOf(
    [...hitsOf(goMod), ...imports.flatMap((seen) => hitsOf(seen).filter(({ path }) => !isForeign(path)))],
    new Set(files),
  );
  const graph: Graph = { links, files: files.length, count, cut: imports.some(isCut) };
  return yield* weighing(brief, terms, named, graph, [all, ...imports]);
}

/** What is known of the links, and of how much. */
interface Graph {
  readonly links: readonly Link[];
  readonly files: number;
  readonly count: number;
  readonly cut: boolean;
}

/** The second half: with the links drawn, where does the task's weight lie? */
function* weighing(
  brief: Brief,
  terms: readonly Term[],
  named: readonly Named[],
  graph: Graph,
  before: readonly (Seen | undefined)[],
): Work {
  const words = terms.filter(({ is }) => is !== 'path');
  const uses = yield {
    say:
      terms.length === 0
        ? 'The task names nothing, so links and findings have to do.'
        : `I search for ${listed(terms.map(({ text }) => text))} once more, definitions first, to weigh the places.`,
    todo: 2,
    asks: [
      ...(words.length === 0
        ? []
        : [search(definitionPattern(words), { anyCase: words.some(({ is }) => is === 'word'), limit: 40 })]),
      ...terms.map((term) => searchFor(term, 30)),
    ],
  };
  const users = central(graph.links);
  const likely = weigh(
    named,
    uses.map((seen) => hitsOf(seen)),
    words,
    users,
  );
  const places = likely.filter(({ hit }) => hit !== null).slice(0, READ_PLACES);
  const around = yield {
    say:
      places.length === 0
        ? 'Nothing to read.'
        : `I read ${listed(places.map(({ path }) => path))} where the weight lies.`,
    todo: 3,
    asks: places.map(({ path, hit }) => read(path, Math.max(1, (hit?.line ?? 1) - 3), 16)),
  };
  if (graph.count === 0 && named.length === 0)
    return ['There is no source file that I can see, so there is nothing to link.', ...faults(before)].join('\n');
  return [
    summary(likely, graph.links, users, terms.length > 0),
    ...section('Likely places, and why', likely.slice(0, MOST_PLACES).map(likelyText)),
    ...section('Said there', around.flatMap(saidThere)),
    ...graphText(graph, users),
    ...section(
      'What the others found',
      brief.findings.map(
        ({ role, summary: text, outcome }) =>
          `- ${role}${outcome === 'completed' ? '' : ` (${outcome})`}: ${firstWords(text)}`,
      ),
    ),
    ...faults([...before, ...uses, ...around]),
  ].join('\n');
}

const SOURCES = globFor(['js', 'py', 'go', 'rust', 'jvm', 'c', 'ruby', 'php']);

/** Found by the finder and a name that fits count most, then definitions, then uses, then how much hangs on a file. */
function weigh(
  named: readonly Named[],
  uses: readonly (readonly Hit[])[],
  words: readonly Term[],
  users: readonly { readonly path: string; readonly users: number }[],
): readonly Likely[] {
  const defines = words.length > 0;
  const definitions = (defines ? (uses[0] ?? []) : []).filter(({ text }) => isDefinition(text));
  const lines = uses.slice(defines ? 1 : 0).flat();
  const paths = [
    ...new Set([
      ...named.map(({ hit }) => hit.path),
      ...[...definitions, ...lines].map(({ path }) => path),
      ...users.slice(0, 5).map(({ path }) => path),
    ]),
  ];
  return paths
    .filter((path) => isSource(path) || path.endsWith('/') || named.some(({ hit }) => hit.path === path))
    .map((path): Likely => {
      const by = [...new Set(named.filter(({ hit }) => hit.path === path).map(({ role }) => role))];
      const defined = definitions.filter((hit) => hit.path === path);
      const used = lines.filter((hit) => hit.path === path);
      const quoted = named.flatMap(({ hit }) => (hit.path === path && hit.text !== '' ? [hit] : []));
      const fan = users.find((one) => one.path === path)?.users ?? 0;
      const fits = words.some((term) => new RegExp(patternOf(term), 'i').test(path.slice(path.lastIndexOf('/') + 1)));
      const told = by.reduce((sum, role) => sum + (role === 'finder' ? 6 : 2), fits ? 8 : 0);
      const counted = told + Math.min(5, defined.length) * 4 + Math.min(8, used.length) + Math.log2(1 + fan);
      const score = counted * (isTest(path) ? 0.3 : 1) * (isSource(path) ? 1 : 0.5);
      return {
        path,
        score,
        why: [...(fits ? ['its name fits'] : []), ...whyLikely(by, defined.length, used.length, fan)].join(', '),
        hit: [...defined, ...used, ...quoted][0] ?? null,
      };
    })
    .toSorted((a, b) => b.score - a.score || (a.path < b.path ? -1 : 1));
}

function whyLikely(by: readonly string[], defined: number, used: number, fan: number): readonly string[] {
  return [
    ...(by.length > 0 ? [`named by ${listed(by)}`] : []),
    ...(defined > 0 ? [plural(defined, 'fitting definition')] : []),
    ...(used > 0 ? [`${plural(used, 'line')} with the words`] : []),
    ...(fan > 0 ? [`imported by ${fan}`] : []),
  ];
}

const likelyText = ({ path, why, hit }: Likely, index: number): string =>
  `${index + 1}. ${path}: ${why}${hit === null ? '' : `; ${claim(hit)}`}`;

function saidThere(seen: Seen): readonly string[] {
  const line = linesOf(seen).find(({ text }) => isComment(text) && text.replaceAll(/\W/g, '').length > 14);
  return line === undefined ? [] : [`- ${claim(line)}`];
}

function summary(
  likely: readonly Likely[],
  links: readonly Link[],
  users: readonly { readonly path: string; readonly users: number }[],
  asked: boolean,
): string {
  const [best] = likely;
  const [hub] = users;
  const graph =
    links.length === 0
      ? 'No imports between files could be linked.'
      : `${upper(plural(links.length, 'import'))} between files ${links.length === 1 ? 'was' : 'were'} linked${hub === undefined ? '' : `; most hangs on ${hub.path} (imported by ${hub.users})`}.`;
  if (best === undefined) return graph;
  const place = best.hit === null ? best.path : claim(best.hit);
  return `${asked ? 'The likeliest place' : 'The place to begin'} is ${place}: ${best.why}. ${graph}`;
}

function graphText(
  { links, files, count, cut }: Graph,
  users: readonly { readonly path: string; readonly users: number }[],
): readonly string[] {
  if (links.length === 0) return [];
  const rounds = cycles(links);
  const example = (path: string): string => {
    const link = links.find(({ to, from }) => to === path && !isTest(from));
    return link === undefined ? '' : `, for example ${claim(link.hit)}`;
  };
  const partly = cut
    ? ['The search for imports stopped at its limit']
    : files < count
      ? [`${files} of ${count} sources were linked`]
      : [];
  const circles = rounds
    .slice(0, 4)
    .map(
      (round) =>
        `- ${[...round.map(({ from }) => from), round[0]?.from ?? ''].join(' -> ')}, by ${claim(round[0]?.hit ?? { path: '', line: 1, text: '' })}`,
    );
  return [
    ...section(
      'What most hangs on',
      users.slice(0, 6).map(({ path, users: fan }) => `- ${path}: imported by ${plural(fan, 'other')}${example(path)}`),
    ),
    ...section(`Circles of imports (${rounds.length})`, circles),
    '',
    ...(rounds.length === 0 ? ['No circle of imports was seen (type-only imports left out).'] : []),
    ...partly.map((text) => `${text}: counts are lower bounds.`),
  ];
}
