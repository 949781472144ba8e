/** Who imports whom: only imports that lead to a file that was seen become links. */
import { posix as path } from 'node:path';
import { place } from './evidence.ts';
import { anyOf, batched, exportsIn, type Hit, isComment, isInCode, languageOf, languagesIn } from './languages.ts';
import { isAside, isTest } from './project.ts';
import {
  hitsOf,
  hitsWithNext,
  isCut,
  linesOf,
  LONG_LINE,
  LONGEST_CONTEXT,
  type Looking,
  read,
  search,
  searchAll,
  searchEach,
  type Seen,
} from './tools.ts';
import { captured, distinct, escaped, grouped, listed, plural } from './words.ts';

/** `from` imports `to`; `hit` is the line that says so. Go links folders, the others files. */
export interface Link {
  readonly from: string;
  readonly to: string;
  readonly hit: Hit;
  /** Of types only, within a function or a mere declaration: the file doesn't need it when it is loaded. */
  readonly late: boolean;
}

export interface Imports {
  readonly links: readonly Link[];
  readonly seen: readonly Seen[];
  /** False where a search failed or stopped: an import that is not here may be there all the same. */
  readonly whole: boolean;
}

const MOST_LINES = 1000;

/** Searches the imports of `names`, by a search for each language whose imports can be followed. */
export function* importsOf(names: readonly string[], where: string | undefined, todo: number): Looking<Imports> {
  const languages = languagesIn(names);
  const common = { path: where, limit: MOST_LINES, about: 'imports' };
  const inPython = {
    path: where,
    limit: 300,
    glob: '*.py',
    context: LONGEST_CONTEXT,
    about: 'imports of several lines',
  };
  const asks = [
    ...searchEach(languages, ({ imports }) => [imports], common),
    ...(languages.some(({ name }) => name === 'go') ? [GO_MODULE] : []),
    ...(languages.some(({ name }) => name === 'py') ? [search(OPEN_IMPORT, inPython)] : []),
  ];
  const seen = yield* searchAll(asks, names, 'I search for the lines that import a file of this project.', todo);
  const hits = seen.flatMap((one) => hitsOf(one));
  const next = yield* namesBehind(seen, todo);
  return { links: linksIn(hits, new Set(names), next), seen, whole: !seen.some((one) => isCut(one) || !one.ok) };
}

const GO_MODULE = search(String.raw`^module\s`, { glob: 'go.mod', about: 'Go modules' });
/** An import of Python whose names are on the lines behind it. */
const OPEN_IMPORT = String.raw`^\s*from\s+[.\w]+\s+import\s*\(\s*(?:#.*)?$`;

/** Lines of a file that are read where an import is longer than the lines that a search shows. */
const LONGEST_IMPORT = 60;
const MOST_READ = 40;

