/** Questions to the person, for all front ends: what forms one question, its answers, whether it is dangerous, its rows. */
import { type AnswerScope, coveredWords, type GrantScope, programsText } from '../../../domain/agents/grant.ts';
import type { Millis } from '../../../domain/ids.ts';
import { jsonDigest } from '../../../domain/digest.ts';
import { memoize } from '../../../domain/memoize.ts';
import type { Approval, ApprovalRequest, RunState, StandingGrant } from '../../../events/index.ts';
import type { TrustQuestion } from '../../../ports/project-service.ts';
import { plural } from '../text/format.ts';
import { rowsIn } from '../text/line.ts';
import { type Piece, splitMarked } from '../text/sanitise.ts';
import { graphemes, isSimple } from '../text/width.ts';
import DATA from './wants.json' with { type: 'json' };

/** Approvals that one answer settles: the same action, word for word, requested by one or more agents. */
export interface Question {
  readonly key: string;
  /** The oldest. */
  readonly first: Approval;
  readonly all: readonly Approval[];
}

/** Groups approvals into questions, oldest first. Only identical ones that may be answered together are grouped. */
export function questionsOf(approvals: readonly Approval[]): readonly Question[] {
  const questions: Question[] = [];
  for (const [key, all] of Map.groupBy(approvals, keyOf)) {
    const [first] = all;
    if (first !== undefined) questions.push({ key, first, all });
  }
  return questions;
}

/** The questions that are not yet answered here, although the log may not have the answers yet. */
export const openQuestions = (
  { approvals }: Pick<RunState, 'approvals'>,
  answered: ReadonlySet<string>,
): readonly Question[] => questionsOf(approvals.filter(({ id }) => !answered.has(id)));

function keyOf({ id, request }: Approval): string {
  const { action, exact, options, unsandboxed, same } = request;
  return same === undefined ? id : JSON.stringify([action, unsandboxed, same, exact, options]);
}

/** `permission`: allow or deny; `options`: choose one; `words`: a free answer. */
export type Kind = 'permission' | 'options' | 'words';

export function kindOf({ action, options }: ApprovalRequest): Kind {
  if (action === 'turn') return 'options';
  if (!CHOICES.has(action)) return 'permission';
  return options.length > 0 ? 'options' : 'words';
}

const CHOICES: ReadonlySet<ApprovalRequest['action']> = new Set(['question', 'failure', 'budget', 'merge'] as const);

/** True if the person may type an amount for this option. */
export const takesAmount = ({ adds, options }: ApprovalRequest, option: string): boolean =>
  adds !== undefined && options[adds] === option;

/** What the asking agent wants, as a predicate after its name. */
export const WANTS: Readonly<Record<ApprovalRequest['action'], string>> = DATA;

/** The text to decide about, without the options, which are shown as answers. */
export function questionText({ exact, options }: ApprovalRequest): string {
  const lines = exact.split('\n');
  const offered = options.length > 0 && options.every((one, index) => lines.at(index - options.length) === one);
  return offered ? lines.slice(0, -options.length).join('\n') : exact;
}

/** True if the text is prose rather than an action that is executed literally, or a diff. */
export const isProse = ({ action }: ApprovalRequest): boolean =>
  (CHOICES.has(action) && action !== 'merge') || action === 'turn';

/** Why allowing the request may destroy data, or null. Judged by the text alone: a false alarm costs one key. */
export function dangerOf({ action, exact, destroys: byRule }: ApprovalRequest): string | null {
  if (byRule !== undefined) return byRule;
  if (action !== 'shell') return null;
  return REMOVES.find(([pattern]) => pattern.test(exact))?.[1] ?? null;
}

const program = (names: string): RegExp => new RegExp(String.raw`(?:^|[\s;&|("'\x60/])(?:${names})(?=\s|$)`, 'm');

