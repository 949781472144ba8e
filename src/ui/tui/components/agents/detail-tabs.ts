/** The tabs Info, Todos, Diffs, Tools and Messages of an agent. */
import {
  agentTime,
  changeOf,
  changesOf,
  plural,
  effortText,
  type FileChange,
  formatClock,
  formatCost,
  formatDuration,
  formatLimit,
  formatTimeLimit,
  formatTokens,
  type Ink,
  isolationText,
  labelOf,
  type Line,
  restReason,
  span,
  spread,
  todosOf,
  toLabel,
  triggerWords,
  waitOf,
  spawnerName,
  wrap,
  wrapText,
  toolsText,
} from '../../../../app/views/index.ts';
import { memoize } from '../../../../domain/memoize.ts';
import {
  type AgentState,
  type Block,
  committed,
  type RunState,
  type SentMessage,
  tokensOfAgent,
} from '../../../../events/index.ts';
import type { Context } from '../../frame/screen.ts';
import { type Doc, docOf, docOfLines, GAP, labelled, type Part, strong, tint } from '../../text/blocks.ts';
import type { Glyphs } from '../../text/glyphs.ts';
import { aboutSign, callsText, costText, reservedText, unpricedText } from '../costs.ts';
import { endOf } from '../progress.ts';
import { closedGates, gateWords, judged, verdictLine, verdictOf } from '../reviews.ts';
import { countSpans, diffLines, linkOf } from '../text/inline.ts';
import { coloured, markdown } from '../text/markdown.ts';
import { todoLine } from './card.ts';
import { rail, type ToolCall, toolMeta } from './transcript.ts';

/** The Info tab in lines of at most `width` columns: status, models, use, relations, task and summary. */
export function factLines(agent: AgentState, context: Context, width: number): readonly Line[] {
  const { state, now } = context;
  const row = (name: string, value: string): readonly Line[] => labelled(name, [tint(value, 'fg')], width);
  const children = agent.children.map((id) => toLabel(labelOf(state, id))).join(', ');
  const neededBy = [...state.agents.values()]
    .flatMap(({ id, dependsOn }) => (dependsOn.includes(agent.id) ? [toLabel(labelOf(state, id))] : []))
    .join(', ');
  return [
    ...row('Status', statusText(agent, context)),
    ...ruleLines(agent, context, width),
    ...modelLines(agent, context, width),
    ...effortLines(agent, state, row),
    ...row(
      'Time',
      `${formatDuration(agentTime(agent, state, now))}${limit(agent.budget.maxDuration, formatTimeLimit)}`,
    ),
    ...row('Tokens', tokensText(agent, context)),
    ...labelled('Cost', costLine(agent, context), width),
    ...row('Calls', callsText(agent)),
    ...(agent.compactions > 0
      ? row('Context', `summarised ${agent.compactions === 1 ? 'once' : `${agent.compactions} times`}`)
      : []),
    ...row('Tools', toLabel(toolsText(agent.tools))),
    ...spawnLines(agent, state, row),
    ...row('Children', children || 'none'),
    ...isolationLines(agent, context, width),
    ...row('Needed by', neededBy || 'no agent'),
    ...row('Id', agent.id),
    [],
    [strong('Task', 'muted')],
    ...wrapText(agent.task, width, { fg: 'fg' }),
    ...summaryLines(agent, width, context.glyphs, coloured.version),
  ];
}

const summaryLines = memoize(
  (agent: AgentState, width: number, glyphs: Glyphs, colours: number) => [agent, width, glyphs, colours],
  ({ summary }, width, glyphs): readonly Line[] =>
    summary === '' ? [] : [[], [strong('Summary', 'muted')], ...markdown(summary, width, glyphs)],
);

function effortLines(agent: AgentState, { choices }: RunState, row: Row): readonly Line[] {
  const text = effortText(agent, choices);
  return text === null ? [] : row('Effort', toLabel(text));
}

type Row = (name: string, value: string) => readonly Line[];

