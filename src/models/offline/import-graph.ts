/**
 * Who imports whom, from lines that a search gave: TypeScript and JavaScript, Python, Go, Rust, Java and Kotlin. Only
 * imports that lead to a file that was seen become links; what can't be resolved is left out, never guessed.
 */
import { posix as path } from 'node:path';
import type { Hit } from './claims.ts';
import { isComment, isTest } from './languages.ts';
import type { LanguageName } from './languages.ts';
import { captured, escaped } from './words.ts';

/** `from` imports `to`; `hit` is the line that says so. Go links folders, the others files. */
export interface Link {
  readonly from: string;
  readonly to: string;
  readonly hit: Hit;
  /** It imports types only, as far as its lines tell: nothing of it is there when the program runs. */
  readonly typeOnly: boolean;
}

/** Lines that import something of the project, by language. */
export const IMPORT_PATTERNS: Readonly<Partial<Record<LanguageName, string>>> = {
  // Openings of imports over several lines come, too: they tell which of them are of types only.
  js: '(?:\\bfrom|^\\s*import|\\brequire\\(|\\bimport\\()\\s*["\'][.@~#][^"\']*["\']|^\\s*(?:import|export)\\s+(?:type\\s*)?\\{\\s*$',
  py: '^\\s*(?:from\\s+[.\\w]+\\s+import\\b|import\\s+\\w[\\w.]*)',
  go: '^\\s*(?:import\\s+)?(?:[\\w.]+\\s+)?"[\\w.-]+(?:/[\\w.-]+)+"$|^module\\s',
  rust: '^\\s*(?:pub(?:\\([^)]*\\))?\\s+)?(?:use\\s+(?:crate|super|self)::|mod\\s+\\w+;)',
  jvm: '^import\\s+(?:static\\s+)?[\\w.]+',
};

/** Links among `files`, from the hits of searches with the patterns above. */
export function linksOf(hits: readonly Hit[], files: ReadonlySet<string>): readonly Link[] {
  const known = new Lookup(files, hits);
  const first = new Map<string, Link>();
  for (const [index, hit] of hits.entries()) {
    if (isComment(hit.text) || standsInString(hit.text)) continue;
    const typeOnly = isTypeOnly(hit, hits[index - 1]);
    for (const to of known.targets(hit)) {
      const from = hit.path.endsWith('.go') ? `${path.dirname(hit.path)}/` : hit.path;
      const before = first.get(`${from}\n${to}`);
      // Of several imports of the same file, one of values counts more than one of types.
      if (from !== to && (before === undefined || (before.typeOnly && !typeOnly)))
        first.set(`${from}\n${to}`, { from, to, hit, typeOnly });
    }
  }
  return [...first.values()];
}

