/** A person's own model with a small window reads more than it holds: it is summarised on the way, and ends well. */
import { describe, expect, it } from 'vitest';
import type { Rule, Script } from '../support/double/script.ts';
import type { OwnWire } from '../support/on-the-wire.ts';
import { of, ownModel, planText, runOn } from '../support/on-the-wire.ts';

const PARTS = 12;
const WINDOW = 12_000;
const TASK = 'Read every part and say what they have in common';

const FILES = Object.fromEntries(
  Array.from({ length: PARTS }, (_, n) => [
    `part-${n + 1}.txt`,
    `${`Part ${n + 1} tells of the mill by the river. `.repeat(90)}\nHere ends part ${n + 1}.\n`,
  ]),
);

const reads = (part: number): Rule['answer'] => ({
  text: `Part ${part} is next.`,
  calls: [{ tool: 'read_file', input: { path: `part-${part}.txt` } }],
});

/** Whoever has read part n reads the next one; the summary is asked for with words of its own. */
const RULES: readonly Rule[] = [
  { when: { first: '# Roles' }, answer: { text: planText([TASK, 'finder']) } },
  {
    when: { last: 'Write the summary' },
    answer: { text: '## Goal\nRead all parts.\n## Done and found\nThe mill, always.' },
  },
  ...Array.from({ length: PARTS - 1 }, (_, n) => ({
    when: { last: `Here ends part ${n + 1}\\.` },
    answer: reads(n + 2),
  })),
  { when: { last: `Here ends part ${PARTS}\\.` }, answer: { text: 'All twelve tell of the mill by the river.' } },
  { when: { first: '^Read every part' }, answer: reads(1) },
];

const SCRIPT: Script = { rules: RULES, window: WINDOW };

describe.concurrent('a model with a small window', () => {
  it.each<OwnWire>(['anthropic', 'openai-compatible'])(
    'is summarised before it is too long, reads on and ends well, over the wire of %s (I003, I004)',
    async (wire) => {
      const { machine, double } = await ownModel(wire, { script: SCRIPT, files: FILES, window: WINDOW });
      const { code, err, events } = await runOn(machine, TASK);
      expect({ code, err }).toEqual({ code: 0, err: '' });
      const compacted = of(events, 'context.compacted');
      expect(compacted.length).toBeGreaterThan(0);
      for (const { summary } of compacted) expect(summary).toContain('The mill, always.');
      // Every part once: nothing was forgotten on the way, nothing read twice.
      const read = of(events, 'tool.started').map(({ label }) => label);
      expect(read).toHaveLength(PARTS);
      expect(new Set(read).size).toBe(PARTS);
      // The double refuses what is too long: nothing was.
      expect(double.bill()).toMatchObject({ refused: 0, broken: { calls: 0 } });
      expect(of(events, 'model.failed')).toEqual([]);
      const report = await machine.mimir('report');
      expect(report.out).toContain('All twelve tell of the mill by the river.');
      const shown = await machine.mimir('show');
      expect(shown.out).toMatch(/summarised/);
    },
  );

  it('is summarised after it was refused, when nobody had said how small its window is (I003)', async () => {
    const { machine, double } = await ownModel('openai-compatible', {
      script: { ...SCRIPT, window: 8000 },
      files: FILES,
    });
    const { code, events } = await runOn(machine, TASK);
    expect(code).toBe(0);
    expect(of(events, 'model.failed').map(({ cause }) => cause)).toContain('too long');
    expect(of(events, 'context.compacted').length).toBeGreaterThan(0);
    expect(double.bill().refused).toBeGreaterThan(0);
    expect(of(events, 'agent.finished').map(({ outcome }) => outcome)).toEqual(['completed', 'completed']);
  });

  it('fails where nothing can be summarised, and says so beside the JSON', async () => {
    const error = { type: 'invalid_request_error', message: 'prompt is too long: 300000 tokens > 200000 maximum' };
    const body = JSON.stringify({ type: 'error', error });
    const refuses: Rule = { when: { first: '^Read every' }, answer: { fault: { is: 'status', status: 400, body } } };
    const { machine } = await ownModel('anthropic', {
      script: { rules: [...RULES.slice(0, 1), refuses] },
      files: FILES,
    });
    const { code, err, events } = await runOn(machine, TASK);
    expect(code).toBe(1);
    expect(of(events, 'session.finished').map(({ status }) => status)).toEqual(['failed']);
    expect(err).toMatch(
      /^mimir: main: .* prompt is too long: .*\nmimir: the run did not complete; `mimir report \w+` tells why\n$/,
    );
  });
});
