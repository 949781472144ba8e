/**
 * What the analyst knows of languages, one row each, and what a path says of a file: source, test, example, foreign. Patterns are for
 * ripgrep and JavaScript alike; `NAME` in them is the name that is looked for.
 */
import { LONGEST_PATTERN } from './tools.ts';
import type { Hit } from './tools.ts';

export const LANGUAGES = ['js', 'py', 'go', 'java', 'c', 'rust', 'ruby', 'php', 'cs', 'shell'] as const;
export type LanguageName = (typeof LANGUAGES)[number];

interface Language {
  readonly label: string;
  readonly endings: readonly string[];
  /** How comments begin in it. */
  readonly comment: RegExp;
  /** Lines that define NAME, whatever the case of its first use. */
  readonly defines: readonly string[];
  /** Top-level lines that offer a name to other files; the first group that matched is the name. */
  readonly exports: string | null;
  /** Lines that import a file of the project. */
  readonly imports: string | null;
  /** Lines at which a program starts. */
  readonly starts: string | null;
  /** Names of files that are tests in whatever folder. */
  readonly tests: RegExp;
}

/** One datum a line: language, what it is, and its value. Several lines of a kind are alternatives. */
const ROWS = String.raw`
js    label   TypeScript and JavaScript
js    endings ts tsx mts cts js jsx mjs cjs vue svelte
js    comment ^\s*(?:\/\/|\/\*|\*(?:[\s/*]|$))
js    defines ^\s*(?:(?:export|default|declare|abstract|async)\s+)*(?:function\s*\*?|class|interface|type|enum|namespace|module|const|let|var)\s+NAME\b
js    defines ^\s*(?:(?:public|private|protected|static|async|override|readonly|get|set)\s+)*\*?\s*#?NAME\s*(?:<[^>]*>)?\([^;]*\)\s*(?::[^;]*)?\{\s*$
js    defines ^\s*(?:static\s+|readonly\s+)*NAME\s*[:=]\s*(?:async\s*)?(?:function\b|\([^)]*\)\s*(?::[^=]*)?=>|\w+\s*=>)
js    defines ^\s*[\w$.]+\.NAME\s*=\s*(?:async\s*)?(?:function\b|class\b|\([^)]*\)\s*=>|\w+\s*=>|[\w.]+\s*=\s*function\b)
js    exports ^export\s+(?:default\s+)?(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?(?:function\s*\*?|class|interface|type|enum|const|let|var)\s+([A-Za-z_$][\w$]*)|^(?:module\.)?exports\.([A-Za-z_$][\w$]*)\s*=|^module\.exports\s*=\s*(?:\{|[A-Za-z_$][\w$]*;?\s*$|(?:async\s+)?function|class)
js    imports (?:\bfrom|^\s*import|\brequire\(|\bimport\()\s*["'][.][^"']*["']|^\s*(?:import|export)\s+(?:type\s*)?\{\s*$
js    starts  ^#!.*\b(?:node|deno|bun|tsx)\b|\brequire\.main === module\b|\bimport\.meta\.main\b|^(?:\w+\s*=\s*)?(?:app|server)\.listen\(
js    tests   [._-](?:test|spec|tests|e2e|cy)(?:-d)?\.[cm]?[jt]sx?$
py    label   Python
py    endings py pyi
py    comment ^\s*#(?!!)
py    defines ^\s*(?:async\s+)?def\s+NAME\s*[(\[]
py    defines ^\s*class\s+NAME\s*[(:\[]
py    defines ^NAME\s*(?::[^=]+)?=[^=]
py    exports ^(?:async\s+)?(?:def|class)\s+([A-Za-z]\w*)
py    imports ^\s*(?:from\s+[.\w]+\s+import\b|import\s+\w[\w.]*)
py    starts  ^if __name__\s*==\s*['"]__main__['"]|^#!.*\bpython
py    tests   (?:^|\/)(?:test_[^/]*|[^/]*_test|conftest)\.pyi?$
go    label   Go
go    endings go
go    comment ^\s*(?:\/\/|\/\*|\*(?:[\s/*]|$))
go    defines ^func\s+(?:\([^)]*\)\s*)?NAME\s*[(\[]
go    defines ^\s*(?:type|var|const)\s+NAME\b
go    defines ^\tNAME\s+(?:struct|interface|func)\b
go    defines ^\tNAME\s+(?:\w+\s+)?=\s
go    exports ^(?:func|type|var|const)\s+([A-Z]\w*)
go    imports ^\s*(?:import\s+)?(?:[\w.]+\s+)?"[\w.-]+(?:/[\w.-]+)+"$
go    starts  ^func main\(\)
go    tests   _test\.go$
java  label   Java and Kotlin
java  endings java kt kts scala groovy
java  comment ^\s*(?:\/\/|\/\*|\*(?:[\s/*]|$))
java  defines ^\s*(?:(?:public|private|protected|internal|static|final|abstract|synchronized|native|default|override|open|virtual|sealed|async|readonly|partial|suspend|inline|data|implicit|lazy)\s+)*(?:class|interface|enum|record|object|trait|fun|val|var|def|@interface)\s+NAME\b
java  defines ^\s*(?:(?:public|private|protected|internal|static|final|abstract|synchronized|native|default|override|open|virtual|sealed|async|readonly|partial|suspend|inline|data|implicit|lazy)\s+)+(?:<[^>]*>\s*)?(?:[A-Za-z_][\w.:]*(?:<[^()]*>)?(?:\[\])*[\s*&?]+)?NAME\s*[(=;]
java  defines ^\s+(?:[A-Za-z_][\w.:]*(?:<[^()]*>)?(?:\[\])*[\s*&?]+)NAME\s*\([^;=]*\)\s*(?:throws [\w., ]+)?\{\s*$
java  defines ^\s+(?:<[^>]*>\s*)?(?:[A-Za-z_][\w.:]*(?:<[^()]*>)?(?:\[\])*[\s*&?]+)NAME\s*\([^{};=]*\)(?:\s*throws [\w., ]+)?;
java  exports ^(?:(?:public|private|protected|internal|static|final|abstract|synchronized|native|default|override|open|virtual|sealed|async|readonly|partial|suspend|inline|data|implicit|lazy)\s+)*(?:class|interface|enum|record|object|trait|@interface)\s+([A-Za-z]\w*)
java  imports ^import\s+(?:static\s+)?[\w.]+
java  starts  \bpublic\s+static\s+void\s+main\s*\(|^fun main\(|^@SpringBootApplication
java  tests   (?:Test|Tests|TestCase|IT|Spec)\.(?:java|kt|scala|groovy)$
c     label   C and C++
c     endings c h cc cpp cxx hpp hh inl
c     comment ^\s*(?:\/\/|\/\*|\*(?:[\s/*]|$))
c     defines ^[A-Za-z_][\w\s*&:<>,~]*[\s*&:~]NAME\s*\([^;]*$
c     defines ^NAME\s*\([^;]*$
c     defines ^\s*#\s*define\s+NAME\b
c     defines ^\s*(?:template\s*<[^>]*>\s*)?(?:typedef\s+)?(?:struct|union|enum(?:\s+class)?|class|namespace)\s+(?:[A-Z_]+\s+)?NAME\s*(?:final\s*)?(?::[^:]|\{|$)
c     defines ^\s*typedef\b.*\bNAME\s*;|^\s*\}\s*NAME\s*;|^using\s+NAME\s*=
c     defines ^(?:static\s+|const\s+|extern\s+)*[A-Za-z_][\w\s*]*[\s*]NAME\s*(?:\[[^\]]*\]\s*)?=
c     defines ^[A-Za-z_][\w\s*]*[\s*]NAME\s*\([^;]*\)[^;{]*;
c     exports ^(?:[A-Za-z_]\w*[\s*]+)+\**([A-Za-z_]\w*)\s*\([^;]*$
c     imports ^\s*#\s*include\s*"[^"]+"
c     starts  ^(?:int|void)\s+main\s*\(|^main\s*\(
c     tests   (?:^|\/)(?:test_[^/]*|[^/]*_test|[^/]*_unittest)\.(?:c|cc|cpp|cxx)$
rust  label   Rust
rust  endings rs
rust  comment ^\s*(?:\/\/|\/\*|\*(?:[\s/*]|$))
rust  defines ^\s*(?:pub(?:\([^)]*\))?\s+)?(?:(?:default|const|async|unsafe|extern(?:\s+"[^"]*")?)\s+)*(?:fn|struct|enum|trait|type|mod|const|static|union)\s+(?:mut\s+)?NAME\b
rust  defines ^\s*macro_rules!\s+NAME\b
rust  exports ^pub\s+(?:(?:const|async|unsafe)\s+)*(?:fn|struct|enum|trait|type|const|static|union)\s+(?:mut\s+)?([A-Za-z_]\w*)
rust  imports ^\s*#\[cfg\(test\)\]|^\s*(?:pub(?:\([^)]*\))?\s+)?(?:use\s+(?:crate|super|self)::|mod\s+\w+;)
rust  starts  ^(?:async\s+)?(?:pub\s+)?fn main\(\)
rust  tests   (?:^|\/)tests?\.rs$
ruby  label   Ruby
ruby  endings rb rake gemspec
ruby  comment ^\s*#(?!!)
ruby  defines ^\s*def\s+(?:self\.|\w+\.)?NAME(?:\W|$)
ruby  defines ^\s*(?:class|module)\s+(?:\w+::)*NAME\b
ruby  defines ^\s*NAME\s*=[^=~]
ruby  defines ^\s*(?:attr_\w+|alias_method|define_method|scope)\b.*:NAME\b
ruby  exports ^\s{0,4}(?:class|module)\s+(?:\w+::)*([A-Z]\w*)
ruby  imports ^\s*(?:require|require_relative|load|autoload\s+:\w+,)\s*\(?\s*["'][\w./-]+["']
ruby  starts  ^#!.*\bruby|^if (?:__FILE__ == \$0|\$0 == __FILE__)
ruby  tests   (?:_test|_spec)\.rb$|(?:^|\/)test_[^/]*\.rb$
php   label   PHP
php   endings php
php   comment ^\s*(?:\/\/|\/\*|\*(?:[\s/*]|$)|#(?!\[))
php   defines ^\s*(?:(?:public|private|protected|static|abstract|final|readonly)\s+)*(?:function\s+&?|class\s+|interface\s+|trait\s+|enum\s+|const\s+)NAME\b
php   defines ^\s*define\(\s*['"]NAME['"]
php   exports ^(?:(?:abstract|final|readonly)\s+)*(?:function\s+&?|class\s+|interface\s+|trait\s+|enum\s+)([A-Za-z_]\w*)
php   imports ^\s*use\s+[\w\\]+|\b(?:require|include)(?:_once)?\b.*["'][^"']+\.php["']
php   starts  ^#!.*\bphp
php   tests   (?:Test|TestCase)\.php$
cs    label   C#
cs    endings cs
cs    comment ^\s*(?:\/\/|\/\*|\*(?:[\s/*]|$))
cs    defines ^\s*(?:(?:public|private|protected|internal|static|final|abstract|synchronized|native|default|override|open|virtual|sealed|async|readonly|partial|suspend|inline|data|implicit|lazy)\s+)*(?:class|interface|struct|enum|record|delegate\s+\S+|namespace)\s+NAME\b
cs    defines ^\s*(?:(?:public|private|protected|internal|static|final|abstract|synchronized|native|default|override|open|virtual|sealed|async|readonly|partial|suspend|inline|data|implicit|lazy)\s+)+(?:[A-Za-z_][\w.:]*(?:<[^()]*>)?(?:\[\])*[\s*&?]+)?NAME\s*(?:<[^>]*>)?\s*(?:[({=;]|=>|$)
cs    exports ^\s{0,4}public\s+(?:(?:static|sealed|abstract|partial|readonly)\s+)*(?:class|interface|struct|enum|record)\s+([A-Za-z]\w*)
cs    starts  \bstatic\s+(?:async\s+)?(?:void|int|Task(?:<int>)?)\s+Main\s*\(
cs    tests   (?:Test|Tests)\.cs$
shell label   Shell
shell endings sh bash zsh
shell comment ^\s*#(?!!)
shell defines ^\s*(?:function\s+)?NAME\s*\(\)
shell defines ^\s*function\s+NAME\b
shell defines ^\s*(?:export\s+|readonly\s+|local\s+|declare\s+(?:-\w+\s+)*)?NAME=
shell exports ^(?:function\s+([A-Za-z_]\w*)|([A-Za-z_]\w*)\s*\(\))
shell imports ^\s*(?:\.|source)\s+[\w./"$-]+
shell tests   (?:[._-]test|_spec)\.(?:sh|bash)$
`;

