/**
 * Measures how the sources are divided: sizes, circles of imports, entrances, wide interfaces, repeated sentences. Types count as
 * imports, since a reader has to follow them as well.
 */
import { globSync, readFileSync } from 'node:fs';
import { posix as path } from 'node:path';

/** Modules with an entrance of their own: folders right below these, and all other folders right below `src`. */
const DIVIDED = ['engine', 'app', 'ui'];
/** Modules that hide nothing. */
const OPEN = ['src/domain', 'src/ports'];
/** One file is one row of a table there. */
const ROWS = ['src/app/actions', 'src/cli/commands'];

export interface Source {
  readonly file: string;
  readonly lines: number;
  /** Lines with more than blanks and comments. */
  readonly codeLines: number;
  /** Without comments and the contents of strings. */
  readonly code: string;
  readonly strings: readonly string[];
  /** Files of `src` that it imports, statically or not. */
  readonly imports: readonly string[];
}

export interface Circle {
  readonly folder: string;
  /** Files or folders of that folder that import each other. */
  readonly parts: readonly string[];
}

const IMPORT = /(?:^|[\n;])\s*(?:import|export)\b[^;'"`]*?['"](\.[^'"]+)['"]|\bimport\(\s*['"](\.[^'"]+)['"]/g;

/** All sources below `src`, declarations of foreign packages left out. Throws where one can't be read. */
export function readSources(root: string): readonly Source[] {
  const files = globSync('src/**/*.ts', { cwd: root })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => !file.endsWith('.d.ts'))
    .toSorted();
  const known = new Set(files);
  return files.map((file) => {
    const text = readFileSync(path.join(root, file), 'utf8');
    const { code, withStrings, strings } = withoutComments(text);
    const imports = [...withStrings.matchAll(IMPORT)]
      .map(([, one, other]) => path.join(path.dirname(file), one ?? other ?? ''))
      .filter((target) => known.has(target));
    const codeLines = withStrings.split('\n').filter((line) => line.trim() !== '').length;
    return { file, lines: text.split('\n').length - 1, codeLines, code, strings, imports: [...new Set(imports)] };
  });
}

/** A comment, a string, a template or a regular expression; the last only where an expression can begin. */
const PART =
  /\/\*[^]*?\*\/|\/\/[^\n]*|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\[^])*`|(?<=[=(,:[!&|?{};\n]\s*|return\s)\/(?![*/])(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/\w*/g;

function withoutComments(text: string): Pick<Source, 'code' | 'strings'> & { readonly withStrings: string } {
  const strings: string[] = [];
  const blank = (part: string): string => part.replaceAll(/[^\n]/g, ' ');
  const isComment = (part: string): boolean => part.startsWith('//') || part.startsWith('/*');
  const code = text.replaceAll(PART, (part) => {
    if (isComment(part)) return blank(part);
    if (/^['"`]/.test(part)) strings.push(part.slice(1, -1));
    return blank(part);
  });
  return { code, strings, withStrings: text.replaceAll(PART, (part) => (isComment(part) ? blank(part) : part)) };
}

/** Circles among the files and folders of each folder. A file in a folder stands for it when it imports from outside. */
export function circlesOf(sources: readonly Source[]): readonly Circle[] {
  const folders = new Set(sources.flatMap(({ file }) => foldersOf(file)));
  return [...folders].toSorted().flatMap((folder) => {
    const childOf = (file: string): string | null =>
      file.startsWith(`${folder}/`) ? `${folder}/${file.slice(folder.length + 1).split('/')[0]}` : null;
    const out = new Map<string, Set<string>>();
    for (const { file, imports } of sources) {
      const from = childOf(file);
      if (from === null) continue;
      for (const to of imports.map(childOf)) {
        if (to === null || to === from) continue;
        out.set(from, (out.get(from) ?? new Set()).add(to));
      }
    }
    return componentsOf(out).map((parts) => ({ folder, parts }));
  });
}

/** The strongly connected parts of more than one node: what each reaches and is reached by. */
function componentsOf(out: ReadonlyMap<string, ReadonlySet<string>>): readonly (readonly string[])[] {
  const reached = new Map([...out.keys()].map((node) => [node, reachOf(node, out)]));
  const seen = new Set<string>();
  return [...out.keys()].flatMap((node) => {
    if (seen.has(node) || reached.get(node)?.has(node) !== true) return [];
    const parts = [...(reached.get(node) ?? [])].filter((other) => reached.get(other)?.has(node) === true).toSorted();
    for (const part of parts) seen.add(part);
    return [parts];
  });
}

