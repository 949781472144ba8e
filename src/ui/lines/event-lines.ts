/** What line mode prints about events: texts longer than a line of the log, whose table (`logLine`) has the others. */
import { sanitise, type Io } from '../../app/process/index.ts';
import { planLines, runUsageText } from '../../app/reports/index.ts';
import { agentTime, answerText, callsOf, endingText, plural, formatCost } from '../../app/views/index.ts';
import { formatDuration, formatSeconds, formatTokens, isolationText, restReason } from '../../app/views/index.ts';
import { runTime } from '../../app/views/index.ts';
import { isSpawn } from '../../domain/agents/tool-facts.ts';
import { ROOT } from '../../domain/ids.ts';
import { type AgentState, childOf, type EventOf, logLine, type MimirEvent, type RunState } from '../../events/index.ts';
import { firstSaid, tag, workAfterStart, workWords } from './agents.ts';

/** What the lines about an event are made of. */
interface Printing {
  readonly state: RunState;
  readonly paint: Io['paint'];
}

/** The lines about `event`, sanitised; none for an event that only changes a card. `state` has the event in it. */
export function linesOf(event: MimirEvent, state: RunState, { paint }: Pick<Io, 'paint'>): readonly string[] {
  const to: Printing = { state, paint };
  const agent = 'agent' in event && event.agent !== null ? state.agents.get(event.agent) : undefined;
  switch (event.type) {
    case 'session.started':
      return [
        `${paint.bold('Mimir')} session ${event.session} · ${sanitise(event.cwd)} · ${sanitise(event.provider)} · mode ${event.mode}`,
        ...event.notes.map((note) => paint.yellow(`note: ${sanitise(note)}`)),
      ];
    case 'session.mode':
      return loggedLines(event, undefined, to);
    case 'plan.proposed':
      return planLines(state, paint);
    case 'plan.approved':
      return [`Plan approved (${sanitise(event.by)}).`, ''];
    case 'plan.rejected':
      return [sanitise(event.reason)];
    case 'session.finished':
      return endLines(to);
    default:
      return agent === undefined ? [] : agentLines(event, agent, to);
  }
}

function agentLines(event: MimirEvent, agent: AgentState, to: Printing): readonly string[] {
  switch (event.type) {
    case 'agent.message': {
      const isAnswer = agent.id === ROOT && to.state.idle && event.text.trim() !== '';
      // All of it, since it answers what the person wrote.
      return isAnswer ? sanitise(`${tag(agent)} ${event.text.trim()}`).split('\n') : [];
    }
    case 'agent.created':
      return agent.spawned === null ? [] : loggedLines(event, agent, to);
    case 'agent.status':
      return statusLines(event, agent, to);
    case 'tool.started':
      return callLines(event, agent, to);
    case 'tool.finished':
      return isSpawn(event.tool) ? isolationLines(event.call, agent, to) : [];
    case 'forced.verdict': {
      const findings = event.findings.map((finding) => sanitise(`${tag(agent)}   - ${finding}`));
      return [...loggedLines(event, agent, to), ...findings];
    }
    case 'forced.gate':
      return event.due === undefined ? loggedLines(event, agent, to) : [];
    case 'model.failed':
      return failureLines(event, agent, to);
    case 'agent.finished':
      return agent.id === ROOT ? [] : [doneLine(agent, to)];
    default:
      return LOGGED.has(event.type) ? loggedLines(event, agent, to) : [];
  }
}

/** Events that are printed as the log has them. */
const LOGGED: ReadonlySet<MimirEvent['type']> = new Set([
  'agent.pinned',
  'agent.adopted',
  'budget.changed',
  'budget.warned',
  'budget.exhausted',
  'policy.decided',
  'model.retry',
  'model.fallback',
  'context.compacted',
  'check.started',
  'check.finished',
]);

function callLines(
  { tool, label }: EventOf<'tool.started'>,
  agent: AgentState,
  { paint }: Printing,
): readonly string[] {
  if (tool === 'update_todos') return [];
  return [isSpawn(tool) ? sanitise(`${tag(agent)} > ${label}`) : paint.dim(`${tag(agent)}   ${sanitise(label)}`)];
}

