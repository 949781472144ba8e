/**
 * Judges an edit before it is sent, with the domain's own check and what the state knows about models and roles, so that
 * the reason stands at the field. The engine judges again, by all the rules; this one may be milder, never harsher.
 */
import { applyEdit } from '../../domain/apply-edit.ts';
import type { PlanContext } from '../../domain/check-plan.ts';
import type { PlanEdit } from '../../domain/plan-edit.ts';
import type { ModelOption, PlanChoices, SoundPlan } from '../../domain/plan.ts';
import { fail, ok } from '../../domain/result.ts';
import type { RunState } from '../../events/state.ts';

/** Why an edit can't be made, or null when it can as far as one can tell here. */
export function editProblem(state: RunState, edit: PlanEdit): string | null {
  const { plan, choices } = state;
  if (plan === null || choices === null) return null;
  const result = applyEdit(plan, edit, contextOf(choices, plan));
  return result.ok ? null : result.fault;
}

/** The model that a name means, or undefined. */
export const modelNamed = (choices: PlanChoices, asked: string): ModelOption | undefined =>
  choices.models.find(({ id, label, aliases }) => id === asked || label === asked || aliases.includes(asked));

/** The name by which a model is asked for: people's name where it has one. */
export const askedName = (model: ModelOption): string => model.aliases[0] ?? model.id;

function contextOf(choices: PlanChoices, plan: SoundPlan): PlanContext {
  const known = new Map([...choices.roles, ...plan.tasks].map(({ model }) => [model.asked, model] as const));
  return {
    choices,
    resolveModel: (asked, role) => {
      const before = known.get(asked);
      if (before !== undefined) return ok(before);
      const option = modelNamed(choices, asked);
      if (option === undefined) return fail(`there is no model "${asked}"`);
      if (option.usable.yes) return ok({ asked, used: option.id, because: null });
      // What stands in for it is policy's to say; the role's own model is a likely one.
      const own = choices.roles.find(({ name }) => name === role)?.model.used ?? option.id;
      return ok({ asked, used: own, because: option.usable.because });
    },
    roleProblem: () => null,
  };
}
