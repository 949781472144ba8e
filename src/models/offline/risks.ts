/**
 * The documented list of risky patterns that the analyst's reviewer looks for. Each row: what it is, where it is looked
 * for, how, why it matters and what a person should look at. A hit is a place to look, never a proof.
 */
import type { LanguageName } from './languages.ts';

export type Severity = 'high' | 'medium' | 'low';
export type RiskKind = 'security' | 'errors' | 'speed' | 'leftovers';

export interface Risk {
  readonly id: string;
  readonly kind: RiskKind;
  readonly severity: Severity;
  readonly languages: readonly LanguageName[];
  /** For ripgrep and JavaScript alike: no look-around, no back references. */
  readonly pattern: string;
  /** A line that matches this is no hit after all. */
  readonly unless?: RegExp;
  readonly why: string;
  readonly look: string;
  /** Hits are where something secret may stand: the place is named, the line is not quoted. */
  readonly secret?: true;
  /** Looked for in comments, or in tests: elsewhere these are passed over. */
  readonly inComments?: true;
  readonly inTests?: true;
}

const ALL: readonly LanguageName[] = ['js', 'py', 'go', 'rust', 'jvm', 'c', 'ruby', 'php', 'shell'];

type Row = Omit<Risk, 'kind' | 'severity'>;
const of = (kind: RiskKind, severity: Severity, rows: readonly Row[]): readonly Risk[] =>
  rows.map((row) => ({ kind, severity, ...row }));

