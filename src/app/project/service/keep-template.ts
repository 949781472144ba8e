/** Keeps a plan as a template of the project: a new file in `.mimir/plans`, and the trust that the project had before. */
import type { Loaded } from '../../../config/settings/load.ts';
import { type KeptTask, templateText } from '../../../config/templates/text.ts';
import { PLAN_FOLDER } from '../../../config/templates/templates.ts';
import type { Effort } from '../../../domain/models/effort.ts';
import { cappedEffort, withEffort } from '../../../domain/models/effort.ts';
import { writesOf } from '../../../domain/plan/writes.ts';
import { defaultBudget } from '../../../domain/plan/estimate.ts';
import { toPersonForm } from '../../../domain/plan/plan-view.ts';
import type { PersonTask } from '../../../domain/plan/plan-view.ts';
import { type Result, fail, ok } from '../../../domain/result.ts';
import type { Role } from '../../../domain/agents/role.ts';
import { agentBudget } from '../../../policy/budgets.ts';
import type { Rules } from '../../../policy/rules.ts';
import type { Receipt, Refusal } from '../../../ports/controls.ts';
import type { TemplateWish } from '../../../ports/project-service.ts';
import { keepingTrust } from '../keeping-trust.ts';
import { OWN, templatesHere } from './templates.ts';
import { writeNew } from '../../process/new-file.ts';
import type { ProjectPlace } from '../project-trust.ts';

/**
 * Keeps a plan in the project's `.mimir/plans`, 0644, whole or not at all. Never overwrites; what was trusted before stays trusted
 * with it. `config` says what the roles give anyway: that is left out, so that a later configuration counts.
 */
export function keepTemplate(
  project: ProjectPlace,
  config: Pick<Loaded, 'rules' | 'roles' | 'preferences'>,
  wish: TemplateWish,
): Result<Receipt, Refusal> {
  const taken = templatesHere(project, true).templates.find(({ name, from }) => name === wish.name && from !== OWN);
  if (taken !== undefined)
    return refused(`there is a template ${wish.name} already (${taken.from}); choose another name`);
  const text = templateText(
    wish,
    toPersonForm(wish.plan).tasks.map((task) => kept(task, config)),
  );
  if (!text.ok) return refused(text.fault);
  const file = `${PLAN_FOLDER}/${wish.name}.yml`;
  const trusted = keepingTrust(project, config.preferences.trust ?? [], file);
  const written = writeNew({
    base: project.root,
    folders: PLAN_FOLDER.split('/'),
    name: `${wish.name}.yml`,
    shown: file,
    text: text.value,
  });
  if (!written.ok) return refused(written.fault);
  return ok({ text: `Kept as ${file}${trusted() ? '' : '; it is listed when the project is trusted as it is now'}.` });
}

const refused = (text: string): Result<never, Refusal> => fail({ text: `Not kept: ${text}` });

/** Without what the role gives anyway. */
function kept(task: PersonTask, { rules, roles }: Pick<Loaded, 'rules' | 'roles'>): KeptTask {
  const role = roles.find(({ name }) => name === task.role);
  const { id, description, estimatedTokens, model, tools, budget, dependsOn, writes, alongside, maySpawn, effort } =
    task;
  const own = { id, description, role: task.role, estimatedTokens };
  const said = {
    ...(dependsOn.length > 0 && { dependsOn }),
    ...(!isSame(writes, role === undefined ? null : writesOf(undefined, role)) && { writes }),
    ...(alongside !== undefined && { alongside }),
    ...(maySpawn && { maySpawn }),
  };
  if (role === undefined) return { ...own, model, tools, budget, ...withEffort(effort), ...said };
  const basic = defaultBudget(role, agentBudget(role.name, rules));
  return {
    ...own,
    ...(role.models[0] !== model && { model }),
    ...(!isSame(tools, role.tools) && { tools }),
    ...effortOf(effort, role, rules),
    ...(!isSame(sortedKeys(budget), sortedKeys(basic)) && { budget }),
    ...said,
  };
}

const effortOf = (effort: Effort | undefined, role: Role, rules: Rules): Pick<PersonTask, 'effort'> =>
  withEffort(effort === cappedEffort(role.effort, rules.maxEffort?.value) ? undefined : effort);

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
const sortedKeys = (budget: object): unknown => Object.entries(budget).toSorted(([a], [b]) => (a < b ? -1 : 1));
