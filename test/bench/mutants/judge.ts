/** Tells of faults whether the tests of their room notice them. */
import { nearTests, testsOf } from './rooms.ts';
import type { Case } from './sample.ts';
import { Trials } from './trial.ts';

/** A test that never ends has noticed a fault as one that fails; it is told apart because a busy machine can look the same. */
export type Verdict = 'killed' | 'timed out' | 'survived';

export interface Judged extends Case {
  readonly verdict: Verdict;
}

/** Limits of a run, in milliseconds: a busy machine is slow. */
const [SHORTEST, LONGEST] = [60_000, 900_000];
/** How many faults the whole room is run with at once: each that is noticed costs its own run of the tests that failed. */
const TOGETHER = 8;

export class Judge {
  readonly #trials: Trials;
  readonly #copy: string;
  /** Milliseconds, by tests. */
  readonly #limits = new Map<string, number>();

  constructor(copy: string) {
    this.#trials = new Trials(copy);
    this.#copy = copy;
  }

  /** By the tests that are about its file. */
  async near(one: Case): Promise<Verdict> {
    return this.#verdict(one, nearTests(one.room, one.file, this.#copy));
  }

  /**
   * By all other tests of the room, for faults that the near ones did not notice: planted together, one a file, and then each
   * alone under the tests that failed.
   */
  async wide(missed: readonly Case[], tell: (judged: Judged) => void): Promise<void> {
    for (const group of groupsOf(missed)) {
      const tests = this.#othersOf(group);
      const { failed, late } = await this.#trials.run(tests, group, LONGEST, false);
      const suspects = late ? tests : failed;
      for (const one of group) {
        const verdict = suspects.length === 0 ? 'survived' : await this.#verdict(one, suspects);
        tell({ ...one, verdict });
      }
    }
  }

  /** A test that is near to one of several is none that all of them passed. */
  #othersOf(group: readonly Case[]): readonly string[] {
    const near = group.map(({ room, file }) => new Set(nearTests(room, file, this.#copy)));
    const all = new Set(group.flatMap(({ room }) => testsOf(room, this.#copy)));
    return [...all].filter((test) => !near.every((own) => own.has(test)));
  }

  async #verdict(one: Case, tests: readonly string[]): Promise<Verdict> {
    if (tests.length === 0) return 'survived';
    const limit = await this.#limitOf(tests);
    const { failed, late } = await this.#trials.run(tests, [one], limit);
    if (late) return 'timed out';
    return failed.length > 0 ? 'killed' : 'survived';
  }

  /**
   * Ten times what the tests take without a fault, as busy as the machine is. Throws where they fail: each fault would seem to be
   * noticed.
   */
  async #limitOf(tests: readonly string[]): Promise<number> {
    const name = tests.join(' ');
    const known = this.#limits.get(name);
    if (known !== undefined) return known;
    const { failed, late, milliseconds } = await this.#trials.run(tests, [], LONGEST);
    if (late || failed.length > 0) throw new Error(`these fail without a fault: ${(late ? tests : failed).join(' ')}`);
    const limit = Math.min(LONGEST, Math.max(SHORTEST, 10 * milliseconds));
    this.#limits.set(name, limit);
    return limit;
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
