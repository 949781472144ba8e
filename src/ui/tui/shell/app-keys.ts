/** The keys that work on every screen, and what is wrong with the keys that a person chose. */
import { answerQuestion, setMode } from '../../../app/actions/index.ts';
import { COPY_KEYS } from '../dialogs/copy-mode.ts';
import { bindingOf, bindings, keyFaults, rebind } from '../frame/keymap.ts';
import { screenActions } from './screen-router.ts';

/** A screen's own keys take precedence. The app handles Ctrl-C itself, since its effect depends on the key before. */
export const APP_KEYS = bindings<null>([
  {
    keys: ['?', 'f1'],
    action: 'app.help',
    hint: 'help',
    help: 'Help',
    run: () => ({ app: 'help' }),
  },
  {
    ...bindingOf(answerQuestion),
    whyNot: (_, { state }) => (state.approvals.length === 0 ? answerQuestion.none : null),
    run: () => ({ app: 'inbox' }),
  },
  {
    keys: [':', 'ctrl-p'],
    action: 'app.palette',
    hint: 'commands',
    help: 'Command palette',
    run: () => ({ app: 'palette' }),
  },
  {
    keys: ['R'],
    action: 'app.goOn',
    hint: 'take over',
    help: 'Take over run',
    whyNot: (_, { elsewhere }) => (elsewhere?.lost ? null : ''),
    run: () => ({ app: 'go on here' }),
  },
  {
    keys: ['t'],
    action: 'app.theme',
    help: 'Change theme',
    whyNot: (_, { projectService }) => ((projectService.themes ?? []).length > 1 ? null : 'There is only one theme.'),
    value: (_, { look }) => look?.theme ?? '',
    run: () => ({ app: 'themes' }),
  },
  {
    keys: ['C', 'f3'],
    action: 'app.copy',
    help: 'Copy mode',
    run: () => ({ app: 'copy mode' }),
  },
  {
    keys: ['f2'],
    action: 'app.mouse',
    help: 'Toggle mouse',
    more: 'While the mouse is off, dragging selects text as in any terminal.',
    value: (_, { look }) => (look?.mouse === false ? 'off' : 'on'),
    run: () => ({ app: 'mouse' }),
  },
  {
    ...bindingOf(setMode),
    value: (_, { state, projectService }) => (state.session === null ? projectService.mode : state.mode),
    whyNot: (_, { state }) => setMode.whyNot(state, { mode: state.mode }),
    run: () => ({ dialog: { is: 'mode', agent: null } }),
  },
  {
    keys: ['ctrl-l'],
    action: 'app.redraw',
    help: 'Redraw screen',
    run: () => ({ app: 'redraw' }),
  },
  {
    keys: ['ctrl-z'],
    action: 'app.suspend',
    help: 'Suspend',
    more: 'Agents pause too, until fg.',
    run: () => ({ app: 'suspend' }),
  },
  {
    keys: ['q'],
    action: 'app.quit',
    hint: 'quit',
    help: 'Quit',
    run: () => ({ app: 'quit' }),
  },
  {
    keys: ['ctrl-c'],
    action: 'app.stop',
    hint: '^C quit',
    help: 'Clear or interrupt',
    more: 'Clears the field or interrupts the selected agent. Press twice to quit.',
    run: () => ({ app: 'quit' }),
  },
]);

/** What the help says below the keys. */
export const HELP_NOTES: readonly string[] = [
  'Arrows, PgUp, PgDn, Home, End and j, k, g, G move and scroll. In an empty field, Up brings back earlier input.',
  'Hold Shift while dragging to select text with the mouse.',
];

/** The faults of the user's own keys (`keys:` of the configuration, action to key), one sentence each. */
export const ownKeyFaults = (own: Readonly<Record<string, string>>): readonly string[] =>
  keyFaults([...screenActions(own).map(({ actions }) => actions), rebind(APP_KEYS, own), COPY_KEYS], own);
