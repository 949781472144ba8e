import { describe, expect, it } from 'vitest';
import { committed } from '../../src/events/queries.ts';
import type { ScriptedReply } from '../support/scripted.ts';
import type { ModelRequest } from '../../src/ports/model.ts';
import { AGENT, calling, filed, planOf, RULES, type Setting, type TestRun, testRun } from '../support/run.ts';

const S1 = AGENT('ROOT::S1');
const CHILD = AGENT('ROOT::S1::S1');
const GRANDCHILD = AGENT('ROOT::S1::S1::S1');
const never = new Promise<undefined>(() => {});

const spawning = (role = 'explore', prompt = 'look there'): ScriptedReply => ({
  text: '',
  calls: [{ tool: 'Task', input: { description: 'look', prompt, subagent_type: role } }],
});
const SPAWNS = { id: 't', description: 'do t', role: 'oracle', maySpawn: true } as const;
const planWith = (role: string, maySpawn: boolean): unknown => ({ reason: '', tasks: [{ ...SPAWNS, role, maySpawn }] });
/** What each agent of the plan says first; nothing of theirs below. */
const spawnFirst =
  (first: ScriptedReply): NonNullable<Setting['script']> =>
  ({ purpose, agent }, n) =>
    purpose.is === 'work' && n === 0 && agent.split('::').length === 2 ? first : undefined;
const ofS1 =
  (first: ScriptedReply, child?: Setting['script']): NonNullable<Setting['script']> =>
  (request, n) => {
    if (request.purpose.is !== 'work') return undefined;
    if (request.agent === S1 && n === 0) return first;
    return request.agent === S1 ? undefined : child?.(request, n);
  };
/** A run whose one agent may spawn, in yolo mode. */
const parentRun = (setting: Setting): TestRun =>
  testRun({ ...filed(setting.plan ?? planWith('oracle', true)), mode: 'yolo', ...setting });
const results = (run: TestRun, agent: string = S1): [boolean, string][] =>
  run
    .events()
    .flatMap((event) => (event.type === 'tool.finished' && event.agent === agent ? [[event.ok, event.output]] : []));

