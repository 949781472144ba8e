/**
 * Arguments that are acts of their own: they make a program run another one or write a file (`find -delete`, `sort -o`,
 * `rg --pre`, `git -c`). A `*` or `**` of an allow rule stands for names and numbers, so it never covers one: the rule
 * must spell it out. Unknown programs have none: who allows them allows what they do.
 */
import { type Known, type Simple, programOf } from './words.ts';

/** `runs`: another program, which no rule can see. */
export type Act = 'runs' | 'writes';

/** The acts among the arguments, by their place. */
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
  /** Words as they are: sub-commands, options of one dash. */
  readonly exact?: string;
}

const wordsOf = (text = ''): readonly string[] => text.split(' ').filter((word) => word !== '');

type Has = (word: string) => boolean;

/** Made once for a program: a command may have thousands of words. */
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

/** The word after `-e`; without one, the first that is no option. */
function isScript(words: readonly Known[], at: number): boolean {
  const named = words.includes('-e') || words.includes('--expression');
  if (named) return SED_SCRIPT.has(words[at - 1] ?? '');
  return words.slice(1, at).every((word) => word?.startsWith('-'));
}

/** Its command `e`, or the flag. */
const SED_RUNS = /(?:^|[^A-Za-z])[gpiImM\d]{0,8}e(?:$|[\s;}])/;

/** Printing, deleting lines and replacing text; everything else of its language may write or run. */
function isPlainSed(script: string): boolean {
  const command = script.replace(/^(?:\d+|\$)?(?:,(?:\d+|\$))?/, '');
  if (/^[pdq=]$/.test(command)) return true;
  const mark = command.charAt(1);
  if (command.charAt(0) !== 's' || !/^[/|,#:]$/.test(mark) || /[\n;{}]/.test(command)) return false;
  // Between the marks, what is escaped aside: nothing, the pattern, the replacement, the flags.
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
/** Before its verb an option may name a program; behind it only some do, and some verbs do nothing else. */
const git: Judge = (word, at, words) => {
  const verb = words.findIndex((one, place) => place > 0 && one !== null && !one.startsWith('-'));
  if (verb === -1 || at < verb) return gitFirst(word) ? 'runs' : null;
  if (at === verb) return GIT_VERBS.has(word) ? 'runs' : null;
  if (words[verb] === 'rebase' && /^-[xi]/.test(word)) return 'runs';
  return behindVerb(word, at, words);
};
const behindVerb = options(gitRuns, { short: 'o', long: 'output' });

/** Code in an argument. The text of a program is not seen by rules either way, so it only keeps a wildcard from covering it. */
function inline(letters: string): Judge {
  const isCode = has({ short: letters, long: 'eval print require import loader command execute' });
  return (word) => (isCode(word) ? 'writes' : null);
}

const PROGRAMS: ReadonlyMap<string, Judge> = new Map<string, Judge>([
  ['find', options({ exact: '-exec -execdir -ok -okdir' }, { exact: '-delete -fprint -fprint0 -fprintf -fls' })],
  ['fd', options({ short: 'xX', long: 'exec exec-batch' })],
  ['fdfind', options({ short: 'xX', long: 'exec exec-batch' })],
  ['awk', awk],
  ['gawk', awk],
  ['mawk', awk],
  ['nawk', awk],
  ['sed', sed],
  ['gsed', sed],
  ['sort', options({ long: 'compress-program' }, { short: 'oT', long: 'output temporary-directory' })],
  ['tar', tar],
  ['bsdtar', tar],
  ['rg', options({ long: 'pre hostname-bin' })],
  ['git', git],
  ['less', options({}, { short: 'oOkP', long: 'log-file lesskey-file' })],
  ['man', options({ short: 'PH', long: 'pager html' })],
  ['rsync', options({ short: 'e', long: 'rsh rsync-path' })],
  ['scp', options({ short: 'So' })],
  ['zip', options({ short: 'T', long: 'unzip-command' })],
  ['make', options({ long: 'eval' }, { short: 'fC', long: 'file makefile directory' })],
  ['curl', options({}, { short: 'oOKDcJ', long: 'output remote-name config dump-header cookie-jar' })],
  ['wget', options({ long: 'use-askpass execute' }, { short: 'OoPe', long: 'output-document output-file' })],
  ['uniq', (word, at) => (at > 1 && !word.startsWith('-') ? 'writes' : null)],
  ['tree', options({}, { short: 'o' })],
  ['yq', options({}, { short: 'is', long: 'inplace split-exp' })],
  ['node', inline('epr')],
  ['deno', (word) => (word === 'eval' ? 'writes' : null)],
  ['bun', inline('ep')],
  ['python', inline('c')],
  ['python3', inline('c')],
  ['perl', inline('eE')],
  ['ruby', inline('e')],
  ['php', inline('r')],
  ['lua', inline('e')],
]);
