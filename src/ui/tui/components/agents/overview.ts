/** The overview of a run: progress and cost, stages, findings, changed files, and the last events. */
import type { Line } from '../../../../app/views/index.ts';
import { agentTime, countWords, formatDuration, formatLimit, inOrder, lineWidth } from '../../../../app/views/index.ts';
import { neverRan, progressOf, runShare, runSpending, spread, toLabel } from '../../../../app/views/index.ts';
import { fileRows, touchedFiles } from '../../../../app/views/index.ts';
import { ROOT } from '../../../../domain/ids.ts';
import type { SoundPlan } from '../../../../domain/plan/plan.ts';
import { wavesOf } from '../../../../domain/plan/plan-view.ts';
import { type AgentState, isTakenOut } from '../../../../events/index.ts';
import type { Context } from '../../frame/screen.ts';
import { strong, tint } from '../../text/blocks.ts';
import { amountText, costText, gauge, uncertainText } from '../costs.ts';
import { shownSign } from '../header.ts';
import { fitName, nameColumn } from '../names.ts';
import { remainingOf } from '../plan/estimate.ts';
import { agentOfTask, bareDoing, statusSpan } from '../progress.ts';
import { logLineOf, logOf } from '../side.ts';
import { agentOfForced, leftWords, taskCounts } from './graph.ts';

/** About `rows` lines of at most `width` columns. `feed`: includes the last log entries, where no other pane shows them. */
export function overviewLines(context: Context, width: number, rows: number, feed: boolean): readonly Line[] {
  const { plan } = context.state;
  const head = [...gauges(context, width), ...(plan === null ? [] : [[], ...stages(plan, context, width)])];
  const parts = [
    { name: 'Findings so far', lines: findings(context, width) },
    { name: 'Changed files', lines: fileRows(touchedFiles(context.state), width) },
    {
      name: 'Just now',
      lines: feed ? logOf(context.state.log, 'info').map((one) => logLineOf(one, context, width)) : [],
    },
  ].filter(({ lines }) => lines.length > 0);
  if (parts.length === 0) return [...head, [], [tint('No agent has finished yet.', 'faint')]];
  let room = Math.max(0, rows - head.length);
  return [
    ...head,
    ...parts.flatMap(({ name, lines }, at) => {
      // Two rows are a blank and the heading; the next part gets the rows that this one leaves.
      const share = Math.max(1, Math.floor(room / (parts.length - at)) - 2);
      const shown = lines.slice(-share);
      room -= shown.length + 2;
      const cut = shown.length < lines.length && name !== 'Just now' ? ` last ${shown.length} of ${lines.length}` : '';
      return [[], [strong(name, 'muted'), tint(cut, 'faint')], ...shown];
    }),
  ];
}

const CELLS = 24;

/** Two gauges: tasks done, solid, and begun, hollow; money spent, solid, and reserved, hollow. */
function gauges(context: Context, width: number): readonly Line[] {
  const { state, glyphs } = context;
  const { plan } = state;
  const counts =
    plan === null
      ? [tint(countWords(state).join(` ${glyphs.dot} `), 'muted')]
      : taskCounts(plan, context, width - Math.min(CELLS, width - 46));
  // The gauge gives way before a count is cut.
  const cells = Math.max(6, Math.min(CELLS, width - 46, width - 1 - lineWidth(counts)));
  const { done, all } = progressOf(state);
  const begun = [...state.agents.values()].filter(
    (agent) =>
      agent.id !== ROOT && agent.outcome === null && !neverRan(agent) && (plan === null || agent.taskId !== null),
  ).length;
  const left = leftWords(remainingOf(state, context.now), state);
  const tasks: Line = [
    ...gauge({ spent: done / Math.max(1, all), reserved: begun / Math.max(1, all) }, cells, glyphs, 'ok'),
    tint(' ', 'fg'),
    ...counts,
  ];
  const time = left === '' ? [] : [tint(` ${glyphs.dot} ${left}`, 'muted')];
  const { cost, priced, reservedCost, reservedTokens, uncertain } = runSpending(state);
  const reserved = amountText(reservedCost, reservedTokens);
  const cap = state.budget.maxCost;
  const money = [
    `${costText({ cost, priced })}${cap === undefined ? '' : ` of ${formatLimit(cap)}`} spent`,
    ...(reserved === '' ? [] : [`${reserved} reserved`]),
    ...uncertainText(uncertain),
  ].join(` ${glyphs.dot} `);
  return [
    lineWidth([...tasks, ...time]) <= width ? [...tasks, ...time] : tasks,
    [...gauge(runShare(state) ?? { spent: 0, reserved: 0 }, cells, glyphs), tint(` ${money}`, 'fg')],
  ];
}

/** `✓ finder  ✓ librarian → ● oracle → ○ tester → ▣ security`; only the signs where the plan has many tasks. */
function stages(plan: SoundPlan, context: Context, width: number): readonly Line[] {
  const { state, glyphs } = context;
  const part = (agent: AgentState | null, name: string, role: string): Line => [
    agent === null ? shownSign('queued', glyphs) : statusSpan(agent, context),
    ...(name === '' ? [] : [tint(` ${toLabel(name)}`, `role:${role}`)]),
  ];
  const waves = wavesOf(plan).map((wave) =>
    wave.map(({ id, role }) => {
      const agent = agentOfTask(state, id);
      return part(agent, plan.tasks.length <= NAMED ? (agent?.name ?? role) : '', role);
    }),
  );
  const reviews = (plan.forced ?? []).map((node) =>
    part(agentOfForced(node, state), `${glyphs.lock} ${node.role}`, node.role),
  );
  const gap = plan.tasks.length <= NAMED ? '  ' : '';
  const all = [...waves, reviews].flatMap((wave, stage) =>
    wave.map((item, at): Line => [tint(at > 0 ? gap : stage > 0 ? ` ${glyphs.arrow} ` : '', 'faint'), ...item]),
  );
  return flow(all, width).slice(0, MOST_STAGES);
}

/** The parts in rows, none of them broken. */
const flow = (parts: readonly Line[], width: number): readonly Line[] =>
  parts.reduce<readonly Line[]>((rows, part) => {
    const joined = [...(rows.at(-1) ?? []), ...part];
    return rows.length > 0 && lineWidth(joined) <= width ? [...rows.slice(0, -1), joined] : [...rows, part];
  }, []);

/** Most tasks whose names the stages show. */
const NAMED = 12;
const MOST_STAGES = 4;

/** `✓ finder   22 places in 6 files   $0.05   11s`: the result of each finished agent, in the order of their ends. */
function findings(context: Context, width: number): readonly Line[] {
  const name = nameColumn(context.state, 8, Math.floor(width / 4));
  return inOrder(context.state)
    .filter((agent) => agent.id !== ROOT && agent.outcome !== null && !neverRan(agent) && !isTakenOut(agent))
    .toSorted((a, b) => a.lastAt - b.lastAt)
    .map((agent) => {
      const who = tint(` ${fitName(agent.name, name)} `, `role:${agent.role}`);
      return spread([statusSpan(agent, context), who, ...bareDoing(agent, context)], figures(agent, context), width);
    });
}

const figures = (agent: AgentState, { state, now }: Context): Line => [
  tint(`  ${costText(agent)}`, 'fg'),
  tint(formatDuration(agentTime(agent, state, now)).padStart(8), 'muted'),
];
