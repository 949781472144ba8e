/** Plan files: read in either spelling, as YAML or JSON; written in the spelling for people. */
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { parse, resolve } from 'node:path';
import { type Arguments, Exit, fileErrorText, type Io, invalidFlag, wrongUse } from '../app/process/index.ts';
import { planFromTemplate } from '../app/project/index.ts';
import { projectConfigOf, projectOf } from '../app/workspace/index.ts';
import { faultText, fillTemplate, isTemplate, parsePlanText, readTemplate, stringifyYaml } from '../config/index.ts';
import { readDraft } from '../domain/plan/check-plan.ts';
import { toPersonForm, toPlannerForm } from '../domain/plan/plan-view.ts';
import type { DraftPlan, SoundPlan } from '../domain/plan/plan.ts';
import { TEMPLATE_NAME } from '../domain/text/text.ts';

const LARGEST = 2 * 1024 * 1024;

export interface PlanFile {
  readonly draft: DraftPlan;
  readonly task: string | null;
}

/** The plan in `file`, a path relative to `folder`; a template is filled with `values`. Exits with 2 and the place if it is not a
 * plan. The planner checks whether the plan is valid. */
function readPlanFile(file: string, folder: string, values: Readonly<Record<string, string>> = {}): PlanFile {
  const text = textOf(file, folder);
  const parsed = parsePlanText(text, file);
  if (!parsed.ok) throw wrongUse(parsed.fault);
  if (isTemplate(parsed.value)) return filledFile(file, text, values);
  if (Object.keys(values).length > 0) throw wrongUse(`--set: ${file} has no arguments`);
  const draft = plainDraft(file, parsed.value);
  return { draft, task: draft.task ?? null };
}

/** What exists under the given name, which may also name a template. */
function whatIs(file: string, folder: string): 'file' | 'folder' | 'nothing' {
  const found = statSync(resolve(folder, file), { throwIfNoEntry: false });
  if (found === undefined) return 'nothing';
  return found.isDirectory() ? 'folder' : 'file';
}

/** `--set name=value`, each name once. */
function valuesFrom(args: Arguments): Readonly<Record<string, string>> {
  const pairs = args.all('set').map((text): readonly [string, string] => {
    const cut = text.indexOf('=');
    if (cut < 1) throw invalidFlag('set', text, 'name=value, such as target=src');
    return [text.slice(0, cut), text.slice(cut + 1)];
  });
  const twice = pairs.find(([name], index) => pairs.findIndex(([same]) => same === name) !== index);
  if (twice !== undefined) throw wrongUse(`--set ${twice[0]} is set twice`);
  return Object.fromEntries(pairs);
}

function filledFile(file: string, text: string, values: Readonly<Record<string, string>>): PlanFile {
  const template = readTemplate({ shown: file, stem: parse(file).name, text });
  if (!template.ok) {
    const faults = template.fault.slice(0, 10).map((fault) => `  ${faultText(fault)}`);
    throw wrongUse(`${file} is not a plan template:\n${faults.join('\n')}`);
  }
  const filled = fillTemplate(template.value, values);
  if (!filled.ok) throw wrongUse(`--set: ${filled.fault}`);
  return filled.value;
}

function plainDraft(file: string, plan: unknown): DraftPlan {
  const draft = readDraft(plan);
  if (draft.ok) return draft.value;
  const faults = draft.fault.slice(0, 10).map(({ task, problem }) => `  ${task === null ? '' : `${task}: `}${problem}`);
  throw wrongUse(`${file} is not a plan:\n${faults.join('\n')}`);
}

function textOf(file: string, folder: string): string {
  const path = resolve(folder, file);
  try {
    if (statSync(path).size > LARGEST) throw wrongUse(`${file}: too large for a plan (over 2 MiB)`);
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Exit) throw error;
    throw wrongUse(`${file}: cannot be read: ${fileErrorText(error)}`);
  }
}

/** With its task, so that `mimir run --plan` needs only the file. */
export const planYaml = (task: string, plan: SoundPlan): string => stringifyYaml({ task, ...toPersonForm(plan) });
/** As `planYaml`; `beside`: facts about the plan that are not part of it. */
export const planJson = (task: string, plan: SoundPlan, beside: object): string =>
  `${JSON.stringify({ task, ...toPlannerForm(plan), ...beside }, null, 2)}\n`;

/** Writes `text` to `file`, a path relative to `folder`; exits with 2 if that fails. */
export function writeOut(file: string, folder: string, text: string): void {
  try {
    writeFileSync(resolve(folder, file), text);
  } catch (error) {
    throw wrongUse(`${file}: cannot be written: ${fileErrorText(error)}`);
  }
}

interface NamedPlan extends PlanFile {
  readonly from: string;
}

/** Exits with 2 and the place if it cannot be read. A file comes before a template of the same name. */
export async function planNamed(args: Arguments, io: Io, name: string): Promise<NamedPlan> {
  const values = valuesFrom(args);
  const found = whatIs(name, io.where());
  if (found === 'file' || !TEMPLATE_NAME.test(name)) return planIn(args, io, name);
  const project = projectOf(args, io);
  const { trust } = projectConfigOf(project, io, {}, 'look');
  const plan = planFromTemplate(project, trust.state === 'trusted', name, values);
  if (!plan.ok && plan.fault.unknown && found === 'folder') return planIn(args, io, name);
  if (!plan.ok) throw wrongUse(plan.fault.text);
  return plan.value;
}

const planIn = (args: Arguments, io: Io, name: string): NamedPlan => ({
  ...readPlanFile(name, io.where(), valuesFrom(args)),
  from: name,
});

/** The flags `--plan` and `--set` for another process; the path of a file is made absolute. */
export function planFlags(args: Arguments, io: Io): readonly string[] {
  const name = args.get('plan');
  if (name === undefined) return [];
  const found = whatIs(name, io.where()) === 'file' ? resolve(io.where(), name) : name;
  return [`--plan=${found}`, ...args.all('set').map((one) => `--set=${one}`)];
}
