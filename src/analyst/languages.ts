/**
 * What the analyst knows of languages: one row of `data/languages.json` each. Patterns there are for ripgrep and JavaScript alike.
 * `NAME` in them is the name that is looked for, `MODIFIER` a word before a declaration, `TYPE` a type before a name.
 */
import ROWS from './data/languages.json' with { type: 'json' };

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

const MODIFIER =
  '(?:public|private|protected|internal|static|final|abstract|synchronized|native|default|override|open|virtual|sealed|async|readonly|partial|suspend|inline|data|implicit|lazy)';
const TYPE = String.raw`(?:[A-Za-z_][\w.:]*(?:<[^()]*>)?(?:\[\])*[\s*&?]+)`;
const filled = (pattern: string): string => pattern.replaceAll('MODIFIER', MODIFIER).replaceAll('TYPE', () => TYPE);

function languageFrom(name: LanguageName): Language {
  const row = ROWS[name];
  return {
    ...row,
    endings: row.endings.split(' '),
    comment: new RegExp(row.comment),
    defines: row.defines.map(filled),
    exports: row.exports === null ? null : filled(row.exports),
    tests: new RegExp(row.tests),
  };
}

export const TABLE: Readonly<Record<LanguageName, Language>> = {
  js: languageFrom('js'),
  py: languageFrom('py'),
  go: languageFrom('go'),
  java: languageFrom('java'),
  c: languageFrom('c'),
  rust: languageFrom('rust'),
  ruby: languageFrom('ruby'),
  php: languageFrom('php'),
  cs: languageFrom('cs'),
  shell: languageFrom('shell'),
};

/** A glob for the files of these languages. */
export function globFor(names: readonly LanguageName[]): string {
  const endings = names.flatMap((name) => TABLE[name].endings);
  return endings.length === 1 ? `*.${endings[0] ?? ''}` : `*.{${endings.join(',')}}`;
}

const BY_ENDING = new Map(LANGUAGES.flatMap((name) => TABLE[name].endings.map((ending) => [ending, name] as const)));

/** The language of a file, by its ending. */
export const languageOf = (path: string): LanguageName | undefined => BY_ENDING.get(/\.(\w+)$/.exec(path)?.[1] ?? '');

/** Languages of `paths`, most files first. */
export function languagesIn(paths: readonly string[]): readonly LanguageName[] {
  const groups = Map.groupBy(paths, (path) => languageOf(path));
  return LANGUAGES.filter((name) => groups.has(name)).toSorted(
    (a, b) => (groups.get(b)?.length ?? 0) - (groups.get(a)?.length ?? 0),
  );
}

/** Characters of a pattern that a search takes. */
export const LONGEST_PATTERN = 990;

/** The pattern of lines that define one of `names` in a language; names are regular expressions. As many as a search takes. */
export function definitionPattern(language: LanguageName, names: readonly string[]): string {
  const some = [...names];
  const pattern = (): string => TABLE[language].defines.join('|').replaceAll('NAME', () => anyOf(some));
  while (some.length > 1 && pattern().length > LONGEST_PATTERN) some.pop();
  return pattern();
}

/** A pattern for one of several. */
export const anyOf = (patterns: readonly string[]): string =>
  patterns.length === 1 ? (patterns[0] ?? '') : `(?:${patterns.join('|')})`;
