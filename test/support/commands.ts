/** Command rules for tests, and random shell text that would run a given program: the bench takes more of it. */
import * as fc from 'fast-check';
import type { CommandRule, CommandRules } from '../../src/policy/rules.ts';
import { judgeCommand } from '../../src/policy/commands/judge.ts';
import { written } from '../policy/some-rules.ts';

const list = (verdict: string, texts: readonly string[]): readonly CommandRule[] =>
  texts.map((text, index) => ({ words: text.split(' '), from: written(`commands.${verdict}: "${text}"`, index + 1) }));

export const commandRules = (
  allow: readonly string[],
  deny: readonly string[] = [],
  ask: readonly string[] = [],
): CommandRules => ({ allow: list('allow', allow), ask: list('ask', ask), deny: list('deny', deny) });

export const says = (command: string, rules: CommandRules): string => judgeCommand(command, rules).verdict;

/** Ways to write one word so that the shell reads `curl`. */
const SPELLINGS = [
  'curl',
  "c''url",
  '\\curl',
  'cu"r"l',
  "$'\\x63url'",
  "$'c\\165rl'",
  '/usr/bin/curl',
  './../bin/curl',
  'c\\\nurl',
  '"curl"',
  "'curl'",
];

/** Places where the shell runs `X`. */
const PLACES = [
  'X',
  'X http://x',
  'ls; X',
  'ls && X y',
  'ls || X',
  'ls | X',
  'ls & X',
  'ls |& X',
  'ls\nX',
  '! X',
  'echo $(X)',
  'echo `X`',
  'echo "$(X)"',
  'echo "a `X` b"',
  'cat <(X)',
  'ls > >(X)',
  'cat <<E\n$(X)\nE',
  'cat <<-E\n\t`X`\n\tE',
  'cat <<<$(X)',
  '(X)',
  '{ X; }',
  'if X; then ls; fi',
  'if ls; then X; else ls; fi',
  'if ls; then ls; elif X; then ls; fi',
  'while X; do ls; done',
  'until ls; do X; done',
  'for f in $(X); do ls; done',
  'for f in a; do X; done',
  'for ((i=$(X); i<1; i++)); do ls; done',
  'select f in a; do X; done',
  'case $(X) in a) ls;; esac',
  'case a in a) X;; esac',
  'f() { X; }; f',
  'function f { X; }',
  'echo $((1 + $(X)))',
  'echo $[ $(X) ]',
  '((a[$(X)]))',
  '[[ -n $(X) ]]',
  '[[ a == b || $(X) ]]',
  'a[$(X)]=1 ls',
  'A=$(X) ls',
  'A=( $(X) )',
  'export A=$(X)',
  'echo ${A:-$(X)}',
  'echo ${A/$(X)/b}',
  'echo {a,$(X)}',
  'ls > $(X)',
  'ls 2> "$(X)"',
  'A=1 X',
  'env X',
  'env -i A=1 X y',
  'timeout 5 X',
  'timeout -k 1 5s X',
  'nohup X &',
  'nice -n 5 X',
  'nice -5 X',
  'ls | xargs X',
  'ls | xargs -0 -n 1 X',
  'command X',
  'builtin X',
  'exec X',
  'time X',
  'coproc X',
  'eval X',
  "eval 'ls; X'",
  'trap X EXIT',
  'sudo X',
  'sudo -u root X',
  'busybox X',
  'npx X',
  'npx -y X',
  'pnpm dlx X',
  'npm exec X',
  'uvx X',
  'bunx X',
  'stdbuf -o L X',
  'setsid X',
  'find . -exec X {} \\;',
  'find . -name a -execdir X {} +',
  'fd a -x X',
  "sh -c 'X'",
  'bash -c "X y"',
  "bash -ec 'ls; X'",
  'bash -c \'bash -c "X"\'',
  "env timeout 5 sh -c 'ls && X'",
];

/** Text around it that allowed programs make up; each closes itself. */
const AROUND = ['X', 'ls; X', 'X; ls', 'ls && { X\n}', '(X\n)', 'if ls; then X\nfi', 'cat a | (X\n)', 'echo "$(X\n)"'];

/** Commands that run `curl` somewhere, in spellings and places of the shell. */
export const hiddenCurl = (): fc.Arbitrary<string> =>
  fc
    .record({
      spelling: fc.constantFrom(...SPELLINGS),
      place: fc.constantFrom(...PLACES),
      around: fc.constantFrom(...AROUND),
    })
    .map(({ spelling, place, around }) => {
      // In single quotes, quotes and escapes of the spelling would mean something else.
      const plain = /['"]/.test(place) ? 'curl' : spelling;
      return around.replaceAll('X', () => place.replaceAll('X', () => plain));
    });

/** Anything between a sound command and line noise. */
export const shellText = (): fc.Arbitrary<string> =>
  fc
    .array(
      fc.oneof(
        {
          weight: 4,
          arbitrary: fc.constantFrom(
            'ls',
            'curl',
            'git log',
            'echo',
            'sh -c',
            'find . -exec',
            'eval',
            'X=1',
            'a',
            ' ',
            '\n',
          ),
        },
        { weight: 4, arbitrary: fc.constantFrom(...';&|<>$`\\"\'(){}[]*?!#~=\n\t'.split('')) },
        {
          weight: 2,
          arbitrary: fc.constantFrom(
            '$(',
            '${',
            '$((',
            '<<E\n',
            '\nE\n',
            '<(',
            '[[ ',
            ' ]]',
            '((',
            '))',
            "$'",
            '&&',
            '||',
            ';;',
            'if ',
            'then ',
            'fi',
            'do ',
            'done',
            'case ',
            'esac',
            'in ',
          ),
        },
        { weight: 1, arbitrary: fc.string({ maxLength: 6 }) },
      ),
      { maxLength: 24 },
    )
    .map((pieces) => pieces.join(''));
