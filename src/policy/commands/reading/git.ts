/** Sub-commands of git that only read, and with which options. That git starts nothing of the repository's is the box's part. */
import { type Reader, whyMoreThan } from './options.ts';
import type { Argument, Scope } from './words.ts';

const DIGITS = '0123456789';

/** Of `diff`, `log`, `show` and their like: what is shown of changes and commits. */
const CHANGES: Reader = {
  flags: `pusbwRztmcMCBiEFPgvh${DIGITS}`,
  values: 'UnSGLl',
  long:
    'patch no-patch unified raw stat numstat shortstat dirstat compact-summary summary name-only name-status cached staged ' +
    'no-color color no-ext-diff no-textconv color-words word-diff color-moved no-color-moved no-renames find-renames ' +
    'find-copies find-copies-harder full-index abbrev no-abbrev minimal patience histogram anchored ' +
    'diff-algorithm ignore-space-at-eol ignore-space-change ignore-all-space ignore-blank-lines ignore-cr-at-eol ' +
    'ignore-matching-lines exit-code quiet check no-prefix src-prefix dst-prefix relative no-relative function-context ' +
    'inter-hunk-context pickaxe-all pickaxe-regex diff-filter no-index merge-base ignore-submodules oneline graph no-graph ' +
    'decorate no-decorate decorate-refs source all branches tags remotes since after until before author committer grep ' +
    'invert-grep all-match regexp-ignore-case extended-regexp fixed-strings perl-regexp format pretty abbrev-commit ' +
    'no-abbrev-commit date relative-date parents children follow reverse merges no-merges first-parent max-count skip ' +
    'full-history simplify-merges ancestry-path dense sparse full-diff no-walk do-walk cherry cherry-mark cherry-pick ' +
    'left-right left-only right-only topo-order date-order author-date-order boundary root not no-notes notes no-show-signature ' +
    'no-mailmap use-mailmap log-size walk-reflogs count objects no-expand-tabs no-commit-id stdin',
  longValues: 'since until author committer grep format date max-count skip diff-filter',
};
const REVISIONS: Reader = {
  flags: 'q',
  long:
    'verify quiet short abbrev-ref symbolic-full-name symbolic show-toplevel show-prefix show-cdup git-dir absolute-git-dir ' +
    'git-common-dir is-inside-work-tree is-inside-git-dir is-bare-repository all branches tags remotes sq revs-only no-revs default',
};
const LIST: Reader = {
  flags: `alrviq${DIGITS}`,
  values: 'n',
  long:
    'list all remotes verbose color no-color column no-column show-current abbrev no-abbrev ignore-case sort format contains ' +
    'no-contains merged no-merged points-at',
  longValues: 'sort format contains no-contains merged no-merged points-at',
};

const VERBS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ...[
    'diff',
    'log',
    'show',
    'whatchanged',
    'shortlog',
    'diff-tree',
    'diff-index',
    'diff-files',
    'rev-list',
    'cherry',
  ].map((verb): [string, Reader] => [
    verb,
    // `shortlog`: a summary, with numbers, by mail.
    verb === 'shortlog'
      ? { ...CHANGES, flags: 'sneg', long: `${CHANGES.long ?? ''} numbered summary email group` }
      : CHANGES,
  ]),
  [
    'status',
    {
      flags: 'sbuzvnola',
      long: 'short branch porcelain long verbose untracked-files ignore-submodules ignored column no-column ahead-behind no-ahead-behind renames no-renames find-renames show-stash',
    },
  ],
  [
    'blame',
    {
      flags: 'wsenftpcblMC',
      values: 'L',
      long: 'line-porcelain porcelain date reverse root show-email show-name show-number abbrev since color-lines color-by-age no-progress',
      longValues: 'date since',
    },
  ],
  [
    'ls-files',
    {
      flags: 'cdmoistkuzv',
      values: 'x',
      files: 'X',
      long: 'cached deleted modified others ignored stage unmerged killed directory no-empty-directory exclude-standard error-unmatch full-name abbrev deduplicate eol',
      longValues: 'exclude format',
      longFiles: 'exclude-from',
    },
  ],
  ['ls-tree', { flags: 'drtlz', long: 'long name-only name-status full-name full-tree abbrev object-only format' }],
  ['rev-parse', REVISIONS],
  ['cat-file', { flags: 'tse' }],
  [
    'describe',
    {
      long: 'all tags contains abbrev long always dirty broken first-parent match exclude exact-match',
      longValues: 'match exclude',
    },
  ],
  ['merge-base', { flags: 'a', long: 'all octopus independent is-ancestor fork-point' }],
  ['name-rev', { long: 'tags all name-only always refs no-undefined' }],
  [
    'for-each-ref',
    {
      long: 'count sort format points-at merged no-merged contains no-contains ignore-case',
      longValues: 'count sort format',
    },
  ],
  ['show-ref', { flags: 'dqs', long: 'head heads branches tags dereference hash abbrev verify quiet' }],
  ['count-objects', { flags: 'vH', long: 'verbose human-readable', operands: 'none' }],
  ['check-ignore', { flags: 'qvnz', long: 'quiet verbose non-matching no-index' }],
  ['check-attr', { flags: 'az', long: 'all cached' }],
  [
    'grep',
    {
      flags: `EFGPiIvwclLnhHqzopWrt${DIGITS}`,
      values: 'emABC',
      files: 'f',
      long:
        'extended-regexp basic-regexp fixed-strings perl-regexp ignore-case invert-match word-regexp count ' +
        'files-with-matches files-without-match name-only line-number column only-matching heading break show-function ' +
        'function-context cached untracked no-index no-exclude-standard exclude-standard and or not all-match quiet null color ' +
        'no-color full-name no-textconv recursive no-recursive',
      longValues: 'after-context before-context context max-depth max-count threads',
      operands: 'pattern',
      instead: 'e f',
    },
  ],
]);