const STARTS = /\bfrom\s*["']|\bimport\b|\brequire\(/;

/** The import itself is quoted, or stands behind a comment's beginning: it only speaks of one. */
function standsInString(text: string): boolean {
  const before = text.slice(0, STARTS.exec(text)?.index ?? 0);
  return /(?:^|\s)\/[/*]/.test(before) || ['"', "'", '`'].some((quote) => before.split(quote).length % 2 === 0);
}

/** `import type …`, `import { type A, type B } …`, and the last line of an import whose first line says `type`. */
function isTypeOnly({ path: file, text }: Hit, before: Hit | undefined): boolean {
  if (/^\s*(?:import|export)\s+type\b(?!\s*(?:,|from\b))/.test(text)) return true;
  const names = /^\s*(?:import|export)\s*\{([^}]*)\}\s*from/.exec(text)?.[1];
  if (names !== undefined) return names.split(',').every((name) => name.trim() === '' || /^\s*type\s+\w/.test(name));
  const opened = before?.path === file && /\{\s*$/.test(before.text) ? before.text : '';
  return /^\s*\}\s*from\b/.test(text) && /^\s*(?:import|export)\s+type\s*\{/.test(opened);
}

class Lookup {
  private readonly files: ReadonlySet<string>;
  private readonly folders: ReadonlySet<string>;
  /** The end of a path in dotted form -> the path: `a.b.C` for any `…/a/b/C.java`. */
  private readonly dotted = new Map<string, string>();
  private readonly goModule: string;

  constructor(files: ReadonlySet<string>, hits: readonly Hit[]) {
    this.files = files;
    this.folders = new Set([...files].filter((file) => file.endsWith('.go')).map((file) => `${path.dirname(file)}/`));
    for (const file of files) this.addDotted(file);
    const line = hits.find((hit) => /(?:^|\/)go\.mod$/.test(hit.path) && hit.text.startsWith('module '));
    this.goModule = line?.text.slice('module '.length).trim() ?? '';
  }

  targets(hit: Hit): readonly string[] {
    const kind = path.extname(hit.path);
    if (kind === '.py' || kind === '.pyi') return this.python(hit);
    if (kind === '.go') return this.go(hit.text);
    if (kind === '.rs') return this.rust(hit);
    if (/^\.(?:java|kts?|scala|groovy)$/.test(kind))
      return one(this.dottedName(/^import\s+(?:static\s+)?([\w.]+)/.exec(hit.text)?.[1] ?? ''));
    return one(this.script(hit));
  }

  private addDotted(file: string): void {
    const found = /^(.*?)(?:\/__init__)?\.(?:pyi?|java|kts?|scala|groovy)$/.exec(file)?.[1];
    if (found === undefined) return;
    const parts = found.split('/');
    for (let at = 0; at < parts.length; at += 1) {
      const name = parts.slice(at).join('.');
      if (!this.dotted.has(name)) this.dotted.set(name, file);
    }
  }

  /** The longest beginning of a dotted name that is a file: `a.b.C.method` -> `a/b/C.java`. A single word must be at the root. */
  private dottedName(name: string): string | undefined {
    const parts = name.split('.').filter((part) => part !== '');
    for (let length = parts.length; length > 0; length -= 1) {
      const file = this.dotted.get(parts.slice(0, length).join('.'));
      const whole = file?.replace(/(?:\/__init__)?\.\w+$/, '').split('/').length;
      if (file !== undefined && (length > 1 || whole === 1 || (whole === 2 && /^(?:src|lib)\//.test(file))))
        return file;
    }
    return undefined;
  }

  private script(hit: Hit): string | undefined {
    const target = /(?:\bfrom|^\s*import|\brequire\(|\bimport\()\s*["']([^"']+)["']/.exec(hit.text)?.[1] ?? '';
    if (!target.startsWith('.')) return undefined;
    const base = path.join(path.dirname(hit.path), target.replace(/[?#].*$/, ''));
    const bare = base.replace(/\.[cm]?jsx?$/, '');
    const kinds = ['ts', 'tsx', 'mts', 'cts', 'js', 'jsx', 'mjs', 'cjs', 'vue', 'svelte'];
    const names = [
      base,
      ...[bare, base].flatMap((name) => kinds.flatMap((kind) => [`${name}.${kind}`])),
      ...kinds.map((kind) => `${base}/index.${kind}`),
    ];
    return names.find((name) => this.files.has(name));
  }

  private python({ path: file, text }: Hit): readonly string[] {
    const from = /^\s*from\s+(\.*)([\w.]*)\s+import\s+(.*)$/.exec(text);
    if (from === null) return one(this.dottedName(captured(/^\s*import\s+([\w.]+)/, text)));
    const [, dots = '', module = '', names = ''] = from;
    if (dots === '') return one(this.dottedName(`${module}.${captured(/(\w+)/, names)}`) ?? this.dottedName(module));
    return this.pythonBeside(file, dots.length, module, names);
  }

  /** `from ..a import b`: the module a, or b inside the package a. */
  private pythonBeside(file: string, dots: number, module: string, names: string): readonly string[] {
    const folder = path.join(path.dirname(file), ...Array.from({ length: dots - 1 }, () => '..'), ...module.split('.'));
    const imported = names.split(',').map((name) => path.join(folder, name.trim().split(/\W/)[0] ?? ''));
    const places = [folder, ...imported].flatMap((place) => [`${place}.py`, `${place}/__init__.py`]);
    return places.filter((place) => this.files.has(place)).slice(0, 4);
  }

  private go(text: string): readonly string[] {
    const name = /"([^"]+)"/.exec(text)?.[1] ?? '';
    if (this.goModule === '' || !name.startsWith(`${this.goModule}/`)) return [];
    const folder = `${name.slice(this.goModule.length + 1)}/`;
    return this.folders.has(folder) ? [folder] : [];
  }

  private rust({ path: file, text }: Hit): readonly string[] {
    const module = /\bmod\s+(\w+);/.exec(text)?.[1];
    const stemmed = /(?:^|\/)(?:mod|lib|main)\.rs$/.test(file) ? path.dirname(file) : file.replace(/\.rs$/, '');
    if (module !== undefined)
      return [`${stemmed}/${module}.rs`, `${stemmed}/${module}/mod.rs`]
        .map((name) => path.normalize(name))
        .filter((name) => this.files.has(name))
        .slice(0, 1);
    const use = /\buse\s+(crate|super|self)::([\w:]+)/.exec(text);
    if (use === null) return [];
    const root =
      use[1] === 'crate'
        ? file.slice(0, Math.max(0, file.lastIndexOf('src/') + 3))
        : use[1] === 'super'
          ? path.dirname(stemmed)
          : stemmed;
    const parts = (use[2] ?? '').split('::').filter((part) => part !== '');
    for (let length = parts.length; length > 0; length -= 1) {
      const name = path.join(root, ...parts.slice(0, length));
      const found = [`${name}.rs`, `${name}/mod.rs`].find((each) => this.files.has(each));
      if (found !== undefined) return [found];
    }
    return [];
  }
}

const one = (file: string | undefined): readonly string[] => (file === undefined ? [] : [file]);

/** How many others import each, tests left out; most first. */
export function central(links: readonly Link[]): readonly { readonly path: string; readonly users: number }[] {
  const users = new Map<string, Set<string>>();
  for (const { from, to } of links.filter((link) => !isTest(link.from)))
    users.set(to, (users.get(to) ?? new Set()).add(from));
  return [...users]
    .map(([file, who]) => ({ path: file, users: who.size }))
    .toSorted((a, b) => b.users - a.users || (a.path < b.path ? -1 : 1));
}

/** Groups of files that import each other in a circle, each as one way round. Without those that only types close, unless asked for. */
export function cycles(links: readonly Link[], { types = false } = {}): readonly (readonly Link[])[] {
  const real = links.filter(({ typeOnly }) => types || !typeOnly);
  const next = new Map<string, Link[]>();
  for (const link of real) next.set(link.from, [...(next.get(link.from) ?? []), link]);
  const found: (readonly Link[])[] = [];
  const done = new Set<string>();
  for (const start of [...next.keys()].toSorted()) {
    const round = done.has(start) ? null : wayRound(start, next);
    if (round === null) continue;
    found.push(round);
    for (const { from } of round) done.add(from);
  }
  return found;
}

/** The shortest way from `start` back to itself, breadth first; null when there is none. */
function wayRound(start: string, next: ReadonlyMap<string, readonly Link[]>): readonly Link[] | null {
  const cameBy = new Map<string, Link>();
  const queue = [start];
  for (let at = queue.shift(); at !== undefined; at = queue.shift()) {
    for (const link of next.get(at) ?? []) {
      if (link.to === start) return [...wayTo(at, start, cameBy), link];
      if (cameBy.has(link.to)) continue;
      cameBy.set(link.to, link);
      queue.push(link.to);
    }
  }
  return null;
}

function wayTo(end: string, start: string, cameBy: ReadonlyMap<string, Link>): readonly Link[] {
  const way: Link[] = [];
  for (let link = end === start ? undefined : cameBy.get(end); link !== undefined; ) {
    way.unshift(link);
    link = link.from === start ? undefined : cameBy.get(link.from);
  }
  return way;
}

/** Lines that import one of these modules, by name; as many names as a search takes. */
export function importOf(paths: readonly string[]): string {
  const names = [...new Set(paths.map((path) => escaped(nameOf(path))))];
  while (names.join('|').length > 800) names.pop();
  return `(?:import|from|require|use|include)\\b.*[/."'\\s:](?:${names.join('|')})(?:["'./;\\s]|$)`;
}

/** What others write to import it: `index` and the like go by the name of their folder. */
export function nameOf(path: string): string {
  const parts = path.split('/');
  const file = (parts.at(-1) ?? '').replace(/\.\w+$/, '');
  return /^(?:index|mod|__init__|lib|main)$/.test(file) ? (parts.at(-2) ?? file) : file;
}

/** The shortest way by imports from one of `starts` to `goal`; null when there is none. */
export function wayBetween(links: readonly Link[], starts: readonly string[], goal: string): readonly Link[] | null {
  const next = Map.groupBy(links, ({ from }) => from);
  const cameBy = new Map<string, Link | null>(starts.map((start) => [start, null]));
  const queue = [...starts];
  for (let at = queue.shift(); at !== undefined; at = queue.shift()) {
    if (at === goal) return wayBack(goal, cameBy);
    for (const link of next.get(at) ?? []) {
      if (cameBy.has(link.to)) continue;
      cameBy.set(link.to, link);
      queue.push(link.to);
    }
  }
  return null;
}

function wayBack(goal: string, cameBy: ReadonlyMap<string, Link | null>): readonly Link[] {
  const way: Link[] = [];
  for (let link = cameBy.get(goal); link; link = cameBy.get(link.from)) way.unshift(link);
  return way;
}

/** How many files import `path`, themselves or through others. Tests are left out. */
export function reached(links: readonly Link[], path: string): number {
  const users = Map.groupBy(
    links.filter(({ from }) => !isTest(from)),
    ({ to }) => to,
  );
  const seen = new Set([path]);
  const queue = [path];
  for (let at = queue.shift(); at !== undefined; at = queue.shift()) {
    for (const { from } of users.get(at) ?? []) {
      if (seen.has(from)) continue;
      seen.add(from);
      queue.push(from);
    }
  }
  return seen.size - 1;
}
