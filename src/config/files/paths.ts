/** Where the user's configuration and Mimir's state live, by the XDG rules; and how a path is shown to people. */
import path from 'node:path';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Places {
  /** The home directory, as a real path where it exists. */
  readonly home: string;
  /** `$XDG_CONFIG_HOME/mimir`. */
  readonly config: string;
  /** `$XDG_STATE_HOME/mimir`: databases, audit, locks, trust. */
  readonly state: string;
  /** `$XDG_RUNTIME_DIR/mimir` for sockets; below the state where there is none. */
  readonly runtime: string;
  /** Every folder of Mimir's own, also those that it would use without these variables. No project holds one or lies in one. */
  readonly own?: readonly string[];
}

/** The directories for this environment; none of them is made here. `fallbackHome` is for an empty HOME. */
export function placesOf(env: Environment, fallbackHome: string): Places {
  const home = absolute(env['HOME']) ?? fallbackHome;
  const state = path.join(absolute(env['XDG_STATE_HOME']) ?? path.join(home, '.local', 'state'), 'mimir');
  const runtime = absolute(env['XDG_RUNTIME_DIR']);
  const config = path.join(absolute(env['XDG_CONFIG_HOME']) ?? path.join(home, '.config'), 'mimir');
  const places = {
    home,
    config,
    state,
    runtime: runtime === null ? path.join(state, 'run') : path.join(runtime, 'mimir'),
  };
  const cache = path.join(absolute(env['XDG_CACHE_HOME']) ?? path.join(home, '.cache'), 'mimir');
  const usual = ['.config', path.join('.local', 'state'), '.cache'].map((name) => path.join(home, name, 'mimir'));
  return { ...places, own: [...new Set([config, state, places.runtime, cache, ...usual, MANAGED])] };
}

/** The administrator's; tests have theirs elsewhere. */
const MANAGED = '/etc/mimir';

/** By the XDG rules a relative path counts as not set. */
const absolute = (value: string | undefined): string | null =>
  value !== undefined && path.isAbsolute(value) ? path.normalize(value) : null;

/** A path as people would write it: below home with `~`. */
export const shownPath = (file: string, home: string): string =>
  file.startsWith(home + path.sep) ? `~${file.slice(home.length)}` : file;
