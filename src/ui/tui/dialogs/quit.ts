/** Leaving while a run goes on: leave it running in a process of its own, stop it and keep it resumable, or stay. */
import { ROOT } from '../../../domain/ids.ts';
import type { RunState } from '../../../events/state.ts';
import { isAtWork } from '../../../app/views/agents/agent-lines.ts';
import type { Context, Elsewhere } from '../frame/screen.ts';
import { span } from '../../../app/views/text/clip.ts';
import type { Line } from '../../../app/views/text/line.ts';
import { confirmOverlay } from './confirm.ts';
import { isIdle } from '../../../app/views/agents/wait-reason.ts';
import type { Overlay } from '../frame/overlay.ts';

/** `leave` is called when the person says so. */
export function quitOverlay({ state, elsewhere }: Context, leave: () => void): Overlay {
  const working = [...state.agents.values()].filter((agent) => isAtWork(agent) && !isIdle(agent)).length;
  const here = elsewhere === undefined;
  return confirmOverlay(
    {
      is: 'confirm',
      title: 'Leave Mimir?',
      lines: [
        [span(whatGoesOn(state, working), { fg: 'fg' })],
        ...(here ? leavingHere(state) : parting(state, elsewhere)),
      ],
      yes: here ? 'stop it' : 'leave',
      no: 'stay',
      word: '',
      ...(here ? { instead: { key: 'd', hint: 'leave running', leadsTo: { app: 'detach' } } } : {}),
      then: () => {
        leave();
        return {};
      },
    },
    'quit',
  );
}

/** This process carries it: without it the run stops, unless another one takes it. */
const leavingHere = ({ session, phase }: RunState): readonly Line[] => [
  [
    span(`Left running, it ${phase === 'approving' ? 'waits' : 'goes on'} without this screen; come back with`, {
      fg: 'fg',
    }),
  ],
  [span(`  mimir attach ${session ?? ''}`.trimEnd(), { fg: 'info', bold: true })],
  [span('Stopped, as by closing the window, it can be gone on with by', { fg: 'fg' })],
  [span(`  mimir resume ${session ?? ''}`.trimEnd(), { fg: 'info', bold: true })],
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

function whatGoesOn({ phase, idle, agents }: RunState, working: number): string {
  if (phase === 'approving') return 'The plan waits for you.';
  const main = agents.get(ROOT);
  if (working === 0)
    return idle && main !== undefined && isIdle(main) ? 'Main waits for what it is told.' : 'The run is not finished.';
  return working === 1 ? '1 agent is at work.' : `${working} agents are at work.`;
}
