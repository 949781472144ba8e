/**
 * The reviewer sent for one file: weighs the files by risky lines, size, importers, missing tests and recent changes, names
 * the riskiest with its reasons, and goes through it from top to bottom.
 */
import { claim, place } from '../claims.ts';
import type { Hit } from '../claims.ts';
import { groundOf, missingText } from '../ground.ts';
import type { Ground, Listing } from '../ground.ts';
import { changesIn, commitsIn } from '../history.ts';
import { importOf, linksOf, nameOf } from '../import-graph.ts';
import {
  definedName,
  foreignAmong,
  globFor,
  isAside,
  isDefinition,
  isSource,
  isTest,
  languagesIn,
  SOURCE_GLOB,
  TEST_GLOB,
} from '../languages.ts';
import { filesOf, git, hitsOf, lengthOf, linesOf, list, read, search } from '../looking.ts';
import { longFunctions } from '../measures.ts';
import type { RiskKind } from '../risk.ts';
import type { Ask, Brief, Seen, Work } from '../step.ts';
import { joined, risksFor, searchAll, standsInComment, suspectsOf, WEIGHT } from '../suspects.ts';
import type { Suspect } from '../suspects.ts';
import { topicIn } from '../topic.ts';
import { listed, plural } from '../words.ts';
import { faults, section } from './parts.ts';

const CANDIDATES = 8;
const COMMITS = 60;
const READ_LINES = 500;
const MOST_PLACES = 12;
/** What an example or a measurement counts beside the program itself. */
const ASIDE = 0.15;
/** More places of one kind in one file say little more. */
const MOST_OF_A_KIND = 4;

export const RISKIEST_TODOS: readonly string[] = [
  'List the sources',
  'Search for risky lines',
  'Weigh size, importers, tests, changes',
  'Go through the riskiest file',
];

const LISTING: Listing = {
  say: 'I list the sources, to know which languages and therefore which risks there can be.',
  todo: 0,
  limit: 800,
  glob: SOURCE_GLOB,
};

interface Weighed {
  readonly path: string;
  readonly places: readonly Suspect[];
  readonly lines: number;
  readonly users: number;
  readonly tested: boolean;
  readonly commits: number;
  readonly score: number;
}

/** Names one file and goes through it. */
export function* riskiest(brief: Brief, kinds: readonly RiskKind[]): Work {
  const ground = yield* groundOf(topicIn(brief.task), LISTING);
  const foreign = foreignAmong(ground.names);
  const own = ground.names.filter((path) => isSource(path) && !isTest(path) && !foreign(path));
  const risks = risksFor(languagesIn(own), kinds);
  const groups = joined(risks);
  const found = yield {
    say: `I search ${plural(own.length, 'source')} for ${plural(risks.length, 'pattern')} that often mean trouble, several at a time.`,
    todo: 1,
    asks: groups.map((group) => searchAll(group, languagesIn(own), ground.path)),
  };
  const suspects = groups.flatMap((group, index) =>
    group.flatMap((risk) =>
      suspectsOf(risk, found[index], new Set(), foreign).filter(({ hit }) => ground.has(hit.path)),
    ),
  );
  const candidates = likeliest(suspects, own);
  const asked = yield {
    say:
      candidates.length === 0
        ? 'There is no source to weigh.'
        : `${plural(suspects.length, 'risky line')} in ${plural(new Set(suspects.map(({ hit }) => hit.path)).size, 'file')}. Hits alone are a poor measure: for the ${plural(candidates.length, 'likeliest file')} I ask how long each is, who imports it, whether a test does, and how often it changed.`,
    todo: 2,
    asks:
      candidates.length === 0
        ? []
        : [
            search(importOf(candidates), {
              glob: globFor(languagesIn(candidates)),
              limit: 300,
              about: `who imports ${listed(candidates.slice(0, 2).map(nameOf))}${candidates.length > 2 ? ' and others' : ''}`,
            }),
            list(300, { glob: TEST_GLOB, about: 'tests' }),
            git('log', { limit: COMMITS, stat: true }),
            ...candidates.map((path) => read(path, 1, 1)),
          ],
  };
  const weighed = weigh(candidates, suspects, asked, ground);
  const [worst] = weighed;
  const texts = yield {
    say:
      worst === undefined
        ? 'Nothing to go through.'
        : `${worst.path} weighs most (${reasonsFor(worst, commitsIn(asked[2]))}). I read it from the top.`,
    todo: 3,
    asks: worst === undefined ? [] : portionsOf(worst),
  };
  return answer({
    ground,
    weighed,
    texts,
    risks: risks.length,
    commits: commitsIn(asked[2]),
    seen: [...found, ...asked.slice(0, 2), ...texts],
  });
}

