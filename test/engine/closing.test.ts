/** The last turn of an agent: told before, without tools, and handed over as a real answer (O091, O092, D31, D40). */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { tokensOf } from '../../src/domain/budget.ts';
import type { ModelRequest } from '../../src/ports/model.ts';
import type { ToolResult } from '../../src/domain/turn.ts';
import type { Tool } from '../../src/ports/tool.ts';
import {
  AGENT,
  calling,
  filed,
  planOf,
  ROLES,
  type Script,
  type Setting,
  type TestRun,
  testRun,
} from '../support/run.ts';
import { fakeWorld } from '../support/world.ts';

const [S1, S2] = [AGENT('ROOT::S1'), AGENT('ROOT::S2')];
const withTurns = (iterations: number): Pick<Setting, 'roles'> => ({
  roles: ROLES.map((role) => ({ ...role, iterations })),
});
const asks = (request: ModelRequest): boolean => request.toolChoice === 'none';
/** Reads something new at each turn, and answers `answer` where no tool may be called. */
const busy =
  (answer: string, usage = {}): Script =>
  (request, n) => {
    if (request.agent !== S1 || request.purpose.is !== 'work') return undefined;
    return asks(request) ? { text: answer, usage } : { ...calling(`read ${n}`), text: `step ${n}`, usage };
  };
const lastResult = ({ turns }: ModelRequest): string => {
  const turn = turns.findLast(({ by }) => by === 'tools');
  const results: readonly ToolResult[] = turn?.by === 'tools' ? turn.results : [];
  return results.at(-1)?.text ?? '';
};
async function ran(setting: Setting): Promise<{ readonly run: TestRun; readonly requests: readonly ModelRequest[] }> {
  const requests: ModelRequest[] = [];
  const run = testRun({ person: false, record: (request) => requests.push(request), ...setting });
  await run.result;
  return { run, requests: requests.filter(({ agent, purpose }) => agent === S1 && purpose.is === 'work') };
}
const endOf = (run: TestRun, id = S1): unknown => {
  const { outcome, error, summary } = run.state().agents.get(id) ?? {};
  return { outcome, error, summary };
};

describe('an agent that comes to its last turn', () => {
  it('is told three turns before and at the last, in its tool results, and answers without tools (O091)', async () => {
    const { run, requests } = await ran({ ...withTurns(6), script: busy('a is in b.ts:3; c is left') });
    expect(requests.map(lastResult)).toEqual([
      '',
      'read did 0',
      'read did 1',
      'read did 2\n\n(Mimir: you have 3 turns left. The last one is for your answer and cannot call tools. Do the most important work now.)',
      'read did 3',
      'read did 4\n\n(Mimir: Max iterations reached. This is your last turn; it cannot call tools. Answer now: what you did and found, with `path:line`, and what is left to do.)',
    ]);
    expect(requests.map(asks)).toEqual([false, false, false, false, false, true]);
    expect(new Set(requests.map(({ tools }) => JSON.stringify(tools))).size).toBe(1);
    expect(endOf(run)).toEqual({
      outcome: 'partial',
      error: 'Max iterations reached',
      summary: 'a is in b.ts:3; c is left',
    });
  });

  it('hands its answer to those that need it: they start, and are told that it is partial (D40)', async () => {
    const told: string[] = [];
    const { run } = await ran({
      ...withTurns(4),
      plan: planOf(['a'], ['b', 'a']),
      script: (request, n) => {
        if (request.agent === S2 && request.purpose.is === 'work')
          told.push(request.turns[0]?.by === 'user' ? request.turns[0].text : '');
        return busy('half of it is in b.ts:3')(request, n);
      },
    });
    expect(run.state().agents.get(S2)?.outcome).toBe('completed');
    expect(told[0]).toContain('half of it is in b.ts:3');
    expect(told[0]).toContain('It was ended early (Max iterations reached): its answer may be incomplete.');
  });

  it('runs no tool when it calls one all the same, and is asked once more', async () => {
    const acts: string[] = [];
    const { run, requests } = await ran({
      ...withTurns(3),
      acts,
      script: (request, n) =>
        request.agent !== S1 || request.purpose.is !== 'work'
          ? undefined
          : n < 3
            ? calling(`read ${n}`)
            : { text: 'here it is' },
    });
    expect([acts, requests.map(asks)]).toEqual([
      ['read 0', 'read 1'],
      [false, false, true, true],
    ]);
    expect(lastResult(requests[3] ?? requests[0]!)).toMatch(/^Not run: no tool can be called in the last turn/);
    expect(endOf(run)).toMatchObject({ outcome: 'partial', summary: 'here it is' });
  });

  it('that never answers hands over its last words, marked as such', async () => {
    const script: Script = ({ agent, purpose }, n) =>
      agent === S1 && purpose.is === 'work' ? { ...calling(`read ${n}`), text: n < 2 ? `step ${n}` : '' } : undefined;
    const { run } = await ran({ ...withTurns(3), script });
    expect(endOf(run)).toMatchObject({
      outcome: 'partial',
      summary: '(Partial: no turn was left for a final answer. The last message follows.)\n\nstep 1',
    });
  });

  it('reads the same when it is resumed: the sentences are in the log', async () => {
    const first = testRun({ person: false, ...withTurns(6), script: busy('an answer') });
    await first.result;
    const requests: ModelRequest[] = [];
    const run = testRun({
      log: first.log,
      person: false,
      ...withTurns(6),
      record: (request) => requests.push(request),
      script: busy('another answer'),
    });
    await run.result;
    expect([endOf(run), requests.filter(({ agent }) => agent === S1)]).toEqual([
      { outcome: 'partial', error: 'Max iterations reached', summary: 'an answer' },
      [],
    ]);
  });
});

