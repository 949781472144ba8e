/** A retry runs again what failed, with the failure in its brief, and what was skipped behind it. */
import { describe, expect, it } from 'vitest';
import { SessionId } from '../../../src/domain/ids.ts';
import type { MimirEvent } from '../../../src/events/event.ts';
import { retryOf } from '../../../src/events/control.ts';
import type { ModelRequest } from '../../../src/ports/model.ts';
import { cutLog, memoryLog } from '../../support/log.ts';
import { AGENT, planOf, RULES, type Setting, type TestRun, testRun } from '../../support/run.ts';
import { fakeWorld } from '../../support/world.ts';

const SESSION = SessionId.parse('test-session');
const S1 = AGENT('ROOT::S1');
const S2 = AGENT('ROOT::S2');
const S3 = AGENT('ROOT::S3');
const never = new Promise<undefined>(() => {});
const REFUSED = { text: 'I will not.', stopReason: 'refused' } as const;

const withRule = (value: 'ask' | 'retry' | 'skip'): typeof RULES => ({
  ...RULES,
  onFailure: { ...RULES.onFailure, value },
});

/** Three tasks: the first fails while `fails` says so, the second needs it, the third is on its own. */
const story = (fails: (attempt: number) => boolean, asked: ModelRequest[] = []): Setting => {
  let attempts = 0;
  return {
    plan: planOf(['a'], ['b', 'a'], ['c']),
    rules: withRule('skip'),
    script: (request) => {
      if (request.purpose.is === 'work') asked.push(request);
      if (request.agent !== S1 || request.purpose.is !== 'work') return undefined;
      attempts += 1;
      return fails(attempts) ? REFUSED : undefined;
    },
  };
};

const outcomes = (run: TestRun): readonly unknown[] =>
  [S1, S2, S3].map((id) => run.state().agents.get(id)?.outcome ?? null);

/** The run that is resumed with the log of `before`, under names of its own. */
function resumed(before: readonly MimirEvent[], setting: Setting): TestRun {
  let names = 0;
  const name = (): string => `again-${(names += 1)}`;
  return testRun({ ...setting, log: cutLog(SESSION, before), world: { ...fakeWorld(), name } });
}

async function failedRun(): Promise<TestRun> {
  const run = testRun({ ...story(() => true), log: memoryLog() });
  await run.result;
  expect(outcomes(run)).toEqual(['failed', 'skipped', 'completed']);
  expect(run.state().finished?.status).toBe('failed');
  return run;
}

describe('a resume of a run that failed', () => {
  it('runs the failed task and the one skipped behind it again, and nothing else', async () => {
    const before = await failedRun();
    expect(retryOf(before.state())).toEqual({ failed: [S1], behind: [S2] });
    const asked: ModelRequest[] = [];
    const run = resumed(
      before.events(),
      story(() => false, asked),
    );
    expect((await run.result).status).toBe('completed');
    expect(outcomes(run)).toEqual(['completed', 'completed', 'completed']);
    expect(asked.map(({ agent }) => agent)).toEqual([S1, S2]);
  });

  it('tells the new attempt why the one before it failed', async () => {
    const before = await failedRun();
    const asked: ModelRequest[] = [];
    await resumed(
      before.events(),
      story(() => false, asked),
    ).result;
    const [first] = asked[0]?.turns ?? [];
    expect(first?.by === 'user' ? first.text.split("\n\n## The person's task")[0] : first).toBe(
      [
        'do a',
        '## The previous attempt',
        'This task was tried before, and that attempt failed. Its changes to files may still be there: look before you change them.',
        'Why it failed:',
        'The model refused to continue',
      ].join('\n\n'),
    );
    expect(JSON.stringify(asked[1]?.turns)).not.toContain('The previous attempt');
  });

  it('leaves a task out that a person had left out', async () => {
    const first = testRun({
      ...story(() => true),
      rules: withRule('ask'),
      script: ({ agent, purpose }) =>
        purpose.is !== 'work' ? undefined : agent === S1 ? REFUSED : agent === S3 ? never : undefined,
    });
    await first.until(({ agents }) => agents.get(S1)?.outcome === 'failed');
    await first.tell({ do: 'skip', agent: S2 });
    await first.tell({ do: 'kill', agent: S3 });
    await first.result;
    expect(retryOf(first.state())).toEqual({ failed: [S1, S3], behind: [] });
    const run = resumed(
      first.events(),
      story(() => false),
    );
    await run.result;
    expect(outcomes(run)).toEqual(['completed', 'skipped', 'completed']);
  });

  it('is retried as often as it is resumed', async () => {
    const again = resumed(
      (await failedRun()).events(),
      story(() => true),
    );
    await again.result;
    expect(outcomes(again)).toEqual(['failed', 'skipped', 'completed']);
    const last = resumed(
      again.events(),
      story(() => false),
    );
    expect((await last.result).status).toBe('completed');
  });

  it('is taken up again where a crash cut the retry off', async () => {
    const events = (await failedRun()).events();
    const whole = resumed(
      events,
      story(() => false),
    );
    await whole.result;
    const began = whole.events().findIndex((event) => event.type === 'model.started' && event.agent === S1);
    const cutAt = whole
      .events()
      .findLastIndex((event) => event.type === 'agent.status' && event.reason === 'tried again');
    expect(began).toBeGreaterThan(0);
    const run = resumed(
      whole.events().slice(0, cutAt + 2),
      story(() => false),
    );
    expect((await run.result).status).toBe('completed');
    expect(outcomes(run)).toEqual(['completed', 'completed', 'completed']);
  });
});

describe('a retry while the run is at work', () => {
  it('brings back what was skipped behind the failure', async () => {
    const run = testRun({
      ...story((attempt) => attempt === 1),
      script: ({ agent, purpose }, n) => {
        if (purpose.is !== 'work') return undefined;
        if (agent === S3) return never;
        return agent === S1 && n === 0 ? REFUSED : undefined;
      },
    });
    await run.until(({ agents }) => agents.get(S2)?.outcome === 'skipped');
    expect(await run.tell({ do: 'retry', agent: S1 })).toBe('finder 1 runs again from the start');
    await run.until(({ agents }) => agents.get(S2)?.outcome === 'completed');
    run.stop('enough');
    await run.result;
    expect(outcomes(run).slice(0, 2)).toEqual(['completed', 'completed']);
  });
});

describe('the rule onFailure: retry', () => {
  it('runs a failed task once more, also where no other task needs it', async () => {
    const asked: ModelRequest[] = [];
    const run = testRun({ ...story(() => true, asked), plan: planOf(['a']), rules: withRule('retry') });
    expect((await run.result).status).toBe('failed');
    expect(asked.filter(({ agent }) => agent === S1).length).toBe(2);
  });

  it('lets what needs the task run when the second attempt completes', async () => {
    const run = testRun({ ...story((attempt) => attempt === 1), rules: withRule('retry') });
    expect((await run.result).status).toBe('completed');
    expect(outcomes(run)).toEqual(['completed', 'completed', 'completed']);
  });
});
