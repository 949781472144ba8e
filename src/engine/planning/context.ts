/** How plans are checked in this run: which roles and models a plan may name, and what the rules add to it. */
import type { ModelChoice } from '../../domain/agents/agent.ts';
import { MAIN, type Role } from '../../domain/agents/role.ts';
import type { RoleName } from '../../domain/ids.ts';
import { cappedEffort } from '../../domain/models/provider.ts';
import type { Learned } from '../../domain/plan/calibration.ts';
import type { PlanContext } from '../../domain/plan/check-plan.ts';
import * as plans from '../../domain/plan/plan.ts';
import { CHECK_BOUNDS } from '../../domain/plan/task-checks.ts';
import { type Mode, reasonText } from '../../domain/reason.ts';
import { defined, fail, ok } from '../../domain/result.ts';
import * as policy from '../../policy/index.ts';
import { type AgentSetup, budgetOf, modelFor, modelNamesOf } from '../gate/index.ts';
import { forcedNodes } from '../reviews/index.ts';
import { NO_TREES } from '../workspaces/index.ts';

/** The same context for plans of a planner, a file and a person. */
export function planContextOf(options: AgentSetup, choices: plans.PlanChoices): PlanContext {
  const modelNow = (name: RoleName): ModelChoice | null => {
    const role = policy.roleNamed(name, options.roles);
    const model = role === null ? null : modelFor(options, role, null);
    return model?.ok === true ? model.value.choice : null;
  };
  // The choices are as old as the plan, so default models are chosen by the present rules.
  const roles = choices.roles.map((role) => ({ ...role, model: modelNow(role.name) ?? role.model }));
  return {
    choices: { ...choices, roles },
    forced: (tasks) => forcedNodes(options, tasks),
    permissionProblem(what) {
      const held = options.rules.permissionsHeld?.[what];
      return held === undefined ? null : reasonText(held);
    },
    treeProblem: () => (options.workspaces === undefined ? NO_TREES : options.workspaces.whyNot()),
    resolveModel(asked, name) {
      const role = policy.roleNamed(name, options.roles);
      if (role === null) return fail(`there is no role ${name}`);
      const model = modelFor(options, role, asked);
      return model.ok ? ok(model.value.choice) : model;
    },
    roleProblem(name) {
      const problem = policy.plannedRoleProblem(name, options.rules, options.roles);
      const forced = (options.rules.forcedAgents ?? []).some((rule) => rule.name === name);
      const aside = forced ? '; policy starts it, so a plan cannot contain it' : '';
      if (problem !== null) return `${problem.text}${aside} — ${reasonText(problem.reason)}`;
      const role = policy.roleNamed(name, options.roles);
      const model = role === null ? null : modelFor(options, role, null);
      return model === null || model.ok ? null : model.fault;
    },
  };
}

/** The parts of the start's request that concern the plan. */
export interface PlanTerms {
  readonly mode: Mode;
  /** Main is asked directly: a plan of one task for `main`, without a planner. */
  readonly direct?: boolean;
  /** `--commit`: the plan starts with a commit at its end. */
  readonly commit?: true;
  /** `--model` and `--role-model`: override the planner's recommendations. */
  readonly model: string | null;
  readonly roleModels: ReadonlyMap<RoleName | string, string>;
  /** Corrections of estimates from earlier runs; missing or empty where there were too few. */
  readonly learned?: readonly Learned[];
  /** A plan from a file instead of a planner's, with the name to show. */
  readonly plan: { readonly draft: plans.DraftPlan; readonly from: string } | null;
}

/** Everything that a screen or a plan check needs, as plain JSON. */
export function choicesOf(options: AgentSetup & Pick<PlanTerms, 'learned'>): plans.PlanChoices {
  const { rules } = options;
  const roles = policy.plannableRoles(rules, options.roles).flatMap((role) => {
    const model = modelFor(options, role, null);
    if (!model.ok) return [];
    const { name, description, tools, capabilities } = role;
    const own = defined({
      budget: role.budget,
      effort: cappedEffort(role.effort, rules.maxEffort?.value),
      single: name === MAIN || undefined,
      protocol: role.protocol,
      tree: role.tree,
    });
    const [fallbacks, limit] = [chainOf(options, role), budgetOf(options, name)];
    return [{ name, description, tools, capabilities, model: model.value.choice, fallbacks, limit, ...own }];
  });
  const models = options.models.models().map((model) => {
    const problem = policy.modelProblem(model.id, rules);
    return problem === null ? model : { ...model, usable: { yes: false as const, because: reasonText(problem) } };
  });
  return {
    roles,
    models,
    limits: {
      maxTasks: rules.maxTasksPerPlan.value,
      maxParallel: rules.maxParallelAgents.value,
      maxAgents: rules.maxAgentsPerRun.value,
      checks: {
        count: rules.maxChecksPerTask?.value ?? CHECK_BOUNDS.count,
        time: rules.maxCheckTime?.value ?? CHECK_BOUNDS.time,
      },
      run: options.runBudget,
      agent: rules.agentBudget.value,
      ...(rules.maxEffort === undefined
        ? {}
        : { maxEffort: { value: rules.maxEffort.value, because: reasonText(rules.maxEffort.from) } }),
    },
    ...defined({ treeSetup: options.workspaces?.setup }),
    ...((options.learned ?? []).length > 0 && { learned: options.learned }),
  };
}

