/**
 * What command rules say to a shell command: words, `*` one word, `**` the rest. Only plain words are read; a command
 * with any shell syntax is not second-guessed here: it asks, and is unclear where a deny rule might have hit it.
 */
import type { Reason } from '../domain/reason.ts';
import type { CommandRule, CommandRules } from './rules.ts';

/** `unclear`: deny rules exist and this command can't be read word by word. `none`: no rule speaks. */
export type CommandVerdict =
  | { readonly verdict: 'allow' | 'ask' | 'deny' | 'unclear'; readonly because: Reason }
  | { readonly verdict: 'none' };

/** The strictest rule that matches `command`. */
export function judgeCommand(command: string | null, rules: CommandRules | null): CommandVerdict {
  if (rules === null || command === null) return { verdict: 'none' };
  const words = plainWords(command);
  if (words === null) return unread(rules);
  for (const verdict of ['deny', 'ask', 'allow'] as const) {
    const hit = rules[verdict].find((rule) => matches(rule, words, verdict));
    if (hit !== undefined) return { verdict, because: hit.from };
  }
  return { verdict: 'none' };
}

/** Programs that run another program named in their arguments: what they really do is not in their first word. */
const WRAPPERS: ReadonlySet<string> = new Set(
  'env timeout nohup nice xargs sudo doas sh bash zsh dash ksh fish find npx bunx exec eval command builtin time watch ssh busybox'.split(
    ' ',
  ),
);
const PLAIN = /^[A-Za-z0-9_@%+=:,./ -]+$/;

/** The words of a command that is nothing but words, else null. */
function plainWords(command: string): readonly string[] | null {
  if (command.length > 10_000 || !PLAIN.test(command)) return null;
  const words = command.split(' ').filter((word) => word !== '');
  const [first = ''] = words;
  const name = first.split('/').at(-1) ?? '';
  return first === '' || first.includes('=') || WRAPPERS.has(name) ? null : words;
}

const unread = (rules: CommandRules): CommandVerdict => {
  const [denied] = rules.deny;
  if (denied !== undefined) return { verdict: 'unclear', because: denied.from };
  return { verdict: 'none' };
};

/** To deny and to ask, `/usr/bin/curl` is `curl`; to allow it isn't: `./npm` may be anything. */
function matches(
  { words: pattern }: CommandRule,
  words: readonly string[],
  verdict: 'deny' | 'ask' | 'allow',
): boolean {
  if (fits(pattern, words)) return true;
  if (verdict === 'allow') return false;
  const [program = ''] = words;
  return fits(pattern, [program.split('/').at(-1) ?? '', ...words.slice(1)]);
}

function fits(pattern: CommandRule['words'], words: readonly string[]): boolean {
  const rest = pattern.at(-1) === '**';
  const fixed = rest ? pattern.slice(0, -1) : pattern;
  if (rest ? words.length < fixed.length : words.length !== fixed.length) return false;
  return fixed.every((word, index) => word === '*' || word === words[index]);
}
