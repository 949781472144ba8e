/**
 * The numbers in the header of a run: waits, questions, agents, time, money. Which of them there are is the width's to say; those that
 * come and go stand on the left of the others, so that nothing that is read moves.
 */
import { type ShownStatus, countsOf, parallelOf } from '../../../../app/views/agent-counts.ts';
import { runTime } from '../../../../app/views/run-time.ts';
import { runShare, runSpending } from '../../../../app/views/spending/spending.ts';
import type { RunState } from '../../../../events/state.ts';
import {
  counted,
  formatCost,
  formatDuration,
  formatLimit,
  formatShare,
  formatTokens,
} from '../../../../app/views/text/format.ts';
import type { Context } from '../../frame/screen.ts';
import { lineWidth, span } from '../../../../app/views/text/clip.ts';
import type { Line } from '../../../../app/views/text/line.ts';
import { toLabel } from '../../../../app/views/text/sanitise.ts';
import { formatLeft } from '../../../../app/views/agents/wait-reason.ts';
import { weatherOf } from '../runs/provider-outage.ts';
import { gauge, inkOfShare } from './gauge.ts';
import { amountText, uncertainText, aboutSign } from './spend.ts';
import { BADGE, HELD_INK, marks, shownSign } from '../header.ts';

/**
 * Waits, questions, agents, elapsed, spend and cap: as much of it as `width` columns of a header can bear beside where one is. Numbers
 * have fixed places: what is shown changes when the run does, not with each second.
 */
export function runNumbers(context: Context, width: number): Line {
  const { state, glyphs } = context;
  const seen = lineWidth(marks(state, width, glyphs));
  const [, left] = ROOM_ON_LEFT.find(([from]) => width >= from) ?? [0, 0];
  const room = width - lineWidth(BADGE) - seen - 2;
  const chosen = new Map<Place, Line>();
  // What a run needs stands even where little of the task is left to read.
  take(chosen, needs(context), room - Math.min(left, 10));
  take(chosen, wishes(context), room - left);
  return joined(chosen);
}

/** Each line in its place, where all of them still fit into `room`; else what was there before. */
function take(chosen: Map<Place, Line>, lines: readonly (readonly [Place, Line])[], room: number): void {
  for (const [place, line] of lines) {
    const before = chosen.get(place);
    chosen.set(place, line);
    if (lineWidth(joined(chosen)) <= room || place === 'amount' || place === 'ask') continue;
    if (before === undefined) chosen.delete(place);
    else chosen.set(place, before);
  }
}

/** Columns that stay for where one is and the task, from so many columns of the header on. */
const ROOM_ON_LEFT = [
  [160, 44],
  [120, 38],
  [100, 22],
  [80, 18],
  [60, 8],
] as const;

/** In the order they stand in. What comes and goes is on the left, where it moves nothing. */
const PLACES = [
  'weather',
  'ask',
  'agents',
  'counts',
  'elapsed',
  'amount',
  'uncertain',
  'limit',
  'gauge',
  'alarm',
] as const;
type Place = (typeof PLACES)[number];

/** Two columns between two of them; a limit and a gauge belong to the amount. */
const joined = (chosen: ReadonlyMap<Place, Line>): Line =>
  PLACES.flatMap((place): Line => {
    const line = chosen.get(place) ?? [];
    if (line.length === 0) return [];
    const isFirst = PLACES.slice(0, PLACES.indexOf(place)).every((one) => (chosen.get(one) ?? []).length === 0);
    return [span(isFirst ? '' : ' '.repeat(GAP[place] ?? 2)), ...line];
  });

const GAP: Readonly<Partial<Record<Place, number>>> = { elapsed: 1, uncertain: 0, limit: 0, gauge: 1, alarm: 1 };

/** What must be there, the most important first, in its shortest form. */
function needs(context: Context): readonly (readonly [Place, Line])[] {
  const { state, glyphs } = context;
  const [wait] = weather(context);
  const [agents] = crowd(state);
  const money = spend(context);
  const asks = state.approvals.length;
  return [
    ['amount', money.amount],
    ['uncertain', money.uncertain],
    ['ask', asks === 0 ? [] : [span(`${glyphs.status.waiting} ${asks} ask`, { fg: 'warn', bold: true })]],
    ['alarm', money.sign],
    ['weather', wait],
    ['counts', counts(context, 'few')],
    ['elapsed', [span(formatDuration(runTime(state, context.now)).padStart(7), { fg: 'fg' })]],
    ...(agents.isNear ? [['agents', agents.line] as const] : []),
  ];
}

/** What there is room for beside it; longer forms of the same places come later. */
function wishes(context: Context): readonly (readonly [Place, Line])[] {
  const [, waits, waiting] = weather(context);
  const [, agents] = crowd(context.state);
  const money = spend(context);
  return [
    ['counts', counts(context, 'some')],
    ['gauge', money.gauge(6)],
    ['alarm', money.words],
    ['limit', money.limit],
    ['uncertain', money.uncertainWords],
    ['weather', waits],
    ['counts', counts(context, 'all')],
    ['gauge', money.gauge(12)],
    ['counts', counts(context, 'words')],
    ['weather', waiting],
    ['agents', agents.line],
  ];
}

