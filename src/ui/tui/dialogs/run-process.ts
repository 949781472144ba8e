/** Dialogs about the process of a run: quitting, detaching, taking over a lost run, and waiting for a draft. */
import type { Line } from '../../../app/views/index.ts';
import { fit, formatDuration, span, toLabel, operationsInFlight } from '../../../app/views/index.ts';
import { wrap, wrapText } from '../../../app/views/index.ts';
import { type Millis, ROOT } from '../../../domain/ids.ts';
import { isAtWork, isIdle, type RunState } from '../../../events/index.ts';
import { lostWords } from '../components/notices.ts';
import type { Overlay } from '../frame/overlay.ts';
import type { Context, RemoteOwner } from '../frame/screen.ts';
import { confirmOverlay } from './confirm.ts';
import { closingKey, messageOverlay } from './message.ts';
import { strong, tint } from '../text/blocks.ts';

const WIDTH = 72;

/** Asks what happens to an active run: keep it running, stop it in a resumable state, or stay. `leave` is called to quit. */
export function quitOverlay({ state, elsewhere }: Context, leave: () => void): Overlay {
  const working = [...state.agents.values()].filter((agent) => isAtWork(agent) && !isIdle(agent)).length;
  const here = elsewhere === undefined;
  return confirmOverlay(
    {
      is: 'confirm',
      title: 'Quit?',
      lines: [plain(statusText(state, working)), ...(here ? localChoices(state) : remoteText(state, elsewhere))],
      yes: here ? 'stop' : 'quit',
      no: 'stay',
      ...(here ? { instead: { key: 'd', hint: 'keep running', leadsTo: { app: 'detach' } } } : {}),
      then: () => {
        leave();
        return {};
      },
    },
    'quit',
  );
}

const plain = (text: string): Line => [tint(text, 'fg')];
const command = (verb: string, { session }: RunState): Line => [
  strong(`  mimir ${verb} ${session ?? ''}`.trimEnd(), 'info'),
];

/** The choices if this process runs it: without it the run stops, unless a background process takes over. */
const localChoices = (state: RunState): readonly Line[] => [
  plain(`Keep running: it ${state.phase === 'approving' ? 'waits' : 'continues'} in the background. Reopen it with`),
  command('attach', state),
  plain('Stop: its state is kept. Resume it with'),
  command('resume', state),
];

const remoteText = (state: RunState, { lost }: RemoteOwner): readonly Line[] =>
  lost === null
    ? [
        plain('The run continues in its own process. Reopen it with'),
        command('attach', state),
        plain(`To stop it: mimir kill ${state.session ?? ''}`),
      ]
    : [plain('Its process has ended. Its state is kept. Resume it with'), command('resume', state)];

function statusText({ phase, idle, agents }: RunState, working: number): string {
  if (phase === 'approving') return 'The plan waits for your approval.';
  const main = agents.get(ROOT);
  if (working === 0) return idle && main !== undefined && isIdle(main) ? 'main is idle.' : 'The run has not finished.';
  return working === 1 ? '1 agent is running.' : `${working} agents are running.`;
}

/** Reports that the process of the run was lost and how to continue. `why` is sanitised. */
export const lostOverlay = (why: string): Overlay =>
  messageOverlay({
    title: 'Run process lost',
    ink: 'err',
    width: WIDTH,
    lines: (_, width) =>
      [
        [tint(lostWords(why), 'warn')],
        [],
        plain('The recorded state is kept. The run can continue here from its last recorded turn.'),
      ].flatMap((line: Line) => wrap(line, width)),
    keys: ({ glyphs }) => [
      closingKey(['R', 'r', 'enter'], `R/${glyphs.key.enter}`, 'continue here', { app: 'go on here' }),
      closingKey(['esc', 'n'], 'Esc', 'view only'),
      closingKey(['q'], 'q', 'quit', { app: 'quit' }),
    ],
    // Closes once another process, or this one, runs it again.
    settle: ({ elsewhere }) => (elsewhere?.lost ? 'open' : 'over'),
  });

const INTRO = 'Current calls finish, then the run continues in the background.';

/** What a detaching run waits for. `ask` is called with the choice; once it `isStopped`, there is nothing left to choose. */
export const handOverOverlay = (ask: (how: 'now' | 'stay') => void, isStopped: () => boolean): Overlay =>
  messageOverlay({
    title: 'Detaching',
    kind: 'hand over',
    width: WIDTH,
    lines: (context, width) => [...wrap(plain(INTRO), width), [], ...pendingLines(context, isStopped(), width)],
    keys: () =>
      isStopped()
        ? []
        : [
            { keys: ['y'], label: 'y', hint: 'detach now (cuts off current calls)', run: () => answerWith(ask, 'now') },
            { keys: ['esc', 'q', 'n'], label: 'Esc', hint: 'stay', run: () => answerWith(ask, 'stay') },
          ],
  });

function answerWith(ask: (how: 'now' | 'stay') => void, how: 'now' | 'stay'): { readonly stays: boolean } {
  ask(how);
  return { stays: how === 'now' };
}

function pendingLines({ state, glyphs }: Context, isStopped: boolean, width: number): readonly Line[] {
  if (isStopped) return [[tint('Detached. The background process is starting.', 'muted')]];
  const waits = operationsInFlight(state);
  if (waits.length === 0) return [[tint('No calls left. Detaching now.', 'muted')]];
  return waits.map(({ who, what }): Line => {
    const sign = tint(`${glyphs.status.running} `, 'ok');
    return fit([sign, span(who, { bold: true }), tint(`  ${what}`, 'muted')], width);
  });
}

/** A wait of several seconds. The dialog and the operation both change it. */
export interface PendingDraft {
  readonly title: string;
  readonly since: Millis;
  words: string;
  /** `left`: the user stopped waiting. */
  is: 'open' | 'stopping' | 'left' | 'over';
  stop(): void;
}

/** Closes by itself when the operation is over. */
export const waitOverlay = (waited: PendingDraft): Overlay =>
  messageOverlay({
    title: waited.title,
    width: 64,
    lines: (context, width) => wrapText(toLabel(waitText(waited, context)), width),
    keys: () => [
      {
        keys: ['esc'],
        label: 'Esc',
        hint: waited.is === 'stopping' ? 'close' : 'stop and open the form',
        run: () => stopWaiting(waited),
      },
    ],
    settle: () => (waited.is === 'over' ? 'over' : 'open'),
    dropped: () => {
      waited.is = 'left';
      waited.stop();
    },
  });

function stopWaiting(waited: PendingDraft): { readonly stays: boolean } {
  const isLeft = waited.is === 'stopping';
  waited.is = isLeft ? 'left' : 'stopping';
  if (!isLeft) waited.stop();
  return { stays: !isLeft };
}

function waitText({ is, words, since }: PendingDraft, { now }: Context): string {
  const time = formatDuration(Math.max(0, now - since));
  return is === 'stopping' ? `Stopping … ${time}` : `${words} … ${time}`;
}
