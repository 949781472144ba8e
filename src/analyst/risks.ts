/**
 * The documented list of risky patterns, one row a line: severity, languages, name, pattern, what to look at. A hit is a place to look,
 * never a proof. Patterns are for ripgrep and JavaScript alike; `>>` in one divides a line from what the line after it has to be.
 */
import { LANGUAGES } from './languages.ts';
import type { LanguageName } from './languages.ts';

export type Severity = 'high' | 'medium' | 'low';

export interface Risk {
  readonly severity: Severity;
  readonly languages: readonly LanguageName[];
  readonly name: string;
  readonly group: 'security' | 'errors' | 'other';
  readonly pattern: string;
  /** What the following line (comments and blanks passed over) has to be. */
  readonly next: string | null;
  /** What a person should look at. */
  readonly look: string;
  /** Hits are where something secret may be: the place is named, the line is not quoted. */
  readonly secret: boolean;
}

const ROWS = String.raw`
security ;; high   ;; all                ;; secret: private key           ;; -----BEGIN (?:RSA |EC |DSA |OPENSSH )?PRIVATE KEY-----|\bAKIA[0-9A-Z]{16}\b ;; whether the key is real
security ;; high   ;; all                ;; secret: value in the code     ;; \b\w*(?:api_?[kK]ey|API_KEY|[sS]ecret|SECRET|passwd|[pP]assword|PASSWORD|[aA]uth_?[tT]oken|[aA]ccess_?[tT]oken)\w*["']?\s*[:=]\s*["'][\w/+=-]{12,}["'] ;; whether the value is real
security ;; high   ;; js py ruby php     ;; text run as code              ;; (?:^|[^.\w'"])eval\s*\(|\bnew Function\s*\(|(?:^|[^.\w'"])exec\s*\(\s*(?:compile|open|f?["'])|\binstance_eval\s*\(?\s*["']|(?:^|[^.\w'"])execfile\( ;; where the text comes from
security ;; high   ;; js py go rust java php ruby ;; command through a shell ;; \bexec(?:Sync)?\s*\(\s*(?:\x60|["'].*["']\s*\+)|\bshell\s*[:=]\s*[Tt]rue|\bos\.(?:system|popen)\s*\(|exec\.Command\s*\(\s*"(?:sh|bash)"|Command::new\s*\(\s*"(?:sh|bash)"|getRuntime\(\)\.exec\s*\(|\bshell_exec\s*\( ;; whether anything from outside gets into the command
security ;; high   ;; c                  ;; command through a shell       ;; (?:^|[^.\w])(?:system|popen)\s*\( ;; whether anything from outside gets into the command
security ;; high   ;; js py go java php ruby rust cs ;; SQL put together from text ;; ["'\x60]\s*(?:SELECT\s.+\sFROM|INSERT\s+INTO|UPDATE\s+\w+\s+SET|DELETE\s+FROM|select\s.+\sfrom|insert\s+into|delete\s+from)\b.*(?:\$\{|["']\s*\+|["']\s*%\s*[\w(]|\.format\s*\(|#\{) ;; whether a value comes from outside
security ;; high   ;; py java php ruby   ;; object loaded from bytes      ;; \bpickle\.loads?\s*\(|\byaml\.load\s*\([^)]*$|\byaml\.load\s*\((?:[^)L]|L[^o])*\)|\bnew ObjectInputStream\b|\bunserialize\s*\(|\bMarshal\.load\b|\bmarshal\.loads?\( ;; where the bytes come from
security ;; high   ;; c                  ;; copy without a bound          ;; (?:^|[^.\w])(?:strcpy|strcat|sprintf|vsprintf|gets)\s*\( ;; the size of the target
security ;; medium ;; c                  ;; format that is no literal     ;; (?:^|[^.\w])(?:printf\s*\(|fprintf\s*\(\s*\w+\s*,|syslog\s*\(\s*\w+\s*,)\s*[a-z_]\w*\s*\) ;; whether a % can get into the text
security ;; medium ;; js                 ;; HTML from text                ;; \.(?:innerHTML|outerHTML)\s*=|dangerouslySetInnerHTML|\bdocument\.write\s*\(|\bv-html=|\{@html\b ;; whether the text can come from outside
security ;; medium ;; js py go rust shell ;; certificates are not checked ;; rejectUnauthorized\s*:\s*false|NODE_TLS_REJECT_UNAUTHORIZED|\bverify\s*=\s*False|InsecureSkipVerify\s*:\s*true|danger_accept_invalid_certs\s*\(\s*true|\bcurl\b.*\s(?:-k|--insecure)\b ;; whether it can be reached outside of tests
security ;; medium ;; java               ;; certificates are not checked  ;; \bverify\s*\(.*HostnameVerifier|setDefaultHostnameVerifier|\bcheckServerTrusted\s*\([^)]*\)\s*(?:throws \w+\s*)?\{\s*\} ;; whether it can be reached outside of tests
security ;; medium ;; js py go java php ruby cs ;; weak hash              ;; createHash\s*\(\s*["'](?:md5|sha1)|hashlib\.(?:md5|sha1)\s*\(|\b(?:md5|sha1)\.(?:New|Sum)|getInstance\s*\(\s*"(?:MD5|SHA-?1)"|(?:^|[^.\w'"])md5\s*\(|\bMD5\.Create\( ;; whether it protects something
security ;; medium ;; js py java go php  ;; secret from guessable numbers ;; (?:[tT]oken|[sS]ecret|[pP]assw|[sS]ession|[nN]once|[sS]alt|[cC]srf)\w*\s*[:=].*(?:Math\.random|random\.(?:random|randint|choice)|new Random\(|rand\.Int|mt_rand) ;; whether somebody gains by guessing it
security ;; medium ;; c                  ;; guessable numbers             ;; (?:^|[^.\w])s?rand\s*\( ;; whether somebody gains by guessing it
security ;; medium ;; c py               ;; file name that others may take ;; (?:^|[^.\w])(?:tmpnam|tempnam|mktemp)\s*\(|\btempfile\.mktemp\s*\( ;; whether another user can make that file first
security ;; medium ;; java               ;; XML that may load others      ;; \b(?:DocumentBuilderFactory|SAXParserFactory|XMLInputFactory)\.new\w*\( ;; whether external entities are switched off
security ;; medium ;; py ruby php js     ;; path from a request           ;; (?:readFile|sendFile|createReadStream|open|unlink|include|require)\w*\s*\([^)]*(?:req\.(?:params|query|body)|request\.(?:args|form|GET|POST)|\$_(?:GET|POST|REQUEST)) ;; whether the name is checked against its folder
security ;; medium ;; rust               ;; unsafe                        ;; \bunsafe\s*(?:\{|fn\b|impl\b) ;; whether the reason that it is sound is beside it
security ;; medium ;; go                 ;; unsafe                        ;; \bunsafe\.Pointer\( ;; whether the reason that it is sound is beside it
security ;; medium ;; all                ;; open to all                   ;; Access-Control-Allow-Origin["']?\s*[,:]\s*["']\*|\bchmod\b.{0,20}\b0?o?777\b ;; whether that is meant
errors   ;; medium ;; js java php c cs   ;; swallowed error               ;; \bcatch\s*(?:\([^)]*\))?\s*\{\s*(?:/[/*].*)?\}|\.catch\s*\(\s*(?:\(\w*\)|\w+)\s*=>\s*(?:\{\s*\}|undefined|null)\s*\) ;; which failures are expected
errors   ;; medium ;; js java php c cs   ;; swallowed error               ;; \bcatch\s*(?:\([^)]*\))?\s*\{\s*(?://.*)?$>>^\s*\} ;; which failures are expected
errors   ;; medium ;; py                 ;; swallowed error               ;; ^\s*except\b[^:]*:\s*pass\b ;; which failures are expected
errors   ;; medium ;; py                 ;; swallowed error               ;; ^\s*except\b.*:\s*(?:#.*)?$>>^\s*(?:pass|continue)\b ;; which failures are expected
errors   ;; medium ;; py                 ;; catches everything            ;; ^\s*except\s*:|^\s*except BaseException ;; whether an interrupt should be caught too
errors   ;; medium ;; ruby               ;; swallowed error               ;; \brescue\s*(?:=>\s*\w+)?\s*;?\s*nil\b ;; which failures are expected
errors   ;; medium ;; ruby               ;; swallowed error               ;; ^\s*rescue\b.*$>>^\s*(?:nil|end)\b ;; which failures are expected
errors   ;; medium ;; go                 ;; ignored result                ;; ^\s*_(?:\s*,\s*_)?\s*:?=\s*[\w.]+\(|^\s*\w+,\s*_\s*:?=\s*[\w.]*\( ;; whether the call can fail in a way that matters
errors   ;; medium ;; go                 ;; ignored error                 ;; \bif err != nil \{\s*$>>^\s*\} ;; whether the call can fail in a way that matters
errors   ;; medium ;; js                 ;; loop that does not wait       ;; \.forEach\s*\(\s*async\b ;; whether for … of or Promise.all is meant
errors   ;; medium ;; py                 ;; default that calls share      ;; ^\s*(?:async\s+)?def\s+\w+\(.*=\s*(?:\[\]|\{\}|set\(\)) ;; whether it is changed
errors   ;; medium ;; java               ;; text compared by identity     ;; [^=!<>][=!]=\s*"[^"]*"|"[^"]*"\s*[=!]=[^=] ;; whether equals is meant
errors   ;; medium ;; js                 ;; assignment in a condition     ;; ^\s*(?:if|while)\s*\(\s*\w+\s*=\s*[^=>(]+\)\s*\{?\s*$ ;; whether === is meant
errors   ;; medium ;; c                  ;; allocation that is not checked ;; \b(\w+)\s*=\s*(?:\([^)]*\)\s*)?(?:malloc|calloc|strdup)\s*\([^;]*;\s*$>>^\s*(?:mem(?:cpy|set)\s*\(|str\w+\s*\(|\w+(?:->\w+|\[[^\]]*\])\s*=|\*\w+\s*=) ;; what happens when there is no memory
errors   ;; low    ;; rust               ;; crash on a failure            ;; \.unwrap\(\)|\.expect\("|\bpanic!\(|\btodo!\(|\bunimplemented!\( ;; whether the failure can really not happen
errors   ;; low    ;; go                 ;; crash on a failure            ;; ^\s*panic\(|\blog\.Fatal ;; whether the failure can really not happen
errors   ;; low    ;; c                  ;; crash on a failure            ;; (?:^|[^.\w])(?:abort\s*\(\s*\)|assert\s*\(\s*0\s*\)) ;; whether the failure can really not happen
errors   ;; low    ;; js py java cs      ;; ends the program at once      ;; \bprocess\.exit\s*\(|\bos\._exit\s*\(|\bSystem\.exit\s*\(|\bEnvironment\.Exit\( ;; whether it is in the outermost part of a program
errors   ;; low    ;; java               ;; failure printed and forgotten ;; \.printStackTrace\s*\( ;; whether it should be thrown on
errors   ;; low    ;; php                ;; error silenced by @           ;; (?:^|[=(\s])@[a-z_]+\( ;; whether the failure matters
errors   ;; low    ;; shell              ;; failure ignored               ;; \|\|\s*true\s*$ ;; which failures are expected
other    ;; low    ;; js py              ;; checker switched off          ;; @ts-ignore|@ts-nocheck|eslint-disable(?:\s|$)|#\s*type:\s*ignore\s*$|#\s*noqa\s*$ ;; whether the reason still holds
other    ;; low    ;; py java go ruby cs ;; fixed wait                    ;; \btime\.[sS]leep\s*\(|\bThread\.[sS]leep\s*\( ;; what it really waits for
other    ;; low    ;; js                 ;; copy by JSON                  ;; JSON\.parse\s*\(\s*JSON\.stringify\s*\( ;; how often it runs
other    ;; low    ;; js py rust         ;; debug output                  ;; ^\s*debugger\b|\bpdb\.set_trace\s*\(|^\s*breakpoint\s*\(\)|\bdbg!\s*\( ;; whether a user should see it
`;

/** Every row of the list. */
export const RISKS: readonly Risk[] = ROWS.trim().split('\n').map(riskOf);

function riskOf(row: string): Risk {
  const cells = row.split(' ;; ').map((cell) => cell.trim());
  const cell = (at: number): string => cells[at] ?? '';
  const [pattern = '', next = null] = cell(4).split('>>');
  return {
    group: (['security', 'errors'] as const).find((one) => one === cell(0)) ?? 'other',
    severity: (['high', 'medium'] as const).find((one) => one === cell(1)) ?? 'low',
    languages: LANGUAGES.filter((one) => cell(2) === 'all' || cell(2).split(' ').includes(one)),
    name: cell(3).replace('secret: ', ''),
    pattern,
    next,
    look: cell(5),
    secret: cell(3).startsWith('secret: '),
  };
}
