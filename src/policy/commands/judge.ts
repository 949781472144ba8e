/** Applies command rules to a shell command. Rules are words, `*` for one word, `**` for the rest. Every program that would run is judged
 * and the strictest rule wins; only a command that was understood completely is ever allowed. The sandbox's limits are not considered here. */
import type { Reason } from '../../domain/reason.ts';
import type { CommandRule, CommandRules } from '../rules.ts';
import { rowsOf } from './options.ts';
import { readCommand, type Reading } from './read.ts';
import { baseName, type Known, programOf, type Simple } from './words.ts';

/** `unclear`: a deny rule might match, or the command cannot be read. `none`: no rule matches. `destroys`: it must be asked about in every
 * mode, with the reason. */
export type CommandVerdict = (
  | { readonly verdict: 'allow' | 'ask' | 'deny' | 'unclear'; readonly because: Reason }
  /** Why the command is not understood completely; absent when it is. */
  | { readonly verdict: 'none'; readonly doubt?: string }
) & { readonly destroys?: string };

/** A command with more programs is judged, but never allowed by a rule. */
const MOST_PROGRAMS = 50;

/** The strictest rule that matches any part of `command`. Pure and total for any text. */
export function judgeCommand(command: string | null, rules: CommandRules | null): CommandVerdict {
  if (command === null) return { verdict: 'none', doubt: 'its text is unknown' };
  const reading = readCommand(command);
  const wide = reading.simples.map(destroys).find((why) => why !== null);
  const verdict = rules === null ? none(reading) : judged(reading, rules);
  return wide === undefined ? verdict : { ...verdict, destroys: wide };
}

function judged(reading: Reading, rules: CommandRules): CommandVerdict {
  const parts = reading.simples.map((simple): Part => ({ simple, acts: actsOf(simple) }));
  const denied = strictest(rules.deny, parts);
  if (denied?.sure === true) return { verdict: 'deny', because: denied.rule.from };
  if (denied !== null) return unclear(denied.rule, 'it may match');
  const why = doubtOf(reading, parts);
  const [first] = rules.deny;
  if (why !== null && first !== undefined) return unclear(first, why);
  const asked = strictest(rules.ask, parts);
  if (asked !== null) return { verdict: 'ask', because: asked.rule.from };
  return (why === null ? allowed(reading, parts, rules) : null) ?? none(reading);
}

const unclear = ({ from }: CommandRule, why: string): CommandVerdict => ({
  verdict: 'unclear',
  because: { ...from, rule: `${from.rule} cannot be ruled out: ${why}` },
});

interface Part {
  readonly simple: Simple;
  readonly acts: ReadonlyMap<number, Act>;
}

/** Why a program might run that is not visible in the text. */
function doubtOf({ doubts }: Reading, parts: readonly Part[]): string | null {
  const [doubt] = doubts;
  if (doubt !== undefined) return doubt;
  const runs = parts.find(({ acts }) => [...acts.values()].includes('runs'));
  return runs === undefined ? null : `${runs.simple.words[0] ?? ''} may run another program`;
}

/** The first rule that certainly matches, otherwise the first that might. */
function strictest(
  rules: readonly CommandRule[],
  parts: readonly Part[],
): { readonly rule: CommandRule; readonly sure: boolean } | null {
  let maybe: CommandRule | null = null;
  for (const rule of rules) {
    for (const { simple } of parts) {
      const hit = hits(rule.words, simple);
      if (hit === 'yes') return { rule, sure: true };
      if (hit === 'maybe') maybe ??= rule;
    }
  }
  return maybe === null ? null : { rule: maybe, sure: false };
}

/** Allowed only when each program has its own rule, and the command is nothing but these programs. */
function allowed({ more }: Reading, parts: readonly Part[], rules: CommandRules): CommandVerdict | null {
  if (more.length > 0 || parts.length > MOST_PROGRAMS) return null;
  let because: Reason | null = null;
  for (const part of parts) {
    const rule = rules.allow.find(({ words }) => covers(words, part));
    if (rule === undefined) return null;
    because ??= rule.from;
  }
  return because === null ? null : { verdict: 'allow', because };
}

