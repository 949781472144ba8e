/** The last turn of an agent over a real wire: no tool may be called in it, and its answer goes to those that need it. */
import { describe, expect, it } from 'vitest';
import { at } from '../support/double/json.ts';
import { LEDGER } from '../support/journey.ts';
import { of, ownModel, planText, runOn } from '../support/on-the-wire.ts';

const TASK = 'Say where balanceOf is defined';

describe.concurrent('an agent that comes to its last turn', () => {
  it.each(['anthropic', 'openai', 'openai-compatible'] as const)(
    'is told on the wire of %s to call no tool, with the same tools, and its dependant is told what it has (O091, D40)',
    async (wire) => {
      const { machine, double } = await ownModel(wire, {
        script: {
          rules: [
            {
              when: { first: '# Roles' },
              answer: { text: planText(['Look around', 'finder'], ['Use it', 'finder', 'task-1']) },
            },
            { when: { first: '^Use it' }, answer: { text: 'It is used.' } },
            {
              when: { first: '^Look around', last: 'This is your last turn' },
              answer: { text: 'Half of it: `src/cache.js:6`.' },
            },
            {
              when: { first: '^Look around', turn: 1 },
              answer: { calls: [{ tool: 'read_file', input: { path: 'src/cache.js' } }] },
            },
            {
              when: { first: '^Look around' },
              answer: { calls: [{ tool: 'read_file', input: { path: 'src/report.js' } }] },
            },
            { answer: { text: 'In `src/cache.js:6`.' } },
          ],
        },
        files: LEDGER,
        config: 'agentOrchestration:\n  roles: { finder: { iterations: 3 } }\n',
      });
      const { code, events } = await runOn(machine, TASK);
      expect(of(events, 'agent.finished').map(({ agent, outcome, error }) => [agent, outcome, error])).toEqual([
        ['ROOT::S1', 'partial', 'Max iterations reached'],
        ['ROOT::S2', 'completed', null],
        ['ROOT', 'partial', null],
      ]);
      expect(code).toBe(1);
      const [, told] = of(events, 'agent.told').filter(({ agent }) => agent !== 'ROOT');
      expect(told?.['text']).toContain('Half of it: `src/cache.js:6`.');
      const bodies = double.asked.filter(({ first }) => first.startsWith('Look around')).map(({ body }) => body);
      const fields = bodies.map((body) => [at(body, 'tool_choice'), JSON.stringify(at(body, 'tools'))]);
      const [tools] = fields.map(([, named]) => named);
      const none = wire === 'anthropic' ? { type: 'none' } : 'none';
      expect(fields).toEqual([undefined, undefined, none].map((choice) => [choice, tools]));
      // Anthropic's cache of messages begins behind the choice of tools: the closing prompt is paid for in full, as it is reserved.
      expect([double.bill().refused, double.prefixFaults().length]).toEqual([0, wire === 'anthropic' ? 1 : 0]);
    },
  );
});
