/** Starts every task whose dependencies are done, and checks again whenever one ends. There are no waves: a fast branch never waits for a
 * slow one. Dependants of a failed task wait for a choice; a partial answer counts as an answer. The slots limit how many run at once. */
import { type AgentOutcome, isAnswered } from '../../domain/agents/agent.ts';

export interface Job<Id> {
  readonly id: Id;
  readonly needs: readonly Id[];
  /** Jobs that it follows whatever their outcome, without needing their results. */
  readonly after?: readonly Id[];
}

export type Choice = 'retry' | 'skip' | 'stop';

export interface Schedule<Id> {
  readonly jobs: readonly Job<Id>[];
  /** Whether the two must not run at the same time; applies to retries too. Absent: any two may. */
  mustNotOverlap?(a: Id, b: Id): boolean;
  readonly known: ReadonlyMap<Id, AgentOutcome>;
  /** Runs a job; null when the run was stopped meanwhile. Called again for a retry. */
  start(id: Id, again: boolean): Promise<AgentOutcome | null>;
  /** `blocked` cannot start because `failed` did not complete. Asked once for each failure. `moot` is aborted when the
   * failure blocks nothing any more; the choice is then ignored. */
  choose(failed: Id, blocked: readonly Id[], moot: AbortSignal): Promise<Choice>;
  /** Whether dependants of `id` may begin after this outcome; `isAnswered` by default. */
  satisfies?(id: Id, outcome: AgentOutcome): boolean;
  /** Called when a task will never run. */
  skipped(id: Id, because: Id): void;
  /** Called when a skipped task waits again because the failure before it is retried. */
  restored(id: Id): void;
}

/** Starts at once. Every job ends in exactly one outcome unless the run is stopped. */
export const schedule = <Id>(plan: Schedule<Id>): Scheduling<Id> => new Scheduling(plan);

/** A running schedule, with the changes that a person may make. */
export class Scheduling<Id> {
  /** Resolves with the outcomes when nothing can start any more; `stopped` when a choice or `start` ended the run.
   * Rejects with the first fault of the schedule's callbacks, after all started jobs have ended. */
  readonly done: Promise<{ readonly outcomes: ReadonlyMap<Id, AgentOutcome>; readonly stopped: boolean }>;
  private readonly plan: Schedule<Id>;
  private jobs: readonly Job<Id>[];
  private readonly outcomes: Map<Id, AgentOutcome>;
  private readonly running = new Set<Id>();
  /** Jobs that wait for nothing but their turn, in the order in which they were ready. */
  private ready: ReadonlySet<Id> = new Set();
  /** Open questions about failures, and the way to withdraw each. */
  private readonly choosing = new Map<Id, { readonly blocked: readonly Id[]; readonly moot: AbortController }>();
  /** Running jobs that continue with further work after their present run. */
  private readonly continuations = new Map<Id, Promise<AgentOutcome | null>>();
  /** For each skipped task, the task whose failure caused it; a task that a person skipped is its own cause. */
  private readonly skippedFor = new Map<Id, Id>();
  /** Jobs that wait to run again. */
  private readonly retried = new Set<Id>();
  private readonly faults: unknown[] = [];
  private stopped = false;
  private over = false;
  private finish = (): void => {};

  constructor(plan: Schedule<Id>) {
    this.plan = plan;
    this.jobs = plan.jobs;
    this.outcomes = new Map(plan.known);
    const ended = new Promise<void>((resolve) => (this.finish = resolve));
    this.done = ended.then(() => {
      if (this.faults.length > 0) throw this.faults[0];
      return { outcomes: this.outcomes, stopped: this.stopped };
    });
    this.advance();
  }

  /** Runs a failed task again, and the tasks skipped because of it once their dependencies are done; false unless it ended badly. */
  retry(id: Id): boolean {
    const outcome = this.outcomes.get(id);
    const isBad = outcome !== undefined && outcome !== 'completed' && outcome !== 'skipped';
    if (this.over || this.stopped || !isBad) return false;
    this.requeue(id);
    this.advance();
    return true;
  }

