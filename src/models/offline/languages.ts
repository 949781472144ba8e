/**
 * What the analyst knows of languages: patterns for definitions, entry points and tests. Written for ripgrep's and
 * JavaScript's regular expressions alike. Data and its few readers; what is made of hits is the roles'.
 */
import { patternOf } from './words.ts';
import type { Term } from './words.ts';

/** Groups of extensions that are searched together. `any` is every language. */
export const LANGUAGES = {
  js: ['ts', 'tsx', 'mts', 'cts', 'js', 'jsx', 'mjs', 'cjs', 'vue', 'svelte'],
  py: ['py', 'pyi'],
  go: ['go'],
  rust: ['rs'],
  jvm: ['java', 'kt', 'kts', 'scala', 'groovy'],
  c: ['c', 'h', 'cc', 'cpp', 'cxx', 'hpp', 'hh'],
  ruby: ['rb'],
  php: ['php'],
  shell: ['sh', 'bash', 'zsh'],
} as const;
export type LanguageName = keyof typeof LANGUAGES;

export const LANGUAGE_NAMES: readonly LanguageName[] = ['js', 'py', 'go', 'rust', 'jvm', 'c', 'ruby', 'php', 'shell'];

/** A glob for the files of these languages: `*.{ts,js}`. */
export function globFor(names: readonly LanguageName[]): string {
  const extensions = names.flatMap((name): readonly string[] => LANGUAGES[name]);
  return extensions.length === 1 ? `*.${extensions[0] ?? ''}` : `*.{${extensions.join(',')}}`;
}

/** Every language whose imports can be followed, for a listing. */
export const SOURCE_GLOB = globFor(['js', 'py', 'go', 'rust', 'jvm', 'c', 'ruby', 'php']);

/** Languages that `paths` are written in, by extension. */
export const languagesIn = (paths: readonly string[]): readonly LanguageName[] =>
  LANGUAGE_NAMES.filter((name) =>
    paths.some((path) => LANGUAGES[name].some((extension) => path.endsWith(`.${extension}`))),
  );

/** Extensions that hold source code. */
const SOURCE =
  /\.(?:[cm]?[jt]sx?|vue|svelte|py|pyi|go|rs|java|kt|kts|scala|groovy|rb|php|c|h|cc|cpp|cxx|hpp|hh|cs|fs|swift|m|mm|dart|ex|exs|erl|hs|ml|clj|lua|pl|pm|r|jl|sh|bash|zsh|ps1|sql|zig|nim|elm|cr|d|asm|s|vb|pas|f90|tcl|lisp|el|scm|sol)$/i;

export const isSource = (path: string): boolean => SOURCE.test(path) && !/\.min\.\w+$|\.d\.[cm]?ts$/.test(path);

/** A test by its name or folder, in the usual manners of the languages. */
export const isTest = (path: string): boolean =>
  /(?:^|\/)(?:tests?|__tests__|specs?|testing|e2e|testdata|fixtures)\/|(?:^|\/)(?:test_[^/]*|conftest)\.py$|(?:[._-](?:test|spec|tests|e2e|cy)|_test|Test|Tests|Spec|IT)\.\w+$|(?:^|\/)tests?\.\w+$/.test(
    path,
  );

/** Where tests lie, for a listing. */
export const TEST_GLOB =
  '{**/test/**,**/tests/**,**/__tests__/**,**/spec/**,*.test.*,*.spec.*,*_test.*,test_*.py,*Test.java,*Tests.java,*Test.kt,*Spec.scala,*_spec.rb}';

/** Beside the program itself: examples, measurements, scripts of the house, documents. */
export const isAside = (path: string): boolean =>
  /^(?:[\w.-]+\/){0,2}(?:examples?|samples?|demos?|bench(?:mark)?s?|scripts?|docs?|tools|website|\.\w+)\//i.test(path);

/** Not the project's own work, or not worth a look: vendored, generated, examples of data. */
export const isForeign = (path: string): boolean =>
  /(?:^|\/)(?:node_modules|vendor|third_party|thirdparty|dist|build|out|target|bower_components|\.yarn|generated|__generated__)\/|\.min\.\w+$|\.(?:pb|generated|gen)\.\w+$/.test(
    path,
  );

const BUILT = /(?:^|\/)(?:dist|build|out|target)\//g;

/** What is foreign in this repository: where nearly all sources lie in dist/ or the like, those are what it is made of. */
export function foreignAmong(names: readonly string[]): (path: string) => boolean {
  const sources = names.filter(isSource);
  const own = sources.filter((name) => !isForeign(name));
  if (own.length * 5 >= sources.length) return isForeign;
  return (path) => isForeign(path.replaceAll(BUILT, '/'));
}

const WORDS_BEFORE =
  'function\\*?|class|interface|type|enum|const|let|var|val|def|fn|func|fun|struct|trait|impl|mod|module|object|record|union|protocol|extension|namespace|package|macro_rules!|defmodule|defp?|sub|proc';

/** Lines that define something whose name holds one of `terms`; paths are no names and are left out. */
export function definitionPattern(terms: readonly Term[]): string {
  const names = terms.filter((term) => term.is !== 'path').map((term) => patternOf(term));
  while (names.length > 1 && definitionsOf(names).length > LONGEST_PATTERN) names.pop();
  return definitionsOf(names);
}

/** What a search takes. */
const LONGEST_PATTERN = 1000;

function definitionsOf(names: readonly string[]): string {
  const name = `\\w*(?:${names.join('|')})\\w*`;
  return [
    `\\b(?:${WORDS_BEFORE})\\s+(?:\\([^)]*\\)\\s*)?(?:mut\\s+)?${name}`,
    `\\b(?:public|private|protected|static|final|virtual|override|internal)\\s[\\w<>\\[\\], .?]*\\b${name}\\s*\\(`,
    `^\\s*(?:async\\s+|static\\s+|get\\s+|set\\s+)?${name}\\s*[:=]\\s*(?:async\\s*)?(?:function\\b|\\([^)]*\\)\\s*(?::[^=]*)?=>)`,
    `^\\s*(?:async\\s+|static\\s+|get\\s+|set\\s+|\\*\\s*)?${name}\\([^)]*\\)\\s*(?::\\s*[^={]+)?\\{\\s*$`,
    `^#define\\s+${name}`,
    `^(?:module\\.)?exports\\.${name}\\s*=`,
  ].join('|');
}

/** What a definition line defines: its name, or null. */
export function definedName(line: string): string | null {
  const found = new RegExp(`\\b(?:${WORDS_BEFORE})\\s+(?:\\([^)]*\\)\\s*)?(?:mut\\s+)?([A-Za-z_$][\\w$]*)`).exec(line);
  return found?.[1] ?? null;
}

/** A line that only comments: its hits are words, not code. */
export const isComment = (text: string): boolean =>
  /^\s*(?:\/\/|\/?\*|#(?!!|define|include|\[)|--\s|<!--|"""|''')/.test(text);

/** A line that could define something: no comment, and no import that only names it. */
export const isDefinition = (text: string): boolean =>
  !isComment(text) &&
  !/=\s*(?:await\s+)?(?:require|import)\s*\(/.test(text) &&
  !/^\s*(?:import\b|export\s*(?:type\s*)?\{|from\s|\}\s*from\b|use\s)/.test(text);
