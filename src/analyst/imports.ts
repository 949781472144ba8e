/** Who imports whom: only imports that lead to a file that was seen become links. */
import { posix as path } from 'node:path';
import { languageOf, languagesIn, TABLE } from './languages.ts';
import type { LanguageName } from './languages.ts';
import { isComment } from './lines.ts';
import { isAside, isTest } from './paths.ts';
import { hitsOf, hitsWithNext, isCut, linesOf, LONGEST_CONTEXT, read, search, searchAll, searchEach } from './tools.ts';
import type { Hit, Looking, Seen } from './tools.ts';
import { byPlace, captured } from './words.ts';

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
  readonly hits: readonly Hit[];
  readonly seen: readonly Seen[];
  /** False where a search failed or stopped: an import that is not here may be there all the same. */
  readonly whole: boolean;
}

const MOST_LINES = 1000;

/** Searches the imports of `names`, by a search for each language whose imports can be followed. */
export function* importsOf(names: readonly string[], where: string | undefined, todo: number): Looking<Imports> {
  const languages = languagesIn(names);
  const asks = searchEach(languages, 'imports', { path: where, limit: MOST_LINES, about: 'imports' });
  const modules = languages.includes('go')
    ? [search(String.raw`^module\s`, { glob: 'go.mod', about: 'Go modules' })]
    : [];
  const open = { glob: '*.py', path: where, limit: 300, context: LONGEST_CONTEXT, about: 'imports over several lines' };
  const long = languages.includes('py') ? [search(OPEN_IMPORT, open)] : [];
  const say = 'I search for the lines that import a file of this project.';
  const seen = yield* searchAll([...asks, ...modules, ...long], names, say, todo);
  const hits = seen.flatMap((one) => hitsOf(one));
  const next = yield* namesBehind(seen, todo);
  return { links: linksIn(hits, new Set(names), next), seen, whole: !seen.some((one) => isCut(one) || !one.ok), hits };
}

/** An import of Python whose names are on the lines behind it. */
const OPEN_IMPORT = String.raw`^\s*from\s+[.\w]+\s+import\s*\(\s*(?:#.*)?$`;

/** Lines of a file that are read where an import is longer than the lines that a search shows. */
const LONGEST_IMPORT = 60;
const MOST_READ = 40;

/** The names of imports over several lines, by the place of the line that opens each. */
function* namesBehind(seen: readonly Seen[], todo: number): Looking<ReadonlyMap<string, string>> {
  const all = seen.filter(({ ask }) => ask.input['pattern'] === OPEN_IMPORT).flatMap((one) => hitsWithNext(one));
  const cut = all.filter(([, lines]) => !lines.some((line) => line.includes(')'))).slice(0, MOST_READ);
  const asks = cut.map(([hit]) => read(hit.path, hit.line + 1, LONGEST_IMPORT));
  const texts = asks.length === 0 ? [] : yield { say: 'I read the imports of many lines.', todo, asks };
  const whole = cut.map(([hit], at) => [hit, linesOf(texts[at]).map(({ text }) => text)] as const);
  return new Map(
    [...all, ...whole].map(([{ path: file, line }, lines]) => [`${file}:${line}`, namesUntilClosed(lines)]),
  );
}

function namesUntilClosed(lines: readonly string[]): string {
  const end = lines.findIndex((line) => line.includes(')'));
  const own = lines.slice(0, end === -1 ? undefined : end + 1);
  return own.map((line) => line.replace(/#.*/, '')).join(' ');
}

/** One link from a file to another, by the first line that says so: best by one that holds when the file is loaded. */
function linksIn(hits: readonly Hit[], files: ReadonlySet<string>, next: ReadonlyMap<string, string>): readonly Link[] {
  const lookup = new Lookup(files, hits);
  const all = hits.flatMap((hit, at) => {
    if (!files.has(hit.path) || isComment(hit) || isQuoted(hit.text)) return [];
    // In Go folders import folders.
    const from = hit.path.endsWith('.go') && !isTest(hit.path) ? `${path.dirname(hit.path)}/` : hit.path;
    const names = next.get(`${hit.path}:${hit.line}`) ?? '';
    return lookup
      .targets({ ...hit, text: hit.text + names })
      .map((to): Link => ({ from, to, hit, late: isLate(hit, hits[at - 1]) }));
  });
  const links = all.filter(({ from, to }) => from !== to).toSorted((a, b) => Number(a.late) - Number(b.late));
  return [...Map.groupBy(links, ({ from, to }) => `${from}\n${to}`).values()].flatMap((same) => same.slice(0, 1));
}

/** The import itself is inside of a string or behind a comment: it only speaks of one. */
function isQuoted(text: string): boolean {
  const before = text.slice(0, /\bfrom\s*["']|\bimport\b|\brequire\(/.exec(text)?.index ?? 0);
  return /(?:^|\s)\/[/*]/.test(before) || ['"', "'", '`'].some((quote) => before.split(quote).length % 2 === 0);
}

const LATE = new Map<LanguageName, RegExp>([
  ['py', /^\s/],
  ['rust', /\bmod\s+\w+;/],
]);

/** Of types only (TypeScript), inside of a function or condition (Python, an indented `require`), or a declaration (Rust). */
function isLate({ path: file, text }: Hit, before: Hit | undefined): boolean {
  const late = LATE.get(languageOf(file) ?? 'js');
  if (late !== undefined) return late.test(text);
  if (/^\s*(?:import|export)\s+type\b(?!\s*(?:,|from\b))|^\s+.*\brequire\(|\bimport\(/.test(text)) return true;
  const names = /^\s*(?:import|export)\s*\{([^}]*)\}\s*from/.exec(text)?.[1];
  if (names !== undefined) return names.split(',').every((name) => name.trim() === '' || /^\s*type\s+\w/.test(name));
  const opened = before?.path === file && /\{\s*$/.test(before.text) ? before.text : '';
  return /^\s*\}\s*from\b/.test(text) && /^\s*(?:import|export)\s+type\s*\{/.test(opened);
}

/** The imports of each file, those in tests and examples left out; most first. */
export const usersOf = (links: readonly Link[]): ReadonlyMap<string, readonly Link[]> =>
  new Map(
    [
      ...Map.groupBy(
        links.filter(({ from, to }) => !isTest(from) && !isTest(to) && !isAside(from)),
        ({ to }) => to,
      ),
    ].toSorted(([a, x], [b, y]) => y.length - x.length || byPlace({ path: a }, { path: b })),
  );

/** Files that import each other in a circle when they are loaded, each as one way round. */
export function cycles(links: readonly Link[]): readonly (readonly Link[])[] {
  const atOnce = links.filter(({ late }) => !late);
  const next = Map.groupBy(atOnce, ({ from }) => from);
  const found: (readonly Link[])[] = [];
  const done = new Set<string>();
  for (const start of [...next.keys()].toSorted()) {
    const round = done.has(start) ? [] : wayRound(start, next);
    if (round.length > 0) found.push(round);
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

// Which file of the project an import leads to; what can't be resolved is left out, never guessed.

/** How the file of a module of Python ends. */
const PYTHON = ['.py', '/__init__.py', '.pyi', '/__init__.pyi'];

/** Resolves imports by the files that were seen. */
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
        this.first(...PYTHON.map((end) => `${folder}/${name}${end}`)),
      );
      return inside.length > 0 ? inside : this.first(...PYTHON.map((end) => `${folder}${end}`));
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
