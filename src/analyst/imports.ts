/**
 * The files of a project, and who imports whom: only imports that lead to a file that was seen become links; what can't be resolved is
 * left out, never guessed.
 */
import { posix as path } from 'node:path';
import {
  globFor,
  isAside,
  isComment,
  isForeign,
  isSource,
  isTest,
  LANGUAGES,
  languageOf,
  languagesIn,
  TABLE,
} from './languages.ts';
import type { LanguageName } from './languages.ts';
import { behind, countOf, filesOf, hitsOf, isCut, list, search, searchAll } from './tools.ts';
import type { Hit } from './tools.ts';
import type { Looking, Seen } from './turns.ts';
import { captured, code, termsIn } from './words.ts';

/** The files that a task is about: those of the folder that it names, else all. */
export interface Inventory {
  readonly names: readonly string[];
  /** False where the list stopped before its end: what is not in it may be there all the same. */
  readonly whole: boolean;
  readonly count: number;
  /** Code that is neither a test nor foreign; examples and scripts are in it. */
  readonly sources: readonly string[];
  readonly tests: readonly string[];
  readonly languages: readonly LanguageName[];
  /** For searches: the folder or file; undefined for the whole. */
  readonly path: string | undefined;
  /** In words: `src/` or `this repository`. */
  readonly called: string;
  readonly seen: readonly Seen[];
  /** The calls behind it, in words. */
  readonly behind: string;
}

const MOST_NAMES = 2000;

/** Lists the files of a task: one step, a second one where the first list stopped before its end. */
export function* inventory(task: string, todo = 0): Looking<Inventory> {
  const places = termsIn(task, 16).flatMap(({ is, text }) => (is === 'path' ? [text] : []));
  const folder = places.find((one) => one.endsWith('/') || !/\.\w{1,5}$/.test(one))?.replace(/\/$/, '');
  const about = folder === undefined ? 'all files' : 'files';
  const first = yield { say: 'I list the files first.', todo, asks: [list(MOST_NAMES, { path: folder, about })] };
  const none = folder !== undefined && filesOf(first[0]).length === 0;
  if (!none && !isCut(first[0])) return inventoryOf(first, folder, places);
  const say = none
    ? `There is no ${code(folder)} that I can see: I look at the whole.`
    : 'There are more files than a list shows: I list the sources.';
  const ask = none
    ? list(MOST_NAMES, { about: 'all files' })
    : list(MOST_NAMES, { path: folder, glob: globFor(LANGUAGES), about: 'sources' });
  const more = yield { say, todo, asks: [ask] };
  return inventoryOf([...first, ...more], none ? undefined : folder, places);
}

function inventoryOf(seen: readonly Seen[], folder: string | undefined, places: readonly string[]): Inventory {
  const listedNames = [...new Set(seen.flatMap((one) => filesOf(one)))];
  const file = places.find(
    (one) => /\.\w{1,5}$/.test(one) && listedNames.some((name) => `/${name}`.endsWith(`/${one}`)),
  );
  const names = file === undefined ? listedNames : listedNames.filter((name) => `/${name}`.endsWith(`/${file}`));
  const own = names.filter((name) => isSource(name) && !isForeign(name));
  return {
    names,
    whole: !isCut(seen.at(-1)),
    count: file === undefined ? Math.max(names.length, ...seen.map((one) => countOf(one))) : names.length,
    sources: own.filter((name) => !isTest(name)),
    tests: own.filter((name) => isTest(name)),
    languages: languagesIn(own),
    path: names.length === 1 && file !== undefined ? names[0] : folder,
    called: file !== undefined ? code(file) : folder === undefined ? 'this repository' : code(`${folder}/`),
    seen,
    behind: behind(...seen),
  };
}

/** Sources that are the program itself; where there are none, examples and scripts are. */
export function programOf({ sources }: Pick<Inventory, 'sources'>): readonly string[] {
  const program = sources.filter((name) => !isAside(name));
  return program.length > 0 ? program : sources;
}

