/**
 * What is seen while a plan is being made: how long it takes, a wait for the provider, what the planner thinks and says, and
 * the tasks as they are written. Until there are any, the shape of what will come.
 */
import { ROOT } from '../../../../domain/ids.ts';
import type { AgentState, LogLine } from '../../../../events/state.ts';
import { runTime } from '../../../../app/views/run-time.ts';
import { modelName } from '../../../../app/views/agents/agent-lines.ts';
import { counted, formatDuration } from '../../../../app/views/text/format.ts';
import type { Context } from '../../frame/screen.ts';
import { clip, fitText, lineWidth, span } from '../../../../app/views/text/clip.ts';
import { box, inside } from '../../text/box.ts';
import { sized } from '../../text/compose.ts';
import type { Line } from '../../../../app/views/text/line.ts';
import { toLabel } from '../../../../app/views/text/sanitise.ts';
import { wrap, wrapText } from '../../../../app/views/text/wrap.ts';
import { waitOf, type Wait } from '../../../../app/views/agents/wait-reason.ts';
import { HELD_INK } from '../header.ts';
import { type PlanSoFar, planSoFar, writingWords } from '../../../../app/views/plan/plan-words.ts';

/** Exactly `height` lines of exactly `width` columns. */
export function planWaiting(context: Context, width: number, height: number): readonly Line[] {
  const { state, glyphs, now } = context;
  // Before its first event nobody knows where the run is: it may have been at work for hours.
  if (state.session === null) return sized([[], reaching(context)], width, height);
  const room = inside(width, height);
  const main = state.agents.get(ROOT);
  const wait = main === undefined ? null : waitOf(main, now);
  const elapsed = formatDuration(runTime(state, now));
  const foot = footLines(context, wait, room.width, room.height);
  const rows = room.height - foot.length;
  return box({
    width,
    height,
    glyphs,
    border: 'heavy',
    style: { fg: 'focus' },
    kind: 'pane',
    title: [
      span('Planning ', { fg: 'title', bold: true }),
      span(elapsed, { fg: 'muted' }),
      span(width < 60 ? '' : modelWords(main), { fg: 'faint' }),
    ],
    titleEnd: wait === null ? doing(context, width) : [span(`${glyphs.held} waiting`, { fg: HELD_INK, bold: true })],
    body: [...sized(bodyLines(context, room.width, rows), room.width, rows), ...foot],
  });
}

const reaching = ({ elsewhere, glyphs }: Context): Line => [
  span(` ${elsewhere === undefined ? 'Opening the run' : 'Reaching the run'} ${glyphs.ellipsis}`, { fg: 'muted' }),
];

const modelWords = (main: AgentState | undefined): string =>
  main === undefined ? '' : `  by ${toLabel(modelName(main.model.used))}`;

function doing({ live, reasoning }: Context, width: number): Line {
  const plan = planSoFar(live.get(ROOT) ?? '');
  if (plan !== null) return [span(width < 60 ? countWords(plan) : writingWords(plan), { fg: 'muted' })];
  const thinks = (reasoning?.get(ROOT) ?? '').trim() !== '';
  return [span(thinks ? 'thinking' : 'splitting the task into agents', { fg: 'muted' })];
}

const countWords = ({ tasks }: PlanSoFar): string =>
  tasks.length === 0 ? 'writing' : `${counted(tasks.length, 'task')} so far`;

/** The plan as far as it is written, else what the planner says or thinks below the shape of what will come. */
function bodyLines(context: Context, width: number, height: number): readonly Line[] {
  const text = (context.live.get(ROOT) ?? '').trimEnd();
  const plan = planSoFar(text);
  if (plan !== null) return taskLines(plan, context, width, height);
  const thoughts = text === '' ? thoughtLines(context, width) : [];
  const words = text === '' ? thoughts : wrapText(text, Math.max(1, width), { fg: 'muted' });
  const skeleton = skeletonLines(context, width, words.length === 0 ? height : Math.min(8, height >> 1));
  const free = Math.max(1, height - skeleton.length);
  // The heading stays where the thoughts go by.
  const head = thoughts.slice(0, free > 1 && thoughts.length > free ? 1 : 0);
  return [...skeleton, ...head, ...words.slice(head.length - free)].map((line) =>
    clip(line, width, context.glyphs.ellipsis),
  );
}

function thoughtLines(context: Context, width: number): readonly Line[] {
  const text = (context.reasoning?.get(ROOT) ?? '').trim();
  if (text === '') return [];
  const rate = Math.round(context.activity?.(ROOT).rate ?? 0);
  return [
    [
      span(`thinking ${context.glyphs.ellipsis}`, { fg: 'muted', bold: true }),
      span(rate > 0 ? `  ${rate} tok/s` : '', { fg: 'faint' }),
    ],
    ...wrapText(text, Math.max(1, width), { fg: 'faint', italic: true }),
  ];
}