/** The creator of a spawned agent, when it reports, and its owner where that is no longer its parent. */
function spawnLines({ spawned, owner, parent }: AgentState, state: RunState, row: Row): readonly Line[] {
  if (spawned === null) return [];
  const waits = spawned.wait === null ? '' : `, reports to its parent when it ends or after ${spawned.wait}s`;
  const adopter = owner === null ? 'reports to no agent' : `by ${toLabel(state.agents.get(owner)?.name ?? owner)}`;
  return [
    ...row('Spawned', `by ${spawnerName(spawned, state)}${waits}`),
    ...(spawned.workingDir === '' ? [] : row('Folder', toLabel(spawned.workingDir))),
    ...(owner === parent ? [] : row('Adopted', `${adopter}: its parent ended`)),
  ];
}

/** Tokens that stayed out of the caller's context, for the agent and for its children. */
function isolationLines(agent: AgentState, { state }: Context, width: number): readonly Line[] {
  const own = isolationText(agent, state);
  const below = agent.children.flatMap((id) => {
    const child = state.agents.get(id);
    const words = child === undefined ? null : isolationText(child, state);
    return child === undefined || words === null ? [] : [`${toLabel(child.name)}: ${words}`];
  });
  return [...(own === null ? [] : [own]), ...below].flatMap((words, at) =>
    labelled(at === 0 ? 'Isolation' : '', [tint(words, 'fg')], width),
  );
}

const statusText = (agent: AgentState, { state, now }: Context): string =>
  agent.outcome !== null ? endOf(agent) : (restReason(agent, state) ?? waitOf(agent, now)?.text ?? agent.status);

/** What policy added: a pinned mode, closed gates, and for a review agent what it judges and its verdict. */
function ruleLines(agent: AgentState, { state, glyphs }: Context, width: number): readonly Line[] {
  const row = (name: string, value: Line): readonly Line[] => labelled(name, value, width);
  const verdict = agent.forced === null ? undefined : verdictOf(state, agent.id);
  return [
    ...(agent.pin === null ? [] : row('Mode', [tint(`pinned to ${agent.pin} (P)`, 'info')])),
    ...(agent.forced === null
      ? []
      : [
          ...row('Added', [tint(`${glyphs.lock} required by policy, ${triggerWords([agent.forced.trigger])}`, 'warn')]),
          ...row('Judges', [tint(`${judged(agent, state)}, digest ${agent.forced.tree.slice(0, 12)}`, 'fg')]),
        ]),
    ...(verdict === undefined
      ? []
      : [
          ...row('Verdict', [...verdictLine(verdict, glyphs), tint(` ${toLabel(verdict.summary)}`, 'fg')]),
          ...verdict.findings.flatMap((finding) => row('', [tint(`${glyphs.bullet} ${toLabel(finding)}`, 'fg')])),
        ]),
    ...closedGates(state, agent.id).flatMap((gate) => {
      const { text, ink } = gateWords(gate, state);
      return [...row('Gate', [tint(`${glyphs.lock} ${text}`, ink)]), ...row('', [tint(toLabel(gate.why), 'muted')])];
    }),
  ];
}

/** The requested and the used model, why they differ, and each change with the rule that allows it. */
function modelLines(agent: AgentState, { glyphs }: Context, width: number): readonly Line[] {
  const { asked, used, because } = agent.model;
  const arrow = tint(` ${glyphs.arrow} `, 'faint');
  const beside = (value: Line): readonly Line[] => labelled('', value, width);
  const why = (text: string): readonly Line[] => beside([tint(toLabel(text), 'muted')]);
  const line: Line =
    because === null
      ? [tint(toLabel(used), 'fg')]
      : [tint(toLabel(asked), 'muted'), arrow, tint(toLabel(used), 'warn')];
  const changes = agent.fallbacks.flatMap(({ from, to, cause, rule }) => [
    // A single change is the one from the requested to the used model, shown above.
    ...(agent.fallbacks.length === 1 ? [] : beside([tint(toLabel(from), 'muted'), arrow, span(toLabel(to))])),
    ...why(`after ${cause}`),
    ...(rule === '' ? [] : beside([tint(`by ${toLabel(rule)}`, 'faint')])),
  ]);
  // After a fallback the reason is that of the last change, which is listed.
  return [...labelled('Model', line, width), ...(changes.length > 0 ? changes : because === null ? [] : why(because))];
}

