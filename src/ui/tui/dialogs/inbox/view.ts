/** Draws the docked question at the lower end, covering nothing. The action is never summarised, folded or cut: it scrolls. */
import type { Ink, Line, Question, Style } from '../../../../app/views/index.ts';
import { plural, fit, formatDuration, labelOf, lineWidth, restyle, span, spread } from '../../../../app/views/index.ts';
import { toLabel, splitMarked, WANTS, WITHOUT_SANDBOX, wrap } from '../../../../app/views/index.ts';
import type { Approval } from '../../../../events/index.ts';
import type { Context } from '../../frame/screen.ts';
import { box, scrollBar, strong, tint } from '../../text/blocks.ts';
import type { Answers, ExactRow, InboxState } from './answers.ts';
import { answerLines, exactRows, answerOf, lengthLine } from './answers.ts';
import type { OverlayView } from '../../frame/overlay.ts';

/** The space of the docked question, whether it has the focus, and whether letters go to a field of the screen. */
export interface Docked {
  readonly width: number;
  readonly rows: number;
  readonly focused: boolean;
  readonly typing: boolean;
}

/** The minimum rows for borders and answers; with fewer, one row is shown. */
const MIN_ROWS = 5;

export function inboxView(state: InboxState, left: readonly Question[], context: Context, docked: Docked): OverlayView {
  const current = currentOf(state, left);
  if (current === undefined || docked.rows < 1) return { lines: [], cursor: null };
  const laid = layoutOf(state, current, context, docked);
  if (laid === null) return { lines: [barLine(left, current, context, docked)], cursor: null };
  const { pinned, rows, top, count, answers } = laid;
  const shown = rows.slice(top, top + count);
  const bar = scrollBar(top, rows.length, count, context.glyphs.scroll);
  const inner = innerOf(docked);
  const body: readonly Line[] = [
    ...pinned,
    ...shown.map(({ line, exact }, row): Line => {
      const bg = exact ? 'raised' : 'surface';
      return [...fit(line, Math.max(0, inner - 1), { bg }), span(bar[row] ?? ' ', { fg: 'focus', bg })];
    }),
    ...answers.lines,
  ];
  const cursor =
    answers.cursor === null || !docked.focused
      ? null
      : { x: answers.cursor.x + 2, y: answers.cursor.y + 1 + pinned.length + shown.length };
  return { lines: framed(body, current, left, context, docked), cursor };
}

export const currentOf = (state: InboxState, left: readonly Question[]): Question | undefined =>
  left.find(({ key }) => key === state.current) ?? left[0];

const innerOf = ({ width }: Docked): number => Math.max(1, width - 4);

function framed(
  body: readonly Line[],
  current: Question,
  left: readonly Question[],
  context: Context,
  docked: Docked,
): readonly Line[] {
  const { glyphs } = context;
  const back: Style = { bg: 'surface' };
  const ink: Ink = current.first.request.unsandboxed ? 'err' : 'warn';
  const title = titleLine(current, context, docked);
  const reach = docked.focused ? 'Esc later' : focusHint(docked.typing);
  const words = [span(reach, { fg: 'focus', bold: true, ...back })];
  const lines = box({
    width: docked.width,
    height: body.length + 2,
    glyphs,
    border: docked.focused ? 'heavy' : 'round',
    style: { fg: ink, ...back },
    fill: back,
    title: restyle(title ?? [strong('Question', 'title')], back),
    titleEnd: restyle(titleEnd(left, current, context), back),
    foot: words,
    body: body.map((line) => restyle(line, back)),
  });
  return lines.map((line) => fit(restyle(line, back), docked.width, back));
}

const focusHint = (typing: boolean): string => (typing ? 'Esc, then A to answer' : 'A to answer');

/** The asking agent for the border; null if it does not fit there. */
function titleLine(current: Question, context: Context, { width }: Docked): Line | null {
  const line = askerLine(current, context);
  return lineWidth(line) + TITLE_END <= width ? line : null;
}

/** Columns for the corners and the right end of the border. */
const TITLE_END = 36;

/** `2 of 5 · waiting 1m 12s`. */
function titleEnd(left: readonly Question[], current: Question, { now, glyphs }: Context): Line {
  const place = left.length > 1 ? `${left.indexOf(current) + 1} of ${left.length} ${glyphs.dot} ` : '';
  return [tint(`${place}waiting ${formatDuration(now - current.first.askedAt)}`, 'muted')];
}

function barLine(left: readonly Question[], current: Question, context: Context, { width, typing }: Docked): Line {
  const { glyphs } = context;
  const many = left.length > 1 ? `${left.length} questions: ` : '';
  const { title } = current.first.request;
  const start: Line = [
    strong(` ${glyphs.status.waiting} ${many}`, 'warn'),
    ...askerLine(current, context),
    tint(`: ${toLabel(title)}`, 'fg'),
  ];
  const end: Line = [strong(`${focusHint(typing)} `, 'focus')];
  const back: Style = { bg: 'surface' };
  return fit(restyle(spread(start, end, width), back), width, back);
}

interface Layout {
  readonly pinned: readonly Line[];
  readonly rows: readonly ScrollRow[];
  readonly top: number;
  readonly count: number;
  readonly answers: Answers;
}

/** A scrolling row with its position: a character index in the text, negative above it, beyond its end below it. */
interface ScrollRow extends ExactRow {
  readonly exact: boolean;
}