const CELLS = ROWS.trim()
  .split('\n')
  .map((row) => /^(\w+)\s+(\w+)\s+(.*)$/.exec(row)?.slice(1) ?? []);
const cells = (name: LanguageName, kind: string): readonly string[] =>
  CELLS.flatMap(([language, what, value]) => (language === name && what === kind ? [value ?? ''] : []));

function languageRow(name: LanguageName): Language {
  const one = (kind: string): string | null => cells(name, kind)[0] ?? null;
  return {
    label: one('label') ?? name,
    endings: cells(name, 'endings').flatMap((all) => all.split(' ')),
    comment: new RegExp(one('comment') ?? '$^'),
    defines: cells(name, 'defines'),
    exports: one('exports'),
    imports: one('imports'),
    starts: one('starts'),
    tests: new RegExp(one('tests') ?? '$^'),
  };
}

export const TABLE: ReadonlyRecord = {
  js: languageRow('js'),
  py: languageRow('py'),
  go: languageRow('go'),
  java: languageRow('java'),
  c: languageRow('c'),
  rust: languageRow('rust'),
  ruby: languageRow('ruby'),
  php: languageRow('php'),
  cs: languageRow('cs'),
  shell: languageRow('shell'),
};
type ReadonlyRecord = Readonly<Record<LanguageName, Language>>;

