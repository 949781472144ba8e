/** What has to hold for all inputs, at full size: rules of random layers (I1), promises in random storms of calls (I3). */
import * as fc from 'fast-check';
import { isDeepStrictEqual } from 'node:util';
import { brokenIn, storm } from '../../support/budget-storm.ts';
import { loosened, rulesOf, shuffledSets } from '../../support/layer-sets.ts';
import type { Figure } from '../table.ts';
import type { Size } from './part.ts';
import { counted } from './part.ts';

export function random({ quick }: Size): readonly Figure[] {
  const count = quick ? 200 : 10_000;
  const sets = fc.sample(shuffledSets, count);
  const wrong = sets.filter(([layers, shuffled]) => {
    const rules = rulesOf(layers);
    return !isDeepStrictEqual(rulesOf(shuffled), rules) || layers.some((layer) => loosened(rules, layer).length > 0);
  });
  const broken = fc.sample(storm, count).filter((one) => brokenIn(one).length > 0);
  return [
    counted('random sets of layers, in another order or looser', wrong.length, count),
    counted('random storms of calls, above a limit', broken.length, count),
  ];
}
