/** What events of a run say to a person, as lines: for a terminal without a full screen, a pipe, a log file or a screen reader. */
import { agentTime, runTime } from '../../app/views/run-time.ts';
import type { AgentId } from '../../domain/ids.ts';
import { ROOT } from '../../domain/ids.ts';
import type { EventOf } from '../../events/by-type.ts';
import type { MimirEvent } from '../../events/event.ts';
import { triesText, warnedWords } from '../../events/log-line.ts';
import type { AgentState, RunState } from '../../events/state.ts';
import type { Tick } from '../../ports/controls.ts';
import { callsOf, modelName } from '../../app/views/agents/agent-lines.ts';
import { counted, formatCost, formatDuration, formatTokens } from '../../app/views/text/format.ts';
import type { Io } from '../../app/process/io.ts';
import { harmless } from '../../app/process/io.ts';
import { firstSaid, knownWork, secondsText, tag } from './words/agents.ts';
import { beginning, familyLines } from './words/children.ts';
import { planLines } from '../../app/reports/plan-lines.ts';
import { runWords } from '../../app/reports/spend-text.ts';

/** What a model thinks is not for lines; that it does is said once of each agent. */
export function thinkingOnce(state: () => RunState, io: Pick<Io, 'paint' | 'say'>): (tick: Tick) => void {
  const told = new Set<AgentId>();
  return ({ agent, is }) => {
    if (is !== 'reasoning' || told.has(agent)) return;
    told.add(agent);
    const found = state().agents.get(agent);
    if (found !== undefined) io.say(io.paint.dim(`${tag(found)} thinking …`));
  };
}

/** What a person reads about an event, made harmless; nothing for what only changes a card. */
export function linesOf(event: MimirEvent, state: RunState, { paint }: Pick<Io, 'paint'>): readonly string[] {
  const agent = 'agent' in event && event.agent !== null ? state.agents.get(event.agent) : undefined;
  switch (event.type) {
    case 'session.started':
      return [
        `${paint.bold('Mimir')} session ${event.session} · ${harmless(event.cwd)} · ${harmless(event.provider)} · mode ${event.mode}`,
        ...event.notes.map((note) => paint.yellow(`note: ${harmless(note)}`)),
      ];
    case 'session.mode':
      return [`mode ${event.mode}, for all agents`];
    case 'plan.proposed':
      return planLines(state, paint);
    case 'plan.approved':
      return [`Plan approved (${harmless(event.by)}).`, ''];
    case 'plan.rejected':
      return [harmless(event.reason)];
    case 'session.finished':
      return endLines(state, paint);
    default:
      return agent === undefined
        ? []
        : (familyLines(event, agent, state, paint) ?? agentLines(event, agent, state, paint));
  }
}

function agentLines(event: MimirEvent, agent: AgentState, state: RunState, paint: Io['paint']): readonly string[] {
  const name = tag(agent);
  switch (event.type) {
    case 'agent.status':
      // Not once more after a wait: tries that failed are no turns.
      if (event.status === 'running' && callsOf(agent) === 0) return beginning(agent);
      // A wait is told of by the retry it is for; all who wait with it would say it again.
      if (event.reason === '' || event.status === 'waiting') return [];
      // The end of the run says it of all at once.
      if (event.endedBy?.is === 'run') return [];
      return [`${name} ${event.status}: ${harmless(event.reason)}`];
    case 'tool.started':
      return event.tool === 'update_todos' ? [] : [paint.dim(`${name}   ${harmless(event.label)}`)];
    case 'agent.pinned':
    case 'budget.changed':
    case 'forced.verdict':
    case 'forced.gate':
      return ruleLines(event, agent, paint);
    case 'policy.decided':
      return [paint.yellow(harmless(`${name} ${event.decision}: ${event.rule}`))];
    case 'model.failed':
    case 'model.retry':
    case 'model.fallback':
    case 'context.compacted':
      return modelLines(event, agent, paint);
    case 'budget.warned':
      return [paint.yellow(harmless(`${name} ${warnedWords(event)}`))];
    case 'budget.exhausted':
      return [paint.red(harmless(`${name} the ${event.scope}'s ${event.what} are used up`))];
    case 'agent.finished':
      return agent.id === ROOT ? [] : [doneLine(agent, state, paint)];
    default:
      return [];
  }
}

