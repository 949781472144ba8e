/** The end of a run: how it went, the report, what each agent did, what it cost, and what to do next. */
import { ROOT } from '../../domain/ids.ts';
import { inOrder } from '../agents.ts';
import type { AgentState, RunState } from '../../events/state.ts';
import { formatCost, formatDuration, formatTokens } from '../format.ts';
import type { Binding, Context, Screen } from '../screen.ts';
import { scrollBar } from '../view/cards.ts';
import { costText, endOf, oneLine, statusSpan } from '../view/card.ts';
import { crumbs, runNumbers } from '../view/header.ts';
import { markdown } from '../view/markdown.ts';
import { box } from '../text/box.ts';
import { fit, fitText, span } from '../text/clip.ts';
import { beside, sized } from '../text/compose.ts';
import type { Ink, Line } from '../text/line.ts';
import { toLabel } from '../text/sanitise.ts';
import { wrap } from '../text/wrap.ts';
import type { Size } from '../term/terminal.ts';
import { elapsedOf, tokensOfAgent } from '../../events/queries.ts';

export interface ResultUi {
  readonly top: number;
}

const RESULT_KEYS: readonly Binding<ResultUi>[] = [
  {
    keys: ['up', 'down', 'k', 'j', 'pageup', 'pagedown', ' ', 'ctrl-u', 'ctrl-d', 'g', 'G', 'home', 'end'],
    action: 'result.scroll',
    hint: 'scroll',
    help: 'Scroll the report.',
    whyNot: () => null,
    run: (ui, _, key) => ({ ui: { top: Math.max(0, ui.top + (STEPS[key] ?? 0)) } }),
  },
  {
    keys: ['esc', 'enter'],
    action: 'result.cards',
    hint: 'cards',
    help: 'Back to the cards: every transcript is still there.',
    whyNot: () => null,
    run: () => ({ app: { show: 'run' } }),
  },
  {
    keys: ['p'],
    action: 'result.plan',
    hint: 'plan',
    help: 'Look at the plan again.',
    whyNot: (_, { state }) => (state.plan ? null : 'There is no plan.'),
    run: () => ({ app: { show: 'plan' } }),
  },
  {
    keys: ['n'],
    action: 'result.new',
    hint: 'new task',
    help: 'Start another task; this run stays in the list of sessions.',
    whyNot: () => null,
    run: () => ({ app: { show: 'start' } }),
  },
];

const STEPS: Readonly<Record<string, number>> = {
  up: -1,
  k: -1,
  down: 1,
  j: 1,
  pageup: -20,
  'ctrl-u': -10,
  pagedown: 20,
  ' ': 20,
  'ctrl-d': 10,
  g: Number.MIN_SAFE_INTEGER,
  home: Number.MIN_SAFE_INTEGER,
  G: Number.MAX_SAFE_INTEGER,
  end: Number.MAX_SAFE_INTEGER,
};

export const resultScreen: Screen<ResultUi> = {
  name: 'result',
  first: { top: 0 },
  keys: RESULT_KEYS,
  header: (_, context, width = 120) => ({
    left: crumbs('result', context.state.task, context.glyphs),
    right: runNumbers(context, width),
  }),
  body: (ui, context, size) => ({ lines: body(ui, context, size) }),
  settle(ui, context, size) {
    const { report, height } = plan(context, size);
    const top = Math.max(0, Math.min(ui.top, report.length - Math.max(1, height - 2)));
    return top === ui.top ? ui : { top };
  },
  position: (ui, context) => (context.state.finished && ui.top > 0 ? `line ${ui.top + 1}` : ''),
  input: (ui, _, input) => (input.is === 'wheel' ? { ui: { top: Math.max(0, ui.top + 3 * input.by) } } : null),
};

interface Parts {
  /** What scrolls. */
  readonly report: readonly Line[];
  readonly width: number;
  /** Rows of the scrolling box, borders counted in. */
  readonly height: number;
  /** Columns of the box beside it; 0 where there is one column. */
  readonly side: number;
}

