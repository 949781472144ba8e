/** The same run in one process and with workers, killed in the midst of every kind of step: the same comes of it. */
import { beforeAll, describe, expect, it } from 'vitest';
import { brokenByChildren } from '../support/children-promises.ts';
import { brokenByRun } from '../support/family-machine-promises.ts';
import { brokenBy } from '../support/invariants.ts';
import { needs } from '../support/needs.ts';
import { CASES } from './cases.ts';
import { carry, type Carried, EXECUTORS, factsOf, idOf } from './executors.ts';

describe.each(EXECUTORS)('when %s', (_, open) => {
  needs('git', 'bubblewrap', 'postgres');
  let run: Carried | null = null;
  beforeAll(async () => {
    run = await carry(open);
  }, 120_000);
  const carried = (): Carried => {
    if (run === null) throw new Error('it was not carried out');
    return run;
  };

  it('the run comes to its end without those that were stopped, and its log keeps every promise', () => {
    const { code, events } = carried();
    const broken = [...brokenBy(events), ...brokenByChildren(events, true), ...brokenByRun(events)];
    const failed = ['ROOT', idOf('cancelled'), idOf('budget')];
    const ends = events.flatMap((event) => (event.type === 'agent.finished' ? [event] : []));
    expect([code, broken]).toEqual([1, []]);
    expect(ends.flatMap(({ agent, outcome }) => (outcome === 'completed' ? [] : [agent])).toSorted()).toEqual(failed);
  });

  it.each(CASES)('$says', ({ name, expected }) => {
    expect(factsOf(carried(), name)).toEqual(expected);
  });
});
