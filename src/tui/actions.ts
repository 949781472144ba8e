/** Everything that a person can do, on whatever screen, from the tables of keys: for the README, and for the line mode to compare. */
import { APP_KEYS } from './app-keys.ts';
import { COPY_KEYS } from './copy/keys.ts';
import type { Action } from './page.ts';
import { TITLES } from './page.ts';
import { screens } from './screens/all.ts';

export interface PlacedAction extends Action {
  /** A screen, `Everywhere`, or `Copy mode`. */
  readonly where: string;
}

/** In the order of the help: first what works everywhere, then screen by screen. */
export const allActions = (): readonly PlacedAction[] => [
  ...placed('Everywhere', APP_KEYS),
  ...Object.values(screens({})).flatMap(({ name, actions }) => placed(TITLES[name], actions)),
  ...placed('Copy mode', COPY_KEYS),
];

const placed = (where: string, table: readonly Action[]): readonly PlacedAction[] =>
  table.map(({ action, keys, hint, help }) => ({ where, action, keys, hint, help }));
