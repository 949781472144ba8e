/** Restrictions that somebody wrote and that don't hold, since another layer's is tighter or goes before: told, so that nobody wonders. */
import { type Layer as LayerName, reasonText } from '../../domain/reason.ts';
import { ruleOf } from '../schema/keys.ts';
import { type Effective, amount } from '../settings/merge.ts';

/** A line for each; of the layers that may only tighten, the project and the command line. */
export const withoutEffect = (values: ReadonlyMap<string, Effective>): readonly string[] =>
  [...values.values()].flatMap(({ path, value, from, said }) => {
    const { kind, merge } = ruleOf(path);
    // What an organisation says of a person's own affairs where it binds: the person's word is the one without effect.
    const bound = kind === 'grant' && merge === 'highest';
    if ((kind !== 'restriction' && !bound) || ['first', 'each', 'union'].some((whole) => whole === merge)) return [];
    const same = (other: unknown): boolean => other === value || (merge === 'min' && amount(other) === amount(value));
    return said
      .filter(({ layer, value: other }) => (bound ? layer === 'user' : LOWER.includes(layer)) && !same(other))
      .map(
        (each) =>
          `${reasonText(each.from)} has no effect: ${reasonText(from)} ${merge === 'highest' ? 'goes before it' : 'is tighter'}`,
      );
  });

const LOWER: readonly LayerName[] = ['project', 'command line'];
