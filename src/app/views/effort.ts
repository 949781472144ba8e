/** How the effort of a task or an agent is shown, on the screen and in line mode: with the rule that caps it and models that take none. */
import type { Effort } from '../../domain/models/effort.ts';
import type { ModelId } from '../../domain/ids.ts';
import type { PlanChoices } from '../../domain/plan/plan.ts';

interface Shown {
  readonly effort?: Effort;
  /** The model that is used. */
  readonly model: { readonly used: ModelId };
  /** Models that were called without it. */
  readonly withoutEffort?: readonly ModelId[];
}

/** One line of plain text; null where nothing is said of the effort. */
export function effortText({ effort, model, withoutEffort = [] }: Shown, choices: PlanChoices | null): string | null {
  if (effort === undefined) return null;
  const option = choices?.models.find(({ id }) => id === model.used);
  const refused = option?.effort === false || withoutEffort.includes(model.used);
  const name = option?.label ?? model.used;
  const most = mostText(effort, choices);
  return [effort, ...most, ...(refused ? [`${name} takes no such setting and is called without`] : [])].join('; ');
}

function mostText(effort: Effort, choices: PlanChoices | null): readonly string[] {
  const max = choices?.limits.maxEffort;
  return max?.value === effort && effort !== 'high' ? [`the most that is allowed: ${max.because}`] : [];
}
