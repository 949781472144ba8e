/** The screens there are, and which of them is shown: the one of the run's phase, until the person goes to another. */
import type { AgentId } from '../../../domain/ids.ts';
import type { RunState } from '../../../events/state.ts';
import type { Page } from '../frame/page.ts';
import type { ScreenName } from '../frame/screen.ts';
import { screenFor, screens } from '../screens/all.ts';

export class Stage {
  readonly #pages: Readonly<Record<ScreenName, Page>>;
  #page: Page;
  /** The phase whose screen was shown by itself last. */
  #shownFor: ScreenName = 'start';

  /** `own` are the user's keys by action. */
  constructor(own: Readonly<Record<string, string>>) {
    this.#pages = screens(own);
    this.#page = this.#pages.start;
  }

  get page(): Page {
    return this.#page;
  }

  get all(): readonly Page[] {
    return Object.values(this.#pages);
  }

  show(name: ScreenName): void {
    this.#page = this.#pages[name];
  }

  /** The screen of a new phase, once; null while the phase is the same. What is to become of it is the caller's. */
  turned(state: RunState, hasRun: boolean): ScreenName | null {
    const wanted = screenFor(state, hasRun);
    if (wanted === this.#shownFor) return null;
    this.#shownFor = wanted;
    return wanted;
  }

  /** Opens one agent; of a run that goes on its screen is shown then. */
  openAgent(agent: AgentId, { phase }: RunState): void {
    this.#pages.run.open(agent);
    if (phase === 'running' || phase === 'merging') this.#page = this.#pages.run;
  }

  /** Back to the start, with every screen as it was at first. */
  reset(): void {
    this.#shownFor = 'start';
    for (const page of this.all) page.reset();
    this.#page = this.#pages.start;
  }
}