function plan(context: Context, size: Size): Parts {
  const side = size.width >= 100 ? Math.min(56, Math.floor(size.width * 0.4)) : 0;
  const width = size.width - side;
  const inner = Math.max(1, width - 4);
  const report = reportLines(context, inner);
  // With one column the agents and totals stand below the report and scroll with it.
  const below =
    side > 0
      ? []
      : [
          [],
          ...titled('Agents', agentLines(context, inner)),
          [],
          ...titled('Totals', totalLines(context, inner)),
          [],
          ...nextLines(context, inner),
        ];
  return { report: [...report, ...below], width, height: Math.max(0, size.height - 2), side };
}

function body(ui: ResultUi, context: Context, size: Size): readonly Line[] {
  const { report, width, height, side } = plan(context, size);
  const rows = Math.max(0, height - 2);
  const bar = scrollBar(ui.top, report.length, rows, context.glyphs.scroll);
  const inner = Math.max(0, width - 3);
  const text = sized(report.slice(ui.top, ui.top + rows), Math.max(0, inner - 1), rows).map(
    (line, row): Line => [span(' '), ...line, span(bar[row] ?? ' ', { fg: 'muted' })],
  );
  const left = box({
    width,
    height,
    glyphs: context.glyphs,
    border: 'light',
    style: { fg: 'border' },
    title: [span('Report', { fg: 'title', bold: true })],
    footEnd:
      report.length > rows ? [span(`${Math.min(report.length, ui.top + rows)}/${report.length}`, { fg: 'muted' })] : [],
    pad: 0,
    body: text,
  });
  const main =
    side === 0 ? left : beside({ lines: left, width }, { lines: sideBoxes(context, side, height), width: side });
  return sized([statusLine(context, size.width), [], ...main], size.width, size.height);
}

const WORDS: Readonly<Record<string, readonly [ink: Ink, words: string]>> = {
  completed: ['ok', 'Completed'],
  failed: ['err', 'Failed'],
  rejected: ['warn', 'The plan was not approved'],
  stopped: ['warn', 'Stopped'],
};

/** How it went, in one line. */
function statusLine({ state, glyphs }: Context, width: number): Line {
  const status = state.finished?.status ?? 'stopped';
  const [ink, words] = WORDS[status] ?? ['warn', status];
  const sign = glyphs.status[status === 'completed' || status === 'failed' ? status : 'interrupted'];
  const next =
    status === 'stopped' && state.session !== null ? ` ${glyphs.dot} mimir resume ${state.session} goes on` : '';
  return fit(
    [
      span(` ${sign} ${words}`, { fg: ink, bold: true }),
      span(countText(state), { fg: 'fg' }),
      span(next, { fg: 'muted' }),
    ],
    width,
  );
}

/** `: 5 of 7 agents completed, 1 failed, 1 killed`. */
function countText(state: RunState): string {
  const agents = inOrder(state).filter(({ parent }) => parent !== null);
  if (agents.length === 0) return '';
  const count = new Map<string, number>();
  for (const { outcome, status } of agents) count.set(outcome ?? status, (count.get(outcome ?? status) ?? 0) + 1);
  const completed = count.get('completed') ?? 0;
  count.delete('completed');
  const others = [...count].map(([what, many]) => `, ${many} ${what}`).join('');
  return `: ${completed === agents.length ? 'all' : `${completed} of`} ${agents.length} agents completed${others}`;
}

const REPORT = new WeakMap<object, { readonly width: number; readonly lines: readonly Line[] }>();

function reportLines({ state, glyphs }: Context, width: number): readonly Line[] {
  const { finished } = state;
  if (finished === null) return [[span('The run goes on.', { fg: 'faint' })]];
  const known = REPORT.get(finished);
  if (known?.width === width) return known.lines;
  const text = finished.summary.trim() === '' ? '_There is no report: nothing was finished._' : finished.summary;
  const lines = markdown(text, width, glyphs);
  REPORT.set(finished, { width, lines });
  return lines;
}

