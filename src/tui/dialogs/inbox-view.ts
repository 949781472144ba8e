/** How a question that waits for the person looks. Nothing of the action is summed up, collapsed or cut: it scrolls. */
import type { Approval } from '../../events/state.ts';
import { labelOf } from '../agents.ts';
import { counted, formatDuration } from '../format.ts';
import { upDown } from '../keymap.ts';
import type { Hint } from '../keymap.ts';
import type { Context } from '../screen.ts';
import type { Size } from '../term/terminal.ts';
import { fit, span } from '../text/clip.ts';
import { editorHeight, viewEditor } from '../text/editor-view.ts';
import type { Cursor, Line, Style } from '../text/line.ts';
import { toLabel } from '../text/sanitise.ts';
import { clusterWidth, graphemes } from '../text/width.ts';
import { wrap, wrapText } from '../text/wrap.ts';
import { scrollBar } from '../view/cards.ts';
import { diffInk } from '../view/transcript.ts';
import type { InboxState } from './inbox-state.ts';
import { kindOf } from './inbox-state.ts';
import { boxRows, boxWidth, framed, keyLine, windowed } from './overlay.ts';
import type { OverlayView } from './overlay.ts';

const WIDTH = 100;

const WANTS: Readonly<Record<Approval['request']['action'], string>> = {
  write: 'wants to change files',
  shell: 'wants to run a command',
  'git-write': 'wants to change the git repository',
  read: 'wants to read',
  'git-read': 'wants to look at git',
  spawn: 'wants to start another agent',
  question: 'asks you',
  turn: 'waits before its next turn',
  failure: 'depends on a task that failed',
  budget: 'has come to a limit',
};

export function inboxView(state: InboxState, left: readonly Approval[], context: Context, size: Size): OverlayView {
  const current = left.find(({ id }) => id === state.current) ?? left[0];
  if (current === undefined) return { lines: [], cursor: null };
  const width = boxWidth(size, WIDTH);
  const inner = Math.max(1, width - 4);
  const { head, rows, low } = measured(current, context, size);
  const tail = low ? lowTail(state, current, context, inner) : tailLines(state, current, context, inner);
  const exact = exactLines(current, inner - 2);
  const { shown, top } = windowed(exact, state.top, rows);
  const bar = scrollBar(top, exact.length, shown.length, context.glyphs.scroll);
  const body: readonly Line[] = [
    ...head,
    ...shown.map(
      (line, row): Line => [
        ...fit(line, Math.max(0, inner - 1), { bg: 'raised' }),
        span(bar[row] ?? ' ', { fg: 'focus', bg: 'raised' }),
      ],
    ),
    ...tail.lines,
  ];
  const place = left.length > 1 ? `${left.indexOf(current) + 1} of ${left.length} ` : '';
  const ink = current.request.unsandboxed ? 'err' : 'warn';
  const cursor =
    tail.cursor === null ? null : { x: tail.cursor.x + 2, y: tail.cursor.y + 1 + head.length + shown.length };
  return {
    lines: framed(
      {
        title: `Your answer is needed`,
        titleEnd: [span(place, { fg: 'muted' }), waits(current, context)],
        width,
        ink,
        body,
      },
      context,
    ),
    cursor,
  };
}

const waits = (current: Approval, { now }: Context): Line[number] =>
  span(`waits ${formatDuration(now - current.askedAt)}`, { fg: 'muted' });

/** Rows of the exact action, all of them and those in sight. */
export function exactRows(
  current: Approval,
  context: Context,
  size: Size,
): { readonly total: number; readonly rows: number } {
  const inner = Math.max(1, boxWidth(size, WIDTH) - 4);
  return { total: exactLines(current, inner - 2).length, rows: measured(current, context, size).rows };
}

interface Measured {
  readonly head: readonly Line[];
  /** Rows of the exact action that are in sight. */
  readonly rows: number;
  /** Too low for all of it: the answer keeps its place, what stands above gives way, the footer alone names the keys. */
  readonly low: boolean;
}

/** The action gets as much as the box can give; what stands below is counted at its highest, so that it doesn't jump. */
function measured(current: Approval, context: Context, size: Size): Measured {
  const inner = Math.max(1, boxWidth(size, WIDTH) - 4);
  const head = headLines(current, context, inner);
  const kind = kindOf(current);
  const options = kind === 'options' ? current.request.options.length : 0;
  const below = kind === 'options' ? options + 3 : kind === 'words' ? 6 : 4;
  const room = boxRows(size);
  const exact = exactLines(current, inner - 2).length;
  if (head.length + 1 + below <= room) return { head, rows: Math.min(exact, room - head.length - below), low: false };
  const least = Math.max(1, options);
  const some = head.slice(0, Math.max(1, room - least - 1));
  return { head: some, rows: Math.max(1, Math.min(exact, room - some.length - least)), low: true };
}

/** Who asks, for what task, what it wants, why a person is asked. */
function headLines(current: Approval, context: Context, width: number): readonly Line[] {
  const { request } = current;
  const title = toLabel(request.title);
  const because = request.because === '' ? '' : `because ${toLabel(request.because)}`;
  const warning = request.unsandboxed ? 'No sandbox: it can do whatever you can do on this machine.' : '';
  return [
    ...wrap(whoAsks(current, context), width),
    fit(forWhat(current, context), width),
    ...words(title, width, { fg: 'fg' }).slice(0, 4),
    ...words(because, width, { fg: 'faint' }).slice(0, 3),
    ...words(warning, width, { fg: 'err', bold: true }),
    [],
  ];
}

const words = (text: string, width: number, style: Style): readonly Line[] =>
  text === '' ? [] : wrap([span(text, style)], width);

