/** The first row of every screen, the numbers of a run in it, the colours of statuses, and the title of the terminal's window. */
import { clip, plural, countsOf, expectedPlan, formatCost, formatDuration } from '../../../app/views/index.ts';
import { formatLeft, formatLimit, formatRoughly, formatShare, formatTokens } from '../../../app/views/index.ts';
import { type Ink, isHeld, isOffline, isUnsandboxed, type LimitShare, type Line } from '../../../app/views/index.ts';
import { lineWidth, parallelOf, progressOf, restyle, runShare, runSpending } from '../../../app/views/index.ts';
import { runTime, type ShownStatus, type Span, span, toLabel, waitOf } from '../../../app/views/index.ts';
import type { AgentStatus } from '../../../domain/agents/agent.ts';
import { totalsOf } from '../../../domain/plan/plan-view.ts';
import type { Mode } from '../../../domain/reason.ts';
import type { RunState } from '../../../events/index.ts';
import type { Context } from '../frame/screen.ts';
import { strong, tint } from '../text/blocks.ts';
import type { Glyphs } from '../text/glyphs.ts';
import { aboutSign, amountText, gauge, inkOfShare, uncertainText } from './costs.ts';

export const STATUS_INK: Readonly<Record<AgentStatus, Ink>> = {
  pending: 'faint',
  initializing: 'warn',
  running: 'ok',
  waiting: 'info',
  completed: 'ok',
  failed: 'err',
  interrupted: 'warn',
};

/** Colour of a wait for a provider, which needs no person. */
export const HELD_INK: Ink = 'info';

export function shownSign(status: ShownStatus, { status: signs, held }: Glyphs): Span {
  if (status === 'held') return tint(held, HELD_INK);
  const known = status === 'queued' ? 'pending' : status;
  return span(signs[known], { fg: STATUS_INK[known], bold: status === 'failed' });
}

const BADGE: Line = [span(' MIMIR ', { fg: 'surface', bg: 'focus', bold: true })];

/** Exactly `width` columns. `left` is cut first; `marks` (offline, sandbox, mode) and `right` only when nothing else is left. */
export function headerLine(parts: Readonly<Record<'left' | 'marks' | 'right', Line>>, width: number): Line {
  const bar = { bg: 'raised' } as const;
  // The marks end in a gap, which is not needed at the edge.
  const marked = parts.right.length === 0 ? parts.marks.slice(0, -1) : parts.marks;
  const right = restyle([...marked, ...parts.right, span(' ')], bar);
  const badge = clip(BADGE, width, '');
  const room = Math.max(0, width - lineWidth(badge));
  const end = clip(right, room);
  const rest = Math.max(0, room - lineWidth(end) - 1);
  // A few letters with an ellipsis are unreadable.
  const left = rest < 6 ? [] : clip(restyle([span(' '), ...parts.left], bar), rest);
  const gap = Math.max(0, room - lineWidth(left) - lineWidth(end));
  return [...badge, ...left, span(' '.repeat(gap), bar), ...end];
}

const badge = (text: string, bg: Ink): Line => [span(` ${text} `, { fg: 'surface', bg, bold: true }), span('  ')];

/** The marks that every screen shows: no language model, no sandbox, and the mode. */
export const marks = (
  { provider, sandbox, mode }: Pick<RunState, 'provider' | 'sandbox' | 'mode'>,
  width: number,
): Line => [
  ...(isOffline(provider) ? badge('OFFLINE', 'warn') : []),
  ...sandboxMark(sandbox, width),
  ...modeMark(mode, width),
];

/** In a narrow header only the absence of a sandbox is marked. */
function sandboxMark(sandbox: string, width: number): Line {
  if (isUnsandboxed(sandbox)) return badge(width >= 100 ? 'UNSANDBOXED' : 'NO SANDBOX', 'err');
  return sandbox === '' || width < 100 ? [] : [tint('sandboxed', 'muted'), span('  ')];
}

/** In a narrow header the default mode has no mark. */
function modeMark(mode: Mode, width: number): Line {
  if (mode === 'yolo') return [strong('yolo', 'err'), span('  ')];
  if (mode === 'human') return [strong('human', 'info'), span('  ')];
  return width >= 60 ? [tint(mode, 'muted'), span('  ')] : [];
}

/** `run-7f3a › Fix the race`: the place, unless it is empty, and the task. */
export function crumbs(where: string, task: string, glyphs: Glyphs): Line {
  const sign = glyphs.ellipsis === '…' ? '›' : '>';
  return [
    ...(where === '' ? [] : [tint(where, 'muted'), tint(` ${sign} `, 'faint')]),
    strong(task.split('\n')[0] ?? '', 'title'),
  ];
}

// The numbers in the header of a run. The width decides which of them are shown. Those that come and go are on the left, so that the
// others do not move.

/** Waits, questions, agents, time and money: as many of them as a header of `width` columns has room for beside the task. Numbers have
 * fixed places: the selection changes with the run, not with each second. */