function sideBoxes(context: Context, width: number, height: number): readonly Line[] {
  const inner = Math.max(1, width - 4);
  const pane = (title: string, body: readonly Line[], rows: number): readonly Line[] =>
    box({
      width,
      height: rows,
      glyphs: context.glyphs,
      border: 'light',
      style: { fg: 'border' },
      title: [span(title, { fg: 'muted', bold: true })],
      body,
    });
  const totals = totalLines(context, inner);
  const next = nextLines(context, inner);
  const below = totals.length + 2 + next.length + 2;
  const above = Math.max(3, height - below);
  return [
    ...pane('Agents', agentLines(context, inner, above - 2), above),
    ...pane('Totals', totals, totals.length + 2),
    ...pane('Next', next, next.length + 2),
  ];
}

const titled = (title: string, lines: readonly Line[]): readonly Line[] => [
  [span(title, { fg: 'title', bold: true })],
  ...lines,
];

/** Two lines an agent: who and what it cost, and how it ended; one where `rows` are too few for that. */
function agentLines(context: Context, width: number, rows = Number.POSITIVE_INFINITY): readonly Line[] {
  const agents = inOrder(context.state);
  if (agents.length === 0) return [[span('No agent was started.', { fg: 'faint' })]];
  const whole = agents.flatMap((agent) => [
    headOf(agent, context, width),
    ...wrap([span('  '), ...ending(agent)], width).slice(0, 2),
  ]);
  if (whole.length <= rows) return whole;
  const heads = agents.map((agent) => headOf(agent, context, width));
  if (heads.length <= rows) return heads;
  const shown = heads.slice(0, Math.max(0, rows - 1));
  return [...shown, [span(`... +${heads.length - shown.length} more, Esc shows all`, { fg: 'muted' })]];
}

function headOf(agent: AgentState, context: Context, width: number): Line {
  const numbers = `${formatDuration(elapsedOf(agent, context.now)).padStart(7)} ${costText(agent).padStart(8)} ${formatTokens(tokensOfAgent(agent)).padStart(5)}`;
  const room = Math.max(1, width - numbers.length - 2);
  return fit(
    [
      statusSpan(agent, context),
      span(` ${fitText(toLabel(agent.name), room - 1)}`, { fg: `role:${agent.role}`, bold: true }),
      span(` ${numbers}`, { fg: 'muted' }),
    ],
    width,
  );
}

function ending(agent: AgentState): Line {
  if (agent.id === ROOT && agent.outcome === 'completed')
    return [span('planned, and wrote the report', { fg: 'muted' })];
  if (agent.outcome === 'completed') return [span(oneLine(agent.summary), { fg: 'fg' })];
  return [span(toLabel(endOf(agent)), { fg: agent.outcome === 'failed' ? 'err' : 'warn' })];
}

function totalLines({ state }: Context, width: number): readonly Line[] {
  const totals = state.finished?.totals;
  if (!totals) return [];
  const row = (name: string, value: string): Line =>
    fit([span(name.padEnd(8), { fg: 'faint' }), span(value, { fg: 'fg', bold: true })], width);
  return [
    row('Time', formatDuration(totals.duration)),
    row('Cost', formatCost(totals.cost)),
    row('Tokens', formatTokens(totals.tokens)),
    row('Agents', String(totals.agents)),
  ];
}

function nextLines({ state, glyphs }: Context, width: number): readonly Line[] {
  const session = state.session ?? '';
  const row = (key: string, words: string): readonly Line[] =>
    wrap([span(key.padEnd(5), { fg: 'focus', bold: true }), span(words, { fg: 'fg' })], width, 5);
  return [
    ...row('Esc', 'the cards, with every transcript'),
    ...row('n', 'another task'),
    ...row('q', 'leave'),
    ...wrap(
      [
        span(`${glyphs.arrow}    `, { fg: 'faint' }),
        span(`mimir report ${session}`, { fg: 'info' }),
        span(' shows it again', { fg: 'muted' }),
      ],
      width,
      5,
    ),
  ];
}
