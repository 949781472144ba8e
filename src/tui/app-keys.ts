/** Keys that mean the same on every screen, and what a change of the mode means in words. */
import { isLooser, MODES } from '../domain/mode.ts';
import type { Mode } from '../domain/mode.ts';
import type { Dialog } from './dialog.ts';
import type { Binding, Context } from './screen.ts';
import { span } from './text/clip.ts';
import type { Line } from './text/line.ts';

/** Screens' own keys beat these. Ctrl-C is handled by the app itself: it depends on what happened before. */
export const APP_KEYS: readonly Binding<null>[] = [
  {
    keys: ['?', 'f1'],
    action: 'app.help',
    hint: 'help',
    help: 'All keys of this screen.',
    whyNot: () => null,
    run: () => ({ app: 'help' }),
  },
  {
    keys: ['a'],
    action: 'app.answer',
    hint: 'answer',
    help: 'Answer the question that waits for you.',
    whyNot: (_, { state }) => (state.approvals.length === 0 ? 'Nobody asks you anything.' : null),
    run: () => ({ app: 'inbox' }),
  },
  {
    keys: ['backtab'],
    action: 'app.mode',
    hint: '',
    help: 'Change the mode for all agents: human, confirm, yolo.',
    whyNot: (_, { state }) =>
      state.session === null ? 'There is no run yet.' : state.finished ? 'The run has ended.' : null,
    run: (_, context) => ({ dialog: modeDialog(context) }),
  },
  {
    keys: ['ctrl-l'],
    action: 'app.redraw',
    hint: '',
    help: 'Draw the whole screen again.',
    whyNot: () => null,
    run: () => ({ app: 'redraw' }),
  },
  {
    keys: ['ctrl-z'],
    action: 'app.suspend',
    hint: '',
    help: 'Suspend Mimir; the agents stand still until fg.',
    whyNot: () => null,
    run: () => ({ app: 'suspend' }),
  },
  {
    keys: ['q'],
    action: 'app.quit',
    hint: 'quit',
    help: 'Leave; asks while a run goes on.',
    whyNot: () => null,
    run: () => ({ app: 'quit' }),
  },
  {
    keys: ['ctrl-c'],
    action: 'app.stop',
    hint: 'twice: quit',
    help: 'Clear the field or interrupt the selected agent; twice: leave.',
    whyNot: () => null,
    run: () => ({ app: 'quit' }),
  },
];

/** What runs without a question in a mode (CONTRACT, "Modes"). */
const AUTOMATIC: Readonly<Record<Mode, readonly string[]>> = {
  human: [],
  confirm: ['model turns', 'reading, searching and looking at git in the project'],
  yolo: [
    'model turns',
    'reading, searching and looking at git in the project',
    'writing files',
    'commands, in the sandbox only',
    'changing the git repository',
    'starting more agents, within the caps',
  ],
};

/** The next mode, with what becomes automatic for whom, before anything changes. */
function modeDialog({ state, glyphs }: Context): Dialog {
  const next = MODES[(MODES.indexOf(state.mode) + 1) % MODES.length] ?? 'confirm';
  const gained = AUTOMATIC[next].filter((what) => !AUTOMATIC[state.mode].includes(what));
  const lost = AUTOMATIC[state.mode].filter((what) => !AUTOMATIC[next].includes(what));
  const agents = Math.max(0, state.agents.size - 1);
  const bullets = (items: readonly string[]): readonly Line[] =>
    items.map((item) => [span('  - ', { fg: 'focus' }), span(item, { fg: 'fg' })]);
  const looser = isLooser(next, state.mode);
  return {
    is: 'confirm',
    title: `Mode ${state.mode} ${glyphs.arrow} ${next}`,
    lines: [
      [
        span(
          `This applies to the whole hierarchy: main${agents === 0 ? '' : ` and its ${agents} agent${agents === 1 ? '' : 's'}`}, and those to come.`,
          { fg: 'fg' },
        ),
      ],
      [],
      ...(gained.length > 0
        ? [[span('Becomes automatic, without a question:', { fg: 'warn', bold: true } as const)], ...bullets(gained)]
        : []),
      ...(lost.length > 0
        ? [[span('Will ask you from now on:', { fg: 'info', bold: true } as const)], ...bullets(lost)]
        : []),
      [],
      [span('Denials, budgets and protected paths stay as they are.', { fg: 'muted' })],
    ],
    yes: `change to ${next}`,
    no: `stay in ${state.mode}`,
    // The loosest mode takes more than a slip of one key.
    word: looser && next === 'yolo' ? 'yolo' : '',
    then: () => ({ commands: [{ do: 'set mode', mode: next }] }),
  };
}

/** What the help says below the keys. */
export const HELP_NOTES: readonly string[] = [
  'Suspended with Ctrl-Z, the agents stand still: the whole process is stopped.',
  'Hold Shift while dragging to select text with the mouse, where the terminal reports the mouse to Mimir.',
];
