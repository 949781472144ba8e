/** The planning screen: time, waits, what the planner writes and thinks; and the lines above a plan after planning failed. */
import type { Line, PlanSoFar, Wait } from '../../../../app/views/index.ts';
import { clip, plural, fit, fitText, formatDuration, modelName, planSoFar } from '../../../../app/views/index.ts';
import { runTime, span, toLabel, waitOf, wrap, wrapText, writingWords } from '../../../../app/views/index.ts';
import { ROOT } from '../../../../domain/ids.ts';
import { type AgentState, firstSummary, type RunState } from '../../../../events/index.ts';
import { keyLabel } from '../../frame/keymap.ts';
import type { Context } from '../../frame/screen.ts';
import { box, inside, sized, strong, tint } from '../../text/blocks.ts';
import type { Glyphs } from '../../text/glyphs.ts';
import { HELD_INK } from '../header.ts';

/** Exactly `height` lines of exactly `width` columns. */
export function planWaiting(context: Context, width: number, height: number): readonly Line[] {
  const { state, glyphs, now } = context;
  // Before the first event the state of the run is unknown: it may be an old run.
  if (state.session === null) return sized([[], reaching(context)], width, height);
  const room = inside({ width, height });
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
    title: [strong('Planning ', 'title'), tint(elapsed, 'muted'), tint(width < 60 ? '' : modelWords(main), 'faint')],
    titleEnd: wait === null ? doing(context, width) : [strong(`${glyphs.held} waiting`, HELD_INK)],
    body: [...sized(bodyLines(context, room.width, rows), room.width, rows), ...foot],
  });
}

const reaching = ({ elsewhere, glyphs }: Context): Line => [
  tint(` ${elsewhere === undefined ? 'Opening the run' : 'Connecting to the run'} ${glyphs.ellipsis}`, 'muted'),
];

const modelWords = (main: AgentState | undefined): string =>
  main === undefined ? '' : `  by ${toLabel(modelName(main.model.used))}`;

function doing({ live, reasoning }: Context, width: number): Line {
  const plan = planSoFar(live.get(ROOT) ?? '');
  if (plan !== null) return [tint(width < 60 ? countWords(plan) : writingWords(plan), 'muted')];
  const thinks = (reasoning?.get(ROOT) ?? '').trim() !== '';
  return [tint(thinks ? 'thinking' : 'drafting the plan', 'muted')];
}

const countWords = ({ tasks }: PlanSoFar): string =>
  tasks.length === 0 ? 'writing' : `${plural(tasks.length, 'task')} so far`;

/** The tasks written so far, else the text or thoughts of the planner below a skeleton. */
function bodyLines(context: Context, width: number, height: number): readonly Line[] {
  const text = (context.live.get(ROOT) ?? '').trimEnd();
  const plan = planSoFar(text);
  if (plan !== null) return taskLines(plan, context, width, height);
  const thoughts = text === '' ? thoughtLines(context, width) : [];
  const words = text === '' ? thoughts : wrapText(text, Math.max(1, width), { fg: 'muted' });
  const skeleton = skeletonLines(context, width, words.length === 0 ? height : Math.min(8, height >> 1));
  const free = Math.max(1, height - skeleton.length);
  // The heading stays in place while the thoughts scroll.
  const head = thoughts.slice(0, free > 1 && thoughts.length > free ? 1 : 0);
  return [...skeleton, ...head, ...words.slice(head.length - free)].map((line) => clip(line, width));
}

function thoughtLines(context: Context, width: number): readonly Line[] {
  const text = (context.reasoning?.get(ROOT) ?? '').trim();
  if (text === '') return [];
  const rate = Math.round(context.activity?.(ROOT).rate ?? 0);
  return [
    [strong(`thinking ${context.glyphs.ellipsis}`, 'muted'), tint(rate > 0 ? `  ${rate} tok/s` : '', 'faint')],
    ...wrapText(text, Math.max(1, width), { fg: 'faint', italic: true }),
  ];
}

const ROLE = 13;

