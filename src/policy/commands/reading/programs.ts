/** Data: programs that only read, and the options with which they do. Programs that are missing here ask. */
import { type Argument, type Reader, type Scope, whyMoreThan } from './options.ts';

const DIGITS = '0123456789';
const SUMS: Reader = { flags: 'btczw', long: 'binary text check zero tag quiet status warn strict', open: true };
const GREP: Reader = {
  flags: `EFGPiyvwxcLlqsbHhnTZzUaoRrI${DIGITS}`,
  values: 'emABCdD',
  files: 'f',
  long:
    'extended-regexp fixed-strings basic-regexp perl-regexp ignore-case no-ignore-case invert-match word-regexp ' +
    'line-regexp count color colour files-without-match files-with-matches quiet silent no-messages byte-offset ' +
    'with-filename no-filename line-number initial-tab null null-data binary text only-matching recursive ' +
    'dereference-recursive line-buffered',
  longValues:
    'regexp max-count after-context before-context context binary-files devices directories exclude exclude-dir include label',
  longFiles: 'file exclude-from',
  operands: 'pattern',
  instead: 'e f regexp file',
  open: true,
};
const NOTHING: Reader = { operands: 'none' };

/** A map, so that names of Object.prototype are not found. */
const readers = (table: Readonly<Record<string, Reader>>): ReadonlyMap<string, Reader> =>
  new Map(Object.entries(table));

const same = (names: string, reader: Reader): Readonly<Record<string, Reader>> =>
  Object.fromEntries(names.split(' ').map((name) => [name, reader]));

