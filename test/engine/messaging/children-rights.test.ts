import { describe, expect, it } from 'vitest';
import { RoleName, TaskId } from '../../../src/domain/ids.ts';
import { shortId } from '../../../src/domain/digest.ts';
import type { Command } from '../../../src/ports/controls.ts';
import {
  type Act,
  acting,
  ask,
  gate,
  inTurn,
  LED,
  notices,
  outcomes,
  says,
  spawned,
  spawns,
  waits,
} from '../../support/children.ts';
import { toldTo } from '../../support/run-looks.ts';
import { AGENT, calling, planOf, RULES, type TestRun } from '../../support/run.ts';

const S1 = 'ROOT::S1';
const S2 = 'ROOT::S2';
const CHILD = 'ROOT::S1::S1';

const said = async (run: TestRun, command: Command, by?: string): Promise<string> => {
  const done = await ask(run, command, by);
  return done.ok ? done.value.text : done.fault.text;
};
const kill = (run: TestRun, agent: string, by?: string): Promise<string> =>
  said(run, { do: 'kill', agent: AGENT(agent) }, by);
const TWO: unknown = {
  reason: '',
  tasks: [
    { id: 'a', description: 'a', role: 'leader', maySpawn: true },
    { id: 'b', description: 'b', role: 'finder' },
  ],
};
const no = (run: TestRun, agent: string): string =>
  `Cannot kill session ${shortId(run.options.session, AGENT(agent))} - not your child session`;

describe('a kill', () => {
  it('by an agent ends its own child with all below it, and nobody else (I01, S049, S050, S052, S053, S126, D28)', async () => {
    const go = gate();
    const run = acting(
      {
        [S1]: [spawns(S1, { name: 'Ada', role: 'leader' }, calling('read x')), waits(go)],
        [CHILD]: [spawns(CHILD, { name: 'Bob' }, calling('read y')), waits(go)],
        [`${CHILD}::S1`]: [waits(go)],
        [S2]: [waits(go)],
      },
      { plan: TWO, rules: { ...RULES, maxNestingDepth: { ...RULES.maxNestingDepth, value: 3 } } },
    );
    await inTurn(run, `${CHILD}::S1`, 1);
    await inTurn(run, S2, 1);
    await inTurn(run, S1, 2);
    for (const other of [S2, 'ROOT', S1, `${CHILD}::S1`, 'ROOT::S7'])
      expect(await kill(run, other, S1)).toBe(no(run, other));
    expect(await kill(run, CHILD, S1)).toBe('Ada killed');
    await run.until(({ agents }) => agents.get(AGENT(CHILD))?.outcome === 'killed');
    go.resolve();
    await run.result;
    expect(outcomes(run)).toEqual([`${S1} completed`, `${S2} completed`, `${CHILD} killed`, `${CHILD}::S1 killed`]);
    expect([...run.state().agents.values()].map(({ error }) => error)).toEqual([
      null,
      null,
      null,
      'killed by leader',
      'killed by leader',
    ]);
    // Who killed it knows: nobody is told.
    expect(notices(run)).toEqual([]);
  });

  it('by a person ends any, and its parent hears of it (S157, D28)', async () => {
    const go = gate();
    const run = acting(
      { [S1]: [spawns(S1, { name: 'Ada', wait: 0 }, { text: 'spawned' }), says('so be it')], [CHILD]: [waits(go)] },
      { plan: LED },
    );
    await run.until(({ agents }) => agents.get(AGENT(S1))?.status === 'waiting');
    expect(await kill(run, CHILD)).toBe('Ada killed');
    await run.result;
    expect(notices(run)).toEqual([`${S1} < ${CHILD} error: Child Ada was killed by the person`]);
    expect(outcomes(run)).toEqual([`${S1} completed`, `${CHILD} killed`]);
  });

  it('of a parent takes its children with it, adopts none, and tells nobody', async () => {
    const go = gate();
    const run = acting(
      { [S1]: [spawns(S1, { name: 'Ada' }, calling('read x')), waits(go)], [CHILD]: [waits(go)] },
      { plan: LED },
    );
    await inTurn(run, CHILD, 1);
    await inTurn(run, S1, 2);
    await kill(run, S1);
    await run.result;
    expect(outcomes(run)).toEqual([`${S1} killed`, `${CHILD} killed`]);
    expect([notices(run), run.events().some(({ type }) => type === 'agent.adopted')]).toEqual([[], false]);
  });

  it('of a child that has ended closes it for good: its work stays, no message lets it go on (S126, S132)', async () => {
    const go = gate();
    const run = acting({ [S1]: [spawns(S1, { name: 'Ada' }, calling('read x')), waits(go)] }, { plan: LED });
    await run.until(({ agents }) => agents.get(AGENT(CHILD))?.outcome === 'completed');
    const summary = run.state().agents.get(AGENT(CHILD))?.summary;
    expect(await kill(run, CHILD, S1)).toBe('Ada killed: it had ended and no longer reads messages');
    expect(run.state().agents.get(AGENT(CHILD))).toMatchObject({
      outcome: 'killed',
      error: 'killed by leader',
      summary,
    });
    expect(await run.refused({ do: 'message', to: AGENT(CHILD), text: 'more?', delivery: 'sequential' })).toBe(
      'refused: Ada was killed and no longer reads messages',
    );
    expect(await kill(run, CHILD, S1)).toBe('Ada has ended already');
    go.resolve();
    // It had done its work: that is what counts for the run.
    expect((await run.result).status).toBe('completed');
  });

  it('of a child by its own parent is that parent’s decision: the run does not fail by it (D29)', async () => {
    const go = gate();
    const run = acting(
      { [S1]: [spawns(S1, { name: 'Ada' }, calling('read x')), waits(go)], [CHILD]: [waits(gate())] },
      { plan: LED },
    );
    await inTurn(run, CHILD, 1);
    expect(await kill(run, CHILD, S1)).toBe('Ada killed');
    go.resolve();
    const ended = await run.result;
    expect([outcomes(run), ended.status]).toEqual([[`${S1} completed`, `${CHILD} killed`], 'completed']);
  });

  it('of a child by a person counts against the run (D29)', async () => {
    const go = gate();
    const run = acting(
      { [S1]: [spawns(S1, { name: 'Ada' }, calling('read x')), waits(go)], [CHILD]: [waits(gate())] },
      { plan: LED },
    );
    await inTurn(run, CHILD, 1);
    expect(await kill(run, CHILD)).toBe('Ada killed');
    go.resolve();
    expect((await run.result).status).toBe('failed');
  });
});

