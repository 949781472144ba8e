/** Above an opened agent: two lines of facts, and the bar of its tabs with what each of them counts. */
import { tokensOfAgent } from '../../../../events/queries.ts';
import type { AgentState, RunState } from '../../../../events/state.ts';
import { labelOf, modelText, todosOf, whoSpawned } from '../../../../app/views/agents/agent-lines.ts';
import { formatLimit, formatTokens } from '../../../../app/views/text/format.ts';
import type { Glyphs } from '../glyphs.ts';
import type { Context } from '../../shell/screen.ts';
import { clip, lineWidth, span } from '../../../../app/views/text/clip.ts';
import type { Line, Span } from '../../../../app/views/text/line.ts';
import { toLabel } from '../../../../app/views/text/sanitise.ts';
import { costText } from './card.ts';
import { changesOf } from '../../../../app/views/file-changes.ts';
import { messagesOf } from './messages.ts';
import { reservedText } from '../money/spend.ts';
import type { Tab } from '../tabs.ts';
import { TABS } from '../tabs.ts';

/** Two lines of facts, at most `width` columns each. */
export function headLines(agent: AgentState, context: Context, width: number): readonly Line[] {
  const budgets = agent.budget.maxCost === undefined ? withoutCap(agent) : costBudget(agent);
  const first = pairs([
    ['id', agent.id],
    ['model', toLabel(modelText(agent.model, context.glyphs))],
    origin(agent, context.state),
  ]);
  const second = (spent: string): Line =>
    pairs([
      ['turn', `${agent.iterations}/${agent.maxIterations}`],
      ['tools', String(agent.toolCalls)],
      ['spent', spent],
    ]);
  const reserved = reservedText(agent);
  const whole = second(reserved === '' ? budgets : `${budgets} + ${reserved}`);
  // Where there is no room for it, the Costs tab says what is reserved.
  return [
    clip(first, width, context.glyphs.ellipsis),
    clip(lineWidth(whole) <= width ? whole : second(budgets), width, context.glyphs.ellipsis),
  ];
}

/** Whom it needs; of one beside the plan, who made it; of ROOT without a plan, that there is none. */
function origin(agent: AgentState, state: RunState): readonly [name: string, value: string] {
  if (agent.parent === null && state.idle) return ['plan', 'none'];
  if (agent.spawned !== null) return ['spawned by', whoSpawned(agent.spawned, state)];
  if (agent.call !== null && agent.parent !== null) return ['called by', toLabel(labelOf(state, agent.parent))];
  const needs = agent.dependsOn.map((id) => toLabel(labelOf(state, id))).join(', ');
  return ['needs', needs === '' ? 'nothing' : needs];
}

const pairs = (of: readonly (readonly [name: string, value: string])[]): Line =>
  of.flatMap(([name, value], index): readonly Span[] => [
    span(`${index === 0 ? '' : '   '}${name} `, { fg: 'faint' }),
    span(value, { fg: 'fg' }),
  ]);

const costBudget = (agent: AgentState): string => `${costText(agent)} of ${formatLimit(agent.budget.maxCost ?? 0)}`;

/** Money where some was spent, and the tokens with their limit. */
const withoutCap = (agent: AgentState): string =>
  agent.cost > 0 || !agent.priced ? `${costText(agent)}, ${tokenBudget(agent)}` : tokenBudget(agent);

function tokenBudget(agent: AgentState): string {
  const used = formatTokens(tokensOfAgent(agent));
  const { maxTokens } = agent.budget;
  return maxTokens === undefined ? `${used} tok` : `${used} of ${formatTokens(maxTokens)} tok`;
}

/** The tabs in at most `room` columns: all of them, closer together, else those around the active one. It is always whole. */
export function tabBar(of: { readonly agent: AgentState; readonly tab: Tab }, context: Context, room: number): Line {
  const { glyphs } = context;
  const names = TABS.map((tab) => withCount(tab, of.agent, context));
  const all = (between: string): Line => bar({ names, active: of.tab, between, glyphs }, 0, names.length);
  const stroke = ` ${glyphs.light[5]} `;
  for (const line of [all(stroke), all('  ')]) if (lineWidth(line) <= room) return line;
  const at = TABS.indexOf(of.tab);
  let [from, to] = [at, at + 1];
  const some = { names, active: of.tab, between: stroke, glyphs };
  const fits = (low: number, high: number): boolean =>
    low >= 0 && high <= TABS.length && lineWidth(bar(some, low, high)) <= room;
  // What follows first: that is where one goes.
  while (fits(from, to + 1)) to += 1;
  while (fits(from - 1, to)) from -= 1;
  return bar(some, from, to);
}

interface Bar {
  readonly names: readonly string[];
  readonly active: Tab;
  readonly between: string;
  readonly glyphs: Glyphs;
}

/** Some of the tabs, with signs where there are more on a side. */
function bar({ names, active, between, glyphs }: Bar, from: number, to: number): Line {
  const more = (sign: string): Line => [span(sign, { fg: 'faint' })];
  return [
    ...(from > 0 ? more(`${glyphs.needs} `) : []),
    ...names
      .slice(from, to)
      .flatMap(
        (name, index): Line => [
          ...(index === 0 ? [] : [span(between, { fg: 'border' })]),
          span(name, TABS[from + index] === active ? { fg: 'focus', bold: true, underline: true } : { fg: 'muted' }),
        ],
      ),
    ...(to < names.length ? more(` ${glyphs.unlocks}`) : []),
  ];
}

/** `Todos 1/5`, `Tools 19`: what there is nothing of has no number. */
function withCount(tab: Tab, agent: AgentState, { state }: Context): string {
  const todos = tab === 'Todos' ? todosOf(state, agent) : [];
  const counts: Readonly<Record<Tab, string>> = {
    Transcript: '',
    Todos: todos.length === 0 ? '' : `${todos.filter(({ status }) => status === 'completed').length}/${todos.length}`,
    Tools: tab === 'Tools' && agent.toolCalls > 0 ? String(agent.toolCalls) : '',
    Diffs: tab === 'Diffs' ? String(changesOf(agent).length || '') : '',
    Messages: tab === 'Messages' ? String(messagesOf(agent, state).length || '') : '',
    Costs: '',
    Info: '',
  };
  return counts[tab] === '' ? tab : `${tab} ${counts[tab]}`;
}
