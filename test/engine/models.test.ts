import { describe, expect, it } from 'vitest';
import { ModelId } from '../../src/domain/ids.ts';
import type { MimirEvent } from '../../src/events/event.ts';
import { scriptedModel } from '../support/scripted.ts';
import {
  AGENT,
  calling,
  FAST,
  filed,
  MODELS,
  planOf,
  RULES,
  says,
  type Setting,
  type TestRun,
  testRun,
} from '../support/run.ts';

const S1 = AGENT('ROOT::S1');
const of = (run: TestRun, type: MimirEvent['type'], agent = 'ROOT::S1'): MimirEvent[] =>
  run.events().filter((event) => event.type === type && 'agent' in event && event.agent === agent);
/** A finished run of one agent, an oracle when its task begins with `o`. */
async function ran(script: Setting['script'], setting: Setting = {}): Promise<TestRun> {
  const run = testRun({ ...filed(planOf(['o'])), mode: 'yolo', ...setting, ...(script ? { script } : {}) });
  await run.result;
  return run;
}

describe('the model', () => {
  it('that is not allowed any more is denied with the rule (O149)', async () => {
    const written = { rule: 'deniedModels: [slow]', layer: 'managed', file: '/etc/mimir.yml', line: 3 } as const;
    const setting = { plan: planOf(['a']), approval: 'person' } as const;
    const first = testRun(setting);
    await first.until(({ phase }) => phase === 'approving');
    await first.tell({ do: 'approve plan', digest: first.state().planDigest });
    first.stop('now the rules change');
    await first.result;
    const rules = { ...RULES, deniedModels: [{ written: 'fast', pattern: FAST, from: written }] };
    const run = testRun({ log: first.log, rules });
    expect((await run.result).status).toBe('failed');
    expect(run.state().agents.get(S1)?.error).toBe(
      'model scripted/fast is not allowed: deniedModels: [slow] (managed, /etc/mimir.yml:3)',
    );
    expect(of(run, 'policy.decided')[0]).toMatchObject({ subject: FAST, decision: 'deny', ...written });
  });

  it('of unknown price is not called where somebody set a cost limit (D10)', async () => {
    const unpriced = scriptedModel('scripted/unpriced', { aliases: ['unpriced'], price: null });
    const from = { rule: 'limits.maxCost: 1', layer: 'user', file: '/home/u/config.yml', line: 9 } as const;
    const rules = { ...RULES, costLimitSet: true, runBudget: { value: { maxCost: 1 }, from } };
    const setting = { catalogue: [...MODELS, unpriced], roleModels: new Map([['oracle', 'unpriced']]) };
    const refused = await ran(() => undefined, { ...setting, rules });
    expect(refused.state().agents.get(S1)?.error).toMatch(
      /^model scripted\/unpriced is not allowed: limits.maxCost: 1: the price of this model is unknown/,
    );
    expect(of(refused, 'model.started')).toEqual([]);
    const free = await ran(() => undefined, setting);
    expect(free.state().agents.get(S1)).toMatchObject({ outcome: 'completed', priced: false });
    expect(ModelId.parse('scripted/unpriced')).toBe(unpriced.id);
  });
});

describe('the end of an agent', () => {
  it('comes when it goes in circles', async () => {
    const acts: string[] = [];
    const run = await ran(({ agent }) => (agent === S1 ? calling('read same') : undefined), { acts });
    expect(run.state().agents.get(S1)).toMatchObject({
      outcome: 'partial',
      error: 'Loop detected: the same calls with the same results 6 times in a row',
    });
    expect(acts.length).toBe(6);
  });

  it('comes after its iterations (O091, O098)', async () => {
    const run = await ran(({ agent }, n) => {
      if (agent !== S1) return undefined;
      return n < 19 ? calling(`read ${n}`) : { text: 'half of it' };
    });
    const { outcome, error, summary, iterations } = run.state().agents.get(S1) ?? {};
    expect([outcome, error, summary, iterations]).toEqual(['partial', 'Max iterations reached', 'half of it', 20]);
  });

  it.each([
    ['found it\n[COMPLETE]', 'found it'],
    ['found it\n\n[DONE]\n', 'found it'],
    ['say [DONE] when done', 'say [DONE] when done'],
    ['[DONE] is what it printed\nall tests pass', '[DONE] is what it printed\nall tests pass'],
  ])('is its own last word, of %j only a last marker is taken off (D9, O096, O097, H11)', async (text, summary) => {
    const run = await ran(says({ [S1]: [{ text }] }));
    expect(run.state().agents.get(S1)).toMatchObject({ outcome: 'completed', summary });
  });

  it('is not in the words of a tool, nor in words before a call (D9, H11)', async () => {
    const run = await ran(says({ [S1]: [{ ...calling('read [DONE]'), text: '[COMPLETE]' }, { text: 'really' }] }));
    expect(run.state().agents.get(S1)?.summary).toBe('really');
  });

  it('without a word is a failure', async () => {
    const run = await ran(says({ [S1]: [{ text: ' [DONE]' }] }));
    expect(run.state().agents.get(S1)?.error).toBe('The model ended without an answer');
  });
});
