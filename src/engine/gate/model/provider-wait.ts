/**
 * An agent waits for a provider: it is shown as waiting, with the reason; its own clock stands still, the run's goes on. It keeps its slot: waits are short and few (backoff.ts), and who comes back finds its place. An
 * interrupt, a kill, an urgent message or another model ends the wait at once.
 */
import type { WorkOrder } from '../../../domain/agents/agent.ts';
import type { AgentId, Millis } from '../../../domain/ids.ts';
import { fail, ok, type Result } from '../../../domain/result.ts';
import type { WaitReason } from './backoff.ts';
import { type GateFault, type StepParts, stepSignal, whyEnded } from './call-scope.ts';

/** Agents that wait for a provider while a person gives them another model: they need not wait any longer. */
export interface Switches {
  /** `leave` is called when `agent` gets another model. Returns what ends the watch. */
  watch(agent: AgentId, leave: () => void): () => void;
  /** To be said when it was written down. */
  switched(agent: AgentId): void;
}

export function openSwitches(): Switches {
  const waiting = new Map<AgentId, () => void>();
  return {
    watch(agent, leave) {
      waiting.set(agent, leave);
      return () => void (waiting.get(agent) === leave && waiting.delete(agent));
    },
    switched: (agent) => waiting.get(agent)?.(),
  };
}

export type WaitParts = StepParts & { readonly switches: Pick<Switches, 'watch'> };

/** What `wait` resolves with, and why it was ended early, if it was. */
interface Waited<T> {
  readonly value: T;
  readonly early: GateFault | null;
}

/** Runs `wait`, which says what it waits for as soon as it has to; the agent goes on running afterwards. */
export async function whileWaiting<T>(
  parts: WaitParts,
  order: WorkOrder,
  signal: AbortSignal,
  wait: (say: (why: WaitReason) => void, signal: AbortSignal) => Promise<T>,
): Promise<Waited<T>> {
  const { recorder } = parts;
  const { agent } = order;
  const step = stepSignal(parts, order, signal, 'whole');
  const left = new AbortController();
  const unwatch = parts.switches.watch(agent, () => left.abort('another model'));
  let shown = false;
  const say = (why: WaitReason): void => {
    shown = true;
    recorder.record({ type: 'agent.status', agent, status: 'waiting', ...why, waitsFor: 'provider' });
  };
  try {
    const value = await wait(say, AbortSignal.any([step.signal, left.signal]));
    const again = left.signal.aborted ? ({ is: 'again' } as const) : null;
    const early = step.signal.aborted ? whyEnded(parts, order, step, signal) : again;
    // Who was stopped is given its state by who stopped it.
    if (shown && early?.is !== 'stopped')
      recorder.record({ type: 'agent.status', agent, status: 'running', reason: '' });
    return { value, early };
  } finally {
    unwatch();
    step.end();
  }
}

/** A wait of the agent alone, by the clock. */
export async function sleepFor(
  parts: WaitParts,
  order: WorkOrder,
  { wait, why }: { readonly wait: Millis; readonly why: WaitReason },
  signal: AbortSignal,
): Promise<Result<null, GateFault>> {
  const { early } = await whileWaiting(parts, order, signal, (say, ended) => {
    say(why);
    return parts.world.sleep(wait, ended);
  });
  return early === null ? ok(null) : fail(early);
}