/** A glob for the files of these languages. */
export function globFor(names: readonly LanguageName[]): string {
  const endings = names.flatMap((name) => TABLE[name].endings);
  return endings.length === 1 ? `*.${endings[0] ?? ''}` : `*.{${endings.join(',')}}`;
}

const BY_ENDING = new Map(LANGUAGES.flatMap((name) => TABLE[name].endings.map((ending) => [ending, name] as const)));

/** The language of a file, by its ending. */
export const languageOf = (path: string): LanguageName | undefined => BY_ENDING.get(/\.(\w+)$/.exec(path)?.[1] ?? '');

export const isSource = (path: string): boolean =>
  languageOf(path) !== undefined && !/\.min\.\w+$|\.d\.[cm]?ts$/.test(path);

/** Languages of `paths`, most files first. */
export function languagesIn(paths: readonly string[]): readonly LanguageName[] {
  const groups = Map.groupBy(paths, (path) => languageOf(path));
  return LANGUAGES.filter((name) => groups.has(name)).toSorted(
    (a, b) => (groups.get(b)?.length ?? 0) - (groups.get(a)?.length ?? 0),
  );
}

const TEST_FOLDER = /(?:^|\/)(?:tests?|__tests__|spec|specs|e2e|testdata|test-data|fixtures|testsuite|__mocks__)\//;

