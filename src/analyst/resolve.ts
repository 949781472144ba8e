/** Which file of the project an import leads to; what can't be resolved is left out, never guessed. */
import { posix as path } from 'node:path';
import { languageOf, TABLE } from './languages.ts';
import type { Hit } from './tools.ts';
import { captured } from './words.ts';

/** How the file of a module of Python ends. */
const PYTHON = ['.py', '/__init__.py', '.pyi', '/__init__.pyi'];

/** Resolves imports by the files that were seen. */
export class Lookup {
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
