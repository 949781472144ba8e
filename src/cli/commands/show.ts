/** `mimir show`: one session: its task, plan, agents and totals, as the log has them. */
import { shownStatus } from '../../app/views/agent-counts.ts';
import { runSpending } from '../../app/views/spending/spending.ts';
import { agentTime } from '../../app/views/run-time.ts';
import { withLostCalls } from '../../events/fold.ts';
import { tokensOfAgent } from '../../events/queries.ts';
import type { AgentState, RunState } from '../../events/state.ts';
import { formatDuration, formatTokens } from '../../app/views/text/format.ts';
import { shownSign } from '../../ui/tui/components/header.ts';
import { UNICODE } from '../../ui/tui/text/glyphs.ts';
import { CWD, JSON_FLAG } from '../../app/process/flags/common.ts';
import { EXIT } from '../../app/process/exit.ts';
import type { Io } from '../../app/process/io.ts';
import { harmless } from '../../app/process/io.ts';
import { planLines } from '../../app/reports/plan-lines.ts';
import { stateOf, openReader, sessionOf } from '../../app/client/log-of.ts';
import { projectOf } from '../../app/project/project.ts';
import { costWords, runWords, spentBy, spentOne, troubleWords, usageWords } from '../../app/reports/spend-text.ts';
import type { Verb } from '../verb.ts';

export const showVerb: Verb = {
  usage: 'mimir show [SESSION] [--json]',
  summary: 'Shows a session: task, plan, agents, costs; without an id, the newest.',
  example: 'mimir show 4f9a2c',
  words: 1,
  flags: { ...JSON_FLAG, ...CWD },
  run(args, io) {
    const reader = openReader(projectOf(args, io));
    const { session, state: how } = sessionOf(reader, args.words[0]);
    const folded = stateOf(reader, session);
    const state = how === 'running' ? folded : withLostCalls(folded);
    if (args.has('json'))
      io.json({
        ...state,
        spent: spentBy(state.agents.values()),
        agents: [...state.agents.values()].map((agent) => ({ ...agent, blocks: [] })),
        state: how,
      });
    else for (const line of sessionLines(state, how, io)) io.say(line);
    return Promise.resolve(EXIT.done);
  },
};

function sessionLines(state: RunState, how: string, { paint }: Io): readonly string[] {
  const spent = runSpending(state);
  const words = runWords(state);
  return [
    `${paint.bold(`Session ${state.session ?? ''}`)}  ${state.finished?.status ?? how}`,
    `Task: ${harmless(state.task)}`,
    harmless(`Where: ${state.cwd} · ${state.provider} · mode ${state.mode} · Mimir ${state.version}`),
    ...planLines(state, paint),
    ...[...state.agents.values()].flatMap((agent) => agentLines(agent, state, paint)),
    '',
    `Spent: ${formatTokens(spent.tokens)} tokens, ${costWords(spentBy(state.agents.values()))}`,
    ...[words.tokens, words.trouble].filter((text) => text !== '').map((text) => paint.dim(`       ${text}`)),
  ];
}

function agentLines(agent: AgentState, state: RunState, paint: Io['paint']): readonly string[] {
  const glyph = shownSign(shownStatus(agent), UNICODE)[0];
  const model = agent.model.because === null ? agent.model.used : `${agent.model.asked} -> ${agent.model.used}`;
  const spent = spentOne(agent);
  const cost = costWords(spent);
  const sum = `${formatDuration(agentTime(agent, state))} · ${cost} · ${formatTokens(tokensOfAgent(agent))} tok`;
  const why = agent.error ?? agent.reason;
  return [
    `${glyph} ${paint.bold(harmless(agent.name))} (${agent.id})  ${harmless(model)}  ${sum}  ${agent.outcome ?? agent.status}`,
    ...(why === '' ? [] : [paint.yellow(`    ${harmless(why)}`)]),
    ...[usageWords(agent.usage), troubleWords({ ...spent, fallbacks: 0 })]
      .filter((text) => text !== '')
      .map((text) => paint.dim(`    ${text}`)),
    ...agent.fallbacks.map(({ from, to, cause, rule }) =>
      paint.dim(harmless(`    ${from} -> ${to}: ${cause}${rule === '' ? '' : ` (${rule})`}`)),
    ),
  ];
}