const none = ({ doubts: [doubt] }: Reading): CommandVerdict =>
  doubt === undefined ? { verdict: 'none' } : { verdict: 'none', doubt };

/** Wildcards of allow rules match only words that are not actions. `./npm` is not `npm` here, because it may be anything. */
function covers(pattern: CommandRule['words'], { simple, acts }: Part): boolean {
  if (simple.open || fits(pattern, simple.words, false) !== 'yes') return false;
  return [...acts.keys()].every((at) => at < fixedOf(pattern).length && pattern[at] !== '*');
}

type Fit = 'yes' | 'maybe' | 'no';

/** For deny and ask rules, `/usr/bin/curl` is `curl`, and options before a sub-command are skipped (`git -C x push`). */
function hits(pattern: CommandRule['words'], { words, open }: Simple): Fit {
  const fit = fits(pattern, words, open);
  if (fit === 'yes') return fit;
  const [program = null, ...rest] = words;
  const named = [baseName(program), ...rest];
  const asNamed = fits(pattern, named, open);
  if (asNamed !== 'no') return asNamed;
  if (fit === 'maybe') return fit;
  return mayHide(pattern, named, open) ? 'maybe' : 'no';
}

function mayHide(pattern: CommandRule['words'], words: readonly Known[], open: boolean): boolean {
  const [program = null, option] = words;
  const [, verb = '**'] = pattern;
  if (option?.startsWith('-') !== true || verb === '**' || verb.startsWith('-')) return false;
  return words.some((_, at) => at > 1 && fits(pattern, [program, ...words.slice(at)], open) !== 'no');
}

const fixedOf = (pattern: CommandRule['words']): CommandRule['words'] =>
  pattern.at(-1) === '**' ? pattern.slice(0, -1) : pattern;

/** An unknown word may be any number of words, so everything after it might match. */
function fits(pattern: CommandRule['words'], words: readonly Known[], open: boolean): Fit {
  const fixed = fixedOf(pattern);
  const hole = words.indexOf(null);
  const known = hole === -1 ? words : words.slice(0, hole);
  if (!fixed.slice(0, known.length).every((word, at) => word === '*' || word === known[at])) return 'no';
  const whole = hole === -1 && !open;
  if (known.length < fixed.length) return whole ? 'no' : 'maybe';
  if (fixed.length < pattern.length) return 'yes';
  if (known.length > fixed.length) return 'no';
  return whole ? 'yes' : 'maybe';
}

// Commands that remove or change everything below a wide location (`rm -rf /`, `rm -rf ~`, `rm -rf "$UNSET"/*`): asked about in every mode,
// whatever rules and grants allow.

const RECURSIVE: ReadonlyMap<string, RegExp> = rowsOf({
  rm: /^-[a-zA-Z]*[rR]|^--r/,
  'chmod chown chgrp': /^-[a-zA-Z]*R|^--r/,
});

/** Why `simple` must be asked about; null for nearly all commands. */
function destroys(simple: Simple): string | null {
  const program = programOf(simple);
  if (program === null) return null;
  if (program === 'find') return findRemoves(simple) ? 'find that removes far more than this project' : null;
  const flag = RECURSIVE.get(program);
  if (flag === undefined) return null;
  const { words, texts, open } = simple;
  // An unknown word might be the option; then any target counts.
  if (!words.some((word, at) => at > 0 && (word === null ? startsUnknown(texts[at] ?? '') : flag.test(word))))
    return null;
  const target = texts.find(
    (text, at) => at > 0 && !(words[at]?.startsWith('-') ?? false) && isWide(words[at] ?? null, text),
  );
  if (target !== undefined) return `${program} of everything in ${target}`;
  return open ? `${program} of paths that come from elsewhere` : null;
}

const REMOVES: ReadonlySet<string> = new Set(['-delete', 'rm', '/bin/rm', '/usr/bin/rm', 'shred']);

function findRemoves({ words, texts }: Simple): boolean {
  if (!words.some((word) => word !== null && REMOVES.has(word))) return false;
  for (let at = 1; at < words.length; at += 1) {
    const word = words[at] ?? null;
    if (word?.startsWith('-') === true) return false;
    // The project itself is a usual location to search.
    if (word !== '.' && word !== './' && isWide(word, texts[at] ?? '')) return true;
  }
  return false;
}

