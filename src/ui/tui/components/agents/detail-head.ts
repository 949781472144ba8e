/** Above an opened agent: two lines of facts, and the bar of its tabs with what each of them counts. */
import { labelOf, modelText, todosOf, whoSpawned } from '../../../../app/views/agents/agent-lines.ts';
import { changesOf } from '../../../../app/views/file-changes.ts';
import { clip, lineWidth, span, spread } from '../../../../app/views/text/clip.ts';
import { formatLimit, formatTokens } from '../../../../app/views/text/format.ts';
import type { Ink, Line, Span } from '../../../../app/views/text/line.ts';
import { toLabel } from '../../../../app/views/text/sanitise.ts';
import { wrap, wrapText } from '../../../../app/views/text/wrap.ts';
import { isOfKill } from '../../../../events/log-line.ts';
import { tokensOfAgent } from '../../../../events/queries.ts';
import type { AgentState, RunState, SentMessage } from '../../../../events/state.ts';
import type { Context } from '../../frame/screen.ts';
import type { Glyphs } from '../../text/glyphs.ts';
import { reservedText, costText } from '../money/spend.ts';
import { type Tab, TABS } from '../tabs.ts';

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

// The Messages tab: what was written to an agent and by it, how it is delivered, and whether it was.

/** To and from this agent, in the order they were sent. */
function messagesOf({ id }: AgentState, { messages }: RunState): readonly SentMessage[] {
  const known = KNOWN.get(messages)?.get(id);
  if (known) return known;
  const own = messages.filter(({ to, from }) => to === id || from === id);
  const all = KNOWN.get(messages) ?? new Map<string, readonly SentMessage[]>();
  all.set(id, own);
  KNOWN.set(messages, all);
  return own;
}

const KNOWN = new WeakMap<readonly SentMessage[], Map<string, readonly SentMessage[]>>();

/** As many lines as it takes, at most `width` columns each. */
export function messageLines(agent: AgentState, context: Context, width: number): readonly Line[] {
  const own = messagesOf(agent, context.state);
  if (own.length === 0)
    return wrap([span('No message to it or from it. i writes one to it, I to all agents.', { fg: 'faint' })], width);
  return own.flatMap((message, index) => [...(index === 0 ? [] : [[]]), ...oneMessage(message, agent, context, width)]);
}

const WHEN: Readonly<Record<SentMessage['delivery'], string>> = {
  sequential: 'once it is idle',
  important: 'at its next turn',
  urgent: 'at once',
};

/** What a notice of a child is about. */
const NEWS: Readonly<Record<NonNullable<SentMessage['notice']>['is'], string>> = {
  completed: 'news: done',
  error: 'news: failed',
  idle: 'news: idle',
};

/** What kind of news, and the text without the name that stands above it. */
function newsOf(content: string, { of, is }: NonNullable<SentMessage['notice']>, { agents }: RunState): News {
  const name = agents.get(of)?.name ?? of;
  const start = `Child ${name} `;
  const text = content.startsWith(start) ? content.slice(start.length) : content;
  return isOfKill(content, name)
    ? { kind: 'news: killed', text: text.replace(/^failed: /, '') }
    : { kind: NEWS[is], text };
}

interface News {
  readonly kind: string;
  readonly text: string;
}

function oneMessage(message: SentMessage, agent: AgentState, context: Context, width: number): readonly Line[] {
  const { glyphs, state } = context;
  const incoming = message.to === agent.id;
  const sign = incoming ? `${glyphs.needs} from ` : `${glyphs.unlocks} to `;
  const other = incoming ? nameOf(message.from, state) : nameOf(message.to, state);
  // ROOT of a run without a plan keeps news for the person until it is spoken to.
  const [text, ink]: readonly [string, Ink] = message.delivered ? ['read', 'ok'] : ['not read yet', 'warn'];
  const { kind, text: said } =
    message.notice === null
      ? { kind: `${message.delivery}: ${WHEN[message.delivery]}`, text: message.content }
      : newsOf(message.content, message.notice, state);
  const head = spread(
    [span(sign, { fg: 'focus' }), span(other, { fg: 'title', bold: true }), span(`  ${kind}`, { fg: 'faint' })],
    [span(`${message.delivered ? glyphs.status.completed : glyphs.status.pending} ${text}`, { fg: ink })],
    width,
    {},
    glyphs.ellipsis,
  );
  const body = wrapText(said.trim(), Math.max(1, width - 2), { fg: 'fg' });
  return [head, ...body.map((line): Line => [span('  '), ...line])];
}

/** An agent by its number and role; whoever else it is by the name it has. */
const nameOf = (who: string, state: RunState): string => {
  const agent = [...state.agents.keys()].find((id) => id === who);
  if (agent === undefined) return toLabel(who === 'person' ? 'you' : who);
  return toLabel(labelOf(state, agent));
};
