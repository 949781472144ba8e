/** What the inbox remembers of a question, and what kind of answer a question wants. */
import type { Millis } from '../../domain/ids.ts';
import type { Approval } from '../../events/state.ts';
import type { Editor } from '../text/editor.ts';

export interface InboxState {
  /** The question shown. */
  readonly current: string | null;
  /** Since when it is shown; -Infinity where the person opened it. */
  readonly since: Millis;
  readonly top: number;
  /** The furthest that was scrolled to. */
  readonly deepest: number;
  readonly editor: Editor;
  readonly option: number;
  /** Answered here, not yet out of the state. */
  readonly answered: ReadonlySet<string>;
}

/** How a question is answered: yes or no, one of several, or in words. */
export const kindOf = ({ request }: Approval): 'permission' | 'options' | 'words' => {
  if (request.action === 'turn') return 'words';
  if (request.action !== 'question' && request.action !== 'failure') return 'permission';
  return request.options.length > 0 ? 'options' : 'words';
};
