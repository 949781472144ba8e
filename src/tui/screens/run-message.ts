/** Writing a message on the run screen: its keys, and what the field takes. */
import type { Binding, Effect } from '../screen.ts';
import type { Input } from '../term/terminal.ts';
import { edit, editorText } from '../text/editor.ts';
import type { Message, RunUi } from './run-state.ts';

const NEXT_DELIVERY = { sequential: 'important', important: 'urgent', urgent: 'sequential' } as const;

const key = (
  of: Pick<Binding<RunUi>, 'keys' | 'action' | 'hint' | 'help'>,
  run: (ui: RunUi, message: Message) => Effect<RunUi>,
): Binding<RunUi> => ({
  ...of,
  whyNot: (ui) => (ui.message === null ? '' : null),
  run: (ui) => (ui.message === null ? {} : run(ui, ui.message)),
});

export const MESSAGE_KEYS: readonly Binding<RunUi>[] = [
  key({ keys: ['enter'], action: 'message.send', hint: 'send', help: 'Send the message being written.' }, send),
  key(
    {
      keys: ['tab'],
      action: 'message.delivery',
      hint: 'when',
      help: 'When it is delivered: once the agent is idle, at its next turn, or at once by interrupting it.',
    },
    (ui, message) => ({ ui: { ...ui, message: { ...message, delivery: NEXT_DELIVERY[message.delivery] } } }),
  ),
  key(
    { keys: ['esc'], action: 'message.leave', hint: 'keep for later', help: 'Leave the message; it is kept.' },
    (ui, message) => ({
      ui: { ...ui, message: null, draft: editorText(message.editor) },
    }),
  ),
  key({ keys: ['ctrl-c'], action: 'message.clear', hint: 'clear', help: 'Throw the message away.' }, (ui) => ({
    ui: { ...ui, message: null, draft: '' },
  })),
];

function send(ui: RunUi, message: Message): Effect<RunUi> {
  const done = { ...ui, message: null, draft: '' };
  const text = editorText(message.editor);
  if (text.trim() === '') return { ui: done };
  return { ui: done, commands: [{ do: 'message', to: message.to, text, delivery: message.delivery }] };
}

/** What the field makes of an input; null when it isn't the field's. */
export function typed(ui: RunUi, message: Message, input: Input): Effect<RunUi> | null {
  const editor = edit(message.editor, input);
  return editor === null ? null : { ui: { ...ui, message: { ...message, editor } } };
}