describe('an agent that comes to a limit', () => {
  const plan = (budget: object): unknown => ({
    reason: '',
    tasks: [
      { id: 'a', description: 'do a', role: 'finder', model: 'fast', budget },
      { id: 'b', description: 'do b', role: 'finder', model: 'fast', dependsOn: ['a'] },
    ],
  });

  it.each([
    [{ maxTokens: 25_000 }, 'tokens'],
    [{ maxCost: 0.1 }, 'cost'],
  ] as const)('of %j answers before it is used up, and its dependants start (O092)', async (budget, what) => {
    const { run, requests } = await ran({ plan: plan(budget), script: busy('what there is', { output: 1500 }) });
    const { outcome, error, summary } = run.state().agents.get(S1) ?? {};
    expect([outcome, summary, requests.map(asks).lastIndexOf(false)]).toEqual([
      'partial',
      'what there is',
      requests.length - 2,
    ]);
    expect(error).toMatch(new RegExp(`^Budget exceeded: the agent's ${what} `));
    expect(requests.length).toBeGreaterThan(5);
    expect(lastResult(requests.at(-1)!)).toContain(`(Mimir: ${error}. This is your last turn`);
    expect(run.state().agents.get(S2)?.outcome).toBe('completed');
  });

  it('of the run leaves all that share it their answers', async () => {
    const ids = ['a', 'b', 'c', 'd'].map((id): [string] => [id]);
    const script: Script = (request, n) =>
      request.purpose.is !== 'work'
        ? undefined
        : asks(request)
          ? { text: `answer of ${request.agent}` }
          : { ...calling(`read ${n}`), text: `step ${n}`, usage: { output: 1000 } };
    const run = testRun({ plan: planOf(...ids), person: false, runBudget: { maxTokens: 150_000 }, script });
    await run.result;
    const ends = [...run.state().agents.values()].slice(1).map(({ outcome, summary }) => [outcome, summary]);
    expect(ends).toEqual([1, 2, 3, 4].map((n) => ['partial', `answer of ROOT::S${n}`]));
  });
});

describe('what a limit keeps for the closing answer of an agent', () => {
  it('is there for others when the agent has ended', async () => {
    const maxTokens = 9000;
    const script: Script = (request, n) =>
      request.agent === S1 && request.purpose.is === 'work' && n === 0 ? calling('read a') : undefined;
    const run = testRun({ plan: planOf(['a'], ['b', 'a']), person: false, runBudget: { maxTokens }, script });
    await run.result;
    const begun = run.events().findIndex((event) => event.type === 'model.started' && event.agent === S2);
    const before = run.events().slice(0, begun);
    const used = before.flatMap((event) => (event.type === 'model.finished' ? [tokensOf(event.usage)] : []));
    expect(run.events()[begun]).toMatchObject({
      reserved: { tokens: used.reduce((left, tokens) => left - tokens, maxTokens) },
    });
  });
});

