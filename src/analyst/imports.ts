/** Who imports whom: only imports that lead to a file that was seen become links. */
import { batched, captured, distinct, escaped, grouped, listed, plural } from '../domain/lists.ts';
import { posix as path } from 'node:path';
import * as syntax from './languages.ts';
import PATTERNS from './data/patterns.json' with { type: 'json' };
import { isAside, isTest } from './project.ts';
import * as tools from './tools.ts';

/** `from` imports `to`; `hit` is the line that says so. Go links folders, the others files. */
export interface Link {
  readonly from: string;
  readonly to: string;
  readonly hit: syntax.Hit;
  /** Of types only, within a function or a mere declaration: the file doesn't need it when it is loaded. */
  readonly late: boolean;
}

export interface Imports {
  readonly links: readonly Link[];
  readonly seen: readonly tools.Seen[];
  /** False where a search failed or stopped: an import that is not here may be there all the same. */
  readonly whole: boolean;
}

const MOST_LINES = 1000;

/** Searches the imports of `names`, by a search for each language whose imports can be followed. */
export function* importsOf(names: readonly string[], where: string | undefined, todo: number): tools.Looking<Imports> {
  const languages = syntax.languagesIn(names);
  const asks = [
    ...tools.searchEach(languages, ({ imports }) => [imports], { path: where, limit: MOST_LINES, about: 'imports' }),
    ...(languages.some(({ name }) => /^(?:go|js|rust)$/.test(name)) ? [MODULE_NAMES] : []),
  ];
  const seen = yield* tools.searchAll(asks, names, 'I search for the lines that import a file of this project.', todo);
  const files = new Set(names);
  const hits = seen.flatMap((one) => tools.hitsOf(one));
  const lookup = new Lookup(files, hits);
  const imports = hits.filter(
    (hit) => files.has(hit.path) && syntax.isInCode(hit, Math.max(0, hit.text.search(IMPORT))),
  );
  const opened = imports.filter((hit) => OPEN_IMPORT.test(hit.text) && lookup.isPackage(hit));
  const lists = yield* tools.listsBehind(opened, /\)/, todo);
  return { links: linksIn(imports, lookup, lists), seen, whole: !seen.some((one) => tools.isCut(one) || !one.ok) };
}

