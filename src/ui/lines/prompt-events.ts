/** What in a run changes what a person in line mode is asked, and waiting for it to be so. */
import type { MimirEvent } from '../../events/event.ts';
import type { Command } from '../../ports/controls.ts';
import { world } from '../../app/process/world.ts';

/** After these no plan waits any more. */
export const DECIDING: ReadonlySet<Command['do']> = new Set(['approve plan', 'reject plan', 'plan again'] as const);

/** What changes what the person is asked. */
export const ROUSING: ReadonlySet<MimirEvent['type']> = new Set([
  'session.started',
  'session.resumed',
  'plan.proposed',
  'plan.approved',
  'plan.rejected',
  'approval.requested',
  'approval.answered',
  'session.finished',
]);

/** Until a change of the plan is in the log. */
const CHANGED_MS = 2000;

/** Resolves when `done` says yes, or after a while without. */
export async function until(done: () => boolean): Promise<void> {
  for (let waited = 0; !done() && waited < CHANGED_MS; waited += 5) await world.sleep(5);
}
