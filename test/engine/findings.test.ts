/** What agents hand on, within what the reader's window holds: to those that need them, and to the report. */
import { describe, expect, it } from 'vitest';
import { scriptedModel } from '../../src/models/scripted.ts';
import type { Setting } from '../support/run.ts';
import { planOf, RULES, testRun } from '../support/run.ts';

const models = (window: number): NonNullable<Setting['catalogue']> => [
  scriptedModel('scripted/fast', { aliases: ['fast'], window, price: { input: 1, output: 5 } }),
];
const names = Array.from({ length: 50 }, (_, n) => `t${n}`);
const report = (n: number): string => `found by ${n}: ${'word '.repeat(3000)}`;

/** A run of fifty agents with long reports; what the merge and the last agent were told. */
async function fifty(
  window: number,
  setting: Setting = {},
): Promise<{ readonly told: Map<string, string>; message: string }> {
  const told = new Map<string, string>();
  const run = testRun({
    catalogue: models(window),
    rules: { ...RULES, maxTasksPerPlan: { ...RULES.maxTasksPerPlan, value: 60 } },
    plan: planOf(...names.map((name) => [name] as const), ['last', ...names]),
    ...setting,
    record: ({ agent, purpose, turns: [first] }) => {
      if (first?.by === 'user') told.set(purpose.is === 'merge' ? 'merge' : agent, first.text);
    },
    script:
      setting.script ??
      (({ agent, purpose }) =>
        purpose.is === 'work' && agent !== 'ROOT::S51' ? { text: report(Number(agent.slice(7))) } : undefined),
  });
  await run.result;
  return { told, message: run.state().finished?.summary ?? '' };
}

describe('what fifty agents found', () => {
  it.each([
    ['small', 32_000],
    ['usual', 200_000],
  ] as const)(
    'fits into the request for the report and for a dependant of a %s window, of each something (O058, O060)',
    async (_, window) => {
      const { told } = await fifty(window);
      for (const text of [told.get('merge') ?? '', told.get('ROOT::S51') ?? '']) {
        expect(Buffer.byteLength(text)).toBeLessThan(window * 2);
        for (let n = 1; n <= 50; n += 1) expect(text).toContain(`found by ${n}: word`);
      }
      expect(told.get('merge')).toContain('… (cut)');
    },
  );

  it('is given shorter to a model that finds it too long, and as it is where that fails too (O060)', async () => {
    const lengths: number[] = [];
    const { message } = await fifty(200_000, {
      script: ({ agent, purpose, turns: [first] }) => {
        if (purpose.is === 'work') return { text: report(Number(agent.slice(7))) };
        if (purpose.is !== 'merge') return undefined;
        lengths.push(first?.by === 'user' ? Buffer.byteLength(first.text) : 0);
        return { fault: { is: 'too long', message: 'prompt is too long' } };
      },
    });
    expect(lengths).toHaveLength(2);
    expect(lengths[1]).toBeLessThan((lengths[0] ?? 0) / 2);
    expect(message).toContain(
      '(The report could not be written: fast: prompt is too long. What each agent found follows.)',
    );
    expect(message).toContain('found by 50');
  });
});
