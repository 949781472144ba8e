/** Leaving while a run goes on: stop it and keep it resumable, or stay. */
import { isAtWork } from '../agents.ts';
import type { Context } from '../screen.ts';
import { span } from '../text/clip.ts';
import { confirmOverlay } from './confirm.ts';
import type { Overlay } from './overlay.ts';

/** `leave` is called when the person says so. */
export function quitOverlay({ state }: Context, leave: () => void): Overlay {
  const working = [...state.agents.values()].filter(isAtWork).length;
  const now =
    working === 0 ? 'The run is not finished.' : `${working} agent${working === 1 ? ' is' : 's are'} at work.`;
  return confirmOverlay(
    {
      is: 'confirm',
      title: 'Leave Mimir?',
      lines: [
        [span(now, { fg: 'fg' })],
        [span('Leaving stops them. Everything recorded is kept, and', { fg: 'fg' })],
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