/** A retry or the end of the agent follows and says why; only the cost of the failed call is printed nowhere else. */
function failureLines(
  { cost = 0, cause, message }: EventOf<'model.failed'>,
  agent: AgentState,
  { paint }: Printing,
): readonly string[] {
  if (cost === 0 || cause === 'aborted') return [];
  return [paint.yellow(sanitise(`${tag(agent)} a call failed and cost ${formatCost(cost)}: ${message}`))];
}

function statusLines(event: EventOf<'agent.status'>, agent: AgentState, to: Printing): readonly string[] {
  // An agent that runs again after failed calls has been announced before.
  if (event.status === 'running' && callsOf(agent) === 0) return isAnnounced(agent) ? [] : [workWords(agent)];
  if (agent.waitingFor?.is === 'children')
    return [sanitise(`${tag(agent)} ${restReason(agent, to.state) ?? agent.reason}`)];
  // The retry says why its agent waits, and the end of the run stops all agents.
  return event.status === 'waiting' || event.endedBy?.is === 'run' ? [] : loggedLines(event, agent, to);
}

/** Was its task printed when the agent was spawned or called? Else it is when the agent starts. */
const isAnnounced = ({ id, spawned, call }: AgentState): boolean => spawned !== null || call !== null || id === ROOT;

function loggedLines(event: MimirEvent, agent: AgentState | undefined, { state, paint }: Printing): readonly string[] {
  const line = logLine(event, 0, (id) => state.agents.get(id)?.name ?? id);
  if (line === null) return [];
  const [text = ''] = line.text.split('\n');
  const words = sanitise(agent === undefined ? text : `${tag(agent)} ${text}`);
  return [line.level === 'info' ? words : line.level === 'warn' ? paint.yellow(words) : paint.red(words)];
}

/** `[finder] done (5 tools, 3.2s): …`, and of a call of Task `[type] description - done (N tools, S.Ss)`. */
function doneLine(agent: AgentState, { state, paint }: Printing): string {
  const work = agent.call === null ? workAfterStart(agent) : `${workAfterStart(agent)} -`;
  const counts = `(${plural(agent.toolCalls, 'tool')}, ${formatSeconds(agentTime(agent, state))})`;
  if (agent.outcome !== 'completed') return paint.red(`${work} ${sanitise(endingText(agent))} ${counts}`);
  // The result of a call goes to its parent, and the verdict of a review has a line of its own.
  const result = agent.call === null && agent.forced === null ? sanitise(firstSaid(agent.summary)) : '';
  return paint.green(`${work} done ${counts}${result === '' ? '' : `: ${result}`}`);
}

function endLines({ state, paint }: Printing): readonly string[] {
  const { finished } = state;
  if (finished === null || finished.status === 'rejected') return [];
  if (finished.endedBy?.is === 'hand-over') return ['The run continues in the background.'];
  const { agents, tokens, cost } = finished.totals;
  const used = [
    plural(agents, 'agent'),
    formatDuration(runTime(state)),
    `${formatTokens(tokens)} tokens`,
    formatCost(cost),
  ];
  const words = runUsageText(state);
  const colour = finished.status === 'completed' ? paint.green : paint.red;
  return [
    '',
    sanitise(answerText(state)),
    '',
    colour(`${finished.status}: ${used.join(' · ')}`),
    ...(words.tokens === '' ? [] : [paint.dim(`Tokens: ${words.tokens}`)]),
    ...(words.trouble === '' ? [] : [paint.yellow(`Problems: ${words.trouble}`)]),
    `Show the report again: mimir report ${state.session ?? ''}`,
  ];
}

/** `child used 12k tokens, parent grew by about 95 (estimated)` */
function isolationLines(
  call: Parameters<typeof childOf>[0],
  agent: AgentState,
  { state, paint }: Printing,
): readonly string[] {
  const child = childOf(call, agent, state);
  const words = child === undefined ? null : isolationText(child, state);
  return child === undefined || words === null ? [] : [paint.dim(sanitise(`${workWords(child)}: ${words}`))];
}
