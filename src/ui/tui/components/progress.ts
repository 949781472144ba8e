/** The activity of an agent in one line, the result of a run in one line, and the state of each task of a running plan. */
import { agentTime, awaited, callsInFlight, spawnedChildren, plural, fit } from '../../../app/views/index.ts';
import { formatCost, formatDuration, formatTokens, type Ink, inOrder } from '../../../app/views/index.ts';
import { lastSentence, type Line, planSoFar, pendingWords, planWords, queuedWords } from '../../../app/views/index.ts';
import { restReason, shownStatus, type Span, statusWord, toLabel, waitOf } from '../../../app/views/index.ts';
import { writingWords } from '../../../app/views/index.ts';
import { type AgentOutcome, isAnswered } from '../../../domain/agents/agent.ts';
import { type Millis, ROOT, type TaskId } from '../../../domain/ids.ts';
import { memoize } from '../../../domain/memoize.ts';
import type { PlanTask, SoundPlan } from '../../../domain/plan/plan.ts';
import { type AgentState, isIdle, type RunState } from '../../../events/index.ts';
import { activityOf, askedFor, isTakenOut, verificationOf } from '../../../events/index.ts';
import type { Context } from '../frame/screen.ts';
import { strong, tint } from '../text/blocks.ts';
import type { Glyphs } from '../text/glyphs.ts';
import { checkingLine, checkMark } from './checks.ts';
import { HELD_INK, shownSign, STATUS_INK } from './header.ts';
import { gateFoot, verdictFoot } from './reviews.ts';

/** The current activity of an agent, or how it ended. */
export const doing = (agent: AgentState, context: Context): Line =>
  stateLine(agent, context) ?? [
    tint(`${context.glyphs.activity} `, STATUS_INK[agent.status]),
    ...working(agent, context),
  ];

/** The same without the sign of activity, for a column that has a heading. */
export const bareDoing = (agent: AgentState, context: Context): Line =>
  stateLine(agent, context) ?? working(agent, context);

/** A verdict, the end or a wait of an agent; null while it works. */
const stateLine = (agent: AgentState, context: Context): Line | null =>
  gateFoot(agent, context) ??
  verdictFoot(agent, context) ??
  checkingLine(agent, context) ??
  ending(agent, context) ??
  beginning(agent, context) ??
  question(agent, context) ??
  resting(agent, context) ??
  held(agent, context);

const working = (agent: AgentState, context: Context): Line => [
  ...marked(checkMark(agent, context)),
  tint(now(agent, context), 'muted'),
];

const marked = (mark: Line): Line => (mark.length === 0 ? [] : [...mark, tint('  ', 'muted')]);

function ending(agent: AgentState, context: Context): Line | null {
  if (agent.status === 'failed') return [strong(`! ${oneLine(agent.error ?? agent.reason)}`, 'err')];
  if (shownStatus(agent) === 'interrupted') return [tint(`! ${oneLine(`${endOf(agent)}${workWords(agent)}`)}`, 'warn')];
  if (agent.status !== 'completed') return null;
  return [...marked(checkMark(agent, context)), tint(oneLine(agent.summary) || 'completed', 'muted')];
}

/** Why the agent has not started; null once it has. */
function beginning(agent: AgentState, context: Context): Line | null {
  if (agent.outcome !== null || shownStatus(agent) !== 'queued') return null;
  if (agent.status === 'initializing') return [tint(queuedWords(context.state), 'faint')];
  const stuck = stuckWords(agent, context);
  return stuck === null ? [tint(pendingWords(agent, context.state), 'faint')] : [tint(`! ${toLabel(stuck)}`, 'err')];
}

/** `◌ asks you (12s): npm test`; null without an open question. */
function question({ id }: AgentState, { state, glyphs, now: at }: Context): Line | null {
  const asked = state.approvals.find((approval) => approval.agent === id);
  if (asked === undefined) return null;
  const since = formatDuration(at - asked.askedAt);
  return [
    strong(`${glyphs.status.waiting} asks you (${since}): `, 'warn'),
    tint(oneLine(askedFor(asked.request)), 'fg'),
  ];
}

