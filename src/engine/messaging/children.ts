/**
 * Children beyond the plan, which work beside their parent, and agents that a message revives: all that works in the run
 * without a place in its schedule. How one is made is in spawn.ts, what its end brings about in child-end.ts.
 */
import type { AgentOutcome } from '../../domain/agents/agent.ts';
import type { SpawnWish } from '../../domain/agents/spawn.ts';
import type { AgentId, Millis } from '../../domain/ids.ts';
import { ROOT } from '../../domain/ids.ts';
import type { Result } from '../../domain/result.ts';
import { ok } from '../../domain/result.ts';
import type { MimirEvent } from '../../events/event.ts';
import { activityOf, isFinal } from '../../events/queries.ts';
import { activeAt } from '../../events/sessions/lifecycle.ts';
import type { AgentState, RunState, SentMessage } from '../../events/state.ts';
import { childRules } from '../../policy/children.ts';
import type { ChildRules } from '../../policy/rules.ts';
import type { Receipt } from '../../ports/controls.ts';
import type { Ties } from '../agents/agent-end.ts';
import type { NewAgent } from '../agents/agent-spec.ts';
import { PARENT_STOPPED } from '../agents/agent-end.ts';
import type { EndReason } from '../agents/agent-end.ts';
import { markWork } from '../reviews/batch.ts';
import type { RunParts } from '../run/parts.ts';
import { agentAgain, orderAgain, whyClosed } from './child-again.ts';
import type { End } from './child-end.ts';
import { isOwed, notice, openChildrenOf, withEnd } from './child-end.ts';
import { hasMail } from './inbox.ts';
import { made, namedWords } from './spawn.ts';

/**
 * For an idle run: ROOT is woken by `parts.inbox.onMail(ROOT, wake)`, told of each message to it, of a person, an agent or a
 * notice of a child; `gate.waiting` then has it. `children.settled()` and `children.working()` say whether the others are done.
 */
export interface Children {
  /** Makes a child of `parent` and lets it work; `by`: the agent that asks, null for a person. May wait for the person's leave. */
  spawn(parent: AgentId, wish: SpawnWish, by: AgentId | null): Promise<Result<Receipt, string>>;
  /** Lets an agent that has ended go on with its whole conversation; null, or why it can't. Its message is in the log already. */
  revive(agent: AgentId): string | null;
  /** Why no message revives an agent that has ended; null: one does, or it has not ended. */
  closed(agent: AgentId): string | null;
  /**
   * Of a resumed run, once, behind `reopen`: what had not ended goes on, and so does who has ended and was written to after that.
   * `isTaken`: somebody else lets it go on.
   */
  resume(isTaken?: (agent: AgentId) => boolean): void;
  /** Does anything work that is not in the schedule? */
  working(): boolean;
  /** Resolves when nothing of that works any more, at once where nothing does. Rejects with the fault of a log. */
  settled(): Promise<void>;
  /** The end of the work of one that was revived or spawned and works now; undefined for others. */
  endOf(agent: AgentId): Promise<AgentOutcome | null> | undefined;
}

/** Spawned children that had not ended when the run did. Nobody but `resume` goes on with them. */
const unfinishedChildren = (state: RunState): readonly AgentState[] =>
  [...state.agents.values()].filter((one) => one.spawned !== null && !isFinal(one));

export const openChildren = (parts: () => RunParts): Children & Ties => new Beside(parts);

class Beside implements Children, Ties {
  private readonly of: () => RunParts;
  /** What works now, each with its end. */
  private readonly now = new Map<AgentId, Promise<AgentOutcome | null>>();
  /** Spawns that wait for a person. */
  private readonly asking = new Set<Promise<unknown>>();
  private readonly faults: unknown[] = [];

  constructor(parts: () => RunParts) {
    this.of = parts;
  }

