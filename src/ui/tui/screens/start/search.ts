/** The search among former tasks: a box under the field in which typed words choose. */
import type { LobbyInfo } from '../../../../ports/project-service.ts';
import type { Context } from '../../frame/screen.ts';
import type { Input } from '../../terminal/terminal.ts';
import { box } from '../../text/box.ts';
import { fit, restyle, span } from '../../../../app/views/text/clip.ts';
import { edit, openEditor } from '../../text/editor.ts';
import { viewEditor } from '../../text/editor-view.ts';
import type { Cursor, Line } from '../../../../app/views/text/line.ts';
import { upDown } from '../../frame/keymap.ts';
import { type Search, type StartUi, foundTasks, withTask } from './state.ts';

export const NEW_SEARCH: Search = { words: openEditor(), at: 0 };

/** What a key does while it is open; null for keys that are not its own. */
export function searchKey(ui: StartUi, search: Search, lobby: LobbyInfo, input: Input): StartUi | null {
  const found = foundTasks(search, lobby);
  const at = Math.max(0, Math.min(search.at, found.length - 1));
  const key = input.is === 'key' ? input.key : '';
  if (key === 'esc' || key === 'ctrl-c') return { ...ui, search: null };
  if (key === 'enter' || key === 'tab') {
    const task = found[at];
    return task === undefined ? ui : withTask(ui, task);
  }
  const by = STEPS[key];
  if (by !== undefined) {
    const next = Math.max(0, Math.min(found.length - 1, at + by));
    return { ...ui, search: { ...search, at: next } };
  }
  const words = edit(search.words, input);
  return words === null ? null : { ...ui, search: { words, at: 0 } };
}

/** Ctrl-R once more is the next older one, as in a shell. */
const STEPS: Readonly<Record<string, number>> = { up: -1, down: 1, 'ctrl-r': 1, pageup: -8, pagedown: 8 };

const MOST_ROWS = 8;
const BACK = { bg: 'raised' } as const;

/** At most `height` lines of exactly `width` columns, and where its cursor stands. */
export function searchBox(
  search: Search,
  { lobby, glyphs }: Context,
  width: number,
  height: number,
): { readonly lines: readonly Line[]; readonly cursor: Cursor } {
  const found = foundTasks(search, lobby);
  const at = Math.max(0, Math.min(search.at, found.length - 1));
  const rows = Math.max(1, Math.min(MOST_ROWS, height - 3, Math.max(1, found.length)));
  const top = Math.max(0, Math.min(at - (rows >> 1), found.length - rows));
  const inner = Math.max(1, width - 4);
  const field = viewEditor(search.words, {
    width: Math.max(1, inner - 2),
    height: 1,
    style: { fg: 'fg', ...BACK },
    placeholder: 'type words of a former task',
  });
  const tasks = found.slice(top, top + rows).map((task, index): Line => {
    const isChosen = top + index === at;
    const mark = span(isChosen ? `${glyphs.selected} ` : '  ', { fg: 'focus' });
    const text = span(task.replaceAll('\n', ' '), { fg: isChosen ? 'title' : 'fg', bold: isChosen });
    const line = fit([mark, text], inner, BACK, glyphs.ellipsis);
    return isChosen ? restyle(line, { bg: 'selection' }) : line;
  });
  const none: Line = [span('  no former task has these words', { fg: 'muted' })];
  const lines = box({
    width,
    height: Math.min(height, rows + 3),
    glyphs,
    border: 'round',
    style: { fg: 'focus' },
    fill: BACK,
    kind: 'pane',
    title: [span('Former tasks', { fg: 'title', bold: true })],
    titleEnd: [span(found.length === 0 ? '0' : `${at + 1}/${found.length}`, { fg: 'muted' })],
    footEnd: [
      [upDown(glyphs), ' choose  '],
      [glyphs.key.enter, ' take  '],
      ['Esc', ' close'],
    ].flatMap(([key = '', words = '']): Line => [span(key, { fg: 'focus', bold: true }), span(words, { fg: 'muted' })]),
    body: [
      [span(`${glyphs.prompt} `, { fg: 'focus', bold: true }), ...(field.lines[0] ?? [])],
      ...(tasks.length === 0 ? [none] : tasks),
    ],
  });
  return { lines, cursor: { x: Math.min(width - 1, field.cursor.x + 4), y: 1 } };
}
