/** What is explained once, when it is met for the first time: one short toast, at most one a screen, then never again. */
import type { Lobby } from '../ports/lobby.ts';
import type { Context, ScreenName } from './screen.ts';

export type HintName = 'plan' | 'run' | 'question' | 'copy';

const WORDS: Readonly<Record<HintName, string>> = {
  plan: 'Your first plan. Nothing runs before you accept it: e edits a task, $ compares prices, ? shows all keys.',
  run: 'Your first run. Enter opens an agent, i writes to it, : finds every action by its name.',
  question: 'Your first question. Nothing happens until you answer; Esc puts it off, A brings it back.',
  copy: 'Your first copy. C selects text by keys; clipboard.txt in the state folder always has the last copy.',
};

export class Hints {
  readonly #lobby: Lobby;
  #seen: ReadonlySet<string>;
  /** Screens that have had theirs. */
  readonly #told = new Set<ScreenName>();

  constructor(lobby: Lobby) {
    this.#lobby = lobby;
    this.#seen = lobby.seen?.() ?? new Set(Object.keys(WORDS));
  }

  /** What to say now on this screen, or null; it counts as said. */
  next(screen: ScreenName, context: Context, asked: boolean): string | null {
    const name = asked ? 'question' : due(screen, context);
    return name === null ? null : this.#once(screen, name);
  }

  /** The first copy is told of wherever it is made. */
  copied(): string | null {
    if (this.#seen.has('copy')) return null;
    this.#note('copy');
    return WORDS.copy;
  }

  #once(screen: ScreenName, name: HintName): string | null {
    if (this.#seen.has(name) || this.#told.has(screen)) return null;
    this.#told.add(screen);
    this.#note(name);
    return WORDS[name];
  }

  #note(name: HintName): void {
    this.#seen = new Set([...this.#seen, name]);
    this.#lobby.markSeen?.(name);
  }
}

/** What there is to explain on a screen once there is something on it. */
function due(screen: ScreenName, { state }: Context): HintName | null {
  if (screen === 'plan' && state.phase === 'approving') return 'plan';
  return screen === 'run' && state.agents.size > 1 ? 'run' : null;
}
