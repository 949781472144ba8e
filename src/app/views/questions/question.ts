/** A question to the person as the screen and line mode show it: which requests are one, how it is answered, what is said of it. */
import type { ApprovalRequest } from '../../../events/event.ts';
import type { Approval } from '../../../events/state.ts';

/** Approvals that one answer is for: the same action, word for word, asked by several agents; mostly a single one. */
export interface Question {
  readonly key: string;
  /** The oldest. */
  readonly first: Approval;
  readonly all: readonly Approval[];
}

/** What waits, as questions, the oldest first. Only what may be answered together is one, and only where nothing differs. */
export function questionsOf(approvals: readonly Approval[]): readonly Question[] {
  const questions: Question[] = [];
  for (const [key, all] of Map.groupBy(approvals, keyOf)) {
    const [first] = all;
    if (first !== undefined) questions.push({ key, first, all });
  }
  return questions;
}

function keyOf({ id, request }: Approval): string {
  const { action, exact, options, unsandboxed, same } = request;
  return same === undefined ? id : JSON.stringify([action, unsandboxed, same, exact, options]);
}

/** `permission`: may it happen; `options`: one of several; `words`: in the person's own words. */
export type Kind = 'permission' | 'options' | 'words';

export function kindOf({ action, options }: ApprovalRequest): Kind {
  if (action === 'turn') return 'options';
  if (!CHOICES.has(action)) return 'permission';
  return options.length > 0 ? 'options' : 'words';
}

const CHOICES: ReadonlySet<ApprovalRequest['action']> = new Set(['question', 'failure', 'budget'] as const);

/** Does this option take an amount that the person may type? */
export const takesAmount = ({ action }: ApprovalRequest, option: string): boolean =>
  action === 'budget' && /^add\b/i.test(option);

/** What the asker wants, behind its name: `wants to run a command`. */
export const WANTS: Readonly<Record<ApprovalRequest['action'], string>> = {
  write: 'wants to change files',
  shell: 'wants to run a command',
  'git-write': 'wants to change the git repository',
  read: 'wants to read',
  'git-read': 'wants to look at git',
  spawn: 'wants to start another agent',
  question: 'asks you',
  turn: 'waits before its next turn',
  failure: 'depends on a task that failed',
  budget: 'has come to a limit',
};

/** What the person decides about, without the options: these are shown as the answers that they are. */
export function askedText({ exact, options }: ApprovalRequest): string {
  const lines = exact.split('\n');
  const offered = options.length > 0 && options.every((one, index) => lines.at(index - options.length) === one);
  return offered ? lines.slice(0, -options.length).join('\n') : exact;
}

/** Is the text prose, which is read, rather than an action, which is carried out letter by letter? */
export const isProse = ({ action }: ApprovalRequest): boolean => CHOICES.has(action) || action === 'turn';

/**
 * Why allowing it may destroy what nobody can bring back; null where nothing says so. Such a yes takes a second key. It is read from
 * the text alone: one that is named too often costs a key, no more.
 */
export function destroys({ action, exact, because }: ApprovalRequest): string | null {
  if (because.startsWith('always asked:')) return because.slice('always asked:'.length).trim();
  if (action !== 'shell') return null;
  const found = REMOVES.find(([pattern]) => pattern.test(exact));
  return found?.[1] ?? null;
}

const program = (names: string): RegExp => new RegExp(String.raw`(?:^|[\s;&|("'\x60/])(?:${names})(?=\s|$)`, 'm');

const REMOVES: readonly (readonly [pattern: RegExp, words: string])[] = [
  [program('rm|rmdir|unlink|shred|trash'), 'it deletes files'],
  [/(?:^|\s)-(?:delete|-delete)(?=\s|$)/m, 'it deletes files'],
  [program(String.raw`dd|truncate|wipefs|mkfs\S*|fdisk|parted`), 'it overwrites what was there'],
  [
    /\bgit\b[^\n;|&]*\s(?:clean|reset\s+(?:\S+\s+)*--hard|branch\s+(?:\S+\s+)*-D|stash\s+(?:drop|clear))\b/m,
    'it discards changes',
  ],
  [/\bgit\b[^\n;|&]*\spush\b[^\n;|&]*\s(?:-f|--force\S*|--delete|--mirror)(?=\s|$)/m, 'it rewrites what others have'],
  [/\bgit\b[^\n;|&]*\s(?:checkout|restore)\b[^\n;|&]*\s(?:--|\.)(?=\s|$)/m, 'it discards changes'],
];
