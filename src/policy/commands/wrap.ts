/** Programs that run what their arguments name (`env`, `timeout`, `xargs`, `sh -c`, `find -exec`, `npx` …), and what they would run.
 * Anything that the text does not show is a doubt, never a guess. */
import { lengthOf, optionIn, type Options, rowsOf } from './options.ts';
import { DOUBTS, type Known, programOf, type Simple } from './words.ts';
import TABLE from './wrappers.json' with { type: 'json' };

export type Inner =
  | { readonly is: 'simple'; readonly simple: Simple }
  | { readonly is: 'script'; readonly text: string }
  | { readonly is: 'doubt'; readonly why: string };

/** What `simple` would run besides itself. */
export function innerOf(simple: Simple): readonly Inner[] {
  const program = programOf(simple);
  if (program === null) return [doubt(DOUBTS.program)];
  const special = SPECIAL.get(program);
  if (special !== undefined) return special(simple, program);
  const wrapper = WRAPPERS.get(program);
  return wrapper !== undefined ? unwrapped(simple, 1, wrapper, program) : ofRunner(simple, program);
}

export const doubt = (why: string): Inner => ({ is: 'doubt', why });
const isWords = (words: readonly Known[]): words is readonly string[] => !words.includes(null);
const SHELLS = 'sh bash dash ash ksh mksh rbash zsh';
/** What they run can not be read here. */
const OPAQUE =
  'fish csh tcsh pwsh nu xonsh watch parallel ssh su script flock chroot unshare nsenter bwrap strace ltrace gdb ' +
  'entr at batch crontab systemd-run docker podman ionice chrt taskset setpriv runuser pkexec expect socat rlwrap ' +
  'proot fakeroot xvfb-run dbus-run-session mapfile readarray';

/** `-c` names a text; without it a file is a program like any other, and standard input is unknown. */
function ofShell({ words }: Simple, shell: string): readonly Inner[] {
  let reads = false;
  for (let at = 1; at < words.length; at += 1) {
    const word = words[at] ?? null;
    if (word === null) return [doubt(DOUBTS.notInText(shell))];
    if (!/^[-+]./.test(word)) return reads ? [{ is: 'script', text: word }, ...foreign(shell)] : [];
    // A cluster with `s` or `c`; after `o` the next word is a name.
    const letters = /^-[a-zA-Z]+$/.test(word) ? word : '';
    if (letters.includes('s')) break;
    if (letters.includes('c')) reads = true;
    if (SHELL_VALUES.test(word)) at += 1;
  }
  return [doubt(`${shell} reads what it runs from its input`)];
}

const SHELL_VALUES = /^[-+][a-zA-Z]*[oO]$|^--(?:rcfile|init-file)$/;
const foreign = (shell: string): readonly Inner[] => (shell === 'zsh' ? [doubt('zsh reads words differently')] : []);

/** The arguments as one text, as `eval` takes them. */
function ofEval({ words }: Simple): readonly Inner[] {
  const rest = words.slice(words[1] === '--' ? 2 : 1);
  if (!isWords(rest)) return [doubt(DOUBTS.notInText('eval'))];
  return rest.length === 0 ? [] : [{ is: 'script', text: rest.join(' ') }];
}

function ofTrap({ words }: Simple): readonly Inner[] {
  const [first = ''] = words.slice(words[1] === '--' ? 2 : 1);
  if (first === null) return [doubt(DOUBTS.notInText('trap'))];
  return words.length < 3 || first === '-' || first.startsWith('-') ? [] : [{ is: 'script', text: first }];
}

/** A file of commands is a program like any other, unless its name is computed. */
const ofSource = ({ words }: Simple): readonly Inner[] =>
  isWords(words) ? [] : [doubt('what is sourced is not in the text')];

const EXEC: ReadonlySet<string> = new Set(['-exec', '-execdir', '-ok', '-okdir']);

function ofFind({ words, texts, open }: Simple): readonly Inner[] {
  const found: Inner[] = [];
  if (open || words.includes(null)) found.push(doubt('find has arguments that are not in the text'));
  for (let at = 0; at < words.length; at += 1) {
    if (!EXEC.has(words[at] ?? '')) continue;
    const more = words.slice(at + 1).findIndex((word) => word === ';' || word === '+');
    const end = more === -1 ? words.length : at + 1 + more;
    found.push(withHoles({ words: words.slice(at + 1, end), texts: texts.slice(at + 1, end), open: true }));
    at = end;
  }
  return found;
}

/** `{}` becomes file names. */
const withHoles = ({ words, texts, open }: Simple): Inner => ({
  is: 'simple',
  simple: { words: words.map((word) => (word?.includes('{}') === true ? null : word)), texts, open },
});

