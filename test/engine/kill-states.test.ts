/** An agent killed in each of its states: it ends as killed, nothing it promised stays open, and none of its children goes on. */
import { describe, expect, it } from 'vitest';
import { committed } from '../../src/events/queries.ts';
import type { AgentState, RunState } from '../../src/events/state.ts';
import { fault, meets, waiting } from '../support/faulty.ts';
import { held, inSecondTurn } from '../support/run-looks.ts';
import { AGENT, calling, planOf, RULES, type Setting, type TestRun, testRun } from '../support/run.ts';

const S1 = AGENT('ROOT::S1');
const S2 = AGENT('ROOT::S2');
const never = new Promise<undefined>(() => {});
const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve());
  });

const s1 = ({ agents }: RunState): AgentState | undefined => agents.get(S1);
const says =
  (reply: ReturnType<typeof calling>): NonNullable<Setting['script']> =>
  ({ agent, purpose }, n) =>
    agent === S1 && purpose.is === 'work' && n === 0 ? reply : undefined;
const limited = {
  tasks: [{ id: 'o', description: 'do o', role: 'finder', budget: { maxTokens: 12_000 } }],
};
const parent = { tasks: [{ id: 'o', description: 'do o', role: 'oracle', maySpawn: true }] };
const spawn = { tool: 'Task', input: { description: 'look', prompt: 'look there', subagent_type: 'explore' } };
const asking = { text: '', calls: [{ tool: 'ask_user', input: { question: 'Which one?' } }] };

/** A run in which the first agent comes into a state, and what shows that it is there. */
type State = readonly [
  name: string,
  run: () => TestRun | Promise<TestRun>,
  there: (state: RunState, run: TestRun) => boolean,
];

const STATES: readonly State[] = [
  [
    'running: a model answers',
    () => testRun({ script: ({ purpose }) => (purpose.is === 'work' ? never : undefined) }),
    (state) => s1(state)?.open.length === 1,
  ],
  [
    'running: a tool works',
    () => testRun({ script: says(calling('read forever')), wait: untilAborted }),
    (_, run) => run.events().some(({ type }) => type === 'tool.started'),
  ],
  [
    'waiting: for a yes',
    () => testRun({ plan: planOf(['o']), script: says(calling('write x')) }),
    ({ approvals }) => approvals.length === 1,
  ],
  ['waiting: for words', () => testRun({ script: says(asking) }), ({ approvals }) => approvals.length === 1],
  [
    'waiting: for what a person chooses at a limit',
    () =>
      testRun({
        plan: limited,
        script: ({ purpose }, n) =>
          purpose.is === 'work' && n < 9 ? { ...calling(`read ${n}`), usage: { input: 5000 } } : undefined,
      }),
    ({ approvals }) => approvals.length === 1,
  ],
  [
    'waiting: for a provider',
    () => waiting({ script: meets(fault('overloaded')) }).run,
    (state) => s1(state)?.status === 'waiting',
  ],
  [
    'waiting: for its children',
    () =>
      testRun({
        plan: parent,
        mode: 'yolo',
        script: ({ agent, purpose }, n) =>
          purpose.is !== 'work' ? undefined : agent === S1 && n === 0 ? { text: '', calls: [spawn] } : never,
      }),
    ({ agents }) => (agents.get(S1)?.children ?? []).filter((id) => agents.get(id)?.open.length === 1).length === 1,
  ],
  [
    'interrupted',
    async () => {
      const { run } = held({ plan: planOf(['a']) });
      await inSecondTurn(run);
      await run.tell({ do: 'interrupt', agent: S1 });
      return run;
    },
    (state) => s1(state)?.status === 'interrupted',
  ],
];

describe('an agent that is killed', () => {
  it.each(STATES)(
    'N05: while %s, ends as killed with all below it, and nothing it promised stays open',
    async (_, start, there) => {
      const run = await start();
      await run.until((state) => there(state, run));
      await run.tell({ do: 'kill', agent: S1 });
      await run.result;
      const state = run.state();
      const all = [...state.agents.values()].filter(({ id }) => id.startsWith(S1));
      expect(all.map(({ id, outcome, open }) => [id, outcome, open])).toEqual(all.map(({ id }) => [id, 'killed', []]));
      expect(committed(state, AGENT('ROOT'))).toMatchObject({ reservedTokens: 0, reservedCost: 0 });
      expect(state.approvals).toEqual([]);
      // Each call that began has an end, with what it cost or is taken to have cost.
      const of = (...types: readonly string[]): ReadonlySet<unknown> =>
        new Set(run.events().flatMap((event) => (types.includes(event.type) && 'call' in event ? [event.call] : [])));
      expect(of('model.finished', 'model.failed')).toEqual(of('model.started'));
      expect(of('tool.finished')).toEqual(of('tool.started'));
    },
  );

  it('N05: before it began, waiting for a slot or for another’s result, never begins and has promised nothing', async () => {
    const { run, go } = held({
      plan: planOf(['a'], ['b'], ['c', 'b']),
      rules: { ...RULES, maxParallelAgents: { ...RULES.maxParallelAgents, value: 1 } },
    });
    await inSecondTurn(run);
    const S3 = AGENT('ROOT::S3');
    expect([S2, S3].map((id) => run.state().agents.get(id)?.status)).toEqual(['initializing', 'pending']);
    await run.tell({ do: 'kill', agent: S2 });
    await run.tell({ do: 'kill', agent: S3 });
    go.resolve();
    await run.result;
    expect(
      [S2, S3].map((id) => run.state().agents.get(id)).map((one) => [one?.outcome, one?.firstRunAt, one?.open]),
    ).toEqual([
      ['killed', null, []],
      ['skipped', null, []],
    ]);
    expect(
      run.events().filter((event) => event.type === 'model.started' && event.agent !== S1 && event.agent !== 'ROOT'),
    ).toEqual([]);
  });
});
