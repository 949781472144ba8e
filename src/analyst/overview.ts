/** An overview: what a project says of itself, where it starts, what is in which folder, which files others rely on, what goes in circles. */
import { MANIFESTS } from './dependencies.ts';
import { central, cycles, importsOf, inventory, programOf } from './imports.ts';
import type { Imports, Inventory } from './imports.ts';
import {
  globFor,
  isAside,
  isComment,
  isForeign,
  isInString,
  isSource,
  isTest,
  languageOf,
  languagesIn,
  TABLE,
} from './languages.ts';
import { behind, claim, faults, hitsOf, linesOf, place, read, search, section } from './tools.ts';
import type { Hit } from './tools.ts';
import type { Looking, Part, Seen, Work } from './turns.ts';
import { captured, grouped, listed, plural } from './words.ts';

const MOST_CENTRAL = 8;
const MOST_CYCLES = 6;
const MOST_STARTS = 10;
const MOST_FOLDERS = 14;
const README = /(?:^|\/)readme(?:\.(?:md|markdown|rst|txt|adoc|org))?$/i;

export const overview: Part = {
  todos: [
    'See what is there',
    'Read what the project says of itself',
    'Find where programs start',
    'Follow the imports',
  ],
  work: looking,
};

function* looking({
  task,
  findings,
}: {
  readonly task: string;
  readonly findings: readonly { readonly summary: string }[];
}): Work {
  const project = yield* inventory(task);
  if (project.names.length === 0) return `There is no file in ${project.called} ${project.behind}.`;
  const papers = yield* papersOf(project);
  const program = programOf(project);
  const started = languagesIn(program).filter((name) => TABLE[name].starts !== null);
  const starts = yield {
    say: 'I search for the lines where programs start.',
    todo: 2,
    asks: started.map((name) =>
      search(TABLE[name].starts ?? '', {
        glob: globFor([name]),
        path: project.path,
        limit: 100,
        about: `starts of programs in ${globFor([name])}`,
      }),
    ),
  };
  const imports = yield* importsOf([...project.sources, ...project.tests], project.path, 3);
  return [
    headText(project, papers, starts),
    ...section('What it says of itself', papers.rows),
    ...section('Where it starts', startRows(papers.manifests, starts, project)),
    ...section('Folders', folderRows(project)),
    ...section('Files that most others import', centralRows(imports)),
    ...section('Circles of imports', cycleRows(imports)),
    ...section('What imports the files that other agents named', namedRows(imports, findings)),
    ...section('Tests, by folder', testRows(project)),
    ...faults([...project.seen, ...papers.seen, ...starts, ...imports.seen]),
  ].join('\n');
}

interface Papers {
  readonly rows: readonly string[];
  readonly manifests: readonly Hit[];
  readonly title: Hit | undefined;
  readonly seen: readonly Seen[];
}

const MANIFEST_NAMES = new RegExp(
  `^(?:${MANIFESTS.slice(1, -1).replaceAll('.', '\\.').replaceAll('*', '.*').replaceAll(',', '|')})$`,
);

