/**
 * How a question that waits for the person looks: a box at the lower end of the screen, beside what it is about and never over it. Nothing
 * of the action is summed up, collapsed or cut: it scrolls. One row tells of questions that were left for later.
 */
import { type Question, WANTS } from '../../../../app/views/questions/question.ts';
import { WITHOUT_SANDBOX } from '../../../../app/views/unsandboxed.ts';
import type { Approval } from '../../../../events/state.ts';
import { labelOf } from '../../../../app/views/agents/agent-lines.ts';
import { counted, formatDuration } from '../../../../app/views/text/format.ts';
import type { Context } from '../../frame/screen.ts';
import { box } from '../../text/box.ts';
import { fit, lineWidth, restyle, span, spread } from '../../../../app/views/text/clip.ts';
import type { Ink, Line, Style } from '../../../../app/views/text/line.ts';
import { toLabel, unmarked } from '../../../../app/views/text/sanitise.ts';
import { wrap } from '../../../../app/views/text/wrap.ts';
import { scrollBar } from '../../components/agents/cards.ts';
import { type Answers, answerLines, type InboxState, keptOf } from './answers.ts';
import { type ExactRow, exactRows, lengthLine } from './exact.ts';
import type { OverlayView } from '../../frame/overlay.ts';

export { inboxHints } from './answers.ts';

/** Where the box is: how much room it may take, whether it has the keys, and whether letters go to a field of the screen. */
export interface Docked {
  readonly width: number;
  /** The most rows. */
  readonly rows: number;
  readonly focused: boolean;
  readonly typing: boolean;
}

/** Rows of the box with borders and answers alone; with fewer there is one row. */
const LEAST = 5;

