/** What the import graph tells of the files that others named: who leads to them, how much hangs on them, what to read first. */
import { claim } from '../claims.ts';
import { claimsIn } from '../findings.ts';
import type { Graph } from '../graph-drawing.ts';
import { central, reached, wayBetween } from '../import-graph.ts';
import { isTest } from '../languages.ts';
import type { Brief } from '../step.ts';
import { captured, listed, plural } from '../words.ts';
import { section } from './parts.ts';

const MOST_ROWS = 6;

export interface Hanging {
  readonly head: string;
  readonly rows: readonly string[];
  /** The files it speaks of most, to be read. */
  readonly files: readonly string[];
}

/** The answer to what the task asks the graph for. */
export function hangingText(brief: Brief, graph: Graph): Hanging {
  const { riskiest, entries, changed, risky, untested } = pointedAt(brief, graph);
  if (/lead to the riskiest/.test(brief.task) && riskiest !== '') return traced(riskiest, entries, graph);
  if (/changed lately/.test(brief.task)) return hung('changed lately', changed, graph);
  if (/without a test/.test(brief.task)) return hung('that no test imports', untested, graph);
  if (/risky files/.test(brief.task)) return hung('with risky places', risky, graph);
  return ordered(entries, graph);
}

interface Pointed {
  readonly riskiest: string;
  readonly entries: readonly string[];
  readonly changed: readonly string[];
  readonly risky: readonly string[];
  readonly untested: readonly string[];
}

/** The files that each kind of finding is about, as far as they are sources that were seen. */
function pointedAt({ findings }: Brief, graph: Graph): Pointed {
  const known = new Set(graph.names);
  const has = (path: string): boolean => graph.has(path);
  const of = (...roles: readonly string[]): string =>
    findings.flatMap(({ role, summary }) => (roles.includes(role) ? [summary] : [])).join('\n\n');
  const once = (paths: readonly string[]): readonly string[] => [...new Set(paths)].filter((path) => known.has(path));
  const rows = (text: string): readonly string[] =>
    text.split('\n').map((line) => captured(/^(?:- |\d+\. )`?([^`:\s]+)/, line).replace(/:\d+$/, ''));
  const review = of('reviewer', 'security');
  return {
    riskiest: once([captured(/riskiest file of .*? is (\S+): /, review)])[0] ?? '',
    entries: once(claimsIn(of('finder', 'explore', 'Explore')).map(({ path }) => path)),
    changed: once(rows(of('rush'))).filter((path) => !isTest(path)),
    risky: once(claimsIn(review).map(({ path }) => path)).filter(has),
    untested: once(rows(of('tester'))).filter(has),
  };
}

function traced(goal: string, entries: readonly string[], graph: Graph): Hanging {
  const starts = entries.filter((path) => path !== goal && !isTest(path));
  const ways = starts.flatMap((start) => {
    const way = wayBetween(graph.links, [start], goal);
    return way === null ? [] : [{ start, way }];
  });
  const sorted = ways.toSorted((a, b) => a.way.length - b.way.length);
  const [short] = sorted;
  const way =
    short === undefined
      ? entries.includes(goal)
        ? `${goal} is an entry point itself.`
        : `No import that I could follow leads from the entry points to ${goal}.`
      : `${short.start} leads to ${goal} by ${plural(short.way.length, 'import')}: ${[short.start, ...short.way.map(({ to }) => to)].join(' -> ')}.`;
  return {
    head: `${way} ${feltText(goal, graph)}`,
    rows: section(
      'How the entry points lead there',
      sorted
        .slice(0, 4)
        .map(
          ({ start, way: links }) =>
            `- ${[start, ...links.map(({ to }) => to)].join(' -> ')}, first by ${claim(links[0]?.hit ?? { path: start, line: 1, text: '' })}`,
        ),
    ),
    files: [...new Set([...(short?.way.map(({ to }) => to).slice(0, -1) ?? []), goal])],
  };
}

