/** The programs of a command with their sub-commands, as a person may allow them for a session: `npm test …`, `git diff …`. None where the
 * program is not what really runs (`bash -c`, `env`, `xargs`, `python -c`), or where the text does not show everything that runs. */
import { actsOf } from './judge.ts';
import { readCommand } from './read.ts';
import { moreThanReading, type ReadingPlace } from './reading/reading.ts';
import { DOUBTS, type Known, setOf, type Simple } from './words.ts';
import { RUNNERS } from './wrap.ts';

/** With more programs no grant is offered, because nobody would read it. */
const MOST_PROGRAMS = 4;

/** A redirection into a file, listed among the programs. */
const REDIRECTION: readonly string[] = ['>'];

/** They only start the program that they name, which is judged as if it stood alone. */
const TRANSPARENT = setOf('timeout time nice nohup stdbuf setsid command builtin npx bunx pnpx uvx');
/** What they run is not determined by their first word. */
const OPAQUE = setOf(
  'env xargs sudo doas busybox toybox exec eval source . trap sh bash dash ash ksh mksh rbash zsh fish csh tcsh pwsh nu ' +
    'ssh su find-exec parallel watch osascript expect script docker podman export set unset declare alias function read let',
);
const INTERPRETERS = setOf('python python2 python3 node ruby perl php lua deno bun Rscript tsx ts-node');
const PLAIN_OPTIONS = setOf('-u -B -O -q -W');
/** Their first word that is not an option determines what they do. */
const HAVE_VERBS = setOf(
  'git npm pnpm yarn cargo go make gmake just task rake gradle gradlew mvn mvnw dotnet pip pip3 uv poetry pdm bundle ' +
    'composer mix stack cabal sbt bazel nx turbo gh hg svn jj terraform helm kubectl rustup brew apt apt-get conda nox tox invoke',
);
/** After these words, the next one determines it. */
const RUN_VERBS = setOf('run run-script exec x dlx tool');

/** Values of a reading's `more` with which a grant of programs is still possible. */
const BEARABLE: readonly string[] = [DOUBTS.words, DOUBTS.file];

/** Null: only exactly this command may be allowed. `place`: where read-only programs need no permission and are left out. */
export function programsIn(command: string, place?: ReadingPlace): readonly (readonly string[])[] | null {
  const { simples, doubts, more } = readCommand(command);
  if (doubts.length > 0 || more.some((one) => !BEARABLE.includes(one))) return null;
  const found = new Map<string, readonly string[]>();
  for (const simple of simples) {
    if (isTransparent(simple) || readsOnly(simple, place)) continue;
    const program = programAndVerb(simple);
    if (program === null) return null;
    found.set(program.join(' '), program);
  }
  if (more.includes(DOUBTS.file)) found.set('>', REDIRECTION);
  return found.size === 0 || found.size > MOST_PROGRAMS ? null : [...found.values()];
}

const readsOnly = ({ texts }: Simple, place: ReadingPlace | undefined): boolean =>
  place !== undefined && moreThanReading(texts.join(' '), place) === null;

const nameOf = (word: string): string => word.split('/').at(-1) ?? word;

function isTransparent({ words: [first, verb] }: Simple): boolean {
  if (first == null) return false;
  return TRANSPARENT.has(first) || (verb != null && RUNNERS.get(nameOf(first))?.has(verb) === true);
}

/** `["npm", "test"]`, `["sed", "-i"]`; null where the words do not determine what would run. */
function programAndVerb(simple: Simple): readonly string[] | null {
  const [program, ...rest] = simple.words;
  if (program == null || simple.open || OPAQUE.has(nameOf(program)) || !isPlain(simple)) return null;
  const acts = actWords(simple);
  if (acts === null) return null;
  const name = nameOf(program);
  if (INTERPRETERS.has(name)) return acts.length > 0 ? null : scriptOf(program, rest);
  const verb = HAVE_VERBS.has(name) ? verbOf(rest) : [];
  return verb === null ? null : [program, ...verb, ...acts];
}

/** Words that the shell expands may hide an option; only file name patterns are accepted. */
const isPlain = ({ words, texts }: Simple): boolean =>
  words.every((word, at) => word !== null || /^[\w./][\w./*?[\]{},-]*$/.test(texts[at] ?? ''));

/** Options that make a program write are part of the grant; null where one makes it run another program. */
function actWords(simple: Simple): readonly string[] | null {
  const words: string[] = [];
  for (const [at, act] of actsOf(simple)) {
    const word = simple.words[at] ?? '';
    if (act === 'runs' || !/^-[\w-]+$/.test(word)) return null;
    words.push(word);
  }
  return [...new Set(words)].toSorted();
}

/** `python -m pytest`, `python manage.py`, `node --test`; null for code in an argument or from standard input. */
function scriptOf(program: string, words: readonly Known[]): readonly string[] | null {
  let at = 0;
  while (PLAIN_OPTIONS.has(words[at] ?? '')) at += words[at] === '-W' ? 2 : 1;
  const [first, second] = words.slice(at);
  if (first == null) return null;
  if (first === '-m') return second == null || second.startsWith('-') ? null : [program, first, second];
  if (first === '--test') return [program, first];
  return first.startsWith('-') ? null : [program, first];
}

const BEFORE_VERBS = setOf('-q -o -B -s -k --quiet --silent --offline --no-pager');

/** `["test"]`, `["run", "build"]`; empty without words; null where options that may take a value precede it. */
function verbOf(words: readonly Known[]): readonly string[] | null {
  const at = words.findIndex((word) => !BEFORE_VERBS.has(word ?? ''));
  const [verb, next] = at === -1 ? [] : words.slice(at);
  if (verb === undefined) return [];
  if (verb === null || verb.startsWith('-')) return null;
  if (!RUN_VERBS.has(verb)) return [verb];
  return next == null || next.startsWith('-') ? null : [verb, next];
}
