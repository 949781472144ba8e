/** What a plan will probably use, and what it would cost with other models: a line each for people, and as JSON for programs. */
import { tasksThatAsk } from '../../domain/permissions.ts';
import type { Expected, Range } from '../../domain/plan/estimate-range.ts';
import { fitOf, totalRange } from '../../domain/plan/estimate-range.ts';
import type { Variant } from '../../domain/plan/what-if.ts';
import { variantsOf } from '../../domain/plan/what-if.ts';
import type { RunState } from '../../events/state.ts';
import { formatCost, formatDuration, formatTokens } from '../views/text/format.ts';

/** `Likely: …` and `What if: …`; none where nothing is known of what may be chosen. */
export function outlookLines(state: RunState): readonly string[] {
  const { plan, choices, maxParallel } = state;
  if (plan === null || choices === null) return [];
  const variants = variantsOf(plan, choices, maxParallel);
  const whatIf = variants.every(({ same }) => same) ? [] : [`What if: ${variants.map(variantWords).join('; ')}`];
  return [likelyLine(totalRange(plan, choices, maxParallel), state), ...whatIf];
}

function likelyLine(expected: Expected, { choices, budget }: RunState): string {
  const { tokens, cost, seconds, because } = expected;
  const between = (range: Range, words: (amount: number) => string): string =>
    words(range.low) === words(range.high) ? words(range.low) : `${words(range.low)} to ${words(range.high)}`;
  const parts = [
    ...(cost === null ? [] : [between(cost, formatCost)]),
    `${between(tokens, formatTokens)} tokens`,
    between(seconds, (amount) => formatDuration(amount * 1000)),
  ];
  const fit = fitOf(expected, { ...choices?.limits.run, ...budget });
  const over = { fits: '', 'may not fit': '; the budget may not do', 'does not fit': '; over the budget' }[fit];
  return `Likely: ${parts.join(', ')} (${because})${over}`;
}

/** `cheap $0.0126, 1m 50s (2 tasks change)`, `balanced: as it is`. */
function variantWords({ name, same, totals, changes }: Variant): string {
  if (same) return `${name}: as it is`;
  const cost = totals.cost === null ? 'price not known' : formatCost(totals.cost);
  const count = changes.length === 1 ? '1 task changes' : `${changes.length} tasks change`;
  return `${name} ${cost}, ${formatDuration(totals.seconds * 1000)} (${count})`;
}

/** Beside a plan that is printed for programs: each amount from low over likely to high, and the models of each variant. */
export function outlookOf({ plan, choices, maxParallel }: RunState): object {
  if (plan === null || choices === null) return {};
  const whatIf = variantsOf(plan, choices, maxParallel).map(({ name, same, totals, edit }) => ({
    name,
    same,
    cost: totals.cost,
    tokens: totals.tokens,
    seconds: totals.seconds,
    models: Object.fromEntries(edit.models.map(({ task, model }) => [task, model])),
  }));
  return { estimate: totalRange(plan, choices, maxParallel), whatIf, asks: tasksThatAsk(plan, choices) };
}
