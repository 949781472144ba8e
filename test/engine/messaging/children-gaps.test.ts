import { describe, expect, it } from 'vitest';
import { acting, ask, gate, LED, outcomes, rulesWith, spawned, spawns, statusesOf } from '../../support/children.ts';
import { brokenByRun } from '../../support/family-machine-promises.ts';
import { AGENT, RULES } from '../../support/run.ts';

const [S1, CHILD] = ['ROOT::S1', 'ROOT::S1::S1'];

describe('a run with children', () => {
  it('ends with nobody at work when its plan is rejected (D14)', async () => {
    const go = gate();
    const run = acting({ [S1]: [() => go.promise.then(() => undefined)] }, { plan: LED, approval: 'person' });
    await run.until(({ phase }) => phase === 'approving');
    expect(await spawned(run, 'ROOT')).toBe(S1);
    await run.until(({ agents }) => agents.get(AGENT(S1))?.iterations === 1);
    await run.tell({ do: 'reject plan' });
    expect((await run.result).status).toBe('rejected');
    expect(outcomes(run)).toEqual([`${S1} abandoned`]);
    expect([run.events().at(-1)?.type, brokenByRun(run.events())]).toEqual(['session.finished', []]);
    go.resolve();
  });

  it('leaves them for a resume when it is stopped before it has a plan', async () => {
    const go = gate();
    const run = acting({ [S1]: [() => go.promise.then(() => undefined)] }, { plan: LED, approval: 'person' });
    await run.until(({ phase }) => phase === 'approving');
    await spawned(run, 'ROOT');
    await run.until(({ agents }) => agents.get(AGENT(S1))?.iterations === 1);
    run.stop('later');
    await run.result;
    expect([run.events().at(-1)?.type, brokenByRun(run.events())]).toEqual(['session.finished', []]);
    go.resolve();
    const next = acting({}, { plan: LED, approval: 'person', log: run.log });
    // Before the plan is approved, and again by nobody afterwards.
    await next.until(({ agents }) => agents.get(AGENT(S1))?.outcome === 'completed');
    expect(next.state().phase).toBe('approving');
    await next.tell({ do: 'approve plan', digest: next.state().planDigest });
    expect((await next.result).status).toBe('completed');
    expect([outcomes(next), brokenByRun(next.events())]).toEqual([[`${S1} completed`, 'ROOT::S2 completed'], []]);
  });

  it('waits for none that the waiting agent has itself killed, by what it has left behind', async () => {
    const go = gate();
    const run = acting(
      {
        [S1]: [spawns(S1, { wait: 0 }, { text: 'spawned' })],
        [CHILD]: [() => go.promise.then(() => undefined)],
      },
      { plan: LED },
    );
    await run.until(({ agents }) => agents.get(AGENT(S1))?.reason === 'waiting for its children');
    expect(await ask(run, { do: 'kill', agent: AGENT(CHILD) }, S1)).toMatchObject({ ok: true });
    await run.result;
    expect(outcomes(run)).toEqual([`${S1} completed`, `${CHILD} killed`]);
    go.resolve();
  });

  it('does not show one as running that is asked for in while it waits', async () => {
    const go = gate();
    const run = acting(
      {
        [S1]: [spawns(S1, { wait: 0 }, { text: 'spawned' })],
        [CHILD]: [() => go.promise.then(() => undefined)],
      },
      { plan: LED, rules: rulesWith({ mode: { value: 'supervised', from: RULES.enabled.from } }) },
    );
    await run.until(({ approvals }) => approvals.length === 1);
    await run.tell({ do: 'answer', approval: run.state().approvals[0]?.id ?? '', allow: true, scope: 'once' });
    await run.until(({ agents }) => agents.get(AGENT(S1))?.reason === 'waiting for its children');
    const before = statusesOf(run, S1);
    const asked = spawned(run, S1, {}, S1);
    await run.until(({ approvals }) => approvals.length === 1);
    await run.tell({ do: 'answer', approval: run.state().approvals[0]?.id ?? '', allow: false, scope: 'once' });
    expect(await asked).toBe('the person denied this');
    expect(statusesOf(run, S1)).toEqual(before);
    go.resolve();
    await run.result;
  });
});
