/**
 * The oracle: draws the import graph and answers from it what its task asks: the likely places for words, the way from the
 * entry points to a file, or what hangs on the files that others named. Its reasons are counts; it doesn't understand code.
 */
import { claim } from '../claims.ts';
import { claimsIn } from '../findings.ts';
import { drawing } from '../graph-drawing.ts';
import type { Graph } from '../graph-drawing.ts';
import { central, cycles } from '../import-graph.ts';
import { definitionPattern, isComment, isTest } from '../languages.ts';
import { hitsOf, linesOf, read, search, searchFor } from '../looking.ts';
import type { Brief, Part, Seen, Work } from '../step.ts';
import { topicIn } from '../topic.ts';
import { listed, plural } from '../words.ts';
import type { Term } from '../words.ts';
import { hangingText } from './hanging.ts';
import { likelyText, weigh } from './likely.ts';
import type { Likely, Named } from './likely.ts';
import { faults, section } from './parts.ts';

const MOST_PLACES = 6;
const READ_PLACES = 3;

export const oracle: Part = {
  todos: ({ findings, task }) => [
    findings.length > 0
      ? `Read what ${listed([...new Set<string>(findings.map(({ role }) => role))])} found`
      : 'See what is there',
    'Link every file with those that it imports',
    topicIn(task).words.length > 0 ? 'Weigh the likely places' : 'Follow the links',
    'Read the files that matter most',
  ],
  work: think,
};

function* think(brief: Brief): Work {
  const terms = topicIn(brief.task).words;
  const graph = yield* drawing(brief);
  if (graph.count === 0 && brief.findings.length === 0)
    return ['There is no source file that I can see, so there is nothing to link.', ...faults(graph.seen)].join('\n');
  return terms.length > 0 ? yield* weighing(brief, terms, graph) : yield* following(brief, graph);
}

/** With words: where does their weight lie? */
function* weighing(brief: Brief, terms: readonly Term[], graph: Graph): Work {
  const named = brief.findings.flatMap(({ role, summary }) => claimsIn(summary).map((hit): Named => ({ role, hit })));
  const words = listed(terms.map(({ text }) => `\`${text}\``));
  const uses = yield {
    say: `Now the words: I search for ${words} once more, definitions first, and lay the links over the hits.`,
    todo: 2,
    asks: [
      search(definitionPattern(terms), {
        anyCase: terms.some(({ is }) => is === 'word'),
        limit: 60,
        about: `definitions of ${words}`,
      }),
      ...terms.map((term) => searchFor(term, 40)),
    ],
  };
  const users = central(graph.links);
  const hits = uses.map((seen) => hitsOf(seen));
  const likely = weigh(named, hits, terms, users);
  const around = yield* reading(likely.flatMap(({ hit }) => hit ?? []).slice(0, READ_PLACES));
  return [
    likelyHead(likely, graph),
    ...section('Likely places, and why', likely.slice(0, MOST_PLACES).map(likelyText)),
    ...section('What stands there', around.flatMap(saidThere)),
    ...graphText(graph),
    ...faults([...graph.seen, ...uses, ...around]),
  ].join('\n');
}

function likelyHead(likely: readonly Likely[], { links }: Graph): string {
  const [best, second] = likely;
  if (best === undefined) return `Nothing points to a place, in ${plural(links.length, 'import')} between files.`;
  const place = best.hit === null ? best.path : claim(best.hit);
  const next =
    second === undefined ? '' : ` After it: ${second.hit === null ? second.path : claim(second.hit)} (${second.why}).`;
  return `The likeliest place is ${place}: ${best.why}.${next}`;
}

/** Without words: from the files that others named, along the links. */
function* following(brief: Brief, graph: Graph): Work {
  const { head, rows, files } = hangingText(brief, graph);
  const around = yield* reading(files.slice(0, READ_PLACES).map((path) => ({ path, line: 1 })));
  return [
    head,
    ...rows,
    ...section('What these files say of themselves', around.flatMap(saidThere)),
    ...graphText(graph),
    ...faults([...graph.seen, ...around]),
  ].join('\n');
}

function* reading(
  places: readonly { readonly path: string; readonly line: number }[],
): Generator<{ say: string; todo: number; asks: ReturnType<typeof read>[] }, readonly Seen[], readonly Seen[]> {
  return yield {
    say:
      places.length === 0
        ? 'Nothing to read.'
        : `The weight lies on ${listed([...new Set(places.map(({ path }) => path))])}: I read there.`,
    todo: 3,
    asks: places.map(({ path, line }) => read(path, Math.max(1, line - 4), 18)),
  };
}

function saidThere(seen: Seen): readonly string[] {
  const line = linesOf(seen).find(({ text }) => isComment(text) && text.replaceAll(/\W/g, '').length > 14);
  return line === undefined ? [] : [`- ${claim(line)}`];
}

function graphText({ links, files, count, cut }: Graph): readonly string[] {
  if (links.length === 0) return [];
  const users = central(links);
  const rounds = cycles(links);
  const all = rounds.length === 0 ? cycles(links, { types: true }) : rounds;
  const least = cut || files < count ? 'at least ' : '';
  const example = (path: string): string => {
    const link = links.find(({ to, from }) => to === path && !isTest(from));
    return link === undefined ? '' : `, for example ${claim(link.hit)}`;
  };
  const circles = all
    .slice(0, 4)
    .map(
      (round) =>
        `- ${[...round.map(({ from }) => from), round[0]?.from ?? ''].join(' -> ')}, by ${claim(round[0]?.hit ?? { path: '', line: 1, text: '' })}${round.some(({ typeOnly }) => typeOnly) ? ' (closed by imports of types only: harmless when it runs)' : ''}`,
    );
  return [
    ...section(
      'What most hangs on',
      users
        .slice(0, 6)
        .map(({ path, users: fan }) => `- ${path}: imported by ${least}${plural(fan, 'other')}${example(path)}`),
    ),
    ...section(`Circles of imports (${all.length})`, circles),
    '',
    ...(all.length === 0 ? [`No circle in the ${plural(links.length, 'import')} between files that were linked.`] : []),
    ...(cut ? ['A search for imports stopped at its limit: counts are lower bounds.'] : []),
    ...(!cut && files < count ? [`${files} of ${count} sources were linked: counts are lower bounds.`] : []),
  ];
}
