/** Plans in files: read in either spelling, YAML or JSON; written as a person would. */
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { stringifyYaml, parsePlanText } from '../config/plan-text.ts';
import { readDraft } from '../domain/check-plan.ts';
import type { DraftPlan, SoundPlan } from '../domain/plan.ts';
import { toPersonForm, toPlannerForm } from '../domain/plan-view.ts';
import { EXIT, Exit } from './exit.ts';

const LARGEST = 2 * 1024 * 1024;

/** The draft in `file`; exit 2 with the place when it can't be read as a plan. Whether it is sound is the planner's check. */
export function readPlanFile(file: string): DraftPlan {
  const parsed = parsePlanText(textOf(file), file);
  if (!parsed.ok) throw new Exit(EXIT.wrongUse, parsed.fault);
  const draft = readDraft(parsed.value);
  if (draft.ok) return draft.value;
  const faults = draft.fault.slice(0, 10).map(({ task, problem }) => `  ${task === null ? '' : `${task}: `}${problem}`);
  throw new Exit(EXIT.wrongUse, `${file} is not a plan:\n${faults.join('\n')}`);
}

function textOf(file: string): string {
  try {
    if (statSync(file).size > LARGEST) throw new Exit(EXIT.wrongUse, `${file}: too large for a plan (over 2 MiB)`);
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof Exit) throw error;
    throw new Exit(EXIT.wrongUse, `${file}: can't be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

export const planYaml = (plan: SoundPlan): string => stringifyYaml(toPersonForm(plan));
export const planJson = (plan: SoundPlan): string => `${JSON.stringify(toPlannerForm(plan), null, 2)}\n`;

/** Writes `text`; exit 2 with words when it can't be. */
export function writeOut(file: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch (error) {
    throw new Exit(
      EXIT.wrongUse,
      `${file}: can't be written: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}
