/** What an agent is made of, what it leaves behind, and what agents of a run share. */
import { describe, expect, it } from 'vitest';
import type { EventOf } from '../../../src/events/event.ts';
import { findingsOf } from '../../../src/engine/agents/agent-spec.ts';
import { AGENT, calling, FAST, planOf, ROLES, RULES, says, type TestRun, testRun } from '../../support/run.ts';
import { fakeWorld } from '../../support/world.ts';

const S1 = AGENT('ROOT::S1');
const S2 = AGENT('ROOT::S2');
const created = (run: TestRun): readonly EventOf<'agent.created'>[] =>
  run.events().filter((event) => event.type === 'agent.created');
/** Without its number and its time, which other events decide. */
const bare = (event: object): object =>
  Object.fromEntries(Object.entries(event).filter(([key]) => key !== 'seq' && key !== 'time'));

describe('an agent', () => {
  it('is made from its task of the plan; it starts when it needs nothing (O009, O038 to O040, O042, O051, O052)', async () => {
    const go = Promise.withResolvers<void>();
    const run = testRun({
      plan: {
        reason: '',
        tasks: [
          { id: 'a', description: 'do a', role: 'finder', model: 'fast', estimatedTokens: 600_000 },
          {
            id: 'b',
            description: 'do b',
            role: 'oracle',
            dependsOn: ['a'],
            writes: ['src/**'],
            budget: { maxTokens: 5000, maxCost: 0.5, maxDuration: 60_000 },
          },
        ],
      },
      script: async ({ agent }) => {
        if (agent === S1) await go.promise;
        return undefined;
      },
    });
    const { agents } = await run.until((state) => state.agents.get(S1)?.status === 'running');
    expect(agents.get(S2)?.status).toBe('pending');
    go.resolve();
    await run.result;
    const made = {
      type: 'agent.created',
      parent: 'ROOT',
      iterations: 20,
      v: 1,
      session: 'test-session',
    };
    const own = ['update_todos', 'send_message', 'ask_user'];
    const model = { asked: 'fast', used: FAST, because: null };
    expect(created(run).slice(1).map(bare)).toEqual([
      {
        ...made,
        agent: S1,
        role: 'finder',
        name: 'finder',
        task: 'do a',
        taskId: 'a',
        tools: ['read', ...own],
        budget: {},
        dependsOn: [],
        writes: [],
        model,
      },
      {
        ...made,
        agent: S2,
        role: 'oracle',
        name: 'oracle',
        task: 'do b',
        taskId: 'b',
        tools: ['read', 'write', 'bash', ...own],
        budget: { maxTokens: 5000, maxCost: 0.5, maxDuration: 60_000 },
        dependsOn: [S1],
        writes: ['src/**'],
        model,
      },
    ]);
  });

  it('may use what the rules say of its role in place of what they say of all (D17, O147)', async () => {
    const { from } = RULES.agentBudget;
    const run = testRun({
      rules: {
        ...RULES,
        agentBudget: { value: { maxTokens: 5000 }, from },
        roleBudgets: [{ role: 'oracle', budget: { value: { maxTokens: 9000 }, from } }],
      },
      plan: planOf(['a'], ['o']),
    });
    await run.result;
    expect(
      created(run)
        .slice(1)
        .map(({ role, budget }) => [role, budget.maxTokens]),
    ).toEqual([
      ['finder', 5000],
      ['oracle', 9000],
    ]);
  });

  it('is made on demand by the name of a role: its model and its own limits, nothing of a plan (O010, O014, O035, O158)', async () => {
    const roles = ROLES.map((role) => (role.name === 'explore' ? { ...role, budget: { maxDuration: 30_000 } } : role));
    const input = { description: 'look', prompt: 'look there', subagent_type: 'explore' };
    const run = testRun({
      roles,
      mode: 'yolo',
      plan: { reason: '', tasks: [{ id: 'a', description: 'do a', role: 'oracle', maySpawn: true }] },
      script: says({ [S1]: [{ text: '', calls: [{ tool: 'Task', input }] }] }),
    });
    await run.result;
    expect(created(run).at(-1)).toMatchObject({
      parent: S1,
      role: 'explore',
      task: 'look there',
      taskId: null,
      model: { asked: 'fast', used: FAST, because: null },
      budget: { maxDuration: 30_000 },
    });
  });

  it('that has not begun is gone on with after a stop, not made a second time (O014)', async () => {
    const first = testRun({
      plan: planOf(['a'], ['b', 'a']),
      script: ({ agent }) => (agent === S1 ? new Promise<undefined>(() => {}) : undefined),
    });
    await first.until((state) => state.agents.get(S1)?.status === 'running');
    first.stop('Ctrl-C');
    await first.result;
    expect(first.state().agents.get(S2)?.status).toBe('pending');
    const run = testRun({ log: first.log });
    expect((await run.result).success).toBe(true);
    expect(created(run).map(({ agent }) => agent)).toEqual(['ROOT', S1, S2]);
  });

  it('keeps its list of todos from its first turn on, as its tools get on (O026, O089, O090, O095)', async () => {
    const todos = (...done: readonly boolean[]) =>
      done.map((is, index) => ({ description: `step ${index + 1}`, status: is ? 'completed' : 'pending' }));
    const listing = (...done: readonly boolean[]) => ({ tool: 'update_todos', input: { todos: todos(...done) } });
    const run = testRun({
      plan: planOf(['a']),
      script: says({
        [S1]: [
          { text: '', calls: [listing(false, false)] },
          { text: '', calls: [...(calling('read x').calls ?? []), listing(true, false)] },
          { text: '', calls: [...(calling('read y').calls ?? []), listing(true, true)] },
        ],
      }),
    });
    await run.result;
    const lists = run.events().flatMap((event) => (event.type === 'agent.todos' ? [event.todos] : []));
    expect(lists).toEqual([todos(false, false), todos(true, false), todos(true, true)]);
    expect(run.state().agents.get(S1)?.todos).toEqual(todos(true, true));
  });

  it('ends with its result and its measures (O020, O025, O045, O062, O093)', async () => {
    const world = fakeWorld();
    const go = Promise.withResolvers<void>();
    const run = testRun({
      world,
      plan: planOf(['a']),
      script: async ({ agent }, n) => {
        if (agent !== S1) return undefined;
        if (n === 1) await go.promise;
        const usage = { input: 1000, output: 100 };
        return n === 0 ? { ...calling('read x'), usage } : { text: 'found', usage };
      },
    });
    await run.until(({ agents }) => agents.get(S1)?.iterations === 2);
    const begin = world.now();
    await world.advance(4000);
    go.resolve();
    await run.result;
    const ended = run.events().find((event) => event.type === 'agent.finished' && event.agent === S1);
    expect(ended).toMatchObject({
      agent: S1,
      status: 'completed',
      outcome: 'completed',
      summary: 'found',
      error: null,
      metrics: {
        startTime: new Date(begin).toISOString(),
        endTime: new Date(begin + 4000).toISOString(),
        duration: 4000,
        tokensUsed: 2200,
        // 1 dollar a million in, 5 out.
        cost: 0.003,
        iterations: 2,
        toolCalls: 1,
      },
    });
  });
});

