/** The effect of an event on its agent. Pure. */
import type { CommandChanges } from '../domain/changes/changes.ts';
import { plural } from '../domain/lists.ts';
import { PROVIDERS_FAULTS } from '../domain/models/provider.ts';
import { addUsage, NO_USAGE, tokensOf } from '../domain/budget.ts';
import { defined } from '../domain/result.ts';
import { fromMicro, isForeign, type Millis, toMicro } from '../domain/ids.ts';
import { type ByType, type EventBody, type EventOf, forType, type MimirEvent } from './event.ts';
import { toldOf, withCheck, withCheckEnd } from './checks.ts';
import { compactedText, mergedText, retryText } from './log-line.ts';
import type { AgentState, Block, Growth, LostTries, ModelShare, OwnTree, Pause, Returned } from './state.ts';
import { isSpawn } from '../domain/agents/tool-facts.ts';

/** Characters of a tool's output kept in the state: head and tail. The log has all of it. */
const OUTPUT_KEPT = 6000;

/** The content of an event, without its envelope. */
export function bodyOf<E extends MimirEvent>(event: E): Omit<E, 'v' | 'type' | 'seq' | 'time' | 'session'> {
  const { v: _v, type: _type, seq: _seq, time: _time, session: _session, ...facts } = event;
  return facts;
}

export function newAgent(event: EventOf<'agent.created'>, at: Millis): AgentState {
  const { agent: id, iterations, call = null, spawned = null, forced = null, ...facts } = bodyOf(event);
  return {
    ...facts,
    id,
    children: [],
    maxIterations: iterations,
    pin: null,
    call,
    spawned,
    owner: facts.parent,
    signalled: null,
    toolsUsed: {},
    lastTool: null,
    forced,
    status: 'pending',
    reason: '',
    waitingFor: null,
    endedBy: null,
    outcome: null,
    summary: '',
    error: null,
    todos: [],
    blocks: [],
    usage: NO_USAGE,
    cost: 0,
    byModel: [],
    priced: true,
    open: [],
    pause: null,
    lost: { calls: 0, usage: NO_USAGE, cost: 0 },
    retries: 0,
    fallbacks: [],
    compactions: 0,
    iterations: 0,
    toolCalls: 0,
    firstRunAt: null,
    endedAt: null,
    ranMs: 0,
    runningSince: null,
    lastAt: at,
  };
}