const MODULE_NAME = /^(?:module\s+|\s*"name"\s*:\s*"|name\s*=\s*")([^"\s]+)/;
const MODULE_FILES = ['go.mod', 'package.json', 'Cargo.toml'];
const MODULE_NAMES = tools.search(MODULE_NAME.source, { glob: `{${MODULE_FILES.join()}}`, about: 'names of modules' });
/** Where an import is within its line: in a string or behind a comment it is only spoken of. */
const IMPORT = /\bfrom\s*["']|\bimport\b|\brequire\(/;
const OPEN_IMPORT = /^\s*from\s+[.\w]+\s+import\s*\(\s*(?:#.*)?$/;

/** One link from a file to another, by the first line that says so: best by one that holds when the file is loaded. */
function linksIn(hits: readonly syntax.Hit[], lookup: Lookup, lists: tools.Lists): readonly Link[] {
  const all = hits.flatMap((hit, at) => {
    // In Go folders import folders.
    const from = hit.path.endsWith('.go') && !isTest(hit.path) ? `${path.dirname(hit.path)}/` : hit.path;
    const list = lists.get(hit);
    const text = list === undefined ? hit.text : [hit, ...list].map((line) => line.text.replace(/#.*/, '')).join(' ');
    return lookup
      .targets({ path: hit.path, text })
      .map((to): Link => ({ from, to, hit, late: isLate(hit, hits[at - 1]) }));
  });
  const links = all.filter(({ from, to }) => from !== to).toSorted((a, b) => Number(a.late) - Number(b.late));
  return distinct(links, ({ from, to }) => `${from}\n${to}`);
}

/** Of types only (TypeScript), inside of a function or condition (Python, an indented `require`), or a declaration (Rust). */
function isLate({ path: file, text }: syntax.Hit, before: syntax.Hit | undefined): boolean {
  const opened = before?.path === file && /^\s*\}\s*from\b/.test(text) ? before.text : '';
  return syntax.languageOf(file)?.late?.test(text) === true || /^\s*(?:import|export)\s+type\s*\{\s*$/.test(opened);
}

/** Imports by a file. */
export type Imported = ReadonlyMap<string, readonly Link[]>;
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
export function usersOf(links: readonly Link[]): Imported {
  const inProgram = links.filter(({ from, to }) => !isTest(from) && !isTest(to) && !isAside(from));
  return new Map(grouped(inProgram, ({ to }) => to));
}

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

const USUAL = ['', 'src', 'lib', 'include'];
type Finder = (parts: readonly string[]) => readonly string[];

class Lookup {
  private readonly files: ReadonlySet<string>;
  /** The end of a path, of two names at least -> the paths that end so. */
  private readonly ends: ReadonlyMap<string, readonly { readonly file: string }[]>;
  private readonly modules: ReadonlyMap<string, string>;
  /** Folders that are packages of Python, and those around them: what is in a package is named from outside of it. */
  private readonly packages: ReadonlySet<string>;
  private readonly around: readonly string[];

  constructor(files: ReadonlySet<string>, hits: readonly syntax.Hit[]) {
    this.files = files;
    const modules = hits.filter((hit) => MODULE_FILES.includes(path.basename(hit.path))).toReversed();
    const nameIn = ({ path: file, text }: syntax.Hit): string =>
      captured(MODULE_NAME, text).replaceAll('-', file.endsWith('.toml') ? '_' : '-');
    this.modules = new Map(modules.map((hit) => [nameIn(hit), path.dirname(hit.path)]));
    const ends = [...files].flatMap((file) => {
      const parts = file.split('/');
      return parts.slice(1).map((_, at) => ({ file, end: parts.slice(at).join('/') }));
    });
    this.ends = Map.groupBy(ends, ({ end }) => end);
    const packages = [...files].filter((file) => path.basename(file) === '__init__.py');
    this.packages = new Set(packages.map((file) => path.dirname(file)));
    this.around = [...new Set([...this.packages].map((folder) => path.dirname(folder)))];
  }

  /** Whether what is imported is, or may be, a package whose modules the import names one by one. */
  isPackage(hit: syntax.Hit): boolean {
    const [file] = this.targets(hit);
    return file === undefined ? /^\s*from\s+\./.test(hit.text) : path.basename(file, '.py') === '__init__';
  }

  targets({ path: file, text }: Pick<syntax.Hit, 'path' | 'text'>): readonly string[] {
    const language = syntax.languageOf(file);
    const groups = language?.target?.exec(text)?.groups;
    if (language === undefined || groups === undefined) return [];
    const { name = '' } = groups;
    if (language.name === 'go') {
      const isSeen = (folder: string): boolean => [...this.files].some((one) => path.dirname(one) === folder);
      return this.inModule(name)
        .slice(0, 1)
        .filter(isSeen)
        .map((folder) => `${folder}/`);
    }
    if (language.name !== 'js' || name.startsWith('.')) return this.filesOf(file, language, groups);
    return this.inModule(name)
      .flatMap((one) => this.below(['.'], one, language.files))
      .slice(0, 1);
  }

  /** A file of a crate of the project, by its name from outside: what the library offers itself leads to it. */
  private inCrate(crate: string, own: readonly string[], files: readonly string[]): readonly string[] {
    const folder = this.modules.get(crate);
    const at: Finder = (parts) => this.below([`${folder}/src`], parts.join('/') || 'lib', files);
    return folder === undefined ? [] : longest(own, 0, at);
  }

  /** What a name leads to that begins with the name of a module: below its folder, and below the usual ones in it. */
  private inModule(name: string): readonly string[] {
    const [own = '', folder] = [...this.modules].find(([each]) => `${name}/`.startsWith(`${each}/`)) ?? [];
    return folder === undefined ? [] : USUAL.map((each) => path.join(folder, each, name.slice(own.length)));
  }

  private filesOf(
    file: string,
    language: syntax.Language,
    groups: Readonly<Record<string, string>>,
  ): readonly string[] {
    const { separator, files, omits } = language;
    const group = (key: string): string => groups[key] ?? '';
    const [up, name] = [group('up'), group('name')];
    const own = (separator === null ? [name] : name.split(separator)).filter((part) => part !== '');
    if (group('crate') !== '') return this.inCrate(group('crate'), own, files);
    const folders = this.foldersFor(file, up, name);
    const at = (parts: readonly string[]): readonly string[] =>
      this.below(folders, parts.join('/'), [group('ending'), ...files]);
    const inside = (group('names').match(/\w+/g) ?? []).flatMap((one) => at([...own, one]));
    const near = inside.length > 0 ? inside : longest(own, up === '' ? 1 : 0, at);
    return near.length > 0 || omits === null ? near : this.byEnd(own, files, omits);
  }

  private below(folders: readonly string[], name: string, endings: readonly string[]): readonly string[] {
    const places = folders.flatMap((folder) => endings.map((ending) => path.join(folder, name + ending)));
    return places.filter((one) => this.files.has(one)).slice(0, 1);
  }

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
    const usual = above.flatMap((folder) => USUAL.map((each) => path.join(folder, each)));
    return [...usual, ...this.around].filter((folder) => !this.packages.has(folder));
  }

  /** The longest end of a name that only one file has: `a.b.C.method` -> `…/a/b/C.java`. `omits`: how many first parts no path has. */
  private byEnd(parts: readonly string[], endings: readonly string[], omits: number): readonly string[] {
    const found = longest(parts, 1, (own) => {
      const names = own.slice(0, omits + 1).map((_, from) => own.slice(from).join('/'));
      const files = names.map((name) => endings.flatMap((ending) => this.ends.get(name + ending) ?? []));
      return files.find((some) => some.length > 0)?.map(({ file }) => file) ?? [];
    });
    return found.length === 1 ? found : [];
  }
}

/** What the longest beginning of a name leads to, of `least` parts at least: its last parts may be what the file defines. */
function longest(parts: readonly string[], least: number, filesAt: Finder): readonly string[] {
  const found = parts.length < least ? [] : filesAt(parts);
  return found.length > 0 || parts.length <= least ? found : longest(parts.slice(0, -1), least, filesAt);
}

/** A name that a line offers to other files. */
export interface Export {
  readonly name: string;
  readonly hit: syntax.Hit;
}

type Exports = { readonly exports: readonly Export[]; readonly seen: readonly tools.Seen[] };
const BLOCK = /^module\.exports\s*=\s*\{\s*$/;

/** The names that `files` offer, as their lines tell; a `module.exports` of several lines is read. */
export function* exportsOf(files: readonly string[], where: string | undefined, todo: number): tools.Looking<Exports> {
  const common = { path: where, limit: MOST_LINES, about: 'exported names' };
  const asks = tools.searchEach(syntax.languagesIn(files), (language) => [language.exports], common);
  const seen = yield* tools.searchAll(asks, files, 'I search for the names that files offer to others.', todo);
  const known = new Set(files);
  const hits = seen
    .flatMap((look) => tools.hitsOf(look))
    .filter((hit) => known.has(hit.path) && !syntax.isComment(hit));
  const opened = hits.filter(({ text }) => BLOCK.test(text));
  const blocks = yield* tools.listsBehind(opened, /^\}/, todo);
  const inBlocks = [...blocks.values()].flat().flatMap((hit) => {
    const name = captured(/^\s+([A-Za-z_$][\w$]*)\s*(?:,|:|$)/, hit.text);
    return name === '' ? [] : [{ name, hit }];
  });
  return {
    exports: [...hits.flatMap((hit) => syntax.exportsIn(hit).map((name) => ({ name, hit }))), ...inBlocks],
    seen,
  };
}

/** Names that say nothing of whose they are. */
const COMMON_NAMES = new RegExp(PATTERNS.commonName);

/** Whether a name is so short or so common that lines which hold it tell nothing of its file. */
export const isCommon = (name: string, shortest: number): boolean => name.length < shortest || COMMON_NAMES.test(name);

/** A name with the lines that hold it. */
export type Held = readonly [Export, readonly syntax.Hit[]];
type IsUse = (one: Export, hit: syntax.Hit) => boolean;

/** Who holds names: the lines of each whose search was whole or that is used, and how many could not be told. */
export interface Holders {
  readonly of: ReadonlyMap<Export, readonly syntax.Hit[]>;
  readonly left: number;
  readonly seen: readonly tools.Seen[];
}

const [ROUNDS, PER_STEP] = [24, 4] as const;

/** The lines of files of `glob` that hold each of `all`. Many names are searched together. Where a search or a line of it was cut,
 * only names that it shows to be used (`isUse`) are settled; the others are asked for again, fewer at a time when nothing was settled. */
export function* holdersOf(all: readonly Export[], glob: string, where: string, isUse: IsUse): tools.Looking<Holders> {
  const of = new Map<Export, readonly syntax.Hit[]>();
  const looks: tools.Seen[] = [];
  let open = all;
  let most = all.length;
  for (let round = 0; round < ROUNDS && open.length > 0 && most > 0; round += 1) {
    const groups = batched(open, ({ name }) => escaped(name), syntax.LONGEST_PATTERN, most).slice(0, PER_STEP);
    const say = `I search for ${listed(open.slice(0, 3).map(({ name }) => name))} (of ${plural(open.length, 'name')}).`;
    const asks = groups.map((group) => {
      const about = `${plural(group.length, 'name')} in ${where}`;
      const names = syntax.anyOf(group.map(({ name }) => escaped(name)));
      return tools.search(`(?:^|[^\\w$])${names}(?:[^\\w$]|$)`, { glob, limit: MOST_LINES, about });
    });
    const seen: readonly tools.Seen[] = yield { todo: 2, say, asks };
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

function settledIn(group: readonly Export[], look: tools.Seen | undefined, isUse: IsUse): readonly Held[] {
  const hits = tools.hitsOf(look);
  const isWhole = !tools.isCut(look) && (group.length === 1 || !hits.some(({ text }) => tools.LONG_LINE.test(text)));
  const words = hits.map(({ text }) => new Set(text.match(/[\w$]+/g)));
  return group
    .map((one): Held => [one, hits.filter((_, at) => group.length === 1 || words[at]?.has(one.name) === true)])
    .filter(([one, lines]) => isWhole || lines.some((hit) => isUse(one, hit)));
}
