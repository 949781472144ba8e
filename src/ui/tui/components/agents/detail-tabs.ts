/** The tabs Info, Todos, Diffs, Tools and Messages of an agent. */
import { agentTime, changeOf, changesOf, plural, effortText, formatClock } from '../../../../app/views/index.ts';
import { formatCost, formatDuration, formatLimit, formatTimeLimit } from '../../../../app/views/index.ts';
import { formatTokens, type Ink, isolationText, labelOf, type Line, restReason } from '../../../../app/views/index.ts';
import { span, spread, todosOf, toLabel, triggerWords, waitOf, spawnerName } from '../../../../app/views/index.ts';
import { sumChanges, wrap, wrapText, toolsText } from '../../../../app/views/index.ts';
import type { FileChange } from '../../../../domain/changes/changes.ts';
import { listed } from '../../../../domain/lists.ts';
import { memoize } from '../../../../domain/memoize.ts';
import { type Check, type CheckEnd, checkEndText, checkText } from '../../../../domain/plan/task-checks.ts';
import type { AgentState, CheckRun, RunState, SentMessage } from '../../../../events/index.ts';
import { committed, firstNote, plannedChecks, tokensOfAgent } from '../../../../events/index.ts';
import type { Context } from '../../frame/screen.ts';
import { type Doc, docOf, docOfLines, type Fact, factLines, GAP, type Part, strong, tint } from '../../text/blocks.ts';
import type { Glyphs } from '../../text/glyphs.ts';
import { aboutSign, callsText, costText, reservedText, unpricedText } from '../costs.ts';
import { checkMark } from '../checks.ts';
import { endOf } from '../progress.ts';
import { closedGates, gateWords, judged, verdictLine, verdictOf } from '../reviews.ts';
import { countSpans, diffLines, linkOf } from '../text/inline.ts';
import { coloured, markdown } from '../text/markdown.ts';
import { todoLine } from './cards.ts';
import { rail, type ToolCall, toolMeta } from './transcript.ts';