export const AGENT_FOLDS = {
  'agent.changed': (agent, event) => {
    const { agent: _agent, iterations, ...facts } = bodyOf(event);
    // Its dependencies may have changed; blocking ones are reported again.
    const begins = { status: 'pending', reason: '', waitingFor: null, endedBy: null } as const;
    return {
      ...withoutItsOwn(agent),
      ...facts,
      ...begins,
      maxIterations: iterations,
      outcome: null,
      error: null,
      endedAt: null,
    };
  },
  'agent.status': (agent, event, at) => {
    // Initializing is not running: an agent that waits for a slot uses none of its time. ROOT's clock is the run's and continues while it
    // waits for a provider or its children work.
    const onTheClock = event.status === 'running' || (agent.parent === null && event.waitsFor !== undefined);
    const { closed: _closed, ...clocked } = clock(agent, onTheClock, at);
    return {
      ...(event.status === 'pending' ? begunAnew(clocked) : clocked),
      status: event.status,
      reason: event.reason,
      waitingFor: event.waitingFor ?? null,
      endedBy: event.endedBy ?? null,
      pause: event.status === 'waiting' ? agent.pause : null,
      // A retried or resumed agent has not ended any more.
      outcome: null,
      endedAt: null,
      signalled: event.status === 'initializing' || event.status === 'pending' ? null : agent.signalled,
      blocks: withReason(agent, event),
    };
  },
  'agent.signalled': (agent, { status, message }) => ({ ...agent, signalled: { status, message } }),
  'act.unanswered': (agent, { effect, label, why }) => ({
    ...agent,
    unanswered: [...(agent.unanswered ?? []), { effect, label, ...(why && { why }) }],
  }),
  'act.done': (agent, { effect }) => ({
    ...agent,
    unanswered: (agent.unanswered ?? []).filter((one) => one.effect !== effect),
  }),
  'agent.adopted': (agent, { owner }) => ({ ...agent, owner }),
  'agent.pinned': (agent, event) => ({ ...agent, pin: event.mode }),
  'budget.changed': (agent, event) => ({ ...agent, budget: event.budget }),
  'check.started': (agent, event, at) => ({ ...agent, checks: withCheck(agent.checks, event, at) }),
  'check.finished': (agent, event) => ({
    ...agent,
    checks: withCheckEnd(agent.checks, event),
    ...(event.changes === undefined ? {} : { blocks: add(agent, checkNote(event.run, event.changes)) }),
  }),
  'agent.told': (agent, event) => ({
    ...agent,
    ...(agent.checks !== undefined && { checks: toldOf(agent.checks) }),
    ...withNews(agent),
    blocks: add(agent, { is: 'told', text: event.text }),
  }),
  'agent.environment': (agent, { text }) => ({ ...agent, environment: text }),
  'agent.worker': (agent, { worker }) => ({ ...agent, worker }),
  'agent.model': (agent, event) => ({
    ...agent,
    model: event.model,
    blocks: add(agent, noteBlock(`model is now ${event.model.used}, by you`, 'info')),
  }),
  'agent.todos': (agent, event) => ({ ...agent, todos: event.todos }),
  'agent.message': (agent, event) => ({
    ...agent,
    blocks: add(agent, { is: 'said', text: event.text, call: event.call }),
  }),
  'model.started': (agent, event) => ({
    ...agent,
    open: [...agent.open, { call: event.call, model: event.model, ...event.reserved }],
    pause: null,
    iterations: agent.iterations + 1,
    ...(agent.providerLost === true ? { providerLost: false } : {}),
  }),
  'model.finished': (agent, event) => ({
    ...agent,
    ...withReply(agent, event),
    ...withoutItsEffort(agent, event),
    open: agent.open.filter(({ call }) => call !== event.call),
    usage: addUsage(agent.usage, event.usage),
    cost: fromMicro(toMicro(agent.cost) + toMicro(event.cost)),
    byModel: withShare(agent.byModel, event.model, event.usage, event.cost),
    // An agent of another program tells what its whole session has cost so far.
    priced: isForeign(event.model) ? event.priced : agent.priced && event.priced,
    ...(event.estimated === true ? { estimated: true } : {}),
  }),
  'model.failed': (agent, event) => ({
    ...agent,
    open: agent.open.filter(({ call }) => call !== event.call),
    // All tries of one turn count as one iteration.
    iterations: agent.iterations - (agent.open.some(({ call }) => call === event.call) ? 1 : 0),
    // A call that broke off is charged for what it used.
    usage: addUsage(agent.usage, event.usage ?? NO_USAGE),
    cost: fromMicro(toMicro(agent.cost) + toMicro(event.cost ?? 0)),
    byModel: withShare(agent.byModel, event.model, event.usage ?? NO_USAGE, event.cost ?? 0),
    priced: agent.priced && event.priced !== false,
    lost: withLost(agent.lost, event),
    ...(PROVIDERS_FAULTS.has(event.cause) ? { providerLost: true } : {}),
    blocks: event.cause === 'aborted' ? agent.blocks : add(agent, noteBlock(`model: ${event.message}`, 'error')),
  }),
  'model.retry': (agent, event, at) => ({
    ...agent,
    pause: pauseOf(event, at),
    retries: agent.retries + 1,
    blocks: add(agent, { ...noteBlock(retryText(event), 'warn'), retry: true }),
  }),
  'model.fallback': (agent, event) => ({
    ...agent,
    model: { asked: agent.model.asked, used: event.to, because: event.cause },
    pause: null,
    fallbacks: [...agent.fallbacks, { from: event.from, to: event.to, cause: event.cause, rule: event.rule }],
    blocks: add(agent, noteBlock(`${event.from} -> ${event.to}: ${event.cause}`, 'warn')),
  }),
  'context.compacted': (agent, { tokens, summary }) => ({
    ...agent,
    growth: NO_GROWTH,
    compactions: agent.compactions + 1,
    blocks: add(agent, { ...noteBlock(compactedText(tokens), 'info'), more: summary }),
  }),
  'tool.started': (agent, event, at) => ({
    ...agent,
    toolCalls: agent.toolCalls + 1,
    toolsUsed: { ...agent.toolsUsed, [event.tool]: (agent.toolsUsed[event.tool] ?? 0) + 1 },
    lastTool: { name: event.tool, label: event.label, at },
    blocks: add(agent, toolBlock(event, at)),
  }),
  'tool.finished': (agent, event) => ({
    ...agent,
    ...withNews(agent, event),
    blocks: [...withEnd(agent.blocks, event), ...(event.unseen === undefined ? [] : [noteBlock(event.unseen, 'warn')])],
  }),
  'tree.made': (agent, { tree: name, base, resolves }, at) => ({
    ...agent,
    ownTree: { name, base, at, stands: 'open', ...defined({ resolves }) },
  }),
  'merge.started': (agent, { ours, to, theirs }) => withTree(agent, { stands: 'merging', begun: { ours, to, theirs } }),
  'merge.finished': (agent, { is: stands, changed, because, patch, theirs, resolve }) => ({
    ...withMergedTree(agent, {
      stands,
      ...defined({ because, patch, resolve }),
      ...(theirs === undefined ? {} : { base: theirs }),
    }),
    blocks: add(agent, {
      ...noteBlock(mergedText({ is: stands, changed, because, patch }), stands === 'merged' ? 'info' : 'warn'),
      ...(stands === 'merged' ? { merged: changed ?? { files: [], more: 0, also: [] } } : {}),
    }),
  }),
  'tool.noted': (agent, { text }) => ({
    ...agent,
    blocks: add(agent, noteBlock(text.replace(/^\(Mimir: |\)$/g, ''), 'info')),
  }),
  'policy.decided': (agent, event) =>
    event.decision === 'deny'
      ? { ...agent, blocks: add(agent, noteBlock(`denied: ${event.subject}: ${event.rule}`, 'warn')) }
      : agent,
  'budget.exhausted': (agent, event) => ({
    ...agent,
    blocks: add(agent, noteBlock(`${event.scope} budget exhausted (${event.what})`, 'error')),
    ...(event.scope === 'agent' || event.scope === 'run'
      ? { exhausted: { what: event.what, spent: event.spent, limit: event.limit } }
      : {}),
  }),
  'agent.finished': (agent, event, at) => ({
    ...clock(agent, false, at),
    status: event.status,
    outcome: event.outcome,
    summary: event.summary,
    error: event.error,
    ...(event.outcome === 'killed' && agent.outcome !== null
      ? { closed: agent.closed ?? { outcome: agent.outcome, error: agent.error } }
      : {}),
    reason: event.error ?? '',
    waitingFor: null,
    endedBy: event.endedBy ?? null,
    pause: null,
    endedAt: at,
  }),
} satisfies ByType<[agent: AgentState], [at: Millis], AgentState>;