const REMOVES: readonly (readonly [pattern: RegExp, words: string])[] = [
  [program('rm|rmdir|unlink|shred|trash'), 'it deletes files'],
  [/(?:^|\s)-(?:delete|-delete)(?=\s|$)/m, 'it deletes files'],
  [program(String.raw`dd|truncate|wipefs|mkfs\S*|fdisk|parted`), 'it overwrites existing data'],
  [
    /\bgit\b[^\n;|&]*\s(?:clean|reset\s+(?:\S+\s+)*--hard|branch\s+(?:\S+\s+)*-D|stash\s+(?:drop|clear))\b/m,
    'it discards changes',
  ],
  [/\bgit\b[^\n;|&]*\spush\b[^\n;|&]*\s(?:-f|--force\S*|--delete|--mirror)(?=\s|$)/m, 'it rewrites shared history'],
  [/\bgit\b[^\n;|&]*\s(?:checkout|restore)\b[^\n;|&]*\s(?:--|\.)(?=\s|$)/m, 'it discards changes'],
];

export interface Offer {
  /** The key of the answer. Permissions: 1 once, 2 and 3 for the session, 4 deny, 5 deny with a reason. Options: their positions. */
  readonly number: string;
  /** A short label: `allow once`, `npm test …`, or the option itself. */
  readonly label: string;
  /** What an approval for the session covers, otherwise null. */
  readonly covers: string | null;
  readonly allow: boolean;
  readonly scope: AnswerScope;
  readonly text: string;
  /** What the person must type first; null if the answer is sent at once. */
  readonly asks: 'reason' | 'words' | 'amount' | null;
}

/** The answers to a request in the order of their numbers; empty if only a free answer is possible. */
export function offersFor(request: ApprovalRequest): readonly Offer[] {
  const kind = kindOf(request);
  if (kind === 'words') return [];
  if (kind === 'options') return request.action === 'turn' ? TURN : optionsFor(request);
  const [narrow, wide] = SCOPES[request.action] ?? [null, null];
  return [
    { ...YES, number: '1', label: 'allow once' },
    ...sessionOffer('2', request, narrow),
    ...sessionOffer('3', request, wide),
    { ...NO, number: '4', label: 'deny' },
    { ...NO, number: '5', label: 'deny, say why', asks: 'reason' },
  ];
}

const YES = { covers: null, allow: true, scope: 'once', text: '', asks: null } as const;
const NO = { ...YES, allow: false } as const;

const TURN: readonly Offer[] = [
  { ...YES, number: '1', label: 'continue' },
  { ...YES, number: '2', label: 'send a message, or !command', asks: 'words' },
];

/** The options of the question, followed by a free answer where one makes sense. */
function optionsFor(request: ApprovalRequest): readonly Offer[] {
  const { action, options } = request;
  const given = options.map((label, at): Offer => ({ ...YES, number: String(at + 1), label, text: label }));
  const more = String(options.length + 1);
  if (action === 'question') return [...given, { ...YES, number: more, label: 'type an answer', asks: 'words' }];
  return options.some((option) => takesAmount(request, option))
    ? [...given, { ...YES, number: more, label: 'add another amount', asks: 'amount' }]
    : given;
}

/** The index of the preselected answer: the first option that costs nothing more. */
export const defaultOffer = (request: ApprovalRequest): number =>
  Math.max(
    0,
    request.options.findIndex((option) => !takesAmount(request, option)),
  );

type Scopes = readonly [narrow: GrantScope | null, wide: GrantScope | null];

const SCOPES: Readonly<Partial<Record<ApprovalRequest['action'], Scopes>>> = {
  shell: ['session', 'program'],
  'git-write': ['session', null],
  write: ['file', 'session'],
  read: [null, 'session'],
  'git-read': [null, 'session'],
  spawn: [null, 'session'],
};

function sessionOffer(number: string, request: ApprovalRequest, scope: GrantScope | null): readonly Offer[] {
  const covers = scope === null ? null : coveredWords(request, scope);
  if (scope === null || covers === null) return [];
  return [{ ...YES, number, label: labelOf(request, scope), covers: `${covers}, this session`, scope }];
}

const LABELS: Readonly<Partial<Record<ApprovalRequest['action'], string>>> = {
  shell: 'this command',
  'git-write': 'this commit',
  write: "this agent's edits",
  read: 'all reading',
  'git-read': 'all git queries',
  spawn: 'all spawns',
};