const startsUnknown = (text: string): boolean => /^"?(?:\$|`)/.test(text);

/** Whether it is `/`, a folder directly below it, the home directory, the whole project, a folder above it, or an unknown location. */
function isWide(word: string | null, text: string): boolean {
  if (word === null && startsUnknown(text)) return true;
  const [first = '', ...rest] = (word ?? text.replaceAll(/["']/g, '')).split('/');
  if (first.startsWith('~')) return depthOf(rest) <= 0;
  return first === '' && rest.length > 0 ? depthOf(rest) <= 1 : depthOf([first, ...rest]) <= 0;
}

/** The depth of a path below its start; a pattern for any name adds none. */
function depthOf(parts: readonly string[]): number {
  let depth = 0;
  for (const part of parts) {
    if (part === '' || part === '.' || /^[*?]+$/.test(part)) continue;
    depth += part === '..' ? -1 : 1;
  }
  return depth;
}

// Arguments that are actions of their own: they make a program run another one or write a file (`find -delete`, `sort -o`, `rg --pre`, `git
// -c`). Wildcards of allow rules never match them, so a rule must contain them literally. Unknown programs have none: a rule that allows
// such a program allows everything it does.

/** `runs`: another program, which no rule can see. */
type Act = 'runs' | 'writes';

/** The actions among the arguments, by index. */
export function actsOf(simple: Simple): ReadonlyMap<number, Act> {
  const program = programOf(simple);
  const judge = program === null ? undefined : PROGRAMS.get(program);
  const acts = new Map<number, Act>();
  if (judge === undefined) return acts;
  const { words } = simple;
  for (let at = 1; at < words.length; at += 1) {
    const word = words[at] ?? null;
    const act = word === null ? null : judge(word, at, words);
    if (act !== null) acts.set(at, act);
  }
  return acts;
}

type Judge = (word: string, at: number, words: readonly Known[]) => Act | null;

interface Options {
  /** Single letters, alone or in a cluster. */
  readonly short?: string;
  /** Long names; any abbreviation of one counts. */
  readonly long?: string;
  /** Exact words: sub-commands, or options with one dash. */
  readonly exact?: string;
}

const wordsOf = (text = ''): readonly string[] => text.split(' ').filter((word) => word !== '');
type Has = (word: string) => boolean;

/** Built once per program, because a command may have thousands of words. */
function has({ short = '', long, exact }: Options): Has {
  const letters = short.split('');
  const names = wordsOf(long);
  const whole = new Set(wordsOf(exact));
  return (word) => {
    if (whole.has(word)) return true;
    if (!word.startsWith('-')) return false;
    if (!word.startsWith('--')) return letters.some((letter) => word.includes(letter));
    const [name = ''] = word.slice(2).split('=', 1);
    return name !== '' && names.some((one) => one.startsWith(name));
  };
}

function options(runs: Options, writes: Options = {}): Judge {
  const [isRun, isWrite] = [has(runs), has(writes)];
  return (word) => (isRun(word) ? 'runs' : isWrite(word) ? 'writes' : null);
}

const AWK_ACTS = /system|getline|[|>@]/;
const awk: Judge = (word) => {
  if (AWK_ACTS.test(word)) return 'runs';
  return /^-(?![Fv])./.test(word) ? 'runs' : null;
};

const SED_SCRIPT: ReadonlySet<string> = new Set(['-e', '--expression']);
const sed: Judge = (word, at, words) => {
  if (/^-[nErsuz]+$/.test(word) || SED_SCRIPT.has(word)) return null;
  if (word.startsWith('-')) return SED_RUNS.test(word) ? 'runs' : 'writes';
  if (!isScript(words, at) || isPlainSed(word)) return null;
  return SED_RUNS.test(word) ? 'runs' : 'writes';
};

/** The word after `-e`; without one, the first that is not an option. */
function isScript(words: readonly Known[], at: number): boolean {
  const named = words.includes('-e') || words.includes('--expression');
  if (named) return SED_SCRIPT.has(words[at - 1] ?? '');
  return words.slice(1, at).every((word) => word?.startsWith('-'));
}

const SED_RUNS = /(?:^|[^A-Za-z])[gpiImM\d]{0,8}e(?:$|[\s;}])/;

/** Whether a sed script only prints, deletes lines and replaces text; everything else may write or run. */
function isPlainSed(script: string): boolean {
  const command = script.replace(/^(?:\d+|\$)?(?:,(?:\d+|\$))?/, '');
  if (/^[pdq=]$/.test(command)) return true;
  const mark = command.charAt(1);
  if (command.charAt(0) !== 's' || !/^[/|,#:]$/.test(mark) || /[\n;{}]/.test(command)) return false;
  // Between the delimiters, without escapes: nothing, the pattern, the replacement, the flags.
  const parts = command.slice(1).replaceAll(/\\./g, '').split(mark);
  return parts.length === 4 && /^[gpI\d]*$/.test(parts[3] ?? '');
}

const tarRuns = has({
  short: 'IF',
  long: 'to-command use-compress-program checkpoint-action info-script new-volume-script rsh-command rmt-command',
});
const tar: Judge = (word, at) => {
  if (tarRuns(word)) return 'runs';
  if (/^-?t[vzjJf]*$/.test(word)) return null;
  return at === 1 || word.startsWith('-') ? 'writes' : null;
};

const gitFirst = has({ short: 'cp', long: 'exec-path config-env git-dir work-tree paginate', exact: '-C' });
const gitRuns: Options = {
  short: 'O',
  long: 'ext-diff textconv upload-pack receive-pack exec open-files-in-pager extcmd tool template config interactive',
};
const GIT_VERBS: ReadonlySet<string> = new Set(
  'bisect filter-branch difftool mergetool submodule hook config worktree send-email instaweb gui citool'.split(' '),
);
/** Before its verb an option may name a program; after it only some options do, and some verbs do nothing else. */
const git: Judge = (word, at, words) => {
  const verb = words.findIndex((one, place) => place > 0 && one !== null && !one.startsWith('-'));
  if (verb === -1 || at < verb) return gitFirst(word) ? 'runs' : null;
  if (at === verb) return GIT_VERBS.has(word) ? 'runs' : null;
  return words[verb] === 'rebase' && /^-[xi]/.test(word) ? 'runs' : behindVerb(word, at, words);
};
const behindVerb = options(gitRuns, { short: 'o', long: 'output' });

/** Code in an argument. Rules cannot see its effects, so it only prevents wildcards from matching it. */
const inline = (short: string): Judge =>
  options({}, { short, long: 'eval print require import loader command execute' });

const PROGRAMS: ReadonlyMap<string, Judge> = rowsOf<Judge>({
  find: options({ exact: '-exec -execdir -ok -okdir' }, { exact: '-delete -fprint -fprint0 -fprintf -fls' }),
  'fd fdfind': options({ short: 'xX', long: 'exec exec-batch' }),
  'awk gawk mawk nawk': awk,
  'sed gsed': sed,
  sort: options({ long: 'compress-program' }, { short: 'oT', long: 'output temporary-directory' }),
  'tar bsdtar': tar,
  rg: options({ long: 'pre hostname-bin' }),
  git,
  less: options({}, { short: 'oOkP', long: 'log-file lesskey-file' }),
  man: options({ short: 'PH', long: 'pager html' }),
  rsync: options({ short: 'e', long: 'rsh rsync-path' }),
  scp: options({ short: 'So' }),
  zip: options({ short: 'T', long: 'unzip-command' }),
  make: options({ long: 'eval' }, { short: 'fC', long: 'file makefile directory' }),
  curl: options({}, { short: 'oOKDcJ', long: 'output remote-name config dump-header cookie-jar' }),
  wget: options({ long: 'use-askpass execute' }, { short: 'OoPe', long: 'output-document output-file' }),
  uniq: (word, at) => (at > 1 && !word.startsWith('-') ? 'writes' : null),
  tree: options({}, { short: 'o' }),
  yq: options({}, { short: 'is', long: 'inplace split-exp' }),
  node: inline('epr'),
  deno: options({}, { exact: 'eval' }),
  bun: inline('ep'),
  'python python3': inline('c'),
  perl: inline('eE'),
  'ruby lua': inline('e'),
  php: inline('r'),
});
