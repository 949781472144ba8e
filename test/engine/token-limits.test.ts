/** What counts against a limit on tokens, and what an estimate means for an agent that passes it. */
import { describe, expect, it } from 'vitest';
import { tokensOfAgent } from '../../src/events/queries.ts';
import { AGENT, calling, planOf, type Script, type TestRun, testRun } from '../support/run.ts';

const S1 = AGENT('ROOT::S1');
/** Reads `turns` times, each time with 15,000 tokens of context, and then answers. */
const reading =
  (turns: number, usage: { readonly input?: number; readonly cacheRead?: number }): Script =>
  ({ agent, purpose }, n) => {
    if (agent !== S1 || purpose.is !== 'work') return undefined;
    const spent = { input: 0, output: 10, cacheRead: 0, cacheWrite: 0, ...usage };
    return n < turns ? { ...calling(`read ${n}`), usage: spent } : { text: 'read it all', usage: spent };
  };
const limited = (tokens: number): unknown => ({
  reason: '',
  tasks: [{ id: 'a', description: 'x'.repeat(19_000), role: 'finder', budget: { maxTokens: tokens } }],
});
const endOf = (run: TestRun): unknown => run.state().agents.get(S1)?.outcome;

describe('a limit on tokens', () => {
  it('counts what is read from the cache at a tenth, and shows tokens as they are', async () => {
    const script = reading(9, { cacheRead: 15_000 });
    const run = testRun({ plan: limited(90_000), person: false, script });
    await run.result;
    const agent = run.state().agents.get(S1);
    expect([endOf(run), agent && tokensOfAgent(agent)]).toEqual(['completed', 150_100]);
    const finished = run.events().find((event) => event.type === 'agent.finished' && event.agent === S1);
    expect(finished).toMatchObject({ metrics: { tokensUsed: 150_100 } });
  });

  it('counts new input in full', async () => {
    const run = testRun({ plan: limited(90_000), person: false, script: reading(9, { input: 15_000 }) });
    await run.result;
    expect(endOf(run)).toBe('partial');
  });
});

describe('an estimate', () => {
  it('ends nobody who uses more than twice of it, but is warned of once (D17)', async () => {
    const run = testRun({ plan: planOf(['a']), person: false, script: reading(9, { input: 20_000 }) });
    await run.result;
    const warned = run.events().filter(({ type }) => type === 'budget.warned');
    expect([endOf(run), warned.length]).toEqual(['completed', 1]);
    expect(warned[0]).toMatchObject({ agent: S1, what: 'tokens', limit: 2000, estimate: true });
    expect(run.state().log.map(({ text }) => text)).toContain('it used twice its estimated tokens; it continues');
  });
});
