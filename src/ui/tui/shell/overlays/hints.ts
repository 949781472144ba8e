/** What is explained once, when it is met for the first time: one short toast, at most one a screen, then never again. */
import type { Lobby } from '../../../../ports/project-service.ts';
import type { Overlay } from '../../frame/overlay.ts';
import type { Context, ScreenName } from '../../frame/screen.ts';

export type HintName = 'plan' | 'run' | 'question' | 'copy';

const WORDS: Readonly<Record<HintName, string>> = {
  plan: 'Nothing runs until you accept: e edits, $ compares prices, ? all keys.',
  run: 'Enter opens an agent, i writes to it, : finds every action by its name.',
  question: 'A turns to the question, Esc puts it off; nothing happens until you answer.',
  copy: 'C selects text by keys; clipboard.txt in the state folder has the last copy.',
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

  /** What to say now on this screen, whose topmost box is `box`, or null; it counts as said. `asked`: a question waits on it. */
  next(screen: ScreenName, context: Context, box: Overlay['kind'] | null, asked = false): string | null {
    // Another box is what the person is busy with.
    const name = box === 'inbox' || (box === null && asked) ? 'question' : box === null ? due(screen, context) : null;
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
  if (screen === 'plan' && state.phase === 'approving') return state.planFault === '' ? 'plan' : null;
  return screen === 'run' && state.agents.size > 1 ? 'run' : null;
}
