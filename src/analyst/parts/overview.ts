/** An overview: what a project says of itself, where it starts, what is in which folder, which files others rely on, what goes in circles. */
import { behind, claim, faults, place, section } from '../evidence.ts';
import { cycles, importsOf, usersOf } from '../imports.ts';
import type { Imports } from '../imports.ts';
import { languageOf, languagesIn, TABLE } from '../languages.ts';
import { isComment, isInString } from '../lines.ts';
import { isAside, isForeign, isSource, isTest } from '../paths.ts';
import { inventory, programOf, testFolders } from '../project.ts';
import type { Inventory } from '../project.ts';
import { hitsOf, linesOf, read, searchEach } from '../tools.ts';
import type { Hit, Looking, Seen } from '../tools.ts';
import type { Brief, Part, Work } from '../turns.ts';
import { byPlace, captured, grouped, listed, plural, shortened } from '../words.ts';
import { isManifest } from './manifests.ts';

const MOST_CENTRAL = 8;
const MOST_CYCLES = 6;
const MOST_STARTS = 10;
const MOST_FOLDERS = 14;
/** Files that other agents named. */
const MOST_NAMED = 6;
/** Places of one row. */
const MOST_PLACES = 4;

export const overview: Part = {
  todos: [
    'See what is there',
    'Read what the project says of itself',
    'Find where programs start',
    'Follow the imports',
  ],
  work: looking,
};

function* looking({ task, findings }: Pick<Brief, 'task' | 'findings'>): Work {
  const project = yield* inventory(task);
  if (project.names.length === 0) return `There is no file in ${project.called} ${project.behind}.`;
  const papers = yield* papersOf(project);
  const looks = yield {
    say: 'I search for the lines where programs start.',
    todo: 2,
    asks: searchEach(languagesIn(programOf(project)), 'starts', {
      path: project.path,
      limit: 100,
      about: 'starts of programs',
    }),
  };
  const starts = startsIn(looks, project);
  const imports = yield* importsOf([...project.sources, ...project.tests], project.path, 3);
  return [
    headText(project, papers, starts),
    ...section('What it says of itself', papers.rows),
    ...section('Where it starts', startRows(papers.manifests, starts, looks)),
    ...section('Folders', folderRows(project)),
    ...section('Files that most others import', centralRows(imports)),
    ...section('Circles of imports', cycleRows(imports)),
    ...section('What imports the files that other agents named', namedRows(imports, findings)),
    ...section('Tests, by folder', testFolders(project)),
    ...faults([...project.seen, ...papers.seen, ...looks, ...imports.seen]),
  ].join('\n');
}

interface Papers {
  readonly rows: readonly string[];
  readonly manifests: readonly Hit[];
  readonly title: Hit | undefined;
  readonly seen: readonly Seen[];
}