describe('a child made by the Task tool', () => {
  it('is made only where the plan says so (D1)', async () => {
    const run = testRun({ ...filed(planOf(['o'])), mode: 'yolo', script: ofS1(spawning()) });
    await run.result;
    expect(results(run)).toEqual([[false, 'Tool not found: Task']]);
  });

  it('gives its final text and nothing else; the parent grows by one call and one result (D15, I002 to I005, O004, T019 to T021)', async () => {
    const seen: ModelRequest[] = [];
    const of = (agent: string): ModelRequest[] => seen.filter((request) => request.agent === agent);
    const run = parentRun({
      script: ofS1(spawning(), (_, n) => (n === 0 ? calling('read the-secret') : { text: 'found at a.ts:1' })),
      record: (request) => void seen.push(request),
    });
    expect((await run.result).success).toBe(true);
    expect(of(CHILD)[0]?.turns).toEqual([{ by: 'user', text: 'look there' }]);
    expect(of(CHILD)[0]?.system).toBe('common\n\nYou are explore.');
    const grown = of(S1).map(({ turns }) =>
      turns.map((turn) => (turn.by === 'tools' ? turn.results.map(({ text }) => text) : turn.by)),
    );
    expect(grown).toEqual([['user'], ['user', 'model', ['found at a.ts:1']]]);
    expect(JSON.stringify(of(S1))).not.toContain('the-secret');
    expect(run.state().agents.get(S1)?.children).toEqual([CHILD]);
  });

  it('is known by the call that made it: what it does can be shown beside that (T014 to T017, I017)', async () => {
    const run = parentRun({ script: ofS1(spawning(), (_, n) => (n === 0 ? calling('read x') : { text: 'found' })) });
    await run.result;
    const block = run
      .state()
      .agents.get(S1)
      ?.blocks.find(({ is }) => is === 'tool');
    const child = run.state().agents.get(CHILD);
    expect(block?.is === 'tool' && block.call).toBe(child?.call);
    expect([child?.name, child?.toolCalls]).toEqual(['look', 1]);
    expect(run.state().agents.get(S1)?.call).toBe(null);
  });

  it('is numbered below who made it, from S1 on, and its id is the whole path (H010, H011)', async () => {
    const two = { text: '', calls: [...(spawning().calls ?? []), ...(spawning().calls ?? [])] };
    const run = parentRun({ plan: { reason: '', tasks: [SPAWNS, { ...SPAWNS, id: 'u' }] }, script: spawnFirst(two) });
    await run.result;
    expect([...run.state().agents.keys()].toSorted()).toEqual([
      'ROOT',
      'ROOT::S1',
      'ROOT::S1::S1',
      'ROOT::S1::S2',
      'ROOT::S2',
      'ROOT::S2::S1',
      'ROOT::S2::S2',
    ]);
  });

  it('never gets Task itself, nor what its parent does not have (D1, I011, I03, T024)', async () => {
    const tools: string[][] = [];
    const seen = (request: ModelRequest): void => {
      if (request.agent === CHILD) tools.push(request.tools.map(({ name }) => name));
    };
    const wide = parentRun({ plan: planWith('finder', true), script: ofS1(spawning('oracle')), record: seen });
    await wide.result;
    expect(tools).toEqual([['read', 'update_todos', 'send_message', 'ask_user']]);
    const deep = parentRun({
      script: ofS1(spawning('oracle'), ({ agent }, n) => (agent === CHILD && n === 0 ? spawning() : undefined)),
    });
    await deep.result;
    expect(results(deep, CHILD)).toEqual([[false, 'Tool not found: Task']]);
    expect(deep.state().agents.get(GRANDCHILD)).toBe(undefined);
  });

  it.each([
    [1, 'Max nesting depth (1) exceeded. Cannot create nested agent.'],
    [0, 'Max nesting depth (0) exceeded. Cannot create nested agent.'],
  ])('is refused below the deepest level %i (S148, O055, O129, O148, I02)', async (value, words) => {
    const run = parentRun({
      rules: { ...RULES, maxNestingDepth: { ...RULES.maxNestingDepth, value } },
      script: ofS1(spawning()),
    });
    await run.result;
    expect(results(run).map(([ok, text]) => [ok, text.includes(words)])).toEqual([[false, true]]);
    expect(run.state().agents.size).toBe(2);
  });

  it('is refused beyond the agents of a run (S152), for main, for an unknown role and for one that is not allowed', async () => {
    const from = { rule: 'allowedSubAgents: [oracle]', layer: 'managed', file: '/etc/m.yml', line: 1 } as const;
    const full = parentRun({
      rules: { ...RULES, maxAgentsPerRun: { ...RULES.maxAgentsPerRun, value: 1 } },
      script: ofS1(spawning()),
    });
    await full.result;
    expect(results(full)[0]?.[1]).toMatch(/^Denied: the test: the run already has 1 agent/);
    for (const [role, words] of [
      ['main', /never a sub-agent/],
      ['nobody', /There is no role 'nobody'/],
      ['explore', /Sub-agent role 'explore' is not allowed by enterprise policy/],
    ] as const) {
      const rules = { ...RULES, allowedSubAgents: [{ value: ['oracle'], from }] };
      const run = parentRun({ rules, script: ofS1(spawning(role)) });
      await run.result;
      expect(results(run)[0]?.[1]).toMatch(words);
      expect(run.state().agents.size).toBe(2);
    }
  });

  it('asks in confirm mode', async () => {
    const run = parentRun({ mode: 'confirm', script: ofS1(spawning()) });
    const { approvals } = await run.until((state) => state.approvals.length === 1);
    expect(approvals[0]?.request.action).toBe('spawn');
    await run.tell({ do: 'answer', approval: approvals[0]?.id ?? '', allow: true, scope: 'once' });
    await run.result;
    expect(run.state().agents.get(CHILD)?.outcome).toBe('completed');
  });

  it('runs in the slot of its parent: one slot is enough (S152)', async () => {
    const run = parentRun({
      rules: { ...RULES, maxParallelAgents: { ...RULES.maxParallelAgents, value: 1 } },
      script: ofS1(spawning()),
    });
    expect((await run.result).success).toBe(true);
  });

  it('that fails is an error result for its parent, which goes on', async () => {
    const run = parentRun({
      script: ofS1(spawning(), () => ({ fault: { is: 'refused', message: 'no' } })),
    });
    await run.result;
    expect(results(run)).toEqual([
      [false, 'The child ROOT::S1::S1 did not complete (fast: no).\nIts last words:\nFailed: fast: no'],
    ]);
    expect(run.state().agents.get(S1)?.outcome).toBe('completed');
  });

  it('counts within the budget of its parent, and so of the run (S148, S150, G07)', async () => {
    const plan = {
      reason: '',
      tasks: [{ id: 't', description: 'do t', role: 'oracle', maySpawn: true, budget: { maxTokens: 6000 } }],
    };
    let most = 0;
    const run: TestRun = parentRun({
      plan,
      person: false,
      script: ofS1(spawning(), (_, n) => {
        most = Math.max(most, committed(run.state(), S1).tokens);
        return { ...calling(`read ${n}`), usage: { input: 500, output: 500 } };
      }),
    });
    await run.result;
    const { outcome, error } = run.state().agents.get(CHILD) ?? {};
    expect(outcome).toBe('partial');
    expect(error).toMatch(/^Budget exceeded: the agent's tokens/);
    expect(most).toBeLessThanOrEqual(6000);
    expect(run.events().find((event) => event.type === 'budget.exhausted')).toMatchObject({
      agent: S1,
      scope: 'agent',
    });
  });
});

describe('parent and child', () => {
  const waiting = (): TestRun => parentRun({ script: ofS1(spawning(), () => never) });
  const working = (run: TestRun): Promise<unknown> => run.until(({ agents }) => agents.get(CHILD)?.open.length === 1);
  const ends = (run: TestRun): unknown[] =>
    [S1, CHILD].map((id) => {
      const one = run.state().agents.get(id);
      return [one?.status, one?.outcome, one?.error];
    });

  it('the parent waits; killed, it takes the child with it (D28)', async () => {
    const run = waiting();
    await working(run);
    expect(run.state().agents.get(S1)?.status).toBe('waiting');
    await run.tell({ do: 'kill', agent: S1 });
    await run.result;
    expect(ends(run)).toEqual([
      ['interrupted', 'killed', 'killed by you'],
      ['interrupted', 'killed', 'killed by you'],
    ]);
  });

  it('a killed child leaves its parent to go on', async () => {
    const run = waiting();
    await working(run);
    await run.tell({ do: 'kill', agent: CHILD });
    await run.result;
    expect(ends(run)).toEqual([
      ['completed', 'completed', null],
      ['interrupted', 'killed', 'killed by you'],
    ]);
  });

  it.each(['works', 'is interrupted'])(
    'an interrupted parent ends a child that %s, and can be resumed',
    async (how) => {
      const run = waiting();
      await working(run);
      if (how === 'is interrupted') {
        await run.tell({ do: 'interrupt', agent: CHILD });
        await run.until(({ agents }) => agents.get(CHILD)?.status === 'interrupted');
      }
      await run.tell({ do: 'interrupt', agent: S1 });
      await run.until(({ agents }) => agents.get(S1)?.status === 'interrupted');
      expect(ends(run)[1]).toEqual(['interrupted', 'abandoned', 'its parent stopped']);
      await run.tell({ do: 'resume', agent: S1 });
      expect((await run.result).status).toBe('failed');
      expect(ends(run)[0]).toEqual(['completed', 'completed', null]);
    },
  );

  it('an urgent message to the parent ends the child and is read; the parent runs, and its clock with it', async () => {
    const run = waiting();
    await working(run);
    await run.tell({ do: 'message', to: S1, text: 'leave it', delivery: 'urgent' });
    await run.result;
    expect(ends(run)).toEqual([
      ['completed', 'completed', null],
      ['interrupted', 'abandoned', 'its parent stopped'],
    ]);
    const statuses = run
      .events()
      .flatMap((event) => (event.type === 'agent.status' && event.agent === S1 ? [event.status] : []));
    expect(statuses).toEqual(['initializing', 'running', 'waiting', 'running']);
  });

  it('a stop ends neither: the resumed child goes on, and its parent has its answer', async () => {
    const first = waiting();
    await working(first);
    first.stop('Ctrl-C');
    await first.result;
    const seen: string[] = [];
    const run = testRun({
      log: first.log,
      mode: 'yolo',
      record: ({ agent, turns }) => {
        const last = turns.at(-1);
        if (agent === S1 && last?.by === 'tools') seen.push(...last.results.map(({ text }) => text));
      },
    });
    await run.result;
    expect(seen).toEqual(['ROOT::S1::S1 is done']);
  });
});
