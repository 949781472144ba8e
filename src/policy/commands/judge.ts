/**
 * What command rules say to a shell command: words, `*` one word, `**` the rest. Every program that would run is judged,
 * the strictest wins, and only what was read whole is ever allowed. What a box holds is not this text's doing.
 */
import type { Reason } from '../../domain/reason.ts';
import { builtIn, type CommandRule, type CommandRules } from '../rules.ts';
import { type Act, actsOf } from './acts.ts';
import { readCommand, type Reading } from './read.ts';
import { baseName, type Known, programOf, type Simple } from './words.ts';

/**
 * `unclear`: deny rules exist and one of them might hit this command, or the command can't be read. `none`: no rule
 * speaks. `destroys`: it must be asked about in every mode, and why.
 */
export type CommandVerdict = (
  | { readonly verdict: 'allow' | 'ask' | 'deny' | 'unclear'; readonly because: Reason }
  /** `doubt`: why the command is not understood whole; absent: it is. */
  | { readonly verdict: 'none'; readonly doubt?: string }
) & { readonly destroys?: Reason };

/** More programs in one command are judged, but never allowed by a rule. */
const MOST_PROGRAMS = 50;

/** The strictest rule that matches any part of `command`. Pure, and total for any text. */
export function judgeCommand(command: string | null, rules: CommandRules | null): CommandVerdict {
  if (command === null) return { verdict: 'none', doubt: 'its text is not known' };
  const reading = readCommand(command);
  const wide = reading.simples.map(destroys).find((why) => why !== null);
  const verdict = rules === null ? none(reading) : judged(reading, rules);
  return wide === undefined ? verdict : { ...verdict, destroys: builtIn(`always asked: ${wide}`) };
}

function judged(reading: Reading, rules: CommandRules): CommandVerdict {
  const parts = reading.simples.map(partOf);
  const denied = strictest(rules.deny, parts);
  if (denied?.sure === true) return { verdict: 'deny', because: denied.rule.from };
  if (denied !== null) return unclear(denied.rule, 'it might hit');
  const why = doubtOf(reading, parts);
  const [first] = rules.deny;
  if (why !== null && first !== undefined) return unclear(first, why);
  const asked = strictest(rules.ask, parts);
  if (asked !== null) return { verdict: 'ask', because: asked.rule.from };
  return (why === null ? allowed(reading, parts, rules) : null) ?? none(reading);
}

const unclear = ({ from }: CommandRule, why: string): CommandVerdict => ({
  verdict: 'unclear',
  because: { ...from, rule: `${from.rule} can't be ruled out: ${why}` },
});

interface Part {
  readonly simple: Simple;
  readonly acts: ReadonlyMap<number, Act>;
}

const partOf = (simple: Simple): Part => ({ simple, acts: actsOf(simple) });

/** Why a program might run that nobody sees in the text. */
function doubtOf({ doubts }: Reading, parts: readonly Part[]): string | null {
  const [doubt] = doubts;
  if (doubt !== undefined) return doubt;
  const runs = parts.find(({ acts }) => [...acts.values()].includes('runs'));
  return runs === undefined ? null : `${runs.simple.words[0] ?? ''} may run another program`;
}

/** The first rule that surely hits, else the first that might. */
function strictest(
  rules: readonly CommandRule[],
  parts: readonly Part[],
): { readonly rule: CommandRule; readonly sure: boolean } | null {
  let maybe: CommandRule | null = null;
  for (const rule of rules) {
    for (const { simple } of parts) {
      const hit = hits(rule.words, simple);
      if (hit === 'yes') return { rule, sure: true };
      if (hit === 'maybe') maybe ??= rule;
    }
  }
  return maybe === null ? null : { rule: maybe, sure: false };
}

/** Only when each program has a rule of its own, and the command is nothing but these programs. */
function allowed({ more }: Reading, parts: readonly Part[], rules: CommandRules): CommandVerdict | null {
  if (more.length > 0 || parts.length > MOST_PROGRAMS) return null;
  let because: Reason | null = null;
  for (const part of parts) {
    const rule = rules.allow.find(({ words }) => covers(words, part));
    if (rule === undefined) return null;
    because ??= rule.from;
  }
  return because === null ? null : { verdict: 'allow', because };
}

/** No rule speaks. */
const none = ({ doubts: [doubt] }: Reading): CommandVerdict =>
  doubt === undefined ? { verdict: 'none' } : { verdict: 'none', doubt };

/** A wildcard stands for words that are no acts. `./npm` is not `npm` here: it may be anything. */
function covers(pattern: CommandRule['words'], { simple, acts }: Part): boolean {
  if (simple.open || fits(pattern, simple.words, false) !== 'yes') return false;
  return [...acts.keys()].every((at) => at < fixedOf(pattern).length && pattern[at] !== '*');
}

