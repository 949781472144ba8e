/** What a plan may be made of here: roles and models that policy leaves, and how names become models. */
import type { ModelChoice } from '../../domain/agents/agent.ts';
import { cappedEffort, withEffort } from '../../domain/models/effort.ts';
import type { ModelId, RoleName } from '../../domain/ids.ts';
import type { PlanChoices } from '../../domain/plan/plan.ts';
import type { Reason } from '../../domain/reason.ts';
import { reasonText } from '../../domain/reason.ts';
import type { Result } from '../../domain/result.ts';
import { fail, ok } from '../../domain/result.ts';
import type { Role } from '../../domain/agents/role.ts';
import { MAIN } from '../../domain/agents/role.ts';
import { agentBudget } from '../../policy/budgets.ts';
import {
  chooseModel,
  fallbackModels,
  modelProblem,
  obstacleTo,
  OFFLINE,
  resolveModel,
  wordsOf,
} from '../../policy/models.ts';
import { modelsOfRole } from '../../policy/role-models.ts';
import { plannableRoles } from '../../policy/roles.ts';
import type { RunOptions } from '../run/run-options.ts';

/** A model for an agent of `role`, or the reason why there is none. `substituted` names the rule when it is another one. */
export function modelFor(
  options: RunOptions,
  role: Role,
  asked: string | null,
): Result<{ readonly choice: ModelChoice; readonly substituted: Reason | null }, string> {
  const { rules, offlineOnly } = options;
  const models = options.models.models();
  const words = wordsOf(role);
  const fallbacks = namedBy(options, role);
  const wish = { asked, role: role.name, fallbacks, rules, models, offlineOnly, words };
  const chosen = chooseModel(wish);
  if (chosen.ok) return ok({ choice: chosen.value.choice, substituted: chosen.value.reason });
  const rulesText = chosen.fault.reasons.map(reasonText).join('; ');
  return fail(rulesText === '' ? chosen.fault.text : `${chosen.fault.text}: ${rulesText}`);
}

/** The models that a role asks for here, in order. */
export const namedBy = (
  { rules, models, offlineOnly }: Pick<RunOptions, 'rules' | 'models' | 'offlineOnly'>,
  role: Role,
): readonly string[] => modelsOfRole(role, { rules, models: models.models(), offlineOnly });

/** Models to go on with when `used` can't be reached. */
export const fallbacksFor = (options: RunOptions, role: Role, used: ModelId): readonly ModelId[] =>
  fallbackModels({
    used,
    role: role.name,
    fallbacks: namedBy(options, role),
    rules: options.rules,
    models: options.models.models(),
    offlineOnly: options.offlineOnly,
    words: wordsOf(role),
  });

/** Everything a screen or a plan check needs, as plain JSON. */
export function choicesOf(options: RunOptions): PlanChoices {
  const { rules } = options;
  const roles = plannableRoles(rules, options.roles).flatMap((role) => {
    const model = modelFor(options, role, null);
    if (!model.ok) return [];
    const { name, description, tools, capabilities } = role;
    const own = role.budget === undefined ? {} : { budget: role.budget };
    const limit = budgetOf(options, name);
    const fallbacks = chainOf(options, role);
    const single = name === MAIN ? ({ single: true } as const) : {};
    const spoken = role.protocol === undefined ? {} : { protocol: role.protocol };
    const choice = model.value.choice;
    const more = { ...withEffort(cappedEffort(role.effort, rules.maxEffort?.value)), ...single, ...spoken };
    return [{ name, description, tools, capabilities, model: choice, ...own, fallbacks, limit, ...more }];
  });
  const models = options.models.models().map((model) => {
    const problem = modelProblem(model.id, rules);
    return problem === null ? model : { ...model, usable: { yes: false as const, because: reasonText(problem) } };
  });
  return {
    roles,
    models,
    limits: {
      maxTasks: rules.maxTasksPerPlan.value,
      maxParallel: rules.maxParallelAgents.value,
      maxAgents: rules.maxAgentsPerRun.value,
      run: options.runBudget,
      agent: rules.agentBudget.value,
      ...(rules.maxEffort === undefined
        ? {}
        : { maxEffort: { value: rules.maxEffort.value, because: reasonText(rules.maxEffort.from) } }),
    },
    ...((options.learned ?? []).length > 0 && { learned: options.learned }),
  };
}

/** The role's own order of fallback with what strikes an entry out, then the further models that lists allow. */
function chainOf(options: RunOptions, role: Role): NonNullable<PlanChoices['roles'][number]['fallbacks']> {
  const { rules, offlineOnly } = options;
  const models = options.models.models();
  const names = namedBy(options, role);
  const field = { fallbacks: names, rules, models, offlineOnly, words: wordsOf(role) };
  const { value, from } = rules.modelFallback;
  const own = names.map((name) => {
    const id = resolveModel(name, models);
    const obstacle = id === null ? null : obstacleTo(id, field);
    if (id === null) return { model: name, whyNot: 'not a known model' };
    if (obstacle !== null) return { model: id, whyNot: obstacle.file === null ? obstacle.rule : reasonText(obstacle) };
    return { model: id, whyNot: value === 'deny' ? reasonText(from) : null };
  });
  const named = new Set<string>(own.map(({ model }) => model));
  const further = fallbackModels({ ...field, role: role.name, used: OFFLINE }).filter((id) => !named.has(id));
  return [...own, ...further.map((model) => ({ model, whyNot: null }))];
}

/** The limits on an agent of `role` beside those of its plan task. */
export const budgetOf = (options: RunOptions, role: RoleName | string): ReturnType<typeof agentBudget> =>
  agentBudget(role, options.rules);
