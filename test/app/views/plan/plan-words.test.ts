import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PlanSoFar } from '../../../../src/app/views/plan/plan-words.ts';
import { planSoFar, planWords, writingWords } from '../../../../src/app/views/plan/plan-words.ts';
import { hostileText } from '../../../support/arbitraries.ts';

const plan = (...roles: readonly string[]): string =>
  JSON.stringify({ summary: 's', tasks: roles.map((recommendedRole) => ({ id: 't', recommendedRole })) }, null, 2);

describe("a planner's answer in words", () => {
  it('counts the tasks by role', () => {
    expect(planWords(plan('finder', 'reviewer', 'reviewer'))).toBe(
      'Planned 3 tasks: 1 finder, 2 reviewer. (p shows the plan)',
    );
    expect(planWords(`\`\`\`json\n${plan('oracle')}\n\`\`\``)).toBe('Planned 1 task: 1 oracle. (p shows the plan)');
    expect(planWords(`Here it is:\n\n${plan('oracle')}`)).toBe(
      'Here it is:\n\nPlanned 1 task: 1 oracle. (p shows the plan)',
    );
  });

  it('leaves what is no plan as it is', () => {
    expect([planWords('The "tasks": none'), planWords('{ "a": 1 }'), planWords('')]).toEqual([null, null, null]);
    expect(planWords('{ "tasks": [')).toBe('Planning …');
  });
});

const WHOLE = JSON.stringify({
  reason: 'Search "first".',
  tasks: [
    { id: 'a', description: 'Find {all} callers\nin [src]', recommendedRole: 'finder', budget: { maxCost: 1 } },
    { id: 'b', role: 'oracle', description: 'Say w\u00fcrde \\ 🚀', dependsOn: ['a'] },
  ],
});

describe('a plan while it is written', () => {
  it('has its reason and its tasks as they come', () => {
    const upTo = (text: string): PlanSoFar | null => planSoFar(WHOLE.slice(0, WHOLE.indexOf(text) + text.length));
    const first = { role: 'finder', description: 'Find {all} callers\nin [src]', whole: true };
    const reason = 'Search "first".';
    expect(upTo('{')).toEqual({ said: '', reason: '', tasks: [] });
    expect(upTo('Search')).toEqual({ said: '', reason: 'Search', tasks: [] });
    expect(upTo('Find {all')).toEqual({
      said: '',
      reason,
      tasks: [{ role: '', description: 'Find {all', whole: false }],
    });
    expect(upTo('"b"')?.tasks).toEqual([first, { role: '', description: '', whole: false }]);
    const second = { role: 'oracle', description: 'Say würde \\ 🚀', whole: true };
    expect(planSoFar(`So:\n\`\`\`json\n${WHOLE}\n\`\`\``)).toEqual({ said: 'So:', reason, tasks: [first, second] });
    expect([upTo('{'), upTo('"a"'), planSoFar(WHOLE)].map((one) => one && writingWords(one))).toEqual([
      'writing the plan',
      'writing the plan: 1 task so far',
      'writing the plan: 2 tasks so far',
    ]);
  });

  it('is nothing else that looks like JSON', () => {
    const texts = ['', 'I think', 'a { "reason"', '{ "name": "x" }', '[{ "id": 1 }]', '{1}'];
    expect(texts.map(planSoFar)).toEqual(texts.map(() => null));
  });

  it('is understood wherever it is cut, tasks never become fewer, and nothing in it acts', () => {
    const text = fc.oneof(hostileText, fc.string({ unit: 'binary' }));
    const task = fc.record({ id: text, description: text, role: text, dependsOn: fc.array(text, { maxLength: 2 }) });
    fc.assert(
      fc.property(text, fc.array(task, { maxLength: 4 }), fc.nat(), (reason, tasks, at) => {
        const json = JSON.stringify({ reason, tasks });
        const cut = planSoFar(json.slice(0, (at % json.length) + 1));
        const end = planSoFar(json);
        if (cut === null || end === null) throw new Error('not seen as a plan');
        expect(end.tasks).toHaveLength(tasks.length);
        expect(cut.tasks.length).toBeLessThanOrEqual(tasks.length);
        const said = [cut.reason, ...cut.tasks.flatMap(({ description, role }) => [description, role])];
        expect(said.filter((one) => /(?!\n)\p{Cc}|[\u202a-\u202e\u2066-\u2069]/u.test(one))).toEqual([]);
      }),
    );
  });
});
