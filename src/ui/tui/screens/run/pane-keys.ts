/** The keys of the run screen's panes: focus and zoom, the log, the list with its filter, and the field for a message. */
import { bind, cycled, limited, stepOf } from '../../frame/keymap.ts';
import { isFollowUp } from '../../../../app/actions/index.ts';
import { filterOf, hiddenBy, type ListUi, queueOf, SORTS, withFold } from '../../components/agents/list.ts';
import { type PaneName, ZOOMS } from '../../components/layout.ts';
import { stillWords } from '../../components/notices.ts';
import { completeKey } from '../../components/text/complete.ts';
import type { Binding, Context, Effect } from '../../frame/screen.ts';
import type { Input } from '../../terminal/terminal.ts';
import { edit, editorText, openEditor } from '../../text/editor.ts';
import { browse, typeInto } from '../composer.ts';
import { type Message, move, type RunUi, select, selectedOf, SILENT } from './state.ts';

const PANES: readonly PaneName[] = ['cards', 'detail', 'side', 'log'];
const LOG_SIZES = ['auto', 'shown', 'hidden'] as const;
const LEVELS = ['info', 'warn', 'error'] as const;
const PAGE = 10;
const inLog = (ui: RunUi): string | null => (ui.focus === 'log' ? null : SILENT);

/** Focus and size of the panes. */
export const PANE_KEYS: readonly Binding<RunUi>[] = [
  bind('run.pane', (ui, { state }) => ({
    ui: { ...ui, focus: cycled(PANES, ui.focus) },
    ...(ui.lastPane && state.approvals.length > 0 ? { app: 'inbox' } : {}),
  })),
  bind('run.goto', (ui, _, key) => ({ ui: toPane(ui, PANES[Number(key) - 1] ?? ui.focus) })),
  bind('run.zoom', (ui, _, key) => ({ ui: { ...ui, zoom: limited(ZOOMS, ui.zoom, key === '+' ? 1 : -1) } })),
];

/** Focuses a pane; the log is shown as a box where it was a row or hidden. */
const toPane = (ui: RunUi, focus: PaneName): RunUi => ({ ...ui, focus, log: focus === 'log' ? 'shown' : ui.log });

/** The keys of the log, and its size. */
export const LOG_KEYS: readonly Binding<RunUi>[] = [
  bind('log.scroll', (ui, _, key) => ({ ui: { ...ui, logBack: Math.max(0, ui.logBack - stepOf(key, PAGE)) } }), inLog),
  bind(
    'log.level',
    (ui) => ({ ui: { ...ui, logBack: 0, logLevel: cycled(LEVELS, ui.logLevel) } }),
    inLog,
    ({ logLevel }) => logLevel,
  ),
  bind(
    'run.log',
    (ui) => ({ ui: { ...ui, log: cycled(LOG_SIZES, ui.log) } }),
    (ui) => (ui.focus === 'detail' ? SILENT : null),
    ({ log }) => log,
  ),
];

// The field for a message.

const DELIVERIES = ['sequential', 'important', 'urgent'] as const;
type Act = (ui: RunUi, message: Message, context: Context, key: string) => Effect<RunUi>;

const key = (of: Parameters<typeof bind>[0], run: Act): Binding<RunUi> =>
  bind(
    of,
    (ui, context, pressed) => (ui.message === null ? {} : run(ui, ui.message, context, pressed)),
    (ui) => (ui.message === null ? SILENT : null),
  );

/** The same, where the key acts on the offered file paths first. */
const behindOffer = (of: Parameters<typeof bind>[0], act: Act): Binding<RunUi> =>
  key(of, (ui, message, context, pressed) => {
    const done = completeKey(message.editor, message.completing, pressed, context);
    return done === null ? act(ui, message, context, pressed) : withMessage(ui, message, done);
  });

export const MESSAGE_KEYS: readonly Binding<RunUi>[] = [
  behindOffer('message.send', send),
  behindOffer('message.delivery', (ui, message) =>
    withMessage(ui, message, { delivery: cycled(DELIVERIES, message.delivery) }),
  ),
  behindOffer('message.history', (ui, message, context, pressed) =>
    withMessage(ui, message, browse(message, sentBefore(context), pressed === 'up' ? 'up' : 'down')),
  ),
  key('message.editor', (_, message) => ({ app: { field: editorText(message.editor) } })),
  behindOffer('message.leave', (ui, message) => ({
    ui: { ...ui, message: null, draft: editorText(message.editor) },
  })),
  key('message.clear', (ui) => ({ ui: { ...ui, message: null, draft: '' } })),
];

function send(ui: RunUi, message: Message, context: Context): Effect<RunUi> {
  const done = { ...ui, message: null, draft: '' };
  const text = editorText(message.editor);
  if (text.trim() === '') return { ui: done };
  // No process would read the message; the text stays in the field.
  const why = stillWords(context);
  if (why !== null) return { ui, toast: { level: 'warn', text: `Not sent. ${why} Esc saves the draft.` } };
  const { session } = context.state;
  if (isFollowUp(context.state))
    return session === null ? { ui } : { ui: done, app: { resume: session, followUp: text } };
  return { ui: done, commands: [{ do: 'message', to: message.to, text, delivery: message.delivery }] };
}

