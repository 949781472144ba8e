/** What an agent is at, in a line: what it writes, runs or waits for, why it has not begun, how it ended. For cards and rows. */
import { callsInFlight } from '../../../../app/views/spending/spending.ts';
import { parallelOf, shownStatus } from '../../../../app/views/agent-counts.ts';
import { isAnswered } from '../../../../domain/agents/agent.ts';
import { ROOT, type AgentId } from '../../../../domain/ids.ts';
import { activityOf, askedFor, comesAfter, isFinal } from '../../../../events/queries.ts';
import type { AgentState, RunState } from '../../../../events/state.ts';
import { labelOf } from '../../../../app/views/agents/agent-lines.ts';
import { counted, formatDuration, formatTokens } from '../../../../app/views/text/format.ts';
import type { Context } from '../../frame/screen.ts';
import { span } from '../../../../app/views/text/clip.ts';
import type { Line } from '../../../../app/views/text/line.ts';
import { toLabel } from '../../../../app/views/text/sanitise.ts';
import { awaited, childrenBeside, isIdle, restOf, waitOf } from '../../../../app/views/agents/wait-reason.ts';
import { gateFoot, verdictFoot } from '../plan/mandatory-reviews.ts';
import { HELD_INK, STATUS_INK } from '../header.ts';
import { lastSentence } from '../../../../app/views/agents/last-sentence.ts';
import { planSoFar, planWords, writingWords } from '../../../../app/views/plan/plan-words.ts';
import { standingOf } from '../plan/status.ts';

/** What goes on now, or how it ended. */
export const doing = (agent: AgentState, context: Context): Line =>
  standing(agent, context) ?? [
    span(`${context.glyphs.activity} `, { fg: STATUS_INK[agent.status] }),
    ...working(agent, context),
  ];

/** The same without the sign that something goes on, where a column says what it is. */
export const bareDoing = (agent: AgentState, context: Context): Line =>
  standing(agent, context) ?? working(agent, context);

/** What it stands at: a verdict, its end, a wait. Null while it works. */
const standing = (agent: AgentState, context: Context): Line | null =>
  gateFoot(agent, context) ??
  verdictFoot(agent, context) ??
  ending(agent) ??
  beginning(agent, context) ??
  question(agent, context) ??
  resting(agent, context) ??
  held(agent, context);

const working = (agent: AgentState, context: Context): Line => [span(now(agent, context), { fg: 'muted' })];

/** How it ended, or that it was interrupted; null while it goes on. */
function ending(agent: AgentState): Line | null {
  if (agent.status === 'failed') return [span(`! ${oneLine(agent.error ?? agent.reason)}`, { fg: 'err', bold: true })];
  if (agent.status === 'interrupted')
    return [span(`! ${oneLine(`${endOf(agent)}${workWords(agent)}`)}`, { fg: 'warn' })];
  if (agent.status !== 'completed') return null;
  return [span(oneLine(agent.summary) || 'completed', { fg: 'muted' })];
}

/** Why it has not begun; null when it has. */
function beginning(agent: AgentState, context: Context): Line | null {
  if (agent.outcome !== null || shownStatus(agent) !== 'queued') return null;
  if (agent.status === 'initializing') return [span(queuedWords(context.state), { fg: 'faint' })];
  const stuck = stuckWords(agent, context);
  return stuck === null
    ? [span(pendingText(agent, context), { fg: 'faint' })]
    : [span(`! ${toLabel(stuck)}`, { fg: 'err' })];
}

/** `queued: 4 agents run at once` */
const queuedWords = (state: RunState): string => {
  const most = parallelOf(state);
  return `queued: ${counted(most, 'agent')} ${most === 1 ? 'runs' : 'run'} at once`;
};

/** `◌ asks you (12s): npm test`, how long it waits for the person included. */
function question({ id }: AgentState, { state, glyphs, now: at }: Context): Line | null {
  const asked = state.approvals.find((approval) => approval.agent === id);
  if (asked === undefined) return null;
  const since = formatDuration(at - asked.askedAt);
  return [
    span(`${glyphs.status.waiting} asks you (${since}): `, { fg: 'warn', bold: true }),
    span(oneLine(askedFor(asked.request)), { fg: 'fg' }),
  ];
}

/** `◌ idle: write to it, or spawn a child`, `◌ waits for its children (2)` */
function resting(agent: AgentState, { state, glyphs }: Context): Line | null {
  const words = restOf(agent, state);
  if (words === null) return null;
  const next =
    isIdle(agent) && childrenBeside(state, agent.id).length === 0 && state.finished === null
      ? ': write to it, or spawn a child'
      : '';
  return [span(`${glyphs.status.waiting} `, { fg: 'info', bold: true }), span(`${words}${next}`, { fg: 'info' })];
}

/** `◔ next try in 12s (2 of 5): anthropic is …` */
function held(agent: AgentState, { glyphs, now: at }: Context): Line | null {
  const wait = waitOf(agent, at);
  if (wait === null) return null;
  return [span(`${glyphs.held} `, { fg: HELD_INK, bold: true }), span(wait.short, { fg: HELD_INK })];
}

