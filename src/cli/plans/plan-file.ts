/** Plans in files: read in either spelling, YAML or JSON; written as a person would. */
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { parse, resolve } from 'node:path';
import { faultText } from '../../config/files/fault.ts';
import { stringifyYaml, parsePlanText } from '../../config/templates/plan-text.ts';
import { fillTemplate, isTemplate, readTemplate } from '../../config/templates/templates.ts';
import { readDraft } from '../../domain/plan/check-plan.ts';
import type { DraftPlan, SoundPlan } from '../../domain/plan/plan.ts';
import { toPersonForm, toPlannerForm } from '../../domain/plan/plan-view.ts';
import { EXIT, Exit } from '../../app/process/exit.ts';
import { fileWords } from '../../app/process/file-errors.ts';
import type { Arguments } from '../../app/process/flags/flags.ts';

const LARGEST = 2 * 1024 * 1024;

export interface PlanFile {
  readonly draft: DraftPlan;
  /** What the run is about, where the file says it. */
  readonly task: string | null;
}

/**
 * The plan in `file`, a path from `folder`, a template filled with `values`; exit 2 with the place when it can't be read as one.
 * Whether it is sound is the planner's check.
 */
export function readPlanFile(file: string, folder: string, values: Readonly<Record<string, string>> = {}): PlanFile {
  const text = textOf(file, folder);
  const parsed = parsePlanText(text, file);
  if (!parsed.ok) throw new Exit(EXIT.wrongUse, parsed.fault);
  if (isTemplate(parsed.value)) return filledFile(file, text, values);
  if (Object.keys(values).length > 0) throw new Exit(EXIT.wrongUse, `--set: ${file} has no arguments`);
  const draft = plainDraft(file, parsed.value);
  return { draft, task: draft.task ?? null };
}

/** What stands where a plan is named: it may be a template's name as well. */
export function whatIs(file: string, folder: string): 'file' | 'folder' | 'nothing' {
  const found = statSync(resolve(folder, file), { throwIfNoEntry: false });
  if (found === undefined) return 'nothing';
  return found.isDirectory() ? 'folder' : 'file';
}

/** `--set name=value`, each name once. */
export function valuesFrom(args: Arguments): Readonly<Record<string, string>> {
  const pairs = args.all('set').map((text): readonly [string, string] => {
    const cut = text.indexOf('=');
    if (cut < 1) throw new Exit(EXIT.wrongUse, `--set ${text}\n  expected name=value, such as target=src`);
    return [text.slice(0, cut), text.slice(cut + 1)];
  });
  const twice = pairs.find(([name], index) => pairs.findIndex(([same]) => same === name) !== index);
  if (twice !== undefined) throw new Exit(EXIT.wrongUse, `--set ${twice[0]} is given twice`);
  return Object.fromEntries(pairs);
}

function filledFile(file: string, text: string, values: Readonly<Record<string, string>>): PlanFile {
  const template = readTemplate({ shown: file, stem: parse(file).name, text });
  if (!template.ok) {
    const faults = template.fault.slice(0, 10).map((fault) => `  ${faultText(fault)}`);
    throw new Exit(EXIT.wrongUse, `${file} is not a template of a plan:\n${faults.join('\n')}`);
  }
  const filled = fillTemplate(template.value, values);
  if (!filled.ok) throw new Exit(EXIT.wrongUse, `--set: ${filled.fault}`);
  return filled.value;
}

function plainDraft(file: string, plan: unknown): DraftPlan {
  const draft = readDraft(plan);
  if (draft.ok) return draft.value;
  const faults = draft.fault.slice(0, 10).map(({ task, problem }) => `  ${task === null ? '' : `${task}: `}${problem}`);
  throw new Exit(EXIT.wrongUse, `${file} is not a plan:\n${faults.join('\n')}`);
}

function textOf(file: string, folder: string): string {
  const path = resolve(folder, file);
  try {
    if (statSync(path).size > LARGEST) throw new Exit(EXIT.wrongUse, `${file}: too large for a plan (over 2 MiB)`);
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Exit) throw error;
    throw new Exit(EXIT.wrongUse, `${file}: can't be read: ${fileWords(error)}`);
  }
}

/** With the task that the plan is for, so that the file is all that `mimir run --plan` needs. */
export const planYaml = (task: string, plan: SoundPlan): string => stringifyYaml({ task, ...toPersonForm(plan) });
/** As `planYaml`; `beside`: what is said of the plan, and no part of it. */
export const planJson = (task: string, plan: SoundPlan, beside: object): string =>
  `${JSON.stringify({ task, ...toPlannerForm(plan), ...beside }, null, 2)}\n`;

/** Writes `text` to `file`, a path from `folder`; exit 2 with words when it can't be. */
export function writeOut(file: string, folder: string, text: string): void {
  try {
    writeFileSync(resolve(folder, file), text);
  } catch (error) {
    throw new Exit(EXIT.wrongUse, `${file}: can't be written: ${fileWords(error)}`);
  }
}