/** What the rules did: a pin, a limit, what a forced agent found and what that opens or closes. */
function ruleLines(event: MimirEvent, agent: AgentState, paint: Io['paint']): readonly string[] {
  const name = tag(agent);
  switch (event.type) {
    case 'agent.pinned':
      return [`${name} ${event.mode === null ? 'follows the mode of the run again' : `is held to mode ${event.mode}`}`];
    case 'budget.changed':
      return [paint.yellow(harmless(`${name} budget changed by ${event.by}`))];
    case 'forced.verdict': {
      const words = `${name} verdict: ${event.pass ? 'pass' : 'did not pass'}: ${event.summary}`;
      const found = event.findings.map((finding) => harmless(`${name}   - ${finding}`));
      return [event.pass ? paint.green(harmless(words)) : paint.red(harmless(words)), ...found];
    }
    case 'forced.gate': {
      // At the end of the work it is said how that went.
      if (event.due !== undefined) return [];
      const goes = event.onFailure === 'block' ? 'waits for' : 'goes on without a pass of';
      const words = `${name} ${event.open ? 'was let pass by' : goes} ${event.role}: ${event.why}`;
      return [event.open ? harmless(words) : paint.yellow(harmless(words))];
    }
    default:
      return [];
  }
}

/** Waits, lost tries, changes of the model, summaries: a short line each. */
function modelLines(event: MimirEvent, agent: AgentState, paint: Io['paint']): readonly string[] {
  const warn = (text: string): readonly string[] => [paint.yellow(harmless(`${tag(agent)} ${text}`))];
  switch (event.type) {
    case 'model.failed':
      // What became of it follows; only what it cost is said nowhere else.
      if (event.cost === undefined || event.cost === 0 || event.cause === 'aborted') return [];
      return warn(`a try failed and cost ${formatCost(event.cost)}: ${event.message}`);
    case 'model.retry':
      return warn(waitWords(event));
    case 'model.fallback':
      return warn(
        `${modelName(event.from)} -> ${modelName(event.to)}: ${event.cause}${event.rule === '' ? '' : ` (${event.rule})`}`,
      );
    case 'context.compacted':
      return [paint.dim(harmless(`${tag(agent)} ${compactedWords(event)}`))];
    default:
      return [];
  }
}

function waitWords({ model, cause, wait, attempt, attempts }: EventOf<'model.retry'>): string {
  const when = `next try in ${Math.ceil(wait / 1000)} s${triesText(attempt, attempts)}`;
  return `waits for ${model.split('/')[0] ?? ''}: ${cause}; ${when}`;
}

const compactedWords = ({ tokens }: EventOf<'context.compacted'>): string =>
  `context summarised: ${formatTokens(tokens.before)} -> about ${formatTokens(tokens.after)} tokens`;

/**
 * Of a call of Task `[type] description - done (N tools, S.Ss)`. The task of any other agent was printed at its start: its end has the
 * first line of what it found.
 */
function doneLine(agent: AgentState, state: RunState, paint: Io['paint']): string {
  const work = agent.call === null ? knownWork(agent) : `${knownWork(agent)} -`;
  const counts = `(${counted(agent.toolCalls, 'tool')}, ${secondsText(agentTime(agent, state))})`;
  if (agent.outcome === 'completed') return paint.green(`${work} done ${counts}${foundWords(agent)}`);
  const outcome = agent.outcome ?? '';
  const why = harmless(agent.error ?? '');
  // A reason that begins with the outcome has said it.
  const how = outcome !== '' && why.startsWith(outcome) ? why : [outcome, why].filter((part) => part !== '').join(': ');
  return paint.red(`${work} ${how} ${counts}`);
}

/** A call's result goes to its parent, and the verdict of a review has a line of its own. */
function foundWords({ call, forced, summary }: AgentState): string {
  const found = call === null && forced === null ? harmless(firstSaid(summary)) : '';
  return found === '' ? '' : `: ${found}`;
}

function endLines(state: RunState, paint: Io['paint']): readonly string[] {
  const { finished } = state;
  if (finished === null) return [];
  if (finished.status === 'rejected') return [];
  // It goes on: an end with sums and a report would say otherwise.
  if (finished.endedBy?.is === 'hand-over') return ['The run is handed over.'];
  const { totals } = finished;
  const sum = `${counted(totals.agents, 'agent')} · ${formatDuration(runTime(state))} · ${formatTokens(totals.tokens)} tokens · ${formatCost(totals.cost)}`;
  const words = runWords(state);
  const colour = finished.status === 'completed' ? paint.green : paint.red;
  return [
    '',
    harmless(finished.summary),
    '',
    colour(`${finished.status}: ${sum}`),
    ...(words.tokens === '' ? [] : [paint.dim(`Tokens: ${words.tokens}`)]),
    ...(words.trouble === '' ? [] : [paint.yellow(`On the way: ${words.trouble}`)]),
    `The report again: mimir report ${state.session ?? ''}`,
  ];
}