/** `from` imports `to`; `hit` is the line that says so. Go links folders, the others files. */
export interface Link {
  readonly from: string;
  readonly to: string;
  readonly hit: Hit;
  /** Of types only, or within a function: it is not there when the file is loaded. */
  readonly late: boolean;
}

const MOST_LINES = 1000;

/** Searches the imports of `names`, by a search for each language whose imports can be followed. */
export function* importsOf(names: readonly string[], where: string | undefined, todo: number): Looking<Imports> {
  const followed = languagesIn(names).filter((language) => TABLE[language].imports !== null);
  const asks = followed.map((language) =>
    search(language === 'go' ? `${TABLE.go.imports ?? ''}|^module\\s` : (TABLE[language].imports ?? ''), {
      glob: language === 'go' ? '{*.go,go.mod}' : globFor([language]),
      path: where,
      limit: MOST_LINES,
      about: `imports in ${globFor([language])}`,
    }),
  );
  const seen = yield* searchAll(asks, names, 'I search for the lines that import a file of this project.', todo);
  const hits = seen.flatMap((one) => hitsOf(one));
  return { links: linksOf(hits, new Set(names)), seen, whole: !seen.some((one) => isCut(one) || !one.ok), hits };
}

export interface Imports {
  readonly links: readonly Link[];
  readonly hits: readonly Hit[];
  readonly seen: readonly Seen[];
  readonly whole: boolean;
}

function linksOf(hits: readonly Hit[], files: ReadonlySet<string>): readonly Link[] {
  const lookup = new Lookup(files, hits);
  const first = new Map<string, Link>();
  const links = hits
    .map((hit, at) => ({ hit, late: isLate(hit, hits[at - 1]) }))
    .filter(({ hit }) => !isComment(hit) && !isQuoted(hit.text) && files.has(hit.path))
    .flatMap(({ hit, late }) => lookup.targets(hit).map((to): Link => ({ from: fromOf(hit.path), to, hit, late })));
  for (const link of links) {
    const before = first.get(`${link.from}\n${link.to}`);
    if (link.from !== link.to && (before === undefined || (before.late && !link.late)))
      first.set(`${link.from}\n${link.to}`, link);
  }
  return [...first.values()];
}

/** In Go folders import folders. */
const fromOf = (file: string): string => (file.endsWith('.go') && !isTest(file) ? `${path.dirname(file)}/` : file);