/** What an agent does right now: a tool that runs, else what streams, else what the log has. */
function now(agent: AgentState, context: Context): string {
  return (
    waitsForAgents(agent, context) ||
    tool(agent) ||
    writing(agent, context) ||
    streaming(agent, context) ||
    thinking(agent, context) ||
    lastWords(agent)
  );
}

/** `thinking, 42 tok/s`: what it thinks is for the opened agent, a card has no room for it. */
function thinking({ id }: AgentState, context: Context): string {
  if ((context.reasoning?.get(id) ?? '').trim() === '') return '';
  const rate = Math.round(context.activity?.(id).rate ?? 0);
  return rate === 0 ? 'thinking' : `thinking, ${rate} tok/s`;
}

function waitsForAgents(agent: AgentState, context: Context): string {
  const working = callsInFlight(agent).length === 0 ? awaited(agent, context.state) : 0;
  return working === 0 ? '' : `waiting for ${counted(working, 'agent')}`;
}

function tool(agent: AgentState): string {
  const block = agent.blocks.at(-1);
  return block?.is === 'tool' && block.ok === null ? oneLine(block.label) : '';
}

/** What was said last; of a plan, which is JSON, what it comes to. A tool that is done is not what it is at while a model is asked. */
function lastWords(agent: AgentState): string {
  if (callsInFlight(agent).length > 0 && agent.blocks.at(-1)?.is === 'tool') return 'thinking';
  const last = agent.blocks.findLast(({ is }) => is !== 'told');
  const plan = agent.id === ROOT && last?.is === 'said' ? planWords(last.text) : null;
  return oneLine(plan ?? activityOf(agent)) || (WORDLESS[agent.status] ?? 'thinking');
}

/** `writing a call of write_file, 3.2k characters`: long arguments take a while, and nothing else is told of them. */
export function writing({ id }: AgentState, { calls }: Context): string {
  const call = calls?.get(id);
  if (call === undefined) return '';
  const many = call.size < 200 ? '' : `, ${formatTokens(call.size)} characters`;
  return `writing a call${call.tool === '' ? '' : ` of ${call.tool}`}${many}`;
}

/** The last whole sentence of what streams; of a plan, which is JSON, how far it is. */
function streaming({ id }: AgentState, { live }: Context): string {
  const text = live.get(id) ?? '';
  const plan = id === ROOT ? planSoFar(text) : null;
  if (plan !== null) return writingWords(plan);
  return oneLine(lastSentence(text)) || (text.trim() === '' ? '' : 'writing');
}

const WORDLESS: Readonly<Partial<Record<AgentState['status'], string>>> = {
  waiting: 'waiting',
};

/** `: Three files in src`: what one had said at its end that was killed after that. */
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

/** What keeps it from ever beginning by itself: a need that was left out, or did not complete. Null where nothing does. */
function stuckWords({ id, taskId }: AgentState, { state, glyphs, now: at }: Context): string | null {
  const task = taskId === null ? undefined : state.plan?.tasks.find((one) => one.id === taskId);
  if (task === undefined || state.plan === null || state.agents.get(id)?.outcome !== null) return null;
  const stands = standingOf(state, state.plan, task, glyphs, at);
  return stands?.stuck === true ? stands.words : null;
}

/** `waits for #1 finder, #2 oracle`, or why it can't start. */
export function pendingText(agent: AgentState, { state }: Context): string {
  const outcomes = agent.dependsOn.map((id) => ({ id, outcome: state.agents.get(id)?.outcome ?? null }));
  const needs = outcomes.flatMap(({ id, outcome }) => (outcome === null || !isAnswered(outcome) ? [id] : []));
  const partial = outcomes.flatMap(({ id, outcome }) => (outcome === 'partial' ? [toLabel(labelOf(state, id))] : []));
  // A need that was tried again blocks nothing any more, whatever the reason was.
  const tried = agent.waitingFor?.is === 'task' && !needs.some((id) => isOver(state, id));
  if (agent.reason !== '' && !tried) return oneLine(agent.reason);
  const before = comesAfter(state, agent).filter(({ id }) => !isOver(state, id));
  const all = [
    ...needs.map((id) => toLabel(labelOf(state, id))),
    ...before.map(({ id, because }) => `${toLabel(labelOf(state, id))} (${toLabel(because)})`),
  ];
  return all.length === 0
    ? `ready to start${partial.length === 0 ? '' : `, with a partial answer of ${partial.join(', ')}`}`
    : `waits for ${all.join(', ')}`;
}

const isOver = (state: RunState, id: AgentId): boolean => {
  const agent = state.agents.get(id);
  return agent === undefined || isFinal(agent);
};

/** The first line that says something, a heading or an aside only where nothing else does; without the signs of Markdown. */
export function oneLine(text: string): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const first = lines.find((line) => !/^(?:#{1,6}\s|_.*_$)/.test(line)) ?? lines[0] ?? '';
  return toLabel(first)
    .trim()
    .replace(/^(?:#{1,6}|[-*])\s+/, '')
    .replace(/\*\*|`/g, '');
}