/** The names of imports over several lines, by the place of the line that opens each. */
function* namesBehind(seen: readonly Seen[], todo: number): Looking<ReadonlyMap<string, string>> {
  const opened = seen.filter(({ ask }) => ask.input['pattern'] === OPEN_IMPORT).flatMap((one) => hitsWithNext(one));
  const isClosed = (line: string): boolean => line.includes(')');
  const cut = opened.filter(([, lines]) => !lines.some(isClosed)).slice(0, MOST_READ);
  const asks = cut.map(([hit]) => read(hit.path, hit.line + 1, LONGEST_IMPORT));
  const texts = asks.length === 0 ? [] : yield { todo, say: 'I read the imports of many lines.', asks };
  const whole = cut.map(([hit], at) => [hit, linesOf(texts[at]).map(({ text }) => text)] as const);
  const names = (lines: readonly string[]): string =>
    lines
      .slice(0, lines.findIndex(isClosed) + 1 || lines.length + 1)
      .map((line) => line.replace(/#.*/, ''))
      .join(' ');
  return new Map([...opened, ...whole].map(([hit, lines]) => [place(hit), names(lines)]));
}

/** One link from a file to another, by the first line that says so: best by one that holds when the file is loaded. */
function linksIn(hits: readonly Hit[], files: ReadonlySet<string>, next: ReadonlyMap<string, string>): readonly Link[] {
  const lookup = new Lookup(files, hits);
  const all = hits.flatMap((hit, at) => {
    if (!files.has(hit.path) || !isInCode(hit, Math.max(0, hit.text.search(IMPORT)))) return [];
    // In Go folders import folders.
    const from = hit.path.endsWith('.go') && !isTest(hit.path) ? `${path.dirname(hit.path)}/` : hit.path;
    const names = next.get(place(hit));
    return lookup
      .targets(names === undefined ? hit : { ...hit, text: hit.text.replace(/#.*/, '') + names })
      .map((to): Link => ({ from, to, hit, late: isLate(hit, hits[at - 1]) }));
  });
  const links = all.filter(({ from, to }) => from !== to).toSorted((a, b) => Number(a.late) - Number(b.late));
  return distinct(links, ({ from, to }) => `${from}\n${to}`);
}

/** Where an import is within its line: in a string or behind a comment it is only spoken of. */
const IMPORT = /\bfrom\s*["']|\bimport\b|\brequire\(/;

/** Of types only (TypeScript), inside of a function or condition (Python, an indented `require`), or a declaration (Rust). */
function isLate({ path: file, text }: Hit, before: Hit | undefined): boolean {
  const opened = before?.path === file && /^\s*\}\s*from\b/.test(text) ? before.text : '';
  return languageOf(file)?.late?.test(text) === true || /^\s*(?:import|export)\s+type\s*\{\s*$/.test(opened);
}

/** The imports of each file. */
type Imported = ReadonlyMap<string, readonly Link[]>;
const importedBy = (links: readonly Link[]): Imported => Map.groupBy(links, ({ from }) => from);

/** The shortest way from `start` to each file that it leads to, nearest first: to itself it is empty. */
function waysFrom(start: readonly string[], imported: Imported): ReadonlyMap<string, readonly Link[]> {
  const ways = new Map(start.map((file): [string, readonly Link[]] => [file, []]));
  for (const [file, way] of ways)
    for (const link of imported.get(file) ?? []) if (!ways.has(link.to)) ways.set(link.to, [...way, link]);
  return ways;
}

/** The files that `from` import, and those that these import in turn; in Go the files of a folder import as one. */
export const reachedFrom = (from: readonly string[], links: readonly Link[]): ReadonlySet<string> =>
  new Set(waysFrom(from, importedBy(links)).keys());

/** The imports of each file, those in tests and examples left out; most first. */
export const usersOf = (links: readonly Link[]): ReadonlyMap<string, readonly Link[]> =>
  new Map(
    grouped(
      links.filter(({ from, to }) => !isTest(from) && !isTest(to) && !isAside(from)),
      ({ to }) => to,
    ),
  );

/** Files that import each other in a circle when they are loaded, each as one way round. */
export function cycles(links: readonly Link[]): readonly (readonly Link[])[] {
  const imported = importedBy(links.filter(({ late }) => !late));
  const found: (readonly Link[])[] = [];
  for (const start of [...imported.keys()].toSorted()) {
    if (found.flat().some(({ from }) => from === start)) continue;
    for (const [file, way] of waysFrom([start], imported)) {
      const back = imported.get(file)?.find(({ to }) => to === start);
      if (back === undefined) continue;
      found.push([...way, back]);
      break;
    }
  }
  return found;
}

// Which file of the project an import leads to; what can't be resolved is left out, never guessed.

/** Folders below one that is searched, in which sources often are. */
const USUAL = ['', 'src', 'lib', 'include'];

/** Resolves imports by the files that were seen. */
class Lookup {
  private readonly files: ReadonlySet<string>;
  /** The end of a path, of two names at least -> the paths that end so. */
  private readonly ends: ReadonlyMap<string, readonly { readonly file: string }[]>;
  private readonly goModule: string;
  /** Folders around packages of Python. */
  private readonly around: readonly string[];

  constructor(files: ReadonlySet<string>, hits: readonly Hit[]) {
    this.files = files;
    this.goModule = captured(/^module\s+(\S+)/, hits.find((hit) => /(?:^|\/)go\.mod$/.test(hit.path))?.text ?? '');
    const ends = [...files].flatMap((file) => {
      const parts = file.split('/');
      return parts.slice(1).map((_, at) => ({ file, end: parts.slice(at).join('/') }));
    });
    this.ends = Map.groupBy(ends, ({ end }) => end);
    const packages = [...files].filter((file) => path.basename(file) === '__init__.py');
    this.around = [...new Set(packages.map((file) => path.join(path.dirname(file), '..')))];
  }

  /** What is in a package of Python is named from outside of it. */
  private isPackage(folder: string): boolean {
    return this.files.has(path.join(folder, '__init__.py'));
  }

  targets({ path: file, text }: Hit): readonly string[] {
    const language = languageOf(file);
    if (language === undefined) return [];
    const { target, separator, files, omits } = language;
    const group = (name: string): string => target?.exec(text)?.groups?.[name] ?? '';
    const [up, name] = [group('up'), group('name')];
    if (file.endsWith('.go')) return this.goFolder(name);
    const parts = separator === null ? [name] : name.split(separator);
    const own = parts.filter((part) => part !== '');
    const folders = this.foldersFor(file, up, name);
    const inside = group('names').match(/\w+/g) ?? [];
    const found = inside.flatMap((one) => this.below(folders, [...own, one], files, own.length + 1));
    if (found.length > 0) return found;
    const near = this.below(folders, own, files, up === '' ? 1 : 0);
    return near.length > 0 || omits === null ? near : this.byEnd(own, files, omits);
  }

  /** Folders from which a name leads to a file, by how the import begins: nearest first. */
  private foldersFor(file: string, up: string, name: string): readonly string[] {
    const here = path.dirname(file);
    const own = /(?:^|\/)(?:mod|lib|main)\.rs$/.test(file) ? here : file.replace(/\.rs$/, '');
    if (up === 'use crate') return [file.slice(0, Math.max(0, file.lastIndexOf('src/') + 3))];
    if (up === 'mod' || up === 'use self') return [own];
    if (up === 'use super') return [path.dirname(own)];
    if (up !== '') return [path.join(here, '../'.repeat(up.length - 1))];
    if (name.startsWith('.')) return [here];
    const parts = file.split('/').slice(0, -1);
    const above = [...parts.map((_, at) => parts.slice(0, parts.length - at).join('/')), ''];
    return [...above.flatMap((folder) => USUAL.map((each) => path.join(folder, each))), ...this.around].filter(
      (folder) => folder === '.' || !this.isPackage(folder),
    );
  }

  /** The file of a name below one of `folders`; the last of its parts may be what the file defines. */
  private below(
    folders: readonly string[],
    parts: readonly string[],
    endings: readonly string[],
    least: number,
  ): readonly string[] {
    for (let length = parts.length; length >= least; length -= 1) {
      const name = parts.slice(0, length).join('/');
      const places = folders.flatMap((folder) => endings.map((ending) => path.join(folder, name + ending)));
      const found = places.find((one) => this.files.has(one));
      if (found !== undefined) return [found];
    }
    return [];
  }

  /** The longest end of a name that only one file has: `a.b.C.method` -> `…/a/b/C.java`. `omits`: how many first parts no path has. */
  private byEnd(parts: readonly string[], endings: readonly string[], omits: number): readonly string[] {
    for (let length = parts.length; length > 0; length -= 1) {
      for (let from = 0; from <= Math.min(omits, length - 1); from += 1) {
        const name = parts.slice(from, length).join('/');
        const found = endings.flatMap((ending) => this.ends.get(name + ending) ?? []);
        if (found.length > 0) return found.length === 1 ? found.map(({ file }) => file) : [];
      }
    }
    return [];
  }

  /** In Go a folder is imported. */
  private goFolder(name: string): readonly string[] {
    const folder = name.startsWith(`${this.goModule}/`) ? name.slice(this.goModule.length + 1) : '';
    return [...this.files].some((file) => path.dirname(file) === folder) ? [`${folder}/`] : [];
  }
}

// The names that files offer to others, and who holds them.

/** A name that a line offers to other files. */
export interface Export {
  readonly name: string;
  readonly hit: Hit;
}

const BLOCK = /^module\.exports\s*=\s*\{\s*$/;
const MOST_BLOCKS = 40;

/** The names that `files` offer, as their lines tell; a `module.exports` of several lines is read. */
export function* exportsOf(
  files: readonly string[],
  where: string | undefined,
  todo: number,
): Looking<{ readonly exports: readonly Export[]; readonly seen: readonly Seen[] }> {
  const common = { path: where, limit: MOST_LINES, about: 'exported names' };
  const asks = searchEach(languagesIn(files), (language) => [language.exports], common);
  const seen = yield* searchAll(asks, files, 'I search for the names that files offer to others.', todo);
  const known = new Set(files);
  const hits = seen.flatMap((look) => hitsOf(look)).filter((hit) => known.has(hit.path) && !isComment(hit));
  const blocks = hits.filter(({ text }) => BLOCK.test(text)).slice(0, MOST_BLOCKS);
  const reads = blocks.map(({ path: file, line }) => read(file, line, 60));
  const texts = reads.length === 0 ? [] : yield { todo, say: 'I read the lists of exported names.', asks: reads };
  const inBlocks = texts.flatMap((text) => namesInBlock(linesOf(text).slice(1)));
  return { exports: [...hits.flatMap((hit) => exportsIn(hit).map((name) => ({ name, hit }))), ...inBlocks], seen };
}

function namesInBlock(lines: readonly Hit[]): readonly Export[] {
  const end = lines.findIndex(({ text }) => text.startsWith('}'));
  return lines
    .slice(0, end === -1 ? undefined : end)
    .map((hit) => ({ name: captured(/^\s+([A-Za-z_$][\w$]*)\s*(?:,|:|$)/, hit.text), hit }));
}

/** Names that say nothing of whose they are. */
const COMMON_NAMES =
  /^(?:main|default|setup|teardown|configure|init|index|config|module|exports|register|activate|get|set|run|parse|name|type|test|data)$/;

/** Whether a name is so short or so common that lines which hold it tell nothing of its file. */
export const isCommon = (name: string, shortest: number): boolean => name.length < shortest || COMMON_NAMES.test(name);

/** Who holds names: the lines of each whose search was whole or that is used, and how many could not be told. */
export interface Holders {
  readonly of: ReadonlyMap<Export, readonly Hit[]>;
  readonly left: number;
  readonly seen: readonly Seen[];
}

const ROUNDS = 24;
/** Searches of one step. */
const PER_STEP = 4;

/**
 * The lines of files of `glob` that hold each of `wanted`. Many names are searched together. Where a search or a line of it was cut,
 * only names that it shows to be used (`isUse`) are settled; the others are asked for again, fewer at a time when nothing was settled.
 */
export function* holdersOf(
  wanted: readonly Export[],
  glob: string,
  where: string,
  isUse: (one: Export, hit: Hit) => boolean,
): Looking<Holders> {
  const of = new Map<Export, readonly Hit[]>();
  const looks: Seen[] = [];
  let open = wanted;
  let most = wanted.length;
  for (let round = 0; round < ROUNDS && open.length > 0 && most > 0; round += 1) {
    const groups = batched(open, ({ name }) => escaped(name), most).slice(0, PER_STEP);
    const say = `I search for ${listed(open.slice(0, 3).map(({ name }) => name))} (of ${plural(open.length, 'name')}).`;
    const asks = groups.map((group) => {
      const about = `${plural(group.length, 'name')} in ${where}`;
      const names = anyOf(group.map(({ name }) => escaped(name)));
      return search(`(?:^|[^\\w$])${names}(?:[^\\w$]|$)`, { glob, limit: MOST_LINES, about });
    });
    const seen: readonly Seen[] = yield { todo: 2, say, asks };
    looks.push(...seen);
    if (seen.some(({ ok }) => !ok)) break;
    const settled = groups.flatMap((group, at) => settledIn(group, seen[at], isUse));
    for (const [one, lines] of settled) of.set(one, lines);
    const rest = open.filter((one) => !of.has(one));
    if (rest.length === open.length) most = Math.floor(Math.max(...groups.map((group) => group.length)) / 2);
    open = rest;
  }
  return { of, left: open.length, seen: looks };
}

/** The lines of each name of a group that a search for all of them settles. */
function settledIn(
  group: readonly Export[],
  look: Seen | undefined,
  isUse: (one: Export, hit: Hit) => boolean,
): readonly (readonly [Export, readonly Hit[]])[] {
  const hits = hitsOf(look);
  const isWhole = !isCut(look) && (group.length === 1 || !hits.some(({ text }) => LONG_LINE.test(text)));
  const words = hits.map(({ text }) => new Set(text.match(/[\w$]+/g)));
  return group
    .map((one) => [one, hits.filter((_, at) => group.length === 1 || words[at]?.has(one.name) === true)] as const)
    .filter(([one, lines]) => isWhole || lines.some((hit) => isUse(one, hit)));
}