/** The use of an agent with its descendants; empty without children. */
const withChildren = ({ children }: AgentState, text: string): string =>
  children.length === 0 ? '' : `, with its children ${text}`;

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
    strong(`${aboutSign(agent, context)}${costText(agent)}${limit(agent.budget.maxCost, formatLimit)}`, 'fg'),
    ...(reserved === '' ? [] : [tint(` + ${reserved}`, 'warn')]),
    tint(withChildren(agent, formatCost(committed(state, agent.id).cost)), 'fg'),
    ...(unpriced === '' ? [] : [tint(`: ${unpriced}`, 'warn')]),
  ];
}

const limit = (most: number | undefined, format: (value: number) => string): string =>
  most === undefined ? '' : ` of ${format(most)}`;

/** The Todos tab. */
export function todoLines(agent: AgentState, context: Context, width: number): readonly Line[] {
  const list = todosOf(context.state, agent);
  if (list.length === 0)
    return wrap([tint('No todo list yet. The agent writes it in its first turn.', 'faint')], width);
  return list.flatMap((todo) => wrap(todoLine(todo, context), width, 2));
}

// The Diffs tab: the changed files of an agent with their counts, and the diff of each opened one.

/** This many files or fewer are open from the beginning. */
const FEW = 3;

/** One part per file; its item is its index in `changesOf`. */
export function changesDoc(agent: AgentState, context: Context, width: number, options: ListOptions): Doc {
  const changes = changesOf(agent);
  if (changes.length === 0)
    return docOfLines(
      wrap([tint('No files changed by its tools. Changes by commands are not listed.', 'faint')], width),
    );
  const added = changes.reduce((sum, change) => sum + change.added, 0);
  const removed = changes.reduce((sum, change) => sum + change.removed, 0);
  const total: Line = spread(
    [strong(plural(changes.length, 'file'), 'title'), tint(' changed', 'muted')],
    countSpans({ added, removed }),
    width,
  );
  const files = changes.flatMap((change, item): readonly Part[] => {
    const open = options.isOpen(item) !== changes.length <= FEW;
    const part = { item, lines: fileLines(change, open, context, width) };
    return open ? [part, GAP] : [part];
  });
  return docOf([{ item: null, lines: [total] }, GAP, ...files]);
}

function fileLines(change: FileChange, open: boolean, { glyphs, state }: Context, width: number): readonly Line[] {
  const link = linkOf(change.path, state.cwd);
  const head = spread(
    [
      tint(`${open ? glyphs.todo.active : glyphs.bullet} `, 'focus'),
      span(toLabel(change.path), { fg: 'title', bold: true, ...(link === null ? {} : { link }) }),
      tint(change.made ? '  new' : '', 'ok'),
    ],
    countSpans(change),
    width,
    {},
    glyphs.ellipsis,
  );
  if (!open) return [head];
  const body = diffLines(change.diff, Math.max(1, width - 2), glyphs.ellipsis);
  return [head, ...body.map((line): Line => [span('  '), ...line])];
}

// The Tools tab: one row per call, with the output below an opened row.

interface ListOptions {
  isOpen(item: number): boolean;
  readonly at: number | 'visible' | null;
}

/** The calls of an agent, oldest first, each with the index of its block. */
const callsIn = (blocks: readonly Block[]): readonly { readonly item: number; readonly block: ToolCall }[] =>
  blocks.flatMap((block, item) => (block.is === 'tool' ? [{ item, block }] : []));

/** One part per call; its item is the index of its block. */
export function toolsDoc(agent: AgentState, context: Context, width: number, options: ListOptions): Doc {
  const calls = callsIn(agent.blocks);
  if (calls.length === 0) return docOfLines(wrap([tint('No tools used yet.', 'faint')], width));
  return docOf(
    calls.map(({ item, block }): Part => {
      const row = toolRow(block, context, width);
      return { item, lines: options.isOpen(item) ? [row, ...output(block, context, width)] : [row] };
    }),
  );
}