const withoutItsOwn = ({ effort: _effort, tree: _tree, ...others }: AgentState): AgentState => others;

/** A merge that has ended well leaves nothing to carry on. */
function withMergedTree(agent: AgentState, change: Partial<OwnTree>): AgentState {
  const next = withTree(agent, change);
  if (change.stands !== 'merged' || next.ownTree === undefined) return next;
  const { begun: _begun, ...ownTree } = next.ownTree;
  return { ...next, ownTree };
}

const withTree = (agent: AgentState, change: Partial<OwnTree>): AgentState =>
  agent.ownTree === undefined ? agent : { ...agent, ownTree: { ...agent.ownTree, ...change } };

/** The warning is given once per model. */
function withoutItsEffort(
  agent: AgentState,
  { model, withoutEffort }: EventOf<'model.finished'>,
): Partial<Pick<AgentState, 'withoutEffort' | 'blocks'>> {
  const known = agent.withoutEffort ?? [];
  if (withoutEffort === undefined || known.includes(model)) return {};
  const text = `${model} takes no setting of effort: it is called without (${agent.effort ?? 'some'} was asked for)`;
  return { withoutEffort: [...known, model], blocks: add(agent, noteBlock(text, 'warn')) };
}

/** The transcript shows why the agent stopped. */
function withReason(agent: AgentState, { status, reason }: EventOf<'agent.status'>): readonly Block[] {
  const isTold = (status === 'interrupted' || status === 'failed') && reason !== '';
  return isTold ? add(agent, noteBlock(reason, 'warn')) : agent.blocks;
}