/** Without a word these list; with `--list` the words are patterns. Anything else may make or remove one. */
const LISTING: ReadonlySet<string> = new Set(['branch', 'tag']);
const PATTERNS = /^(?:-l|--list|--contains|--no-contains|--merged|--no-merged|--points-at)(?:=|$)/;

/** Words that have to follow; more than them is not read here. */
const EXACT: ReadonlyMap<string, RegExp> = new Map([
  ['remote', /^(?:(?:-v|--verbose|get-url [\w./-]+))?$/],
  ['stash', /^(?:list|show(?: -p| --stat| --patch)*(?: stash@\{\d+\})?)$/],
  ['worktree', /^list(?: --porcelain| -v)*$/],
  ['reflog', /^(?:show(?: [\w./@{}~^][\w./@{}~^-]*)*)?$/],
  ['symbolic-ref', /^(?:--short |-q )*[\w./][\w./-]*$/],
  ['config', /^(?:--list|-l|(?:--get|--get-all|--get-regexp) [\w.*^$-]+)$/],
  ['version', /^$/],
]);

/** Why these arguments of git do more than read; null when they only read. */
export function whyGit(given: readonly Argument[], scope: Scope): string | null {
  const at = given.findIndex((argument) => argument.is !== 'known' || !BEFORE.test(argument.text));
  const verb = given[at === -1 ? 0 : at];
  if (verb === undefined) return 'git does nothing by itself';
  if (verb.is !== 'known') return 'its sub-command is not in the text';
  if (given.some((argument) => argument.is === 'known' && SECRET.test(argument.text))) return 'it names a .env file';
  if (verb.text === '--version') return null;
  const rest = given.slice(at + 1);
  const exact = EXACT.get(verb.text);
  if (exact !== undefined) return exact.test(textOf(rest)) ? null : `git ${verb.text} may do more than read here`;
  if (LISTING.has(verb.text)) return whyListing(verb.text, rest, scope);
  const reader = VERBS.get(verb.text);
  return reader === undefined ? `git ${verb.text} is not known to only read` : whyMoreThan(reader, rest, scope);
}

const BEFORE = /^(?:--no-pager|-P|--no-optional-locks|--literal-pathspecs)$/;
/** A commit has the content of the file, which the box covers only in the folder. */
const SECRET = /(?:^|[/:])\.env/i;

function whyListing(verb: string, rest: readonly Argument[], scope: Scope): string | null {
  const lists = rest.some((argument) => argument.is === 'known' && PATTERNS.test(argument.text));
  return whyMoreThan(lists ? LIST : { ...LIST, operands: 'none' }, rest, scope);
}

/** Unknown words become one that no pattern takes. */
const textOf = (given: readonly Argument[]): string =>
  given.map((argument) => (argument.is === 'known' ? argument.text : '\0')).join(' ');
