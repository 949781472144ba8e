/**
 * What an agent in a terminal is doing, judged by its last lines and by what its transcript says. Phrases count where the agent itself says
 * them at the end of a turn, not in what a command or a file printed. Pure.
 */

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
  /** What is typed for it: `1`, `y`. */
  readonly key: string;
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
  const question = questionIn(lines.slice(-FOOT), look.quiet);
  if (question !== null) return { ...plain('waiting'), isHeld: true, ...question };
  if (isActive(lines) && look.quiet < STUCK_MS) return plain('working');
  return look.told === null ? byScreen(look, lines, phrases) : byTranscript(look, look.told, phrases);
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
  if (exit !== 0) return plain('crashed', lines.findLast((line) => line.trim() !== '') ?? '');
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

const isNoText = (line: string): boolean => DEAD.test(line) || (STATUS.test(line) && !INTERRUPTS.test(line));

function linesOf(screen: string): readonly string[] {
  const lines = screen.split('\n').map((line) => (isNoText(line) ? '' : line.replace(/^\s*[┃▌]/, '').trimEnd()));
  const end = lines.findLastIndex((line) => line !== '');
  return lines.slice(0, end + 1).slice(-50);
}

/** What tmux itself writes below a program that has ended. */
const DEAD = /^Pane is dead \(/;
/** A line of facts about the program, such as its model and the time, or a rule with words in it. */
const STATUS = /^\s*(?:\S[^·]*·[^·]*·[^·]*|[─━]+ .+ [─━]{6,})$/;

const INTERRUPTS = /\b(?:esc|escape|ctrl[-+ ]?c|\^c)\b.{0,16}\b(?:interrupt|cancel|stop)\b/i;
/** A spinner with what is being done, or a bar. */
const ACTIVE = [
  /^\s*[⠁-⣿✶✻✽✢∗◐◓◑◒◴◷◶◵⏳●·*+|/\\-]\s+\p{L}[^.]*(?:…|\.\.\.)(?:\s*\(.*\))?$/u,
  /^\s*\p{L}+ing\b[^.?!]*(?:…|\.\.\.)(?:\s*\(.*\))?$/u,
  /\[[=#>█▓-]{2,}[>\s.░-]*\]\s*\d{0,3}\s*%?|[█▓]{2,}[░\s]*\d{1,3}\s*%/,
];

/** Whether a program shows that it works: by how it can be interrupted, or by its last line. */
function isActive(lines: readonly string[]): boolean {
  if (lines.slice(-FOOT).some((line) => INTERRUPTS.test(line))) return true;
  const last = lines.slice(0, bottomOf(lines)).findLast((line) => line !== '' && !RESULT.test(line)) ?? '';
  return ACTIVE.some((pattern) => pattern.test(unframed(last)));
}

/** Without the sides of a box around it. */
const unframed = (line: string): string => line.replace(/^\s*[│┃|▌]/, '').replace(/[│┃|▐]\s*$/, '');

const RULE = /^\s*[╭╰┌└├]?[─━═-]{6,}/;
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
const SECRET = /\b(?:pass(?:word|phrase)|pin|one-time code|verification code|api key)\b[^?\n]{0,80}[:?]\s*$/i;

type Question = Pick<Judged, 'words' | 'options'> & Partial<Judged>;

/** The question at the foot of the screen that holds the program up; null if there is none. */
function questionIn(foot: readonly string[], quiet: number): Question | null {
  const text = foot.map((line) => unframed(line).trim());
  const last = text.findLastIndex((line) => line !== '' && !RULE.test(line));
  const line = text[last] ?? '';
  // What a command has printed is shown further in.
  const onLine = OUTPUT.test(foot[last] ?? '') ? null : askedOnLine(line);
  if (onLine !== null) return onLine;
  const unnumbered = unnumberedIn(text);
  if (unnumbered !== null) return { words: unnumbered, options: [] };
  const marked = text.findLastIndex((one) => CHOICE.exec(one)?.[1] !== undefined && /^[❯›>▶●◉]/u.test(one));
  if (marked >= 0) return choicesAround(text, marked);
  const asked = text.slice(-4).find((one) => ASKS_KEY.test(one) && !INTERRUPTS.test(one));
  return asked !== undefined && quiet >= SETTLED_MS ? { words: asked, options: [] } : null;
}

const choices = (keys: readonly string[]): readonly Choice[] => keys.map((key) => ({ key, text: key }));

function askedOnLine(line: string): Question | null {
  const either = YES_NO.exec(line) ?? LETTERS.exec(line);
  if (either !== null)
    return { words: line, options: choices(/^yes/i.test(either[1] ?? '') ? ['yes', 'no'] : ['y', 'n']) };
  return SECRET.test(line) ? { words: line, options: [], isSecret: true } : null;
}

/** Choices without numbers, of which one is marked; null if there are none. */
function unnumberedIn(text: readonly string[]): string | null {
  const marks = text.slice(-6).flatMap((one) => RADIO.exec(one)?.[1] ?? []);
  return /●○|○●|◉◯|◯◉/u.test(marks.join('')) ? text.slice(-6).filter(Boolean).join('\n') : null;
}

/** A list with a mark at one of its choices, under the sentence that asks. */
function choicesAround(text: readonly string[], marked: number): Question | null {
  const first = text.findLastIndex((one, at) => at <= marked && CHOICE.exec(one)?.[2] === '1');
  if (first < 0) return null;
  const options = text.slice(first).flatMap((one) => {
    const found = CHOICE.exec(one);
    return found === null ? [] : [{ key: found[2] ?? '', text: (found[3] ?? '').slice(0, 200) }];
  });
  if (options.length < 2) return null;
  const before = text.slice(0, first).filter((one) => one !== '' && !RULE.test(one) && !EMPTY_PROMPT.test(one));
  return { words: before.slice(-6).join('\n') || 'It asks for a choice.', options: options.slice(0, 8) };
}

const BULLET = /^\s{0,2}[⏺●•✦◆]\s+/u;
const RESULT = /^\s*[⎿└├│┃▏╰╎]/u;
/** A call of a tool as programs show it: `Bash(npm test)`, `Ran npm test`, `✔ ReadFile src/a.ts`. */
const TOOL =
  /^\s{0,2}(?:[⏺●•✦◆✓✔✗x]\s+)?(?:[A-Z]\w+\(.*|(?:Ran|Running|Read|Edited|Updated|Wrote|Searched|Explored|Called|Listed)\s+\S.*)$/u;
/** A line of a command's output, below what was called. */
const OUTPUT = /^(?:\s{4,}\S|\s*[⎿└├])/u;
const COMMAND = /^\s*(?:[\w.@~/:-]{0,60})?[$#%❯>]\s+\S/;
/** What files, diffs, quotations and nested output look like. */
const SHOWN = /^(?:\s{4,}\S|\s*\d{1,6}\s*[│|:+-]\s?|[+-]{1,3}(?:\s|\S)|@@|\s*>|diff --git|\t)/;

/** The lines at the end that the agent itself said: above its prompt and its hints, below the last output of a command. */
function ownLines(lines: readonly string[]): readonly string[] {
  const body = lines.slice(0, bottomOf(lines));
  const bullets = body.some((line) => BULLET.test(line));
  const start = bullets ? body.findLastIndex((line) => BULLET.test(line)) : afterOutput(body);
  const block = body.slice(Math.max(start, 0));
  const isOutput = bullets && (TOOL.test(block[0] ?? '') || block.some((line) => RESULT.test(line)));
  return isOutput
    ? []
    : ownTextOf(block.map((line) => line.replace(BULLET, '').replace(/^\s{1,3}(?=\S)/, '')).join('\n'));
}

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