/** A retry begins a new conversation with a new environment block. */
function begunAnew(agent: AgentState): AgentState {
  const { environment: _environment, unanswered: _unanswered, checks: _checks, ...others } = agent;
  return others;
}

/** The agent after `event`; the same object when nothing changed. */
export function foldAgent(agent: AgentState, event: MimirEvent, at: Millis): AgentState {
  const change = forType<[AgentState], [Millis], AgentState>(AGENT_FOLDS, event.type);
  if (!change) return agent;
  const changed = change(agent, event, at);
  // A new object needs no second copy: nobody else has it yet.
  return changed === agent ? { ...agent, lastAt: at } : Object.assign(changed, { lastAt: at });
}

/** Starts or stops the agent's clock, which excludes waiting for a person and interruptions. */
export function clock(agent: AgentState, running: boolean, at: Millis): AgentState {
  const ran = agent.runningSince === null ? 0 : Math.max(0, at - agent.runningSince);
  return {
    ...agent,
    ranMs: agent.ranMs + ran,
    runningSince: running ? at : null,
    firstRunAt: agent.firstRunAt ?? (running ? at : null),
  };
}

const add = (agent: AgentState, block: Block): readonly Block[] => [...agent.blocks, block];

/** The blocks after the end of a call, which has several open ones if it was repeated after a crash. */
function withEnd(
  blocks: readonly Block[],
  { call, ok, output, ms, changed }: EventOf<'tool.finished'>,
): readonly Block[] {
  const next = [...blocks];
  // Mapping each of thousands of blocks at each call would be most of the time that a long log takes.
  for (let at = blocks.length - 1; at >= 0; at -= 1) {
    const block = blocks[at];
    if (block?.is === 'tool' && block.ok === null && block.call === call)
      next[at] = { ...block, ok, output: keptOutput(output), ms, ...defined({ changed }) };
  }
  return next;
}

const noteBlock = (text: string, level: NoteBlock['level']): NoteBlock => ({ is: 'note', text, level });
const checkNote = (run: string, changed: CommandChanges): NoteBlock => ({
  ...noteBlock(`the check ${run} changed ${plural(changed.files.length + changed.more, 'file')}`, 'info'),
  changed,
});
type NoteBlock = Extract<Block, { readonly is: 'note' }>;

const toolBlock = ({ call, tool, label }: EventOf<'tool.started'>, started: Millis): Block => ({
  is: 'tool',
  call,
  tool,
  label,
  started,
  ok: null,
  output: '',
  ms: 0,
});

const pauseOf = ({ model, cause, wait, attempt, attempts }: EventOf<'model.retry'>, at: Millis): Pause => ({
  model,
  cause,
  until: at + wait,
  attempt: attempt ?? null,
  attempts: attempts ?? null,
});

/** A try ended on purpose does not count as lost, but its usage does. */
const withLost = (lost: LostTries, event: EventOf<'model.failed'>): LostTries => ({
  calls: lost.calls + (event.cause === 'aborted' ? 0 : 1),
  usage: addUsage(lost.usage, event.usage ?? NO_USAGE),
  cost: fromMicro(toMicro(lost.cost) + toMicro(event.cost ?? 0)),
});

