/** Which programs only read: by their options, as the tables of this folder list them, or by a function of their own where arguments are more. */
import { DOUBTS } from '../words.ts';
import { isAmong, rowsOf } from '../options.ts';
import GIT from './git.json' with { type: 'json' };
import PROGRAMS from './programs.json' with { type: 'json' };
import type { Argument, Reader, Scope, ScriptJudge } from './options.ts';
import { FURTHER_FILE, isInProject, NOT_IN_TEXT, OPERANDS, OUTSIDE, whyMoreThan } from './options.ts';

// Scripts of `sed`, `awk` and `jq` that only read. Anything not understood counts as more.

const MORE = 'its script may write or run something';

/** Why a `sed` script does more than read and print; null when it does not. */
function whySed(script: string): string | null {
  let depth = 0;
  for (let at = 0; ; ) {
    at += lengthOf(/^[\s;]*/, script, at);
    if (at >= script.length) return depth === 0 ? null : MORE;
    const start = afterAddresses(script, at);
    const end = start === null ? null : afterCommand(script, start);
    if (start === null || end === null) return MORE;
    depth += DEPTH.get(script.charAt(start)) ?? 0;
    if (depth < 0) return MORE;
    at = end;
  }
}

const DEPTH: ReadonlyMap<string, number> = new Map([
  ['{', 1],
  ['}', -1],
]);
const lengthOf = (pattern: RegExp, script: string, at: number): number =>
  pattern.exec(script.slice(at))?.[0].length ?? 0;

function afterAddresses(script: string, from: number): number | null {
  const first = afterAddress(script, from);
  if (first === null) return null;
  let at = first;
  const comma = /^\s*,\s*/.exec(script.slice(at));
  if (first > from && comma !== null) {
    const second = afterAddress(script, at + comma[0].length);
    if (second === null || second === at + comma[0].length) return null;
    at = second;
  }
  return at + lengthOf(/^\s*(?:!\s*)?/, script, at);
}

function afterAddress(script: string, from: number): number | null {
  const line = /^(?:\$|[+~]?\d+(?:~\d+)?)/.exec(script.slice(from));
  if (line !== null) return from + line[0].length;
  if (script.charAt(from) !== '/') return from;
  const end = afterMark(script, from + 1, '/');
  return end === null ? null : end + lengthOf(/^[IM]*/, script, end);
}

/** The index after the next delimiter without a backslash; brackets have no meaning here. */
function afterMark(script: string, from: number, mark: string): number | null {
  for (let at = from; at < script.length; at += 1) {
    const letter = script.charAt(at);
    if (letter === '\n') return null;
    if (letter === '\\') at += 1;
    else if (letter === mark) return at + 1;
  }
  return null;
}

/** Accepts printing, deleting lines, holding them and replacing text. All other commands may write or run. */
function afterCommand(script: string, at: number): number | null {
  const command = script.charAt(at);
  if (command === '{') return at + 1;
  if (/[pPdDnNgGhHx=}]/.test(command)) return ended(script, at + 1);
  if (/[qQ]/.test(command)) return ended(script, at + 1 + lengthOf(/^ *\d*/, script, at + 1));
  return /[sy]/.test(command) ? afterReplacement(script, at + 1, command === 's') : null;
}

