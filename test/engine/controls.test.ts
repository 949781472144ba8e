import { describe, expect, it } from 'vitest';
import { AGENT, briefOf, calling, planOf, RULES, says, type Setting, type TestRun, testRun } from '../support/run.ts';
import { held, inSecondTurn, toldTo } from '../support/run-looks.ts';

const S1 = AGENT('ROOT::S1');
const S2 = AGENT('ROOT::S2');
const S3 = AGENT('ROOT::S3');
const ONE_SLOT = { ...RULES, maxParallelAgents: { ...RULES.maxParallelAgents, value: 1 } };
const never = new Promise<undefined>(() => {});

const outcomesOf = (run: TestRun): unknown[] =>
  [...run.state().agents.values()].slice(1).map(({ id, outcome }) => [id, outcome]);
const typesOf = (run: TestRun, agent: string): string[] =>
  run.events().flatMap((event) => ('agent' in event && event.agent === agent ? [event.type] : []));
describe('interrupt and resume', () => {
  it('ends the call of the model, gives the slot to the next, and goes on from the recorded turn (O021, O022, D11)', async () => {
    const { run, go } = held({ rules: ONE_SLOT });
    await inSecondTurn(run);
    expect(run.state().agents.get(S2)?.status).toBe('initializing');
    expect(await run.tell({ do: 'interrupt', agent: S1 })).toBe('finder 1 interrupted; resume continues it');
    await run.until(({ agents }) => agents.get(S2)?.outcome === 'completed');
    expect(run.state().agents.get(S1)).toMatchObject({ status: 'interrupted', outcome: null, open: [] });
    expect(typesOf(run, S1).slice(-2)).toEqual(['model.failed', 'agent.status']);
    go.resolve();
    expect(await run.tell({ do: 'resume', agent: S1 })).toBe('finder 1 resumed');
    expect((await run.result).success).toBe(true);
    expect(toldTo(run, S1)).toEqual([briefOf('do a')]);
    expect(typesOf(run, S1).filter((type) => type === 'tool.started')).toEqual(['tool.started']);
  });

  it('says why it can not be done', async () => {
    const { run, go } = held();
    await inSecondTurn(run);
    expect(await run.refused({ do: 'resume', agent: S1 })).toBe('refused: finder 1 is not interrupted');
    await run.tell({ do: 'interrupt', agent: S1 });
    expect(await run.refused({ do: 'interrupt', agent: S1 })).toBe('refused: finder 1 is not running');
    expect(await run.refused({ do: 'interrupt', agent: AGENT('ROOT::S9') })).toBe(
      'refused: there is no agent ROOT::S9',
    );
    expect(await run.refused({ do: 'retry', agent: S1 })).toBe('refused: finder 1 has not failed: it is still working');
    expect(await run.refused({ do: 'skip', agent: S1 })).toBe('refused: finder 1 has started already: kill it instead');
    await run.until(({ agents }) => agents.get(S1)?.status === 'interrupted');
    go.resolve();
    await run.tell({ do: 'resume', agent: S1 });
    await run.result;
    expect(await run.refused({ do: 'set mode', mode: 'human' })).toBe('refused: the run has ended');
  });

  it('ends the tool that runs: its signal is aborted', async () => {
    const reasons: unknown[] = [];
    const began = Promise.withResolvers<void>();
    const run = testRun({
      script: says({ [S1]: [calling('read forever')] }),
      wait: (signal) => {
        began.resolve();
        return new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            reasons.push(signal.reason);
            resolve();
          });
        });
      },
    });
    await began.promise;
    await run.tell({ do: 'interrupt', agent: S1 });
    await run.until(({ agents }) => agents.get(S1)?.status === 'interrupted');
    expect(reasons).toEqual(['interrupt']);
    await run.tell({ do: 'resume', agent: S1 });
    expect((await run.result).success).toBe(true);
  });
});