describe('an agent whose time is up', () => {
  it('answers in what is kept of it for that', async () => {
    const world = fakeWorld();
    const { run, requests } = await ran({
      world,
      plan: { reason: '', tasks: [{ id: 'a', description: 'do a', role: 'finder', budget: { maxDuration: 10_000 } }] },
      script: async (request, n) => {
        if (request.agent === S1 && request.purpose.is === 'work' && !asks(request)) await world.advance(1500);
        return busy('what there is')(request, n);
      },
    });
    expect([requests.map(asks), run.state().agents.get(S1)?.outcome, run.state().agents.get(S1)?.summary]).toEqual([
      [false, false, false, false, false, false, true],
      'partial',
      'what there is',
    ]);
    expect(run.events().filter(({ type }) => type === 'budget.exhausted')).toHaveLength(1);
  });
});

describe('an agent that a limit has ended', () => {
  const plan = { reason: '', tasks: [{ id: 'a', description: 'do a', role: 'finder', model: 'fast' }] };

  it('goes on in a resumed run whose limit is higher, and ends with the same answer where it is not', async () => {
    const script: Script = (request, n) => {
      if (request.agent !== S1 || request.purpose.is !== 'work') return undefined;
      const said = request.turns.filter(({ by }) => by === 'model').length;
      if (asks(request)) return { text: 'half of it' };
      return said < 9 ? { ...calling(`read ${said}`), usage: { output: 1000 } } : { text: `the rest, ${n > 0}` };
    };
    const first = testRun({ ...filed(plan), person: false, runBudget: { maxTokens: 15_000 }, script });
    await first.result;
    const end = { outcome: 'partial', summary: 'half of it' };
    expect(endOf(first)).toMatchObject(end);
    const calls = (run: TestRun): number => run.events().filter(({ type }) => type === 'model.started').length;
    const before = calls(first);
    const same = testRun({ ...filed(plan), log: first.log, person: false, runBudget: { maxTokens: 15_000 }, script });
    await same.result;
    expect([endOf(same), calls(same) - before]).toEqual([expect.objectContaining(end), 0]);
    const higher = testRun({ ...filed(plan), log: first.log, person: false, runBudget: { maxTokens: 90_000 }, script });
    await higher.result;
    const { outcome, error, summary } = higher.state().agents.get(S1) ?? {};
    expect([outcome, error]).toEqual(['completed', null]);
    expect(summary).toContain('the rest');
  });
});

describe('an agent that goes in circles', () => {
  it('is told at the third equal result and ended at the sixth, with an answer', async () => {
    const acts: string[] = [];
    const { run, requests } = await ran({
      acts,
      script: (request) =>
        request.agent !== S1 || request.purpose.is !== 'work'
          ? undefined
          : asks(request)
            ? { text: 'it does not change' }
            : calling('read same'),
    });
    expect(acts.length).toBe(6);
    expect(requests.map(lastResult).slice(1, 6)).toEqual([
      'read did same',
      'read did same',
      ...[3, 4, 5].map(
        (n) =>
          `read did same\n\n(Mimir: the same call has given the same result ${n} times in a row. Do something else, or answer.)`,
      ),
    ]);
    expect(endOf(run)).toEqual({
      outcome: 'partial',
      error: 'Loop detected: the same calls with the same results 6 times in a row',
      summary: 'it does not change',
    });
  });

  it('makes progress where equal calls give other results', async () => {
    let times = 0;
    const read: Tool = {
      name: 'read',
      description: 'reads what changes',
      input: z.unknown(),
      capability: 'read',
      repeat: 'safe',
      label: () => 'read',
      run: () => Promise.resolve({ ok: true, text: `${(times += 1)} of 12 are done` }),
    };
    const { run } = await ran({
      port: { tools: [read], sandbox: { is: 'none', because: 'a test' } },
      script: ({ agent, purpose }, n) =>
        agent === S1 && purpose.is === 'work' && n < 12 ? calling('read same') : undefined,
    });
    expect(endOf(run)).toMatchObject({ outcome: 'completed' });
  });
});
