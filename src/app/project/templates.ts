/** Plan templates of the user, a trusted project and Mimir; the first of equal names counts. Lists, fills and saves them. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { TemplateTask, Loaded, Template } from '../../config/index.ts';
import { faultText, fillTemplate, PLAN_FOLDER, shownPath, templatesIn } from '../../config/index.ts';
import { templateText } from '../../config/index.ts';
import type { Role } from '../../domain/agents/role.ts';
import { cappedEffort, type Effort, withEffort } from '../../domain/models/provider.ts';
import { defaultBudget } from '../../domain/plan/estimate.ts';
import { type PersonTask, toPersonForm } from '../../domain/plan/plan-view.ts';
import type { DraftPlan } from '../../domain/plan/plan.ts';
import { writesOf } from '../../domain/plan/writes.ts';
import { defined, fail, ok, type Result } from '../../domain/result.ts';
import { suggestion, TEMPLATE_NAME } from '../../domain/text/text.ts';
import { agentBudget, type Rules } from '../../policy/index.ts';
import type { Receipt, Refusal } from '../../ports/controls.ts';
import type { TemplateInfo, TemplateRequest } from '../../ports/project-service.ts';
import { packageRoot, writeNewFile } from '../process/index.ts';
import { preserveTrust, type ProjectPlace } from '../workspace/index.ts';

/** The usable templates by name; `faults` has a line for each unusable one. */
export function listTemplates(
  project: ProjectPlace,
  trusted: boolean,
): { readonly templates: readonly TemplateInfo[]; readonly faults: readonly string[] } {
  const { templates, faults } = allHere(project, trusted);
  return { templates: templates.map(({ info }) => info), faults };
}

export interface FromTemplate {
  readonly draft: DraftPlan;
  /** The origin of the plan for the screens: `template review (.mimir/plans/review.yml)`. */
  readonly from: string;
  readonly task: string;
}

/** `unknown`: no template has this name. */
export type TemplateFault = Refusal & { readonly unknown: boolean };

/** Fills a template. The fault for an unknown name suggests known ones. */
export function planFromTemplate(
  project: ProjectPlace,
  trusted: boolean,
  name: string,
  values: Readonly<Record<string, string>>,
): Result<FromTemplate, TemplateFault> {
  const refused = (text: string, unknown = false) => fail({ text, unknown });
  const { templates, faults } = allHere(project, trusted);
  const template = templates.find(({ info }) => info.name === name);
  if (template === undefined) {
    const why = faults.filter((fault) => fault.includes(`/${name}.yml`));
    if (why.length > 0) return refused(why.join('\n  '));
    const known = templates.map(({ info }) => info.name);
    const advice = trustAdvice(project, trusted, name) ?? suggestion(name, known);
    return refused(`there is no template "${name}"; ${advice}`, true);
  }
  const filled = fillTemplate(template, values);
  if (!filled.ok) return refused(filled.fault);
  return ok({ ...filled.value, from: `template ${name} (${template.info.from})` });
}

/** The advice if the project has such a template but is not trusted. */
function trustAdvice({ root }: ProjectPlace, trusted: boolean, name: string): string | null {
  const file = `${PLAN_FOLDER}/${name}.yml`;
  if (trusted || !TEMPLATE_NAME.test(name) || !existsSync(join(root, file))) return null;
  return `${file} is used once you trust this project: mimir trust`;
}

/** Shipped templates are shown without a path of this machine. */
const OWN = "Mimir's own";

function allHere({ root, places }: ProjectPlace, trusted: boolean) {
  const person = join(places.config, 'plans');
  const shipped = join(packageRoot(), PLAN_FOLDER);
  const own = join(root, PLAN_FOLDER);
  const folders = [
    { path: person, shown: shownPath(person, places.home), strict: false },
    ...(trusted && own !== shipped ? [{ path: own, shown: PLAN_FOLDER, strict: true }] : []),
    { path: shipped, shown: OWN, strict: false },
  ].map(templatesIn);
  const byName = new Map<string, Template>();
  for (const template of folders.flatMap(({ templates }) => templates)) {
    if (!byName.has(template.info.name)) byName.set(template.info.name, template);
  }
  return {
    templates: [...byName.values()].map(asShown),
    faults: folders.flatMap(({ faults }) => faults.map(faultText)),
  };
}

const asShown = (template: Template): Template =>
  template.info.from.startsWith(`${OWN}/`) ? { ...template, info: { ...template.info, from: OWN } } : template;

/** Saves a plan as a new file in the project's `.mimir/plans` (0644), whole or not at all, never over another; a trusted
 * project stays trusted. Values that equal the role's defaults are left out, so that later configuration applies. */
export function saveTemplate(
  project: ProjectPlace,
  config: Pick<Loaded, 'rules' | 'roles' | 'preferences'>,
  wish: TemplateRequest,
): Result<Receipt, Refusal> {
  const taken = listTemplates(project, true).templates.find(({ name, from }) => name === wish.name && from !== OWN);
  if (taken !== undefined)
    return refused(`a template ${wish.name} already exists (${taken.from}); choose another name`);
  const text = templateText(
    wish,
    toPersonForm(wish.plan).tasks.map((task) => templateTask(task, config)),
  );
  if (!text.ok) return refused(text.fault);
  const file = `${PLAN_FOLDER}/${wish.name}.yml`;
  const trusted = preserveTrust(project, config.preferences.trust ?? [], file);
  const written = writeNewFile({
    base: project.root,
    folders: PLAN_FOLDER.split('/'),
    name: `${wish.name}.yml`,
    shown: file,
    text: text.value,
  });
  if (!written.ok) return refused(written.fault);
  return ok({ text: `Saved as ${file}${trusted() ? '' : '; it is listed once the project is trusted'}.` });
}

const refused = (text: string): Result<never, Refusal> => fail({ text: `Not saved: ${text}` });

function templateTask(task: PersonTask, { rules, roles }: Pick<Loaded, 'rules' | 'roles'>): TemplateTask {
  const role = roles.find(({ name }) => name === task.role);
  const { id, description, estimatedTokens, model, tools, budget, dependsOn, writes, alongside, maySpawn, effort } =
    task;
  const { checks, attempts, tree } = task;
  const own = { id, description, role: task.role, estimatedTokens };
  const said = {
    ...(dependsOn.length > 0 && { dependsOn }),
    ...(!isSame(writes, role === undefined ? null : writesOf(undefined, role)) && { writes }),
    ...(maySpawn && { maySpawn }),
    ...defined({ alongside, checks, attempts, tree }),
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
