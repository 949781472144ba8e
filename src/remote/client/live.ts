/** What streams past, for one client: merged while it reads slowly, and left out when it doesn't read. Events hold all that lasts. */
import type { AgentId } from '../../domain/ids.ts';
import type { Tick } from '../../ports/controls.ts';
import type { Outbox } from '../stream.ts';

/** Characters that are kept for a client that does not read. */
const MOST = 64 * 1024;

/** Gives each tick to the client when there is room; several of one agent and kind become one. */
export function openLive(outbox: Outbox): (tick: Tick) => void {
  const kept = new Map<AgentId, Tick[]>();
  let [size, planned] = [0, false];

  const flush = async (): Promise<void> => {
    const there = await outbox.room();
    planned = false;
    if (there) for (const tick of [...kept.values()].flat()) outbox.send({ tick });
    kept.clear();
    size = 0;
  };
  return (tick) => {
    // A gap in the middle reads worse than a later beginning.
    if (size + tick.delta.length > MOST) {
      kept.clear();
      size = 0;
    }
    const delta = tick.delta.slice(-MOST);
    size += delta.length;
    const own = kept.get(tick.agent) ?? [];
    const last = own.at(-1);
    if (last?.is === tick.is && last.tool === tick.tool) own[own.length - 1] = { ...last, delta: last.delta + delta };
    else own.push({ ...tick, delta });
    kept.set(tick.agent, own);
    if (planned) return;
    planned = true;
    setImmediate(() => void flush());
  };
}