/** `◌ idle: write to it or spawn a child`, `◌ waits for its children (2)`; null unless the agent rests. */
function resting(agent: AgentState, { state, glyphs }: Context): Line | null {
  const words = restReason(agent, state);
  if (words === null) return null;
  const next =
    isIdle(agent) && spawnedChildren(state, agent.id).length === 0 && state.finished === null
      ? ': write to it or spawn a child'
      : '';
  return [strong(`${glyphs.status.waiting} `, 'info'), tint(`${words}${next}`, 'info')];
}

/** `◔ retrying in 12s (2 of 5): anthropic is …`; null unless the agent waits for a provider. */
function held(agent: AgentState, { glyphs, now: at }: Context): Line | null {
  const wait = waitOf(agent, at);
  return wait === null ? null : [strong(`${glyphs.held} `, HELD_INK), tint(wait.short, HELD_INK)];
}

/** The running tool of an agent, else the text that streams, else the last message in the log. */
const now = (agent: AgentState, context: Context): string =>
  waitsForAgents(agent, context) ||
  tool(agent) ||
  writing(agent, context) ||
  streaming(agent, context) ||
  thinking(agent, context) ||
  lastWords(agent);

/** `thinking, 42 tok/s`; a row has no room for the thoughts. */
function thinking({ id }: AgentState, context: Context): string {
  if ((context.reasoning?.get(id) ?? '').trim() === '') return '';
  const rate = Math.round(context.activity?.(id).rate ?? 0);
  return rate === 0 ? 'thinking' : `thinking, ${rate} tok/s`;
}

function waitsForAgents(agent: AgentState, context: Context): string {
  const working = callsInFlight(agent).length === 0 ? awaited(agent, context.state) : 0;
  return working === 0 ? '' : `waiting for ${plural(working, 'agent')}`;
}

function tool(agent: AgentState): string {
  const block = agent.blocks.at(-1);
  return block?.is === 'tool' && block.ok === null ? oneLine(block.label) : '';
}

/** The last message, or a summary of a plan, which is JSON. Anything older than the message is over while a model is called. */
function lastWords(agent: AgentState): string {
  const last = agent.blocks.at(-1);
  if (callsInFlight(agent).length > 0 && last !== undefined && last.is !== 'said') return 'thinking';
  const plan = agent.id === ROOT && last?.is === 'said' ? planWords(last.text) : null;
  return oneLine(plan ?? activityOf(agent)) || (agent.status === 'waiting' ? 'waiting' : 'thinking');
}

/** `writing a call of write_file, 3.2k characters`, or what an agent of another program does; empty unless the arguments of a call stream. */
export function writing({ id }: AgentState, { calls }: Context): string {
  const call = calls?.get(id);
  if (call === undefined) return '';
  if (call.act !== undefined) return call.act;
  const many = call.size < 200 ? '' : `, ${formatTokens(call.size)} characters`;
  return `writing a call${call.tool === '' ? '' : ` of ${call.tool}`}${many}`;
}

/** The last whole sentence that streams; of a plan, which is JSON, its progress. */
function streaming({ id }: AgentState, { live }: Context): string {
  const text = live.get(id) ?? '';
  const plan = id === ROOT ? planSoFar(text) : null;
  if (plan !== null) return writingWords(plan);
  return oneLine(lastSentence(text)) || (text.trim() === '' ? '' : 'writing');
}

/** `: Three files in src`, the summary of an agent that was killed after its end. */
const workWords = ({ closed, summary }: AgentState): string =>
  closed === undefined || summary === '' ? '' : `: ${summary}`;

/** `killed: by the person`. */
export function endOf(agent: AgentState): string {
  const outcome = agent.outcome ?? agent.status;
  const why = agent.error ?? agent.reason;
  if (agent.closed !== undefined) return `${why || outcome} after its end`;
  if (why.startsWith(outcome)) return why;
  return why === '' ? outcome : `${outcome}: ${why}`;
}

