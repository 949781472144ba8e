/**
 * What the start screen looks like: the field first, then what one might put into it, then what one can go on with, and at
 * the bottom where one is. How much of it there is room for is decided here; what a key does is start.ts's.
 */
import type { LobbyInfo } from '../../ports/lobby.ts';
import type { Glyphs } from '../glyphs.ts';
import type { Body, Context } from '../screen.ts';
import type { Size } from '../term/terminal.ts';
import { box } from '../text/box.ts';
import { fit, fitText, restyle, span, spread } from '../text/clip.ts';
import type { Editor } from '../text/editor.ts';
import { editorHeight, viewEditor } from '../text/editor-view.ts';
import type { Line } from '../text/line.ts';
import { wrapText } from '../text/wrap.ts';
import { statusLines } from './start-status.ts';
import type { StatusMeasure } from './start-status.ts';

/** What a row of the screen stands for, for keys and clicks. */
export type Target =
  | { readonly is: 'field' }
  | { readonly is: 'suggestion'; readonly index: number }
  | { readonly is: 'session'; readonly index: number };

export interface StartLook {
  readonly editor: Editor;
  readonly chosen: Target;
}

interface Row {
  readonly line: Line;
  readonly target: Target | null;
}

/** How much is shown. From rich to poor: the first that fits is taken. */
interface Measure {
  readonly logo: boolean;
  readonly intro: boolean;
  readonly gap: 0 | 1;
  readonly suggestions: number;
  readonly sessions: number;
  readonly status: StatusMeasure;
}

const MEASURES: readonly Measure[] = [
  { logo: true, intro: true, gap: 1, suggestions: 6, sessions: 5, status: 'full' },
  { logo: false, intro: true, gap: 1, suggestions: 6, sessions: 5, status: 'full' },
  { logo: false, intro: true, gap: 1, suggestions: 4, sessions: 3, status: 'short' },
  { logo: false, intro: true, gap: 1, suggestions: 4, sessions: 2, status: 'short' },
  { logo: false, intro: true, gap: 1, suggestions: 3, sessions: 1, status: 'short' },
  { logo: false, intro: true, gap: 0, suggestions: 3, sessions: 2, status: 'short' },
  { logo: false, intro: false, gap: 0, suggestions: 3, sessions: 1, status: 'short' },
  { logo: false, intro: false, gap: 0, suggestions: 3, sessions: 0, status: 'line' },
  { logo: false, intro: false, gap: 0, suggestions: 2, sessions: 0, status: 'line' },
  { logo: false, intro: false, gap: 0, suggestions: 0, sessions: 0, status: 'none' },
];

/** Columns of text that are pleasant to read. */
const MOST_WIDTH = 92;

/** Exactly `height` lines of exactly `width` columns, and the cursor while the field has the keys. */
export function startBody(look: StartLook, context: Context, { width, height }: Size): Body {
  const { rows, cursor } = compose(look, context, { width, height });
  return { lines: rows.map(({ line }) => fit(line, width)), cursor: look.chosen.is === 'field' ? cursor : null };
}

/** What is at row `y` of the body. */
export const targetAt = (look: StartLook, context: Context, size: Size, y: number): Target | null =>
  compose(look, context, size).rows[y]?.target ?? null;

/** The sessions that can be gone on with, newest first. */
export const shownSessions = (lobby: LobbyInfo): LobbyInfo['sessions'] => lobby.sessions.slice(0, 5);

interface Composed {
  readonly rows: readonly Row[];
  readonly cursor: { readonly x: number; readonly y: number } | null;
}

