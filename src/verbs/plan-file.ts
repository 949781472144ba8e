/** Plans in files: read in either spelling, YAML or JSON; written as a person would. */
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { stringifyYaml, parsePlanText } from '../config/plan-text.ts';
import { readDraft } from '../domain/check-plan.ts';
import type { DraftPlan, SoundPlan } from '../domain/plan.ts';
import { toPersonForm, toPlannerForm } from '../domain/plan-view.ts';
import { EXIT, Exit } from './exit.ts';
import { fileWords } from './file-words.ts';

const LARGEST = 2 * 1024 * 1024;

/** The draft in `file`, a path from `folder`; exit 2 with the place when it can't be read as a plan. Whether it is sound is the planner's check. */
export function readPlanFile(file: string, folder: string): DraftPlan {
  const parsed = parsePlanText(textOf(file, folder), file);
  if (!parsed.ok) throw new Exit(EXIT.wrongUse, parsed.fault);
  const draft = readDraft(parsed.value);
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

export const planYaml = (plan: SoundPlan): string => stringifyYaml(toPersonForm(plan));
export const planJson = (plan: SoundPlan): string => `${JSON.stringify(toPlannerForm(plan), null, 2)}\n`;

/** Writes `text` to `file`, a path from `folder`; exit 2 with words when it can't be. */
export function writeOut(file: string, folder: string, text: string): void {
  try {
    writeFileSync(resolve(folder, file), text);
  } catch (error) {
    throw new Exit(EXIT.wrongUse, `${file}: can't be written: ${fileWords(error)}`);
  }
}
