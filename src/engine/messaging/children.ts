/** Children outside of the plan, and agents revived by a message: everything that works in the run without a place in its schedule. spawn.ts
 * creates children, agent-end.ts handles the consequences of their end. */
import type { AgentOutcome, SpawnRequest, WorkOrder } from '../../domain/agents/agent.ts';
import { type AgentId, type Millis, ROOT } from '../../domain/ids.ts';
import { reasonText } from '../../domain/reason.ts';
import { fail, messageOf, ok, type Result } from '../../domain/result.ts';
import * as events from '../../events/index.ts';
import { type ChildRules, childRules, plannedRoleProblem, roleNamed, roleProblem } from '../../policy/index.ts';
import type { Receipt } from '../../ports/controls.ts';
import * as agents from '../agents/index.ts';
import { hasMail, spentLimit } from '../gate/index.ts';
import { markWork } from '../reviews/index.ts';
import { inItsTree } from '../workspaces/index.ts';
import { capabilitiesIn, made, namedWords, type FamilyParts } from './spawn.ts';

/** Spawned children that had not ended when the run did. Only `resume` continues them. */
const unfinishedChildren = (state: events.RunState): readonly events.AgentState[] =>
  [...state.agents.values()].filter((one) => one.spawned !== null && !events.isFinal(one));

export class Children {
  private readonly parts: FamilyParts;
  private readonly now = new Map<AgentId, Promise<AgentOutcome | null>>();
  /** Spawns that wait for a person's answer. */
  private readonly asking = new Set<Promise<unknown>>();
  private readonly faults: unknown[] = [];

  constructor(parts: FamilyParts) {
    this.parts = parts;
    parts.supervisor.onLeft((agent) => this.left(agent));
  }

  /** Creates a child of `parent` and starts it; `by`: the agent that asks, null for a person. May wait for a person's approval. */
  async spawn(parent: AgentId, wish: SpawnRequest, by: AgentId | null): Promise<Result<Receipt, string>> {
    const { parts } = this;
    const making = made({ ...parts, parent, wish, by }, (child) => this.begin(child, ''));
    this.asking.add(making);
    const child = await making.finally(() => this.asking.delete(making));
    if (!child.ok) return child;
    const note = namedWords(parts.options, wish, child.value);
    return ok({
      text: `spawned ${child.value.name}${note === '' ? '' : `; ${note}`}`,
      agent: child.value.agent,
      ...(note === '' ? {} : { note }),
    });
  }

  /** Why no message can revive an ended agent; null: one can, or it has not ended. */
  closed(agent: AgentId): string | null {
    const { recorder, world } = this.parts;
    const one = recorder.state().agents.get(agent);
    if (one === undefined || one.outcome === null || agent === ROOT) return null;
    return this.over(one) ?? spentLimit(recorder.state(), agent, world.now());
  }

  /** The same without regard to its budget. */
  over(one: events.AgentState): string | null {
    const { parts } = this;
    if (one.outcome === null) return null;
    const outcome = CLOSED[one.outcome];
    if (outcome !== undefined) return `${one.name} ${outcome} and no longer reads messages`;
    if (one.forced !== null || one.call !== null) return `${one.name} has finished and no longer reads messages`;
    if (one.spawned !== null && childRules(parts.options.rules).killOnComplete)
      return `${one.name} was closed with its turn (childAgents.cleanup.autoKillOnComplete): spawn another`;
    const again = agentAgain(parts, one);
    return again.ok ? whyCrowded(parts, one) : `${one.name} cannot continue: ${again.fault}`;
  }

  /** Revives an ended agent with its whole conversation; null, or why that is impossible. Its message is in the log already. */
  revive(agent: AgentId): string | null {
    const { parts } = this;
    const state = parts.recorder.state().agents.get(agent);
    if (state === undefined || !events.isFinal(state)) return null;
    const closed = this.closed(agent);
    if (closed !== null) return closed;
    // The resumed run will find the message and revive the agent.
    if (parts.signal.aborted) return null;
    const one = agentAgain(parts, state);
    if (!one.ok) return one.fault;
    this.adopt(state);
    this.begin(one.value, state.outcome === 'completed' ? state.summary : '');
    return null;
  }

