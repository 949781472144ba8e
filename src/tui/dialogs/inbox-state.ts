/** What the inbox remembers of each question, which questions are one, and what kind of answer a question wants. */
import type { Millis } from '../../domain/ids.ts';
import type { ApprovalRequest } from '../../events/event.ts';
import type { Approval } from '../../events/state.ts';
import type { Editor } from '../text/editor.ts';
import { openEditor } from '../text/editor.ts';

export interface InboxState {
  /** Key of the question shown. */
  readonly current: string | null;
  /** Where the person is in each question, by its key: what was typed is kept while others are looked at. */
  readonly kept: ReadonlyMap<string, Kept>;
  /** When an approval was on the screen first, by its id. */
  readonly seen: ReadonlyMap<string, Millis>;
  /** Answered here, not yet out of the state. */
  readonly answered: ReadonlySet<string>;
}

export interface Kept {
  readonly top: number;
  /** The furthest that was scrolled to. */
  readonly deepest: number;
  readonly editor: Editor;
  readonly option: number;
  /** It is being denied, and the reason is typed. */
  readonly reason: boolean;
}

const NEW: Kept = { top: 0, deepest: 0, editor: openEditor('', true), option: 0, reason: false };

export const keptOf = ({ kept }: InboxState, { key, first }: Question): Kept =>
  kept.get(key) ?? {
    ...NEW,
    option: Math.max(
      0,
      first.request.options.findIndex((one) => !takesAmount(first, one)),
    ),
  };

/** Which option takes an amount; -1 where none does. */
export const amountOption = (asked: Pick<Approval, 'request'>): number =>
  asked.request.options.findIndex((option) => takesAmount(asked, option));

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

export type Kind = 'permission' | 'options' | 'words';

/** How a question is answered: yes or no, one of several, or in words. */
export const kindOf = ({ request }: Pick<Approval, 'request'>): Kind => {
  if (request.action === 'turn') return 'words';
  if (!CHOICES.has(request.action)) return 'permission';
  return request.options.length > 0 ? 'options' : 'words';
};

const CHOICES: ReadonlySet<ApprovalRequest['action']> = new Set(['question', 'failure', 'budget'] as const);

/** Does this option take an amount that the person may type? */
export const takesAmount = ({ request }: Pick<Approval, 'request'>, option: string): boolean =>
  request.action === 'budget' && /^add\b/i.test(option);
