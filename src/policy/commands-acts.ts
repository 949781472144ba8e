/**
 * Arguments that are acts of their own: they make a program run another one or write a file (`find -delete`, `sort -o`,
 * `rg --pre`, `git -c`). A `*` or `**` of an allow rule stands for names and numbers, so it never covers one: the rule
 * must spell it out. Unknown programs have none: who allows them allows what they do.
 */
import { type Known, type Simple, programOf } from './commands-words.ts';

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

const has = (word: string, { short = '', long = '', exact = '' }: Options): boolean => {
  if (exact.split(' ').includes(word)) return true;
  if (word.startsWith('--')) {
    const [name = ''] = word.slice(2).split('=');
    return name !== '' && long.split(' ').some((one) => one !== '' && one.startsWith(name));
  }
  return word.startsWith('-') && short.split('').some((letter) => word.includes(letter));
};

const options =
  (runs: Options, writes: Options = {}): Judge =>
  (word) =>
    has(word, runs) ? 'runs' : has(word, writes) ? 'writes' : null;

const AWK_ACTS = /system|getline|[|>@]/;
const awk: Judge = (word) => {
  if (AWK_ACTS.test(word)) return 'runs';
  return /^-(?![Fv])./.test(word) ? 'runs' : null;
};

/** Printing, deleting lines and replacing text; everything else of its language may write or run. */
const SED_PLAIN =
  /^(?:\d+|\$)?(?:,(?:\d+|\$))?[pdq=]$|^s([/|,#:])(?:(?!\1)[^\\\n;{}]|\\[^\n])*\1(?:(?!\1)[^\\\n]|\\[^\n])*\1[gpI\d]*$/;
const SED_RUNS = /(?:^|[^a-zA-Z\\])e(?:\s|$)|s(.).*\1.*\1[gpiImM\d]*e/s;
const SED_SCRIPT = /^(?:-e|--expression)$/;
const sed: Judge = (word, at, words) => {
  if (/^-[nErsuz]+$/.test(word) || SED_SCRIPT.test(word)) return null;
  const harmless = word.startsWith('-') ? false : !isScript(words, at) || SED_PLAIN.test(word);
  if (harmless) return null;
  return SED_RUNS.test(word) ? 'runs' : 'writes';
};

/** The word after `-e`; without one, the first that is no option. */
function isScript(words: readonly Known[], at: number): boolean {
  if (words.some((word) => SED_SCRIPT.test(word ?? ''))) return SED_SCRIPT.test(words[at - 1] ?? '');
  return words.slice(1, at).every((word) => word?.startsWith('-'));
}

const TAR_RUNS: Options = {
  short: 'IF',
  long: 'to-command use-compress-program checkpoint-action info-script new-volume-script rsh-command rmt-command',
};
const tar: Judge = (word, at) => {
  if (has(word, TAR_RUNS)) return 'runs';
  if (/^-?t[vzjJf]*$/.test(word)) return null;
  return at === 1 || word.startsWith('-') ? 'writes' : null;
};

const GIT_FIRST: Options = { short: 'cp', long: 'exec-path config-env git-dir work-tree paginate', exact: '-C' };
const GIT_RUNS: Options = {
  short: 'O',
  long: 'ext-diff textconv upload-pack receive-pack exec open-files-in-pager extcmd tool template config interactive',
};
const GIT_VERBS: ReadonlySet<string> = new Set(
  'bisect filter-branch difftool mergetool submodule hook config worktree send-email instaweb gui citool'.split(' '),
);
/** Before its verb an option may name a program; behind it only some do, and some verbs do nothing else. */
const git: Judge = (word, at, words) => {
  const verb = words.findIndex((one, place) => place > 0 && one !== null && !one.startsWith('-'));
  if (verb === -1 || at < verb) return has(word, GIT_FIRST) ? 'runs' : null;
  if (at === verb) return GIT_VERBS.has(word) ? 'runs' : null;
  if (words[verb] === 'rebase' && /^-[xi]/.test(word)) return 'runs';
  return behindVerb(word, at, words);
};
const behindVerb = options(GIT_RUNS, { short: 'o', long: 'output' });

/** Code in an argument. The text of a program is not seen by rules either way, so it only keeps a wildcard from covering it. */
const inline =
  (letters: string): Judge =>
  (word) =>
    has(word, { short: letters, long: 'eval print require import loader command execute' }) ? 'writes' : null;

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
  ['less', options({ exact: '' }, { short: 'oOkP', long: 'log-file lesskey-file' })],
  ['man', options({ short: 'PH', long: 'pager html' })],
  ['rsync', options({ short: 'e', long: 'rsh rsync-path' }, {})],
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
