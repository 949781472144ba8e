/** What the start screen remembers: the field, what has the keys, a search among former tasks. Pure steps. */
import type { LobbyInfo } from '../../../../ports/project-service.ts';
import { type Completing, NOT_COMPLETING } from '../../components/text/complete.ts';
import { type Editor, edit, editorText, isEmpty, openEditor } from '../../text/editor.ts';

/** What a row of the screen stands for, for keys and clicks. */
export type Target =
  | { readonly is: 'field' }
  | { readonly is: 'suggestion'; readonly index: number }
  | { readonly is: 'session'; readonly index: number };

export interface StartUi {
  readonly editor: Editor;
  readonly completing: Completing;
  /** What has the keys. */
  readonly chosen: Target;
  /** Which former task stands in the field, newest 0; null while it is the person's own text. */
  readonly former: number | null;
  /** The search among former tasks; null while nothing is looked for. */
  readonly search: Search | null;
}

export interface Search {
  readonly words: Editor;
  readonly at: number;
}

export const FIELD: Target = { is: 'field' };
const EMPTY_FIELD = openEditor('', true);
export const FIRST: StartUi = {
  editor: EMPTY_FIELD,
  completing: NOT_COMPLETING,
  chosen: FIELD,
  former: null,
  search: null,
};

/** The field with a task in it, to be read again and then sent with Enter. */
export function withTask({ editor }: StartUi, task: string): StartUi {
  const { lines, row, column, folds } = editor;
  // What stood there comes back by undo.
  return { ...FIRST, editor: { ...openEditor(task, true), undo: [...editor.undo, { lines, row, column }], folds } };
}

/** Everything that can be chosen, from top to bottom. */
export const stops = (lobby: LobbyInfo): readonly Target[] => [
  FIELD,
  ...lobby.suggestions.map((_, index): Target => ({ is: 'suggestion', index })),
  ...lobby.sessions.map((_, index): Target => ({ is: 'session', index })),
];

const placeOf = (all: readonly Target[], target: Target): number =>
  all.findIndex((stop) => stop.is === target.is && indexOf(stop) === indexOf(target));
const indexOf = (target: Target): number => (target.is === 'field' ? 0 : target.index);

/** The first of the next list, and behind the last one the field again. */
export function nextGroup(chosen: Target, lobby: LobbyInfo): Target {
  const all = stops(lobby);
  const rest = all.slice(placeOf(all, chosen) + 1);
  return rest.find((stop) => stop.is !== chosen.is) ?? FIELD;
}

/** One row up or down: in the field, through former tasks, through the lists. */
export function vertical(ui: StartUi, lobby: LobbyInfo, by: 1 | -1): StartUi {
  if (ui.chosen.is !== 'field') {
    const all = stops(lobby);
    return { ...ui, chosen: all[placeOf(all, ui.chosen) + by] ?? ui.chosen };
  }
  const moved = edit(ui.editor, { is: 'key', key: by === 1 ? 'down' : 'up' });
  if (moved !== null) return { ...ui, editor: moved };
  const browsing = ui.former !== null || isEmpty(ui.editor);
  const former = browsing ? formerTask(ui, lobby, by) : null;
  if (former !== null) return former;
  return by === 1 ? { ...ui, chosen: stops(lobby)[1] ?? FIELD } : ui;
}

/** Several rows at once, within the list that is chosen. */
export function leap(ui: StartUi, lobby: LobbyInfo, by: number): StartUi {
  const { chosen } = ui;
  if (chosen.is === 'field') return ui;
  const many = chosen.is === 'session' ? lobby.sessions.length : lobby.suggestions.length;
  return { ...ui, chosen: { ...chosen, index: Math.max(0, Math.min(many - 1, chosen.index + by)) } };
}

/** Tasks of this project, the newest first, each once. */
export const formerTasks = (lobby: LobbyInfo): readonly string[] => [
  ...new Set(lobby.sessions.map(({ task }) => task).filter((task) => task.trim() !== '')),
];

/** Up: an older task; down: a newer one, and at last the empty field again. Null when there is none. */
function formerTask(ui: StartUi, lobby: LobbyInfo, by: 1 | -1): StartUi | null {
  if (ui.former === null && by === 1) return null;
  const at = (ui.former ?? -1) - by;
  if (at < 0) return { ...ui, editor: EMPTY_FIELD, former: null };
  const task = formerTasks(lobby)[at];
  return task === undefined ? null : { ...ui, editor: openEditor(task, true), former: at };
}

/** Former tasks that hold all words that were typed. */
export function foundTasks({ words }: Search, lobby: LobbyInfo): readonly string[] {
  const wanted = editorText(words).toLowerCase().split(/\s+/);
  return formerTasks(lobby).filter((task) => wanted.every((word) => task.toLowerCase().includes(word)));
}