const ROLE = 13;

/** One task a row as its description is finished; the one at hand last, the earliest give way. */
function taskLines(plan: PlanSoFar, context: Context, width: number, height: number): readonly Line[] {
  const { glyphs, now } = context;
  const numbers = String(plan.tasks.length).length;
  const rows = plan.tasks.map(({ role, description, whole }, index): Line => {
    const beat = context.look?.still === true || Math.floor(now / 500) % 2 === 0;
    const sign = whole ? span(glyphs.node, { fg: 'focus' }) : span(glyphs.node, { fg: beat ? 'focus' : 'border' });
    const text = description.split('\n')[0] ?? '';
    const name = width < 50 ? toLabel(role) : fitText(toLabel(role), ROLE);
    const line: Line = [
      span(' '),
      sign,
      span(` ${String(index + 1).padStart(numbers)} `, { fg: 'faint' }),
      span(`${name} `, { fg: `role:${role}`, bold: true }),
      span(toLabel(text), { fg: whole ? 'fg' : 'faint' }),
      ...(whole ? [] : [span(` ${glyphs.ellipsis}`, { fg: 'faint' })]),
    ];
    return clip(line, width, glyphs.ellipsis);
  });
  const reason = wrapText([plan.said, plan.reason].filter((one) => one !== '').join('\n\n'), Math.max(1, width), {
    fg: 'muted',
  });
  const above = reason.length === 0 || height < 6 ? [] : [...reason.slice(0, Math.max(1, height >> 2)), []];
  const free = Math.max(0, height - above.length);
  if (rows.length === 0) return [...above, ...skeletonLines(context, width, Math.min(9, free))];
  if (rows.length <= free) return [...above, ...rows];
  const hidden = rows.length - free + 1;
  return [...above, [span(`   ${glyphs.ellipsis} ${hidden} more above`, { fg: 'faint' })], ...rows.slice(hidden)];
}

/** A wait as it runs down, and what went wrong before. */
function footLines({ state, glyphs }: Context, wait: Wait | null, width: number, height: number): readonly Line[] {
  const sign = span(`${glyphs.held} `, { fg: HELD_INK, bold: true });
  const held =
    wait === null
      ? []
      : wrap([sign, span(wait.text, { fg: HELD_INK })], Math.max(1, width), 2).slice(0, Math.max(1, height >> 1));
  // How long a wait was to be is of no use beside one that runs, nor when it is over.
  const trouble = counts(state.log.filter(({ level, text }) => level !== 'info' && !text.includes('next try in')));
  const lines = (height > 6 ? trouble.slice(-3) : []).map(({ text, level, times }): Line => {
    const words = span(`${glyphs.bullet} ${text}`, { fg: level === 'error' ? 'err' : 'warn' });
    const often = span(times === 1 ? '' : `  ${times} times`, { fg: 'muted' });
    const room = Math.max(0, width - lineWidth([often]));
    return [...clip([words], room, glyphs.ellipsis), often];
  });
  return [...lines, ...held];
}

interface Trouble {
  readonly text: string;
  readonly level: LogLine['level'];
  readonly times: number;
}

/** The first line of each, and how often it came one after the other. */
function counts(log: readonly LogLine[]): readonly Trouble[] {
  return log.reduce<readonly Trouble[]>((all, { text: whole, level }) => {
    const text = whole.split('\n')[0] ?? '';
    const last = all.at(-1);
    return last?.text === text
      ? [...all.slice(0, -1), { ...last, times: last.times + 1 }]
      : [...all, { text, level, times: 1 }];
  }, []);
}

/** Rows that breathe with the clock, where the tasks will stand. */
function skeletonLines({ now, glyphs, look }: Context, width: number, height: number): readonly Line[] {
  const [full, empty] = glyphs.gauge;
  const rows = Math.min(4, Math.floor((height - 1) / 2));
  // Who wants nothing to run along sees the same shape at rest.
  const beat = look?.still === true ? -1 : Math.floor(now / 500) % Math.max(1, rows);
  return Array.from({ length: Math.max(0, rows) }, (_, row): readonly Line[] => {
    const bright = row === beat;
    const ink = bright ? 'muted' : 'border';
    const length = Math.max(1, Math.min(width - 8, [26, 34, 22, 30][row] ?? 20));
    return [
      [
        span(` ${glyphs.node} `, { fg: bright ? 'focus' : 'border' }),
        span((bright ? full : empty).repeat(Math.min(10, length)), { fg: ink }),
      ],
      [span('   '), span(empty.repeat(length), { fg: 'border' })],
    ];
  })
    .flat()
    .concat(rows > 0 ? [[]] : []);
}