/** The layout of the question; null if only one row is available. */
export function layoutOf(state: InboxState, current: Question, context: Context, docked: Docked): Layout | null {
  const inner = innerOf(docked);
  const { request } = current.first;
  const kept = answerOf(state, current);
  const isOff = current.all.every(({ id }) => state.postponed.has(id));
  if (!docked.focused && (isOff || docked.rows < MIN_ROWS + 2)) return null;
  const room = Math.max(2, docked.rows - 2);
  const pins = pinnedLines(current, context, docked);
  const rows = scrollRows(current, context, inner);
  const whole = answerLines(request, kept, context, { width: inner, words: true });
  const fits = pins.length + rows.length + whole.lines.length <= room;
  const answers = fits ? whole : within(answerLines(request, kept, context, { width: inner, words: false }), room - 1);
  const pinned = pins.slice(0, Math.max(0, room - 1 - answers.lines.length));
  const count = Math.min(rows.length, Math.max(1, room - pinned.length - answers.lines.length));
  const found = rows.findIndex(({ to }) => to > kept.at);
  const top = Math.max(0, Math.min(found === -1 ? rows.length : found, rows.length - count));
  return { pinned, rows, top, count, answers };
}

/** The position after the last character of the text in these rows. */
export const textEnd = (rows: readonly ScrollRow[]): number => rows.findLast(({ exact }) => exact)?.to ?? 0;

function within({ lines, cursor, chosen = 0 }: Answers, rows: number): Answers {
  const from = Math.max(0, Math.min(chosen, lines.length - rows));
  return { lines: lines.slice(from, from + rows), cursor };
}

/** Lines that are always visible: the asking agent if the border has no space, the missing sandbox, and the length of a long text. */
function pinnedLines(current: Question, context: Context, docked: Docked): readonly Line[] {
  const inner = innerOf(docked);
  const { request } = current.first;
  const { unsandboxed, exact } = request;
  return [
    ...(titleLine(current, context, docked) === null ? wrap(askerLine(current, context), inner) : []),
    ...(unsandboxed ? wrap([span(' UNSANDBOXED ', BADGE), tint(` ${WITHOUT_SANDBOX}`, 'err')], inner) : []),
    ...(isLong(exact) ? wrap(lengthLine(request, context), inner) : []),
  ];
}

const BADGE: Style = { fg: 'surface', bg: 'err', bold: true };

function scrollRows(current: Question, context: Context, width: number): readonly ScrollRow[] {
  const { request } = current.first;
  const because = request.because === '' ? '' : `because ${toLabel(request.because)}`;
  const more = [
    ...current.all.slice(0, MAX_NAMED).flatMap((one) => wrap(taskLine(one, context), width - 1, 2)),
    ...(current.all.length > MAX_NAMED
      ? [[tint(`and ${plural(current.all.length - MAX_NAMED, 'agent')} more`, 'muted')] as const]
      : []),
    ...(because === '' ? [] : wrap([tint(because, 'faint')], width - 1)),
  ];
  const title = words(titleOf(current, context), width - 1, { fg: 'fg' });
  const text = exactRows(request, width - 1, context.glyphs);
  const end = text.at(-1)?.to ?? 0;
  const beside = (line: Line, from: number): ScrollRow => ({ line, from, to: from + 1, exact: false });
  return [
    ...title.map((line, row) => beside(line, row - title.length)),
    ...text.map((row) => ({ ...row, exact: true })),
    ...more.map((line, row) => beside(line, end + row)),
  ];
}

/** True if the length is worth showing: several lines, much text, or hidden characters. */
const isLong = (exact: string): boolean => exact.length > 200 || exact.includes('\n') || exact.includes('\ufdd0');

const MAX_NAMED = 5;

/** The title; empty if the text already contains it: `finder: npm test`. */
function titleOf({ first: { agent, request }, all }: Question, { state }: Context): string {
  const { title } = request;
  // Longer texts cannot equal the title; they may have megabytes.
  const exact = request.exact.length > MAX_TITLE ? request.exact : plainText(request.exact);
  const role = state.agents.get(agent)?.role ?? '';
  // The title of a command or a question is its first line, and the border names a waiting turn.
  const said =
    title === exact || title === `${role}: ${exact}` || ['shell', 'turn', 'question'].includes(request.action);
  const known = said || (all.length > 1 && exact !== '');
  return known ? '' : toLabel(title);
}

const MAX_TITLE = 2000;

const plainText = (exact: string): string =>
  splitMarked(exact)
    .map(({ text }) => text)
    .join('');

const words = (text: string, width: number, style: Style): readonly Line[] =>
  text === '' ? [] : wrap([span(text, style)], width);

function askerLine({ first: { agent, request }, all }: Question, { state }: Context): Line {
  const found = state.agents.get(agent);
  const who: Line =
    all.length > 1
      ? [strong(`${all.length} agents ask the same question:`, 'warn')]
      : [strong(toLabel(found?.name ?? agent), `role:${found?.role ?? ''}`)];
  const wants = all.length > 1 ? WANTS[request.action].replace(/^wants\b/, 'each wants') : WANTS[request.action];
  return [...who, strong(` ${wants}`, 'title')];
}

/** `ROOT::S4, #4 refactoring: Move rotation into TokenStore`. */
function taskLine({ agent }: Approval, { state }: Context): Line {
  const found = state.agents.get(agent);
  if (found === undefined) return [tint(agent, 'muted')];
  const role = found.name === found.role ? '' : `, role ${found.role}`;
  const path = found.parent === null ? found.id : `${found.id}, ${toLabel(labelOf(state, found.id))}${role}`;
  return [tint(path, 'muted'), tint(`: ${toLabel(found.task)}`, 'faint')];
}
