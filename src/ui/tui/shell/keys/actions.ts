/** Everything that a person can do, on whatever screen, from the tables of keys: for docs/keys.md, and for line mode to compare. */
import { APP_KEYS } from '../app-keys.ts';
import { COPY_KEYS } from '../../copy/keys.ts';
import { keyFaults, rebind } from '../../frame/keymap.ts';
import { type Action, TITLES } from '../../frame/page.ts';
import { screens } from '../../screens/all.ts';

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

/** What is wrong with a person's own keys (`keys:` of the configuration, action to key), a sentence each. */
export const ownKeyFaults = (own: Readonly<Record<string, string>>): readonly string[] =>
  keyFaults([...Object.values(screens(own)).map(({ actions }) => actions), rebind(APP_KEYS, own), COPY_KEYS], own);

const placed = (where: string, table: readonly Action[]): readonly PlacedAction[] =>
  table.map(({ action, keys, hint, help }) => ({ where, action, keys, hint, help }));