function labelOf({ action, programs = [] }: ApprovalRequest, scope: GrantScope): string {
  if (scope === 'program') return programsText(programs);
  return scope === 'file' ? 'this file' : (LABELS[action] ?? 'all of these');
}

/** What a grant covers, for the list of grants. */
export function grantText(grant: StandingGrant): string {
  const covers = coveredWords(grant, grant.scope) ?? grant.title;
  return grant.scope === 'session' && grant.action !== 'write' ? `${grant.title}: ${covers}` : covers;
}

/** True if the user has to decide about trust. */
export const isOpen = ({ state }: TrustQuestion): boolean => state === 'new' || state === 'changed';

/** What a command without a sandbox may do. */
export const WITHOUT_SANDBOX = 'it has all your rights and can read keys in the environment of the shell or of npm';

/** A row of the exact text. Its hidden characters are pieces of their own, which a front end shows unlike the same letters. */
export interface ExactRow {
  /** The first letter that is shown, and the one after the last. */
  readonly from: number;
  readonly to: number;
  /** How the row continues the line: a new line, after a blank, or inside a word that is wider than the row. */
  readonly continues: 'new' | 'blank' | 'word';
  readonly pieces: readonly Piece[];
}

/** The rows of one line of a marked text, each of at most `width` columns. Lines may be megabytes long. */
export function exactRows(line: string, width: number): readonly ExactRow[] {
  const clusters = isSimple(line)
    ? []
    : splitMarked(line).flatMap(({ text, hidden }) => graphemes(text).map((cluster) => ({ text: cluster, hidden })));
  const letters = isSimple(line) ? line : clusters.map(({ text }) => text);
  return rowsIn(letters, width).map(([from, to], row) => ({
    from,
    to,
    continues: row === 0 ? 'new' : letters[from - 1] === ' ' || letters[from] === ' ' ? 'blank' : 'word',
    pieces:
      typeof letters === 'string'
        ? [{ text: letters.slice(from, to), hidden: false }]
        : joinPieces(clusters.slice(from, to)),
  }));
}

function joinPieces(clusters: readonly Piece[]): readonly Piece[] {
  const joined: { text: string; readonly hidden: boolean }[] = [];
  for (const { text, hidden } of clusters) {
    const last = joined.at(-1);
    if (last?.hidden === hidden) last.text += text;
    else joined.push({ text, hidden });
  }
  return joined;
}

/** The size of an exact text. */
export interface ExactMeasure {
  /** `3 lines`, `9029 characters`, and of a long text `digest 3f9a01bc`, which differs for any two texts. */
  readonly words: readonly string[];
  readonly hidden: boolean;
}

const LONG = 200;

/** Measures the marked text of a question, which may be long. */
export const exactMeasure = memoize((request: ApprovalRequest) => [request], measure);

function measure({ exact }: ApprovalRequest): ExactMeasure {
  const parts = splitMarked(exact);
  const length = parts.reduce((sum, { text }) => sum + text.length, 0);
  const words = [
    plural(exact.split('\n').length, 'line'),
    plural(length, 'character'),
    ...(length > LONG ? [`digest ${jsonDigest(exact).slice(0, 8)}`] : []),
  ];
  return { words, hidden: parts.some(({ hidden }) => hidden) };
}

/** Longer than the delay before a keyboard repeats a held key. */
const PAUSE: Millis = 1000;

/** Detects held keys. Terminals report no key release, so a key that comes again within a second may be a repetition. */
export class HeldKey {
  #key: string | null = null;
  #since: Millis = 0;
  #last: Millis = 0;

  /** The time at which this key may have been pressed and held. */
  since(key: string, now: Millis): Millis {
    // A different key ends the repetition.
    if (key !== this.#key || now - this.#last >= PAUSE) this.#since = now;
    this.#key = key;
    this.#last = now;
    return this.#since;
  }
}

/** Texts of the trust question. */
export const TRUST_WORDS = {
  brings: 'If you trust it, these apply to your runs:',
  changed: 'Changed since you trusted it:',
  nothing: 'Nothing in this project needs trust.',
  otherwise: 'Its restrictions always apply. Everything else is ignored until you trust it.',
} as const;
