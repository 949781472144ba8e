/**
 * Plan templates of this place: the person's own, the project's where it is trusted, Mimir's own; of two of a name the first in
 * this order counts. Lists them and makes plans of them; keep-template.ts makes new ones.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { faultText } from '../../../config/files/fault.ts';
import { suggestion } from '../../../domain/text/nearest.ts';
import { shownPath } from '../../../config/files/paths.ts';
import { templatesIn } from '../../../config/templates/folders.ts';
import { PLAN_FOLDER, TEMPLATE_NAME, type Template, fillTemplate } from '../../../config/templates/templates.ts';
import type { DraftPlan } from '../../../domain/plan/plan.ts';
import { type Result, fail, ok } from '../../../domain/result.ts';
import type { TemplateInfo } from '../../../ports/project-service.ts';
import { packageRoot } from '../../process/package-root.ts';
import type { ProjectPlace } from '../project-trust.ts';

/** What can be started here, by name; `faults` says what is wrong with those that can't, a line each. */
export function templatesHere(
  project: ProjectPlace,
  trusted: boolean,
): { readonly templates: readonly TemplateInfo[]; readonly faults: readonly string[] } {
  const { templates, faults } = allHere(project, trusted);
  return { templates: templates.map(({ info }) => info), faults };
}

export interface FromTemplate {
  readonly draft: DraftPlan;
  /** What the screens say of where the plan is from: `template review (.mimir/plans/review.yml)`. */
  readonly from: string;
  /** What the run is about. */
  readonly task: string;
}

/** The plan of a template with these values, or why there is none: unknown names are told with those that are known. */
export function planFromTemplate(
  project: ProjectPlace,
  trusted: boolean,
  name: string,
  values: Readonly<Record<string, string>>,
): Result<FromTemplate, string> {
  const { templates, faults } = allHere(project, trusted);
  const template = templates.find(({ info }) => info.name === name);
  if (template === undefined) {
    const why = faults.filter((fault) => fault.includes(`/${name}.yml`));
    if (why.length > 0) return fail(why.join('\n  '));
    const known = templates.map(({ info }) => info.name);
    return fail(`there is no template "${name}"; ${untrusted(project, trusted, name) ?? suggestion(name, known)}`);
  }
  const filled = fillTemplate(template, values);
  if (!filled.ok) return filled;
  return ok({ ...filled.value, from: `template ${name} (${template.info.from})` });
}

/** The project has one of this name, which doesn't count yet. */
function untrusted({ root }: ProjectPlace, trusted: boolean, name: string): string | null {
  const file = `${PLAN_FOLDER}/${name}.yml`;
  if (trusted || !TEMPLATE_NAME.test(name) || !existsSync(join(root, file))) return null;
  return `${file} counts when you trust this project as it is now: mimir trust`;
}

interface All {
  readonly templates: readonly Template[];
  readonly faults: readonly string[];
}

/** The package's files are named without a path of this machine. */
export const OWN = "Mimir's own";

function allHere({ root, places }: ProjectPlace, trusted: boolean): All {
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
