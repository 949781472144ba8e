/** What was entered into a form so far. */
import type { Dialog } from '../../shell/overlays/dialog.ts';
import type { Editor } from '../../text/editor.ts';

export type FormDialog = Extract<Dialog, { readonly is: 'form' }>;

/** What was entered so far. */
export interface FormState {
  readonly at: number;
  readonly editors: Readonly<Record<string, Editor>>;
  readonly chosen: Readonly<Record<string, string>>;
  readonly checked: Readonly<Record<string, readonly string[]>>;
  /** The entry of a check list that the cursor is on. */
  readonly entry: number;
  readonly fault: string | null;
  readonly changed: boolean;
  /** Esc was pressed with changes: y throws them away. */
  readonly asking: boolean;
}