export function runNumbers(context: Context, width: number): Line {
  const { state, glyphs } = context;
  const seen = lineWidth(marks(state, width));
  const [, left] = ROOM_ON_LEFT.find(([from]) => width >= from) ?? [0, 0];
  const room = width - lineWidth(BADGE) - seen - 2;
  const chosen = new Map<Place, Line>();
  const money = spend(context);
  const [few, many] = agentCount(state);
  const [wait, waits, waiting] = providerWaits(context);
  const [done, doneWords] = progress(context);
  const [ran, ranOf] = elapsed(context);
  const asks = state.approvals.length;
  // The most important numbers first, in their shortest form, even where little of the task remains.
  take(chosen, room - Math.min(left, 10), [
    ['amount', money.amount],
    ['uncertain', money.uncertain],
    ['ask', asks === 0 ? [] : [strong(`${glyphs.status.waiting} ${asks} ask`, 'warn')]],
    ['alarm', money.sign],
    ['provider', wait],
    ['done', done],
    ['counts', counts(context, 'few')],
    ['counts', counts(context, 'all')],
    ['elapsed', ran],
    ['agents', few],
  ]);
  // Then those that fit beside the task; longer forms of the same places come later.
  take(chosen, room - left, [
    ['provider', waits],
    ['limit', money.limit],
    ['done', doneWords],
    ['alarm', money.words],
    ['elapsed', ranOf],
    ['gauge', money.gauge(6)],
    ['uncertain', money.uncertainWords],
    ['gauge', money.gauge(12)],
    ['counts', counts(context, 'words')],
    ['provider', waiting],
    ['agents', many],
  ]);
  return joined(chosen);
}

/** Sets each line in its place if all of them still fit into `room`, else keeps the former one. */
function take(chosen: Map<Place, Line>, room: number, lines: readonly (readonly [Place, Line])[]): void {
  for (const [place, line] of lines) {
    const before = chosen.get(place);
    chosen.set(place, line);
    if (lineWidth(joined(chosen)) <= room || place === 'amount' || place === 'ask') continue;
    if (before === undefined) chosen.delete(place);
    else chosen.set(place, before);
  }
}

/** Columns that are kept for the place and the task, by the least width of the header. */
const ROOM_ON_LEFT = [
  [160, 44],
  [120, 28],
  [100, 20],
  [80, 16],
  [60, 8],
] as const;

const MONEY = ['amount', 'uncertain', 'limit', 'gauge', 'alarm'] as const;
const PLACES = ['provider', 'ask', 'agents', 'counts', 'done', 'elapsed', ...MONEY] as const;
type Place = (typeof PLACES)[number];

/** The lines with two columns between them; less before a limit and a gauge, which belong to the amount. */
const joined = (chosen: ReadonlyMap<Place, Line>): Line =>
  PLACES.flatMap((place): Line => {
    const line = chosen.get(place) ?? [];
    if (line.length === 0) return [];
    const isFirst = PLACES.slice(0, PLACES.indexOf(place)).every((one) => (chosen.get(one) ?? []).length === 0);
    return [span(isFirst ? '' : ' '.repeat(GAP[place] ?? 2)), ...line];
  });

const GAP: Readonly<Partial<Record<Place, number>>> = { uncertain: 0, limit: 0, gauge: 1, alarm: 1 };

/** `◔ 3`, `◔ 3, 12s`, `◔ anthropic: 3 wait, retrying in 12s`: the provider for which most agents wait; empty where none waits. */
function providerWaits({ state, glyphs, now }: Context): readonly [Line, Line, Line] {
  const held = [...state.agents.values()].filter(isHeld);
  const providers = Map.groupBy(held, ({ pause, model }) => (pause?.model ?? model.used).split('/')[0] ?? '');
  const [first] = [...providers].sort(([, a], [, b]) => b.length - a.length);
  if (first === undefined) return [[], [], []];
  const [provider, agents] = first;
  const lefts = agents.flatMap((agent) => waitOf(agent, now)?.left ?? []);
  const left = lefts.length === 0 ? null : formatLeft(Math.min(...lefts));
  const others = providers.size === 1 ? '' : ` and ${plural(providers.size - 1, 'other')}`;
  const words = `${toLabel(provider)}${others}: ${held.length} wait${held.length === 1 ? 's' : ''}`;
  const line = (text: string): Line => [tint(`${glyphs.held} ${text}`, HELD_INK)];
  return [
    line(String(held.length)),
    line(`${held.length}${left === null ? '' : `, ${left}`}`),
    line(`${words}${left === null ? '' : `, retrying in ${left}`}`),
  ];
}

