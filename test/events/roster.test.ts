import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AgentId } from '../../src/domain/ids.ts';
import type { AgentState } from '../../src/events/state.ts';
import { Roster } from '../../src/events/roster.ts';
import { foldAll } from '../../src/events/fold.ts';
import { created, planned, Recording, started } from '../support/recorded-run.ts';

const [some] = foldAll(created(planned(started(new Recording()))).events).agents.values();
const agent = (number: number, name: string): AgentState => {
  if (some === undefined) throw new Error('the recorded run has no agent');
  return { ...some, id: AgentId.parse(number === 0 ? 'ROOT' : `ROOT::S${number}`), name };
};

describe('a roster', () => {
  it('is what a map would be after the same changes, and so is every one that it came from', () => {
    const step = fc.record({ from: fc.nat(), number: fc.nat({ max: 80 }), name: fc.string({ maxLength: 3 }) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        const maps = [new Map<AgentId, AgentState>()];
        const rosters = [Roster.of([])];
        for (const { from, number, name } of steps) {
          const at = from % maps.length;
          const changed = agent(number, name);
          maps.push(new Map(maps[at]).set(changed.id, changed));
          rosters.push(rosters[at]?.with(changed) ?? Roster.of([]));
        }
        for (const [at, roster] of rosters.entries()) {
          const map = maps[at] ?? new Map<AgentId, AgentState>();
          expect([...roster]).toEqual([...map]);
          expect([roster.size, [...roster.keys()], [...roster.values()]]).toEqual([
            map.size,
            [...map.keys()],
            [...map.values()],
          ]);
          for (let number = 0; number <= 80; number += 8) {
            const { id } = agent(number, '');
            expect([roster.get(id), roster.has(id)]).toEqual([map.get(id), map.has(id)]);
          }
        }
      }),
      { numRuns: 60 },
    );
  });
});
