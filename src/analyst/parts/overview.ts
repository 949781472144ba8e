/** An overview: what a project says of itself, where it starts, what is in which folder, which files others rely on, what goes in circles. */
import { distinct, grouped } from '../../domain/lists.ts';
import { listed, plural, sentence } from '../../domain/lists.ts';
import { behind, claim, report } from '../evidence.ts';
import { cycles, type Imports, importsOf, usersOf } from '../imports.ts';
import { type Hit, isComment, isInString, languageOf, languagesIn } from '../languages.ts';
import { isManifest } from './lists.ts';
import { FOREIGN, inventory, type Inventory, isAside, isForeign, isTest, programOf } from '../project.ts';
import { hitsOf, linesOf, type Looking, read, searchEach, type Seen } from '../tools.ts';
import type { Brief, Work } from '../turns.ts';
import { byDepth, shortened } from '../words.ts';

const MOST_CENTRAL = 8;
const MOST_CYCLES = 6;
const MOST_STARTS = 10;
const MOST_FOLDERS = 14;
/** Places of one row. */
const MOST_PLACES = 4;

export function* overview({ task }: Brief): Work {
  const project = yield* inventory(task);
  if (project.names.length === 0) return `There is no file in ${project.called} ${project.behind}.`;
  const papers = yield* papersOf(project);
  const where = { path: project.path, limit: 100, about: 'starts of programs' };
  const looks = yield {
    todo: 2,
    say: 'I search for the lines where programs start.',
    asks: searchEach(languagesIn(programOf(project)), ({ starts }) => [starts], where),
  };
  const starts = startsIn(looks, project);
  const imports = yield* importsOf([...project.sources, ...project.tests], project.path, 3);
  return report(
    headText(project, papers.title, starts),
    ['What it says of itself', papers.said.map((hit) => `- ${claim(hit)}`)],
    ['Where programs start', startRows(papers.manifestLines, starts, looks)],
    ['Folders', folderRows(project)],
    ['Files that most others import', centralRows(imports)],
    ['Import cycles', cycleRows(imports)],
  );
}