/** The Info tab in lines of at most `width` columns: status, models, use, relations, task and summary. */
export function infoLines(agent: AgentState, context: Context, width: number): readonly Line[] {
  const { state, now } = context;
  const { compactions, budget } = agent;
  const children = agent.children.map((id) => toLabel(labelOf(state, id))).join(', ');
  const neededBy = [...state.agents.values()]
    .flatMap(({ id, dependsOn }) => (dependsOn.includes(agent.id) ? [toLabel(labelOf(state, id))] : []))
    .join(', ');
  const facts: readonly Fact[] = [
    ['Status', statusText(agent, context)],
    ...ruleFacts(agent, context),
    ...modelFacts(agent, context),
    ['Worker', agent.worker === undefined ? null : toLabel(agent.worker)],
    ['Effort', toLabel(effortText(agent, state.choices) ?? '')],
    ['Time', `${formatDuration(agentTime(agent, state, now))}${limit(budget.maxDuration, formatTimeLimit)}`],
    ['Tokens', tokensText(agent, context)],
    ['Cost', costLine(agent, context)],
    ['Calls', callsText(agent)],
    ['Context', compactions === 0 ? null : `summarised ${compactions === 1 ? 'once' : `${compactions} times`}`],
    ['Tools', toLabel(toolsText(agent.tools))],
    ...spawnFacts(agent, state),
    ['Children', children || 'none'],
    ...isolationFacts(agent, context),
    ['Needed by', neededBy || 'no agent'],
    ['Id', agent.id],
  ];
  return [
    ...factLines(facts, width),
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

/** The creator of a spawned agent, when it reports, and its owner where that is no longer its parent. */
function spawnFacts({ spawned, owner, parent }: AgentState, state: RunState): readonly Fact[] {
  if (spawned === null) return [];
  const waits = spawned.wait === null ? '' : `, reports to its parent when it ends or after ${spawned.wait}s`;
  const adopter = owner === null ? 'reports to no agent' : `by ${toLabel(state.agents.get(owner)?.name ?? owner)}`;
  return [
    ['Spawned', `by ${spawnerName(spawned, state)}${waits}`],
    ['Folder', toLabel(spawned.workingDir)],
    ['Adopted', owner === parent ? null : `${adopter}: its parent ended`],
  ];
}

/** Tokens that stayed out of the caller's context, for the agent and for its children. */
function isolationFacts(agent: AgentState, { state }: Context): readonly Fact[] {
  const children = agent.children.flatMap((id) => state.agents.get(id) ?? []);
  return [agent, ...children]
    .flatMap((one) => {
      const words = isolationText(one, state);
      return words === null ? [] : [one === agent ? words : `${toLabel(one.name)}: ${words}`];
    })
    .map((words, at) => [at === 0 ? 'Isolation' : '', words]);
}

const statusText = (agent: AgentState, { state, now }: Context): string =>
  agent.outcome !== null ? endOf(agent) : (restReason(agent, state) ?? waitOf(agent, now)?.text ?? agent.status);

/** What policy added: a pinned mode, closed gates, and for a review agent what it judges and its verdict. */
function ruleFacts(agent: AgentState, { state, glyphs }: Context): readonly Fact[] {
  const { forced, pin } = agent;
  const verdict = forced === null ? undefined : verdictOf(state, agent.id);
  const review: readonly Fact[] =
    forced === null
      ? []
      : [
          ['Added', [tint(`${glyphs.lock} required by policy, ${triggerWords([forced.trigger])}`, 'warn')]],
          ['Judges', `${judged(agent, state)}, digest ${forced.tree.slice(0, 12)}`],
        ];
  return [
    ['Mode', pin === null ? null : [tint(`pinned to ${pin} (P)`, 'info')]],
    ...review,
    ['Verdict', verdict ? [...verdictLine(verdict, glyphs), tint(` ${toLabel(verdict.summary)}`, 'fg')] : null],
    ...(verdict?.findings ?? []).map((finding): Fact => ['', `${glyphs.bullet} ${toLabel(finding)}`]),
    ...closedGates(state, agent.id).flatMap((gate): readonly Fact[] => {
      const { text, ink } = gateWords(gate, state);
      return [
        ['Gate', [tint(`${glyphs.lock} ${text}`, ink)]],
        ['', [tint(toLabel(gate.why), 'muted')]],
      ];
    }),
  ];
}

/** The requested and the used model, why they differ, and each change with the rule that allows it. */
function modelFacts({ model, fallbacks }: AgentState, { glyphs }: Context): readonly Fact[] {
  const change = (from: string, to: string, ink: Ink): Line => [
    tint(toLabel(from), 'muted'),
    tint(` ${glyphs.arrow} `, 'faint'),
    tint(toLabel(to), ink),
  ];
  const changes = fallbacks.flatMap(({ from, to, cause, rule }): readonly Fact[] => [
    // A single change is the one from the requested to the used model, shown above.
    ['', fallbacks.length === 1 ? null : change(from, to, 'fg')],
    ['', [tint(toLabel(`after ${cause}`), 'muted')]],
    ['', rule === '' ? null : [tint(`by ${toLabel(rule)}`, 'faint')]],
  ]);
  const { asked, used, because } = model;
  // After a fallback the reason is that of the last change, which is listed.
  const why: readonly Fact[] = because === null ? [] : [['', [tint(toLabel(because), 'muted')]]];
  return [
    ['Model', because === null ? toLabel(used) : change(asked, used, 'warn')],
    ...(changes.length > 0 ? changes : why),
  ];
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
export function changesDoc(agent: AgentState, context: Context, width: number, isOpen: (item: number) => boolean): Doc {
  const changes = changesOf(agent);
  if (changes.length === 0)
    return docOfLines(wrap([tint('No files changed. Files that git ignores are not listed.', 'faint')], width));
  const total: Line = spread(
    [strong(plural(changes.length, 'file'), 'title'), tint(' changed', 'muted')],
    countSpans(sumChanges(changes)),
    width,
  );
  const files = changes.flatMap((change, item): readonly Part[] => {
    const open = isOpen(item) !== changes.length <= FEW;
    const part = { item, lines: fileLines(change, open, context, width) };
    return open ? [part, GAP] : [part];
  });
  return docOf([{ item: null, lines: [total] }, GAP, ...files]);
}

/** Of commands that ran at the same time nobody can tell whose a change is. */
function sharedText({ also }: FileChange, { agents }: Context['state']): string {
  const names = also.map((id) => toLabel(agents.get(id)?.name ?? id));
  return names.length === 0 ? '' : `  or by ${listed(names, 'or')}`;
}

function fileLines(change: FileChange, open: boolean, { glyphs, state }: Context, width: number): readonly Line[] {
  const link = linkOf(change.path, state.cwd);
  const head = spread(
    [
      tint(`${open ? glyphs.todo.active : glyphs.bullet} `, 'focus'),
      span(toLabel(change.path), { fg: 'title', bold: true, ...(link === null ? {} : { link }) }),
      tint(change.made ? '  new' : '', 'ok'),
      tint(change.gone ? '  removed' : '', 'warn'),
      tint(sharedText(change, state), 'muted'),
    ],
    countSpans(change),
    width,
  );
  if (!open) return [head];
  const body = diffLines(change.diff, Math.max(1, width - 2));
  return [head, ...body.map((line): Line => [span('  '), ...line])];
}

// The Tools tab: one row per call, with the output below an opened row.

/** One part per call; its item is the index of its block. */
export function toolsDoc(agent: AgentState, context: Context, width: number, isOpen: (item: number) => boolean): Doc {
  const parts = agent.blocks.flatMap((block, item): readonly Part[] => {
    if (block.is !== 'tool') return [];
    const row = toolRow(block, context, width);
    return [{ item, lines: isOpen(item) ? [row, ...output(block, context, width)] : [row] }];
  });
  return parts.length > 0 ? docOf(parts) : docOfLines(wrap([tint('No tools used yet.', 'faint')], width));
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
    return spread(left, toolMeta(block, lines, glyphs), width);
  },
);

function output(block: ToolCall, { glyphs }: Context, width: number): readonly Line[] {
  const inner = Math.max(1, width - 4);
  const change = changeOf(block);
  if (change !== null) return rail(diffLines(change.diff, inner), glyphs);
  const text = block.output.trimEnd();
  const said = text === '' ? (block.ok === null ? 'Still running.' : 'No output.') : text;
  return rail(wrapText(said, inner, { fg: text === '' ? 'faint' : block.ok === false ? 'err' : 'muted' }), glyphs);
}

/** Messages to and from this agent, in the order in which they were sent. */
export const messagesOf = ({ id }: AgentState, { messages }: RunState): readonly SentMessage[] =>
  messages.filter(({ to, from }) => to === id || from === id);

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
function newsOf(content: string, { of, is, killed }: NonNullable<SentMessage['notice']>, { agents }: RunState) {
  const start = `Child ${agents.get(of)?.name ?? of} `;
  const text = content.startsWith(start) ? content.slice(start.length) : content;
  return killed === true ? { kind: 'news: killed', text: text.replace(/^failed: /, '') } : { kind: NEWS[is], text };
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
  );
  const body = wrapText(said.trim(), Math.max(1, width - 2), { fg: 'fg' });
  return [head, ...body.map((line): Line => [span('  '), ...line])];
}

/** Number and role of an agent, `you`, or another sender's name. */
const nameOf = (who: string, state: RunState): string => {
  const agent = [...state.agents.keys()].find((id) => id === who);
  return toLabel(agent === undefined ? (who === 'person' ? 'you' : who) : labelOf(state, agent));
};

// The Checks tab.

/** Each check with its result, the tree that it ran on, and the end of what it printed. */
export function checkTabLines(agent: AgentState, context: Context, width: number): readonly Line[] {
  const { state } = context;
  const checks = plannedChecks(state, agent);
  const attempts = state.plan?.tasks.find(({ id }) => id === agent.taskId)?.attempts ?? 1;
  const head = checkMark(agent, context);
  const note = `Mimir runs ${checks.length === 1 ? 'it' : 'them'} when the agent says that it is done; at most ${attempts === 1 ? '1 attempt' : `${attempts} attempts`}. What needs this task waits for it.`;
  return [
    ...(head.length === 0 ? [] : [head]),
    ...wrapText(note, width, { fg: 'faint' }),
    ...checks.flatMap((check): readonly Line[] => [[], ...checkLines(check, agent, context, width)]),
  ];
}

function checkLines(check: Check, { checks }: AgentState, context: Context, width: number): readonly Line[] {
  const { glyphs, state } = context;
  const run = checks?.find((one) => one.run === check.run);
  const end = run?.end ?? null;
  const [sign, ink] = signOf(run, glyphs);
  const head = spread(
    [strong(`${sign} `, ink), strong(toLabel(checkText(check)), 'title')],
    end === null ? [] : [tint(formatDuration(end.ms), 'muted')],
    width,
  );
  if (run === undefined) return [head, [tint('  not run yet', 'faint')]];
  if (end === null) return [head, [tint(`  running, attempt ${run.attempt}`, 'muted')]];
  const facts = factsOf(check, run, end, firstNote(state, check, end.passed));
  const printed = end.lines.trim() === '' ? 'No output.' : end.lines;
  return [
    head,
    ...wrap([tint(`  ${facts.join(` ${glyphs.dot} `)}`, 'muted')], width, 2),
    ...notesOf(end).flatMap((note) => wrap([strong('  ! ', 'warn'), tint(toLabel(note), 'fg')], width, 4)),
    ...rail(wrapText(printed, Math.max(1, width - 4), { fg: end.passed ? 'muted' : 'fg' }), glyphs),
  ];
}

const factsOf = (check: Check, { attempt, stale }: CheckRun, end: CheckEnd, first: string): readonly string[] => [
  `${toLabel(checkEndText(end, check))}, attempt ${attempt}${first}`,
  end.tree === null ? 'tree unknown' : `tree ${end.tree.slice(0, 12)}`,
  ...(stale === true ? ['the project was changed since'] : []),
];

const notesOf = ({ judged, changed }: CheckEnd): readonly string[] => [
  ...(judged === undefined ? [] : [`Its agent changed what it checks: ${listed(judged, 'and')}`]),
  ...(changed === undefined ? [] : [`It changed files itself: ${listed(changed, 'and')}`]),
];

function signOf(run: CheckRun | undefined, { status }: Glyphs): readonly [sign: string, ink: Ink] {
  if (run === undefined) return [status.pending, 'faint'];
  if (run.end === null) return [status.running, 'ok'];
  if (!run.end.passed) return [status.failed, 'err'];
  return run.stale === true ? [status.waiting, 'warn'] : [status.completed, 'ok'];
}