/** `84/100 agents`, the number that policy allows in a run, from 80 % of it on. */
function agentCount(state: RunState): readonly [short: Line, long: Line] {
  const { all } = countsOf(state);
  const most = state.choices?.limits.maxAgents;
  if (most === undefined || all < 0.8 * most) return [[], []];
  return [[strong(`${all}/${most}`, 'warn')], [strong(`${all}/${most} agents`, 'warn')]];
}

/** `● 4 ○ 36`, in words where there is room, without counts of 0. The agents that are done have a number of their own. */
function counts({ state, glyphs }: Context, many: 'few' | 'all' | 'words'): Line {
  const all = countsOf(state);
  const queued = ` queued (${parallelOf(state)} at once)`;
  const words: Readonly<Partial<Record<ShownStatus, string>>> = many === 'words' ? { running: ' running', queued } : {};
  const places = (many === 'few' ? FEW : ORDER).filter((status) => all[status] > 0);
  return places.flatMap(
    (status, at): Line => [
      span(at === 0 ? '' : ' '),
      shownSign(status, glyphs),
      tint(` ${all[status]}${words[status] ?? ''}`, 'fg'),
    ],
  );
}

const FEW: readonly ShownStatus[] = ['interrupted', 'running', 'queued', 'failed'];
const ORDER: readonly ShownStatus[] = ['interrupted', 'running', 'waiting', 'queued', 'failed'];

/** `✓ 3/6`, `3 of 6 done`; empty while there are no tasks. */
function progress({ state, glyphs }: Context): readonly [short: Line, long: Line] {
  const { done, all } = progressOf(state);
  if (all === 0) return [[], []];
  const room = String(all).length;
  const text = String(done).padStart(room);
  return [
    [shownSign('completed', glyphs), tint(` ${done}/${all}`.padEnd(2 * room + 2), 'fg')],
    [tint(`${text} of ${all} done`, 'fg')],
  ];
}

/** `3m 11s`, and where there is room `3m 11s / ~7m`: the time of the run and the estimate of its plan. */
function elapsed({ state, now }: Context): readonly [short: Line, long: Line] {
  const ran = tint(formatDuration(runTime(state, now)).padStart(7), 'fg');
  const { plan, choices } = state;
  if (plan === null || state.approvedDigest === null) return [[ran], [ran]];
  const { seconds } = totalsOf(expectedPlan(plan, choices), parallelOf(state));
  return [[ran], [ran, tint(' / ', 'faint'), tint(`~${formatRoughly(seconds * 1000)}`, 'muted')]];
}

/** `$0.38 of $2.00 ▰▰▱▱▱▱`; tokens where the models are free. `uncertain`: the cost of calls that a crash cut off, empty where every call
 * ended. `sign` and `words`: how near the limit is, since colour alone must not tell it. */
function spend(context: Context) {
  const { state, glyphs } = context;
  const { cost, tokens, priced, estimated, uncertain } = runSpending(state);
  const cap = state.budget.maxCost;
  const share = runShare(state) ?? NO_SHARE;
  const free = cost === 0 && tokens > 0;
  const about = aboutSign({ estimated }, context);
  const amount = free ? `${about}${formatTokens(tokens)} tok` : `${about}${formatCost(cost)}${priced ? '' : '+?'}`;
  // As wide as the limit, so that a growing amount moves nothing.
  const room = Math.max(7, formatCost(Math.max(cap ?? 0, cost)).length);
  const alarm = (text: string): Line => (share.spent < 0.8 ? [] : [strong(text, inkOfShare(share.spent))]);
  return {
    amount: [strong(amount.padStart(room), 'title')],
    limit: cap === undefined || free ? [] : [tint(' of ', 'faint'), tint(formatLimit(cap), 'muted')],
    uncertain: uncertain === null ? [] : [tint(` +${amountText(uncertain.cost, uncertain.tokens)}?`, 'warn')],
    uncertainWords: uncertainText(uncertain).map((text) => tint(` + ${text}`, 'warn')),
    sign: alarm(`${formatShare(share.spent)}!`),
    words: alarm(share.spent >= 1 ? 'cap reached' : `${formatShare(share.spent)} used`),
    gauge: (cells: number): Line => (share === NO_SHARE ? [] : gauge(share, cells, glyphs)),
  };
}

const NO_SHARE: LimitShare = { spent: 0, reserved: 0 };

/** The title of the window: `mimir ? 2 ● 4 run $0.38` with open questions, running agents and cost; `mimir` without a run. */
export function windowTitle({ state, glyphs }: Context): string {
  if (state.session === null) return 'mimir';
  const cost = formatCost(runSpending(state).cost);
  const asks = state.approvals.length === 0 ? '' : `? ${state.approvals.length} `;
  if (state.finished) {
    const sign = glyphs.status[state.finished.status === 'completed' ? 'completed' : 'failed'];
    return `mimir ${sign} ${state.finished.status} ${cost}`;
  }
  const { running: working } = countsOf(state);
  return `mimir ${asks}${working > 0 ? `${glyphs.status.running} ${working} run` : state.phase} ${cost}`;
}