const README = /^readme(?:\.(?:md|markdown|rst|txt|adoc|org))?$/i;
/** A line that says something of the whole project; what, is in one of the groups. */
const FACT =
  /^\s*(?:"(name|version|description)"\s*:|(name|version|description)\s*=(?!\s*\w+[.(])|(module)\s+[\w./-]+\s*$|<(artifactId|version|description)>|(AC_INIT|project)\s*\()/i;
const factIn = (text: string): string | undefined => FACT.exec(text)?.slice(1).find(Boolean)?.toLowerCase();

/** The README and the manifests nearest to the top. */
function* papersOf({ names }: Inventory): Looking<Papers> {
  const near = (test: (file: string) => boolean): readonly string[] =>
    names
      .filter((name) => test(name.split('/').at(-1) ?? '') && !isTest(name) && !isForeign(name))
      .toSorted((a, b) => a.split('/').length - b.split('/').length || byPlace({ path: a }, { path: b }));
  const readme = near((file) => README.test(file)).slice(0, 1);
  const manifests = near(isManifest).slice(0, 3);
  const seen = yield {
    say:
      readme.length + manifests.length === 0
        ? 'There is neither a README nor a manifest.'
        : `I read ${listed([...readme, ...manifests])}.`,
    todo: 1,
    asks: [...readme.map((path) => read(path, 1, 60)), ...manifests.map((path) => read(path, 1, 250))],
  };
  const words = readme.length === 0 ? [] : sayings(linesOf(seen[0]));
  const lines = seen.slice(readme.length).flatMap((one) => linesOf(one));
  const told = Map.groupBy(
    lines.filter(({ text }) => FACT.test(text)),
    ({ path, text }) => `${path} ${factIn(text) ?? ''}`,
  );
  // Each fact once: the same key again is an author's or a plugin's.
  const facts = [...told.values()].flatMap((hits) => hits.slice(0, 1));
  return {
    rows: [...words, ...facts].map((hit) => `- ${claim(hit)}`),
    manifests: lines,
    title: facts.find(({ text }) => /^\s*["<]?description\b/.test(text)) ?? words[0],
    seen,
  };
}

/** The first lines of a README that are sentences: no pictures, badges, links alone or rulers. */
const sayings = (lines: readonly Hit[]): readonly Hit[] =>
  lines
    .filter(
      ({ text }) =>
        text.replaceAll(/!?\[[^\]]*\]\([^)]*\)|<[^>]*>|\[[^\]]*\]|https?:\S+|[^\p{L}]/gu, '').length > 14 &&
        !/^\s*(?:\.\.|\||`{3}|\[!?\[|#*\s*<|:\w+:)/.test(text),
    )
    .slice(0, 4);

function headText(project: Inventory, { title }: Papers, starts: readonly Hit[]): string {
  const { sources, tests, called, count } = project;
  const languages = languagesIn(sources).map(
    (name) => `${sources.filter((file) => languageOf(file) === name).length} ${TABLE[name].label}`,
  );
  const known = languages.length === 0 ? 'none in a language that I know' : listed(languages);
  const start = starts.find(({ path }) => !isAside(path));
  return [
    `${called === 'this repository' ? 'This repository' : called} has ${project.whole ? '' : 'at least '}${plural(count, 'file')}: ${known}, and ${plural(tests.length, 'test file')} ${project.behind}.`,
    ...(title === undefined ? [] : [`It says of itself: ${claim(title)}.`]),
    ...(start === undefined ? [] : [`A program starts at ${claim(start)}.`]),
  ].join(' ');
}

/** Real starts: a script's first line, or code. Those of the program come first, examples and scripts last. */
function startsIn(looks: readonly Seen[], project: Inventory): readonly Hit[] {
  const program = new Set(programOf(project));
  const known = new Set(project.sources);
  const isReal = (hit: Hit): boolean =>
    hit.text.startsWith('#!') ? hit.line === 1 : !isComment(hit) && !isInString(hit.text, hit.text.search(/\S/));
  return looks
    .flatMap((seen) => hitsOf(seen))
    .filter((hit) => known.has(hit.path) && isReal(hit))
    .toSorted((a, b) => Number(program.has(b.path)) - Number(program.has(a.path)));
}

const DECLARED =
  /^\s*"(?:main|module|browser|bin|types|start)"\s*:\s*"|^\s*"\.{0,2}[\w/-]*"\s*:\s*"\.?\/?[\w./-]+\.[cm]?[jt]s"|^\s*["']?[\w-]+\s*=\s*["']?[\w.]+:\w+|^\s*<(?:mainClass|Main-Class)>|^\[\[bin\]\]/;
const DECLARING = /(?:package\.json|pyproject\.toml|setup\.(?:py|cfg)|Cargo\.toml|pom\.xml)$/;

function startRows(manifests: readonly Hit[], starts: readonly Hit[], looks: readonly Seen[]): readonly string[] {
  const declared = manifests.filter(({ path, text }) => DECLARED.test(text) && DECLARING.test(path)).slice(0, 8);
  if (declared.length + starts.length === 0) return [`- no line declares or starts a program ${behind(...looks)}`];
  return [
    ...declared.map((hit) => `- declared: ${claim(hit)}`),
    ...shortened(
      starts,
      MOST_STARTS,
      (hit) => `- ${claim(hit)}`,
      (others) => `${others.length} more ${behind(...looks)}`,
    ),
  ];
}

function folderRows(project: Inventory): readonly string[] {
  const folderAt = (name: string, depth: number): string => {
    const parts = name.split('/').slice(0, -1).slice(0, depth);
    return parts.length === 0 ? '(top)' : `${parts.join('/')}/`;
  };
  // As deep as the list stays short.
  const depth =
    [7, 6, 5, 4, 3, 2].find((one) => new Set(project.names.map((name) => folderAt(name, one))).size <= MOST_FOLDERS) ??
    1;
  return [
    ...shortened(
      grouped(project.names, (name) => folderAt(name, depth)),
      MOST_FOLDERS,
      ([folder, names]) => {
        const code = names.filter(isSource);
        const tests = code.filter(isTest).length;
        const sources = code.length - tests;
        const what = [sources > 0 ? plural(sources, 'source') : '', tests > 0 ? plural(tests, 'test') : ''];
        const known = listed(what.filter((one) => one !== ''));
        return `- ${folder} ${plural(names.length, 'file')}${known === '' ? '' : `, of them ${known}`}`;
      },
      (others) => `${plural(others.length, 'folder')} more`,
    ),
    `- counted by ${project.behind}`,
  ];
}

function centralRows({ links, seen, whole }: Imports): readonly string[] {
  const all = [...usersOf(links)].slice(0, MOST_CENTRAL);
  const rows = all.map(([path, users]) => {
    const count = `${whole ? '' : 'at least '}${plural(users.length, path.endsWith('/') ? 'folder' : 'file')}`;
    return `- ${path}: imported by ${count}${users[0] === undefined ? '' : `, for example ${claim(users[0].hit)}`}`;
  });
  return rows.length === 0 ? [] : [...rows, `- tests and examples are not counted ${behind(...seen)}`];
}

function cycleRows({ links, seen }: Imports): readonly string[] {
  if (links.length === 0) return [];
  const all = cycles(links.filter(({ from }) => !isTest(from)));
  if (all.length === 0)
    return [`- none among ${plural(links.length, 'import')} that lead to a file here ${behind(...seen)}`];
  return shortened(
    all,
    MOST_CYCLES,
    (round) => {
      const way = [...round.map(({ from }) => from), round[0]?.from ?? ''].join(' -> ');
      const lines = round.slice(0, MOST_PLACES).map(({ hit }) => claim(hit));
      return `- ${way}: ${lines.join(', ')}`;
    },
    (others) => `${others.length} more ${behind(...seen)}`,
  );
}

/** How much relies on the places that the others found. */
function namedRows({ links, seen }: Imports, findings: Brief['findings']): readonly string[] {
  const paths = findings.flatMap(({ summary }) =>
    [...summary.matchAll(/`([^`\n]+):\d+`/g)].map(([, path = '']) => path),
  );
  const users = usersOf(links);
  return [...new Set(paths)]
    .filter((path) => isSource(path) && !isTest(path))
    .slice(0, MOST_NAMED)
    .map((path) => {
      const own = users.get(path) ?? users.get(captured(/^(.*\/)/, path)) ?? [];
      const places = own.slice(0, MOST_PLACES).map(({ hit }) => place(hit));
      return own.length === 0
        ? `- ${path}: no import leads there ${behind(...seen)}`
        : `- ${path}: ${plural(own.length, 'import')}, at ${places.join(', ')}`;
    });
}
