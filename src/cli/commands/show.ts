/** `mimir show`: the task, plan, agents and totals of one session, from its log. */
import { agentTime, formatDuration, formatTokens, shownStatus, statusWord } from '../../app/views/index.ts';
import { type AgentState, type RunState, tokensOfAgent, withLostCalls } from '../../events/index.ts';
import { shownSign, UNICODE } from '../../ui/tui/index.ts';
import { sanitise, type Io } from '../../app/process/index.ts';
import { callNotes, costText, factLines, planLines, spentBy, spentByAgent } from '../../app/reports/index.ts';
import { usageText } from '../../app/reports/index.ts';
import { openReader, projectOf, sessionOf, stateOf } from '../../app/workspace/index.ts';
import { command, tell } from '../verb.ts';

export const showVerb = command('show', (args, io) => {
  const reader = openReader(projectOf(args, io));
  const { session, state: how } = sessionOf(reader, args.words[0]);
  const folded = stateOf(reader, session);
  const state = how === 'running' ? folded : withLostCalls(folded);
  const agents = [...state.agents.values()].map((agent) => ({ ...agent, blocks: [] }));
  const json = { ...state, spent: spentBy(state.agents.values()), agents, state: how };
  tell(args, io, json, sessionLines(state, how, io));
});

const sessionLines = (state: RunState, how: string, { paint }: Io): readonly string[] => [
  `${paint.bold(`Session ${state.session ?? ''}`)}  ${state.finished?.status ?? how}`,
  sanitise(`Where: ${state.cwd} · Mimir ${state.version}`),
  ...factLines(state).map(sanitise),
  ...planLines(state, paint),
  ...[...state.agents.values()].flatMap((agent) => agentLines(agent, state, paint)),
];

function agentLines(agent: AgentState, state: RunState, paint: Io['paint']): readonly string[] {
  const glyph = shownSign(shownStatus(agent), UNICODE)[0];
  const used = [
    formatDuration(agentTime(agent, state)),
    costText(spentByAgent(agent)),
    `${formatTokens(tokensOfAgent(agent))} tok`,
  ];
  const why = agent.error ?? agent.reason;
  return [
    `${glyph} ${paint.bold(sanitise(agent.name))} (${agent.id})  ${sanitise(agent.model.used)}  ${used.join(' · ')}  ${statusWord(agent)}`,
    ...(why === '' ? [] : [paint.yellow(`    ${sanitise(why)}`)]),
    ...[usageText(agent.usage), ...callNotes(agent)]
      .filter((text) => text !== '')
      .map((text) => paint.dim(`    ${sanitise(text)}`)),
  ];
}