function afterReplacement(script: string, at: number, flags: boolean): number | null {
  const mark = script.charAt(at);
  if (!/^[/|,#:@!%_]$/.test(mark)) return null;
  const middle = afterMark(script, at + 1, mark);
  const end = middle === null ? null : afterMark(script, middle, mark);
  return end === null ? null : ended(script, end + (flags ? lengthOf(/^[gpIiMm\d]*/, script, end) : 0));
}

/** Whether a command may end here; nothing else may follow it. */
const ended = (script: string, at: number): number | null => (/^\s*(?:[;}\n]|$)/.test(script.slice(at)) ? at : null);

/** Rejected in awk: programs, further files, indirect function calls, the environment. */
const AWK_MORE = /system|getline|[@|\\]\n|[@|]|ARGV|ARGC|ENVIRON|nextfile|extension/;

/** The same for `awk`. A ">" is a comparison only before the first action. */
function whyAwk(script: string): string | null {
  const plain = script.replaceAll('||', '').replaceAll('>=', '');
  const brace = plain.indexOf('{');
  const condition = brace === -1 ? plain : plain.slice(0, brace);
  const writes =
    (brace !== -1 && plain.slice(brace).includes('>')) || (condition.includes('>') && /["/\\]/.test(condition));
  return AWK_MORE.test(plain) || writes ? MORE : null;
}

/** The same for `jq`, which can read modules by name, and the environment. */
const whyJq = (script: string): string | null =>
  /\b(?:import|include|modulemeta|get_search_list|env|ENV)\b/.test(script)
    ? 'its script reads modules or the environment'
    : null;

/** Why this program with its arguments does more than read; null when it only reads. */
export function whyProgram(words: readonly Argument[], scope: Scope): string | null {
  const [name, ...given] = words;
  if (name?.is !== 'known') return DOUBTS.program;
  const program = name.text.replace(/^\/(?:usr\/)?bin\//, '');
  const special = SPECIAL.get(program);
  if (special !== undefined) return named(program, special(given, scope));
  const reader = READERS.get(program);
  return reader === undefined
    ? `${program} is not known to be read-only`
    : named(program, whyMoreThan(reader, given, scope, SCRIPTS.get(program)));
}

const named = (program: string, why: string | null): string | null => (why === null ? null : `${program}: ${why}`);
type Judge = (given: readonly Argument[], scope: Scope) => string | null;
const textOf = (argument: Argument | undefined): string | null => (argument?.is === 'known' ? argument.text : null);

/** The programs whose pattern is a script. `+%F` is the output format of `date`; anything else would set the clock. */
const SCRIPTS: ReadonlyMap<string, ScriptJudge> = rowsOf({
  sed: whySed,
  'awk gawk mawk': whyAwk,
  jq: whyJq,
  date: (text) => (text.startsWith('+') ? null : 'it sets the clock'),
});

/** Tests and actions of find that only read, with no value, a text or a file. */
const [FIND_ALONE, FIND_TEXT, FIND_FILE] = [PROGRAMS.find.alone, PROGRAMS.find.text, PROGRAMS.find.file];

const find: Judge = (given, scope) => {
  let at = given.findIndex((argument) => argument.is !== 'inside' && !isStart(textOf(argument)));
  if (at === -1) at = given.length;
  const outside = given.slice(0, at).some((start) => start.is === 'known' && !isInProject(start.text, scope));
  if (outside) return OUTSIDE;
  while (at < given.length) {
    const word = textOf(given[at]);
    if (word === null) return NOT_IN_TEXT;
    const used = word === '-exec' ? execOf(given, at, scope) : testOf(word, given[at + 1], scope);
    if (typeof used === 'string') return used;
    at += used;
  }
  return null;
};

const isStart = (text: string | null): boolean => text !== null && (/^-[HLP]$/.test(text) || !/^[-!(),]/.test(text));

function testOf(word: string, next: Argument | undefined, scope: Scope): number | string {
  if (isAmong(FIND_ALONE, word)) return 1;
  const text = textOf(next);
  if (isAmong(FIND_TEXT, word)) return text === null ? NOT_IN_TEXT : 2;
  if (!isAmong(FIND_FILE, word)) return `${word} is not known to be read-only`;
  return text !== null && isInProject(text, scope) ? 2 : OUTSIDE;
}

/** Found file names begin like the folders that find searches, so they are not options. */
function execOf(given: readonly Argument[], at: number, scope: Scope): number | string {
  const length = given.slice(at).findIndex((argument) => /^[;+]$/.test(textOf(argument) ?? ''));
  if (length === -1) return 'what it runs has no end';
  const run = given.slice(at + 1, at + length).map((argument): Argument => {
    const text = textOf(argument);
    return text === '{}' ? { is: 'inside' } : text?.includes('{}') === true ? { is: 'any' } : argument;
  });
  return whyProgram(run, scope) ?? length + 1;
}

/** A program that runs another one after its own options. `count`: words between them. `adds`: arguments that it appends. */
const runner =
  (list: Reader, count: number, adds: readonly Argument[] = []): Judge =>
  (given, scope) => {
    const start = afterOptions(list, given, scope);
    if (typeof start === 'string') return start;
    const skipped = given.slice(start, start + count);
    if (skipped.length < count || skipped.some(({ is }) => is !== 'known')) return NOT_IN_TEXT;
    const run = given.slice(start + count);
    return run.length === 0 && adds.length > 0 ? null : whyProgram([...run, ...adds], scope);
  };

function afterOptions(list: Reader, given: readonly Argument[], scope: Scope): number | string {
  for (let at = 0; ; ) {
    const option = textOf(given[at]) ?? '';
    if (!/^-./.test(option)) return at;
    const why = option === '--' ? NOT_IN_TEXT : whyMoreThan(list, [{ is: 'known', text: option }], scope);
    if (why !== null) return why;
    at += option.length === 2 && list.values?.includes(option.charAt(1)) === true ? 2 : 1;
  }
}

const XARGS = runner({ flags: '0rtx', values: 'nLPsdI', long: 'null no-run-if-empty verbose exit' }, 0, [
  { is: 'any' },
]);

/** With `-I{}` the placeholder in a word may become anything, like appended arguments. No other placeholder is accepted. */
const xargs: Judge = (given, scope) => {
  if (given.some((argument, at) => isOtherMark(textOf(argument), textOf(given[at + 1])))) return NOT_IN_TEXT;
  const filled = given.map((argument, at): Argument => {
    const text = textOf(argument) ?? '';
    const isMark = text.startsWith('-I') || textOf(given[at - 1]) === '-I';
    return text.includes('{}') && !isMark ? { is: 'any' } : argument;
  });
  return XARGS(filled, scope);
};

const isOtherMark = (option: string | null, next: string | null): boolean =>
  option === '-I' ? next !== '{}' : option?.startsWith('-I') === true && option !== '-I{}';

const command: Judge = (given, scope) =>
  /^-[vV]$/.test(textOf(given[0]) ?? '')
    ? given.every(({ is }) => is === 'known')
      ? null
      : NOT_IN_TEXT
    : whyProgram(given, scope);

/** `-v` sets a variable, and so does `%n`. */
const printf: Judge = ([format]) => {
  const text = textOf(format);
  if (text === null || text.startsWith('-')) return 'it may set a variable';
  const rest = text.replaceAll(/%%|%[-+ #0]*(?:\d+|\*)?(?:\.(?:\d+|\*)?)?[sbqcdiouxXeEfFgG]/g, '');
  return rest.includes('%') ? 'it may set a variable' : null;
};

/** `-v` takes a name, in which a subscript is evaluated. */
const test: Judge = (given, scope) => {
  for (const argument of given) {
    if (argument.is === 'any' || argument.is === 'leading') return NOT_IN_TEXT;
    if (argument.is === 'outside') return OUTSIDE;
    if (argument.is !== 'known') continue;
    if (/^-[vRo]$/.test(argument.text)) return `${argument.text} is not known to be read-only`;
    if (!isInProject(argument.text, scope)) return OUTSIDE;
  }
  return given.some(({ is }) => is === 'one') && !hasPlainForm(given) ? NOT_IN_TEXT : null;
};

/** `-z WORD`, `WORD = WORD`, optionally after `!`; no unknown word is in an operator's position. */
function hasPlainForm(given: readonly Argument[]): boolean {
  const words = given.filter((argument) => textOf(argument) !== ']' && textOf(argument) !== '!');
  if (words.length === 2) return /^-[a-zA-Z]$/.test(textOf(words[0]) ?? '');
  return words.length === 3 && /^(?:==?|!=|-(?:eq|ne|lt|le|gt|ge))$/.test(textOf(words[1]) ?? '');
}

const cd: Judge = (given, scope) => {
  const places = given.filter((argument) => !/^-[PL]$/.test(textOf(argument) ?? ''));
  const [place] = places;
  if (places.length !== 1 || place === undefined || textOf(place)?.startsWith('-') === true) return OUTSIDE;
  return place.is === 'inside' || (place.is === 'known' && isInProject(place.text, scope)) ? null : OUTSIDE;
};

const set: Judge = (given) =>
  given.length > 0 && /^(?:[-+][eux]+ ?|[-+][eux]*o (?:pipefail|errexit|nounset) ?)*$/.test(wordsOf(given))
    ? null
    : 'it may change what later words mean';

const ends: Judge = (given) => (given.every((one) => /^\d+$/.test(textOf(one) ?? '')) ? null : NOT_IN_TEXT);

/** A second file would be written, and `-r` makes bytes of text. */
const xxd: Judge = (given, scope) => {
  const files: string[] = [];
  for (let at = 0; at < given.length; at += 1) {
    const word = textOf(given[at]);
    if (word === null) return NOT_IN_TEXT;
    if (/^-[cglos]$/.test(word)) at += 1;
    else if (!word.startsWith('-')) files.push(word);
    else if (!/^-(?:[abeipuC]|ps|plain|[cglos][0-9a-fx]+)$/.test(word))
      return `its option ${word} is not known to be read-only`;
  }
  if (files.length > 1) return FURTHER_FILE;
  return files.every((file) => isInProject(file, scope)) ? null : OUTSIDE;
};

// Programs and sub-commands of git that only read with certain options.

type Rows = Readonly<Record<string, Omit<Reader, 'operands'>>>;

const readers = (table: Readonly<Record<(typeof OPERANDS)[number], Rows>>): ReadonlyMap<string, Reader> =>
  new Map(
    OPERANDS.flatMap((operands) => [...rowsOf(table[operands])].map(([name, row]) => [name, { ...row, operands }])),
  );

/** The rows of `programs.json`: programs that only read with these options. Programs that are missing there ask. */
const READERS = readers(PROGRAMS);

/** The rows of `git.json`. The sandbox prevents git from starting programs of the repository. */
const VERBS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ...readers(GIT),
  // How changes and commits are shown.
  ...rowsOf({ 'diff log show whatchanged diff-tree diff-index diff-files rev-list cherry': GIT.changes }),
  // A summary, with numbers, by mail address.
  ['shortlog', { ...GIT.changes, flags: 'sneg', long: [...GIT.changes.long, 'numbered summary email group'] }],
]);

/** Without arguments these list; with `--list` the words are patterns. Anything else may create or remove one. */
const LISTING: ReadonlySet<string> = new Set(['branch', 'tag']);
const PATTERNS = /^(?:-l|--list|--contains|--no-contains|--merged|--no-merged|--points-at)(?:=|$)/;

/** Words that must follow; nothing else is accepted. */
const EXACT: ReadonlyMap<string, RegExp> = new Map(
  Object.entries(GIT.exact).map(([verb, rest]) => [verb, new RegExp(rest)]),
);

function whyGit(given: readonly Argument[], scope: Scope): string | null {
  const at = given.findIndex((argument) => argument.is !== 'known' || !BEFORE.test(argument.text));
  const verb = given[at === -1 ? 0 : at];
  if (verb === undefined) return 'it has no sub-command';
  if (verb.is !== 'known') return 'its sub-command is not in the text';
  if (given.some((argument) => argument.is === 'known' && SECRET.test(argument.text))) return 'it names a .env file';
  if (verb.text === '--version') return null;
  const rest = given.slice(at + 1);
  const exact = EXACT.get(verb.text);
  if (exact !== undefined) return exact.test(wordsOf(rest)) ? null : `git ${verb.text} may do more than read here`;
  if (LISTING.has(verb.text)) return whyListing(rest, scope);
  const reader = VERBS.get(verb.text);
  return reader === undefined ? `git ${verb.text} is not known to be read-only` : whyMoreThan(reader, rest, scope);
}

const BEFORE = /^(?:--no-pager|-P|--no-optional-locks|--literal-pathspecs)$/;
/** A commit contains the file's content, which the sandbox hides only in the folder. */
const SECRET = /(?:^|[/:])\.env/i;

function whyListing(rest: readonly Argument[], scope: Scope): string | null {
  const lists = rest.some((argument) => argument.is === 'known' && PATTERNS.test(argument.text));
  return whyMoreThan({ ...GIT.list, operands: lists ? 'paths' : 'none' }, rest, scope);
}

/** Unknown words become a word that no pattern matches. */
const wordsOf = (given: readonly Argument[]): string => given.map((one) => textOf(one) ?? '\0').join(' ');

const version: Judge = (given) =>
  given.length === 1 && /^(?:--version|-V)$/.test(textOf(given[0]) ?? '') ? null : 'it may do more than read';

const SPECIAL: ReadonlyMap<string, Judge> = rowsOf<Judge>({
  git: whyGit,
  find,
  xargs,
  timeout: runner({ flags: 'v', values: 'ks', long: 'preserve-status foreground verbose' }, 1),
  nice: runner({ values: 'n' }, 0),
  command,
  printf,
  'test [': test,
  cd,
  set,
  'exit break continue': ends,
  xxd,
  'echo true false :': () => null,
  'python python3 node': version,
});