  /** Call after `reopen`. Restarts unfinished children that do not run yet, or ends those that cannot continue, and revives ended agents with
   * unread messages. `isTaken`: ended agents that the caller restarts itself. */
  resume(isTaken: (agent: AgentId) => boolean = () => false): void {
    const { parts } = this;
    const { recorder, conversations } = parts;
    const lives = livesIn(recorder.each(0, { types: ['agent.status', 'agent.finished'] }));
    // Agents created or written to since the resume are running already.
    const open = unfinishedChildren(recorder.state()).filter(({ id }) => !this.now.has(id));
    conversations.keep(...open.map(({ id }) => id));
    for (const child of open) {
      const end = this.endWithParent(child, lives);
      const again = agentAgain(parts, child);
      if (end !== null) recorder.record(agents.finishedEvent(parts, child.id, end.outcome, child.summary, end.why));
      else if (!again.ok) agents.closeFailed(parts, child.id, '', { error: again.fault });
      else {
        this.adopt(child);
        this.begin(again.value, lives.get(child.id)?.answer ?? '');
        continue;
      }
      conversations.drop(child.id);
      agents.endCallChildren(parts, child.id);
    }
    for (const agent of mailedSince(recorder.state(), lives)) if (!isTaken(agent)) this.revive(agent);
  }

  /** Whether anything outside of the schedule is working. */
  working(): boolean {
    return this.now.size + this.asking.size > 0;
  }

  /** Resolves when nothing outside of the schedule works any more. Rejects with a fault of the log. */
  async settled(): Promise<void> {
    while (this.working()) await Promise.allSettled([...this.now.values(), ...this.asking]);
    if (this.faults.length > 0) throw this.faults[0];
  }

  /** The end of a revived or spawned agent that is running; undefined for others. */
  endOf(agent: AgentId): Promise<AgentOutcome | null> | undefined {
    return this.now.get(agent);
  }

  /** Revives an agent that reported its end at the moment a message arrived. */
  private left(agent: AgentId): void {
    const { recorder } = this.parts;
    const state = recorder.state();
    const one = state.agents.get(agent);
    if (one?.outcome === 'completed' && one.signalled !== null && hasMail(state, agent)) this.revive(agent);
  }

  /** Starts the agent; only `settled` waits for it here. `before`: its answer before it was revived. */
  private begin(one: agents.NewAgent, before: string): void {
    const { parts } = this;
    parts.conversations.keep(one.agent);
    // Marked first, so that the budget of its review is reserved from its first call on.
    markWork(parts, parts.reviews);
    const work = this.work(one, before)
      .catch((error: unknown) => {
        this.faults.push(error);
        parts.fail(messageOf(error));
        return null;
      })
      .finally(() => {
        if (this.now.get(one.agent) === work) this.now.delete(one.agent);
      });
    this.now.set(one.agent, work);
    if (one.taskId !== null) parts.schedule.now()?.continueWith(one.agent, work);
  }

  private async work(one: agents.NewAgent, before: string): Promise<AgentOutcome | null> {
    const { parts } = this;
    const { reviews } = parts;
    const judged = reviews.judges(one);
    // Changes from before cannot be told apart from its own, so everything unreviewed is reviewed. A fault here is met again when the agent ends.
    if (judged && one.tree !== 'own') void reviews.begin(one)?.catch(() => null);
    const [outcome] = await (one.tree === 'own' ? this.inTree(one, before, judged) : this.run(one, before));
    if (outcome === null || parts.signal.aborted) return null;
    const passage = judged ? await reviews.afterTask(one, null) : 'open';
    return passage === 'open' ? outcome : passage === null ? null : 'failed';
  }

  private run(one: agents.NewAgent, before: string): Promise<readonly [AgentOutcome | null, void]> {
    const { parts } = this;
    const over = new AbortController();
    return Promise.all([
      parts.supervisor.run(orderAgain(parts, one), undefined, before).finally(() => over.abort('ended')),
      watchOver(parts, one.agent, over.signal),
    ]);
  }