const README = /^readme(?:\.(?:md|markdown|rst|txt|adoc|org))?$/i;
/** A line that says something of the whole project; what, is in one of the groups. */
const FACT =
  /^\s*(?:"(name|version|description)"\s*:|(name|version|description)\s*=(?!\s*\w+[.(])|(module)\s+[\w./-]+\s*$|<(artifactId|version|description)>|(AC_INIT|project)\s*\()/i;

/** The README and the manifests nearest to the top. */
function* papersOf({
  names,
}: Inventory): Looking<{ said: readonly Hit[]; manifestLines: readonly Hit[]; title: Hit | undefined }> {
  const near = (test: (file: string) => boolean, most: number): readonly string[] =>
    names
      .filter((name) => test(name.split('/').at(-1) ?? '') && !isTest(name) && !isForeign(name))
      .toSorted(byDepth)
      .slice(0, most);
  const readme = near((file) => README.test(file), 1);
  const manifests = near(isManifest, 3);
  const all = [...readme, ...manifests];
  const say = all.length === 0 ? 'There is neither a README nor a manifest.' : `I read ${listed(all)}.`;
  const seen = yield { todo: 1, say, asks: all.map((path) => read(path, 1, readme.includes(path) ? 60 : 250)) };
  const words = readme.length === 0 ? [] : sayings(linesOf(seen[0]));
  // What is said of a parent is not said of the project.
  const manifestLines = seen.slice(readme.length).flatMap((one) => without(linesOf(one), /<parent>[^]*?<\/parent>/g));
  // Each fact once: the same key again is an author's or a plugin's.
  const told = manifestLines.filter(({ text }) => FACT.test(text));
  const facts = distinct(told, ({ path, text }) => `${path} ${FACT.exec(text)?.slice(1).find(Boolean)?.toLowerCase()}`);
  const title = facts.find(({ text }) => /^\s*["<]?description\b/.test(text)) ?? words[0];
  return { said: [...words, ...facts], manifestLines, title };
}

/** Lines of which something is left without what matches `pattern`. */
function without(lines: readonly Hit[], pattern: RegExp): readonly Hit[] {
  const text = lines.map((line) => line.text).join('\n');
  const rest = text.replaceAll(pattern, (match) => match.replaceAll(/[^\n]/g, '')).split('\n');
  return lines.filter((_, at) => rest[at]?.trim() !== '');
}

/** The first lines of a README that are sentences: no comments, code, pictures, badges, links alone, rulers or later headings. */
const sayings = (lines: readonly Hit[]): readonly Hit[] =>
  without(lines, ASIDES)
    .filter(
      ({ text }) =>
        text.replaceAll(/!?\[[^\]]*\]\([^)]*\)|<[^>]*>|\[[^\]]*\]|https?:\S+|[^\p{L}]/gu, '').length > 14 &&
        !/^\s*(?:\.\.|\||##|`{3}|~{3}|\[!?\[|#*\s*<|:\w+:)/.test(text),
    )
    .slice(0, 4);

const ASIDES = /<!--[^]*?(?:-->|(?![^]))|^[ \t]*(`{3}|~{3})[^]*?(?:^[ \t]*\1|(?![^]))/gm;

function headText(project: Inventory, title: Hit | undefined, starts: readonly Hit[]): string {
  const { sources, tests, called, count, foreign } = project;
  const languages = languagesIn(sources).map(
    (language) => `${sources.filter((file) => languageOf(file) === language).length} ${language.label}`,
  );
  const known = languages.length === 0 ? 'no source file in a known language' : `source files: ${languages.join(', ')}`;
  const others = foreign === 0 ? '' : `; ${foreign} more ${foreign === 1 ? 'is' : 'are'} ${FOREIGN}`;
  const start = starts.find(({ path, text }) => !isAside(path) && (text.startsWith('#!') || PROGRAM.test(path)));
  return [
    `${called === 'this repository' ? 'This repository' : called} has ${project.whole ? '' : 'at least '}${plural(count, 'file')}; ${known}${others}; test files in known languages: ${tests.length} ${project.behind}.`,
    ...(title === undefined ? [] : [sentence(`It says of itself: ${claim(title)}`)]),
    ...(start === undefined ? [] : [sentence(`A program starts at ${claim(start)}`)]),
  ].join(' ');
}

/** Names of files that hold the start of a whole program; elsewhere it may be a tool's or a check's. */
const PROGRAM = /(?:^|\/)(?:main|__main__|index|cli|app|application|server|program|manage|start)\.\w+$/i;

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
  /^\s*"(?:main|module|browser|bin|types|start)"\s*:\s*"|^\s*"\.{0,2}[\w/-]*"\s*:\s*"\.?\/?[\w./-]+\.[cm]?[jt]s"|^\s*<(?:mainClass|Main-Class)>|^path\s*=\s*"(?!tests|benches|examples).*\.rs"/;
const SCRIPT = /^\s*["']?[\w-]+\s*=\s*["']?[\w.]+:\w+/;
const DECLARING = /(?:package\.json|pyproject\.toml|setup\.(?:py|cfg)|Cargo\.toml|pom\.xml)$/;

function startRows(manifests: readonly Hit[], starts: readonly Hit[], looks: readonly Seen[]): readonly string[] {
  // Other entry points of Python are those of plugins.
  const isScript = (at: number): boolean =>
    manifests
      .slice(0, at)
      .findLast(({ text }) => /^\s*\[|[=:]\s*\[?\s*$/.test(text))
      ?.text.includes('scripts') ?? false;
  const declared = manifests
    .filter(
      ({ path, text }, at) => DECLARING.test(path) && (DECLARED.test(text) || (SCRIPT.test(text) && isScript(at))),
    )
    .slice(0, 8);
  if (declared.length + starts.length === 0)
    return [`- no line outside tests that declares or starts a program was found ${behind(...looks)}`];
  return [
    ...declared.map((hit) => `- declared: ${claim(hit)}`),
    ...shortened(starts, MOST_STARTS, (hit) => `- ${claim(hit)}`, ` ${behind(...looks)}`),
  ];
}

function folderRows(project: Inventory): readonly string[] {
  const folderAt = (name: string, depth: number): string => {
    const parts = name.split('/').slice(0, -1).slice(0, depth);
    return parts.length === 0 ? '(top)' : `${parts.join('/')}/`;
  };
  // As deep as the list stays short.
  const isShort = (depth: number): boolean =>
    new Set(project.names.map((name) => folderAt(name, depth))).size <= MOST_FOLDERS;
  const depth = [7, 6, 5, 4, 3, 2].find(isShort) ?? 1;
  const folders = grouped(project.names, (name) => folderAt(name, depth));
  const counted = (names: readonly string[], own: readonly string[], one: string): readonly string[] => {
    const { length } = names.filter((name) => own.includes(name));
    return length === 0 ? [] : [plural(length, one)];
  };
  const row = ([folder, names]: (typeof folders)[number]): string => {
    const known = [...counted(names, project.sources, 'source'), ...counted(names, project.tests, 'test')];
    return `- ${folder} ${plural(names.length, 'file')}${known.length === 0 ? '' : `, of them ${listed(known)}`}`;
  };
  return [...shortened(folders, MOST_FOLDERS, row), `- counted by ${project.behind}`];
}

function centralRows({ links, seen, whole }: Imports): readonly string[] {
  const rows = [...usersOf(links)].slice(0, MOST_CENTRAL).map(([path, users]) => {
    const count = `${whole ? '' : 'at least '}${plural(users.length, path.endsWith('/') ? 'folder' : 'file')}`;
    return `- ${path}: imported by ${count} of the program, for example ${placesOf(users.slice(0, 1))}`;
  });
  return rows.length === 0
    ? []
    : [
        ...rows,
        `- imports in tests, examples, scripts, documents and ${FOREIGN} code are not counted ${behind(...seen)}`,
      ];
}

const placesOf = (links: Imports['links']): string => links.map(({ hit }) => claim(hit)).join(', ');

function cycleRows({ links, seen }: Imports): readonly string[] {
  if (links.length === 0) return [];
  const all = cycles(links.filter(({ from }) => !isTest(from)));
  if (all.length === 0)
    return [`- none among ${plural(links.length, 'import')} that lead to a file here ${behind(...seen)}`];
  const row = (round: Imports['links']): string => {
    const way = [...round, ...round.slice(0, 1)].map(({ from }) => from).join(' -> ');
    return `- ${way}: ${placesOf(round.slice(0, MOST_PLACES))}`;
  };
  return shortened(all, MOST_CYCLES, row, ` ${behind(...seen)}`);
}