describe('agents of a run', () => {
  it('share what is in the log: the folder, the session, what was found and what was allowed (O017, O018, O047)', async () => {
    const run = testRun({ plan: planOf(['o'], ['b', 'o']), script: says({ [S1]: [calling('write x')] }) });
    const { approvals } = await run.until((state) => state.approvals.length === 1);
    await run.tell({ do: 'answer', approval: approvals[0]?.id ?? '', allow: true, scope: 'session' });
    await run.result;
    const state = run.state();
    expect([state.cwd, state.session, [...state.agents.keys()]]).toEqual([
      '/project',
      'test-session',
      ['ROOT', S1, S2],
    ]);
    expect(findingsOf(state, [S1])).toEqual([
      { agent: S1, task: 'o', role: 'oracle', description: 'do o', outcome: 'completed', summary: 'ROOT::S1 is done' },
    ]);
    expect(run.events().find(({ type }) => type === 'approval.answered')).toMatchObject({
      agent: S1,
      answer: 'allowed',
      scope: 'session',
    });
  });

  it('send messages with sender, receiver, kind, words and time (O046, O139)', async () => {
    const run = testRun({
      plan: planOf(['a']),
      script: says({
        [S1]: [{ text: '', calls: [{ tool: 'send_message', input: { to: 'orchestrator', content: 'half done' } }] }],
      }),
    });
    await run.result;
    const sent = run.events().filter(({ type }) => type === 'message.sent');
    expect(sent.map(({ time }) => Number.isNaN(Date.parse(time)))).toEqual([false]);
    expect(sent.map(bare)).toEqual([
      {
        type: 'message.sent',
        agent: S1,
        from: S1,
        to: 'ROOT',
        kind: 'status',
        delivery: 'important',
        content: 'half done',
        v: 1,
        session: 'test-session',
      },
    ]);
  });

  it('really work at once, and never more of them than the rules let (O003, O130)', async () => {
    for (const value of [1, 3]) {
      let [now, most] = [0, 0];
      const go = Promise.withResolvers<void>();
      const run = testRun({
        plan: planOf(['a'], ['b'], ['c'], ['d']),
        rules: { ...RULES, maxParallelAgents: { ...RULES.maxParallelAgents, value } },
        script: async ({ purpose }) => {
          if (purpose.is !== 'work') return undefined;
          now += 1;
          most = Math.max(most, now);
          if (now === value) go.resolve();
          await go.promise;
          now -= 1;
          return undefined;
        },
      });
      expect((await run.result).success).toBe(true);
      expect(most).toBe(value);
    }
  });
});
