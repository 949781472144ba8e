/** Limits on single models by the day, of all layers: names become patterns, and of several limits the tightest holds. */
import { type Budget, withoutAbsent } from '../../domain/budget.ts';
import type { ModelEntry, Rule } from '../../policy/rules.ts';
import type { Layer } from '../files/layer.ts';

export interface ModelBudget {
  readonly model: ModelEntry;
  readonly budget: Rule<Budget>;
}

interface Word extends ModelBudget {
  readonly pattern: string;
}

export interface ModelBudgets {
  /** One a pattern, by its name. */
  readonly known: readonly ModelBudget[];
  readonly unknown: readonly { readonly layer: Layer; readonly written: string }[];
}

/** `patternOf`: a canonical id or a family; null for what nobody knows. */
export function modelBudgets(layers: readonly Layer[], patternOf: (written: string) => string | null): ModelBudgets {
  const words: Word[] = [];
  const unknown: { readonly layer: Layer; readonly written: string }[] = [];
  for (const layer of layers) {
    for (const [written, { maxCost, maxTokens }] of Object.entries(layer.settings.budgets?.model ?? {})) {
      const pattern = patternOf(written);
      if (pattern === null) {
        unknown.push({ layer, written });
        continue;
      }
      const from = layer.reason(['budgets', 'model', written]);
      words.push({
        pattern,
        model: { written, pattern, from },
        budget: { value: withoutAbsent({ maxTokens, maxCost }), from },
      });
    }
  }
  const patterns = [...new Set(words.map(({ pattern }) => pattern))].sort();
  return {
    known: patterns.flatMap((pattern) => tightestOf(words.filter((word) => word.pattern === pattern))),
    unknown,
  };
}

function tightestOf(words: readonly Word[]): readonly ModelBudget[] {
  const holding = (limit: 'maxCost' | 'maxTokens'): Word | undefined =>
    words
      .filter(({ budget }) => budget.value[limit] !== undefined)
      .reduce<Word | undefined>((best, next) => (isTighter(next, best, limit) ? next : best), undefined);
  const [cost, tokens] = [holding('maxCost'), holding('maxTokens')];
  const first = cost ?? tokens;
  if (first === undefined) return [];
  const value = withoutAbsent({ maxTokens: tokens?.budget.value.maxTokens, maxCost: cost?.budget.value.maxCost });
  return [{ model: first.model, budget: { value, from: first.budget.from } }];
}

const isTighter = (next: Word, best: Word | undefined, limit: 'maxCost' | 'maxTokens'): boolean =>
  best === undefined || (next.budget.value[limit] ?? Infinity) < (best.budget.value[limit] ?? Infinity);