function whoAsks({ agent, request }: Approval, { state }: Context): Line {
  const found = state.agents.get(agent);
  const badge: Line = [span('  '), span(' UNSANDBOXED ', { fg: 'surface', bg: 'err', bold: true })];
  return [
    span(toLabel(found?.name ?? agent), { fg: `role:${found?.role ?? ''}`, bold: true }),
    span(` ${WANTS[request.action]}`, { fg: 'title', bold: true }),
    ...(request.unsandboxed ? badge : []),
  ];
}

/** `ROOT::S4, #4 refactoring: Move rotation into TokenStore`. */
function forWhat({ agent }: Approval, { state }: Context): Line {
  const found = state.agents.get(agent);
  if (found === undefined) return [span(agent, { fg: 'muted' })];
  const role = found.name === found.role ? '' : `, role ${found.role}`;
  const path = found.parent === null ? found.id : `${found.id}, ${toLabel(labelOf(state, found.id))}${role}`;
  return [span(path, { fg: 'muted' }), span(`: ${toLabel(found.task)}`, { fg: 'faint' })];
}

const EXACT = new WeakMap<Approval['request'], { readonly width: number; readonly lines: readonly Line[] }>();

/** The action itself: every character of it, broken at the edge only. */
function exactLines(current: Approval, width: number): readonly Line[] {
  const known = EXACT.get(current.request);
  if (known?.width === width) return known.lines;
  const { action, exact } = current.request;
  const spoken = action === 'question' || action === 'turn' || action === 'failure';
  const lines = spoken
    ? wrapText(exact, Math.max(1, width), { fg: 'fg', bg: 'raised' })
    : exact.split('\n').flatMap((line) =>
        chunks(line, Math.max(1, width)).map(
          (part): Line => [
            span(` ${part}`, {
              fg: action === 'shell' ? 'title' : diffInk(line),
              bg: 'raised',
              bold: action === 'shell',
            }),
          ],
        ),
      );
  EXACT.set(current.request, { width, lines });
  return lines;
}

/** Pieces of at most `width` columns; blanks count like any other character. */
function chunks(text: string, width: number): readonly string[] {
  const out: string[] = [];
  let part = '';
  let used = 0;
  for (const cluster of graphemes(text)) {
    const size = clusterWidth(cluster);
    if (used + size > width && part !== '') {
      out.push(part);
      [part, used] = ['', 0];
    }
    part += cluster;
    used += size;
  }
  return [...out, part];
}

interface Tail {
  readonly lines: readonly Line[];
  readonly cursor: Cursor | null;
}

function tailLines(state: InboxState, current: Approval, context: Context, width: number): Tail {
  const keys = wrap(keyLine(keysOf(current, context)), width);
  const kind = kindOf(current);
  if (kind === 'options')
    return { lines: [[], ...optionLines(state, current, context, width), [], ...keys], cursor: null };
  if (kind === 'words') {
    const height = Math.max(1, Math.min(3, editorHeight(state.editor, width)));
    const field = answerField(state, current, width, height);
    return { lines: [[], ...field.lines, [], ...keys], cursor: { x: field.cursor.x, y: field.cursor.y + 1 } };
  }
  return { lines: [lengthLine(current), [], ...keys], cursor: null };
}

/** Only what is answered with. */
function lowTail(state: InboxState, current: Approval, context: Context, width: number): Tail {
  const kind = kindOf(current);
  if (kind === 'options') return { lines: optionLines(state, current, context, width), cursor: null };
  return kind === 'words' ? answerField(state, current, width, 1) : { lines: [lengthLine(current)], cursor: null };
}

const optionLines = (state: InboxState, { request }: Approval, { glyphs }: Context, width: number): readonly Line[] =>
  request.options.map((option, index): Line => {
    const on = index === state.option;
    const mark = span(on ? `${glyphs.selected} ` : '  ', { fg: 'focus' });
    return fit(
      [mark, span(`${index + 1} `, { fg: 'faint' }), span(toLabel(option), { fg: on ? 'title' : 'fg', bold: on })],
      width,
    );
  });

function answerField(
  state: InboxState,
  { request }: Approval,
  width: number,
  height: number,
): Tail & { cursor: Cursor } {
  const placeholder = request.action === 'turn' ? 'a message, or !command' : 'your answer';
  return viewEditor(state.editor, { width, height, placeholder, style: { fg: 'fg', bg: 'raised' } });
}

function lengthLine({ request: { exact } }: Approval): Line {
  return [span(`${counted(exact.split('\n').length, 'line')}, ${exact.length} characters`, { fg: 'faint' })];
}

function keysOf(current: Approval, { glyphs }: Context): readonly (readonly [string, string])[] {
  const enter = glyphs.key.enter;
  const later = ['Esc', 'later'] as const;
  const kinds: Readonly<Record<ReturnType<typeof kindOf>, readonly (readonly [string, string])[]>> = {
    options: [[enter, 'choose'], later],
    words: [[enter, current.request.action === 'turn' ? 'go on' : 'answer'], later],
    permission: [['y', 'allow once'], ['A', 'always in this session'], ['n', 'deny'], later],
  };
  return kinds[kindOf(current)];
}

export function inboxHints(current: Approval, count: number, context: Context): readonly Hint[] {
  const { glyphs } = context;
  return [
    ...keysOf(current, context).map(([keys, hint]) => ({ keys, hint })),
    { keys: upDown(glyphs), hint: kindOf(current) === 'options' ? 'select' : 'scroll' },
    ...(count > 1 ? [{ keys: 'Tab', hint: 'next question' }] : []),
  ];
}