/** The README and the manifests nearest to the top. */
function* papersOf(project: Inventory): Looking<Papers> {
  const near = (test: RegExp): readonly string[] =>
    project.names
      .filter((name) => test.test(name.split('/').at(-1) ?? '') && !isTest(name) && !isForeign(name))
      .toSorted((a, b) => a.split('/').length - b.split('/').length || (a < b ? -1 : 1));
  const readme = near(README).slice(0, 1);
  const manifests = near(MANIFEST_NAMES).slice(0, 3);
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
  const facts = lines.filter(({ text }) =>
    /^\s*(?:"(?:name|version|description)"\s*:|(?:name|version|description)\s*=|module\s+\S|<(?:artifactId|version|description)>|(?:AC_INIT|project)\s*\()/i.test(
      text,
    ),
  );
  const perManifest = [...Map.groupBy(facts, ({ path }) => path)].flatMap(([, hits]) => hits.slice(0, 3));
  return {
    rows: [...words, ...perManifest].map((hit) => `- ${claim(hit)}`),
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
        !/^\s*(?:\.\.|\||`{3}|\[!?\[|<|:\w+:)/.test(text),
    )
    .slice(0, 4);

function headText(project: Inventory, { title }: Papers, starts: readonly Seen[]): string {
  const languages = languagesIn(project.sources).map(
    (name) => `${project.sources.filter((file) => languageOf(file) === name).length} ${TABLE[name].label}`,
  );
  const least = project.whole ? '' : 'at least ';
  const said = title === undefined ? '' : ` It says of itself: ${claim(title)}.`;
  const start = startsIn(starts, project).find(({ path }) => !isAside(path));
  const begins = start === undefined ? '' : ` A program starts at ${claim(start)}.`;
  return `${project.called === 'this repository' ? 'This repository' : project.called} has ${least}${plural(project.count, 'file')}: ${languages.length === 0 ? 'none in a language that I know' : listed(languages)}, and ${plural(project.tests.length, 'test file')} ${project.behind}.${said}${begins}`;
}

/** Real starts in the program: a script's first line, or code. Examples and scripts come last. */
function startsIn(starts: readonly Seen[], project: Inventory): readonly Hit[] {
  const program = new Set(programOf(project));
  const known = new Set(project.sources);
  return starts
    .flatMap((seen) => hitsOf(seen))
    .filter(
      (hit) =>
        known.has(hit.path) &&
        (hit.text.startsWith('#!') ? hit.line === 1 : !isComment(hit) && !isInString(hit.text, hit.text.search(/\S/))),
    )
    .toSorted((a, b) => Number(program.has(b.path)) - Number(program.has(a.path)));
}

const DECLARED =
  /^\s*"(?:main|module|browser|bin|types|start)"\s*:\s*"|^\s*"\.{0,2}[\w/-]*"\s*:\s*"\.?\/?[\w./-]+\.[cm]?[jt]s"|^\s*["']?[\w-]+\s*=\s*["']?[\w.]+:\w+|^\s*<(?:mainClass|Main-Class)>|^\[\[bin\]\]/;

function startRows(manifests: readonly Hit[], starts: readonly Seen[], project: Inventory): readonly string[] {
  const declared = manifests
    .filter(
      ({ path, text }) =>
        DECLARED.test(text) && /(?:package\.json|pyproject\.toml|setup\.(?:py|cfg)|Cargo\.toml|pom\.xml)$/.test(path),
    )
    .slice(0, 8);
  const real = startsIn(starts, project);
  const rows = [
    ...declared.map((hit) => `- declared: ${claim(hit)}`),
    ...real.slice(0, MOST_STARTS).map((hit) => `- ${claim(hit)}`),
  ];
  if (rows.length === 0) return [`- no line declares or starts a program ${behind(...starts)}`];
  return real.length > MOST_STARTS ? [...rows, `- and ${real.length - MOST_STARTS} more ${behind(...starts)}`] : rows;
}

function folderRows(project: Inventory): readonly string[] {
  const cut =
    (depth: number) =>
    (name: string): string =>
      name
        .split('/')
        .slice(0, -1)
        .slice(0, depth)
        .map((part) => `${part}/`)
        .join('') || '(top)';
  // As deep as the list stays short.
  const depth = [7, 6, 5, 4, 3, 2].find((one) => new Set(project.names.map(cut(one))).size <= MOST_FOLDERS) ?? 1;
  const folders = grouped(project.names, cut(depth));
  return [
    ...folders.slice(0, MOST_FOLDERS).map(([folder, names]) => {
      const sources = names.filter((name) => isSource(name) && !isTest(name)).length;
      const tests = names.filter((name) => isSource(name) && isTest(name)).length;
      const what = [sources > 0 ? plural(sources, 'source') : '', tests > 0 ? plural(tests, 'test') : ''].filter(
        (one) => one !== '',
      );
      return `- ${folder} ${plural(names.length, 'file')}${what.length === 0 ? '' : `, of them ${listed(what)}`}`;
    }),
    ...(folders.length > MOST_FOLDERS ? [`- and ${plural(folders.length - MOST_FOLDERS, 'folder')} more`] : []),
    `- counted by ${project.behind}`,
  ];
}

function centralRows({ links, seen, whole }: Imports): readonly string[] {
  const all = central(links).slice(0, MOST_CENTRAL);
  return all.length === 0
    ? []
    : [
        ...all.map(
          ({ path, users }) =>
            `- ${path}: imported by ${whole ? '' : 'at least '}${plural(users.length, path.endsWith('/') ? 'folder' : 'file')}${users[0] === undefined ? '' : `, for example ${claim(users[0].hit)}`}`,
        ),
        `- tests and examples are not counted ${behind(...seen)}`,
      ];
}

function cycleRows({ links, seen }: Imports): readonly string[] {
  const all = cycles(links.filter(({ from }) => !isTest(from)));
  if (links.length === 0) return [];
  if (all.length === 0)
    return [`- none among ${plural(links.length, 'import')} that lead to a file here ${behind(...seen)}`];
  const rows = all.slice(0, MOST_CYCLES).map(
    (round) =>
      `- ${[...round.map(({ from }) => from), round[0]?.from ?? ''].join(' -> ')}: ${round
        .slice(0, 4)
        .map(({ hit }) => claim(hit))
        .join(', ')}`,
  );
  return all.length > MOST_CYCLES ? [...rows, `- and ${all.length - MOST_CYCLES} more ${behind(...seen)}`] : rows;
}

/** How much relies on the places that the others found. */
function namedRows({ links, seen }: Imports, findings: readonly { readonly summary: string }[]): readonly string[] {
  const named = [
    ...new Set(
      findings.flatMap(({ summary }) => [...summary.matchAll(/`([^`\n]+):\d+`/g)].map(([, path = '']) => path)),
    ),
  ];
  const users = new Map(central(links).map((one) => [one.path, one.users] as const));
  return named
    .filter((path) => isSource(path) && !isTest(path))
    .slice(0, 6)
    .map((path) => {
      const own = users.get(path) ?? users.get(`${captured(/^(.*)\//, path)}/`) ?? [];
      return own.length === 0
        ? `- ${path}: no import leads there ${behind(...seen)}`
        : `- ${path}: ${plural(own.length, 'import')}, at ${own
            .slice(0, 4)
            .map(({ hit }) => place(hit))
            .join(', ')}`;
    });
}

const testRows = (project: Inventory): readonly string[] => {
  const folders = grouped(project.tests, (path) => captured(/^(.*\/)/, path) || './').slice(0, 10);
  return folders.length === 0
    ? [`- no file is a test by its name or folder ${project.behind}`]
    : [`- ${folders.map(([folder, files]) => `${folder} ${files.length}`).join(', ')} ${project.behind}`];
};
