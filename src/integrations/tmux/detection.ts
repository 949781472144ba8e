/** What an agent in a terminal is doing, judged by its last lines and by what its transcript says. Phrases count where the agent itself says
 * them at the end of a turn, not in what a command or a file printed. Pure. */

export type TerminalState = 'working' | 'waiting' | 'idle' | 'done' | 'failed' | 'crashed';

/** What a transcript says of the present turn. */
export interface Told {
  /** The agent's last text of the turn; empty if it said nothing yet. */
  readonly text: string;
  /** Whether it has ended its turn. */
  readonly isOver: boolean;
}

export interface Look {
  /** The last lines of the terminal. */
  readonly screen: string;
  /** Milliseconds since the terminal last changed. */
  readonly quiet: number;
  /** The exit code of the program; null while it runs. */
  readonly exit: number | null;
  /** Null where the program writes no transcript. */
  readonly told: Told | null;
}

export interface Phrases {
  /** What an agent says when it is done, as words in any case; null: no phrase counts. */
  readonly complete: readonly string[] | null;
  /** Milliseconds without a change after which a terminal without a visible prompt is idle. */
  readonly idleAfter: number;
}

export interface Judged {
  readonly state: TerminalState;
  /** What it asks, says last, or ended with; empty if it says nothing. */
  readonly words: string;
  /** Answers to choose from, where it waits for one of them. */
  readonly options: readonly Choice[];
  /** A question of the program itself, without whose answer nothing goes on. */
  readonly isHeld: boolean;
  /** The answer must not be written down. */
  readonly isSecret: boolean;
}

export interface Choice {
  readonly text: string;
  /** The keys that choose it, by their names in tmux: `1`; `y`; `Down`, `Enter`. */
  readonly keys: readonly string[];
}

export const COMPLETION_PHRASES: readonly string[] = ['complete', 'done', 'finished', 'all tests pass'];

/** A prompt that does not change for so long waits for input, and what it said before is the end of its turn. */
const SETTLED_MS = 2000;
/** A sign of activity that does not change for so long belongs to a program that hangs. */
const STUCK_MS = 120_000;
/** Lines at the bottom in which a program shows its state. */
const FOOT = 12;
/** Lines in which its input row lies. */
const LOWEST = 6;

export function judge(look: Look, phrases: Phrases): Judged {
  const lines = linesOf(look.screen);
  if (look.exit !== null) return ended(look, lines, phrases);
  const question = questionIn(footOf(lines), look.quiet);
  if (question !== null) return { ...plain('waiting'), isHeld: true, ...question };
  if (isActive(lines) && look.quiet < STUCK_MS) return plain('working');
  return look.told === null ? byScreen(look, lines, phrases) : byTranscript(look, look.told, phrases);
}

/** The last lines with text, and the empty ones between them, which frames are full of. */
function footOf(lines: readonly string[]): readonly string[] {
  let left = FOOT;
  const from = lines.findLastIndex((line) => unframed(line).trim() !== '' && (left -= 1) === 0);
  return lines.slice(Math.max(from, 0));
}

function byScreen({ quiet }: Look, lines: readonly string[], phrases: Phrases): Judged {
  const isReady = bottomOf(lines) < lines.length;
  if (quiet < (isReady ? SETTLED_MS : phrases.idleAfter)) return plain('working');
  return saidAtEnd(ownLines(lines), phrases);
}

function byTranscript({ quiet }: Look, { isOver, text }: Told, phrases: Phrases): Judged {
  if (isOver && text !== '') return saidAtEnd(ownTextOf(text), phrases);
  return plain(quiet < phrases.idleAfter ? 'working' : 'idle');
}

const plain = (state: TerminalState, words = ''): Judged => ({
  state,
  words,
  options: [],
  isHeld: false,
  isSecret: false,
});

function ended({ exit, told }: Look, lines: readonly string[], phrases: Phrases): Judged {
  const own = told !== null && told.text !== '' ? ownTextOf(told.text) : ownLines(lines);
  const last = lines.filter((line) => line !== '').slice(-FOOT);
  if (exit !== 0) return plain('crashed', (last.find((line) => WRONG.test(line)) ?? last.at(-1) ?? '').trim());
  const { state, words } = saidAtEnd(own, phrases);
  return plain(state === 'failed' ? 'failed' : 'done', words);
}

