/** The Info tab of an agent: where it stands, its models and why, its task and summary. What it cost in detail, and its messages, have tabs of their own. */
import { agentTime } from '../../../../app/views/run-time.ts';
import { effortText } from '../../../../app/views/effort.ts';
import { committed, tokensOfAgent } from '../../../../events/queries.ts';
import type { AgentState, RunState } from '../../../../events/state.ts';
import { labelOf, whoSpawned } from '../../../../app/views/agents/agent-lines.ts';
import { formatCost, formatDuration, formatLimit, formatTokens } from '../../../../app/views/text/format.ts';
import type { Context } from '../../frame/screen.ts';
import { clip, span } from '../../../../app/views/text/clip.ts';
import type { Line } from '../../../../app/views/text/line.ts';
import { toLabel } from '../../../../app/views/text/sanitise.ts';
import { wrap, wrapText } from '../../../../app/views/text/wrap.ts';
import { restOf, waitOf } from '../../../../app/views/agents/wait-reason.ts';
import { endOf } from './doing.ts';
import { closedGates, gateWords, judged, verdictLine, verdictOf } from '../plan/mandatory-reviews.ts';
import { triggerWords } from '../../../../app/views/plan/plan-words.ts';
import { isolationWords } from '../../../../app/views/agents/isolation.ts';
import { markdown } from '../text/markdown.ts';
import { callsText, reservedText, unpricedText, aboutSign, costText } from '../money/spend.ts';

const LABEL = 10;

/** As many lines as it takes, at most `width` columns each. */
export function factLines(agent: AgentState, context: Context, width: number): readonly Line[] {
  const { state, now } = context;
  const row = (name: string, value: string): readonly Line[] => labelled(name, [span(value, { fg: 'fg' })], width);
  const children = agent.children.map((id) => toLabel(labelOf(state, id))).join(', ');
  const neededBy = [...state.agents.values()]
    .flatMap(({ id, dependsOn }) => (dependsOn.includes(agent.id) ? [toLabel(labelOf(state, id))] : []))
    .join(', ');
  return [
    ...row('Status', statusText(agent, context)),
    ...ruleLines(agent, context, width),
    ...modelLines(agent, context, width),
    ...effortLines(agent, state, row),
    ...row('Time', `${formatDuration(agentTime(agent, state, now))}${limit(agent.budget.maxDuration, formatDuration)}`),
    ...row('Tokens', tokensText(agent, context)),
    ...labelled('Cost', costLine(agent, context), width),
    ...row('Calls', callsText(agent)),
    ...(agent.compactions > 0
      ? row('Context', `summarised ${agent.compactions === 1 ? 'once' : `${agent.compactions} times`}`)
      : []),
    ...row('Tools', toLabel(agent.tools.join(', ')) || 'none'),
    ...spawnLines(agent, state, row),
    ...row('Children', children || 'none'),
    ...isolationLines(agent, context, width),
    ...row('Needed by', neededBy || 'nobody'),
    [],
    [span('Task', { fg: 'muted', bold: true })],
    ...wrapText(agent.task, width, { fg: 'fg' }),
    ...(agent.summary === ''
      ? []
      : [[], [span('Summary', { fg: 'muted', bold: true })], ...markdown(agent.summary, width, context.glyphs)]),
  ];
}

function effortLines(agent: AgentState, { choices }: RunState, row: Row): readonly Line[] {
  const text = effortText(agent, choices);
  return text === null ? [] : row('Effort', toLabel(text));
}

type Row = (name: string, value: string) => readonly Line[];

/** Who spawned it, whether that one waits for it, and who hears of it where that is another by now. */
function spawnLines({ spawned, owner, parent }: AgentState, state: RunState, row: Row): readonly Line[] {
  if (spawned === null) return [];
  const waits = spawned.wait === null ? '' : `, wakes its parent at its end or after ${spawned.wait}s without a sign`;
  const adopter = owner === null ? 'nobody is told of it' : `by ${toLabel(state.agents.get(owner)?.name ?? owner)}`;
  return [
    ...row('Spawned', `by ${whoSpawned(spawned, state)}${waits}`),
    ...(spawned.workingDir === '' ? [] : row('Folder', toLabel(spawned.workingDir))),
    ...(owner === parent ? [] : row('Adopted', `${adopter}: its parent ended`)),
  ];
}

/** What its Task calls brought back, and, of the child of one, what it left to its caller. */
function isolationLines(agent: AgentState, { state }: Context, width: number): readonly Line[] {
  const own = isolationWords(agent, state);
  const below = agent.children.flatMap((id) => {
    const child = state.agents.get(id);
    const words = child === undefined ? null : isolationWords(child, state);
    return child === undefined || words === null ? [] : [`${toLabel(child.name)}: ${words}`];
  });
  return [...(own === null ? [] : [own]), ...below].flatMap((words, at) =>
    labelled(at === 0 ? 'Isolation' : '', [span(words, { fg: 'fg' })], width),
  );
}