  private async inTree(one: agents.NewAgent, before: string, judged: boolean): Promise<readonly [AgentOutcome | null]> {
    const { parts } = this;
    const again = parts.recorder.state().agents.get(one.agent)?.outcome === 'completed';
    // Its new tree takes a while to make, and who has written to it sees at once that it goes on.
    if (again) parts.recorder.record({ type: 'agent.status', agent: one.agent, status: 'initializing', reason: '' });
    const work = async (now: agents.NewAgent): Promise<AgentOutcome | null> => (await this.run(now, before))[0];
    if (!judged) return [await inItsTree(parts, one, again, work)];
    return [await inItsTree(parts, one, again, work, async (merge) => (await parts.reviews.merging(one, merge)).end)];
  }

  private adopt(child: events.AgentState): void {
    const { options, recorder } = this.parts;
    if (this.isLeft(child) && childRules(options.rules).orphans === 'adopt')
      recorder.record({ type: 'agent.adopted', agent: child.id, owner: ROOT });
  }

  /** The end that follows from its parent's end, if the run was cut off before that was recorded; null: the child continues. */
  private endWithParent(
    child: events.AgentState,
    lives: ReadonlyMap<AgentId, Life>,
  ): { readonly outcome: 'killed' | 'abandoned'; readonly why: agents.EndReason } | null {
    const { options, recorder } = this.parts;
    if (!this.isLeft(child) || wasBegunAfter(lives, child)) return null;
    if (recorder.state().agents.get(child.owner ?? ROOT)?.outcome === 'killed')
      return { outcome: 'killed', why: KILLED_WITH_PARENT };
    const { orphans } = childRules(options.rules);
    return orphans === 'kill' ? { outcome: 'abandoned', why: agents.PARENT_STOPPED } : null;
  }

  private isLeft({ spawned, owner }: events.AgentState): boolean {
    const reader = owner === null ? undefined : this.parts.recorder.state().agents.get(owner);
    return spawned !== null && reader !== undefined && reader.id !== ROOT && events.isFinal(reader);
  }
}

const KILLED_WITH_PARENT: agents.EndReason = { error: 'killed with its parent', endedBy: { is: 'parent' } };

/** An agent's stretches of work in the log: event numbers, and the answer of its last successful end. */
interface Life {
  readonly begunAt: number;
  readonly endedAt: number;
  readonly answer: string;
}

function livesIn(events: Iterable<events.MimirEvent>): ReadonlyMap<AgentId, Life> {
  const lives = new Map<AgentId, Life>();
  for (const event of events) {
    if (event.type !== 'agent.finished' && (event.type !== 'agent.status' || event.status !== 'initializing')) continue;
    const life = lives.get(event.agent) ?? { begunAt: 0, endedAt: 0, answer: '' };
    const answer = event.type === 'agent.finished' && event.outcome === 'completed' ? event.summary : '';
    const next = event.type === 'agent.finished' ? { endedAt: event.seq, answer } : { begunAt: event.seq };
    lives.set(event.agent, { ...life, ...next });
  }
  return lives;
}

/** Ended agents with unread messages from after their end. */
function mailedSince({ agents, messages }: events.RunState, lives: ReadonlyMap<AgentId, Life>): readonly AgentId[] {
  const endOf = (agent: AgentId): number => lives.get(agent)?.endedAt || Infinity;
  // An agent that reported its own end also continues with messages from before it.
  const isLate = ({ to, seq }: events.SentMessage): boolean =>
    seq > endOf(to) || (agents.get(to)?.signalled ?? null) !== null;
  const readers = new Set(messages.filter((one) => !one.delivered && isLate(one)).map(({ to }) => to));
  return [...readers].filter((id) => id !== ROOT && (agents.get(id)?.outcome ?? null) !== null);
}

/** Whether a message revived it after its parent had ended. */
const wasBegunAfter = (lives: ReadonlyMap<AgentId, Life>, { id, owner }: events.AgentState): boolean =>
  (lives.get(id)?.begunAt ?? 0) > (lives.get(owner ?? ROOT)?.endedAt ?? 0);

