/** A schedule whose jobs and choices end when the test says so. */
import type { AgentOutcome } from '../../src/domain/agents/agent.ts';
import type { Choice, Job, Scheduling } from '../../src/engine/agents/scheduler.ts';
import { schedule } from '../../src/engine/agents/scheduler.ts';

export type Told = readonly [what: 'start' | 'end' | 'skipped' | 'restored', id: number];
export const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** A schedule by hand: jobs and choices wait until the test says how they end. */
export function byHand(
  jobs: readonly Job<number>[],
  known: ReadonlyMap<number, AgentOutcome> = new Map(),
  apart: (a: number, b: number) => boolean = () => false,
): {
  readonly running: Scheduling<number>;
  readonly told: Told[];
  readonly end: (id: number, outcome: AgentOutcome | null) => Promise<void>;
  readonly answer: (id: number, choice: Choice) => Promise<void>;
  readonly asked: Map<number, { readonly blocked: readonly number[]; readonly moot: AbortSignal }>;
} {
  const told: Told[] = [];
  const ends = new Map<number, (outcome: AgentOutcome | null) => void>();
  const answers = new Map<number, (choice: Choice) => void>();
  const asked = new Map<number, { readonly blocked: readonly number[]; readonly moot: AbortSignal }>();
  const running = schedule<number>({
    jobs,
    known,
    mustNotOverlap: apart,
    start: (id) => {
      told.push(['start', id]);
      return new Promise((resolve) => ends.set(id, resolve));
    },
    choose: (failed, blocked, moot) => {
      asked.set(failed, { blocked, moot });
      return new Promise((resolve) => answers.set(failed, resolve));
    },
    skipped: (id) => told.push(['skipped', id]),
    restored: (id) => told.push(['restored', id]),
  });
  return {
    running,
    told,
    asked,
    end(id, outcome) {
      told.push(['end', id]);
      ends.get(id)?.(outcome);
      return settled();
    },
    answer(id, choice) {
      answers.get(id)?.(choice);
      return settled();
    },
  };
}