describe('kill', () => {
  it('ends one agent for good; the others go on (S157)', async () => {
    const { run } = held();
    await inSecondTurn(run);
    expect(await run.tell({ do: 'kill', agent: S1 })).toBe('finder 1 killed');
    expect((await run.result).status).toBe('failed');
    expect(outcomesOf(run)).toEqual([
      [S1, 'killed'],
      [S2, 'completed'],
    ]);
    const { status, summary, error } = run.state().agents.get(S1) ?? {};
    expect([status, summary, error]).toEqual(['interrupted', 'looking', 'killed by you']);
    expect(typesOf(run, S1).at(-1)).toBe('agent.finished');
  });

  it.each([true, false])('reaches an agent that is interrupted already (%s) or just now', async (settled) => {
    const { run } = held();
    await inSecondTurn(run);
    await run.tell({ do: 'interrupt', agent: S1 });
    if (settled) await run.until(({ agents }) => agents.get(S1)?.status === 'interrupted');
    expect(await run.tell({ do: 'kill', agent: S1 })).toBe('finder 1 killed');
    await run.result;
    expect(outcomesOf(run)[0]).toEqual([S1, 'killed']);
  });

  it('reaches an agent that waits for a person: its question is taken back', async () => {
    const run = testRun({ plan: planOf(['o']), script: says({ [S1]: [calling('write x')] }) });
    const { approvals } = await run.until((state) => state.approvals.length === 1);
    await run.tell({ do: 'kill', agent: S1 });
    await run.result;
    expect(outcomesOf(run)).toEqual([[S1, 'killed']]);
    expect(run.state().approvals).toEqual([]);
    const answer = { do: 'answer', approval: approvals[0]?.id ?? '', allow: true, scope: 'once' } as const;
    expect(await run.refused(answer)).toBe('refused: the run has ended');
  });

  it('in one breath with the answer lets no effect begin', async () => {
    const acts: string[] = [];
    const run = testRun({ plan: planOf(['o']), acts, script: says({ [S1]: [calling('write x')] }) });
    const { approvals } = await run.until((state) => state.approvals.length === 1);
    void run.tell({ do: 'answer', approval: approvals[0]?.id ?? '', allow: true, scope: 'once' });
    void run.tell({ do: 'kill', agent: S1 });
    await run.result;
    expect(acts).toEqual([]);
    expect(outcomesOf(run)).toEqual([[S1, 'killed']]);
  });

  it('leaves out what has not begun, and is refused for main and for what has ended', async () => {
    const { run, go } = held({ plan: planOf(['a'], ['b', 'a'], ['c']) });
    await inSecondTurn(run);
    await run.until(({ agents }) => agents.get(S3)?.outcome === 'completed');
    expect(await run.refused({ do: 'kill', agent: AGENT('ROOT') })).toBe(
      'refused: main ends with the run: stop the run instead',
    );
    expect(await run.refused({ do: 'kill', agent: S3 })).toBe('refused: finder 3 has ended already');
    expect(await run.tell({ do: 'kill', agent: S2 })).toBe('finder 2 skipped');
    go.resolve();
    await run.result;
    expect(outcomesOf(run)[1]).toEqual([S2, 'skipped']);
  });
});

describe('a stop', () => {
  it('lets nothing begin any more, whatever waits', async () => {
    const { run } = held({ plan: planOf(['a'], ['b', 'a'], ['o']), script: says({ [S3]: [calling('write x')] }) });
    await inSecondTurn(run);
    await run.until(({ approvals }) => approvals.length === 1);
    const { seq } = run.state();
    expect(await run.tell({ do: 'stop run', reason: 'Ctrl-C' })).toBe('stopping; `mimir resume` continues it');
    expect(await run.result).toMatchObject({ success: false, status: 'stopped', error: null });
    const after = run.events().filter((event) => event.seq > seq);
    expect(after.filter(({ type }) => /^(?:model|tool)\.started$|^agent\.(?:finished|told)$/.test(type))).toEqual([]);
    expect(run.state()).toMatchObject({ approvals: [], finished: { status: 'stopped', summary: 'Ctrl-C' } });
    expect(outcomesOf(run)).toEqual([
      [S1, null],
      [S2, null],
      [S3, null],
    ]);
  });

  it('works before there is a plan, and while it is on the table', async () => {
    const early = testRun({ script: ({ purpose }) => (purpose.is === 'plan' ? never : undefined) });
    await early.until(({ agents }) => agents.get(AGENT('ROOT'))?.open.length === 1);
    early.stop('closed');
    expect(await early.result).toMatchObject({ status: 'stopped', error: null });

    const shown = testRun({ approval: 'person' });
    await shown.until(({ phase }) => phase === 'approving');
    shown.stop('closed');
    expect(await shown.result).toMatchObject({ status: 'stopped', error: null });
    expect(shown.state().finished?.summary).toBe('closed');
  });

  it('at the first moment is a stop as well', async () => {
    const run = testRun();
    run.stop('at once');
    expect(await run.result).toMatchObject({ status: 'stopped', metadata: { agentCount: 0 } });
  });
});

