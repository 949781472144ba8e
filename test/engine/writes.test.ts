/** What tasks may change, and the order that follows from it, in whole runs. */
import { describe, expect, it } from 'vitest';
import type { ToolContext, ToolPort } from '../../src/ports/tool.ts';
import { z } from 'zod';
import { pendingWords } from '../../src/app/views/index.ts';
import { AGENT, filed, ROLES, testRun, type TestRun } from '../support/run.ts';

const [S1, S2] = [AGENT('ROOT::S1'), AGENT('ROOT::S2')];

const oracle = (id: string, more: object): object => ({
  id,
  description: `do ${id}`,
  role: 'oracle',
  model: 'fast',
  ...more,
});
const plan = (...tasks: readonly object[]): unknown => ({ reason: '', tasks });

/** Who began and ended, in order. */
const course = (run: TestRun): readonly string[] =>
  run.events().flatMap((event) => {
    if (event.type === 'agent.status' && event.status === 'running' && event.agent !== 'ROOT')
      return [`begin ${event.agent}`];
    return event.type === 'agent.finished' && event.agent !== 'ROOT' ? [`end ${event.agent}: ${event.outcome}`] : [];
  });

const pendingIn = (run: TestRun): string => {
  const two = run.state().agents.get(S2);
  return two === undefined ? '' : pendingWords(two, run.state());
};

describe('Two tasks that may change the same file', () => {
  it.each([
    ['completes', 'completed'],
    ['fails', 'failed'],
  ])('run one after the other, and the second begins also where the first %s', async (_, outcome) => {
    const run = testRun({
      plan: plan(oracle('a', { writes: ['src/**'] }), oracle('b', { writes: ['src/*.ts'] })),
      person: false,
      script: ({ agent }) =>
        agent === S1 && outcome === 'failed' ? { fault: { is: 'refused', message: 'no' } } : undefined,
    });
    await run.result;
    const [one, two, three] = course(run);
    expect([one, two, three]).toEqual([`begin ${S1}`, `end ${S1}: ${outcome}`, `begin ${S2}`]);
    expect(run.state().plan?.tasks[1]?.after).toEqual([
      { task: 'a', because: 'src/** and src/*.ts may be the same files' },
    ]);
  });

  it('take turns where a person says so: never at once, and the one that is ready first goes first', async () => {
    let waits = '';
    const run = testRun({
      ...filed(
        plan(
          oracle('first', {}),
          oracle('a', { writes: ['src/**'], dependsOn: ['first'] }),
          oracle('b', { writes: ['src/*.ts'], alongside: ['a'] }),
        ),
      ),
      person: false,
      script: async ({ agent, purpose }) => {
        if (purpose.is !== 'work') return undefined;
        const S3 = AGENT('ROOT::S3');
        // It begins although an earlier task of the plan may change the same files, which waits for it then.
        if (agent === S1) await run.until(({ agents }) => agents.get(S3)?.status === 'running');
        if (agent === S3) await run.until(({ agents }) => agents.get(S1)?.outcome === 'completed');
        if (agent === S3) waits = pendingIn(run);
        return undefined;
      },
    });
    await run.result;
    expect(waits).toBe('waiting for #3 oracle 3 (they take turns)');
    const own = course(run).filter((line) => !line.includes(S1));
    expect(own).toEqual([`begin ROOT::S3`, `end ROOT::S3: completed`, `begin ${S2}`, `end ${S2}: completed`]);
    expect(run.state().plan?.tasks.map(({ after = [] }) => after)).toEqual([[], [], []]);
  });

  it('two oracles that may change nothing run at the same time', async () => {
    const both = Promise.withResolvers<void>();
    let begun = 0;
    const run = testRun({
      plan: plan(oracle('a', {}), oracle('b', {})),
      script: async ({ purpose }) => {
        if (purpose.is !== 'work') return undefined;
        begun += 1;
        if (begun === 2) both.resolve();
        await both.promise;
        return undefined;
      },
    });
    expect(await run.result).toMatchObject({ status: 'completed' });
    expect(course(run).slice(0, 2).toSorted()).toEqual([`begin ${S1}`, `begin ${S2}`]);
    expect(run.state().agents.get(S1)).toMatchObject({
      writes: [],
      tools: ['read', 'bash', 'update_todos', 'send_message', 'ask_user'],
    });
  });
});

describe('What an agent may change', () => {
  it('reaches its tools, and its children have the same', async () => {
    const seen: [string, ToolContext['writes']][] = [];
    const port: ToolPort = {
      sandbox: { is: 'bubblewrap' },
      tools: [
        {
          name: 'write',
          description: 'writes',
          input: z.strictObject({}),
          capability: 'write',
          repeat: 'never',
          label: () => 'write',
          run: (_, { agent, writes }) => {
            seen.push([agent, writes]);
            return Promise.resolve({ ok: true, text: 'written' });
          },
        },
        {
          name: 'Task',
          description: 'has a child',
          input: z.strictObject({}),
          capability: 'spawn',
          repeat: 'safe',
          label: () => 'child',
          run: (_, { toolHost }) => toolHost.spawn({ description: 'child', prompt: 'help', role: 'oracle' }),
        },
      ],
    };
    const run = testRun({
      plan: plan(
        oracle('a', { writes: ['docs/**'], maySpawn: true }),
        oracle('b', { writes: ['**'], dependsOn: ['a'] }),
      ),
      port,
      mode: 'yolo',
      roles: ROLES,
      toolsOf: (capabilities) => [
        ...(capabilities.includes('write') ? ['write'] : []),
        ...(capabilities.includes('spawn') ? ['Task'] : []),
      ],
      script: ({ agent, purpose }, n) => {
        if (purpose.is !== 'work' || n > 0) return undefined;
        const calls = [{ tool: 'write', input: {} }, ...(agent === S1 ? [{ tool: 'Task', input: {} }] : [])];
        return { text: '', calls };
      },
    });
    await run.result;
    expect(seen).toEqual([
      [S1, ['docs/**']],
      ['ROOT::S1::S1', ['docs/**']],
      [S2, undefined],
    ]);
    const created = run
      .events()
      .flatMap((event) =>
        event.type === 'agent.created' && event.agent !== 'ROOT' ? [[event.agent, event.writes]] : [],
      );
    expect(created).toEqual([
      [S1, ['docs/**']],
      [S2, ['**']],
      ['ROOT::S1::S1', ['docs/**']],
    ]);
  });
});
