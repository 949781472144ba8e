/** How a run went, in one line: completed, partly done, stopped, failed, and how many of its agents came how far. */
import { isTakenOut } from '../../../../events/queries.ts';
import type { RunState } from '../../../../events/state.ts';
import { inOrder } from '../../../../app/views/agents/agent-lines.ts';
import { counted } from '../../../../app/views/text/format.ts';
import type { Context } from '../../frame/screen.ts';
import { fit, span } from '../../../../app/views/text/clip.ts';
import type { Ink, Line } from '../../../../app/views/text/line.ts';

/** Exactly `width` columns. */
export function statusLine({ state, glyphs }: Context, width: number): Line {
  const { ink, sign, words } = wordsOf(state);
  const next =
    state.finished?.status === 'stopped' && state.session !== null
      ? ` ${glyphs.dot} mimir resume ${state.session} goes on`
      : '';
  return fit(
    [
      span(` ${glyphs.status[sign]} ${words}`, { fg: ink, bold: true }),
      span(countText(state), { fg: 'fg' }),
      span(next, { fg: 'muted' }),
    ],
    width,
    {},
    glyphs.ellipsis,
  );
}

interface Words {
  readonly ink: Ink;
  readonly sign: 'completed' | 'failed' | 'interrupted';
  readonly words: string;
}

/** A run whose agents were killed or skipped, while none failed, isn't called failed: a person wanted it so. */
function wordsOf(state: RunState): Words {
  const status = state.finished?.status ?? 'stopped';
  if (status === 'completed') return { ink: 'ok', sign: 'completed', words: 'Completed' };
  if (status === 'rejected') return { ink: 'warn', sign: 'interrupted', words: 'The plan was not approved' };
  if (status === 'stopped') return { ink: 'warn', sign: 'interrupted', words: 'Stopped' };
  const ends = [...state.agents.values()].filter(({ parent }) => parent !== null).map(({ outcome }) => outcome);
  const partly = ends.includes('completed') && !ends.includes('failed');
  return partly
    ? { ink: 'warn', sign: 'interrupted', words: 'Partly done' }
    : { ink: 'err', sign: 'failed', words: 'Failed' };
}

/** `: 5 of 7 agents completed, 1 failed, 1 killed`. */
function countText(state: RunState): string {
  const agents = inOrder(state).filter((agent) => agent.parent !== null && !isTakenOut(agent));
  if (agents.length === 0) return '';
  const count = new Map<string, number>();
  for (const { outcome, status } of agents) count.set(outcome ?? status, (count.get(outcome ?? status) ?? 0) + 1);
  const completed = count.get('completed') ?? 0;
  count.delete('completed');
  const others = [...count].map(([what, many]) => `, ${many} ${what}`).join('');
  const all = agents.length === 1 ? 'its agent' : `all ${agents.length} agents`;
  return `: ${completed === agents.length ? all : `${completed} of ${counted(agents.length, 'agent')}`} completed${others}`;
}