/** How far a change in a file can be felt. */
function feltText(path: string, { links, cut, files, count }: Graph): string {
  const users = new Set(links.filter(({ from, to }) => to === path && !isTest(from)).map(({ from }) => from)).size;
  const all = reached(links, path);
  const least = cut || files < count ? 'at least ' : '';
  if (users === 0)
    return `${least === '' ? 'No' : 'Among the imports that I could read, no'} file outside of tests imports ${path}.`;
  return `${least === '' ? '' : 'At least '}${plural(users, 'file')} ${users === 1 ? 'imports' : 'import'} it${all > users ? `, ${all} with those that reach it through others` : ''}: so far a change there can be felt.`;
}

function hung(kind: string, paths: readonly string[], graph: Graph): Hanging {
  const least = graph.cut || graph.files < graph.count ? 'at least ' : '';
  const rows = paths
    .map((path) => {
      const direct = graph.links.filter(({ from, to }) => to === path && !isTest(from));
      return {
        path,
        direct: new Set(direct.map(({ from }) => from)).size,
        all: reached(graph.links, path),
        hit: direct[0]?.hit,
      };
    })
    .toSorted((a, b) => b.all - a.all || b.direct - a.direct);
  const [most] = rows;
  if (most === undefined) return { ...ordered([], graph), rows: [] };
  const head =
    most.direct === 0
      ? `No other file was seen to import ${paths.length === 1 ? 'the file' : `any of the ${paths.length} files`} ${kind}.`
      : `Of the ${plural(paths.length, 'file')} ${kind}, most hangs on ${most.path}: ${least}${plural(most.direct, 'file')} ${most.direct === 1 ? 'imports' : 'import'} it${most.all > most.direct ? ` and ${most.all} reach it, some through others` : ''}${most.hit === undefined ? '' : `, for example ${claim(most.hit)}`}.`;
  return {
    head,
    rows: section(
      `What hangs on the files ${kind}`,
      rows
        .slice(0, MOST_ROWS)
        .map(
          ({ path, direct, all, hit }) =>
            `- ${path}: ${direct === 0 ? 'no import of it seen' : `imported by ${least}${direct}, reached by ${all}${hit === undefined ? '' : `, for example ${claim(hit)}`}`}`,
        ),
    ),
    files: rows.filter(({ direct }) => direct > 0).map(({ path }) => path),
  };
}

/** What to read first: where it begins, then what most of the rest stands on. */
function ordered(entries: readonly string[], graph: Graph): Hanging {
  const users = central(graph.links).filter(({ path }) => graph.has(path));
  const [hub] = users;
  const [entry] = entries;
  const least = graph.cut || graph.files < graph.count ? 'at least ' : '';
  const first = entries
    .slice(0, 2)
    .map((path, index) => `${index + 1}. ${path}: an entry point${leadsTo(path, graph)}`);
  const then = users
    .filter(({ path }) => !entries.slice(0, 2).includes(path))
    .slice(0, 4)
    .map(
      ({ path, users: fan }, index) =>
        `${first.length + index + 1}. ${path}: imported by ${least}${plural(fan, 'file')}`,
    );
  const head =
    hub === undefined
      ? 'No imports between files could be linked, so the graph tells no order.'
      : `${entry === undefined ? 'Read' : `Read ${entry} first, then`} ${listed(
          users
            .filter(({ path }) => path !== entry)
            .slice(0, 3)
            .map(({ path, users: fan }) => `${path} (imported by ${least}${fan})`),
        )}: most of the rest stands on ${users.length > 2 ? 'them' : 'it'}.`;
  return {
    head,
    rows: section('An order to read in', [...first, ...then]),
    files: [...(entry === undefined ? [] : [entry]), ...users.slice(0, 2).map(({ path }) => path)],
  };
}

/** What an entry point imports itself. */
function leadsTo(path: string, { links }: Graph): string {
  const next = links.filter(({ from }) => from === path).map(({ to }) => to);
  return next.length === 0
    ? ''
    : `; it imports ${listed(next.slice(0, 3))}${next.length > 3 ? ` and ${next.length - 3} more` : ''}`;
}
