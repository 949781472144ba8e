/**
 * Where programs begin: lines of code that start one or open it to the outside, lines of manifests that name one, and names
 * of files that one begins to read at. Each with the reason in words. Data and its readers.
 */
import type { Hit } from './claims.ts';
import { isAside, isComment, isForeign, isSource, isTest } from './languages.ts';

export interface Beginning {
  readonly hit: Hit;
  readonly why: string;
  /** Lower is nearer to the start. */
  readonly rank: number;
}

interface Row {
  readonly pattern: string;
  readonly why: string;
  readonly rank: number;
}

/** For ripgrep and JavaScript alike. */
const IN_CODE: readonly Row[] = [
  { pattern: '\\bfunc main\\(\\)', why: 'Go starts the program here', rank: 1 },
  { pattern: '\\bfn main\\(\\)', why: 'Rust starts the program here', rank: 1 },
  { pattern: '\\bstatic\\s+(?:async\\s+)?(?:void|int|Task)\\s+[Mm]ain\\s*\\(', why: 'the main method', rank: 1 },
  { pattern: '^\\s*fun main\\(', why: 'Kotlin starts the program here', rank: 1 },
  { pattern: '^(?:int|void)\\s+main\\s*\\(', why: 'the main function', rank: 1 },
  { pattern: '__name__\\s*==\\s*[\'"]__main__[\'"]', why: 'runs when the file is started itself', rank: 2 },
  { pattern: '@SpringBootApplication', why: 'Spring starts the application here', rank: 1 },
  { pattern: '\\bif \\(?require\\.main === module\\b', why: 'runs when the file is started itself', rank: 2 },
  {
    pattern: '^#!.*\\b(?:node|deno|bun|python\\d?|perl|ruby|php|bash|sh|zsh)\\b',
    why: 'a script that is started by its name',
    rank: 2,
  },
  {
    pattern: '\\b(?:app|server|http)\\.listen\\(|\\bListenAndServe\\(|\\bcreateServer\\(',
    why: 'opens a server',
    rank: 3,
  },
  { pattern: '=\\s*(?:FastAPI|Flask)\\(', why: 'the web application', rank: 3 },
  { pattern: '\\bprocess\\.argv\\b|\\bsys\\.argv\\b|\\bArgumentParser\\(', why: 'reads the command line', rank: 4 },
];

/** One search for all of them. */
export const ENTRY_PATTERN = IN_CODE.map(({ pattern }) => pattern).join('|');

/** Why a line of code is a beginning; null when it is none after all. */
export function beginningOf(hit: Hit): Beginning | null {
  if (!isOwn(hit.path)) return null;
  const row = IN_CODE.find(({ pattern }) => new RegExp(pattern).test(hit.text));
  if (row === undefined || !isStart(hit, row)) return null;
  return { hit, why: row.why, rank: row.rank + (isAside(hit.path) ? 10 : 0) };
}

const isOwn = (path: string): boolean => isSource(path) && !isTest(path) && !isForeign(path);

/** A shebang starts a program only in the first line; anything else only in code. */
const isStart = ({ text, line }: Hit, { pattern }: Row): boolean =>
  text.startsWith('#!') ? line === 1 : !isComment(text) && !isQuoted(text, pattern);

const isQuoted = (text: string, pattern: string): boolean => {
  const before = text.slice(0, new RegExp(pattern).exec(text)?.index ?? 0);
  return ['"', "'", '`', '/'].some((quote) => before.split(quote).length % 2 === 0);
};

/** Names of files where one usually begins to read, and what that says. */
const BY_NAME: readonly (readonly [RegExp, string])[] = [
  [/(?:^|\/)(?:__main__|main|Main|program|Program)\.\w+$/, 'called as a start'],
  [/(?:^|\/)(?:cli|server|app|App|manage)\.\w+$/, 'called as a start'],
  [/(?:^|\/)(?:index|mod|lib|__init__)\.\w+$/, 'what others see of its folder'],
];

export const nameBeginning = (path: string): string | null =>
  isOwn(path) ? (BY_NAME.find(([name]) => name.test(path))?.[1] ?? null) : null;

/** Files that may name an entry point, for a listing. */
export const NAMING =
  '{package.json,pyproject.toml,setup.py,setup.cfg,Cargo.toml,Dockerfile,Containerfile,Procfile,deno.json}';

/** What the lines of a manifest name as entry points. */
export function declaredIn(path: string, lines: readonly Hit[]): readonly Beginning[] {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (name.endsWith('.json')) return npm(lines);
  const said = (pattern: RegExp, why: string): readonly Beginning[] =>
    lines.filter(({ text }) => pattern.test(text)).map((hit) => ({ hit, why, rank: 0 }));
  if (name === 'pyproject.toml') {
    return under(lines, /^\[(?:project\.(?:gui-)?scripts|tool\.poetry\.scripts)\]/, /^\[/, 'a command of the package');
  }
  if (name.startsWith('setup.')) return said(/^\s*["']?[\w.-]+\s*=\s*[\w.]+:\w+/, 'a command of the package');
  if (name === 'Cargo.toml') return under(lines, /^\[\[bin\]\]/, /^\[/, 'a program of the crate').slice(0, 4);
  return said(/^\s*(?:CMD|ENTRYPOINT)\b|^\w+:\s+\S/, name === 'Procfile' ? 'a process' : 'what the container starts');
}

const FIELDS: readonly (readonly [RegExp, string])[] = [
  [/^\s*"(?:main|module|browser)"\s*:\s*"/, 'what importing the package loads'],
  [/^\s*"bin"\s*:\s*"/, 'the command of the package'],
  [/^\s*"start"\s*:\s*"/, 'what `npm start` runs'],
];

function npm(lines: readonly Hit[]): readonly Beginning[] {
  const fields = lines.flatMap((hit): readonly Beginning[] => {
    const why = FIELDS.find(([pattern]) => pattern.test(hit.text))?.[1];
    return why === undefined ? [] : [{ hit, why: why.replaceAll('`', ''), rank: 0 }];
  });
  const commands = under(lines, /^\s*"bin"\s*:\s*\{\s*$/, /^\s*\}/, 'a command of the package');
  const exports = under(lines, /^\s*"exports"\s*:\s*\{\s*$/, /^ {2}\}|^\t\}/, 'what importing the package loads');
  const root = exports.filter(({ hit }) => /"(?:\.|import|default|require)"\s*:\s*"/.test(hit.text)).slice(0, 1);
  return [...commands.slice(0, 4), ...fields, ...root];
}

function under(lines: readonly Hit[], opens: RegExp, closes: RegExp, why: string): readonly Beginning[] {
  const from = lines.findIndex(({ text }) => opens.test(text));
  if (from === -1) return [];
  const rest = lines.slice(from + 1);
  const length = rest.findIndex(({ text }) => closes.test(text));
  return rest
    .slice(0, length === -1 ? undefined : length)
    .filter(({ text }) => /[:=]/.test(text))
    .map((hit) => ({ hit, why, rank: 0 }));
}