/** Head and tail of a long output; any other output whole. */
export function keptOutput(output: string): string {
  if (output.length <= OUTPUT_KEPT) return output;
  const half = OUTPUT_KEPT / 2;
  return `${output.slice(0, half)}\n… ${output.length - OUTPUT_KEPT} characters left out here …\n${output.slice(-half)}`;
}

function withShare(
  shares: readonly ModelShare[],
  model: ModelShare['model'],
  usage: ModelShare['usage'],
  cost: number,
): readonly ModelShare[] {
  const known = shares.find((share) => share.model === model);
  if (known === undefined) return [...shares, { model, calls: 1, usage, cost }];
  const next: ModelShare = {
    model,
    calls: known.calls + 1,
    usage: addUsage(known.usage, usage),
    cost: fromMicro(toMicro(known.cost) + toMicro(cost)),
  };
  return shares.map((share) => (share === known ? next : share));
}

// How many tokens the results of children added to a context: estimated, then counted by a request that had no other addition.

const BYTES_PER_TOKEN = 4;
/** A count this far from the estimate includes something else, such as omitted reasoning. */
const LEAST = 0.5;
const MOST = 4;
const SLACK = 200;

/** Removes outputs from an event for a state in which they are not shown. Results of Task calls stay, because they are counted, and so does
 * the first line of a failed call, which the log shows. */
export function withoutOutput<E extends EventBody>(event: E): E {
  if (event.type !== 'tool.finished' || isSpawn(event.tool)) return event;
  return { ...event, output: event.ok ? '' : event.output.slice(0, event.output.indexOf('\n') + 1 || undefined) };
}

/** Whether `withoutOutput` may have shortened this event; its whole output is then only in the log. */
export const isShortened = ({ ok, output }: EventOf<'tool.finished'>): boolean =>
  output === '' || (!ok && output.indexOf('\n') === output.length - 1);

type Part = Pick<AgentState, 'returns' | 'growth'>;

/** Counts an addition to the context: a message, or the result of a tool. */
function withNews({ returns = [], growth = NO_GROWTH }: Part, result?: EventOf<'tool.finished'>): Part {
  const next: Growth = { ...growth, since: growth.since + 1 };
  if (result === undefined || !isSpawn(result.tool))
    return { ...(returns.length === 0 ? {} : { returns }), growth: next };
  const tokens = Math.ceil(Buffer.byteLength(result.output) / BYTES_PER_TOKEN);
  return {
    returns: [...returns, { call: result.call, tokens, by: 'estimate' }],
    growth: { ...next, returned: next.returned + 1 },
  };
}

/** After a reply, the provider's count covers everything added before its request. */
function withReply({ returns, growth = NO_GROWTH }: Part, { usage, model }: EventOf<'model.finished'>): Part {
  const all = tokensOf(usage);
  // The offline analyst uses the same estimate.
  const counts = all > 0 && !model.startsWith('offline/');
  const next: Growth = { counted: counts ? all : null, since: 0, returned: 0 };
  const last = returns?.at(-1);
  if (returns === undefined || last === undefined) return { growth: next };
  const grew = counts ? countedGrowth(growth, last, all - usage.output) : null;
  if (grew === null) return { returns, growth: next };
  return { returns: [...returns.slice(0, -1), { ...last, tokens: grew, by: 'provider' }], growth: next };
}

/** The growth caused by the last result, if the request had no other addition. */
function countedGrowth({ counted, since, returned }: Growth, { tokens }: Returned, request: number): number | null {
  if (counted === null || since !== 1 || returned !== 1) return null;
  const grew = request - counted;
  return grew < LEAST * tokens || grew > MOST * tokens + SLACK ? null : grew;
}

const NO_GROWTH: Growth = { counted: null, since: 0, returned: 0 };