/** The import itself is inside of a string or behind a comment: it only speaks of one. */
function isQuoted(text: string): boolean {
  const before = text.slice(0, /\bfrom\s*["']|\bimport\b|\brequire\(/.exec(text)?.index ?? 0);
  return /(?:^|\s)\/[/*]/.test(before) || ['"', "'", '`'].some((quote) => before.split(quote).length % 2 === 0);
}

/** Of types only (TypeScript), or inside of a function or condition (Python, a `require` that is indented). */
function isLate({ path: file, text }: Hit, before: Hit | undefined): boolean {
  if (languageOf(file) === 'py') return /^\s/.test(text);
  if (/^\s*(?:import|export)\s+type\b(?!\s*(?:,|from\b))/.test(text)) return true;
  if (/^\s+.*\brequire\(|\bimport\(/.test(text)) return true;
  const names = /^\s*(?:import|export)\s*\{([^}]*)\}\s*from/.exec(text)?.[1];
  if (names !== undefined) return names.split(',').every((name) => name.trim() === '' || /^\s*type\s+\w/.test(name));
  const opened = before?.path === file && /\{\s*$/.test(before.text) ? before.text : '';
  return /^\s*\}\s*from\b/.test(text) && /^\s*(?:import|export)\s+type\s*\{/.test(opened);
}

class Lookup {
  private readonly files: ReadonlySet<string>;
  /** The end of a path without its ending -> the paths that end so. */
  private readonly ends = new Map<string, string[]>();
  private readonly goModule: string;
  /** Folders of Python that hold a package and are in none. */
  private readonly roots: readonly string[];

  constructor(files: ReadonlySet<string>, hits: readonly Hit[]) {
    this.files = files;
    const packages = [...files]
      .filter((file) => path.basename(file) === '__init__.py')
      .map((file) => path.dirname(path.dirname(file)));
    this.roots = [...new Set(['', ...packages.filter((folder) => !files.has(`${folder}/__init__.py`))])];
    this.goModule = captured(/^module\s+(\S+)/, hits.find((hit) => /(?:^|\/)go\.mod$/.test(hit.path))?.text ?? '');
    for (const file of files) {
      const parts = file.replace(/(?:\/__init__)?\.\w+$/, '').split('/');
      for (let at = 0; at < parts.length; at += 1) {
        const end = parts.slice(at).join('/');
        this.ends.set(end, [...(this.ends.get(end) ?? []), file]);
      }
    }
  }

  targets(hit: Hit): readonly string[] {
    switch (languageOf(hit.path)) {
      case 'js':
        return this.script(hit);
      case 'py':
        return this.python(hit);
      case 'go':
        return this.go(hit.text);
      case 'rust':
        return this.rust(hit);
      case 'java':
        return this.byEnd(captured(/^import\s+(?:static\s+)?([\w.]+)/, hit.text).split('.'), [
          'java',
          'kt',
          'scala',
          'groovy',
        ]);
      case 'php':
        return this.byEnd(captured(/^\s*use\s+([\w\\]+)/, hit.text).split('\\'), ['php']);
      default:
        return this.quoted(hit);
    }
  }

  private first(...names: readonly string[]): readonly string[] {
    return names
      .map((name) => path.normalize(name))
      .filter((name) => this.files.has(name))
      .slice(0, 1);
  }

  /** The longest end of a name that only one file has: `a.b.C.method` -> `…/a/b/C.java`. */
  private byEnd(parts: readonly string[], endings: readonly string[]): readonly string[] {
    for (let length = parts.length; length > 1; length -= 1) {
      for (let from = 0; length - from > 1; from += 1) {
        const found = (this.ends.get(parts.slice(from, length).join('/')) ?? []).filter((file) =>
          endings.some((one) => file.endsWith(`.${one}`)),
        );
        if (found.length === 1) return found;
        if (found.length > 1) return [];
      }
    }
    return [];
  }

  private script(hit: Hit): readonly string[] {
    const target = captured(/(?:\bfrom|^\s*import|\brequire\(|\bimport\()\s*["']([^"']+)["']/, hit.text);
    if (!target.startsWith('.')) return [];
    const base = path.join(path.dirname(hit.path), target.replace(/[?#].*$/, ''));
    const kinds = TABLE.js.endings;
    return this.first(
      base,
      ...[base.replace(/\.[cm]?jsx?$/, ''), base].flatMap((name) => kinds.map((kind) => `${name}.${kind}`)),
      ...kinds.map((kind) => `${base}/index.${kind}`),
    );
  }

  private python({ path: file, text }: Hit): readonly string[] {
    const [, dots = '', from = '', names = ''] = /^\s*from\s+(\.*)([\w.]*)\s+import\s+(.*)$/.exec(text) ?? [];
    const module = dots + from === '' ? captured(/^\s*import\s+([\w.]+)/, text) : from;
    const here = path.dirname(file);
    const roots =
      dots === ''
        ? [...this.roots, ...(this.files.has(`${here}/__init__.py`) ? [] : [here])]
        : [path.join(here, '../'.repeat(dots.length - 1))];
    const found = roots.map((root) => {
      const folder = path.join(root, ...module.split('.'));
      const inside = (names.match(/\w+/g) ?? []).flatMap((name) =>
        this.first(`${folder}/${name}.py`, `${folder}/${name}/__init__.py`),
      );
      return inside.length > 0 ? inside : this.first(`${folder}.py`, `${folder}/__init__.py`);
    });
    return found.find((one) => one.length > 0) ?? [];
  }

  private go(text: string): readonly string[] {
    const name = captured(/"([^"]+)"/, text);
    if (this.goModule === '' || !name.startsWith(`${this.goModule}/`)) return [];
    const folder = `${name.slice(this.goModule.length + 1)}/`;
    return [...this.files].some((file) => path.dirname(file) === folder.slice(0, -1)) ? [folder] : [];
  }

  private rust({ path: file, text }: Hit): readonly string[] {
    const module = captured(/\bmod\s+(\w+);/, text);
    const own = /(?:^|\/)(?:mod|lib|main)\.rs$/.test(file) ? path.dirname(file) : file.replace(/\.rs$/, '');
    if (module !== '') return this.first(`${own}/${module}.rs`, `${own}/${module}/mod.rs`);
    const [, kind = '', rest = ''] = /\buse\s+(crate|super|self)::([\w:]+)/.exec(text) ?? [];
    const roots: Readonly<Record<string, string>> = {
      crate: file.slice(0, Math.max(0, file.lastIndexOf('src/') + 3)),
      super: path.dirname(own),
      self: own,
    };
    const parts = rest.split('::').filter((part) => part !== '');
    for (let length = parts.length; length > 0; length -= 1) {
      const name = path.join(roots[kind] ?? '', ...parts.slice(0, length));
      const found = this.first(`${name}.rs`, `${name}/mod.rs`);
      if (found.length > 0) return found;
    }
    return [];
  }

  /** A name in quotes: relative to the file, below the usual folders, or the end of one path only. */
  private quoted({ path: file, text }: Hit): readonly string[] {
    const target = captured(/["']([^"']+)["']/, text) || captured(/^\s*(?:\.|source)\s+(\S+)/, text);
    const name = target
      .replace(/^.*\$\w*[/}]*/, '')
      .replace(/^(?:\.?\.\/)+(?=\w)/, (dots) => (languageOf(file) === 'shell' ? '' : dots));
    const ending = path.extname(name) === '' && languageOf(file) === 'ruby' ? '.rb' : '';
    const beside = path.join(path.dirname(file), name + ending);
    const near = this.first(beside, ...['', 'lib/', 'include/', 'src/'].map((folder) => `${folder}${name}${ending}`));
    if (near.length > 0 || (languageOf(file) === 'c' && !name.includes('/'))) return near;
    const same = (this.ends.get(name.replace(/\.\w+$/, '')) ?? []).filter((one) =>
      `/${one}`.endsWith(`/${name}${ending}`),
    );
    return same.length === 1 ? same : [];
  }
}

/** How many others import each, tests left out; most first. */
export function central(links: readonly Link[]): readonly { readonly path: string; readonly users: readonly Link[] }[] {
  const real = links.filter(({ from, to }) => !isTest(from) && !isTest(to) && !isAside(from));
  return [...Map.groupBy(real, ({ to }) => to)]
    .map(([file, users]) => ({ path: file, users }))
    .toSorted((a, b) => b.users.length - a.users.length || (a.path < b.path ? -1 : 1));
}

/** Files that import each other in a circle when they are loaded, each as one way round. */
export function cycles(links: readonly Link[]): readonly (readonly Link[])[] {
  const next = Map.groupBy(
    links.filter(({ late }) => !late),
    ({ from }) => from,
  );
  const found: (readonly Link[])[] = [];
  const done = new Set<string>();
  for (const start of [...next.keys()].toSorted()) {
    const round = done.has(start) ? [] : wayRound(start, next);
    if (round.length === 0) continue;
    found.push(round);
    for (const { from } of round) done.add(from);
  }
  return found;
}

/** The shortest way from `start` back to itself, breadth first; empty when there is none. */
function wayRound(start: string, next: ReadonlyMap<string, readonly Link[]>): readonly Link[] {
  const cameBy = new Map<string, readonly Link[]>([[start, []]]);
  const queue = [start];
  for (let at = queue.shift(); at !== undefined; at = queue.shift()) {
    for (const link of next.get(at) ?? []) {
      const way = [...(cameBy.get(at) ?? []), link];
      if (link.to === start) return way;
      if (cameBy.has(link.to)) continue;
      cameBy.set(link.to, way);
      queue.push(link.to);
    }
  }
  return [];
}