export const READERS: ReadonlyMap<string, Reader> = readers({
  ls: {
    flags: 'aAbBcCdDfFgGhHikKlLmnNopqQrRsStuUvxXZ1',
    values: 'ITw',
    long:
      'all almost-all author escape ignore-backups color directory dired classify file-type format full-time ' +
      'group-directories-first no-group human-readable si dereference hyperlink indicator-style inode kibibytes ' +
      'numeric-uid-gid literal hide-control-chars show-control-chars quote-name quoting-style reverse recursive size ' +
      'sort time time-style context zero width',
    longValues: 'block-size hide ignore tabsize',
    open: true,
  },
  cat: {
    flags: 'AbeEnstTuv',
    long: 'show-all number-nonblank show-ends number squeeze-blank show-tabs show-nonprinting',
    open: true,
  },
  tac: { flags: 'br', values: 's', long: 'before regex', longValues: 'separator', open: true },
  ...same('head tail', {
    flags: `qvz${DIGITS}`,
    values: 'nc',
    long: 'quiet silent verbose zero-terminated',
    longValues: 'lines bytes',
    open: true,
  }),
  wc: { flags: 'cmlLw', long: 'bytes chars lines max-line-length words total', open: true },
  nl: {
    flags: 'p',
    values: 'bdfhilnsvw',
    long: 'no-renumber',
    longValues: 'body-numbering starting-line-number number-width number-format number-separator',
    open: true,
  },
  ...same('grep egrep fgrep', GREP),
  rg: {
    flags: 'acFhiHIlLnNopPqsSuUvVwx.0',
    values: 'ABCeEgjmMrtTd',
    files: 'f',
    long:
      'text count count-matches crlf fixed-strings files files-with-matches files-without-match follow glob-case-insensitive ' +
      'heading no-heading hidden ignore-case invert-match json line-number no-line-number line-regexp max-columns-preview ' +
      'multiline multiline-dotall no-config no-filename no-ignore no-ignore-dot no-ignore-global no-ignore-parent ' +
      'no-ignore-vcs no-messages null null-data one-file-system only-matching passthru pcre2 pretty quiet smart-case ' +
      'case-sensitive stats trim type-list unrestricted version vimgrep with-filename word-regexp byte-offset column ' +
      'no-column color',
    longValues:
      'after-context before-context context regexp encoding glob iglob max-count max-columns max-depth max-filesize ' +
      'replace sort sortr threads type type-not type-add colors context-separator',
    longFiles: 'file ignore-file',
    operands: 'pattern',
    instead: 'e f regexp file files type-list version V',
  },
  sort: {
    flags: 'bdfgiMhnRrVcCmsuz',
    values: 'ktS',
    long:
      'ignore-leading-blanks dictionary-order ignore-case general-numeric-sort ignore-nonprinting month-sort ' +
      'human-numeric-sort numeric-sort random-sort reverse sort version-sort check debug merge stable unique zero-terminated',
    longValues: 'key field-separator buffer-size parallel',
  },
  uniq: {
    flags: 'cdDiuz',
    values: 'fsw',
    long: 'count repeated all-repeated ignore-case unique zero-terminated group',
    longValues: 'skip-fields skip-chars check-chars',
    most: 1,
  },
  cut: {
    flags: 'nsz',
    values: 'bcdf',
    long: 'complement only-delimited zero-terminated',
    longValues: 'bytes characters delimiter fields output-delimiter',
    open: true,
  },
  tr: { flags: 'cCdst', long: 'complement delete squeeze-repeats truncate-set1', operands: 'text', open: true },
  paste: { flags: 'sz', values: 'd', long: 'serial zero-terminated', longValues: 'delimiters', open: true },
  comm: {
    flags: '123z',
    long: 'check-order nocheck-order total zero-terminated',
    longValues: 'output-delimiter',
    open: true,
  },
  join: { flags: 'iz', values: 'aejotv12', open: true },
  column: { flags: 'txneLJ', values: 'cosRrNdHTO', open: true },
  fold: { flags: 'bs', values: 'w', long: 'bytes spaces', longValues: 'width', open: true },
  expand: { flags: 'i', values: 't', open: true },
  unexpand: { flags: 'a', values: 't', open: true },
  rev: { open: true },
  od: { flags: 'abcdfilosxv', values: 'AjNStw', open: true },
  hexdump: { flags: 'bcCdovx', values: 'ens' },
  strings: { flags: 'af', values: 'ntd', open: true },
  base64: { flags: 'di', values: 'w', long: 'decode ignore-garbage', longValues: 'wrap', open: true },
  ...same('md5sum sha1sum sha256sum sha512sum b2sum cksum', SUMS),
  diff: {
    flags: `abBcdeEiNnpqrstTuwyZ${DIGITS}`,
    values: 'CFILUWx',
    files: 'X',
    long:
      'normal brief report-identical-files context unified ed rcs side-by-side left-column suppress-common-lines ' +
      'show-c-function expand-tabs initial-tab recursive no-dereference new-file unidirectional-new-file ' +
      'ignore-file-name-case ignore-case ignore-tab-expansion ignore-trailing-space ignore-space-change ' +
      'ignore-all-space ignore-blank-lines text strip-trailing-cr minimal speed-large-files color',
    longValues: 'label width exclude ignore-matching-lines tabsize starting-file',
    longFiles: 'exclude-from from-file to-file',
  },
  cmp: { flags: 'bls', values: 'in', long: 'print-bytes verbose quiet silent', longValues: 'ignore-initial bytes' },
  stat: {
    flags: 'Lft',
    values: 'c',
    long: 'dereference file-system terse cached',
    longValues: 'format printf',
    open: true,
  },
  file: {
    flags: 'bEhikLNnpr0',
    long: 'brief mime mime-type mime-encoding extension dereference no-dereference keep-going no-pad print0 raw',
  },
  du: {
    flags: 'abchHDkLlmPsSx0',
    values: 'Bdt',
    long: 'all apparent-size bytes total dereference human-readable si max-depth summarize separate-dirs one-file-system null time time-style',
    longValues: 'exclude block-size threshold',
  },
  df: {
    flags: 'ahHiklPT',
    values: 'Btx',
    long: 'all human-readable si inodes local portability print-type total output',
  },
  tree: {
    flags: 'adflxsShDFpugQNqrtcvUnCiAJX',
    values: 'LPI',
    long: 'gitignore dirsfirst filesfirst noreport prune matchdirs ignore-case du inodes device si sort timefmt',
    longValues: 'filelimit charset',
  },
  pwd: { flags: 'LP', operands: 'none' },
  basename: { flags: 'az', values: 's', operands: 'text', open: true },
  dirname: { flags: 'z', operands: 'text', open: true },
  realpath: {
    flags: 'emLPqsz',
    long: 'canonicalize-existing canonicalize-missing logical physical quiet strip no-symlinks zero',
    longValues: 'relative-to relative-base',
    open: true,
  },
  readlink: {
    flags: 'efmnqsvz',
    long: 'canonicalize canonicalize-existing canonicalize-missing no-newline quiet silent verbose zero',
    open: true,
  },
  which: { flags: 'as', operands: 'text', open: true },
  type: { flags: 'afptP', operands: 'text' },
  sleep: { operands: 'text' },
  seq: { values: 'fs', flags: `w${DIGITS}`, long: 'equal-width', longValues: 'format separator', operands: 'text' },
  whoami: NOTHING,
  nproc: { long: 'all', longValues: 'ignore', operands: 'none' },
  id: { flags: 'agGnruz', operands: 'none' },
  uname: { flags: 'asnrvmpio', operands: 'none' },
  arch: NOTHING,
});