function compose(look: StartLook, context: Context, { width, height }: Size): Composed {
  const margin = Math.max(width < 60 ? 0 : 2, Math.floor((width - MOST_WIDTH) / 2));
  const room = Math.max(0, width - 2 * margin);
  let parts = partsFor(look, context, room, height, MEASURES[0]);
  for (const measure of MEASURES) {
    parts = partsFor(look, context, room, height, measure);
    if (parts.top.length + parts.bottom.length <= height) break;
  }
  const spare = Math.max(0, height - parts.top.length - parts.bottom.length);
  const above = Math.floor(spare / 3);
  const empty = (count: number): readonly Row[] => Array.from({ length: count }, () => ({ line: [], target: null }));
  const rows = [...empty(above), ...parts.top, ...empty(spare - above), ...parts.bottom].slice(0, Math.max(0, height));
  const moved = rows.map(({ line, target }): Row => ({ line: [span(' '.repeat(margin)), ...line], target }));
  const at = parts.cursor;
  const y = at.y + above;
  return { rows: moved, cursor: y < height && at.x + margin < width ? { x: at.x + margin, y } : null };
}

interface Parts {
  readonly top: readonly Row[];
  readonly bottom: readonly Row[];
  readonly cursor: { readonly x: number; readonly y: number };
}

function partsFor(look: StartLook, context: Context, width: number, height: number, measure = MEASURES[0]): Parts {
  if (measure === undefined) return { top: [], bottom: [], cursor: { x: 0, y: 0 } };
  const gap: readonly Row[] = measure.gap === 1 ? [plainRow([])] : [];
  const head = [...titleRows(context.glyphs, width, measure), ...(measure.logo || measure.intro ? gap : [])];
  const field = fieldRows(look, context.glyphs, width, height);
  const suggestions = suggestionRows(look, context, width, measure.suggestions);
  const sessions = sessionRows(look, context, width, measure.sessions);
  const status = statusLines(context, width, measure.status).map(plainRow);
  return {
    top: [
      ...head,
      ...field.rows,
      ...(suggestions.length > 0 ? gap : []),
      ...suggestions,
      ...(sessions.length > 0 ? gap : []),
      ...sessions,
    ],
    bottom: [...(status.length > 0 ? gap : []), ...status],
    cursor: { x: field.cursor.x, y: field.cursor.y + head.length },
  };
}

const plainRow = (line: Line): Row => ({ line, target: null });

const LOGO = ['█▄ ▄█ █ █▄ ▄█ █ █▀▀▄', '█ ▀ █ █ █ ▀ █ █ █▄▄▀', '▀   ▀ ▀ ▀   ▀ ▀ ▀  ▀'];
const INTRO =
  'Say what you want done. Mimir splits it among agents, shows you the plan to change and approve, then runs them side by side.';

function titleRows(glyphs: Glyphs, width: number, { logo, intro }: Measure): readonly Row[] {
  // The badge of the header says the name too: without room for the letters, once is enough.
  const letters = !logo ? [] : glyphs.ellipsis === '…' && width >= 40 ? LOGO : ['M I M I R'];
  const title = letters.map((text): Row => plainRow([span(` ${text}`, { fg: 'focus', bold: true })]));
  const words = intro ? wrapText(INTRO, Math.max(1, width - 1), { fg: 'muted' }) : [];
  const gap = logo ? [plainRow([])] : [];
  return [...title, ...gap, ...words.map((line) => plainRow([span(' '), ...line]))];
}

