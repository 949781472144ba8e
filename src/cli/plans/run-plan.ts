/** The plan that `--plan` names: a file, or a template of that name. Loaded only where there is one. */
import { resolve } from 'node:path';
import { TEMPLATE_NAME } from '../../config/templates/templates.ts';
import type { DraftPlan } from '../../domain/plan/plan.ts';
import { EXIT, Exit } from '../../app/process/exit.ts';
import type { Arguments } from '../../app/process/flags/flags.ts';
import type { Io } from '../../app/process/io.ts';
import { readPlanFile, valuesFrom, whatIs } from './plan-file.ts';
import { hereOf, projectOf } from '../../app/project/project.ts';

/** What its run is started with; `task`: what it says that it is about, or null. */
export interface NamedPlan {
  readonly draft: DraftPlan;
  readonly from: string;
  readonly task: string | null;
}

/** Exit 2 with the place where it can't be read. A file comes before a template of the same name: what stands where the person is, is what they see. */
export async function planNamed(args: Arguments, io: Io, name: string): Promise<NamedPlan> {
  const values = valuesFrom(args);
  const found = whatIs(name, io.where());
  if (found === 'file' || !TEMPLATE_NAME.test(name)) return planIn(args, io, name);
  const project = projectOf(args, io);
  const { trust } = hereOf(project, io, {}, 'look');
  const { planFromTemplate } = await import('../../app/project/service/templates.ts');
  const plan = planFromTemplate(project, trust.state === 'trusted', name, values);
  if (!plan.ok && plan.fault.startsWith('there is no') && found === 'folder') return planIn(args, io, name);
  if (!plan.ok) throw new Exit(EXIT.wrongUse, plan.fault);
  return plan.value;
}

const planIn = (args: Arguments, io: Io, name: string): NamedPlan => ({
  ...readPlanFile(name, io.where(), valuesFrom(args)),
  from: name,
});

/** A file is named so that it is found from elsewhere. */
export function planFlags(args: Arguments, io: Io): readonly string[] {
  const name = args.get('plan');
  if (name === undefined) return [];
  const found = whatIs(name, io.where()) === 'file' ? resolve(io.where(), name) : name;
  return [`--plan=${found}`, ...args.all('set').map((one) => `--set=${one}`)];
}
