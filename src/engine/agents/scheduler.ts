/**
 * Starts every task whose needs are done, and looks again whenever one ends. No waves: a quick branch never waits for a
 * slow one it doesn't need. What depends on a failed task waits for a choice (D16); a partial answer is one (D40). How many run at once
 * is the slots'; what an agent does is the loop's.
 */
import { isAnswered } from '../../domain/agents/agent.ts';
import type { AgentOutcome } from '../../domain/agents/agent.ts';

export interface Job<Id> {
  readonly id: Id;
  readonly needs: readonly Id[];
  /** Those that it comes after whatever their outcome, without needing anything of them. */
  readonly after?: readonly Id[];
}

export type Choice = 'retry' | 'skip' | 'stop';

export interface Schedule<Id> {
  readonly jobs: readonly Job<Id>[];
  /** May the two not run at the same time? A retry waits for that as well. Absent: any may. */
  apart?(a: Id, b: Id): boolean;
  /** Outcomes that are known already, of a resumed run. */
  readonly known: ReadonlyMap<Id, AgentOutcome>;
  /** Runs one; null when the run was stopped meanwhile. Called again for a retry. */
  start(id: Id, again: boolean): Promise<AgentOutcome | null>;
  /**
   * `blocked` can't start since `failed` did not complete: what now? Asked once for each failure of `failed`. `moot` is
   * aborted when nobody is blocked by it any more; the choice doesn't count then.
   */
  choose(failed: Id, blocked: readonly Id[], moot: AbortSignal): Promise<Choice>;
  /** May what needs `id` begin, now that it has ended so? By `isAnswered` where it is missing. */
  satisfies?(id: Id, outcome: AgentOutcome): boolean;
  /** Told when a task will never run. */
  skipped(id: Id, because: Id): void;
  /** Told when a task that was skipped behind a failure waits for its needs again, since that failure is retried. */
  restored(id: Id): void;
}

/** What a person may change while it runs. */
export interface Scheduling<Id> {
  /** Runs a failed task again, and those that were skipped behind it once their needs are done; false when it isn't at a bad end. */
  retry(id: Id): boolean;
  /** Leaves a task out that has not started; false when it has. */
  skip(id: Id): boolean;
  /** One that had ended goes on beside the schedule: what needs it waits for the end of `work`. */
  goesOn(id: Id, work: Promise<AgentOutcome | null>): void;
  /** Does it run, or has it an outcome? */
  hasBegun(id: Id): boolean;
  /**
   * `jobs` in place of those there were. What has begun stays, with its needs as they were; what has not and is missing
   * ends without an outcome and without a word. False, and nothing is changed, when nothing can begin any more.
   */
  change(jobs: readonly Job<Id>[]): boolean;
  /**
   * Resolves with the outcomes when nothing can start any more; `stopped` when a choice or `start` ended the run. Rejects
   * with the first fault of a promise of the plan, when all that was started has ended.
   */
  readonly done: Promise<{ readonly outcomes: ReadonlyMap<Id, AgentOutcome>; readonly stopped: boolean }>;
}

/** Starts at once. Every job ends in exactly one outcome unless the run is stopped. */
export const schedule = <Id>(plan: Schedule<Id>): Scheduling<Id> => new Running(plan);

/** What was asked about a failure, and what takes the question back. */
interface Question<Id> {
  readonly blocked: readonly Id[];
  readonly moot: AbortController;
}

