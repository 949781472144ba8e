/** The rows of the list of risky patterns that are about security. */
import { ALL, of } from './risk.ts';
import type { Risk } from './risk.ts';

export const SECURITY_RISKS: readonly Risk[] = [
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
];
