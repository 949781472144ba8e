/** Who approves the plan of a run without a screen. An administrator may want a person to look at each: then `--yes` is none. */
import type { Loaded } from '../../config/settings/load.ts';
import { type Reason, reasonText } from '../../domain/reason.ts';
import type { RunOptions } from '../../engine/run/run-options.ts';
import { EXIT, Exit } from '../process/exit.ts';
import type { Arguments } from '../process/flags/flags.ts';

/** `person`: somebody sits there and can be asked. Ends the verb with 4 where `--yes` may not stand for a look. */
export function approvalOf(config: Loaded, args: Arguments, person: boolean): RunOptions['approval'] {
  const flag = (['yes', 'direct'] as const).find((one) => args.has(one));
  if (flag !== undefined) {
    const rule = administrators(config);
    if (rule === null) return flag === 'yes' ? 'flag' : 'direct';
    if (flag === 'direct' && person) return 'person';
    const todo = `run it in a terminal${flag === 'yes' ? ' without --yes' : ''}, and look at the plan there`;
    throw new Exit(EXIT.notApproved, `--${flag} is refused: ${reasonText(rule)}\n  ${todo}`);
  }
  if (!config.rules.promptForApproval.value) return 'config';
  return person ? 'person' : 'nobody';
}

/** Asking main directly approves the plan of one task that follows from it, but where an administrator wants each plan to be looked at. */
export const directApproval = (config: Loaded): RunOptions['approval'] =>
  administrators(config) === null ? 'direct' : 'person';

/** What to do where nobody could be asked. */
export function nobodyWords(config: Loaded): string {
  const rule = administrators(config);
  if (rule === null) return '--yes approves the plan beforehand';
  return `a person has to approve the plan: ${reasonText(rule)}; run it in a terminal`;
}

/** The administrator's word that plans are looked at, whatever other layers say beside it. */
function administrators({ values }: Loaded): Reason | null {
  const said = values.get('agentOrchestration.promptForApproval')?.said ?? [];
  return said.find(({ layer, value }) => layer === 'managed' && value === true)?.from ?? null;
}
