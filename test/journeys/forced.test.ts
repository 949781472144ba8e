/** Forced agents in the real program: from a line of configuration to the exit code, over a real wire. */
import { describe, expect, it } from 'vitest';
import type { Rule } from '../support/double/script.ts';
import { LEDGER } from '../support/journey.ts';
import { of, ownModel, planText, runOn } from '../support/on-the-wire.ts';

const TASK = 'Say where balanceOf is defined';
const planner: Rule = { when: { first: '# Roles' }, answer: { text: planText(['Find balanceOf', 'finder']) } };
const done: Rule = { answer: { text: 'In `src/cache.js:6`.' } };
const reviewer = (answer: Rule['answer']): Rule => ({ when: { first: '# Judge this change', turn: 1 }, answer });
const giving = (pass: boolean, ...findings: readonly string[]): Rule['answer'] => ({
  calls: [{ tool: 'give_verdict', input: { pass, summary: pass ? 'nothing changed' : 'not yet', findings } }],
});
const config = 'enforcement:\n  forcedSubAgents:\n    security: { enabled: true, trigger: always }\n';

const ranWith = async (answer: Rule['answer']) => {
  const script = { rules: [planner, reviewer(answer), done] };
  const { machine, double } = await ownModel('anthropic', { script, files: LEDGER, config });
  return { ...(await runOn(machine, TASK)), double, machine };
};

describe.concurrent('mimir run with a forced agent', () => {
  it('O138: ends well behind its pass, and its spending is part of the total', async () => {
    const { code, events, double } = await ranWith(giving(true));
    expect(code).toBe(0);
    expect(of(events, 'forced.gate')).toMatchObject([
      { agent: 'ROOT', role: 'security', trigger: 'always', open: true },
    ]);
    expect(of(events, 'agent.finished').map(({ agent, outcome }) => [agent, outcome])).toEqual([
      ['ROOT::S1', 'completed'],
      ['ROOT::S2', 'completed'],
      ['ROOT', 'completed'],
    ]);
    expect(double.bill()).toMatchObject({ answered: { calls: 4 }, refused: 0 });
  });

  it('ends with code 1 and the findings in its report when it did not let the run pass', async () => {
    const { code, events } = await ranWith(giving(false, 'src/cache.js:6: no test'));
    expect(code).toBe(1);
    const [finished] = of(events, 'session.finished');
    expect(finished?.['status']).toBe('failed');
    expect(String(finished?.['summary'])).toContain('## Reviews');
    expect(String(finished?.['summary'])).toContain('src/cache.js:6: no test');
  });

  it('A13: ends with code 1 for words instead of a verdict', async () => {
    const { code, events } = await ranWith({ text: 'PASS, all fine.' });
    expect(code).toBe(1);
    expect(of(events, 'forced.gate')).toMatchObject([
      { open: false, why: 'it ended without a verdict, even after a reminder' },
    ]);
  });

  it('O136: shows it in a plan, which reads back', async () => {
    const { machine } = await ownModel('anthropic', { script: { rules: [planner, done] }, files: LEDGER, config });
    const shown = await machine.mimir('plan', TASK, '--yaml', '-o', 'plan.yml');
    expect(shown).toMatchObject({ code: 0 });
    const json = await machine.mimir('plan', TASK, '--json');
    expect(JSON.parse(json.out)).toMatchObject({ forced: [{ role: 'security', triggers: ['always'], runs: 1 }] });
    const { code, events } = await runOn(machine, TASK, '--plan', 'plan.yml');
    expect(code).toBe(1);
    expect(of(events, 'forced.gate')).toHaveLength(1);
  });
});
