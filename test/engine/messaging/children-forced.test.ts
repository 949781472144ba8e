import { describe, expect, it } from 'vitest';
import { spawned } from '../../support/children.ts';
import { forcedRun, forcing, gatesOf, verdict, writing } from '../../support/forced.ts';
import { AGENT, filed, planOf, type Setting, type TestRun } from '../../support/run.ts';

const S1 = AGENT('ROOT::S1');
const S2 = AGENT('ROOT::S2');

/** A plan of one reader, which waits for `go`; what S1 and S2 do besides is said by `script`. */
function reading(script: NonNullable<Setting['script']>): {
  readonly run: TestRun;
  readonly go: PromiseWithResolvers<void>;
} {
  const go = Promise.withResolvers<void>();
  const run = forcedRun({
    plan: planOf(['a'], ['b']),
    forced: [forcing(['on-write'])],
    script: async (request, n) => {
      if (request.purpose.is !== 'work') return undefined;
      if (request.purpose.role === 'security') return n === 0 ? verdict(true) : undefined;
      if (request.agent === S1 && n === 0) await go.promise;
      return script(request, n);
    },
  });
  return { run, go };
}
const inTurn = (run: TestRun): Promise<unknown> => run.until(({ agents }) => agents.get(S1)?.iterations === 1);

describe('work beside the plan', () => {
  it('of a child that writes is judged as that of a task, though the plan has nobody who does (O137, A05)', async () => {
    const { run, go } = reading(({ agent }, n) =>
      agent === 'ROOT::S3' && n === 0 ? writing('a.ts', 'bad') : undefined,
    );
    await inTurn(run);
    expect(await spawned(run, 'ROOT', { role: 'oracle' })).toBe('ROOT::S3');
    await run.until(({ gates }) => gates.length > 0);
    go.resolve();
    expect(await run.result).toMatchObject({ success: true });
    expect(gatesOf(run)).toEqual([['ROOT::S3', 'on-write', true, 'passed: nothing found']]);
  });

  it('that did not pass fails the run (O137)', async () => {
    const go = Promise.withResolvers<void>();
    const run = forcedRun({
      ...filed(planOf(['a'])),
      script: async ({ agent, purpose }, n) => {
        if (purpose.is !== 'work') return undefined;
        if (purpose.role === 'security') return n === 0 ? verdict(false, 'a.ts:1') : undefined;
        if (agent === S1) await go.promise;
        return agent === S2 && n === 0 ? writing('a.ts', 'bad') : undefined;
      },
    });
    await inTurn(run);
    await spawned(run, 'ROOT', { role: 'oracle' });
    await run.until(({ gates }) => gates.length > 0);
    go.resolve();
    expect(await run.result).toMatchObject({ success: false, status: 'failed' });
    expect(gatesOf(run)).toEqual([[S2, 'on-write', false, 'did not pass: not safe']]);
  });
});