/** The role's fallbacks, each with what excludes it, then the further models that the rules allow. */
function chainOf(options: AgentSetup, role: Role): NonNullable<plans.PlanChoices['roles'][number]['fallbacks']> {
  const { rules, offlineOnly } = options;
  const models = options.models.models();
  const names = modelNamesOf(options, role);
  const field = { fallbacks: names, rules, models, offlineOnly, words: policy.wordsOf(role) };
  const { value, from } = rules.modelFallback;
  const own = names.map((name) => {
    const id = policy.resolveModel(name, models);
    const obstacle = id === null ? null : policy.obstacleTo(id, field);
    if (id === null) return { model: name, whyNot: 'not a known model' };
    if (obstacle !== null) return { model: id, whyNot: obstacle.file === null ? obstacle.rule : reasonText(obstacle) };
    return { model: id, whyNot: value === 'deny' ? reasonText(from) : null };
  });
  const named = new Set<string>(own.map(({ model }) => model));
  const further = policy
    .fallbackModels({ ...field, role: role.name, used: policy.OFFLINE })
    .filter((id) => !named.has(id));
  return [...own, ...further.map((model) => ({ model, whyNot: null }))];
}

// What an approved plan lets agents do without asking: the origin of its permissions, and which apply to an agent.

/** Removes permissions and the commit from a planner's answer, because a model must not grant them. */
export function withoutPermissions(draft: plans.DraftPlan): plans.DraftPlan {
  const { permissions: _ofPlan, commit: _commit, ...rest } = draft;
  return { ...rest, tasks: rest.tasks.map(({ permissions: _ofTask, ...task }) => task) };
}

/** Without checks that a model proposed where nobody sees the plan before they run: there commands run only where the person allowed them,
 * and checks that are denied would fail the run. */
export function seenChecks(draft: plans.DraftPlan, options: AgentSetup & PlanTerms): plans.DraftPlan {
  const { approval, mode, rules } = options;
  const isAllowed = mode === 'yolo' || startOf({ rules, plan: null }, 'commands') === 'allow';
  if (approval === 'person' || approval === 'nobody' || isAllowed) return draft;
  return { ...draft, tasks: draft.tasks.map(({ checks: _checks, attempts: _attempts, ...task }) => task) };
}

/** The plan with its initial permissions: those decided on the plan `before`, otherwise from the command line, the plan file, or the
 * configuration. Never what a rule requires to ask. */
export function startingPermissions(
  plan: plans.SoundPlan,
  options: Starting,
  before: plans.SoundPlan | null,
): plans.SoundPlan {
  const { permissions: _, ...rest } = plan;
  const decided = before === null ? null : plans.permissionsOf(before);
  const { permissionsHeld: held = {} } = options.rules;
  const chosen: Partial<Record<plans.Permitted, plans.Permission>> = {};
  for (const what of plans.PERMITTED)
    chosen[what] = held[what] === undefined ? (decided?.[what] ?? startOf(options, what)) : 'ask';
  const permissions = plans.plainPermissions(chosen, true);
  return permissions === null ? rest : { ...rest, permissions };
}

type Starting = Pick<AgentSetup, 'rules'> & Pick<PlanTerms, 'plan'>;

function startOf({ rules, plan: file }: Starting, what: plans.Permitted): plans.Permission {
  const configured = rules.permissions?.[what];
  if (configured?.from.layer === 'command line') return configured.value;
  return file?.draft.permissions?.[what] ?? configured?.value ?? 'ask';
}

/** Tasks whose actions will be denied because nobody can be asked; null where there are none. The offline analyst only reads. */
export function deniedUnattended(
  { person, approval, mode, rules }: Pick<PlanTerms, 'mode'> & Pick<AgentSetup, 'person' | 'approval' | 'rules'>,
  plan: plans.SoundPlan,
  choices: plans.PlanChoices,
): ReturnType<typeof plans.tasksThatAsk> | null {
  if (person || approval === 'nobody' || (mode === 'yolo' && rules.maxMode.value === 'yolo')) return null;
  const able = plan.tasks.filter(({ model }) => model.used !== policy.OFFLINE);
  const tasks = plans.tasksThatAsk({ ...plan, tasks: able }, choices);
  return plans.PERMITTED.some((what) => tasks[what].length > 0) ? tasks : null;
}