/** The messages that the person sent in this run, the newest first, without repetitions. */
const sentBefore = ({ state }: Context): readonly string[] => [
  ...new Set(state.messages.flatMap(({ from, content }) => (from === 'person' ? [content] : [])).toReversed()),
];

const withMessage = (ui: RunUi, message: Message, change: Partial<Message> | null): Effect<RunUi> => ({
  ui: { ...ui, message: { ...message, ...change } },
});

/** The effect of an input on the field; null when the field does not use it. */
export function typed(ui: RunUi, message: Message, input: Input): Effect<RunUi> | null {
  const next = typeInto(message, input);
  return next === null ? null : withMessage(ui, message, next);
}

/** True while the filter is being typed, so that letters go to its field. */
export const isFiltering = ({ list }: RunUi): boolean => list.field !== null;

const withList = (ui: RunUi, list: Partial<ListUi>): RunUi => ({ ...ui, list: { ...ui.list, ...list } });
const inList = (ui: RunUi): string | null => (ui.focus === 'cards' && !isFiltering(ui) ? null : SILENT);
const whileTyped = (ui: RunUi): string | null => (isFiltering(ui) ? null : SILENT);
/** True if the selected agent is queued, so that the queue can be folded into its row or unfolded. */
function canFoldQueue(ui: RunUi, context: Context): boolean {
  const queue = queueOf({ ...ui.list, queue: false }, context.state);
  return queue.some(({ id }) => id === selectedOf(ui, context)?.id);
}

const parentOf = (ui: RunUi, context: Context): string | null =>
  (selectedOf(ui, context)?.children.length ?? 0) > 0 ? null : 'It has no children to fold.';

/** The keys of the filter's field. They come before all others, since the field uses Enter and Esc. */
export const FILTER_KEYS: readonly Binding<RunUi>[] = [
  bind('filter.take', (ui) => ({ ui: withList(ui, { filter: filterOf(ui.list), field: null }) }), whileTyped),
  bind('filter.leave', (ui) => ({ ui: withList(ui, { filter: '', field: null }) }), whileTyped),
  bind('filter.move', (ui, context, key) => ({ ui: move(ui, context, key === 'up' ? -1 : 1) }), whileTyped),
];

export const LIST_KEYS: readonly Binding<RunUi>[] = [
  bind('run.filter', (ui) => ({ ui: withList(ui, { field: openEditor(ui.list.filter, true) }) }), inList),
  bind(
    'run.match',
    (ui, context, key) => ({ ui: move(ui, context, key === 'n' ? 1 : -1) }),
    (ui) => inList(ui) ?? (ui.list.filter === '' ? SILENT : null),
  ),
  bind(
    'run.showAll',
    (ui) => ({ ui: withList(ui, { filter: '', only: false, folded: new Set() }) }),
    (ui, { state }) =>
      inList(ui) ?? (ui.list.filter === '' && !ui.list.only && hiddenBy(ui.list, state) === 0 ? SILENT : null),
  ),
  bind('run.only', (ui) => ({
    ui: withList(ui, { only: !ui.list.only }),
    toast: { level: 'info', text: ui.list.only ? 'Showing all agents.' : 'Showing active agents only.' },
  })),
  bind(
    'run.sort',
    (ui) => {
      const sort = cycled(SORTS, ui.list.sort);
      return { ui: withList(ui, { sort }), toast: { level: 'info', text: `Order: ${WORDS[sort]}` } };
    },
    inList,
  ),
  bind('run.fold', fold, (ui, context) => inList(ui) ?? (canFoldQueue(ui, context) ? null : parentOf(ui, context))),
  bind(
    'run.graph',
    (ui) => ({ ui: { ...ui, graph: !ui.graphShown } }),
    (_, { state }) => (state.plan === null ? 'No plan.' : null),
  ),
];

function fold(ui: RunUi, context: Context): Effect<RunUi> {
  const agent = selectedOf(ui, context);
  if (agent === undefined) return {};
  if (!canFoldQueue(ui, context)) return { ui: withList(ui, withFold(ui.list, agent.id)) };
  const next = withList(ui, { queue: !ui.list.queue });
  return { ui: select(next, queueOf(next.list, context.state)[0]) };
}

const WORDS: Readonly<Record<(typeof SORTS)[number], string>> = {
  auto: 'what fits',
  start: 'by start',
  status: 'by status',
  cost: 'by cost',
  tokens: 'by tokens',
};

/** The state after an input to the filter's field; null when the field does not use it. The list follows each letter. */
export function filterTyped(ui: RunUi, input: Input): RunUi | null {
  const { field } = ui.list;
  const next = field === null ? null : edit(field, input);
  return next === null ? null : withList(ui, { field: next });
}
