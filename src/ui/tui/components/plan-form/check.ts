/**
 * Judges an edit before it is sent, with the domain's own check and what the state knows about models and roles, so that
 * the reason stands at the field. The engine judges again, by all the rules; this one may be milder, never harsher.
 */
import { applyEdit } from '../../../../domain/plan/apply-edit.ts';
import type { PlanContext } from '../../../../domain/plan/check-plan.ts';
import type { PlanEdit } from '../../../../domain/plan/plan-edit.ts';
import type { ModelOption, PlanChoices, PlanTask, SoundPlan } from '../../../../domain/plan/plan.ts';
import { fail, ok } from '../../../../domain/result.ts';
import type { RunState } from '../../../../events/state.ts';
import type { DialogEffect } from '../../frame/screen.ts';

/** A task that is shown, with everything that a dialog about it needs. */
export interface Subject {
  readonly plan: SoundPlan;
  readonly choices: PlanChoices;
  readonly task: PlanTask;
  /** Why an edit can't be made, for its field; null when it can as far as one can tell here. */
  problem(edit: PlanEdit): string | null;
  /** What an edit leads to: to the run at once before it begins, into a draft or a question later. */
  send(edit: PlanEdit): DialogEffect;
  /** Why another task can't be changed, such as that it has begun; null when it can. */
  fixed(task: PlanTask): string | null;
}

/** The subject of a plan that was not approved yet: each edit goes to the run, which judges it once more. */
export const proposedSubject = (state: RunState, task: PlanTask): Subject | null =>
  state.plan === null || state.choices === null
    ? null
    : {
        plan: state.plan,
        choices: state.choices,
        task,
        problem: (edit) => editProblem(state, edit),
        send: (edit) => ({ commands: [{ do: 'edit plan', edit }] }),
        fixed: () => null,
      };

/** Why an edit can't be made, or null when it can as far as one can tell here. */
function editProblem(state: RunState, edit: PlanEdit): string | null {
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