/** `◔ 3`, `◔ 3, 12s`, `◔ anthropic: 3 wait, next try in 12s`; nothing where no provider is waited for. */
function weather({ state, glyphs, now }: Context): readonly [Line, Line, Line] {
  const all = weatherOf(state);
  const [first] = all;
  if (first === undefined) return [[], [], []];
  const { provider, until } = first;
  const left = until === null ? null : formatLeft(Math.max(0, until - now));
  const waiting = all.reduce((sum, one) => sum + one.waiting, 0);
  const others = all.length === 1 ? '' : ` and ${counted(all.length - 1, 'other')}`;
  const words = `${toLabel(provider)}${others}: ${waiting} wait${waiting === 1 ? 's' : ''}`;
  const line = (text: string): Line => [span(`${glyphs.held} ${text}`, { fg: HELD_INK })];
  return [
    line(String(waiting)),
    line(`${waiting}${left === null ? '' : `, ${left}`}`),
    line(`${words}${left === null ? '' : `, next try in ${left}`}`),
  ];
}

/** `12/100 agents` of those that the rules allow in a run; amber, and sooner shown, from 80 % on. Nothing where nobody said. */
function crowd(state: RunState): readonly [short: Crowd, long: Crowd] {
  const { all } = countsOf(state);
  const most = state.choices?.limits.maxAgents;
  if (most === undefined || all === 0) return [NOBODY, NOBODY];
  const isNear = all >= 0.8 * most;
  const text = `${String(all).padStart(String(most).length)}/${most}`;
  const line = (words: string): Line => [span(words, { fg: isNear ? 'warn' : 'muted', bold: isNear })];
  return [
    { line: line(text), isNear },
    { line: line(`${text} agents`), isNear },
  ];
}

interface Crowd {
  readonly line: Line;
  readonly isNear: boolean;
}

const NOBODY: Crowd = { line: [], isNear: false };

/** `● 4 ○ 36 ✗ 0`, then what more there is room for; those with none are faint: a number that comes to be moves no other. */
function counts({ state, glyphs }: Context, many: 'few' | 'some' | 'all' | 'words'): Line {
  const all = countsOf(state);
  if (all.all === 0) return [];
  const digits = String(all.all).length;
  const done = many === 'some' ? `${all.completed}/${all.all}` : undefined;
  const words: Readonly<Partial<Record<ShownStatus, string>>> =
    many === 'words'
      ? { running: ' running', queued: all.queued === 0 ? ' queued' : ` queued (${parallelOf(state)} at once)` }
      : {};
  const one = (status: ShownStatus): Line => {
    const count = all[status];
    const text = `${(status === 'completed' ? done : undefined) ?? count}${words[status] ?? ''}`;
    return [
      shownSign(status, glyphs, count === 0),
      span(` ${text}${' '.repeat(Math.max(0, digits - String(count).length))}`, { fg: count === 0 ? 'faint' : 'fg' }),
    ];
  };
  // What is over changes no more; interrupted ones are rare, and stand where they move nothing. Weather tells of those that are held.
  const places: readonly ShownStatus[] =
    many === 'all' || many === 'words' ? ORDER : many === 'some' ? [...FEW, 'completed'] : FEW;
  const isOver = state.finished !== null;
  const shown = places.filter((status) => all[status] > 0 || (!isOver && status !== 'interrupted'));
  return shown.flatMap((status, at) => (at === 0 ? one(status) : [span(' '), ...one(status)]));
}

const FEW: readonly ShownStatus[] = ['interrupted', 'running', 'queued', 'failed'];
const ORDER: readonly ShownStatus[] = ['interrupted', 'running', 'waiting', 'queued', 'completed', 'failed'];

interface Money {
  readonly amount: Line;
  readonly limit: Line;
  /** What may have been billed beside it, as a sign and in a word; nothing where every call came to its end. */
  readonly uncertain: Line;
  readonly uncertainWords: Line;
  /** How near the cap is, in a word and in more of them: no colour says it alone. */
  readonly sign: Line;
  readonly words: Line;
  gauge(cells: number): Line;
}

/** `$0.3849 / $2.00 ▰▰▱▱▱▱`; tokens where nothing costs anything. */
function spend(context: Context): Money {
  const { state, glyphs } = context;
  const { cost, tokens, priced, estimated, uncertain } = runSpending(state);
  const beside = (text: string): Line => [span(text, { fg: 'warn' })];
  const cap = state.budget.maxCost;
  const share = runShare(state);
  const free = cost === 0 && tokens > 0;
  const about = aboutSign({ estimated }, context);
  const amount = free ? `${about}${formatTokens(tokens)} tok` : `${about}${formatCost(cost)}${priced ? '' : '+?'}`;
  // As wide as the most that can be spent: the dollars move nothing either.
  const room = Math.max(7, formatCost(Math.max(cap ?? 0, cost)).length);
  return {
    amount: [span(amount.padStart(room), { fg: 'title', bold: true })],
    limit: cap === undefined || free ? [] : [span(' / ', { fg: 'faint' }), span(formatLimit(cap), { fg: 'muted' })],
    uncertain: uncertain === null ? [] : beside(` +${amountText(uncertain.cost, uncertain.tokens)}?`),
    uncertainWords: uncertainText(uncertain).flatMap((text) => beside(` + ${text}`)),
    ...alarms(share?.spent ?? 0),
    gauge: (cells) => (share === null ? [] : gauge(share, cells, glyphs)),
  };
}

function alarms(share: number): Pick<Money, 'sign' | 'words'> {
  if (share < 0.8) return { sign: [], words: [] };
  const alarm = (text: string): Line => [span(text, { fg: inkOfShare(share), bold: true })];
  return {
    sign: alarm(`${formatShare(share)}!`),
    words: alarm(share >= 1 ? 'cap reached' : `${formatShare(share)} used`),
  };
}
