/** Children that nothing is heard of: their owner is told once, measured from events. */
import type { AgentId, Millis } from '../../domain/ids.ts';
import { activityOf, isFinal } from '../../events/queries.ts';
import { activeAt } from '../../events/sessions/lifecycle.ts';
import type { AgentState, RunState } from '../../events/state.ts';
import { childRules } from '../../policy/children.ts';
import type { ChildRules } from '../../policy/rules.ts';
import { notice } from './child-end.ts';
import type { RunParts } from '../run/parts.ts';

/** Between two looks at least: an event may come in the same moment. */
const SHORTEST = 50;

/** Watches over `agent` until `over` is aborted, it has ended, or its owner was told. Rejects with the fault of a log. */
export async function watchOver(
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