function reachOf(start: string, out: ReadonlyMap<string, ReadonlySet<string>>): ReadonlySet<string> {
  const reached = new Set<string>();
  const todo = [...(out.get(start) ?? [])];
  for (let node = todo.pop(); node !== undefined; node = todo.pop()) {
    if (reached.has(node)) continue;
    reached.add(node);
    todo.push(...(out.get(node) ?? []));
  }
  return reached;
}

const foldersOf = (file: string): readonly string[] => {
  const parts = file.split('/').slice(0, -1);
  return parts.map((_, at) => parts.slice(0, at + 1).join('/'));
};

/** Folders of more files than `most`, tables left out. */
export function crowdedFolders(sources: readonly Source[], most: number): readonly string[] {
  const count = countBy(sources, ({ file }) => path.dirname(file));
  return [...count].filter(([folder, files]) => files > most && !ROWS.includes(folder)).map(([folder]) => folder);
}

/** Folders below more than `most` others. */
export const deepFolders = (sources: readonly Source[], most: number): readonly string[] =>
  [...new Set(sources.map(({ file }) => path.dirname(file)))].filter((folder) => folder.split('/').length > most + 1);

/** `folder/prefix` of more than `most` files whose names begin with the same word: a module that has not been made. */
export function prefixFamilies(sources: readonly Source[], most: number): readonly string[] {
  const count = countBy(
    sources,
    ({ file }) => `${path.dirname(file)}/${path.basename(file, '.ts').split('-')[0] ?? ''}`,
  );
  return [...count].filter(([, files]) => files > most).map(([family]) => family);
}

function countBy<T>(all: readonly T[], keyOf: (one: T) => string): ReadonlyMap<string, number> {
  const count = new Map<string, number>();
  for (const one of all) count.set(keyOf(one), (count.get(keyOf(one)) ?? 0) + 1);
  return count;
}

const SHAPE = /(?:^|\n)(?:export )?(?:interface (\w+)[^{]*\{|type (\w+)[^=\n]*= (?:Readonly<)?\{)([^]*?)\n\}/g;
const MEMBER = /^ {2}[\w'"[(]/;
const FUNCTION = /^ {2}(?:readonly )?\w+\??\s*(?:<[^>]*>)?\(|=>/;

/** Interfaces of more than `most` members: with a function among them, or records of data alone. */
export function wideInterfaces(
  sources: readonly Source[],
  what: 'collaborators' | 'records',
  most: number,
): readonly string[] {
  return sources.flatMap(({ file, code }) =>
    [...code.matchAll(SHAPE)].flatMap(([, one, other, body = '']) => {
      const members = body.split('\n').filter((line) => MEMBER.test(line));
      const acts = members.some((line) => FUNCTION.test(line));
      return acts === (what === 'collaborators') && members.length > most ? [`${one ?? other} in ${file}`] : [];
    }),
  );
}

/** The module that a file belongs to; null of the program's own first file. */
function moduleOf(file: string): string | null {
  const [, first = '', second = '', third] = file.split('/');
  if (second === '') return null;
  return DIVIDED.includes(first) && third !== undefined ? `src/${first}/${second}` : `src/${first}`;
}

/** `from -> to` for each import of another module that goes past its entrance; `entrances` are further ones. */
export function pastEntrances(sources: readonly Source[], entrances: readonly string[]): readonly string[] {
  return sources.flatMap(({ file, imports }) =>
    imports
      .filter((target) => {
        const home = moduleOf(target);
        const isEntered =
          home === null || OPEN.includes(home) || target === `${home}/index.ts` || entrances.includes(target);
        return !isEntered && moduleOf(file) !== home;
      })
      .map((target) => `${file} -> ${target}`),
  );
}

/** Sentences of five words and more in the strings of more than one file; parts that are filled in count as equal. */
export function repeatedSentences(sources: readonly Source[]): readonly string[] {
  const files = new Map<string, Set<string>>();
  for (const { file, strings } of sources) {
    for (const text of strings.map((one) => one.replaceAll(/\$\{[^}]*\}/g, '…'))) {
      if (!/^[A-Za-z]/.test(text) || text.length < 25 || /[\n{}]/.test(text)) continue;
      if (text.trim().split(/\s+/).length >= 5) files.set(text, (files.get(text) ?? new Set()).add(file));
    }
  }
  return [...files].filter(([, where]) => where.size > 1).map(([text]) => text);
}