  /** Skips a task that has not started; false when it has. */
  skip(id: Id): boolean {
    if (this.over || this.stopped || !this.waiting().some((job) => job.id === id)) return false;
    this.markSkipped(id, id);
    this.advance();
    return true;
  }

  /** A revived job continues outside the schedule; its dependants wait for the end of `work`. */
  continueWith(id: Id, work: Promise<AgentOutcome | null>): void {
    if (this.over) return;
    // Its work has ended and is being reviewed, or its end is about to be reported here.
    if (this.running.has(id)) this.continuations.set(id, work);
    else if (this.outcomes.delete(id)) {
      this.track(id, work);
      this.advance();
    }
  }

  /** Whether it runs, has an outcome, or waits for a retry. */
  hasBegun(id: Id): boolean {
    return this.running.has(id) || this.outcomes.has(id) || this.retried.has(id);
  }

  /** Replaces the jobs. Jobs that have begun keep their dependencies; jobs that have not begun and are missing disappear
   * without an outcome. False, and nothing changes, when nothing can begin any more. */
  change(jobs: readonly Job<Id>[]): boolean {
    if (this.over || this.stopped) return false;
    const begun = this.jobs.filter(({ id }) => this.hasBegun(id));
    // A skipped job may still begin, so it takes its new dependencies.
    const unchanged = new Map(begun.flatMap((job) => (this.outcomes.get(job.id) === 'skipped' ? [] : [[job.id, job]])));
    const named = new Set(jobs.map(({ id }) => id));
    for (const id of this.skippedFor.keys()) if (!named.has(id)) this.skippedFor.delete(id);
    this.jobs = [...jobs.map((job) => unchanged.get(job.id) ?? job), ...begun.filter(({ id }) => !named.has(id))];
    // An open question names the jobs it blocks, so it is asked again when these change.
    for (const [failed, { blocked }] of this.choosing) {
      const now = this.blockedBy(failed);
      if (now.length !== blocked.length || now.some((id) => !blocked.includes(id))) this.withdraw(failed);
    }
    this.advance();
    return true;
  }

  /** Starts what can start, asks about blocked jobs, and ends when nothing can change any more. */
  private advance(): void {
    if (!this.stopped) {
      const stuck = this.stuck();
      const ready = new Set(this.waiting().flatMap((job) => (this.isReady(job, stuck) ? [job.id] : [])));
      this.ready = new Set([...[...this.ready].filter((id) => ready.has(id)), ...ready]);
      for (const id of this.ready) if (!this.isApart(id)) this.start(id, this.retried.delete(id));
      this.askAboutFailures();
    }
    const idle = this.choosing.size === 0 && this.waiting().length === 0;
    if (this.running.size > 0 || !(this.stopped || idle)) return;
    this.over = true;
    this.finish();
  }

  private isReady({ needs, after = [] }: Job<Id>, stuck: ReadonlySet<Id>): boolean {
    const hasNeeds = needs.every((need) => this.outcomes.has(need) && !this.isUnsatisfied(need));
    return hasNeeds && !after.some((other) => this.isToCome(other) && !stuck.has(other));
  }

  /** Whether it has to wait until one that runs has ended. */
  private isApart(id: Id): boolean {
    return [...this.running].some((other) => this.plan.mustNotOverlap?.(id, other) === true);
  }

  private isToCome(id: Id): boolean {
    return !this.outcomes.has(id) && this.jobs.some((job) => job.id === id);
  }

  /** Jobs that cannot begin because a dependency failed. Jobs that only come after them do not wait for the choice. */
  private stuck(): ReadonlySet<Id> {
    const stuck = new Set<Id>();
    for (const { id, needs } of this.waiting())
      if (needs.some((need) => this.isUnsatisfied(need) || stuck.has(need))) stuck.add(id);
    return stuck;
  }

