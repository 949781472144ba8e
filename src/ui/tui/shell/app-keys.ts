/** Keys that mean the same on every screen. */
import type { Glyphs } from '../text/glyphs.ts';
import type { Binding } from '../frame/screen.ts';

const always = (): null => null;

/** Screens' own keys beat these. Ctrl-C is handled by the app itself: it depends on what happened before. */
export const APP_KEYS: readonly Binding<null>[] = [
  {
    keys: ['?', 'f1'],
    action: 'app.help',
    hint: 'help',
    help: 'All keys of this screen; F1 also those of a box, and over a field.',
    whyNot: always,
    run: () => ({ app: 'help' }),
  },
  {
    keys: ['A'],
    action: 'app.answer',
    hint: 'answer',
    help: 'Answer the question that waits for you.',
    whyNot: (_, { state }) => (state.approvals.length === 0 ? 'Nobody asks you anything.' : null),
    run: () => ({ app: 'inbox' }),
  },
  {
    keys: [':', 'ctrl-p'],
    action: 'app.palette',
    hint: 'all',
    help: 'Every action there is here, to find by its name; Ctrl-P also while a field takes the letters.',
    whyNot: always,
    run: () => ({ app: 'palette' }),
  },
  {
    keys: ['R'],
    action: 'app.goOn',
    hint: 'go on here',
    help: 'Go on in this process with a run whose own process was lost.',
    whyNot: (_, { elsewhere }) => (elsewhere?.lost ? null : ''),
    run: () => ({ app: 'go on here' }),
  },
  {
    keys: ['t'],
    action: 'app.theme',
    hint: '',
    help: 'Choose other colours; they are shown while you choose.',
    whyNot: (_, { lobby }) => ((lobby.themes ?? []).length > 1 ? null : 'There is only one theme.'),
    run: () => ({ app: 'themes' }),
  },
  {
    keys: ['C', 'f3'],
    action: 'app.copy',
    hint: '',
    help: 'Copy mode: the screen stands still, text is selected by keys; F3 also over boxes and fields.',
    whyNot: always,
    run: () => ({ app: 'copy mode' }),
  },
  {
    keys: ['f2'],
    action: 'app.mouse',
    hint: '',
    help: 'Mouse on or off; while it is off, dragging selects text as the terminal does it.',
    whyNot: always,
    run: () => ({ app: 'mouse' }),
  },
  {
    keys: ['backtab'],
    action: 'app.mode',
    hint: '',
    help: 'Change the mode of all agents: human, confirm, yolo; says first what that changes.',
    whyNot: (_, { state }) =>
      state.session === null ? 'There is no run yet.' : state.finished ? 'The run has ended.' : null,
    run: () => ({ dialog: { is: 'mode', agent: null } }),
  },
  {
    keys: ['ctrl-l'],
    action: 'app.redraw',
    hint: '',
    help: 'Draw the whole screen again.',
    whyNot: always,
    run: () => ({ app: 'redraw' }),
  },
  {
    keys: ['ctrl-z'],
    action: 'app.suspend',
    hint: '',
    help: 'Suspend Mimir; the agents stand still until fg.',
    whyNot: always,
    run: () => ({ app: 'suspend' }),
  },
  {
    keys: ['q'],
    action: 'app.quit',
    hint: 'quit',
    help: 'Leave; asks while a run goes on.',
    whyNot: always,
    run: () => ({ app: 'quit' }),
  },
  {
    keys: ['ctrl-c'],
    action: 'app.stop',
    hint: 'twice: quit',
    help: 'Clear the field or interrupt the selected agent; twice: leave.',
    whyNot: always,
    run: () => ({ app: 'quit' }),
  },
];

/** What the help says below the keys. */
export const helpNotes = ({ boxed }: Glyphs): readonly string[] => [
  `In the first row, ${boxed} or "boxed": commands run in the sandbox; NO BOX: they don't. cfm is mode confirm.`,
  'Suspended with Ctrl-Z, the agents stand still: the whole process is stopped.',
  'Hold Shift while dragging to select text with the mouse, where the terminal reports the mouse to Mimir.',
];
