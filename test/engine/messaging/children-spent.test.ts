/** Messages to a child whose budget is spent: it could make no call, so they are refused with what to do. */
import { describe, expect, it } from 'vitest';
import { acting, ask, gate, has, inTurn, says, send, spawned, waits } from '../../support/children.ts';
import { AGENT, calling, type TestRun } from '../../support/run.ts';

const S1 = 'ROOT::S1';
const S2 = 'ROOT::S2';
const callsOf = (run: TestRun): number =>
  run.events().filter((event) => event.type === 'model.started' && event.agent === S2).length;

/** A child that has ended since its budget left no room for its second step. */
async function spent(): Promise<{ readonly run: TestRun; readonly end: () => Promise<unknown> }> {
  const go = gate();
  const run = acting(
    {
      [S1]: [waits(go)],
      [S2]: [
        async (self) => {
          await self.tell({ do: 'set budget', agent: AGENT(S2), budget: { maxTokens: 100 } });
          return calling('read a');
        },
        says('it had more'),
        says('it had even more'),
      ],
    },
    { person: false },
  );
  await inTurn(run, S1, 1);
  await spawned(run, 'ROOT', { name: 'Ada' });
  await run.until(({ agents }) => agents.get(AGENT(S2))?.outcome === 'partial');
  return {
    run,
    end: () => {
      go.resolve();
      return run.result;
    },
  };
}

describe('a message to a child whose budget is spent', () => {
  it('is refused with the budget and how to raise it; nothing is recorded and nobody wakes', async () => {
    const { run, end } = await spent();
    const [before, calls] = [run.events().length, callsOf(run)];
    const refused = await send(run, S2);
    expect(refused).toMatch(
      /^Ada's budget is spent \(\d+ tokens of 100 tokens\): give it more first \(`budget Ada …` in line mode, b on its card\), then send again$/,
    );
    expect([run.events().length, callsOf(run)]).toEqual([before, calls]);
    await end();
  });

  it('is refused as well where it had ended well, and its budget was lowered to what it has used since', async () => {
    const go = gate();
    const run = acting({ [S1]: [waits(go)], [S2]: [says('done')] }, { person: false });
    await inTurn(run, S1, 1);
    await spawned(run, 'ROOT', { name: 'Ada' });
    await has(run, S2, 'completed');
    const { usage } = run.state().agents.get(AGENT(S2)) ?? { usage: { input: 0, output: 0 } };
    const used = usage.input + usage.output;
    await ask(run, { do: 'set budget', agent: AGENT(S2), budget: { maxTokens: used } });
    expect(await send(run, S2)).toContain(`Ada's budget is spent (${used} tokens of ${used} tokens)`);
    await ask(run, { do: 'set budget', agent: AGENT(S2), budget: { maxTokens: used + 500_000 } });
    expect(await send(run, S2)).toBe('resumed');
    go.resolve();
    await run.result;
  });

  it('lets it go on as soon as it was given more', async () => {
    const { run, end } = await spent();
    const more = await ask(run, { do: 'set budget', agent: AGENT(S2), budget: { maxTokens: 500_000 } });
    expect(more).toMatchObject({ ok: true, value: { text: 'Ada may use 500000 tokens' } });
    expect(await send(run, S2)).toBe('resumed');
    await has(run, S2, 'completed');
    expect(run.state().agents.get(AGENT(S2))?.summary).toContain('it had more');
    await end();
  });
});
