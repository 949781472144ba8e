/** The title of the terminal's window: seen from another one. */
import { countsOf } from '../../../app/views/agent-counts.ts';
import { runSpending } from '../../../app/views/spending/spending.ts';
import type { Context } from '../frame/screen.ts';

/** `mimir ? 2 ● 4 run $0.38`: how many questions wait for the person, who works, what was spent; `mimir` where nothing runs. */
export function windowTitle({ state, glyphs }: Context): string {
  if (state.session === null) return 'mimir';
  const cost = `$${runSpending(state).cost.toFixed(2)}`;
  const asks = state.approvals.length === 0 ? '' : `? ${state.approvals.length} `;
  if (state.finished) {
    const sign = glyphs.status[state.finished.status === 'completed' ? 'completed' : 'failed'];
    return `mimir ${sign} ${state.finished.status} ${cost}`;
  }
  const { running: working } = countsOf(state);
  return `mimir ${asks}${working > 0 ? `${glyphs.status.running} ${working} run` : state.phase} ${cost}`;
}
