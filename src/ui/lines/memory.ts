/** What line mode remembers for the person beside the run: how much is announced, which agents are listed, plans to go back to, lists that numbers mean. */
import type { SoundPlan } from '../../domain/plan/plan.ts';
import type { RunState } from '../../events/state.ts';
import type { MimirEvent } from '../../events/event.ts';

export type Verbosity = 'quiet' | 'normal' | 'verbose';

export const SORTS = ['plan', 'status', 'cost'] as const;
type Sort = (typeof SORTS)[number];

export interface LineMemory {
  verbosity: Verbosity;
  /** Words that a listed agent holds; empty lists all. */
  filter: string;
  onlyRunning: boolean;
  sort: Sort;
  /** The agent that attention named last, by its id. */
  attended: string;
  /** Where `more` goes on: the lines that were not said. */
  rest: readonly string[];
  /** Of this proposal, oldest first: what undo and redo go to. */
  plans: readonly { readonly plan: SoundPlan; readonly digest: string }[];
  at: number;
}

export const newMemory = (): LineMemory => ({
  verbosity: 'normal',
  filter: '',
  onlyRunning: false,
  sort: 'plan',
  attended: '',
  rest: [],
  plans: [],
  at: 0,
});

/** After each event: a new proposal begins anew; a plan that was there before is a step back or forth, any other one is new. */
export function rememberPlan(memory: LineMemory, event: MimirEvent, { plan, planDigest: digest }: RunState): void {
  if (plan === null) return;
  if (event.type === 'plan.proposed') {
    memory.plans = [{ plan, digest }];
    memory.at = 0;
  }
  if (event.type !== 'plan.edited' && event.type !== 'plan.amended') return;
  const step = [memory.at + 1, memory.at - 1].find((at) => memory.plans[at]?.digest === digest);
  if (step !== undefined) memory.at = step;
  else {
    memory.plans = [...memory.plans.slice(0, memory.at + 1), { plan, digest }];
    memory.at = memory.plans.length - 1;
  }
}

/** The plan before (`-1`) or after (`1`) the one in force; null when there is none. */
export const planBeside = ({ plans, at }: LineMemory, by: 1 | -1): SoundPlan | null => plans[at + by]?.plan ?? null;