export function inboxView(state: InboxState, left: readonly Question[], context: Context, docked: Docked): OverlayView {
  const current = currentOf(state, left);
  if (current === undefined || docked.rows < 1) return { lines: [], cursor: null };
  const laid = laidOut(state, current, context, docked);
  if (laid === null) return { lines: [barLine(left, current, context, docked)], cursor: null };
  const { pinned, shown, top, total, answers } = laid;
  const bar = scrollBar(top, total, shown.length, context.glyphs.scroll);
  const inner = innerOf(docked);
  const body: readonly Line[] = [
    ...pinned,
    ...shown.map(
      ({ line }, row): Line => [
        ...fit(line, Math.max(0, inner - 1), { bg: 'raised' }),
        span(bar[row] ?? ' ', { fg: 'focus', bg: 'raised' }),
      ],
    ),
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
  const reach = docked.focused ? 'Esc later' : reachWords(docked.typing);
  const words = [span(reach, { fg: 'focus', bold: true, ...back })];
  const lines = box({
    width: docked.width,
    height: body.length + 2,
    glyphs,
    border: docked.focused ? 'heavy' : 'round',
    style: { fg: ink, ...back },
    fill: back,
    title: restyle(title ?? [span('Question', { fg: 'title', bold: true })], back),
    titleEnd: restyle(titleEnd(left, current, context), back),
    foot: words,
    body: body.map((line) => restyle(line, back)),
  });
  return lines.map((line) => fit(restyle(line, back), docked.width, back));
}

const reachWords = (typing: boolean): string => (typing ? 'Esc, then A to answer' : 'A to answer');

/** Who asks, in the border; null where it does not fit there whole. */
function titleLine(current: Question, context: Context, { width }: Docked): Line | null {
  const line = whoAsks(current, context);
  return lineWidth(line) + END <= width ? line : null;
}

/** Columns of the corners and of what stands at the right end of the border. */
const END = 36;

/** `2 of 5 · waits 1m 12s`. */
function titleEnd(left: readonly Question[], current: Question, { now, glyphs }: Context): Line {
  const place = left.length > 1 ? `${left.indexOf(current) + 1} of ${left.length} ${glyphs.dot} ` : '';
  return [span(`${place}waits ${formatDuration(now - current.first.askedAt)}`, { fg: 'muted' })];
}

/** One row for all that waits. */
function barLine(left: readonly Question[], current: Question, context: Context, { width, typing }: Docked): Line {
  const { glyphs } = context;
  const many = left.length > 1 ? `${left.length} questions wait: ` : '';
  const { title } = current.first.request;
  const start: Line = [
    span(` ${glyphs.status.waiting} ${many}`, { fg: 'warn', bold: true }),
    ...whoAsks(current, context),
    span(`: ${toLabel(title)}`, { fg: 'fg' }),
  ];
  const end: Line = [span(`${reachWords(typing)} `, { fg: 'focus', bold: true })];
  const back: Style = { bg: 'surface' };
  return fit(restyle(spread(start, end, width, back, glyphs.ellipsis), back), width, back);
}

interface Laid {
  readonly pinned: readonly Line[];
  readonly shown: readonly ScrollRow[];
  readonly top: number;
  readonly total: number;
  readonly answers: Answers;
}

/** A row that scrolls, and its place: the characters of the text, below 0 what stands above that, behind its last what stands below. */
interface ScrollRow extends ExactRow {
  readonly exact: boolean;
}

/** Null where there is only room for one row. The text gets as much as the box can give. */
function laidOut(state: InboxState, current: Question, context: Context, docked: Docked): Laid | null {
  const inner = innerOf(docked);
  const { request } = current.first;
  const kept = keptOf(state, current);
  const isOff = current.all.every(({ id }) => state.putOff.has(id));
  if (!docked.focused && (isOff || docked.rows < LEAST + 2)) return null;
  const room = Math.max(2, docked.rows - 2);
  const pins = pinnedLines(current, context, docked);
  const rows = scrollRows(current, context, inner);
  const whole = answerLines(request, kept, context, { width: inner, words: true });
  const fits = pins.length + rows.length + whole.lines.length <= room;
  const answers = fits ? whole : within(answerLines(request, kept, context, { width: inner, words: false }), room - 1);
  const pinned = pins.slice(0, Math.max(0, room - 1 - answers.lines.length));
  const space = Math.max(1, room - pinned.length - answers.lines.length);
  const found = rows.findIndex(({ to }) => to > kept.at);
  const top = Math.max(0, Math.min(found === -1 ? rows.length : found, rows.length - space));
  return { pinned, shown: rows.slice(top, top + space), top, total: rows.length, answers };
}

/** As many of the answers as there are rows for, the chosen one among them. */
function within({ lines, cursor, chosen = 0 }: Answers, rows: number): Answers {
  const from = Math.max(0, Math.min(chosen, lines.length - rows));
  return { lines: lines.slice(from, from + rows), cursor };
}

/** What must be seen whatever is scrolled: who asks, where the border has no room for it, no sandbox, and how long a long text is. */
function pinnedLines(current: Question, context: Context, docked: Docked): readonly Line[] {
  const inner = innerOf(docked);
  const { request } = current.first;
  const { unsandboxed, exact } = request;
  return [
    ...(titleLine(current, context, docked) === null ? wrap(whoAsks(current, context), inner) : []),
    ...(unsandboxed ? wrap([span(' UNSANDBOXED ', BADGE), span(` ${WITHOUT_SANDBOX}`, { fg: 'err' })], inner) : []),
    ...(isLong(exact) ? wrap(lengthLine(request, context), inner) : []),
  ];
}

const BADGE: Style = { fg: 'surface', bg: 'err', bold: true };

/** What is asked, and behind it for what task, and why a person is asked. */
function scrollRows(current: Question, context: Context, width: number): readonly ScrollRow[] {
  const { request } = current.first;
  const because = request.because === '' ? '' : `because ${toLabel(request.because)}`;
  const more = [
    ...current.all.slice(0, NAMED).flatMap((one) => wrap(forWhat(one, context), width - 1, 2)),
    ...(current.all.length > NAMED
      ? [[span(`and ${counted(current.all.length - NAMED, 'agent')} more`, { fg: 'muted' })] as const]
      : []),
    ...(because === '' ? [] : wrap([span(because, { fg: 'faint' })], width - 1)),
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

/** Worth saying how long it is: several lines, much text, or something hidden in it. */
const isLong = (exact: string): boolean => exact.length > 200 || exact.includes('\n') || exact.includes('\ufdd0');

/** Agents that are named one by one where several ask the same. */
const NAMED = 5;

/** What of the text is in sight, and where its rows stand, for what was read and for the keys that scroll. */
export interface Sight {
  /** The first row in sight, how many are, and how many there are. */
  readonly top: number;
  readonly rows: number;
  readonly total: number;
  /** The place of a row. */
  at(row: number): number;
  /** Behind the last character in sight, and behind the last one there is. */
  readonly seen: number;
  readonly end: number;
  /** The row that the text ends in. */
  readonly last: number;
}

/** Null where only one row tells of the question. */
export function sightOf(state: InboxState, current: Question, context: Context, docked: Docked): Sight | null {
  const laid = laidOut(state, current, context, docked);
  if (laid === null) return null;
  const rows = scrollRows(current, context, innerOf(docked));
  return {
    top: laid.top,
    rows: laid.shown.length,
    total: rows.length,
    at: (row) => rows[row]?.from ?? 0,
    seen: laid.shown.findLast(({ exact }) => exact)?.to ?? 0,
    end: rows.findLast(({ exact }) => exact)?.to ?? 0,
    last: rows.findLastIndex(({ exact }) => exact),
  };
}

/** Empty where it says nothing that isn't said in the text: `finder: npm test`. */
function titleOf({ first: { agent, request }, all }: Question, { state }: Context): string {
  const { title } = request;
  // Longer than its title can be: it is no title, and may be megabytes.
  const exact = request.exact.length > MOST_TITLE ? request.exact : plainText(request.exact);
  const role = state.agents.get(agent)?.role ?? '';
  // A command is what is asked about; its title is its beginning once more.
  const said = title === exact || title === `${role}: ${exact}` || request.action === 'shell';
  const known = said || (all.length > 1 && exact !== '');
  return known ? '' : toLabel(title);
}

const MOST_TITLE = 2000;

const plainText = (exact: string): string =>
  unmarked(exact)
    .map(({ text }) => text)
    .join('');

const words = (text: string, width: number, style: Style): readonly Line[] =>
  text === '' ? [] : wrap([span(text, style)], width);

function whoAsks({ first: { agent, request }, all }: Question, { state }: Context): Line {
  const found = state.agents.get(agent);
  const who: Line =
    all.length > 1
      ? [span(`${all.length} agents ask the same:`, { fg: 'warn', bold: true })]
      : [span(toLabel(found?.name ?? agent), { fg: `role:${found?.role ?? ''}`, bold: true })];
  const wants = all.length > 1 ? WANTS[request.action].replace(/^wants\b/, 'each wants') : WANTS[request.action];
  return [...who, span(` ${wants}`, { fg: 'title', bold: true })];
}

/** `ROOT::S4, #4 refactoring: Move rotation into TokenStore`. */
function forWhat({ agent }: Approval, { state }: Context): Line {
  const found = state.agents.get(agent);
  if (found === undefined) return [span(agent, { fg: 'muted' })];
  const role = found.name === found.role ? '' : `, role ${found.role}`;
  const path = found.parent === null ? found.id : `${found.id}, ${toLabel(labelOf(state, found.id))}${role}`;
  return [span(path, { fg: 'muted' }), span(`: ${toLabel(found.task)}`, { fg: 'faint' })];
}
