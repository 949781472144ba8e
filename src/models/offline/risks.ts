/** The documented list of risky patterns that the analyst's reviewer looks for: security first, then the rest of the rows. */
import { ALL, of } from './risk.ts';
import type { Risk } from './risk.ts';
import { SECURITY_RISKS } from './security-risks.ts';

export const RISKS: readonly Risk[] = [
  ...SECURITY_RISKS,
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
