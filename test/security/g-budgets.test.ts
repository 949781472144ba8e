/** Group G over a real wire: counts that can't be true, and the day that two processes share. */
import { describe, expect, it } from 'vitest';
import { tokensOf } from '../../src/domain/budget.ts';
import { LEDGER } from '../support/journey.ts';
import type { Event } from '../support/on-the-wire.ts';
import { of, ownModel, planText, runOn } from '../support/on-the-wire.ts';
import type { Rule } from '../support/double/script.ts';
import { z } from 'zod';

const TASK = 'Say where balanceOf is defined';
const planner: Rule = {
  when: { first: '# Roles' },
  answer: { text: planText(['Find it', 'finder'], ['Look at it', 'finder']) },
};
const Counted = z.looseObject({
  call: z.string(),
  agent: z.string(),
  reserved: z.looseObject({ tokens: z.number() }).optional(),
  usage: z
    .looseObject({ input: z.number(), output: z.number(), cacheRead: z.number(), cacheWrite: z.number() })
    .optional(),
  bounded: z.boolean().optional(),
});

/** Of each call of the agent: what was promised, what was charged, and whether that was flagged. */
function charges(events: readonly Event[]): readonly (readonly [number, number, boolean])[] {
  const started = of(events, 'model.started').map((event) => Counted.parse(event));
  return of(events, 'model.finished').flatMap((event) => {
    const { agent, call, usage, bounded = false } = Counted.parse(event);
    const promised = started.find((one) => one.call === call)?.reserved?.tokens ?? 0;
    return agent === 'ROOT::S1' && usage !== undefined ? [[promised, tokensOf(usage), bounded] as const] : [];
  });
}

const WIRES = {
  anthropic: ['input_tokens', 'output_tokens'],
  'openai-compatible': ['prompt_tokens', 'completion_tokens'],
} as const;
const CASES = [
  ['ten times the reservation', 'anthropic', 1_000_000],
  ['minus five', 'openai-compatible', -5],
] as const;

describe.concurrent('a count that can not be true', () => {
  it.each(CASES)(
    'G05: %s, from %s: settled at the bound and flagged, until the limit stops the run',
    async (_, wire, count) => {
      const [input, output] = WIRES[wire];
      const usage = { [input]: count, [output]: count };
      const read = (path: string): Rule['answer'] => ({ calls: [{ tool: 'read_file', input: { path } }], usage });
      const rules: Rule[] = [
        planner,
        { when: { first: '^Find it', turn: 1 }, answer: read('src/cache.js') },
        { when: { first: '^Find it', turn: 2 }, answer: read('src/report.js') },
        { when: { first: '^Find it', turn: 3 }, answer: read('src/cache.js') },
        { answer: { text: 'In `src/cache.js:6`.' } },
      ];
      const { machine } = await ownModel(wire, { script: { rules }, files: LEDGER });
      const { code, events } = await runOn(machine, TASK, '--max-tokens', '40000');
      const all = charges(events);
      expect(all.length).toBeGreaterThan(0);
      for (const [promised, charged, bounded] of all) expect([charged, bounded]).toEqual([promised, true]);
      expect(of(events, 'budget.exhausted').map(({ scope, what }) => [scope, what])).toContainEqual(['run', 'tokens']);
      expect(code).toBe(5);
    },
  );
});

describe.concurrent('a limit of the day', () => {
  it('is one for all runs: what the first used is not there for the second, which is told the rule and its place', async () => {
    const { machine } = await ownModel('openai-compatible', {
      script: { rules: [planner, { answer: { text: 'In `src/cache.js:6`.' } }] },
      files: LEDGER,
      config: 'budgets:\n  day: { maxTokens: 24000 }\n',
    });
    const first = await runOn(machine, TASK);
    expect(first.code).toBe(0);
    const ends: unknown[] = [];
    // Until the day is used up: what later runs read from the cache counts a tenth.
    for (let runs = 0; runs < 20 && ends.length === 0; runs += 1) {
      const { code, events, err } = await runOn(machine, TASK);
      ends.push(...of(events, 'budget.exhausted').map(({ scope }) => scope));
      if (ends.length > 0)
        expect([code, err + JSON.stringify(events)]).toEqual([5, expect.stringContaining('config.yml:')]);
    }
    expect(ends[0]).toBe('day');
    // Up to twenty whole runs.
  }, 180_000);
});