// Sub-commands of git that only read, and the options with which they do. The sandbox prevents git from starting programs of the repository.

/** For `diff`, `log`, `show` and similar commands: how changes and commits are shown. */
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

const VERBS: ReadonlyMap<string, Reader> = readers({
  ...same('diff log show whatchanged diff-tree diff-index diff-files rev-list cherry', CHANGES),
  // A summary, with numbers, by mail address.
  shortlog: { ...CHANGES, flags: 'sneg', long: `${CHANGES.long ?? ''} numbered summary email group` },
  status: {
    flags: 'sbuzvnola',
    long: 'short branch porcelain long verbose untracked-files ignore-submodules ignored column no-column ahead-behind no-ahead-behind renames no-renames find-renames show-stash',
  },
  blame: {
    flags: 'wsenftpcblMC',
    values: 'L',
    long: 'line-porcelain porcelain date reverse root show-email show-name show-number abbrev since color-lines color-by-age no-progress',
    longValues: 'date since',
  },
  'ls-files': {
    flags: 'cdmoistkuzv',
    values: 'x',
    files: 'X',
    long: 'cached deleted modified others ignored stage unmerged killed directory no-empty-directory exclude-standard error-unmatch full-name abbrev deduplicate eol',
    longValues: 'exclude format',
    longFiles: 'exclude-from',
  },
  'ls-tree': { flags: 'drtlz', long: 'long name-only name-status full-name full-tree abbrev object-only format' },
  'rev-parse': REVISIONS,
  'cat-file': { flags: 'tse' },
  describe: {
    long: 'all tags contains abbrev long always dirty broken first-parent match exclude exact-match',
    longValues: 'match exclude',
  },
  'merge-base': { flags: 'a', long: 'all octopus independent is-ancestor fork-point' },
  'name-rev': { long: 'tags all name-only always refs no-undefined' },
  'for-each-ref': {
    long: 'count sort format points-at merged no-merged contains no-contains ignore-case',
    longValues: 'count sort format',
  },
  'show-ref': { flags: 'dqs', long: 'head heads branches tags dereference hash abbrev verify quiet' },
  'count-objects': { flags: 'vH', long: 'verbose human-readable', operands: 'none' },
  'check-ignore': { flags: 'qvnz', long: 'quiet verbose non-matching no-index' },
  'check-attr': { flags: 'az', long: 'all cached' },
  grep: {
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
});

/** Without arguments these list; with `--list` the words are patterns. Anything else may create or remove one. */
const LISTING: ReadonlySet<string> = new Set(['branch', 'tag']);
const PATTERNS = /^(?:-l|--list|--contains|--no-contains|--merged|--no-merged|--points-at)(?:=|$)/;

/** Words that must follow; nothing else is accepted. */
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
/** A commit contains the file's content, which the sandbox hides only in the folder. */
const SECRET = /(?:^|[/:])\.env/i;

function whyListing(verb: string, rest: readonly Argument[], scope: Scope): string | null {
  const lists = rest.some((argument) => argument.is === 'known' && PATTERNS.test(argument.text));
  return whyMoreThan(lists ? LIST : { ...LIST, operands: 'none' }, rest, scope);
}

/** Unknown words become a word that no pattern matches. */
const textOf = (given: readonly Argument[]): string =>
  given.map((argument) => (argument.is === 'known' ? argument.text : '\0')).join(' ');
