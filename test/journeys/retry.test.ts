/** A run that failed, retried from its result: what failed runs again on the same screen, and the rest is not asked twice. */
import { describe, expect, it } from 'vitest';
import { ACCEPT, LEDGER } from '../support/journey.ts';
import type { Rule } from '../support/double/script.ts';
import { ownModel, planText } from '../support/on-the-wire.ts';

const TASK = 'Say where balanceOf is defined and who calls it';
const planner: Rule = {
  when: { first: '# Roles' },
  answer: {
    text: planText(
      ['Find the definition', 'finder'],
      ['Find the callers', 'finder', 'task-1'],
      ['Read the tests', 'finder'],
    ),
  },
};

describe('a run whose first task fails', () => {
  it('is retried with R on its result, and ends completed on the same screen', async () => {
    const { machine, double } = await ownModel('anthropic', {
      script: {
        rules: [
          planner,
          { when: { first: '^Find the definition', times: 1 }, answer: { text: 'I can not.', stop: 'refused' } },
          { answer: { text: 'In `src/cache.js:6`.' } },
        ],
      },
      files: LEDGER,
      config: 'agentOrchestration: { onFailure: skip }\n',
    });
    const person = machine.opens([TASK], { cols: 120, rows: 40 });
    await person.sees(ACCEPT);
    person.press('enter');
    await person.sees(/R retry/);
    person.press('R');
    await person.sees('Running 2 tasks again: finder 1, then finder 2.');
    await person.sees('● main', /Result › .*(?:✓ 3|3 of 3 done)/);
    expect(double.asked.filter(({ first }) => first.startsWith('Read the tests')).length).toBe(1);
    expect(double.asked.find(({ first }) => first.includes('The previous attempt'))?.first).toContain(
      'Find the definition',
    );
    person.terminal.kill();
  });
});