/** `✓ 20:31:02 read src/a.ts          142 lines · 0.1s`. Outputs may be megabytes, and each frame asks for all rows of the tab. */
const toolRow = memoize(
  (block: ToolCall, { glyphs }: Context, width: number) => [block, width, glyphs],
  (block, { glyphs }, width): Line => {
    const [sign, ink]: readonly [string, Ink] =
      block.ok === null
        ? [glyphs.status.running, 'ok']
        : block.ok
          ? [glyphs.status.completed, 'ok']
          : [glyphs.status.failed, 'err'];
    const [verb = '', ...rest] = toLabel(block.label).split(' ');
    const left: Line = [
      span(`${sign} `, { fg: ink, bold: block.ok === false }),
      tint(width >= 60 ? `${formatClock(block.started)}  ` : '', 'faint'),
      strong(verb, block.ok === false ? 'err' : 'title'),
      tint(rest.length > 0 ? ` ${rest.join(' ')}` : '', 'muted'),
    ];
    const output = block.output.trimEnd();
    const lines = output === '' ? 0 : output.split('\n').length;
    return spread(left, toolMeta(block, lines, glyphs), width, {}, glyphs.ellipsis);
  },
);

function output(block: ToolCall, { glyphs }: Context, width: number): readonly Line[] {
  const inner = Math.max(1, width - 4);
  const change = changeOf(block);
  if (change !== null) return rail(diffLines(change.diff, inner, glyphs.ellipsis), glyphs);
  const text = block.output.trimEnd();
  const said = text === '' ? (block.ok === null ? 'Still running.' : 'No output.') : text;
  return rail(wrapText(said, inner, { fg: text === '' ? 'faint' : block.ok === false ? 'err' : 'muted' }), glyphs);
}

// The Messages tab.

/** Messages to and from this agent, in the order in which they were sent. */
export function messagesOf({ id }: AgentState, { messages }: RunState): readonly SentMessage[] {
  return messages.filter(({ to, from }) => to === id || from === id);
}

/** Each message with its timing and whether it was read, in lines of at most `width` columns. */
export function messageLines(agent: AgentState, context: Context, width: number): readonly Line[] {
  const own = messagesOf(agent, context.state);
  if (own.length === 0) return wrap([tint('No messages. Press i to write to it, I to all agents.', 'faint')], width);
  return own.flatMap((message, index) => [...(index === 0 ? [] : [[]]), ...oneMessage(message, agent, context, width)]);
}

const WHEN: Readonly<Record<SentMessage['delivery'], string>> = {
  sequential: 'when idle',
  important: 'next turn',
  urgent: 'at once',
};

const NEWS: Readonly<Record<NonNullable<SentMessage['notice']>['is'], string>> = {
  completed: 'news: done',
  error: 'news: failed',
  idle: 'news: idle',
};

/** The kind of a notice, and its text without the name of the child. */
function newsOf(content: string, { of, is, killed }: NonNullable<SentMessage['notice']>, { agents }: RunState): News {
  const name = agents.get(of)?.name ?? of;
  const start = `Child ${name} `;
  const text = content.startsWith(start) ? content.slice(start.length) : content;
  return killed === true ? { kind: 'news: killed', text: text.replace(/^failed: /, '') } : { kind: NEWS[is], text };
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
  const [text, ink]: readonly [string, Ink] = message.delivered ? ['read', 'ok'] : ['not read yet', 'warn'];
  const { kind, text: said } =
    message.notice === null
      ? { kind: `${message.delivery}: ${WHEN[message.delivery]}`, text: message.content }
      : newsOf(message.content, message.notice, state);
  const head = spread(
    [tint(sign, 'focus'), strong(other, 'title'), tint(`  ${kind}`, 'faint')],
    [tint(`${message.delivered ? glyphs.status.completed : glyphs.status.pending} ${text}`, ink)],
    width,
    {},
    glyphs.ellipsis,
  );
  const body = wrapText(said.trim(), Math.max(1, width - 2), { fg: 'fg' });
  return [head, ...body.map((line): Line => [span('  '), ...line])];
}

/** Number and role of an agent, `you`, or another sender's name. */
const nameOf = (who: string, state: RunState): string => {
  const agent = [...state.agents.keys()].find((id) => id === who);
  if (agent === undefined) return toLabel(who === 'person' ? 'you' : who);
  return toLabel(labelOf(state, agent));
};