function fieldRows(
  look: StartLook,
  glyphs: Glyphs,
  width: number,
  height: number,
): { readonly rows: readonly Row[]; readonly cursor: { readonly x: number; readonly y: number } } {
  const focused = look.chosen.is === 'field';
  const room = Math.max(1, width - 6);
  const most = height >= 30 ? 8 : height >= 16 ? 4 : 2;
  const least = height >= 16 ? 2 : 1;
  const lines = Math.max(least, Math.min(most, editorHeight(look.editor, room)));
  const view = viewEditor(look.editor, {
    width: room,
    height: lines,
    focused,
    style: { fg: 'fg' },
    placeholder: 'Describe the task in your own words',
  });
  const prompt = (row: number): Line => [
    row === 0 ? span(`${glyphs.prompt} `, { fg: 'focus', bold: true }) : span('  '),
  ];
  const drawn = box({
    width,
    height: lines + 2,
    glyphs,
    border: focused ? 'heavy' : 'light',
    style: { fg: focused ? 'focus' : 'border' },
    kind: 'pane',
    title: [span('What should be done?', { fg: 'title', bold: true })],
    footEnd: focused
      ? [
          span(glyphs.key.enter, { fg: 'focus', bold: true }),
          span(' plan it  ', { fg: 'muted' }),
          span(`${glyphs.alt}-${glyphs.key.enter}`, { fg: 'focus', bold: true }),
          span(' new line', { fg: 'muted' }),
        ]
      : [],
    body: view.lines.map((line, row) => [...prompt(row), ...line]),
  });
  const rows = drawn.map((line): Row => ({ line, target: { is: 'field' } }));
  return { rows, cursor: { x: view.cursor.x + 4, y: view.cursor.y + 1 } };
}

function suggestionRows(look: StartLook, { lobby, glyphs }: Context, width: number, most: number): readonly Row[] {
  const shown = lobby.suggestions.slice(0, most);
  if (shown.length === 0) return [];
  const hint: Line = [
    span(` or take one of these`, { fg: 'muted' }),
    span(`   1${shown.length === 1 ? '' : `-${shown.length}`} or Tab`, { fg: 'faint' }),
  ];
  return [
    plainRow(hint),
    ...shown.map((text, index): Row => {
      const chosen = look.chosen.is === 'suggestion' && look.chosen.index === index;
      const line: Line = [
        span(` ${index + 1}  `, { fg: 'focus', bold: true }),
        span(text.split('\n')[0] ?? '', { fg: chosen ? 'title' : 'fg' }),
      ];
      return { line: picked(line, chosen, width, glyphs), target: { is: 'suggestion', index } };
    }),
  ];
}

const STATE_INK = { running: 'ok', finished: 'muted', stopped: 'warn' } as const;
const STATE_GLYPH = { running: 'running', finished: 'completed', stopped: 'interrupted' } as const;

function sessionRows(look: StartLook, { lobby, glyphs, now }: Context, width: number, most: number): readonly Row[] {
  const shown = shownSessions(lobby).slice(0, most);
  if (shown.length === 0) return [];
  return [
    plainRow([span(' or go on with', { fg: 'muted' })]),
    ...shown.map(({ task, when, state }, index): Row => {
      const chosen = look.chosen.is === 'session' && look.chosen.index === index;
      const ink = STATE_INK[state];
      const left: Line = [
        span(` ${glyphs.status[STATE_GLYPH[state]]}  `, { fg: ink, bold: true }),
        span(task.split('\n')[0] ?? '', { fg: chosen ? 'title' : 'fg' }),
      ];
      const right: Line = [
        span(`${state}  `, { fg: ink }),
        span(`${fitText(ago(when, now), 8, 'right')} `, { fg: 'faint' }),
      ];
      const line = width >= 50 ? spread(left, right, Math.max(0, width - 1), {}, glyphs.ellipsis) : left;
      return { line: picked(line, chosen, width, glyphs), target: { is: 'session', index } };
    }),
  ];
}

/** The chosen row is marked by colour and by a bar. */
function picked(line: Line, chosen: boolean, width: number, glyphs: Glyphs): Line {
  const rest = fit(line, Math.max(0, width - 1), {}, glyphs.ellipsis);
  return chosen
    ? restyle([span(glyphs.selected, { fg: 'focus' }), ...rest], { bg: 'selection' })
    : [span(' '), ...rest];
}

/** `5m ago`; what isn't a time is shown as it is. */
function ago(when: string, now: number): string {
  const minutes = Math.floor((now - Date.parse(when)) / 60_000);
  if (!Number.isFinite(minutes)) return when;
  if (minutes < 1) return 'just now';
  if (minutes < 60) return `${minutes}m ago`;
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)}h ago` : `${Math.floor(minutes / 1440)}d ago`;
}
