/**
 * The first screen: one field to say what should be done in, suggestions and former sessions to pick from. Letters belong to
 * the field unless something in the lists is chosen. How it looks is start-view.ts.
 */
import type { LobbyInfo } from '../../ports/lobby.ts';
import type { Binding, Context, Effect, Screen } from '../screen.ts';
import { isOpen } from '../dialogs/trust.ts';
import type { Input, Size } from '../term/terminal.ts';
import { span } from '../text/clip.ts';
import type { Editor } from '../text/editor.ts';
import { edit, editorText, isEmpty, openEditor } from '../text/editor.ts';
import type { Target } from './start-view.ts';
import { shownSessions, startBody, targetAt } from './start-view.ts';

export interface StartUi {
  readonly editor: Editor;
  /** What has the keys. */
  readonly chosen: Target;
  /** Which former task stands in the field, newest 0; null while it is the person's own text. */
  readonly former: number | null;
}

const FIELD: Target = { is: 'field' };
const EMPTY_FIELD = openEditor('', true);

type Key = Binding<StartUi>;
const always = (): null => null;
const inList = (ui: StartUi): string | null => (ui.chosen.is === 'field' ? 'first leave the field with Tab' : null);

const KEYS: readonly Key[] = [
  {
    keys: ['enter'],
    action: 'start.go',
    hint: 'plan it',
    help: 'Make a plan for the task in the field; in a list, take what is chosen.',
    whyNot: always,
    run: enter,
  },
  {
    keys: ['tab'],
    action: 'start.next',
    hint: 'suggestions',
    help: 'On to the suggestions, the former sessions, and back to the field.',
    whyNot: (_, { lobby }) => (stops(lobby).length > 1 ? null : 'there is nothing to pick from'),
    run: (ui, { lobby }) => ({ ui: { ...ui, chosen: nextGroup(ui.chosen, lobby) } }),
  },
  {
    keys: ['up', 'down'],
    action: 'start.move',
    hint: 'pick',
    help: 'Through the lists; in the empty field, up brings back former tasks.',
    whyNot: always,
    run: (ui, context, key) => vertical(ui, context, key === 'up' ? -1 : 1),
  },
  {
    keys: ['esc'],
    action: 'start.back',
    hint: '',
    help: 'Back to the field.',
    whyNot: always,
    run: (ui) => ({ ui: { ...ui, chosen: FIELD } }),
  },
  {
    keys: ['ctrl-c'],
    action: 'start.clear',
    hint: 'clear',
    help: 'Throw away what stands in the field.',
    // Nothing to throw away: then it is about leaving.
    whyNot: ({ editor }) => (isEmpty(editor) ? '' : null),
    run: () => ({ ui: { editor: EMPTY_FIELD, chosen: FIELD, former: null } }),
  },
  {
    keys: ['ctrl-t'],
    action: 'start.trust',
    hint: '',
    help: 'What this project would bring, and whether you trust it.',
    whyNot: (_, { lobby }) => (isOpen(lobby.trust) ? null : 'there is nothing to trust here'),
    run: () => ({ app: 'trust' }),
  },
  {
    keys: ['q'],
    action: 'start.quit',
    hint: 'quit',
    help: 'Quit, while the field does not have the keys (Ctrl-C does so from everywhere).',
    whyNot: inList,
    run: () => ({ app: 'quit' }),
  },
];

export const startScreen: Screen<StartUi> = {
  name: 'start',
  first: { editor: EMPTY_FIELD, chosen: FIELD, former: null },
  keys: KEYS,
  header: (_, { lobby }) => ({
    left: [span(lobby.project, { fg: 'title', bold: true })],
    right: [span(lobby.version, { fg: 'muted' })],
  }),
  body: startBody,
  input,
  typing: (ui) => ui.chosen.is === 'field',
};

/** Everything that can be chosen, from top to bottom. */
const stops = (lobby: LobbyInfo): readonly Target[] => [
  FIELD,
  ...lobby.suggestions.map((_, index): Target => ({ is: 'suggestion', index })),
  ...shownSessions(lobby).map((_, index): Target => ({ is: 'session', index })),
];

const placeOf = (all: readonly Target[], target: Target): number =>
  all.findIndex((stop) => stop.is === target.is && indexOf(stop) === indexOf(target));
const indexOf = (target: Target): number => (target.is === 'field' ? 0 : target.index);

function nextGroup(chosen: Target, lobby: LobbyInfo): Target {
  const all = stops(lobby);
  const rest = all.slice(placeOf(all, chosen) + 1);
  return rest.find((stop) => stop.is !== chosen.is) ?? FIELD;
}

function enter(ui: StartUi, { lobby }: Context): Effect<StartUi> {
  const { chosen } = ui;
  if (chosen.is === 'suggestion') return { ui: withTask(ui, lobby.suggestions[chosen.index] ?? '') };
  if (chosen.is === 'session') {
    const session = shownSessions(lobby)[chosen.index];
    return session === undefined ? {} : { app: { resume: session.id } };
  }
  const task = editorText(ui.editor).trim();
  if (task !== '') return { app: { start: task } };
  return { toast: { level: 'info', text: 'Say what should be done, or take a suggestion with Tab.' } };
}

/** The field with a task in it, to be read again and then sent with Enter. */
const withTask = (ui: StartUi, task: string): StartUi => ({
  ...ui,
  editor: openEditor(task, true),
  chosen: FIELD,
  former: null,
});

function vertical(ui: StartUi, context: Context, by: 1 | -1): Effect<StartUi> {
  const { lobby } = context;
  if (ui.chosen.is !== 'field') {
    const all = stops(lobby);
    return { ui: { ...ui, chosen: all[placeOf(all, ui.chosen) + by] ?? ui.chosen } };
  }
  const moved = edit(ui.editor, { is: 'key', key: by === 1 ? 'down' : 'up' });
  if (moved !== null) return { ui: { ...ui, editor: moved } };
  const browsing = ui.former !== null || isEmpty(ui.editor);
  const former = browsing ? formerTask(ui, lobby, by) : null;
  if (former !== null) return { ui: former };
  return by === 1 ? { ui: { ...ui, chosen: stops(lobby)[1] ?? FIELD } } : {};
}

/** Up: an older task; down: a newer one, and at last the empty field again. Null when there is none. */
function formerTask(ui: StartUi, lobby: LobbyInfo, by: 1 | -1): StartUi | null {
  const tasks = [...new Set(lobby.sessions.map(({ task }) => task))];
  if (ui.former === null && by === 1) return null;
  const at = (ui.former ?? -1) - by;
  if (at < 0) return { ...ui, editor: EMPTY_FIELD, former: null };
  const task = tasks[at];
  return task === undefined ? null : { ...ui, editor: openEditor(task, true), former: at };
}

function input(ui: StartUi, context: Context, event: Input, size: Size): Effect<StartUi> | null {
  if (event.is === 'click') {
    const target = targetAt(ui, context, size, event.y);
    return target === null ? null : { ui: { ...ui, chosen: target } };
  }
  if (event.is === 'wheel') return null;
  const number = event.is === 'key' && /^[1-9]$/.test(event.key) ? Number(event.key) - 1 : -1;
  const suggestion = isEmpty(ui.editor) || ui.chosen.is !== 'field' ? context.lobby.suggestions[number] : undefined;
  if (suggestion !== undefined) return { ui: withTask(ui, suggestion) };
  const editor = edit(ui.editor, event);
  // Letters typed over a list go where they are meant to.
  return editor === null ? null : { ui: { ...ui, editor, chosen: FIELD, former: null } };
}