/** One row per task, the one being written last; the earliest are left out first. */
function taskLines(plan: PlanSoFar, context: Context, width: number, height: number): readonly Line[] {
  const { glyphs, now } = context;
  const numbers = String(plan.tasks.length).length;
  const rows = plan.tasks.map(({ role, description, whole }, index): Line => {
    const beat = context.look?.still === true || Math.floor(now / 500) % 2 === 0;
    const sign = whole ? tint(glyphs.node, 'focus') : tint(glyphs.node, beat ? 'focus' : 'border');
    const text = description.split('\n')[0] ?? '';
    const name = width < 50 ? toLabel(role) : fitText(toLabel(role), ROLE);
    const line: Line = [
      span(' '),
      sign,
      tint(` ${String(index + 1).padStart(numbers)} `, 'faint'),
      strong(`${name} `, `role:${role}`),
      tint(toLabel(text), whole ? 'fg' : 'faint'),
      ...(whole ? [] : [tint(` ${glyphs.ellipsis}`, 'faint')]),
    ];
    return clip(line, width);
  });
  const reason = wrapText([plan.said, plan.reason].filter((one) => one !== '').join('\n\n'), Math.max(1, width), {
    fg: 'muted',
  });
  const above = reason.length === 0 || height < 6 ? [] : [...reason.slice(0, Math.max(1, height >> 2)), []];
  const free = Math.max(0, height - above.length);
  if (rows.length === 0) return [...above, ...skeletonLines(context, width, Math.min(9, free))];
  if (rows.length <= free) return [...above, ...rows];
  const hidden = rows.length - free + 1;
  return [...above, [tint(`   ${glyphs.ellipsis} ${hidden} more above`, 'faint')], ...rows.slice(hidden)];
}

/** The remaining time of a wait, and earlier errors. */
function footLines({ state, glyphs }: Context, wait: Wait | null, width: number, height: number): readonly Line[] {
  const sign = strong(`${glyphs.held} `, HELD_INK);
  const held =
    wait === null
      ? []
      : wrap([sign, tint(wait.text, HELD_INK)], Math.max(1, width), 2).slice(0, Math.max(1, height >> 1));
  // Announcements of retries are left out, since the current wait is shown.
  const trouble = state.log.filter(({ level, retry }) => level !== 'info' && retry === undefined);
  const lines = (height > 6 ? trouble.slice(-3) : []).map(({ text, level }) =>
    clip([tint(`${glyphs.bullet} ${text.split('\n')[0] ?? ''}`, level === 'error' ? 'err' : 'warn')], width),
  );
  return [...lines, ...held];
}

function skeletonLines({ now, glyphs, look }: Context, width: number, height: number): readonly Line[] {
  const { spent: full, reserved: empty } = glyphs.gauge;
  const rows = Math.min(4, Math.floor((height - 1) / 2));
  // Reduced motion: the same skeleton without animation.
  const beat = look?.still === true ? -1 : Math.floor(now / 500) % Math.max(1, rows);
  return Array.from({ length: Math.max(0, rows) }, (_, row): readonly Line[] => {
    const bright = row === beat;
    const ink = bright ? 'muted' : 'border';
    const length = Math.max(1, Math.min(width - 8, [26, 34, 22, 30][row] ?? 20));
    return [
      [
        tint(` ${glyphs.node} `, bright ? 'focus' : 'border'),
        tint((bright ? full : empty).repeat(Math.min(10, length)), ink),
      ],
      [span('   '), tint(empty.repeat(length), 'border')],
    ];
  })
    .flat()
    .concat(rows > 0 ? [[]] : []);
}

// The lines above a plan that waits for the person.

/** Why planning failed with the keys, and what the checks said that were tried, in lines of exactly `width` columns. */
export function linesAbove(state: RunState, width: number, height: number, glyphs: Glyphs): readonly Line[] {
  if (state.phase !== 'approving' || height < 6) return [];
  const first = firstSummary(state);
  const words: Line = [strong(first?.fails === true ? ' ! ' : ' ', 'warn'), tint(toLabel(first?.text ?? ''), 'fg')];
  const line = first === null ? [] : [fit(words, width)];
  return [...faultLines(state, width, height, glyphs), ...line];
}

function faultLines(state: RunState, width: number, height: number, glyphs: Glyphs): readonly Line[] {
  if (state.planFault === '') return [];
  const most = height >= 20 ? 3 : 1;
  const words: Line = [
    strong(` ${glyphs.status.failed} `, 'err'),
    strong(width < 60 ? '' : "Couldn't plan: ", 'err'),
    tint(toLabel(state.planFault), 'fg'),
  ];
  const wrapped = most === 1 ? [clip(words, width)] : wrap(words, Math.max(1, width - 1), 2);
  const kept = wrapped.slice(0, most);
  const last = kept.at(-1) ?? [];
  const shown = wrapped.length > most ? [...kept.slice(0, -1), [...last, span(glyphs.ellipsis)]] : kept;
  return [...shown, keysLine(width, glyphs)].map((line) => fit(line, width));
}

function keysLine(width: number, glyphs: Glyphs): Line {
  const key = (name: string, words: string): Line => [strong(`   ${name}`, 'focus'), tint(` ${words}`, 'muted')];
  return [
    ...key(keyLabel('ctrl-r', glyphs), 'retry'),
    ...key('m', width < 60 ? 'edit' : 'plan manually'),
    ...(width < 60 ? [] : key('a', 'add task')),
    ...key('Y', width < 60 ? 'run' : 'run as is'),
  ];
}