/** A long file is read in portions, the longest only in part. */
const portionsOf = ({ path, lines }: Weighed): readonly Ask[] =>
  Array.from({ length: Math.min(4, Math.max(1, Math.ceil(lines / READ_LINES))) }, (_, at) =>
    read(path, at * READ_LINES + 1, READ_LINES),
  );

/** Files with most risky lines; when there are too few, those nearest to the top. */
function likeliest(suspects: readonly Suspect[], own: readonly string[]): readonly string[] {
  const points = new Map<string, number>();
  for (const [path, places] of Map.groupBy(suspects, ({ hit }) => hit.path)) points.set(path, pointsOf(places));
  for (const [path, sum] of points) if (isAside(path)) points.set(path, sum * ASIDE);
  const byPoints = [...points].toSorted((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).map(([path]) => path);
  const others = own.toSorted((a, b) => a.split('/').length - b.split('/').length || (a < b ? -1 : 1));
  return [...new Set([...byPoints, ...others])].slice(0, CANDIDATES);
}

const pointsOf = (places: readonly Suspect[]): number =>
  [...Map.groupBy(places, ({ risk }) => risk.id).values()].reduce(
    (sum, same) => sum + Math.min(MOST_OF_A_KIND, same.length) * WEIGHT[same[0]?.risk.severity ?? 'low'],
    0,
  );

function weigh(
  candidates: readonly string[],
  suspects: readonly Suspect[],
  [imports, tests, log, ...heads]: readonly Seen[],
  ground: Ground,
): readonly Weighed[] {
  const testNames = filesOf(tests).names;
  const links = linksOf(hitsOf(imports), new Set([...ground.names, ...candidates, ...testNames]));
  const changes = changesIn(log);
  return candidates
    .map((path, index): Weighed => {
      const places = suspects.filter(({ hit }) => hit.path === path);
      const lines = lengthOf(heads[index]) ?? 0;
      const users = new Set(links.filter(({ from, to }) => to === path && !isTest(from)).map(({ from }) => from)).size;
      const name = nameOf(path).toLowerCase();
      const tested =
        links.some(({ from, to }) => to === path && isTest(from)) ||
        testNames.some(
          (test) =>
            isTest(test) &&
            nameOf(test)
              .toLowerCase()
              .replace(/^test_|[._-]?(?:test|tests|spec)$/g, '') === name,
        );
      const commits = changes.find((change) => change.path === path)?.times ?? 0;
      const spread = 1 + Math.log2(1 + users) / 4 + Math.min(1, lines / 800) + Math.min(0.5, commits / 20);
      return {
        path,
        places,
        lines,
        users,
        tested,
        commits,
        score: (pointsOf(places) + 0.5) * (isAside(path) ? ASIDE : 1) * spread * (tested ? 1 : 1.3),
      };
    })
    .toSorted((a, b) => b.score - a.score || (a.path < b.path ? -1 : 1));
}

/** Why a file weighs what it weighs, in counts. */
function reasonsFor({ places, lines, users, tested, commits }: Weighed, of: number): string {
  const kinds = [...Map.groupBy(places, ({ risk }) => risk)].map(
    ([risk, same]) => `${same.length} ${risk.id.replaceAll('-', ' ')} (${risk.severity})`,
  );
  return [
    places.length === 0
      ? 'no risky line'
      : `${plural(places.length, 'risky line')}: ${listed(kinds.slice(0, 3))}${kinds.length > 3 ? ' and others' : ''}`,
    plural(lines, 'line'),
    users === 0 ? 'no import of it seen' : `imported by ${plural(users, 'file')}`,
    tested ? 'a test names or imports it' : 'no test seen that imports it',
    ...(commits > 0 && of > 1 ? [`changed in ${commits} of the last ${of} commits`] : []),
  ].join('; ');
}

interface Judged {
  readonly ground: Ground;
  readonly weighed: readonly Weighed[];
  readonly texts: readonly Seen[];
  readonly risks: number;
  readonly commits: number;
  readonly seen: readonly (Seen | undefined)[];
}

function answer({ ground, weighed, texts, risks, commits, seen }: Judged): string {
  const [worst, ...others] = weighed;
  if (worst === undefined)
    return [
      `There is no source file in ${ground.called} whose risks I know, so none is the riskiest.`,
      ...missingText(ground),
      ...faults([...ground.seen, ...seen]),
    ].join('\n');
  const lines = texts.flatMap((text) => linesOf(text));
  const places = worst.places
    .filter(
      ({ hit }) =>
        !standsInComment(
          hit,
          lines.filter(({ line }) => line >= hit.line - 12),
        ),
    )
    .toSorted((a, b) => a.hit.line - b.hit.line);
  const grave = places.toSorted((a, b) => WEIGHT[b.risk.severity] - WEIGHT[a.risk.severity])[0];
  const secret = grave?.risk.secret === true;
  const gravest =
    grave === undefined
      ? ''
      : ` Its gravest line is ${secret ? place(grave.hit) : claim(grave.hit)}: ${grave.risk.why}.`;
  return [
    places.length === 0
      ? `None of the ${plural(risks, 'risky pattern')} that I know is in the files I looked at. By length and importers the one to look at first is ${worst.path}: ${reasonsFor({ ...worst, places }, commits)}.`
      : `The riskiest file of ${ground.called} is ${worst.path}: ${reasonsFor({ ...worst, places }, commits)}.${gravest}`,
    ...missingText(ground),
    ...section(`Going through ${worst.path}`, through(places, lines)),
    ...section(
      'Its long functions',
      longFunctions(lines)
        .toSorted((a, b) => b.lines - a.lines)
        .slice(0, 4)
        .map(({ hit, lines: long, whole }) => `- ${claim(hit)}: ${whole ? '' : 'at least '}${plural(long, 'line')}`),
    ),
    ...section(
      'Next in line',
      others
        .filter(({ places: some }) => some.length > 0)
        .slice(0, 4)
        .map((one, index) => `${index + 2}. ${one.path}: ${reasonsFor(one, commits)}`),
    ),
    '',
    `Weighed by counts: ${plural(risks, 'risky pattern')}, length, importers, tests, commits. What the code is for, counts can't tell.`,
    ...faults([...ground.seen, ...seen]),
  ].join('\n');
}

/** Each place with the function around it, why it matters and what to look at; the reason once for a kind. */
function through(places: readonly Suspect[], lines: readonly Hit[]): readonly string[] {
  const told = new Set<string>();
  const rows = [...Map.groupBy(places, ({ hit }) => hit.line).values()].map((same) => {
    const [first] = same;
    const hit = first?.hit ?? { path: '', line: 1, text: '' };
    const whys = same.map(({ risk }) => {
      const why = told.has(risk.id) ? risk.id.replaceAll('-', ' ') : `${risk.why} (look at ${risk.look})`;
      told.add(risk.id);
      return why;
    });
    const quoted = same.some(({ risk }) => risk.secret === true) ? `${place(hit)} (not quoted)` : claim(hit);
    return `- ${quoted}${nameAround(hit, lines)}: ${whys.join('; ')}.`;
  });
  return rows.length > MOST_PLACES ? [...rows.slice(0, MOST_PLACES), `- and ${rows.length - MOST_PLACES} more`] : rows;
}

/** The function or class that begins before a line and is indented less, as far as it was read. */
function nameAround({ line }: Hit, lines: readonly Hit[]): string {
  const own = lines.find((one) => one.line === line);
  if (own === undefined) return '';
  const around = lines.findLast(
    (one) =>
      one.line <= line &&
      isOuter(one.text) &&
      isDefinition(one.text) &&
      (one.line === line || indentOf(one.text) < indentOf(own.text)),
  );
  const name = around === undefined ? null : definedName(around.text);
  return name === null ? '' : `, in ${name}`;
}

const indentOf = (text: string): number => text.search(/\S|$/);

/** Something that holds other lines: a function or a class, no variable. */
const isOuter = (text: string): boolean =>
  /\b(?:function|class|def|fn|func|fun|impl|sub)\b/.test(text) || /=>\s*\{\s*$/.test(text);
