/** Every screen there is, by name, with the user's own keys in their tables. */
import type { RunState } from '../../../events/state.ts';
import { type Page, pageOf } from '../frame/page.ts';
import type { ScreenName } from '../frame/screen.ts';
import { planScreen } from './plan/plan.ts';
import { resultScreen } from './result/result.ts';
import { runScreen } from './run/run.ts';
import { startScreen } from './start/start.ts';

export const screens = (own: Readonly<Record<string, string>>): Readonly<Record<ScreenName, Page>> => ({
  start: pageOf(startScreen, own),
  plan: pageOf(planScreen, own),
  run: pageOf(runScreen, own),
  result: pageOf(resultScreen, own),
});

/** The screen that belongs to where the run is. */
export function screenFor(state: RunState, hasRun: boolean): ScreenName {
  if (!hasRun) return 'start';
  if (state.phase === 'finished') return 'result';
  return state.phase === 'running' || state.phase === 'merging' ? 'run' : 'plan';
}