  /** Asks once for each failure that blocks a job, and withdraws questions about failures that block none. */
  private askAboutFailures(): void {
    const failures = new Set(this.waiting().flatMap(({ needs }) => needs.filter((need) => this.isUnsatisfied(need))));
    for (const failed of this.choosing.keys()) if (!failures.has(failed)) this.withdraw(failed);
    for (const failed of failures) if (!this.choosing.has(failed)) this.choose(failed);
  }

  private start(id: Id, again: boolean): void {
    this.track(id, this.plan.start(id, again));
  }

  private track(id: Id, work: Promise<AgentOutcome | null>): void {
    this.running.add(id);
    // Leaves `running` and enters `outcomes` in one step; otherwise a check in between would start it again.
    const end = (): boolean => this.running.delete(id);
    const ended = (outcome: AgentOutcome | null): void => {
      end();
      const continuation = this.continuations.get(id);
      if (this.continuations.delete(id) && continuation !== undefined && outcome !== null)
        return this.track(id, continuation);
      if (outcome === null) this.stopped = true;
      else this.outcomes.set(id, outcome);
    };
    this.after(work, ended, end);
  }

  private choose(failed: Id): void {
    const [moot, blocked] = [new AbortController(), this.blockedBy(failed)];
    this.choosing.set(failed, { moot, blocked });
    this.after(this.plan.choose(failed, blocked, moot.signal), (choice) => {
      if (moot.signal.aborted) return;
      this.choosing.delete(failed);
      // A stop came meanwhile: the choice must not start or skip anything.
      if (this.stopped) return;
      if (choice === 'stop') this.stopped = true;
      else if (choice === 'retry') this.requeue(failed);
      else for (const id of this.blockedBy(failed)) this.markSkipped(id, failed);
    });
  }

  private withdraw(failed: Id): void {
    this.choosing.get(failed)?.moot.abort();
    this.choosing.delete(failed);
  }

  /** Checks again when `work` is done. A fault stops the schedule, because its effects are unknown. */
  private after<T>(work: Promise<T>, then: (value: T) => void, broken = (): unknown => null): void {
    void work
      .then(then)
      .catch((error: unknown) => {
        this.stopped = true;
        this.faults.push(error);
        broken();
      })
      .then(() => this.advance());
  }

  /** A skipped job has never begun and just waits for its dependencies again. */
  private requeue(id: Id): void {
    if (this.outcomes.get(id) !== 'skipped') this.retried.add(id);
    this.outcomes.delete(id);
    this.skippedFor.delete(id);
    this.restoreBehind(id);
  }

  private restoreBehind(failed: Id): void {
    for (const [id, cause] of this.skippedFor) {
      if (cause !== failed) continue;
      this.skippedFor.delete(id);
      this.outcomes.delete(id);
      this.plan.restored(id);
      this.restoreBehind(id);
    }
  }

  private markSkipped(id: Id, because: Id): void {
    if (this.outcomes.has(id)) return;
    this.retried.delete(id);
    this.outcomes.set(id, 'skipped');
    this.skippedFor.set(id, because);
    this.plan.skipped(id, because);
    for (const next of this.blockedBy(id)) this.markSkipped(next, id);
  }

  private isUnsatisfied(id: Id): boolean {
    const outcome = this.outcomes.get(id);
    return outcome !== undefined && !(this.plan.satisfies?.(id, outcome) ?? isAnswered(outcome));
  }

  private waiting(): readonly Job<Id>[] {
    return this.jobs.filter(({ id }) => !this.outcomes.has(id) && !this.running.has(id));
  }

  private blockedBy(failed: Id): readonly Id[] {
    return this.waiting().flatMap(({ id, needs }) => (needs.includes(failed) ? [id] : []));
  }
}
