/** An overview: what a project says of itself, where it starts, what is in which folder, which files others rely on, what goes in circles. */
import { distinct, grouped, listed, plural, sentence } from '../../domain/lists.ts';
import PATTERNS from '../data/patterns.json' with { type: 'json' };
import { behind, claim, place, report, sentences } from '../evidence.ts';
import { cycles, type Imports, importsOf, usersOf } from '../imports.ts';
import { type Hit, isComment, isInString, languageOf, languagesIn } from '../languages.ts';
import { isManifest } from './lists.ts';
import { FOREIGN, foldersOf, inventory, type Inventory, isForeign, isTest, programOf } from '../project.ts';
import { hitsOf, linesOf, type Looking, read, searchEach, type Seen } from '../tools.ts';
import type { Brief, Work } from '../turns.ts';
import { byDepth, code, shortened } from '../words.ts';

const MOST_SHOWN = 8;
const MOST_FOLDERS = 14;

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
    headText(project, papers.said[0]),
    ['Project description', papers.said.slice(1).map((hit) => `- ${claim(hit)}`)],
    [
      'Entry points',
      [
        ...project.sources.filter((file) => LIBRARY.test(file)).map((file) => `- library: ${code(file)}`),
        ...startRows(papers.manifestLines, starts, looks),
      ],
    ],
    ['Folders', folderRows(project)],
    ['Central files', centralRows(imports)],
    ['Import cycles', cycleRows(imports)],
  );
}

const README = /^readme(?:\.(?:md|markdown|rst|txt|adoc|org))?$/i;
const FACT = new RegExp(PATTERNS.fact, 'i');

function* papersOf({ names }: Inventory): Looking<{ said: readonly Hit[]; manifestLines: readonly Hit[] }> {
  const near = (test: (file: string) => boolean, most: number): readonly string[] =>
    names
      .filter((name) => test(name.split('/').at(-1) ?? '') && !isTest(name) && !isForeign(name))
      .toSorted(byDepth)
      .slice(0, most);
  const readme = near((file) => README.test(file), 1);
  const all = [...readme, ...near(isManifest, 3)];
  const say = all.length === 0 ? 'There is neither a README nor a manifest.' : `I read ${listed(all)}.`;
  const seen = yield { todo: 1, say, asks: all.map((path) => read(path, 1, readme.includes(path) ? 60 : 250)) };
  const words = readme.length === 0 ? [] : sayings(linesOf(seen[0]));
  // What is said of a parent is not said of the project.
  const manifestLines = seen.slice(readme.length).flatMap((one) => without(linesOf(one), /<parent>[^]*?<\/parent>/g));
  // Each file once: the same key again is an author's or a plugin's.
  const facts = distinct(
    manifestLines.filter(({ text }) => FACT.test(text)),
    ({ path }) => path,
  );
  const { described = [], named = [] } = Object.groupBy(facts, ({ text }) =>
    /description/i.test(text) ? 'described' : 'named',
  );
  return { said: [...described, ...words, ...named], manifestLines };
}

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
        !/^\s*(?:\.\.|\||#|`{3}|~{3}|\[!?\[|<|:\w+:|authors?:)|:\s*$/i.test(text),
    )
    .slice(0, 2);

const ASIDES = /<!--[^]*?(?:-->|(?![^]))|^[ \t]*(`{3}|~{3})[^]*?(?:^[ \t]*\1|(?![^]))/gm;

function headText(project: Inventory, title: Hit | undefined): string {
  const { sources, tests, called, count, foreign } = project;
  const languages = grouped(sources, (file) => languageOf(file)?.label ?? '').map(
    ([label, own]) => `${own.length} ${label}`,
  );
  const known = languages.length === 0 ? 'none of source in a known language' : `source files: ${languages.join(', ')}`;
  const others = foreign === 0 ? '' : `; ${foreign} more ${foreign === 1 ? 'is' : 'are'} ${FOREIGN}`;
  const name = called === 'this repository' ? 'This repository' : called;
  const files = `${project.whole ? '' : 'at least '}${plural(count, 'file')}`;
  return sentences(
    title === undefined ? '' : sentence(`${name} is described at ${claim(title)}`),
    `${title === undefined ? name : 'It'} has ${files}; ${known}${others}; test files: ${tests.length} ${project.behind}.`,
  );
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

const LIBRARY = /^(?:src\/)?(?:\w+\/__init__\.py|lib\.rs|(?:lib\/)?index\.[cm]?[jt]s|lib\/[\w-]+\.rb)$/;
const DECLARED = new RegExp(PATTERNS.entryPoint);
const DECLARING = /(?:package\.json|pyproject\.toml|setup\.(?:py|cfg)|Cargo\.toml|pom\.xml)$/;

function startRows(manifests: readonly Hit[], starts: readonly Hit[], looks: readonly Seen[]): readonly string[] {
  const declared = manifests.filter(({ path, text }) => DECLARING.test(path) && DECLARED.test(text)).slice(0, 8);
  if (declared.length + starts.length === 0)
    return [`- no line outside tests that declares or starts a program was found ${behind(...looks)}`];
  return [
    ...declared.map((hit) => `- declared: ${claim(hit)}`),
    ...shortened(starts, MOST_SHOWN, (hit) => `- ${claim(hit)}`, ` ${behind(...looks)}`),
  ];
}

function folderRows({ names, sources, tests }: Inventory): readonly string[] {
  const [isOwn, isOwnTest] = [new Set(sources), new Set(tests)];
  return shortened(foldersOf(names, MOST_FOLDERS), MOST_FOLDERS, ([folder, all]) => {
    const [source, test] = [isOwn, isOwnTest].map((known) => all.filter((name) => known.has(name)).length);
    const parts = [...(source ? [plural(source, 'source')] : []), ...(test ? [plural(test, 'test')] : [])];
    return `- ${folder}: ${plural(all.length, 'file')}${parts.length === 0 ? '' : `, of them ${listed(parts)}`}`;
  });
}

function centralRows({ links, seen, whole }: Imports): readonly string[] {
  const users = [...usersOf(links)];
  const row = ([path, own]: (typeof users)[number]): string => {
    const count = `${whole ? '' : 'at least '}${plural(own.length, path.endsWith('/') ? 'folder' : 'file')}`;
    return `- ${path}: imported by ${count}${own[0] === undefined ? '' : `, for example at ${place(own[0].hit)}`}`;
  };
  const rows = users.slice(0, MOST_SHOWN).map(row);
  return rows.length === 0 ? [] : [...rows, `- imports in tests and examples are not counted ${behind(...seen)}`];
}

function cycleRows({ links, seen }: Imports): readonly string[] {
  if (links.length === 0) return [];
  const all = cycles(links.filter(({ from }) => !isTest(from)));
  if (all.length === 0)
    return [`- none among ${plural(links.length, 'import')} that lead to a file here ${behind(...seen)}`];
  const row = (round: Imports['links']): string => {
    const way = [...round, ...round.slice(0, 1)].map(({ from }) => from).join(' -> ');
    return `- ${way}: ${listed(round.slice(0, MOST_SHOWN).map(({ hit }) => claim(hit)))}`;
  };
  return shortened(all, MOST_SHOWN, row, ` ${behind(...seen)}`);
}
