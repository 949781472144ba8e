/** What the screen remembers of each question: where the person is in it, and what of it was on the screen. */
import { firstChosen } from '../../../../app/views/questions/answers.ts';
import type { Offer } from '../../../../app/views/questions/answers.ts';
import type { Question } from '../../../../app/views/questions/question.ts';
import type { Millis } from '../../../../domain/ids.ts';
import type { Editor } from '../../text/editor.ts';
import { openEditor } from '../../text/editor.ts';

export interface InboxState {
  /** Key of the question shown. */
  readonly current: string | null;
  /** Where the person is in each question, by its key: what was typed is kept while others are looked at. */
  readonly kept: ReadonlyMap<string, Kept>;
  /** When an approval was on the screen first, by its id. */
  readonly seen: ReadonlyMap<string, Millis>;
  /** Answered here, not yet out of the state. */
  readonly answered: ReadonlySet<string>;
  /** Approvals that were left for later: one row tells of them. */
  readonly putOff: ReadonlySet<string>;
  /** Since when the question that is shown has the keys: what was pressed before is not meant for it. */
  readonly since: Millis;
}

export interface Kept {
  /** The place of the first row in sight (view.ts). */
  readonly at: number;
  /** The characters of the text that were on the screen: up to, but not with, this one. */
  readonly read: number;
  readonly editor: Editor;
  /** Which option is selected. */
  readonly option: number;
  /** The answer that words are typed for. */
  readonly typing: Offer | null;
  /** An answer that may destroy something: it takes a second key, pressed after this time. */
  readonly sure: { readonly offer: Offer; readonly since: Millis } | null;
}

export const NEW: InboxState = {
  current: null,
  kept: new Map(),
  seen: new Map(),
  answered: new Set(),
  putOff: new Set(),
  since: 0,
};

export const keptOf = ({ kept }: InboxState, { key, first }: Question): Kept =>
  kept.get(key) ?? {
    at: Number.NEGATIVE_INFINITY,
    read: 0,
    editor: openEditor('', true),
    option: firstChosen(first.request),
    typing: null,
    sure: null,
  };
