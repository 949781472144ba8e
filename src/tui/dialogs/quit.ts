/** Leaving while a run goes on: stop it and keep it resumable, or stay. */
import { ROOT } from '../../domain/ids.ts';
import type { RunState } from '../../events/state.ts';
import { isAtWork } from '../agents.ts';
import type { Context, Elsewhere } from '../screen.ts';
import { span } from '../text/clip.ts';
import type { Line } from '../text/line.ts';
import { confirmOverlay } from './confirm.ts';
import type { Overlay } from './overlay.ts';

/** `leave` is called when the person says so. */
export function quitOverlay({ state, elsewhere }: Context, leave: () => void): Overlay {
  const working = [...state.agents.values()].filter(isAtWork).length;
  const [now, whom] = whatGoesOn(state, working);
  return confirmOverlay(
    {
      is: 'confirm',
      title: 'Leave Mimir?',
      lines: [
        [span(now, { fg: 'fg' })],
        ...(elsewhere === undefined ? stopping(state, whom) : parting(state, elsewhere)),
      ],
      yes: elsewhere === undefined ? 'stop the run and leave' : 'leave',
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

const stopping = ({ session }: RunState, whom: string): readonly Line[] => [
  [span(`Leaving stops ${whom}. Everything recorded is kept, and`, { fg: 'fg' })],
  [span(`  mimir resume ${session ?? ''}`.trimEnd(), { fg: 'info', bold: true })],
  [span('goes on from the last recorded turn.', { fg: 'fg' })],
  [span('With d on the run screen it goes on without this screen instead.', { fg: 'muted' })],
];

/** Another process carries it: leaving ends nothing there. */
const parting = ({ session }: RunState, { lost }: Elsewhere): readonly Line[] => [
  [
    span(
      lost === null ? 'The run goes on in its own process, and' : 'Its process is gone. What it recorded is kept, and',
      { fg: 'fg' },
    ),
  ],
  [span(`  mimir ${lost === null ? 'attach' : 'resume'} ${session ?? ''}`.trimEnd(), { fg: 'info', bold: true })],
  [
    span(
      lost === null
        ? `comes back to it; mimir kill ${session ?? ''} stops it instead.`
        : 'goes on from the last recorded turn.',
      {
        fg: 'fg',
      },
    ),
  ],
];

/** What leaving interrupts, and the word for it. */
function whatGoesOn({ phase, idle, agents }: RunState, working: number): readonly [now: string, whom: string] {
  if (phase === 'approving') return ['The plan waits for you.', 'the run'];
  const waits = idle && working === 1 && agents.get(ROOT)?.status === 'waiting';
  if (waits) return ['Main waits for what it is told.', 'the run'];
  if (working === 0) return ['The run is not finished.', 'it'];
  return working === 1 ? ['1 agent is at work.', 'it'] : [`${working} agents are at work.`, 'them'];
}
