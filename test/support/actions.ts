/** All actions of the full screen with their keys, for docs/keys.md and for what is true of each of them. */
import { COPY_KEYS } from '../../src/ui/tui/dialogs/copy-mode.ts';
import { type Action, TITLES } from '../../src/ui/tui/frame/keymap.ts';
import { APP_KEYS } from '../../src/ui/tui/shell/app-keys.ts';
import { screenActions } from '../../src/ui/tui/shell/screen-router.ts';

export interface PlacedAction extends Action {
  /** The place of the action: a screen, `Everywhere` or `Copy mode`. */
  readonly where: string;
}

/** All actions in the order of the help: those that work everywhere, then screen by screen. */
export const allActions = (): readonly PlacedAction[] => [
  ...withPlace('Everywhere', APP_KEYS),
  ...screenActions({}).flatMap(({ name, actions }) => withPlace(TITLES[name], actions)),
  ...withPlace('Copy mode', COPY_KEYS),
];

const withPlace = (where: string, table: readonly Action[]): readonly PlacedAction[] =>
  table.map(({ action, keys, hint, help }) => ({ where, action, keys, hint, help }));
