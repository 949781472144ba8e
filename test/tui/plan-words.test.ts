import { describe, expect, it } from 'vitest';
import { planWords } from '../../src/tui/view/plan-words.ts';

const plan = (...roles: readonly string[]): string =>
  JSON.stringify({ summary: 's', tasks: roles.map((recommendedRole) => ({ id: 't', recommendedRole })) }, null, 2);

describe("a planner's answer in words", () => {
  it('counts the tasks by role', () => {
    expect(planWords(plan('finder', 'reviewer', 'reviewer'))).toBe(
      'Planned 3 tasks: 1 finder, 2 reviewer. (p shows the plan)',
    );
    expect(planWords(`\`\`\`json\n${plan('oracle')}\n\`\`\``)).toBe('Planned 1 task: 1 oracle. (p shows the plan)');
  });

  it('leaves what is no plan as it is', () => {
    expect([planWords('The "tasks": none'), planWords('{ "a": 1 }'), planWords('')]).toEqual([null, null, null]);
    expect(planWords('{ "tasks": [')).toBe('Planning …');
  });
});
