import { describe, expect, it } from 'vitest';
import { builtIn } from '../../../src/policy/rules.ts';
import { boxedTools } from '../../support/boxed.ts';
import { AGENT, calling, planOf, RULES, says, type Setting, type TestRun, testRun } from '../../support/run.ts';

const S1 = AGENT('ROOT::S1');

/** One agent that runs these commands one after the other, in a sandbox. */
const running = (commands: readonly string[], acts: string[], setting: Setting = {}): TestRun =>
  testRun({
    plan: planOf(['o'], ['a']),
    port: boxedTools({ acts }),
    script: says({ [S1]: commands.map((command) => calling(`bash ${command}`)) }),
    ...setting,
  });

const asked = async (run: TestRun): Promise<{ id: string; programs: unknown; exact: string }> => {
  const { approvals } = await run.until((state) => state.approvals.length === 1);
  const [{ id, request } = { id: '', request: undefined }] = approvals;
  return { id, programs: request?.programs, exact: request?.exact ?? '' };
};

const ran = (acts: readonly string[]): readonly string[] => acts.map((act) => act.replace(/^bash | \(.*$/g, ''));

describe('a program that was allowed for the session', () => {
  it('runs with other arguments without a question, and no other program does', async () => {
    const acts: string[] = [];
    const run = running(['npm test', 'npm test -- a', 'npm publish', 'npm test && rm x'], acts);
    const first = await asked(run);
    expect(first.programs).toEqual([['npm', 'test']]);
    expect(await run.tell({ do: 'answer', approval: first.id, allow: true, scope: 'program' })).toBe(
      'always allowed npm test … for this session: commands that run only npm test …, in the sandbox',
    );
    const second = await asked(run);
    expect(second.exact).toBe('npm publish');
    await run.tell({ do: 'answer', approval: second.id, allow: false, scope: 'once', text: 'not today' });
    const third = await asked(run);
    expect(third.programs).toEqual([['npm', 'test'], ['rm']]);
    await run.tell({ do: 'answer', approval: third.id, allow: true, scope: 'once' });
    await run.result;
    expect(ran(acts)).toEqual(['npm test', 'npm test -- a', 'npm test && rm x']);
  });

  it('is judged by the rules each time: deny wins, a rule that asks is not covered, what destroys asks', async () => {
    const rule = (list: string, words: string): { words: string[]; from: ReturnType<typeof builtIn> } => ({
      words: words.split(' '),
      from: builtIn(`commands.${list}`),
    });
    const commands = { allow: [], ask: [rule('ask', 'npm test prod')], deny: [rule('deny', 'npm test evil')] };
    const acts: string[] = [];
    const run = running(['npm test', 'npm test evil', 'npm test prod', 'rm a', 'rm -rf /'], acts, {
      rules: { ...RULES, commands },
    });
    await run.tell({ do: 'answer', approval: (await asked(run)).id, allow: true, scope: 'program' });
    const prod = await asked(run);
    expect([prod.exact, prod.programs]).toEqual(['npm test prod', undefined]);
    await run.tell({ do: 'answer', approval: prod.id, allow: false, scope: 'once' });
    await run.tell({ do: 'answer', approval: (await asked(run)).id, allow: true, scope: 'program' });
    const wide = await asked(run);
    expect([wide.exact, wide.programs]).toEqual(['rm -rf /', undefined]);
    expect(run.state().approvals[0]?.request.destroys).toBe('rm of everything in /');
    await run.tell({ do: 'answer', approval: wide.id, allow: false, scope: 'once' });
    await run.result;
    expect(ran(acts)).toEqual(['npm test', 'rm a']);
  });

  it('is listed, can be withdrawn, and asks again then', async () => {
    const acts: string[] = [];
    const run = running(['npm test', 'npm test a'], acts, {
      wait: undefined,
      script: ({ agent, purpose }, n) => {
        if (agent !== S1 || purpose.is !== 'work') return undefined;
        if (n === 1) void run.tell({ do: 'withdraw grant', grant: run.state().grants[0]?.id ?? '' });
        return [calling('bash npm test'), calling('bash npm test a')][n];
      },
    });
    const first = await asked(run);
    await run.tell({ do: 'answer', approval: first.id, allow: true, scope: 'program' });
    expect(run.state().grants.map(({ id, agent, scope, programs }) => ({ id, agent, scope, programs }))).toEqual([
      { id: first.id, agent: S1, scope: 'program', programs: [['npm', 'test']] },
    ]);
    const second = await asked(run);
    expect([second.exact, run.state().grants]).toEqual(['npm test a', []]);
    expect(await run.refused({ do: 'withdraw grant', grant: first.id })).toBe(
      'refused: no such grant (already withdrawn)',
    );
    await run.tell({ do: 'answer', approval: second.id, allow: true, scope: 'once' });
    await run.result;
  });

  it('survives a resume of the run', async () => {
    const acts: string[] = [];
    const first = running(['npm test'], acts, {
      script: ({ agent, purpose }, n) => {
        if (agent !== S1 || purpose.is !== 'work') return undefined;
        if (n === 1) first.stop('enough');
        return n === 0 ? calling('bash npm test') : undefined;
      },
    });
    await first.tell({ do: 'answer', approval: (await asked(first)).id, allow: true, scope: 'program' });
    await first.result;
    const second = running([], acts, {
      log: first.log,
      script: ({ agent, purpose }, n) =>
        agent === S1 && purpose.is === 'work' && n === 1 ? calling('bash npm test again') : undefined,
    });
    expect((await second.result).success).toBe(true);
    expect(ran(acts)).toEqual(['npm test', 'npm test again']);
  });
});

describe('a file that was allowed for the session', () => {
  it('is allowed once where the question names no file', async () => {
    const acts: string[] = [];
    const run = testRun({
      plan: planOf(['o'], ['a']),
      acts,
      script: says({ [S1]: [calling('write a'), calling('write b')] }),
    });
    expect(await run.tell({ do: 'answer', approval: (await asked(run)).id, allow: true, scope: 'file' })).toBe(
      'allowed once: write a',
    );
    await run.tell({ do: 'answer', approval: (await asked(run)).id, allow: false, scope: 'once', text: 'not b' });
    await run.result;
    expect(acts).toEqual(['write a']);
  });
});
