/** Leaving while a run goes on: stop it and keep it resumable, or stay. */
import type { RunState } from '../../events/state.ts';
import { isAtWork } from '../agents.ts';
import type { Context } from '../screen.ts';
import { span } from '../text/clip.ts';
import { confirmOverlay } from './confirm.ts';
import type { Overlay } from './overlay.ts';

/** `leave` is called when the person says so. */
export function quitOverlay({ state }: Context, leave: () => void): Overlay {
  const working = [...state.agents.values()].filter(isAtWork).length;
  const [now, whom] = whatGoesOn(state, working);
  return confirmOverlay(
    {
      is: 'confirm',
      title: 'Leave Mimir?',
      lines: [
        [span(now, { fg: 'fg' })],
        [span(`Leaving stops ${whom}. Everything recorded is kept, and`, { fg: 'fg' })],
        [span(`  mimir resume ${state.session ?? ''}`.trimEnd(), { fg: 'info', bold: true })],
        [span('goes on from the last recorded turn.', { fg: 'fg' })],
      ],
      yes: 'stop the run and leave',
      no: 'stay',
      word: '',
      then: () => {
        leave();
        return {};
      },
    },
    'quit',
  );
}

/** What leaving interrupts, and the word for it. */
function whatGoesOn({ phase }: RunState, working: number): readonly [now: string, whom: string] {
  if (phase === 'approving') return ['The plan waits for you.', 'the run'];
  if (working === 0) return ['The run is not finished.', 'it'];
  return working === 1 ? ['1 agent is at work.', 'it'] : [`${working} agents are at work.`, 'them'];
}
