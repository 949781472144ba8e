/** How a question that waits for the person looks. Nothing of the action is summed up, collapsed or cut: it scrolls. */
import { WITHOUT_SANDBOX } from '../../app/views/unsandboxed.ts';
import type { ApprovalRequest } from '../../events/event.ts';
import type { Approval } from '../../events/state.ts';
import { labelOf } from '../agents.ts';
import { counted, formatDuration } from '../format.ts';
import type { Context } from '../screen.ts';
import type { Size } from '../term/terminal.ts';
import { fit, span } from '../text/clip.ts';
import type { Line, Style } from '../text/line.ts';
import { toLabel, unmarked } from '../text/sanitise.ts';
import { wrap } from '../text/wrap.ts';
import { scrollBar } from '../view/cards.ts';
import { answerLines, rowsOfAnswers } from './inbox-answers.ts';
import { exactLines } from './inbox-exact.ts';
import type { InboxState, Question } from './inbox-state.ts';
import { keptOf, kindOf } from './inbox-state.ts';
import { boxRows, boxWidth, framed, windowed } from './overlay.ts';
import type { OverlayView } from './overlay.ts';

export { inboxHints } from './inbox-answers.ts';

const WIDTH = 100;

const WANTS: Readonly<Record<ApprovalRequest['action'], string>> = {
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

export function inboxView(state: InboxState, left: readonly Question[], context: Context, size: Size): OverlayView {
  const current = left.find(({ key }) => key === state.current) ?? left[0];
  if (current === undefined) return { lines: [], cursor: null };
  const { request } = current.first;
  const kept = keptOf(state, current);
  const width = boxWidth(size, WIDTH);
  const inner = Math.max(1, width - 4);
  const { head, rows, low } = measured(current, context, size);
  const tail = answerLines({ request, kept, low }, context, inner);
  const exact = exactLines(request, inner - 2);
  const { shown, top } = windowed(exact, kept.top, rows);
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
  const cursor =
    tail.cursor === null ? null : { x: tail.cursor.x + 2, y: tail.cursor.y + 1 + head.length + shown.length };
  const ink = request.unsandboxed ? 'err' : 'warn';
  const frame = {
    title: 'Your answer is needed',
    titleEnd: titleEnd(left, current, context),
    width,
    ink,
    body,
  } as const;
  return { lines: framed(frame, context), cursor };
}

/** `2 of 5 · waits 1m 12s`. */
function titleEnd(left: readonly Question[], current: Question, { now, glyphs }: Context): Line {
  const place = left.length > 1 ? `${left.indexOf(current) + 1} of ${left.length} ${glyphs.dot} ` : '';
  return [span(`${place}waits ${formatDuration(now - current.first.askedAt)}`, { fg: 'muted' })];
}

/** Rows of the exact action, all of them and those in sight. */
export function exactRows(
  current: Question,
  context: Context,
  size: Size,
): { readonly total: number; readonly rows: number } {
  const inner = Math.max(1, boxWidth(size, WIDTH) - 4);
  return {
    total: exactLines(current.first.request, inner - 2).length,
    rows: measured(current, context, size).rows,
  };
}

interface Measured {
  readonly head: readonly Line[];
  /** Rows of the exact action that are in sight. */
  readonly rows: number;
  /** Too low for all of it: the answer keeps its place, what stands above gives way, the footer alone names the keys. */
  readonly low: boolean;
}

/** The action gets as much as the box can give; what stands below is counted at its highest, so that it doesn't jump. */
function measured(current: Question, context: Context, size: Size): Measured {
  const { request } = current.first;
  const inner = Math.max(1, boxWidth(size, WIDTH) - 4);
  const head = headLines(current, context, inner);
  const below = rowsOfAnswers(request, context, inner);
  const room = boxRows(size);
  const exact = exactLines(request, inner - 2).length;
  if (head.length + 1 + below <= room) return { head, rows: Math.min(exact, room - head.length - below), low: false };
  const least = kindOf(current.first) === 'options' ? Math.max(1, request.options.length) : 1;
  const some = headLines(current, context, inner, 'low').slice(0, Math.max(1, room - least - 1));
  return { head: some, rows: Math.max(1, Math.min(exact, room - some.length - least)), low: true };
}

/** Who asks, for what task, what it wants, why a person is asked; with few rows, what it wants before for what. */
function headLines(current: Question, context: Context, width: number, low?: 'low'): readonly Line[] {
  const { request } = current.first;
  const because = request.because === '' ? '' : `because ${toLabel(request.because)}`;
  const warning = request.unsandboxed ? `No sandbox: ${WITHOUT_SANDBOX}.` : '';
  const what = words(titleOf(current, context), width, { fg: 'fg' }).slice(0, 4);
  const forWhom = askers(current, context, width);
  return [
    ...wrap(whoAsks(current, context), width),
    ...(low ? [...what, ...forWhom] : [...forWhom, ...what]),
    ...words(because, width, { fg: 'faint' }).slice(0, 3),
    ...words(warning, width, { fg: 'err', bold: true }),
    [],
  ];
}

/** Empty where it says nothing that isn't said above or below: `finder: npm test`. */
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
  const badge: Line = [span('  '), span(' UNSANDBOXED ', { fg: 'surface', bg: 'err', bold: true })];
  const who: Line =
    all.length > 1
      ? [span(`${all.length} agents ask the same:`, { fg: 'warn', bold: true })]
      : [span(toLabel(found?.name ?? agent), { fg: `role:${found?.role ?? ''}`, bold: true })];
  const wants = all.length > 1 ? WANTS[request.action].replace(/^wants\b/, 'each wants') : WANTS[request.action];
  return [...who, span(` ${wants}`, { fg: 'title', bold: true }), ...(request.unsandboxed ? badge : [])];
}

/** Agents that are named one by one where several ask the same. */
const NAMED = 4;

function askers({ all }: Question, context: Context, width: number): readonly Line[] {
  const named = all.slice(0, all.length > NAMED + 1 ? NAMED : all.length);
  const more = all.length - named.length;
  return [
    ...named.map((one) => fit(forWhat(one, context), width, {}, context.glyphs.ellipsis)),
    ...(more > 0 ? [[span(`and ${counted(more, 'agent')} more`, { fg: 'muted' })]] : []),
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