class Running<Id> implements Scheduling<Id> {
  readonly done: Scheduling<Id>['done'];
  private readonly plan: Schedule<Id>;
  private jobs: readonly Job<Id>[];
  private readonly outcomes: Map<Id, AgentOutcome>;
  private readonly running = new Set<Id>();
  private readonly choosing = new Map<Id, Question<Id>>();
  /** Of those that run: what they go on with behind that. */
  private readonly more = new Map<Id, Promise<AgentOutcome | null>>();
  /** For each skipped task the one whose failure it was skipped for; a task that a person left out is its own cause. */
  private readonly skippedFor = new Map<Id, Id>();
  /** Those that wait to be run again. */
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
    this.look();
  }

  retry(id: Id): boolean {
    const outcome = this.outcomes.get(id);
    const isBad = outcome !== undefined && outcome !== 'completed' && outcome !== 'skipped';
    if (this.over || this.stopped || !isBad) return false;
    this.again(id);
    this.look();
    return true;
  }

  skip(id: Id): boolean {
    if (this.over || this.stopped || !this.waiting().some((job) => job.id === id)) return false;
    this.leaveOut(id, id);
    this.look();
    return true;
  }

  goesOn(id: Id, work: Promise<AgentOutcome | null>): void {
    if (this.over) return;
    // It has ended, and is judged, or the word of its end is under way here.
    if (this.running.has(id)) this.more.set(id, work);
    else if (this.outcomes.delete(id)) {
      this.carry(id, work);
      this.look();
    }
  }

  hasBegun(id: Id): boolean {
    return this.running.has(id) || this.outcomes.has(id) || this.retried.has(id);
  }

  change(jobs: readonly Job<Id>[]): boolean {
    if (this.over || this.stopped) return false;
    const begun = this.jobs.filter(({ id }) => this.hasBegun(id));
    // One that was left out may be begun yet: then it waits for what it needs now.
    const kept = new Map(begun.flatMap((job) => (this.outcomes.get(job.id) === 'skipped' ? [] : [[job.id, job]])));
    const named = new Set(jobs.map(({ id }) => id));
    for (const id of this.skippedFor.keys()) if (!named.has(id)) this.skippedFor.delete(id);
    this.jobs = [...jobs.map((job) => kept.get(job.id) ?? job), ...begun.filter(({ id }) => !named.has(id))];
    // Whoever was asked was told whom it concerns.
    for (const [failed, { blocked }] of this.choosing) {
      const now = this.blockedBy(failed);
      if (now.length !== blocked.length || now.some((id) => !blocked.includes(id))) this.takeBack(failed);
    }
    this.look();
    return true;
  }

  /** Starts what can start, asks about what is blocked, and ends when nothing moves any more. */
  private look(): void {
    if (!this.stopped) {
      const stuck = this.stuck();
      for (const job of this.waiting()) {
        if (this.mayStart(job, stuck)) this.start(job.id, this.retried.delete(job.id));
      }
      this.lookAtFailures();
    }
    const idle = this.choosing.size === 0 && this.waiting().length === 0;
    if (this.running.size > 0 || !(this.stopped || idle)) return;
    this.over = true;
    this.finish();
  }

  private mayStart({ id, needs, after = [] }: Job<Id>, stuck: ReadonlySet<Id>): boolean {
    const isReady = needs.every((need) => this.outcomes.has(need) && !this.bad(need));
    if (!isReady || after.some((other) => this.isToCome(other) && !stuck.has(other))) return false;
    return ![...this.running].some((other) => this.plan.apart?.(id, other) === true);
  }

  private isToCome(id: Id): boolean {
    return !this.outcomes.has(id) && this.jobs.some((job) => job.id === id);
  }

  /** Those that can't begin since something failed that they need: who only comes after them does not wait for a choice. */
  private stuck(): ReadonlySet<Id> {
    const stuck = new Set<Id>();
    for (const { id, needs } of this.waiting())
      if (needs.some((need) => this.bad(need) || stuck.has(need))) stuck.add(id);
    return stuck;
  }

  /** One question for each failure that blocks somebody; one that blocks nobody any more is taken back. */
  private lookAtFailures(): void {
    const failures = new Set(this.waiting().flatMap(({ needs }) => needs.filter((need) => this.bad(need))));
    for (const failed of this.choosing.keys()) if (!failures.has(failed)) this.takeBack(failed);
    for (const failed of failures) if (!this.choosing.has(failed)) this.choose(failed);
  }

  private start(id: Id, again: boolean): void {
    this.carry(id, this.plan.start(id, again));
  }

  private carry(id: Id, work: Promise<AgentOutcome | null>): void {
    this.running.add(id);
    // Out of those that run and among those that have ended in one step: whoever looks in between would begin it again.
    const end = (): boolean => this.running.delete(id);
    const ended = (outcome: AgentOutcome | null): void => {
      end();
      const more = this.more.get(id);
      if (this.more.delete(id) && more !== undefined && outcome !== null) return this.carry(id, more);
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
      // Somebody said stop meanwhile: no choice may begin anything, or leave anything out.
      if (this.stopped) return;
      if (choice === 'stop') this.stopped = true;
      else if (choice === 'retry') this.again(failed);
      else for (const id of this.blockedBy(failed)) this.leaveOut(id, failed);
    });
  }

  private takeBack(failed: Id): void {
    this.choosing.get(failed)?.moot.abort();
    this.choosing.delete(failed);
  }

  /** Looks again when `work` is done. A fault stops everything: nobody knows what it left behind. */
  private after<T>(work: Promise<T>, then: (value: T) => void, broken = (): unknown => null): void {
    void work
      .then(then)
      .catch((error: unknown) => {
        this.stopped = true;
        this.faults.push(error);
        broken();
      })
      .then(() => this.look());
  }

  /** What was left out has never begun: it waits for its needs as at first. */
  private again(id: Id): void {
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

  private leaveOut(id: Id, because: Id): void {
    if (this.outcomes.has(id)) return;
    this.retried.delete(id);
    this.outcomes.set(id, 'skipped');
    this.skippedFor.set(id, because);
    this.plan.skipped(id, because);
    for (const next of this.blockedBy(id)) this.leaveOut(next, id);
  }

  private bad(id: Id): boolean {
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
