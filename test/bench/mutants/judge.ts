/** Tells of faults whether the tests of their room notice them. */
import { callsIn, importersIn, type KnownTests, Recordings, testsReaching } from './callers.ts';
import { type Room, testsOf } from './rooms.ts';
import type { Case } from './sample.ts';
import { Trials } from './trial.ts';

/** A test that never ends has noticed a fault as one that fails; it is told apart because a busy machine can look the same. */
export type Verdict = 'killed' | 'timed out' | 'survived';

export interface Judged extends Case {
  readonly verdict: Verdict;
}

/** Limits of a run, in milliseconds: a busy machine is slow. */
const [SHORTEST, LONGEST, LONGEST_RECORD] = [20_000, 900_000, 3_600_000];
/** Tests are near as long as they and those before them take no longer together, in milliseconds. */
const NEAR = 30_000;
/** How many faults the whole room is run with at once: each that is noticed costs its own run of the tests that failed. */
const TOGETHER = 8;

export class Judge {
  readonly #trials: Trials;
  readonly #copy: string;
  readonly #say: (line: string) => void;
  /** By name of the room. */
  readonly #known = new Map<string, KnownTests>();

  constructor(copy: string, say: (line: string) => void) {
    this.#trials = new Trials(copy);
    this.#copy = copy;
    this.#say = say;
  }

  /** By the tests that reach it and are quick. */
  async near(one: Case): Promise<Verdict> {
    return this.#verdict(one, await this.#near(one));
  }

  /**
   * By all other tests of the room, for faults that the near ones did not notice: planted together, one a file, and then each
   * alone under the tests that failed.
   */
  async wide(missed: readonly Case[], tell: (judged: Judged) => void): Promise<void> {
    for (const group of groupsOf(missed)) {
      const tests = await this.#othersOf(group);
      const { failed, late } = await this.#trials.run(tests, group, LONGEST, { bail: false });
      const suspects = late && failed.length === 0 ? tests : failed;
      for (const one of group) {
        const verdict = suspects.length === 0 ? 'survived' : await this.#verdict(one, suspects);
        tell({ ...one, verdict });
      }
    }
  }

  /** A test that is near to one of several is none that all of them passed. */
  async #othersOf(group: readonly Case[]): Promise<readonly string[]> {
    const all = new Set<string>();
    const near: string[][] = [];
    for (const one of group) {
      const { calls } = await this.#knownOf(one.room);
      for (const { test } of calls) all.add(test);
      near.push([...(await this.#near(one))]);
    }
    return [...all].filter((test) => !near.every((own) => own.includes(test)));
  }

  async #verdict(one: Case, tests: readonly string[]): Promise<Verdict> {
    if (tests.length === 0) return 'survived';
    const { took } = await this.#knownOf(one.room);
    const limit = Math.min(LONGEST, Math.max(SHORTEST, 5 * tests.reduce((sum, test) => sum + took(test), 0)));
    const { failed, late } = await this.#trials.run(tests, [one], limit);
    if (!late && failed.length === 0) return 'survived';
    const suspects = failed.length > 0 ? failed : tests;
    if (await this.#isCertain(one, suspects, late, limit)) return late ? 'timed out' : 'killed';
    this.#say(`not counted, for it was not the fault: ${suspects.join(' ')}`);
    return this.#verdict(
      one,
      tests.filter((test) => !suspects.includes(test)),
    );
  }

  /**
   * A test that fails must fail again with the fault. One that does not end must end without it, and then not end in five times as
   * long with it. The rest is a busy machine or chance.
   */
  async #isCertain(one: Case, suspects: readonly string[], late: boolean, limit: number): Promise<boolean> {
    if (!late) return (await this.#trials.run(suspects, [one], limit)).failed.length > 0;
    const began = performance.now();
    const without = await this.#trials.run(suspects, [], LONGEST);
    if (without.late || without.failed.length > 0) return false;
    const slowest = 5 * (performance.now() - began);
    return slowest <= limit || (await this.#trials.run(suspects, [one], slowest)).late;
  }

  async #near(one: Case): Promise<readonly string[]> {
    const known = await this.#knownOf(one.room);
    let sum = 0;
    return testsReaching(one, known).filter((test, index) => {
      sum += known.took(test);
      return index === 0 || sum <= NEAR;
    });
  }

  /** Runs all tests of the room once without a fault. What fails even so is left out: each fault would seem to be noticed. */
  async #knownOf(room: Room): Promise<KnownTests> {
    const known = this.#known.get(room.name);
    if (known !== undefined) return known;
    const tests = testsOf(room, this.#copy);
    const recordings = new Recordings(this.#copy);
    const missing = tests.filter((test) => recordings.of(test).length === 0);
    // A second time for what fails: it may have been a busy machine.
    const failed = await this.#record(room, await this.#record(room, missing, recordings), recordings);
    if (failed.length > 0) this.#say(`left out, for these fail without a fault: ${failed.join(' ')}`);
    const calls = tests.flatMap((test) => recordings.of(test));
    const took = new Map(calls.map((one) => [one.test, Math.ceil(one.took)]));
    const found = { calls, importers: importersIn(this.#copy), took: (test: string) => took.get(test) ?? 0 };
    this.#known.set(room.name, found);
    return found;
  }

  /** Runs these without a fault and keeps what they call; returns those that fail. */
  async #record(room: Room, tests: readonly string[], recordings: Recordings): Promise<readonly string[]> {
    if (tests.length === 0) return [];
    const { failed, late, took } = await this.#trials.run(tests, [], LONGEST_RECORD, { bail: false, records: true });
    if (late && failed.length === 0)
      throw new Error(`the tests of ${room.name} do not end within ${LONGEST_RECORD / 1000} s`);
    for (const calls of callsIn(this.#copy))
      if (tests.includes(calls.test) && !failed.includes(calls.test))
        recordings.keep({ ...calls, took: took[calls.test] ?? 0 });
    return failed;
  }
}

/** No two of a file in one, and no more than run well together. */
function groupsOf(cases: readonly Case[]): readonly (readonly Case[])[] {
  const groups: Case[][] = [];
  for (const one of cases) {
    const open = groups.find(
      (group) =>
        group.length < TOGETHER && group.every(({ file, room }) => file !== one.file && room.name === one.room.name),
    );
    if (open === undefined) groups.push([one]);
    else open.push(one);
  }
  return groups;
}
