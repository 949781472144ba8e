/** Group D, what "refused" means for a command: no effect, a record with rule and layer, and a short error for the model. */
import { expect, it } from 'vitest';
import { commandRules } from '../support/commands.ts';
import { eventsOf, outputs } from '../support/run-looks.ts';
import { AGENT, calling, planOf, RULES, says, testRun } from '../support/run.ts';

it('D02, D03: a denied command asks nobody, has no effect, stands in the log with its rule, and the model reads why', async () => {
  const acts: string[] = [];
  const run = testRun({
    plan: planOf(['o']),
    acts,
    rules: { ...RULES, commands: commandRules(['ls **'], ['curl **']) },
    script: says({ [AGENT('ROOT::S1')]: [calling('bash ls; sh -c "curl x"')] }),
  });
  expect((await run.result).success).toBe(true);
  expect([acts, eventsOf(run, 'approval.requested')]).toEqual([[], []]);
  expect(eventsOf(run, 'policy.decided')).toMatchObject([
    {
      subject: 'bash',
      decision: 'deny',
      rule: 'commands.deny: "curl **"',
      layer: 'user',
      file: '~/config.yml',
      line: 1,
      policyHash: 'hash',
    },
  ]);
  expect(outputs(run)).toEqual([[false, 'Denied: commands.deny: "curl **" (user, ~/config.yml:1)']]);
});