/** The skipped or failed dependency that blocks the agent; null where none does. */
function stuckWords({ id, taskId }: AgentState, context: Context): string | null {
  const { state } = context;
  const task = taskId === null ? undefined : state.plan?.tasks.find((one) => one.id === taskId);
  if (task === undefined || state.plan === null || state.agents.get(id)?.outcome !== null) return null;
  const stands = taskStateOf(state.plan, task, context);
  return stands?.stuck === true ? stands.words : null;
}

/** The first line of a text that is neither a heading nor an aside, or the first line; without the signs of Markdown. */
export function oneLine(text: string): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const first = lines.find((line) => !/^(?:#{1,6}\s|_.*_$)/.test(line)) ?? lines[0] ?? '';
  return toLabel(first)
    .trim()
    .replace(/^(?:#{1,6}|[-*])\s+/, '')
    .replace(/\*\*|`/g, '');
}

/** `✓ Completed: all 6 agents completed`, the result of a run in exactly `width` columns. */
export function statusLine({ state, glyphs }: Context, width: number): Line {
  const { ink, sign, words } = wordsOf(state);
  const next =
    state.finished?.status === 'stopped' && state.session !== null
      ? ` ${glyphs.dot} mimir resume ${state.session} continues it`
      : '';
  return fit(
    [strong(` ${glyphs.status[sign]} ${words}`, ink), tint(agentCountText(state), 'fg'), tint(next, 'muted')],
    width,
  );
}

/** A run whose agents were killed or skipped by a person, while none failed, is not called failed. */
function wordsOf(state: RunState): {
  readonly ink: Ink;
  readonly sign: keyof Glyphs['status'];
  readonly words: string;
} {
  const status = state.finished?.status ?? 'stopped';
  if (status === 'completed') return { ink: 'ok', sign: 'completed', words: 'Completed' };
  if (status === 'rejected') return { ink: 'warn', sign: 'interrupted', words: 'The plan was not approved' };
  if (status === 'stopped') return { ink: 'warn', sign: 'interrupted', words: 'Stopped' };
  const ends = [...state.agents.values()].filter(({ parent }) => parent !== null).map(({ outcome }) => outcome);
  return ends.includes('completed') && !ends.includes('failed')
    ? { ink: 'warn', sign: 'interrupted', words: 'Partly done' }
    : { ink: 'err', sign: 'failed', words: 'Failed' };
}

/** `: 5 of 7 agents completed, 1 failed, 1 killed`. */
function agentCountText(state: RunState): string {
  const agents = inOrder(state).filter((agent) => agent.parent !== null && !isTakenOut(agent));
  if (agents.length === 0) return '';
  const count = new Map<string, number>();
  for (const agent of agents) count.set(statusWord(agent), (count.get(statusWord(agent)) ?? 0) + 1);
  const completed = count.get('completed') ?? 0;
  count.delete('completed');
  const others = [...count].map(([what, many]) => `, ${many} ${what}`).join('');
  const all = agents.length === 1 ? 'its agent' : `all ${agents.length} agents`;
  return `: ${completed === agents.length ? all : `${completed} of ${plural(agents.length, 'agent')}`} completed${others}`;
}

// The state of the tasks of a running plan: their agents, what blocks them, and which can never run.

export interface TaskState {
  readonly sign: string;
  readonly ink: Ink;
  /** `blocked by #4 oracle, which failed`; in a list, `blocked by #4`. */
  readonly words: string;
  readonly short: string;
  /** The task cannot run without a person. */
  readonly stuck: boolean;
}

type Shown = Pick<Context, 'state' | 'glyphs' | 'now'>;

/** The agent of a task; null before it is created. */
export const agentOfTask = (state: RunState, id: TaskId): AgentState | null => byTask(state).get(id) ?? null;

const byTask = memoize(
  ({ agents }: RunState) => [agents],
  ({ agents }) => new Map([...agents.values()].map((agent) => [agent.taskId, agent])),
);

/** The state of `task` in the run; null before the plan is approved. */
export function taskStateOf(plan: SoundPlan, task: PlanTask, { state, glyphs, now: at }: Shown): TaskState | null {
  if (state.approvedDigest === null || state.phase === 'approving') return null;
  const agent = agentOfTask(state, task.id);
  if (agent === null || agent.status === 'pending') return waiting(state, plan, task, glyphs);
  const isSkipped = agent.outcome === 'skipped';
  const words = isSkipped ? 'left out: it never runs' : statusWords(agent, state, at);
  const stuck = agent.status === 'failed' || isSkipped;
  const [sign, { fg: ink = 'fg' }] = shownSign(shownStatus(agent), glyphs);
  return { sign, ink, words, short: shortWords(agent, state), stuck };
}

function statusWords(agent: AgentState, state: RunState, now: Millis): string {
  const spent = agent.cost > 0 ? [formatCost(agent.cost)] : [];
  const time = agent.firstRunAt === null ? [] : [formatDuration(agentTime(agent, state, now))];
  const why = agent.status === 'failed' && agent.error !== null ? [agent.error.split('\n')[0] ?? ''] : [];
  const status = agent.status === 'initializing' ? 'queued' : agent.status;
  const verification = verificationOf(state, agent);
  const checks = verification === null || verification === 'failed' ? [] : [verification];
  return [status, ...checks, ...time, ...spent, ...why].join(', ');
}

/** Rows show the sign of a status; only problems have a word as well. */
function shortWords(agent: AgentState, state: RunState): string {
  if (agent.outcome === 'skipped') return 'never runs';
  if (agent.status === 'failed') return 'failed';
  const verification = verificationOf(state, agent);
  return verification === 'failed' ? 'checks failed' : (verification ?? '');
}

/** A task that has not started: that it can never run, what blocks it, or what it waits for. */
function waiting(state: RunState, plan: SoundPlan, task: PlanTask, glyphs: Glyphs): TaskState {
  const outcomeOf = (id: TaskId): AgentOutcome | null => agentOfTask(state, id)?.outcome ?? null;
  const number = (id: TaskId): string => `#${plan.tasks.findIndex((each) => each.id === id) + 1}`;
  const name = (id: TaskId): string =>
    `${number(id)} ${plan.tasks.find((each) => each.id === id)?.role ?? ''}`.trimEnd();
  const dead = task.dependsOn.find((id) => neverRuns(state, plan).has(id));
  if (dead !== undefined) {
    const words = `can never run: ${name(dead)} was left out`;
    return { sign: glyphs.status.failed, ink: 'err', words, short: 'never runs', stuck: true };
  }
  const bad = task.dependsOn.find((id) => !isAnswered(outcomeOf(id) ?? 'completed'));
  if (bad !== undefined) {
    const words = `blocked by ${name(bad)}, which ${HOW[outcomeOf(bad) ?? ''] ?? 'failed'}`;
    return { sign: '!', ink: 'err', words, short: `blocked by ${number(bad)}`, stuck: true };
  }
  const agent = agentOfTask(state, task.id);
  const open = task.dependsOn.filter((id) => outcomeOf(id) === null).map(name);
  const early = open.length === 0 ? queuedWords(state) : `waiting for ${open.join(', ')}`;
  const words = agent === null ? early : pendingWords(agent, state);
  return { sign: glyphs.status.pending, ink: 'faint', words, short: '', stuck: false };
}

const HOW: Readonly<Record<string, string>> = { killed: 'was killed', abandoned: 'was given up' };

/** Skipped tasks, and all that depend on one of them, in one pass, since a plan is in the order of its dependencies. */
const neverRuns = memoize(
  ({ agents }: RunState, plan: SoundPlan) => [agents, plan],
  (state, plan): ReadonlySet<TaskId> => {
    const dead = new Set<TaskId>();
    for (const { id, dependsOn } of plan.tasks) {
      const outcome = agentOfTask(state, id)?.outcome ?? null;
      if (outcome === 'skipped' || (outcome === null && dependsOn.some((need) => dead.has(need)))) dead.add(id);
    }
    return dead;
  },
);

export const statusSpan = (agent: AgentState, { glyphs }: Context): Span => shownSign(shownStatus(agent), glyphs);
