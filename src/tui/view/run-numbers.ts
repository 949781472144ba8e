/**
 * The numbers in the header of a run: waits, questions, agents, time, money. Which of them there are is the width's to say; those that
 * come and go stand on the left of the others, so that nothing that is read moves.
 */
import type { AgentStatus } from '../../domain/agent.ts';
import { aboutSign } from './card.ts';
import { spentOf } from '../../events/queries.ts';
import type { RunState } from '../../events/state.ts';
import { runShare } from '../agents.ts';
import { counted, formatCost, formatDuration, formatLimit, formatShare, formatTokens } from '../format.ts';
import type { Context } from '../screen.ts';
import { tallyOf } from '../tally.ts';
import { lineWidth, span } from '../text/clip.ts';
import type { Line } from '../text/line.ts';
import { toLabel } from '../text/sanitise.ts';
import { formatLeft } from '../waits.ts';
import { gauge, inkOfShare } from './gauge.ts';
import { BADGE, HELD_INK, marks, runElapsed, STATUS_INK } from './header.ts';

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
const PLACES = ['weather', 'ask', 'agents', 'counts', 'elapsed', 'amount', 'limit', 'gauge', 'alarm'] as const;
type Place = (typeof PLACES)[number];

/** Two columns between two of them; a limit and a gauge belong to the amount. */
const joined = (chosen: ReadonlyMap<Place, Line>): Line =>
  PLACES.flatMap((place): Line => {
    const line = chosen.get(place) ?? [];
    if (line.length === 0) return [];
    const isFirst = PLACES.slice(0, PLACES.indexOf(place)).every((one) => (chosen.get(one) ?? []).length === 0);
    return [span(isFirst ? '' : ' '.repeat(GAP[place] ?? 2)), ...line];
  });

const GAP: Readonly<Partial<Record<Place, number>>> = { elapsed: 1, limit: 0, gauge: 1, alarm: 1 };

/** What must be there, the most important first, in its shortest form. */
function needs(context: Context): readonly (readonly [Place, Line])[] {
  const { state, glyphs } = context;
  const [wait] = weather(context);
  const [agents] = crowd(state);
  const money = spend(context);
  const asks = state.approvals.length;
  return [
    ['amount', money.amount],
    ['ask', asks === 0 ? [] : [span(`${glyphs.status.waiting} ${asks} ask`, { fg: 'warn', bold: true })]],
    ['alarm', money.sign],
    ['weather', wait],
    ['counts', counts(context, 'few')],
    ['elapsed', [span(formatDuration(runElapsed(state, context.now)).padStart(7), { fg: 'fg' })]],
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
    ['weather', waits],
    ['counts', counts(context, 'all')],
    ['gauge', money.gauge(12)],
    ['weather', waiting],
    ['agents', agents.line],
  ];
}

/** `◔ 3`, `◔ 3, 12s`, `◔ anthropic: 3 wait, next try in 12s`; nothing where no provider is waited for. */
function weather({ state, glyphs, now }: Context): readonly [Line, Line, Line] {
  const all = tallyOf(state).weather;
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
  const { all } = tallyOf(state);
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

/** `⏸ 1 ● 4 ◐ 1 ◌ 1 ○ 2 ✓ 2 ✗ 1`, those with none faint: a number that comes to be moves no other. */
function counts({ state, glyphs }: Context, many: 'few' | 'some' | 'all'): Line {
  const { byStatus, all } = tallyOf(state);
  const isOver = state.finished !== null;
  if (all === 0) return [];
  const one = (status: AgentStatus, count: number, words = String(count)): Line => [
    span(glyphs.status[status], {
      fg: count === 0 ? 'faint' : STATUS_INK[status],
      bold: status === 'failed' && count > 0,
    }),
    span(` ${words}`, { fg: count === 0 ? 'faint' : 'fg' }),
  ];
  const digits = String(all).length;
  const row = (parts: readonly Line[]): Line => parts.flatMap((part, at) => (at === 0 ? part : [span(' '), ...part]));
  const padded = (status: AgentStatus, count: number): Line => one(status, count, String(count).padEnd(digits));
  if (many === 'all') {
    // What is over changes no more; an interrupted agent is rare, and stands where it moves nothing.
    const shown = ORDER.filter((status) => byStatus[status] > 0 || (!isOver && status !== 'interrupted'));
    return row(shown.map((status) => padded(status, byStatus[status])));
  }
  const working = byStatus.running + byStatus.initializing + byStatus.waiting;
  const short = [padded('running', working), padded('failed', byStatus.failed + byStatus.interrupted)];
  if (many === 'few') return row(short);
  const done = byStatus.completed;
  return row([...short, one('completed', done, `${done}/${all}`.padEnd(2 * digits + 1))]);
}

const ORDER: readonly AgentStatus[] = [
  'interrupted',
  'running',
  'initializing',
  'waiting',
  'pending',
  'completed',
  'failed',
];

interface Money {
  readonly amount: Line;
  readonly limit: Line;
  /** How near the cap is, in a word and in more of them: no colour says it alone. */
  readonly sign: Line;
  readonly words: Line;
  gauge(cells: number): Line;
}

/** `$0.3849 / $2.00 ▰▰▱▱▱▱`; tokens where nothing costs anything. */
function spend(context: Context): Money {
  const { state, glyphs } = context;
  const { cost, tokens } = spentOf(state);
  const cap = state.budget.maxCost;
  const share = runShare(state);
  const free = cost === 0 && tokens > 0;
  const about = aboutSign(
    { estimated: [...state.agents.values()].some(({ estimated }) => estimated === true) },
    context,
  );
  const amount = free
    ? `${about}${formatTokens(tokens)} tok`
    : `${about}${formatCost(cost)}${tallyOf(state).priced ? '' : '+?'}`;
  // As wide as the most that can be spent: the dollars move nothing either.
  const room = Math.max(7, formatCost(Math.max(cap ?? 0, cost)).length);
  return {
    amount: [span(amount.padStart(room), { fg: 'title', bold: true })],
    limit: cap === undefined || free ? [] : [span(' / ', { fg: 'faint' }), span(formatLimit(cap), { fg: 'muted' })],
    ...alarms(share ?? 0),
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