/** A test by its name or its folder; data of tests counts too. A `tests.py` in a folder of the program is none. */
export function isTest(path: string): boolean {
  const language = languageOf(path);
  return (
    TEST_FOLDER.test(path) || (language !== undefined && TABLE[language].tests.test(path)) || path.endsWith('.bats')
  );
}

/** Beside the program itself: examples, measurements, scripts, documents. */
export const isAside = (path: string): boolean =>
  /(?:^|\/)(?:examples?|samples?|demos?|bench(?:mark)?s?|scripts?|docs?|tools|website|integration|\.[\w-]+)\//i.test(
    path,
  ) || /(?:^|\/)[\w.-]*\.config\.\w+$|^(?:setup|conf|gulpfile|Gruntfile)\.\w+$|(?:^|\/)\.\w+rc\.\w+$/.test(path);

/** Not the project's own work, or data: vendored, generated, translations. */
export const isForeign = (path: string): boolean =>
  /(?:^|\/)(?:node_modules|vendor|third_party|thirdparty|dist|build|out|target|bower_components|generated|__generated__|locales?|i18n|translations|debian)\/|\.min\.\w+$|\.(?:pb|generated|gen)\.\w+$|(?:^|\/)package-lock\.json$/.test(
    path,
  );

/** Where one looks first: code in source folders, then other code, then examples, tests and foreign files. */
export const rankOf = (path: string): number =>
  isForeign(path)
    ? 5
    : isTest(path)
      ? 4
      : isAside(path)
        ? 3
        : !isSource(path)
          ? 2
          : /^(?:src|lib|pkg|packages)\//.test(path)
            ? 0
            : 1;