describe('what an agent may ask', () => {
  const ALL: readonly Command[] = [
    { do: 'edit plan', edit: { is: 'drop', task: TaskId.parse('a') } },
    { do: 'review', role: RoleName.parse('reviewer') },
    { do: 'approve plan', digest: '' },
    { do: 'reject plan' },
    { do: 'plan again', hint: '' },
    { do: 'interrupt', agent: AGENT(S1) },
    { do: 'resume', agent: AGENT(S1) },
    { do: 'retry', agent: AGENT(S1) },
    { do: 'skip', agent: AGENT(S1) },
    { do: 'answer', approval: 'x', allow: true, scope: 'once' },
    { do: 'set mode', mode: 'yolo' },
    { do: 'pin mode', agent: AGENT(S1), mode: null },
    { do: 'set budget', agent: AGENT(S1), budget: {} },
    { do: 'amend plan', edits: [], base: '', digest: '' },
    { do: 'set model', agent: AGENT(S1), model: 'slow' },
    { do: 'hand over', how: 'now' },
    { do: 'stop run', reason: '' },
  ];

  it('is a child, a message, the end of its child, its own end: everything else is a person’s (S031, S052, I06)', async () => {
    const go = gate();
    const run = acting({ [S1]: [waits(go)], [S2]: [waits(go)] }, { plan: planOf(['a'], ['b']) });
    await inTurn(run, S1, 1);
    await inTurn(run, S2, 1);
    for (const command of ALL)
      expect([command.do, await said(run, command, S1)]).toEqual([command.do, 'only a person may ask that']);
    expect(await spawned(run, S2, {}, S1)).toBe('an agent can spawn only its own children');
    expect(await said(run, { do: 'complete', agent: AGENT(S2), status: 'completed', message: '' }, S1)).toBe(
      'an agent can complete only itself',
    );
    expect(await said(run, { do: 'set mode', mode: 'yolo' }, 'ROOT::S9')).toBe('there is no agent ROOT::S9');
    go.resolve();
    await run.result;
    expect(run.events().some(({ type }) => type === 'session.mode')).toBe(false);
  });

  it('is nothing once it has ended: what it left running asks in vain', async () => {
    const go = gate();
    const run = acting({ [S2]: [waits(go)] }, { plan: planOf(['a'], ['b']) });
    await run.until(({ agents }) => agents.get(AGENT(S1))?.outcome === 'completed');
    expect(await said(run, { do: 'message', to: AGENT(S2), text: 'x', delivery: 'urgent' }, S1)).toBe(
      'finder 1 has ended and cannot give commands',
    );
    go.resolve();
    await run.result;
  });
});

