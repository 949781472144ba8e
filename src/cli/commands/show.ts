/** `mimir show`: the task, plan, agents and totals of one session, from its log. */
import {
  agentTime,
  formatDuration,
  formatTokens,
  runSpending,
  shownStatus,
  statusWord,
} from '../../app/views/index.ts';
import { type AgentState, type RunState, tokensOfAgent, withLostCalls } from '../../events/index.ts';
import { shownSign, UNICODE } from '../../ui/tui/index.ts';
import { CWD, EXIT, sanitise, type Io, JSON_FLAG } from '../../app/process/index.ts';
import {
  costText,
  planLines,
  runUsageText,
  spentBy,
  spentByAgent,
  problemsText,
  usageText,
} from '../../app/reports/index.ts';
import { openReader, projectOf, sessionOf, stateOf } from '../../app/workspace/index.ts';
import { tell, type Verb } from '../verb.ts';

export const showVerb: Verb = {
  usage: 'mimir show [SESSION] [--json]',
  summary: 'Shows a session: task, plan, agents, costs (default: the newest).',
  example: 'mimir show 4f9a2c',
  words: 1,
  flags: { ...JSON_FLAG, ...CWD },
  run(args, io) {
    const reader = openReader(projectOf(args, io));
    const { session, state: how } = sessionOf(reader, args.words[0]);
    const folded = stateOf(reader, session);
    const state = how === 'running' ? folded : withLostCalls(folded);
    const agents = [...state.agents.values()].map((agent) => ({ ...agent, blocks: [] }));
    const json = { ...state, spent: spentBy(state.agents.values()), agents, state: how };
    tell(args, io, json, sessionLines(state, how, io));
    return Promise.resolve(EXIT.done);
  },
};

function sessionLines(state: RunState, how: string, { paint }: Io): readonly string[] {
  const spent = runSpending(state);
  const words = runUsageText(state);
  return [
    `${paint.bold(`Session ${state.session ?? ''}`)}  ${state.finished?.status ?? how}`,
    `Task: ${sanitise(state.task)}`,
    sanitise(`Where: ${state.cwd} · ${state.provider} · mode ${state.mode} · Mimir ${state.version}`),
    ...planLines(state, paint),
    ...[...state.agents.values()].flatMap((agent) => agentLines(agent, state, paint)),
    '',
    `Spent: ${formatTokens(spent.tokens)} tokens, ${costText(spentBy(state.agents.values()))}`,
    ...[words.tokens, words.trouble].filter((text) => text !== '').map((text) => paint.dim(`       ${text}`)),
  ];
}

function agentLines(agent: AgentState, state: RunState, paint: Io['paint']): readonly string[] {
  const glyph = shownSign(shownStatus(agent), UNICODE)[0];
  const model = agent.model.because === null ? agent.model.used : `${agent.model.asked} -> ${agent.model.used}`;
  const spent = spentByAgent(agent);
  const cost = costText(spent);
  const sum = `${formatDuration(agentTime(agent, state))} · ${cost} · ${formatTokens(tokensOfAgent(agent))} tok`;
  const why = agent.error ?? agent.reason;
  return [
    `${glyph} ${paint.bold(sanitise(agent.name))} (${agent.id})  ${sanitise(model)}  ${sum}  ${statusWord(agent)}`,
    ...(why === '' ? [] : [paint.yellow(`    ${sanitise(why)}`)]),
    ...[usageText(agent.usage), problemsText({ ...spent, fallbacks: 0 })]
      .filter((text) => text !== '')
      .map((text) => paint.dim(`    ${text}`)),
    ...agent.fallbacks.map(({ from, to, cause, rule }) =>
      paint.dim(sanitise(`    ${from} -> ${to}: ${cause}${rule === '' ? '' : ` (${rule})`}`)),
    ),
  ];
}
