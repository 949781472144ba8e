/**
 * Children beyond the plan, which work beside their parent, and agents that a message revives: all that works in the run
 * without a place in its schedule. How one is made is in children-spawn.ts, what its end brings about in children-end.ts.
 */
import type { AgentId } from '../domain/ids.ts';
import type { Result } from '../domain/result.ts';
import { fail } from '../domain/result.ts';
import type { SpawnWish } from '../domain/spawn.ts';
import type { RunState } from '../events/state.ts';
import { isFinal } from '../events/queries.ts';
import type { AgentState } from '../events/state.ts';
import type { Receipt } from '../ports/controls.ts';
import type { RunParts } from './parts.ts';

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
  /** Of a resumed run, once, behind `reopen`: what had not ended goes on, who has mail is revived, what has lost its parent is told. */
  resume(): void;
  /** Does anything work that is not in the schedule? */
  working(): boolean;
  /** Resolves when nothing of that works any more, at once where nothing does. Rejects with the fault of a log. */
  settled(): Promise<void>;
  /** The end of the work of one that was revived or spawned and works now; undefined for others. */
  endOf(agent: AgentId): Promise<unknown> | undefined;
}

/** Spawned children that had not ended when the run did: they go on by `resume`, nobody else ends them. */
export const unfinishedChildren = (state: RunState): readonly AgentState[] =>
  [...state.agents.values()].filter((one) => one.spawned !== null && !isFinal(one));

export function openChildren(_parts: () => RunParts): Children {
  const no = 'there are no children yet';
  return {
    spawn: () => Promise.resolve(fail(no)),
    revive: () => no,
    closed: () => no,
    resume: () => undefined,
    working: () => false,
    settled: () => Promise.resolve(),
    endOf: () => undefined,
  };
}