describe('an agent that says it is done', () => {
  const completes =
    (status: 'completed' | 'error', message: string, reply?: ReturnType<typeof calling>): Act =>
    async (run) => {
      await ask(run, { do: 'complete', agent: AGENT(S1), status, message }, S1);
      return reply;
    };

  it('ends after the step it is in, with its message as what it found (S063, S124)', async () => {
    const run = acting({ [S1]: [completes('completed', 'it is in a.ts', calling('read x')), says('not asked')] });
    expect((await run.result).success).toBe(true);
    const one = run.state().agents.get(AGENT(S1));
    expect([one?.summary, one?.iterations, one?.toolCalls]).toEqual(['it is in a.ts', 1, 1]);
  });

  it('says so of an error as well: it has failed with that (S063, S125)', async () => {
    const run = acting({ [S1]: [completes('error', 'no such file', calling('read x'))] });
    expect((await run.result).success).toBe(false);
    const one = run.state().agents.get(AGENT(S1));
    expect([one?.outcome, one?.summary, one?.error]).toEqual(['failed', 'Failed: no such file', 'no such file']);
  });

  it('goes on with what it was written in that very moment, and both are its answer (S131)', async () => {
    const run = acting({
      [S1]: [
        async (of) => {
          await completes('completed', 'it is in a.ts')(of);
          await ask(of, { do: 'message', to: AGENT(S1), text: 'sure?', delivery: 'important' });
          return calling('read x');
        },
        says('sure'),
      ],
    });
    expect((await run.result).success).toBe(true);
    expect(toldTo(run, S1)[1]).toContain('sure?');
    expect(run.state().agents.get(AGENT(S1))?.summary).toBe('it is in a.ts\n\nsure');
  });

  it('does not wait for children that it wanted to hear of', async () => {
    const go = gate();
    const run = acting(
      {
        [S1]: [
          async (of) => {
            await spawned(of, S1, { wait: 0 }, S1);
            return completes('completed', 'enough', calling('read x'))(of);
          },
        ],
        [CHILD]: [waits(go)],
      },
      { plan: LED },
    );
    await run.until(({ agents }) => agents.get(AGENT(S1))?.outcome === 'completed');
    expect(run.state().agents.get(AGENT(CHILD))?.owner).toBe('ROOT');
    go.resolve();
    await run.result;
  });

  it('is not main, whose run it is, nor one that has not begun', async () => {
    const go = gate();
    const run = acting({ [S1]: [waits(go)] }, { plan: planOf(['a'], ['b', 'a']) });
    await inTurn(run, S1, 1);
    const complete = (agent: string): Promise<string> =>
      said(run, { do: 'complete', agent: AGENT(agent), status: 'completed', message: '' });
    expect(await complete('ROOT')).toBe('main ends with the run');
    expect(await complete(S2)).toBe('finder 2 has not begun');
    go.resolve();
    await run.result;
  });
});
