/** Writing a message on the run screen: its keys, what the field takes, and what was written before. */
import { isFollowUp } from '../../../../app/actions/index.ts';
import { completeKey } from '../../components/text/complete.ts';
import type { Binding, Context, Effect } from '../../frame/screen.ts';
import type { Input } from '../../terminal/terminal.ts';
import { edit, editorText, isEmpty, openEditor } from '../../text/editor.ts';
import { stillWords } from '../../components/lost.ts';
import type { Message, RunUi } from './state.ts';

const NEXT_DELIVERY = { sequential: 'important', important: 'urgent', urgent: 'sequential' } as const;

type Act = (ui: RunUi, message: Message, context: Context, key: string) => Effect<RunUi>;

const key = (of: Pick<Binding<RunUi>, 'keys' | 'action' | 'hint' | 'help'>, run: Act): Binding<RunUi> => ({
  ...of,
  whyNot: (ui) => (ui.message === null ? '' : null),
  run: (ui, context, pressed) => (ui.message === null ? {} : run(ui, ui.message, context, pressed)),
});

/** Paths that are offered behind an @ come before what the key does else. */
const behindOffer =
  (act: Act): Act =>
  (ui, message, context, pressed) => {
    const done = completeKey(message.editor, message.completing, pressed, context);
    return done === null ? act(ui, message, context, pressed) : { ui: { ...ui, message: { ...message, ...done } } };
  };

export const MESSAGE_KEYS: readonly Binding<RunUi>[] = [
  key(
    { keys: ['enter'], action: 'message.send', hint: 'send', help: 'Send the message being written.' },
    behindOffer(send),
  ),
  key(
    {
      keys: ['tab'],
      action: 'message.delivery',
      hint: 'when',
      help: 'When it is delivered: once the agent is idle, at its next turn, or at once by interrupting it. Behind an @, takes the chosen path.',
    },
    behindOffer((ui, message) => ({
      ui: { ...ui, message: { ...message, delivery: NEXT_DELIVERY[message.delivery] } },
    })),
  ),
  key(
    {
      keys: ['up', 'down'],
      action: 'message.history',
      hint: '',
      help: 'In the empty field, the messages that were sent before; in a longer text, its lines.',
    },
    behindOffer(vertical),
  ),
  key(
    {
      keys: ['ctrl-g'],
      action: 'message.editor',
      hint: '',
      help: 'Write the message in your own editor ($VISUAL or $EDITOR).',
    },
    (_, message) => ({ app: { field: editorText(message.editor) } }),
  ),
  key(
    { keys: ['esc'], action: 'message.leave', hint: 'keep for later', help: 'Leave the message; it is kept.' },
    behindOffer((ui, message) => ({ ui: { ...ui, message: null, draft: editorText(message.editor) } })),
  ),
  key({ keys: ['ctrl-c'], action: 'message.clear', hint: 'clear', help: 'Throw the message away.' }, (ui) => ({
    ui: { ...ui, message: null, draft: '' },
  })),
];

function send(ui: RunUi, message: Message, context: Context): Effect<RunUi> {
  const done = { ...ui, message: null, draft: '' };
  const text = editorText(message.editor);
  if (text.trim() === '') return { ui: done };
  // Nobody would read it: what was written stays, as a draft behind Esc.
  const why = stillWords(context);
  if (why !== null) return { ui, toast: { level: 'warn', text: `Not sent, Esc keeps it. ${why}` } };
  const { session } = context.state;
  if (isFollowUp(context.state))
    return session === null ? { ui } : { ui: done, app: { resume: session, followUp: text } };
  return { ui: done, commands: [{ do: 'message', to: message.to, text, delivery: message.delivery }] };
}

/** What the person sent in this run, the newest first, each once. */
const sentBefore = ({ state }: Context): readonly string[] => [
  ...new Set(state.messages.flatMap(({ from, content }) => (from === 'person' ? [content] : [])).toReversed()),
];

function vertical(ui: RunUi, message: Message, context: Context, pressed: string): Effect<RunUi> {
  const moved = edit(message.editor, { is: 'key', key: pressed });
  if (moved !== null) return { ui: { ...ui, message: { ...message, editor: moved } } };
  if (message.former === null && !isEmpty(message.editor)) return { ui };
  const at = (message.former ?? -1) + (pressed === 'up' ? 1 : -1);
  const text = at < 0 ? '' : sentBefore(context)[at];
  if (text === undefined) return { ui };
  return { ui: { ...ui, message: { ...message, editor: openEditor(text, true), former: at < 0 ? null : at } } };
}

/** What the field makes of an input; null when it isn't the field's. */
export function typed(ui: RunUi, message: Message, input: Input): Effect<RunUi> | null {
  const editor = edit(message.editor, input);
  return editor === null ? null : { ui: { ...ui, message: { ...message, editor, former: null } } };
}
