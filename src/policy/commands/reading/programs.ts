/** Data: programs that only read, and with which options. What is missing here asks. */
import type { Reader } from './options.ts';

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

export const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  [
    'ls',
    {
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
  ],
  [
    'cat',
    {
      flags: 'AbeEnstTuv',
      long: 'show-all number-nonblank show-ends number squeeze-blank show-tabs show-nonprinting',
      open: true,
    },
  ],
  ['tac', { flags: 'br', values: 's', long: 'before regex', longValues: 'separator', open: true }],
  [
    'head',
    {
      flags: `qvz${DIGITS}`,
      values: 'nc',
      long: 'quiet silent verbose zero-terminated',
      longValues: 'lines bytes',
      open: true,
    },
  ],
  [
    'tail',
    {
      flags: `qvz${DIGITS}`,
      values: 'nc',
      long: 'quiet silent verbose zero-terminated',
      longValues: 'lines bytes',
      open: true,
    },
  ],
  ['wc', { flags: 'cmlLw', long: 'bytes chars lines max-line-length words total', open: true }],
  [
    'nl',
    {
      flags: 'p',
      values: 'bdfhilnsvw',
      long: 'no-renumber',
      longValues: 'body-numbering starting-line-number number-width number-format number-separator',
      open: true,
    },
  ],
  ['grep', GREP],
  ['egrep', GREP],
  ['fgrep', GREP],
  [
    'rg',
    {
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
  ],
  [
    'sort',
    {
      flags: 'bdfgiMhnRrVcCmsuz',
      values: 'ktS',
      long:
        'ignore-leading-blanks dictionary-order ignore-case general-numeric-sort ignore-nonprinting month-sort ' +
        'human-numeric-sort numeric-sort random-sort reverse sort version-sort check debug merge stable unique zero-terminated',
      longValues: 'key field-separator buffer-size parallel',
    },
  ],
  [
    'uniq',
    {
      flags: 'cdDiuz',
      values: 'fsw',
      long: 'count repeated all-repeated ignore-case unique zero-terminated group',
      longValues: 'skip-fields skip-chars check-chars',
      most: 1,
    },
  ],
  [
    'cut',
    {
      flags: 'nsz',
      values: 'bcdf',
      long: 'complement only-delimited zero-terminated',
      longValues: 'bytes characters delimiter fields output-delimiter',
      open: true,
    },
  ],
  ['tr', { flags: 'cCdst', long: 'complement delete squeeze-repeats truncate-set1', operands: 'text', open: true }],
  ['paste', { flags: 'sz', values: 'd', long: 'serial zero-terminated', longValues: 'delimiters', open: true }],
  [
    'comm',
    {
      flags: '123z',
      long: 'check-order nocheck-order total zero-terminated',
      longValues: 'output-delimiter',
      open: true,
    },
  ],
  ['join', { flags: 'iz', values: 'aejotv12', open: true }],
  ['column', { flags: 'txneLJ', values: 'cosRrNdHTO', open: true }],
  ['fold', { flags: 'bs', values: 'w', long: 'bytes spaces', longValues: 'width', open: true }],
  ['expand', { flags: 'i', values: 't', open: true }],
  ['unexpand', { flags: 'a', values: 't', open: true }],
  ['rev', { open: true }],
  ['od', { flags: 'abcdfilosxv', values: 'AjNStw', open: true }],
  ['hexdump', { flags: 'bcCdovx', values: 'ens' }],
  ['strings', { flags: 'af', values: 'ntd', open: true }],
  ['base64', { flags: 'di', values: 'w', long: 'decode ignore-garbage', longValues: 'wrap', open: true }],
  ...['md5sum', 'sha1sum', 'sha256sum', 'sha512sum', 'b2sum', 'cksum'].map((name): [string, Reader] => [name, SUMS]),
  [
    'diff',
    {
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
  ],
  ['cmp', { flags: 'bls', values: 'in', long: 'print-bytes verbose quiet silent', longValues: 'ignore-initial bytes' }],
  [
    'stat',
    {
      flags: 'Lft',
      values: 'c',
      long: 'dereference file-system terse cached',
      longValues: 'format printf',
      open: true,
    },
  ],
  [
    'file',
    {
      flags: 'bEhikLNnpr0',
      long: 'brief mime mime-type mime-encoding extension dereference no-dereference keep-going no-pad print0 raw',
    },
  ],
  [
    'du',
    {
      flags: 'abchHDkLlmPsSx0',
      values: 'Bdt',
      long: 'all apparent-size bytes total dereference human-readable si max-depth summarize separate-dirs one-file-system null time time-style',
      longValues: 'exclude block-size threshold',
    },
  ],
  [
    'df',
    {
      flags: 'ahHiklPT',
      values: 'Btx',
      long: 'all human-readable si inodes local portability print-type total output',
    },
  ],
  [
    'tree',
    {
      flags: 'adflxsShDFpugQNqrtcvUnCiAJX',
      values: 'LPI',
      long: 'gitignore dirsfirst filesfirst noreport prune matchdirs ignore-case du inodes device si sort timefmt',
      longValues: 'filelimit charset',
    },
  ],
  ['pwd', { flags: 'LP', operands: 'none' }],
  ['basename', { flags: 'az', values: 's', operands: 'text', open: true }],
  ['dirname', { flags: 'z', operands: 'text', open: true }],
  [
    'realpath',
    {
      flags: 'emLPqsz',
      long: 'canonicalize-existing canonicalize-missing logical physical quiet strip no-symlinks zero',
      longValues: 'relative-to relative-base',
      open: true,
    },
  ],
  [
    'readlink',
    {
      flags: 'efmnqsvz',
      long: 'canonicalize canonicalize-existing canonicalize-missing no-newline quiet silent verbose zero',
      open: true,
    },
  ],
  ['which', { flags: 'as', operands: 'text', open: true }],
  ['type', { flags: 'afptP', operands: 'text' }],
  ['sleep', { operands: 'text' }],
  ['seq', { values: 'fs', flags: `w${DIGITS}`, long: 'equal-width', longValues: 'format separator', operands: 'text' }],
  ['whoami', NOTHING],
  ['nproc', { long: 'all', longValues: 'ignore', operands: 'none' }],
  ['id', { flags: 'agGnruz', operands: 'none' }],
  ['uname', { flags: 'asnrvmpio', operands: 'none' }],
  ['arch', NOTHING],
]);