describe('the mode', () => {
  it('is one for all, applies at the next decision, and never goes above the maximum (H015 to H020, I07)', async () => {
    const first = Promise.withResolvers<void>();
    const acts: string[] = [];
    const run = testRun({
      plan: planOf(['o1'], ['o2']),
      acts,
      rules: { ...RULES, maxMode: { ...RULES.maxMode, value: 'confirm' } },
      script: async (request, n) => {
        if (request.purpose.is === 'work' && n === 0) await first.promise;
        return says({ [S1]: [calling('read x')], [S2]: [calling('read x')] })(request, n);
      },
    });
    await run.until(({ agents }) => agents.get(S2)?.open.length === 1);
    expect(await run.refused({ do: 'set mode', mode: 'yolo' })).toBe(
      'refused: yolo is not allowed: the test (default)',
    );
    expect(await run.tell({ do: 'set mode', mode: 'human' })).toBe('mode human for all agents');
    expect(await run.refused({ do: 'set mode', mode: 'human' })).toBe('refused: the mode is human already');
    first.resolve();
    const { approvals } = await run.until((state) => state.approvals.length === 2);
    expect(approvals.map(({ agent, request }) => [agent, request.action])).toEqual([
      [S1, 'read'],
      [S2, 'read'],
    ]);
    expect(acts).toEqual([]);
    run.stop('enough');
    await run.result;
  });
});

describe('after a failure a person', () => {
  const failing = (tries: { n: number }, good: number): NonNullable<Setting['script']> => {
    return ({ agent }) => {
      if (agent !== S1) return undefined;
      tries.n += 1;
      return tries.n < good ? { fault: { is: 'refused', message: 'no' } } : undefined;
    };
  };

  it('may retry by key: the question about it is taken back', async () => {
    const run = testRun({ plan: planOf(['a'], ['b', 'a']), script: failing({ n: 0 }, 2) });
    await run.until(({ approvals }) => approvals.length === 1);
    expect(await run.tell({ do: 'retry', agent: S1 })).toBe('finder 1 runs again from the start');
    expect((await run.result).success).toBe(true);
    expect(run.events().flatMap((event) => (event.type === 'approval.answered' ? [event.answer] : []))).toEqual([
      'withdrawn',
    ]);
  });

  it('may skip all that is blocked: nothing is left to ask', async () => {
    const run = testRun({ plan: planOf(['a'], ['b', 'a']), script: failing({ n: 0 }, 9) });
    await run.until(({ approvals }) => approvals.length === 1);
    expect(await run.tell({ do: 'skip', agent: S2 })).toBe('finder 2 skipped');
    expect((await run.result).status).toBe('failed');
    expect(run.state().agents.get(S2)).toMatchObject({ outcome: 'skipped', error: 'skipped by you' });
    expect(await run.refused({ do: 'retry', agent: S2 })).toBe('refused: the run has ended');
  });

  it('may stop: the others are stopped at once', async () => {
    const script = failing({ n: 0 }, 9);
    const run = testRun({
      plan: planOf(['a'], ['b', 'a'], ['c']),
      script: (request, n) => (request.agent === S3 ? never : script(request, n)),
    });
    const { approvals } = await run.until((state) => state.approvals.length === 1);
    await run.tell({ do: 'answer', approval: approvals[0]?.id ?? '', allow: true, scope: 'once', text: 'stop' });
    expect((await run.result).status).toBe('stopped');
    expect(outcomesOf(run)[2]).toEqual([S3, null]);
  });
});

describe('a plan on the table', () => {
  it('takes one decision, even when several come in one breath', async () => {
    const run = testRun({ approval: 'person' });
    const { planDigest } = await run.until(({ phase }) => phase === 'approving');
    const answers = await Promise.all([
      run.tell({ do: 'approve plan', digest: planDigest }),
      run.tell({ do: 'reject plan' }),
      run.tell({ do: 'plan again', hint: '' }),
    ]);
    expect(answers).toEqual([
      'plan approved',
      'refused: there is no plan waiting for you',
      'refused: there is no plan waiting for you',
    ]);
    expect((await run.result).success).toBe(true);
  });
});
