/** How plans are checked in this run: which roles and models a plan may name, and what rules add to it whatever it says. */
import type { ModelChoice } from '../../domain/agents/agent.ts';
import type { PlanContext } from '../../domain/plan/check-plan.ts';
import type { RoleName } from '../../domain/ids.ts';
import type { PlanChoices } from '../../domain/plan/plan.ts';
import { reasonText } from '../../domain/reason.ts';
import { fail, ok } from '../../domain/result.ts';
import { plannedRoleProblem, roleNamed } from '../../policy/roles.ts';
import { modelFor } from './model-selection.ts';
import { forcedNodes } from '../reviews/review-plan.ts';
import type { RunOptions } from '../run/run-options.ts';

/** The same for a planner, a file and a person. */
export function planContextOf(options: RunOptions, choices: PlanChoices): PlanContext {
  const modelNow = (name: RoleName): ModelChoice | null => {
    const role = roleNamed(name, options.roles);
    const model = role === null ? null : modelFor(options, role, null);
    return model?.ok === true ? model.value.choice : null;
  };
  // Choices are as old as the plan: what a role gets where nothing is asked for is judged by the rules of now.
  const roles = choices.roles.map((role) => ({ ...role, model: modelNow(role.name) ?? role.model }));
  return {
    choices: { ...choices, roles },
    forced: (tasks) => forcedNodes(options, tasks),
    permissionProblem(what) {
      const held = options.rules.permissionsHeld?.[what];
      return held === undefined ? null : reasonText(held);
    },
    resolveModel(asked, name) {
      const role = roleNamed(name, options.roles);
      if (role === null) return fail(`there is no role ${name}`);
      const model = modelFor(options, role, asked);
      return model.ok ? ok(model.value.choice) : model;
    },
    roleProblem(name) {
      const problem = plannedRoleProblem(name, options.rules, options.roles);
      const forced = (options.rules.forcedAgents ?? []).some((rule) => rule.name === name);
      const aside = forced ? '; it is not for plans: rules start it themselves' : '';
      return problem === null ? null : `${problem.text}${aside} — ${reasonText(problem.reason)}`;
    },
  };
}