const labelled = (name: string, value: Line, width: number): readonly Line[] =>
  wrap(value, Math.max(1, width - LABEL)).map((line, index) =>
    clip([span((index === 0 ? name : '').padEnd(LABEL), { fg: 'faint' }), ...line], width),
  );

const statusText = (agent: AgentState, { state, now }: Context): string =>
  agent.outcome !== null ? endOf(agent) : (restOf(agent, state) ?? waitOf(agent, now)?.text ?? agent.status);

/** What the rules did to it: a pin, gates of its work, and of an agent that they added what it judges and found. */
function ruleLines(agent: AgentState, { state, glyphs }: Context, width: number): readonly Line[] {
  const row = (name: string, value: Line): readonly Line[] => labelled(name, value, width);
  const verdict = agent.forced === null ? undefined : verdictOf(state, agent.id);
  return [
    ...(agent.pin === null ? [] : row('Mode', [span(`held to ${agent.pin} (P)`, { fg: 'info' })])),
    ...(agent.forced === null
      ? []
      : [
          ...row('Added', [
            span(`${glyphs.lock} by the rules, ${triggerWords([agent.forced.trigger])}`, { fg: 'warn' }),
          ]),
          ...row('Judges', [span(`${judged(agent, state)}, digest ${agent.forced.tree.slice(0, 12)}`, { fg: 'fg' })]),
        ]),
    ...(verdict === undefined
      ? []
      : [
          ...row('Verdict', [...verdictLine(verdict, glyphs), span(` ${toLabel(verdict.summary)}`, { fg: 'fg' })]),
          ...verdict.findings.flatMap((finding) =>
            row('', [span(`${glyphs.bullet} ${toLabel(finding)}`, { fg: 'fg' })]),
          ),
        ]),
    ...closedGates(state, agent.id).flatMap((gate) => {
      const { text, ink } = gateWords(gate, state);
      return [
        ...row('Gate', [span(`${glyphs.lock} ${text}`, { fg: ink })]),
        ...row('', [span(toLabel(gate.why), { fg: 'muted' })]),
      ];
    }),
  ];
}

/** Asked for and used, why they differ, and each change on the way with the rule that allows it. */
function modelLines(agent: AgentState, { glyphs }: Context, width: number): readonly Line[] {
  const { asked, used, because } = agent.model;
  const arrow = span(` ${glyphs.arrow} `, { fg: 'faint' });
  const beside = (value: Line): readonly Line[] => labelled('', value, width);
  const why = (text: string): readonly Line[] => beside([span(toLabel(text), { fg: 'muted' })]);
  const line: Line =
    because === null
      ? [span(toLabel(used), { fg: 'fg' })]
      : [span(toLabel(asked), { fg: 'muted' }), arrow, span(toLabel(used), { fg: 'warn' })];
  const changes = agent.fallbacks.flatMap(({ from, to, cause, rule }) => [
    // A single change is that from asked to used.
    ...(agent.fallbacks.length === 1 ? [] : beside([span(toLabel(from), { fg: 'muted' }), arrow, span(toLabel(to))])),
    ...why(`after ${cause}`),
    ...(rule === '' ? [] : beside([span(`by ${toLabel(rule)}`, { fg: 'faint' })])),
  ]);
  // After a fallback the reason is that of the last change, told below.
  return [...labelled('Model', line, width), ...(changes.length > 0 ? changes : because === null ? [] : why(because))];
}

/** What all below it used as well, where there is something below it. */
const withChildren = ({ children }: AgentState, text: string): string =>
  children.length === 0 ? '' : `, with all below it ${text}`;

function tokensText(agent: AgentState, context: Context): string {
  const { state } = context;
  const all = withChildren(agent, formatTokens(committed(state, agent.id).tokens));
  return `${aboutSign(agent, context)}${formatTokens(tokensOfAgent(agent))}${limit(agent.budget.maxTokens, formatTokens)}${all}`;
}

function costLine(agent: AgentState, context: Context): Line {
  const { state } = context;
  const reserved = reservedText(agent);
  const unpriced = unpricedText(agent);
  return [
    span(`${aboutSign(agent, context)}${costText(agent)}${limit(agent.budget.maxCost, formatLimit)}`, {
      fg: 'fg',
      bold: true,
    }),
    ...(reserved === '' ? [] : [span(` + ${reserved}`, { fg: 'warn' })]),
    span(withChildren(agent, formatCost(committed(state, agent.id).cost)), { fg: 'fg' }),
    ...(unpriced === '' ? [] : [span(`: ${unpriced}`, { fg: 'warn' })]),
  ];
}

const limit = (most: number | undefined, format: (value: number) => string): string =>
  most === undefined ? '' : ` of ${format(most)}`;
