/** The title of the terminal's window: seen from another one. */
import { countByStatus, spentOf } from '../../events/queries.ts';
import type { Context } from '../screen.ts';

/** `mimir ● 4 $0.38`, with what needs a person first; `mimir` where nothing runs. */
export function windowTitle({ state, glyphs }: Context): string {
  if (state.session === null) return 'mimir';
  if (state.approvals.length > 0) return `mimir ? ${state.approvals.length} ask you`;
  const { running, initializing } = countByStatus(state);
  const working = running + initializing;
  const cost = `$${spentOf(state).cost.toFixed(2)}`;
  if (state.finished) return `mimir ${state.finished.status} ${cost}`;
  return working > 0 ? `mimir ${glyphs.status.running} ${working} ${cost}` : `mimir ${state.phase} ${cost}`;
}