function ofFd({ words, texts }: Simple): readonly Inner[] {
  const at = words.findIndex((word) => word !== null && /^(?:-[xX]|--exec(?:-batch)?)$/.test(word));
  if (at !== -1) return [withHoles({ words: words.slice(at + 1), texts: texts.slice(at + 1), open: true })];
  const hidden = words.some((word) => word === null || /^(?:-[xX]|--exec)/.test(word));
  return hidden ? [doubt('what fd runs is unclear')] : [];
}

/** They change the meaning of words, so that nothing after them can be read. */
const remaking = ({ words }: Simple, program: string): readonly Inner[] =>
  words.length > 1 ? [doubt(`${program} changes what later words mean`)] : [];

/** `command -v` only prints where a program is. */
const ofCommand = (simple: Simple): readonly Inner[] =>
  /^-[pvV]*[vV]/.test(simple.words[1] ?? '') ? [] : unwrapped(simple, 1, { flags: 'p' }, 'command');

type Unwrap = (simple: Simple, program: string) => readonly Inner[];

const SPECIAL: ReadonlyMap<string, Unwrap> = rowsOf<Unwrap>({
  [SHELLS]: ofShell,
  eval: ofEval,
  trap: ofTrap,
  'source .': ofSource,
  find: ofFind,
  'fd fdfind': ofFd,
  command: ofCommand,
  'alias enable hash shopt bind complete': remaking,
  [OPAQUE]: (_, program) => [doubt(DOUBTS.unreadable(program))],
});

/** `npm exec x`, `uv run x`: after this verb the rest is run. */
function ofRunner(simple: Simple, program: string): readonly Inner[] {
  const verbs = RUNNERS.get(program);
  if (verbs === undefined) return [];
  const [, verb] = simple.words;
  if (verb === undefined) return [];
  if (verb === null || verb.startsWith('-')) {
    const plain = isWords(simple.words) && !simple.words.some((word) => verbs.has(word));
    return plain ? [] : [doubt(`what ${program} runs is unclear`)];
  }
  const wrapper = verbs.get(verb);
  return wrapper === undefined ? [] : unwrapped(simple, 2, wrapper, `${program} ${verb}`);
}

function unwrapped(simple: Simple, from: number, wrapper: Wrapper, name: string): readonly Inner[] {
  const at = programAt(simple.words, from, wrapper);
  if (at === null) return [doubt(`what ${name} runs is unclear`)];
  const open = simple.open || wrapper.open === true;
  const inner = { words: simple.words.slice(at), texts: simple.texts.slice(at), open };
  if (inner.words.length === 0) return open ? [doubt(DOUBTS.notInText(name))] : [];
  return [wrapper.open === true ? withHoles(inner) : { is: 'simple', simple: inner }];
}

/** Index of the program; null when a word before it is unknown. */
function programAt(words: readonly Known[], from: number, wrapper: Wrapper): number | null {
  let at = afterOptions(words, from, wrapper);
  if (at === null) return null;
  if (wrapper.assigns === true) while (/^[A-Za-z_]\w*=/.test(words[at] ?? '')) at += 1;
  const skipped = words.slice(at, at + (wrapper.skip ?? 0));
  return skipped.includes(null) ? null : at + skipped.length;
}

/** The first word that is not an option; null at an unknown option, which might take the next word or run it. */
function afterOptions(words: readonly Known[], from: number, wrapper: Wrapper): number | null {
  for (let at = from; at < words.length; ) {
    const word = words[at] ?? null;
    if (word === null) return null;
    if (word === '--') return at + 1;
    if (!word.startsWith('-') || word === '-') return at;
    const option = optionIn(word, wrapper);
    if (typeof option === 'string') return null;
    at += lengthOf(option);
  }
  return words.length;
}

/** A program that runs another one. Any option that is not listed is a doubt. */
interface Wrapper extends Options {
  /** Words before the program, such as the duration of `timeout`. */
  readonly skip?: number;
  /** `A=1` may precede the program. */
  readonly assigns?: boolean;
  /** Arguments are added that the text does not contain. */
  readonly open?: boolean;
}

export const WRAPPERS: ReadonlyMap<string, Wrapper> = rowsOf<Wrapper>(TABLE.programs);

/** By program and verb. */
export const RUNNERS: ReadonlyMap<string, ReadonlyMap<string, Wrapper>> = new Map(
  Object.entries(TABLE.runners).map(([program, verbs]) => [program, rowsOf<Wrapper>(verbs)]),
);