  async spawn(parent: AgentId, wish: SpawnWish, by: AgentId | null): Promise<Result<Receipt, string>> {
    const parts = this.of();
    const making = made(parts, { parent, wish, by }, (child) => {
      parts.conversations.keep(child.agent, true);
      this.begin(child, '');
    });
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

  closed(agent: AgentId): string | null {
    return whyClosed(this.of(), agent);
  }

  revive(agent: AgentId): string | null {
    const parts = this.of();
    const state = parts.recorder.state().agents.get(agent);
    if (state === undefined || !isFinal(state)) return null;
    const closed = whyClosed(parts, agent);
    if (closed !== null) return closed;
    // Whoever goes on with the run finds the message, and lets it go on then.
    if (parts.signal.aborted) return null;
    const one = agentAgain(parts, state);
    if (!one.ok) return one.fault;
    this.adopt(state);
    this.begin(one.value, state.outcome === 'completed' ? state.summary : '');
    return null;
  }

  resume(isTaken: (agent: AgentId) => boolean = () => false): void {
    const parts = this.of();
    const { recorder, crew, conversations } = parts;
    const lives = livesIn(recorder.each({ types: ['agent.status', 'agent.finished'] }));
    // Who was made or written to since the run goes on works already.
    const open = unfinishedChildren(recorder.state()).filter(({ id }) => !this.now.has(id));
    for (const { id } of open) conversations.keep(id, false);
    for (const child of open) {
      const end = this.endWithParent(child, lives);
      const again = agentAgain(parts, child);
      if (end !== null) recorder.record(crew.finished(child.id, end.outcome, child.summary, end.why));
      else if (!again.ok)
        this.end({
          agent: child.id,
          outcome: 'failed',
          summary: `Failed: ${again.fault}`,
          error: again.fault,
          silent: false,
        });
      else {
        this.adopt(child);
        this.begin(again.value, lives.get(child.id)?.answer ?? '');
        continue;
      }
      conversations.drop(child.id);
      this.endCalled(child.id);
    }
    for (const agent of mailedSince(recorder.state(), lives)) if (!isTaken(agent)) this.revive(agent);
  }

  working(): boolean {
    return this.now.size + this.asking.size > 0;
  }

  async settled(): Promise<void> {
    while (this.working()) await Promise.allSettled([...this.now.values(), ...this.asking]);
    if (this.faults.length > 0) throw this.faults[0];
  }

  endOf(agent: AgentId): Promise<AgentOutcome | null> | undefined {
    return this.now.get(agent);
  }

  isOwed(agent: AgentId): boolean {
    return isOwed(this.of().recorder.state(), agent);
  }

  end(end: End): void {
    const { options, recorder, inbox, crew } = this.of();
    const rules = childRules(options.rules);
    const state = recorder.state();
    const left = rules.orphans === 'kill' ? openChildrenOf(state, end.agent) : [];
    const more = withEnd(state, end, rules);
    recorder.record(crew.finished(end.agent, end.outcome, end.summary, end), ...more);
    for (const { id } of left) crew.abandon(id);
    this.endCalled(end.agent);
    inbox.arrived(more);
    // Also where it is told nothing: it may have waited for just that.
    const owner = state.agents.get(end.agent)?.owner ?? null;
    if (owner !== null) inbox.stir(owner);
  }

  /** It had said that it is done in the very moment when it was written to: it goes on with that. */
  left(agent: AgentId): void {
    const { recorder } = this.of();
    const state = recorder.state();
    const one = state.agents.get(agent);
    if (one?.outcome === 'completed' && one.signalled !== null && hasMail(state, agent)) this.revive(agent);
  }

  onMail(agent: AgentId, heard: () => void): () => void {
    return this.of().inbox.onMail(agent, heard);
  }

  /** Lets it work; nothing waits for it here but `settled`. `before`: what it has answered in an earlier stretch. */
  private begin(one: NewAgent, before: string): void {
    const parts = this.of();
    // What its review will need is kept back from its first call on.
    markWork(parts);
    const work = this.work(parts, one, () => parts.crew.run(orderAgain(parts, one), undefined, before))
      .catch((error: unknown) => {
        this.faults.push(error);
        parts.stop(error instanceof Error ? error.message : String(error));
        return null;
      })
      .finally(() => {
        if (this.now.get(one.agent) === work) this.now.delete(one.agent);
      });
    this.now.set(one.agent, work);
    if (one.taskId !== null) parts.scheduling.now?.goesOn(one.agent, work);
  }

  private async work(
    parts: RunParts,
    one: NewAgent,
    run: () => Promise<AgentOutcome | null>,
  ): Promise<AgentOutcome | null> {
    const { forced } = parts;
    const judged = forced.judges(one);
    // What was in the project before it can't be told from what it wrote at once: all is judged that was not yet.
    // A fault of looking is met again when it has ended, and by whoever waits for that.
    if (judged) void forced.begin(one)?.catch(() => null);
    const over = new AbortController();
    const [outcome] = await Promise.all([
      run().finally(() => over.abort('ended')),
      watchOver(parts, one.agent, over.signal),
    ]);
    if (outcome === null || parts.signal.aborted) return null;
    const passage = judged ? await forced.afterTask(one, null) : 'open';
    return passage === 'open' ? outcome : passage === null ? null : 'failed';
  }

  /** Those that it had called for by a tool before the run was resumed, and never went on with: nobody does by now. */
  private endCalled(parent: AgentId): void {
    const { recorder, crew } = this.of();
    const { agents } = recorder.state();
    for (const id of agents.get(parent)?.children ?? []) {
      const one = agents.get(id);
      if (one === undefined || one.call === null || isFinal(one) || crew.signal(id) !== null) continue;
      this.end({ agent: id, outcome: 'abandoned', summary: one.summary, error: 'its parent stopped', silent: true });
    }
  }

  /** ROOT takes on whose parent has ended. */
  private adopt(child: AgentState): void {
    const { options, recorder } = this.of();
    if (this.isLeft(child) && childRules(options.rules).orphans === 'adopt')
      recorder.record({ type: 'agent.adopted', agent: child.id, owner: ROOT });
  }

  /** Its parent's end was to be its own, and the run was cut off before that; null: it goes on. */
  private endWithParent(
    child: AgentState,
    lives: ReadonlyMap<AgentId, Life>,
  ): { readonly outcome: 'killed' | 'abandoned'; readonly why: EndReason } | null {
    const { options, recorder } = this.of();
    if (!this.isLeft(child) || wasBegunAfter(lives, child)) return null;
    if (recorder.state().agents.get(child.owner ?? ROOT)?.outcome === 'killed')
      return { outcome: 'killed', why: KILLED_WITH_PARENT };
    const { orphans } = childRules(options.rules);
    return orphans === 'kill' ? { outcome: 'abandoned', why: PARENT_STOPPED } : null;
  }

  private isLeft({ spawned, owner }: AgentState): boolean {
    const reader = owner === null ? undefined : this.of().recorder.state().agents.get(owner);
    return spawned !== null && reader !== undefined && reader.id !== ROOT && isFinal(reader);
  }
}

const KILLED_WITH_PARENT: EndReason = { error: 'killed with its parent', endedBy: { is: 'parent' } };

/** What the log says of an agent's stretches of work: numbers of events, and what it had answered when its work ended last, if well. */
interface Life {
  readonly begunAt: number;
  readonly endedAt: number;
  readonly answer: string;
}

function livesIn(events: Iterable<MimirEvent>): ReadonlyMap<AgentId, Life> {
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

/** Who has ended, and was written to after that without an answer. */
function mailedSince({ agents, messages }: RunState, lives: ReadonlyMap<AgentId, Life>): readonly AgentId[] {
  const endOf = (agent: AgentId): number => lives.get(agent)?.endedAt || Infinity;
  // Who has ended by its own word was to go on with what had come before that as well.
  const isLate = ({ to, seq }: SentMessage): boolean => seq > endOf(to) || (agents.get(to)?.signalled ?? null) !== null;
  const readers = new Set(messages.filter((one) => !one.delivered && isLate(one)).map(({ to }) => to));
  return [...readers].filter((id) => id !== ROOT && (agents.get(id)?.outcome ?? null) !== null);
}

/** Did it go on by a message when its parent had ended already? */
const wasBegunAfter = (lives: ReadonlyMap<AgentId, Life>, { id, owner }: AgentState): boolean =>
  (lives.get(id)?.begunAt ?? 0) > (lives.get(owner ?? ROOT)?.endedAt ?? 0);

// Children that nothing is heard of: their owner is told once, measured from events.

/** Between two looks at least: an event may come in the same moment. */
const SHORTEST = 50;

/** Watches over `agent` until `over` is aborted, it has ended, or its owner was told. Rejects with the fault of a log. */
async function watchOver(
  { options, recorder, inbox, world }: Pick<RunParts, 'options' | 'recorder' | 'inbox' | 'world'>,
  agent: AgentId,
  over: AbortSignal,
): Promise<void> {
  while (!over.aborted) {
    const state = recorder.state();
    const child = state.agents.get(agent);
    if (child === undefined || isFinal(child) || child.spawned === null) return;
    const limit = patienceWith(child, childRules(options.rules));
    if (limit === null || state.messages.some(({ notice: told }) => told?.of === agent && told.is === 'idle')) return;
    const left = silentSince(child, state, world.now()) + limit - world.now();
    if (left > 0) {
      await world.sleep(Math.max(left, SHORTEST), over);
      continue;
    }
    const last = activityOf(child);
    const words = `Child ${child.name} is idle: nothing from it for ${limit / 1000} s${last === '' ? '' : ` (last: ${last})`}`;
    const events = notice(state, child, 'idle', words);
    if (events.length === 0) return;
    recorder.record(...events);
    inbox.arrived(events);
  }
}

/** Who waits for a slot is not silent: it was not let in yet. */
const silentSince = (child: AgentState, state: RunState, now: Millis): Millis =>
  child.status === 'initializing' ? now : activeAt(child, state);

/** How long it may be silent before its owner is told; null: for ever. */
function patienceWith({ spawned }: AgentState, { notify, idleTimeout }: ChildRules): Millis | null {
  const wait = spawned?.wait ?? 0;
  if (wait > 0) return wait * 1000;
  return notify.idle && idleTimeout > 0 ? idleTimeout : null;
}