export const RISKS: readonly Risk[] = [
  ...of('security', 'high', [
    {
      id: 'private-key',
      languages: ALL,
      pattern: '-----BEGIN (?:RSA |EC |DSA |OPENSSH )?PRIVATE KEY-----|\\bAKIA[0-9A-Z]{16}\\b',
      why: 'a key in the repository is known to everyone who has a copy, for ever',
      look: 'whether the key is real; if so, replace it and take it out of the history',
      secret: true,
    },
    {
      id: 'hard-coded-secret',
      languages: ALL,
      pattern:
        '(?i)\\b\\w*(?:api_?key|secret|passwd|password|auth_?token|access_?token)\\w*["\']?\\s*[:=]\\s*["\'][\\w/+=.-]{12,}["\']',
      unless: /process\.env|getenv|environ|example|placeholder|your[-_]|changeme|xxxx|<\w+>|\.\w+\.\w+["']/i,
      why: 'a secret in the source is known to everyone who has a copy',
      look: 'whether the value is real; if so, read it from the environment and replace it',
      secret: true,
    },
    {
      id: 'code-from-text',
      languages: ['js', 'py', 'ruby', 'php'],
      pattern: '\\beval\\s*\\(|\\bnew Function\\s*\\(|(?:^|[^.\\w])exec\\s*\\(\\s*(?:compile|open|f?["\'])',
      why: 'text becomes code: whoever can change the text runs what they like',
      look: 'where the text comes from, and whether a parser or a table does as well',
    },
    {
      id: 'shell-command',
      languages: ['js', 'py', 'go', 'rust', 'jvm', 'php', 'ruby'],
      pattern:
        '\\bexec(?:Sync)?\\s*\\(\\s*(?:`|["\'].*["\']\\s*\\+)|\\bshell\\s*[:=]\\s*[Tt]rue|\\bos\\.(?:system|popen)\\s*\\(|exec\\.Command\\s*\\(\\s*"(?:sh|bash)"|Command::new\\s*\\(\\s*"(?:sh|bash)"|getRuntime\\(\\)\\.exec\\s*\\(|\\bshell_exec\\s*\\(',
      why: 'a shell reads its arguments again: a file name or an input can become a command',
      look: 'whether anything from outside gets into the command; pass a list of arguments without a shell',
    },
    {
      id: 'sql-by-concatenation',
      languages: ['js', 'py', 'go', 'jvm', 'php', 'ruby', 'rust'],
      pattern:
        '(?i)["\'`]\\s*(?:select\\s.+\\sfrom|insert\\s+into|update\\s+\\w+\\s+set|delete\\s+from)\\b.*(?:\\$\\{|["\']\\s*\\+|["\']\\s*%\\s*[\\w(]|\\.format\\s*\\(|#\\{)',
      why: 'values that are glued into a statement can change the statement',
      look: 'whether any value comes from outside; bind parameters instead',
    },
    {
      id: 'unsafe-deserialisation',
      languages: ['py', 'jvm', 'php', 'ruby'],
      pattern:
        '\\bpickle\\.loads?\\s*\\(|\\byaml\\.load\\s*\\(|\\bnew ObjectInputStream\\b|\\bunserialize\\s*\\(|\\bMarshal\\.load\\b',
      unless: /SafeLoader|safe_load/,
      why: 'loading an object from foreign bytes can run code',
      look: 'where the bytes come from; use a plain format such as JSON',
    },
    {
      id: 'unbounded-copy',
      languages: ['c'],
      pattern: '\\b(?:strcpy|strcat|sprintf|vsprintf|gets)\\s*\\(',
      why: 'these write on without knowing how much room there is',
      look: 'the size of the target; use the bounded forms',
    },
  ]),
  ...of('security', 'medium', [
    {
      id: 'html-from-text',
      languages: ['js'],
      pattern:
        '\\.(?:innerHTML|outerHTML)\\s*=|dangerouslySetInnerHTML|\\bdocument\\.write\\s*\\(|\\bv-html=|\\{@html\\b',
      why: 'text that becomes HTML can bring a script with it',
      look: 'whether the text can come from outside, and what cleans it',
    },
    {
      id: 'certificates-not-checked',
      languages: ['js', 'py', 'go', 'rust', 'shell'],
      pattern:
        'rejectUnauthorized\\s*:\\s*false|NODE_TLS_REJECT_UNAUTHORIZED|\\bverify\\s*=\\s*False|InsecureSkipVerify\\s*:\\s*true|danger_accept_invalid_certs\\s*\\(\\s*true|\\bcurl\\b.*\\s(?:-k|--insecure)\\b',
      why: 'without the check anyone on the way can answer',
      look: 'whether this can be reached outside of tests',
    },
    {
      id: 'weak-hash',
      languages: ['js', 'py', 'go', 'jvm', 'php', 'ruby'],
      pattern:
        '(?i)createHash\\s*\\(\\s*["\'](?:md5|sha1)|hashlib\\.(?:md5|sha1)\\s*\\(|\\b(?:md5|sha1)\\.(?:New|Sum)|MessageDigest\\.getInstance\\s*\\(\\s*"(?:MD5|SHA-?1)"|\\bmd5\\s*\\(',
      why: 'MD5 and SHA-1 no longer keep anyone from making a second text with the same sum',
      look: 'whether it protects something; for a cache key it does no harm',
    },
    {
      id: 'guessable-random',
      languages: ['js', 'py', 'jvm', 'go', 'php'],
      pattern:
        '(?i)(?:token|secret|passw|session|nonce|salt|csrf)\\w*\\s*[:=].*(?:Math\\.random|random\\.(?:random|randint|choice)|new Random\\(|rand\\.Int|mt_rand)',
      why: 'the next value of such a generator can be worked out',
      look: 'whether somebody gains by guessing it; use the cryptographic generator',
    },
    {
      id: 'path-from-request',
      languages: ['js', 'py', 'php'],
      pattern:
        '(?:readFile|sendFile|createReadStream|open|unlink|include|require)\\w*\\s*\\([^)]*(?:req\\.(?:params|query|body)|request\\.(?:args|form|GET|POST)|\\$_(?:GET|POST|REQUEST))',
      why: 'a name from a request can lead out of the folder that was meant',
      look: 'whether the name is checked against the folder after it was resolved',
    },
    {
      id: 'unsafe-block',
      languages: ['rust'],
      pattern: '\\bunsafe\\s*(?:\\{|fn\\b|impl\\b)',
      why: 'here the compiler no longer keeps memory safe',
      look: 'whether the reason it is sound stands beside it',
    },
    {
      id: 'open-to-all',
      languages: ALL,
      pattern: 'Access-Control-Allow-Origin["\']?\\s*[,:]\\s*["\']\\*|\\bchmod\\b.{0,20}\\b0?o?777\\b',
      why: 'everybody may read (and with 777 write) it',
      look: 'whether that is meant',
    },
  ]),
  ...of('errors', 'medium', [
    {
      id: 'swallowed-error',
      languages: ['js', 'jvm', 'php', 'c', 'py', 'ruby'],
      pattern:
        '\\bcatch\\s*(?:\\([^)]*\\))?\\s*\\{\\s*\\}|\\.catch\\s*\\(\\s*(?:\\(\\w*\\)|\\w+)\\s*=>\\s*(?:\\{\\s*\\}|undefined|null)\\s*\\)|^\\s*except\\s*:|^\\s*except\\b[^:]*:\\s*pass\\b|\\brescue\\s*(?:=>\\s*\\w+)?\\s*;?\\s*nil',
      why: 'whatever goes wrong here is never heard of',
      look: 'which failures are expected; let the others through',
    },
    {
      id: 'ignored-result',
      languages: ['go'],
      pattern: '^\\s*_(?:\\s*,\\s*_)?\\s*:?=\\s*[\\w.]+\\(',
      why: 'an error is thrown away',
      look: 'whether the call can fail in a way that matters',
    },
    {
      id: 'unawaited-loop',
      languages: ['js'],
      pattern: '\\.forEach\\s*\\(\\s*async\\b',
      why: 'forEach does not wait: the code after it runs first, and failures go nowhere',
      look: 'whether for … of or Promise.all is meant',
    },
    {
      id: 'shared-default',
      languages: ['py'],
      pattern: '^\\s*(?:async\\s+)?def\\s+\\w+\\(.*=\\s*(?:\\[\\]|\\{\\}|set\\(\\))',
      why: 'the default is made once and shared by all calls',
      look: 'whether it is changed; use None and make it inside',
    },
    {
      id: 'text-compared-by-identity',
      languages: ['jvm'],
      pattern: '[=!]=\\s*"[^"]*"|"[^"]*"\\s*[=!]=[^=]',
      unless: /\.kts?:|\bwhen\b/,
      why: 'in Java this compares objects, not texts',
      look: 'whether equals is meant (in Kotlin and Scala it is fine)',
    },
    {
      id: 'checks-switched-off',
      languages: ['js', 'py'],
      pattern: '@ts-ignore|@ts-nocheck|eslint-disable(?:\\s|$)|#\\s*type:\\s*ignore\\s*$|#\\s*noqa\\s*$',
      why: 'the checker is told to look away, often from more than was meant',
      look: 'whether the reason still holds',
      inComments: true,
    },
  ]),
  ...of('errors', 'low', [
    {
      id: 'crash-on-failure',
      languages: ['rust', 'go'],
      pattern: '\\.unwrap\\(\\)|\\.expect\\("|^\\s*panic\\(|\\bpanic!\\(',
      why: 'a failure that could be handled ends the program',
      look: 'whether the failure can really not happen',
    },
    {
      id: 'untyped',
      languages: ['js'],
      pattern: ':\\s*any\\b|\\bas any\\b|<any>',
      why: 'the compiler no longer checks what flows through here',
      look: 'whether unknown and a check do as well',
    },
    {
      id: 'hard-exit',
      languages: ['js', 'py', 'go', 'jvm'],
      pattern:
        '\\bprocess\\.exit\\s*\\(|\\bos\\._exit\\s*\\(|\\bos\\.Exit\\s*\\(|\\bSystem\\.exit\\s*\\(|\\blog\\.Fatal',
      why: 'it ends the program at once: output and clean-up may be lost',
      look: 'whether it is in the outermost part of a program, where it belongs',
    },
    {
      id: 'printed-trace',
      languages: ['jvm'],
      pattern: '\\.printStackTrace\\s*\\(',
      why: 'the failure is printed and then forgotten',
      look: 'whether it should be thrown on or logged',
    },
  ]),
  ...of('speed', 'medium', [
    {
      id: 'copy-by-json',
      languages: ['js'],
      pattern: 'JSON\\.parse\\s*\\(\\s*JSON\\.stringify\\s*\\(',
      why: 'it writes and reads the whole value to copy it, and loses dates and undefined',
      look: 'how large the value is and how often it runs; structuredClone is there',
    },
    {
      id: 'row-by-row',
      languages: ['py'],
      pattern: '\\.iterrows\\s*\\(|for\\s+\\w+\\s+in\\s+range\\s*\\(\\s*len\\s*\\(',
      why: 'row by row is the slowest way through a table',
      look: 'how many rows there are',
    },
  ]),
  ...of('speed', 'low', [
    {
      id: 'blocking-call',
      languages: ['js'],
      pattern: '\\b(?:readFileSync|writeFileSync|readdirSync|execSync|spawnSync|execFileSync)\\s*\\(',
      why: 'everything else waits until it is done',
      look: 'whether it runs at the start only, or while others are served',
    },
    {
      id: 'sleeping',
      languages: ['py', 'jvm', 'go', 'ruby'],
      pattern: '\\btime\\.[sS]leep\\s*\\(|\\bThread\\.sleep\\s*\\(|^\\s*sleep\\s*\\(',
      why: 'a fixed wait is either too long or too short',
      look: 'what it really waits for',
    },
    {
      id: 'endless-timer',
      languages: ['js'],
      pattern: '\\bsetInterval\\s*\\(',
      why: 'a timer that nobody ends keeps its memory and the program alive',
      look: 'whether clearInterval is called for it',
    },
    {
      id: 'all-columns',
      languages: ALL,
      pattern: '(?i)["\'`]\\s*select\\s+\\*\\s+from\\b',
      why: 'it reads every column, also those nobody needs',
      look: 'how wide the table is',
    },
  ]),
  ...of('leftovers', 'low', [
    {
      id: 'open-note',
      languages: ALL,
      pattern: '\\b(?:TO-?DO|FIX-?ME|HACK|XXX)\\b',
      why: 'somebody left work for later',
      look: 'whether later is now',
      inComments: true,
    },
    {
      id: 'debug-output',
      languages: ['js', 'py', 'rust', 'jvm'],
      pattern:
        '^\\s*debugger\\b|\\bpdb\\.set_trace\\s*\\(|^\\s*breakpoint\\s*\\(\\)|\\bdbg!\\s*\\(|\\btodo!\\s*\\(|\\bunimplemented!\\s*\\(|\\bconsole\\.(?:log|debug)\\s*\\(',
      why: 'it was probably only meant while developing',
      look: 'whether a user should see it',
    },
    {
      id: 'test-left-out',
      languages: ['js', 'py', 'jvm', 'go'],
      pattern:
        '\\b(?:it|test|describe)\\.(?:skip|only)\\s*\\(|@pytest\\.mark\\.skip|@unittest\\.skip|@(?:Disabled|Ignore)\\b|\\bt\\.Skip\\s*\\(',
      why: 'a test that is left out (or the only one that runs) shows nothing',
      look: 'why it was switched off',
      inTests: true,
    },
  ]),
];