// Silent children: the owner is notified once; silence is measured from events.

/** The shortest wait between two checks, because an event may arrive in the same moment. */
const SHORTEST = 50;

/** Watches `agent` until `over` is aborted, it has ended, or its owner was notified. Rejects with a fault of the log. */
async function watchOver(
  { options, recorder, gate, world }: FamilyParts,
  agent: AgentId,
  over: AbortSignal,
): Promise<void> {
  while (!over.aborted) {
    const state = recorder.state();
    const child = state.agents.get(agent);
    if (child === undefined || events.isFinal(child) || child.spawned === null) return;
    const limit = patienceWith(child, childRules(options.rules));
    if (limit === null || state.messages.some(({ notice: other }) => other?.of === agent && other.is === 'idle'))
      return;
    const left = silentSince(child, state, world.now()) + limit - world.now();
    if (left > 0) {
      await world.sleep(Math.max(left, SHORTEST), over);
      continue;
    }
    const last = events.activityOf(child);
    const words = `Child ${child.name} is idle: nothing from it for ${limit / 1000} s${last === '' ? '' : ` (last: ${last})`}`;
    const told = agents.notice(state, child, { is: 'idle' }, words);
    if (told.length === 0) return;
    recorder.record(...told);
    gate.inbox.arrived(told);
  }
}

/** A child that waits for a slot does not count as silent. */
const silentSince = (child: events.AgentState, state: events.RunState, now: Millis): Millis =>
  child.status === 'initializing' ? now : events.activeAt(child, state);

/** Milliseconds of silence before the owner is notified; null: never. */
function patienceWith({ spawned }: events.AgentState, { notify, idleTimeout }: ChildRules): Millis | null {
  const wait = spawned?.wait ?? 0;
  if (wait > 0) return wait * 1000;
  return notify.idle && idleTimeout > 0 ? idleTimeout : null;
}

// Continuing an agent that is in the log: with its original spec, the present rules, and its whole conversation.

const CLOSED: Readonly<Partial<Record<AgentOutcome, string>>> = {
  killed: 'was killed',
  abandoned: 'was abandoned',
  skipped: 'was skipped',
};

/** A revived child counts against its parent's limit like a new one. */
function whyCrowded({ options, recorder }: FamilyParts, { name, parent, spawned }: events.AgentState): string | null {
  if (spawned === null || parent === null) return null;
  const { maxPerParent } = childRules(options.rules);
  const siblings = events.openBelow(recorder.state(), parent).length;
  if (siblings < maxPerParent.value) return null;
  const rule = `${maxPerParent.from.rule}: ${siblings} children of its parent are not done`;
  return `${name} cannot continue now: ${reasonText({ ...maxPerParent.from, rule })}`;
}

/** The spec to continue with, or the rule that now forbids it. */
function agentAgain({ options, recorder, root }: FamilyParts, one: events.AgentState): Result<agents.NewAgent, string> {
  const problemOf = one.taskId === null ? roleProblem : plannedRoleProblem;
  const problem = problemOf(one.role, options.rules, options.roles);
  if (problem !== null) return fail(`${problem.text}: ${reasonText(problem.reason)}`);
  const role = roleNamed(one.role, options.roles);
  if (role === null) return fail(`role ${one.role} no longer exists`);
  return ok(agents.recreatedAgent(one, role, capabilitiesIn(options, root, recorder.state(), one)));
}

/** The work order to continue with. Earlier turns do not count against its limit of turns. */
function orderAgain({ options, recorder, conversations }: FamilyParts, one: agents.NewAgent): WorkOrder {
  const state = recorder.state();
  const findings = agents.findingsOf(state, one.dependsOn, agents.findingLimits(options, one.model.used));
  const order = agents.workOrderFor(options, one, findings);
  const dir = events.workingDirOf(state, one.agent);
  return {
    ...order,
    iterations: order.iterations + conversations.repliesBefore(one.agent),
    ...(dir === '' ? {} : { workingDir: dir }),
  };
}
