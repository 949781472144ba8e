/** The keys that work on every screen, and what is wrong with the keys that a person chose. */
import { answerQuestion, setMode } from '../../../app/actions/index.ts';
import { COPY_KEYS } from '../dialogs/copy-mode.ts';
import { bind, keyFaults, rebind, type OwnKeys } from '../frame/keymap.ts';
import type { Binding } from '../frame/screen.ts';
import { screenActions } from './screen-router.ts';

/** A screen's own keys take precedence. The app handles Ctrl-C itself, since its effect depends on the key before. */
export const APP_KEYS: readonly Binding<null>[] = [
  bind('app.help', { app: 'help' }),
  bind(answerQuestion, { app: 'inbox' }, (_, { state }) => (state.approvals.length === 0 ? answerQuestion.none : null)),
  bind('app.palette', { app: 'palette' }),
  bind('app.goOn', { app: 'go on here' }, (_, { elsewhere }) => (elsewhere?.lost ? null : '')),
  bind(
    'app.theme',
    { app: 'themes' },
    (_, { projectService }) => (projectService.themes.length > 1 ? null : 'There is only one theme.'),
    (_, { look }) => look?.theme ?? '',
  ),
  bind('app.copy', { app: 'copy mode' }),
  { ...bind('app.mouse', { app: 'mouse' }), value: (_, { look }) => (look?.mouse === false ? 'off' : 'on') },
  bind(
    setMode,
    { dialog: { is: 'mode', agent: null } },
    (_, { state }) => setMode.whyNot(state, { mode: state.mode }),
    (_, { state, projectService }) => (state.session === null ? projectService.mode : state.mode),
  ),
  bind('app.redraw', { app: 'redraw' }),
  bind('app.suspend', { app: 'suspend' }),
  bind('app.quit', { app: 'quit' }),
  bind('app.stop', { app: 'quit' }),
];

/** What the help says below the keys. */
export const HELP_NOTES: readonly string[] = [
  'Arrows, PgUp, PgDn, Home, End and j, k, g, G move and scroll. In an empty field, Up brings back earlier input.',
  'Hold Shift while dragging to select text with the mouse.',
];

/** The faults of the user's own keys (`keys:` of the configuration, action to key), one sentence each. */
export const ownKeyFaults = (own: OwnKeys): readonly string[] =>
  keyFaults([...screenActions(own).map(({ actions }) => actions), rebind(APP_KEYS, own), rebind(COPY_KEYS, own)], own);