type Fit = 'yes' | 'maybe' | 'no';

/** To deny and to ask, `/usr/bin/curl` is `curl`, and options before a sub-command may hide it (`git -C x push`). */
function hits(pattern: CommandRule['words'], { words, open }: Simple): Fit {
  const fit = fits(pattern, words, open);
  if (fit === 'yes') return fit;
  const [program = null, ...rest] = words;
  const named = [baseName(program), ...rest];
  const asNamed = fits(pattern, named, open);
  if (asNamed !== 'no') return asNamed;
  if (fit === 'maybe') return fit;
  return mayHide(pattern, named, open) ? 'maybe' : 'no';
}

function mayHide(pattern: CommandRule['words'], words: readonly Known[], open: boolean): boolean {
  const [program = null, option] = words;
  const [, verb = '**'] = pattern;
  if (option?.startsWith('-') !== true || verb === '**' || verb.startsWith('-')) return false;
  return words.some((_, at) => at > 1 && fits(pattern, [program, ...words.slice(at)], open) !== 'no');
}

const fixedOf = (pattern: CommandRule['words']): CommandRule['words'] =>
  pattern.at(-1) === '**' ? pattern.slice(0, -1) : pattern;

/** A word that isn't known may be any number of words: from there on everything might fit. */
function fits(pattern: CommandRule['words'], words: readonly Known[], open: boolean): Fit {
  const fixed = fixedOf(pattern);
  const hole = words.indexOf(null);
  const known = hole === -1 ? words : words.slice(0, hole);
  if (!fixed.slice(0, known.length).every((word, at) => word === '*' || word === known[at])) return 'no';
  const whole = hole === -1 && !open;
  if (known.length < fixed.length) return whole ? 'no' : 'maybe';
  if (fixed.length < pattern.length) return 'yes';
  if (known.length > fixed.length) return 'no';
  return whole ? 'yes' : 'maybe';
}

// Commands that remove or change everything below a place that nobody means (`rm -rf /`, `rm -rf ~`,
// `rm -rf "$UNSET"/*`): asked about in every mode, whatever rules and grants say.

const RECURSIVE: ReadonlyMap<string, RegExp> = new Map([
  ['rm', /^-[a-zA-Z]*[rR]|^--r/],
  ['chmod', /^-[a-zA-Z]*R|^--r/],
  ['chown', /^-[a-zA-Z]*R|^--r/],
  ['chgrp', /^-[a-zA-Z]*R|^--r/],
]);

/** Why `simple` must be asked about; null for nearly all. */
function destroys(simple: Simple): string | null {
  const program = programOf(simple);
  if (program === null) return null;
  if (program === 'find') return findRemoves(simple) ? 'find that removes far more than this project' : null;
  const flag = RECURSIVE.get(program);
  if (flag === undefined) return null;
  const { words, texts, open } = simple;
  // A word that isn't known might be the option: then any target counts.
  if (!words.some((word, at) => at > 0 && (word === null ? startsUnknown(texts[at] ?? '') : flag.test(word))))
    return null;
  const target = texts.find(
    (text, at) => at > 0 && !(words[at]?.startsWith('-') ?? false) && isWide(words[at] ?? null, text),
  );
  if (target !== undefined) return `${program} of everything in ${target}`;
  return open ? `${program} of whatever comes from elsewhere` : null;
}

const REMOVES: ReadonlySet<string> = new Set(['-delete', 'rm', '/bin/rm', '/usr/bin/rm', 'shred']);

function findRemoves({ words, texts }: Simple): boolean {
  if (!words.some((word) => word !== null && REMOVES.has(word))) return false;
  for (let at = 1; at < words.length; at += 1) {
    const word = words[at] ?? null;
    if (word?.startsWith('-') === true) return false;
    // The project itself is a usual place to look in.
    if (word !== '.' && word !== './' && isWide(word, texts[at] ?? '')) return true;
  }
  return false;
}

const startsUnknown = (text: string): boolean => /^"?(?:\$|`)/.test(text);

/** `/`, a folder right below it, the home directory, all of the project, all above it, or a place that the text doesn't tell. */
function isWide(word: string | null, text: string): boolean {
  if (word === null && startsUnknown(text)) return true;
  const [first = '', ...rest] = (word ?? text.replaceAll(/["']/g, '')).split('/');
  if (first.startsWith('~')) return depthOf(rest) <= 0;
  return first === '' && rest.length > 0 ? depthOf(rest) <= 1 : depthOf([first, ...rest]) <= 0;
}

/** How far below its beginning a path ends; a pattern of anything ends where it stands. */
function depthOf(parts: readonly string[]): number {
  let depth = 0;
  for (const part of parts) {
    if (part === '' || part === '.' || /^[*?]+$/.test(part)) continue;
    depth += part === '..' ? -1 : 1;
  }
  return depth;
}