/** The state at the end of a turn, by what the agent said last. */
function saidAtEnd(own: readonly string[], { complete }: Phrases): Judged {
  const words = own.join('\n').trim();
  const paragraphs = paragraphsOf(own);
  const last = paragraphs.at(-1) ?? [];
  if (last.some((line) => ERROR.test(line))) return plain('failed', words);
  if (last.at(-1)?.endsWith('?') === true) return plain('waiting', words);
  if (complete === null) return plain('idle', words);
  // A list at the end is a summary of what stands before it.
  const telling = paragraphs.findLast((lines) => !lines.every((line) => ITEM.test(line) || HEADING.test(line))) ?? [];
  const sentences = telling.join('\n').split(/(?<=[.!?])\s+|\n(?![a-z])/);
  const at = sentences.findLastIndex((sentence) => saysDone(sentence, complete));
  const isLast = at >= 0 && !sentences.slice(at + 1).some((sentence) => MORE.test(sentence));
  return plain(isLast ? 'done' : 'idle', words);
}

const WRONG = /\b(?:error|exception|failed|failure|unable|cannot|can't|fatal|panic|denied|not found)\b/i;
const ITEM = /^(?:[-*•+|]|\d{1,3}[.)])\s/;
const HEADING = /^(?:#{1,6}\s.*|(?:note|hint|tip|ps)\b.*|\p{L}[\p{L} ]{0,30}:?)$/iu;

const ERROR =
  /^[^\p{L}\p{N}]*(?:fatal:|panic:|failed:|error:|cannot proceed|i cannot proceed|(?:api |fatal |internal |unexpected |unhandled )error\b|(?:[\w.]+)?(?:Error|Exception)\b[^.!?]{0,40}:|traceback \(most recent call last\)|at \S+ \(\S+:\d+)/iu;

/** What follows a phrase and takes it back. */
const MORE =
  /^(?:next|now|then|but|however|still|remaining|one more|i still|there (?:is|are) still|let me|i(?:'| wi)ll)\b/i;
/** Before a phrase, in its sentence. */
const NOT_YET =
  /\b(?:not|never|only|no longer|cannot|can't|once|when|whenever|until|unless|before|if|after|will|would|should|must|to be|(?:need|want|try|trying|have|going|about) to|almost|nearly|half|partly|partially|mostly|far from|without|aren't|isn't|wasn't|haven't|hasn't|\d+ of \d+|\d+ ?%|yet to)\b|n't\b/i;

/** Behind a phrase, in its sentence. */
const EXCEPT = /^[^.]*\b(?:except|apart from|but|until|once|when|if|not)\b|^\s*(?:version|state|part of|by)\b/i;

/** In addition to those that are configured: what ends most tasks. */
const ALWAYS =
  /\ball (?:\d+ )?tests (?:are )?pass(?:ing|ed)?\b|\btests (?:now )?pass\b|\bPR (?:\S+ )?(?:is |was |has been )?merged\b|\bcommitted and pushed\b/i;

function saysDone(sentence: string, complete: readonly string[]): boolean {
  if (/[?]$/.test(sentence.trim())) return false;
  const found = [ALWAYS.exec(sentence), ...complete.map((phrase) => phraseIn(phrase).exec(sentence))];
  return found.some((match) => {
    if (match === null) return false;
    const after = sentence.slice(match.index + match[0].length);
    return !NOT_YET.test(sentence.slice(0, match.index)) && !EXCEPT.test(after);
  });
}

/** The words with any blanks between them; a verb also in its past form: `complete`, `completed`. */
const phraseIn = (phrase: string): RegExp =>
  new RegExp(
    `(?<![\\w-])${phrase
      .trim()
      .replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
      .replaceAll(/\s+/g, '\\s+')}(?:d|ed|ing)?(?![\\w-])`,
    'i',
  );

const isNoText = (line: string): boolean =>
  DEAD.test(line) || NOTE.test(line) || (STATUS.test(line) && !INTERRUPTS.test(line));

function linesOf(screen: string): readonly string[] {
  const lines = screen.split('\n').map((line) => (isNoText(line) ? '' : line.replace(/^\s*[┃▌]/, '').trimEnd()));
  const end = lines.findLastIndex((line) => line !== '');
  return lines.slice(0, end + 1).slice(-50);
}

/** What tmux itself writes below a program that has ended. */
const DEAD = /^Pane is dead \(/;
/** A line of facts about the program, such as its model and the time, or a rule with words in it. */
const STATUS = /^\s*(?:\S[^·]*·[^·]*·[^·]*|[─━]+ .+ [─━]{6,})$/;

/** How long a turn took, a hint of a key, or a note of the program. */
const NOTE =
  /^\s*(?:[✻✶✽✢✳]\s+)?\p{Lu}\p{L}+ for <?\d+(?:\.\d+)?\s?(?:ms|s|m|h)\b|^\s*(?:shift\+tab|ctrl[-+]\w) to \p{L}|^\s*[└⎿]\s+tip:|^\s*ℹ\s/iu;

const INTERRUPTS = /\b(?:esc|escape|ctrl[-+ ]?c|\^c)\b.{0,16}\b(?:interrupt|cancel|stop)\b/i;
/** A spinner with what is being done, or a bar. */
const ACTIVE = [
  /^\s*[⠁-⣿✶✻✽✢∗◐◓◑◒◴◷◶◵⏳●·*+|/\\-]\s+\p{L}[^.]*(?:…|\.\.\.)(?:\s*\(.*\))?$/u,
  /^\s*\p{L}+ing\b[^.?!]*(?:…|\.\.\.)(?:\s*\(.*\))?$/u,
  /\[[=#>█▓-]{2,}[>\s.░-]*\]\s*\d{0,3}\s*%?|[█▓]{2,}[░\s]*\d{1,3}\s*%/,
];

/** Whether a program shows that it works: by how it can be interrupted, or by its last line. */
function isActive(lines: readonly string[]): boolean {
  if (lines.slice(-FOOT).some((line) => INTERRUPTS.test(line) && !CONFIRMS.test(line))) return true;
  const last = lines.slice(0, bottomOf(lines)).findLast((line) => line !== '' && !RESULT.test(line)) ?? '';
  return ACTIVE.some((pattern) => pattern.test(unframed(last)));
}

/** Without the sides of a box around it. */
const unframed = (line: string): string => line.replace(/^\s*[│┃|▌]/, '').replace(/[│┃|▐]\s*$/, '');

const RULE = /^\s*[╭╰┌└├]?[─━═╌-]{6,}/;
const EMPTY_PROMPT = /^\s*(?:[\w.()~/@: -]{0,60}[>❯›»$#%]|(?:user|you|me|human|input|prompt):)\s*$/i;
const HINTED_PROMPT = /^\s*(?:›\s+\S|[>❯]\s+(?:Try |Type |Ask |Send |Message|Enter |Write |How can I|What ))/i;

/** A place where the person types: empty, with a hint, or inside a box. */
function isPrompt(line: string, above: string | undefined): boolean {
  const text = unframed(line);
  if (EMPTY_PROMPT.test(text) || HINTED_PROMPT.test(text)) return true;
  return above !== undefined && RULE.test(above) && /^\s*[>❯›]/.test(text);
}

const CHOICE = /^\s*([❯›>▶●○◯◉*]|\[[ x]\])?\s*(\d{1,2})[.)]\s+(\S.*)$/u;
const RADIO = /^([●○◉◯])\s+\p{L}/u;
const YES_NO = /[([]\s*(y(?:es)?)\s*[/|]\s*no?\b.{0,40}[)\]]\s*[:?>]?$/i;
/** `(Y)es/(N)o [Yes]:` */
const LETTERS = /\(y\)es\s*\/\s*\(n\)o/i;
const ASKS_KEY = /\bpress (?:enter|return|any key|space)\b|\bhit (?:enter|return)\b|\[(?:press )?enter\]/i;
/** How a choice or an input is confirmed. */
const CONFIRMS = /\b(?:enter|return)\b.{0,12}\b(?:confirm|select|submit|continue|choose)\b/i;
const ENTER_SECRET = /^(?:please )?(?:enter|type|paste)\b.{0,40}\b(?:api key|password|passphrase|token|code)\b/i;
const SECRET = /\b(?:pass(?:word|phrase)|pin|one-time code|verification code|api key)\b[^?\n]{0,80}[:?]\s*$/i;
type Question = Pick<Judged, 'words' | 'options'> & Partial<Judged>;

/** The question at the foot of the screen that holds the program up; null if there is none. */
function questionIn(foot: readonly string[], quiet: number): Question | null {
  const lines = foot.map(unframed);
  const text = lines.map((line) => line.trim());
  const last = text.findLastIndex((line) => line !== '' && !RULE.test(line));
  // What a command has printed is shown further in.
  const onLine = OUTPUT.test(foot[last] ?? '') ? null : askedOnLine(text[last] ?? '');
  return (
    onLine ?? unnumberedIn(text) ?? numberedIn(text) ?? menuIn(lines) ?? (quiet < SETTLED_MS ? null : confirmedIn(text))
  );
}

/** A question that is answered with one key, such as `Press Enter to continue`, or with a secret and that key. */
function confirmedIn(text: readonly string[]): Question | null {
  const from = text.length - 4;
  const isAsked = (line: string): boolean => CONFIRMS.test(line) || (ASKS_KEY.test(line) && !INTERRUPTS.test(line));
  const asked = text.findLastIndex((line, at) => at >= from && isAsked(line));
  if (asked < 0) return null;
  // What was typed already must not be told.
  const secret = text.find((line) => ENTER_SECRET.test(line));
  if (secret !== undefined) return { words: secret, options: [], isSecret: true };
  const options = CONFIRMS.test(text[asked] ?? '') ? [{ text: 'Continue', keys: ['Enter'] }] : [];
  return { words: askedBefore(text.slice(0, asked + 1)), options };
}

/** The last lines of a question, without what frames it. */
const askedBefore = (lines: readonly string[]): string =>
  lines
    .filter((one) => /[\p{L}\p{N}]/u.test(one) && !RULE.test(one) && !EMPTY_PROMPT.test(one))
    .slice(-6)
    .join('\n');

const choices = (keys: readonly string[]): readonly Choice[] => keys.map((key) => ({ keys: [key], text: key }));
const MARKED = /^\s*[❯›▶]\s+(?:[✔✓]\s+)?(?=\S)/u;

/** A list without numbers, with a mark at one line and, below it, how it is confirmed; null if there is none. */
function menuIn(foot: readonly string[]): Question | null {
  const marked = foot.findLastIndex((line) => MARKED.test(line));
  if (marked < 0 || !foot.slice(marked).some((line) => CONFIRMS.test(line))) return null;
  const column = MARKED.exec(foot[marked] ?? '')?.[0].length ?? 0;
  // A line further in belongs to the choice above it.
  const insetOf = (line: string): number => (line === foot[marked] ? column : line.search(/\S/));
  const first = foot.findLastIndex((line, at) => at < marked && insetOf(line) < column) + 1;
  const after = foot.findIndex((line, at) => at > marked && insetOf(line) < column);
  const at = [...foot.keys()].slice(first, after < 0 ? foot.length : after);
  const rows = at.filter((row) => insetOf(foot[row] ?? '') === column);
  const place = rows.indexOf(marked);
  const options = rows.map((row, index) => ({
    text: (foot[row] ?? '').slice(column).trim().slice(0, 200),
    keys: [...Array.from({ length: Math.abs(index - place) }, () => (index < place ? 'Up' : 'Down')), 'Enter'],
  }));
  const words = askedBefore(foot.slice(0, first).map((line) => line.trim()));
  return options.length < 2 ? null : { words: words || 'It asks for a choice.', options: options.slice(0, 8) };
}

function askedOnLine(line: string): Question | null {
  const either = YES_NO.exec(line) ?? LETTERS.exec(line);
  if (either !== null)
    return { words: line, options: choices(/^yes/i.test(either[1] ?? '') ? ['yes', 'no'] : ['y', 'n']) };
  return SECRET.test(line) ? { words: line, options: [], isSecret: true } : null;
}

/** Choices without numbers, of which one is marked; null if there are none. */
function unnumberedIn(text: readonly string[]): Question | null {
  const marks = text.slice(-6).flatMap((one) => RADIO.exec(one)?.[1] ?? []);
  const words = text.slice(-6).filter(Boolean).join('\n');
  return /●○|○●|◉◯|◯◉/u.test(marks.join('')) ? { words, options: [] } : null;
}

/** A list with a mark at one of its choices, under the sentence that asks. */
function numberedIn(text: readonly string[]): Question | null {
  const marked = text.findLastIndex((one) => CHOICE.exec(one)?.[1] !== undefined && /^[❯›>▶●◉]/u.test(one));
  const first = text.findLastIndex((one, at) => at <= marked && CHOICE.exec(one)?.[2] === '1');
  if (marked < 0 || first < 0) return null;
  const options = text.slice(first).flatMap((one) => {
    const found = CHOICE.exec(one);
    return found === null ? [] : [{ keys: [found[2] ?? ''], text: (found[3] ?? '').slice(0, 200) }];
  });
  if (options.length < 2) return null;
  return { words: askedBefore(text.slice(0, first)) || 'It asks for a choice.', options: options.slice(0, 8) };
}

const BULLET = /^\s{0,2}[⏺●•✦◆■✕✖]\s+/u;
const INSET = /^\s{1,3}(?=\S)/;
const ERROR_MARK = /^\s{0,2}[■✕✖]\s+\[?(?!conversation interrupted)/iu;
const RESULT = /^\s*[⎿└├│┃▏╰╎]/u;
/** A call of a tool as programs show it: `Bash(npm test)`, `Ran npm test`, `✔ ReadFile src/a.ts`. */
const TOOL =
  /^\s{0,2}(?:[⏺●•✦◆✓✔✗x]\s+)?(?:[A-Z]\w+\(.*|(?:Ran|Running|Read|Edited|Updated|Wrote|Searched|Explored|Called|Listed)\s+\S.*)$/u;
/** A line of a command's output, below what was called. */
const OUTPUT = /^(?:\s{4,}\S|\s*[⎿└├])/u;
const COMMAND = /^\s*(?:[\w.@~/:-]{0,60})?[$#%❯>]\s+\S/;
/** What files, diffs, quotations and nested output look like. */
const SHOWN = /^(?:\s{4,}\S|\s*\d{1,6}\s*[│|:+-]\s?|[+-]{1,3}(?:\s|\S)|@@|\s*[>▎]|diff --git|\t)/;

/** The lines at the end that the agent itself said: above its prompt and its hints, below the last output of a command. */
function ownLines(lines: readonly string[]): readonly string[] {
  const body = lines.slice(0, bottomOf(lines));
  const bullets = body.some((line) => BULLET.test(line));
  const start = bullets ? body.findLastIndex((line) => BULLET.test(line)) : afterOutput(body);
  const rest = body.slice(Math.max(start, 0));
  const end = ERROR_MARK.test(rest[0] ?? '') ? rest.indexOf('') : -1;
  const block = end < 0 ? rest : rest.slice(0, end);
  const isOutput = bullets && (TOOL.test(block[0] ?? '') || block.some((line) => RESULT.test(line)));
  return isOutput ? [] : ownTextOf(block.map(unmarked).join('\n'));
}

const unmarked = (line: string): string => line.replace(ERROR_MARK, 'Error: ').replace(BULLET, '').replace(INSET, '');

/** Where the program's own input row begins, which only hints and the frame of a box follow; behind the last line where there is none. */
function bottomOf(lines: readonly string[]): number {
  const from = Math.max(0, lines.length - LOWEST);
  const at = lines.findLastIndex((line, index) => index >= from && isPrompt(line, lines[index - 1]));
  if (at < 0 || lines.slice(at + 1).some((line) => BULLET.test(line) || !/^(?:\s|$|[╭╰┌└│┃|─━═-])/.test(line)))
    return lines.length;
  return RULE.test(lines[at - 1] ?? '') ? at - 1 : at;
}

/** In a program without marks: behind the last command and its output, which ends with an empty line. */
function afterOutput(body: readonly string[]): number {
  const command = body.findLastIndex((line) => COMMAND.test(line) || TOOL.test(line));
  if (command < 0) return 0;
  const empty = body.findIndex((line, at) => at > command && line === '');
  return empty < 0 ? body.length : empty + 1;
}

/** Without code, quotations and what files and commands look like. */
function ownTextOf(text: string): readonly string[] {
  const fences = text.split(/^\s*```.*$/m);
  return fences
    .filter((_, at) => at % 2 === 0)
    .join('\n')
    .split('\n')
    .filter((line) => !SHOWN.test(line) && !RESULT.test(line) && !RULE.test(line));
}

function paragraphsOf(lines: readonly string[]): readonly (readonly string[])[] {
  const all: string[][] = [[]];
  for (const line of lines) {
    if (line.trim() === '') all.push([]);
    else all.at(-1)?.push(line.trim().replaceAll(/\*\*|`/g, ''));
  }
  return all.filter((one) => one.length > 0);
}
