/** Layers -> the rules in force, or everything that is wrong between them. Reads nothing: used at the start and by the law. */
import { type Result, fail, ok } from '../../domain/result.ts';
import type { Rules } from '../../policy/rules.ts';
import { type KnownNames, checkLayers } from '../files/check.ts';
import type { ConfigFault } from '../files/fault.ts';
import { pinFaults } from './mandatory-reviews.ts';
import type { Layer } from '../files/layer.ts';
import { type Effective, inOrder, merge } from './merge.ts';
import { modelLists } from './model-lists.ts';
import { toRules } from './to-rules.ts';

export interface InForce {
  readonly rules: Rules;
  /** Every key with what holds and where it is written. */
  readonly values: ReadonlyMap<string, Effective>;
}

/** `layers` in any order, the defaults among them. */
export function inForce(given: readonly Layer[], known: KnownNames): Result<InForce, readonly ConfigFault[]> {
  const layers = inOrder(given);
  const models = modelLists(layers, known.own);
  const faults = [...models.faults, ...checkLayers(layers, known)];
  if (faults.length > 0) return fail(faults);
  const values = merge(layers);
  const rules = toRules(layers, values, models);
  const pins = pinFaults(layers, rules, known.own);
  return pins.length > 0 ? fail(pins) : ok({ rules, values });
}
