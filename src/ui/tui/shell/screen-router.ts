/** The screens, and which one is shown: that of the run's phase until the user opens another. */
import type { AgentId } from '../../../domain/ids.ts';
import type { RunState } from '../../../events/index.ts';
import { type Action, type Page, pageOf, readableKeys, type OwnKeys } from '../frame/keymap.ts';
import type { Screen, ScreenName } from '../frame/screen.ts';
import { planScreen } from '../screens/plan/plan.ts';
import { resultScreen } from '../screens/result/result.ts';
import { reviewScreen } from '../screens/review/review.ts';
import { runScreen } from '../screens/run/run.ts';
import { startScreen, startScreenWith } from '../screens/start/start.ts';

export class ScreenRouter {
  readonly #own: OwnKeys;
  #pages: Readonly<Record<ScreenName, Page>>;
  #page: Page;
  #shownFor: ScreenName = 'start';

  constructor(own: OwnKeys) {
    this.#own = own;
    this.#pages = screens(own);
    this.#page = this.#pages.start;
  }

  get page(): Page {
    return this.#page;
  }

  show(name: ScreenName): void {
    this.#page = this.#pages[name];
  }

  /** The screen of a new phase, reported once; null while the phase is the same. The caller decides whether to show it. */
  changedScreen(state: RunState, hasRun: boolean): ScreenName | null {
    const wanted = screenFor(state, hasRun);
    if (wanted === this.#shownFor) return null;
    this.#shownFor = wanted;
    return wanted;
  }

  openAgent(agent: AgentId, { phase }: RunState): void {
    this.#pages.run.open(agent);
    if (phase === 'running' || phase === 'merging') this.#page = this.#pages.run;
  }

  /** `task`: what stands in the field of the start screen. */
  reset(task = ''): void {
    this.#shownFor = 'start';
    this.#pages = screens(this.#own, task);
    this.#page = this.#pages.start;
  }
}

const screens = (own: OwnKeys, task = ''): Readonly<Record<ScreenName, Page>> => ({
  start: pageOf(task === '' ? startScreen : startScreenWith(task), own),
  plan: pageOf(planScreen, own),
  run: pageOf(runScreen, own),
  result: pageOf(resultScreen, own),
  review: pageOf(reviewScreen, own),
});

/** The actions of each screen, in the order of the help. */
export function screenActions(own: OwnKeys): readonly { name: ScreenName; actions: readonly Action[] }[] {
  const of = <Ui>(screen: Screen<Ui>) => ({ name: screen.name, actions: readableKeys(screen, own) });
  return [of(startScreen), of(planScreen), of(runScreen), of(resultScreen), of(reviewScreen)];
}

function screenFor(state: RunState, hasRun: boolean): ScreenName {
  if (!hasRun) return 'start';
  if (state.phase === 'finished') return 'result';
  return state.phase === 'running' || state.phase === 'merging' ? 'run' : 'plan';
}