/** A line that only comments. Within a block comment only lines with a sign of their own can be told. */
export function isComment({ path, text }: Pick<Hit, 'path' | 'text'>): boolean {
  const language = languageOf(path);
  return language === undefined ? /^\s*(?:\/\/|\/\*|#|<!--|--\s)/.test(text) : TABLE[language].comment.test(text);
}

/** Whether the place in a line is behind the beginning of a comment. */
export const isInComment = (hit: Hit, at: number): boolean =>
  isComment(hit) || /(?:^|\s)(?:\/\/|\/\*|#(?!\w)|<!--|--\s|;;|%\s)/.test(hit.text.slice(0, at));

/** Whether the place in a line is inside of a string, as far as the quotes before it tell. */
export const isInString = (text: string, at: number): boolean =>
  ['"', "'", '`'].some((quote) => text.slice(0, at).replaceAll(`\\${quote}`, '').split(quote).length % 2 === 0);

/** The pattern of lines that define one of `names` in a language; names are regular expressions. As many as a search takes. */
export function definitionPattern(language: LanguageName, names: readonly string[]): string {
  const some = [...names];
  const pattern = (): string =>
    TABLE[language].defines.join('|').replaceAll('NAME', some.length === 1 ? (some[0] ?? '') : `(?:${some.join('|')})`);
  while (some.length > 1 && pattern().length > LONGEST_PATTERN) some.pop();
  return pattern();
}

/** A statement that only looks like a definition. */
const STATEMENT =
  /^\s*(?:return|throw|new|else|await|yield|delete|typeof|case|goto|using\s+\(|import\b|from\b|export\s*(?:type\s*)?\{|\}\s*from\b|if|for|while|switch|catch)\b/;

/** A line that could define something: no comment, no statement. */
export const isDefinition = (hit: Hit): boolean =>
  !isComment(hit) && !STATEMENT.test(hit.text) && !/=\s*(?:await\s+)?(?:require|import)\s*\(/.test(hit.text);

/** A prototype tells of a function and defines none. */
export const isPrototype = (hit: Hit): boolean =>
  languageOf(hit.path) === 'c' && /^(?!return\b)[A-Za-z_][\w\s*]*[\s*]\w+\s*\([^{}]*\)[^{]*;\s*$/.test(hit.text);

/** Names that a line offers to other files. What is static in C, and what a header only declares, is not offered there. */
export function exportsIn({ path, text }: Pick<Hit, 'path' | 'text'>): readonly string[] {
  const language = languageOf(path);
  const pattern = language === undefined ? null : TABLE[language].exports;
  if (pattern === null || (language === 'c' && (isHeader(path) || NO_EXPORT.test(text)))) return [];
  const several = MODULE_EXPORTS.exec(text);
  const name = several === null ? new RegExp(pattern).exec(text)?.slice(1).find(Boolean) : (several[1] ?? several[2]);
  return (name ?? '').split(',').flatMap((one) => /^\s*([A-Za-z_$][\w$]*)/.exec(one)?.[1] ?? []);
}

const NO_EXPORT = /\b(?:static|typedef)\b|\bmain\s*\(|^\s*(?:else|return)\b/;
const MODULE_EXPORTS =
  /^module\.exports\s*=\s*(?:\{(.*)\}|(?:(?:async\s+)?function\s*\*?|class)?\s*([A-Za-z_$][\w$]*)\b)/;

export const isHeader = (path: string): boolean => /\.(?:h|hpp|hh)$/.test(path);
