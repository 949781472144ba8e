import { describe, expect, it } from 'vitest';
import { committed } from '../../../src/events/queries.ts';
import type { ModelRequest } from '../../../src/ports/model.ts';
import {
  type Act,
  acting,
  gate,
  LED,
  notices,
  outcomes,
  rulesWith,
  says,
  spawned,
  spawns,
} from '../../support/children.ts';
import { AGENT, calling, filed, planOf, RULES, type TestRun } from '../../support/run.ts';

const ROOT = AGENT('ROOT');
const S1 = 'ROOT::S1';
const CHILD = 'ROOT::S1::S1';

const begun = (run: TestRun): Promise<unknown> =>
  run.until(({ agents }) => (agents.get(AGENT(S1))?.iterations ?? 0) > 0);

describe('a child that an agent spawns', () => {
  it('knows its prompt and nothing else; its own history, one budget for all (H008, H021, H023, H024, S150)', async () => {
    const seen: ModelRequest[] = [];
    const run = acting(
      {
        [S1]: [spawns(S1, { prompt: 'look there' }, calling('read the-secret')), undefined],
        [CHILD]: [says('found it')],
      },
      { plan: LED, record: (request) => void seen.push(request) },
    );
    await run.result;
    const own = seen.filter(({ agent }) => agent === CHILD);
    expect(own.map(({ turns, system }) => [turns, system])).toEqual([
      [[{ by: 'user', text: 'look there' }], 'common\n\nYou are explore.'],
    ]);
    const { agents } = run.state();
    const sum = [...agents.values()].reduce((all, { cost }) => all + cost, 0);
    expect(committed(run.state(), ROOT).cost).toBeCloseTo(sum, 9);
    const below = (agents.get(AGENT(S1))?.cost ?? 0) + (agents.get(AGENT(CHILD))?.cost ?? 0);
    expect(committed(run.state(), AGENT(S1)).cost).toBeCloseTo(below, 9);
  });

  it('goes on beside its parent, which does not wait (S042, S043, S088)', async () => {
    const go = gate();
    const run = acting(
      {
        [S1]: [spawns(S1, {}, calling('read x'))],
        [CHILD]: [
          async () => {
            await go.promise;
            return undefined;
          },
        ],
      },
      { plan: LED },
    );
    await run.until(({ agents }) => agents.get(AGENT(S1))?.outcome === 'completed');
    expect(run.state().agents.get(AGENT(CHILD))?.outcome).toBe(null);
    go.resolve();
    await run.result;
    expect(outcomes(run)).toEqual([`${S1} completed`, `${CHILD} completed`]);
  });

  it('has of its role what its parent has as well, and children only where there is room below (I03, H009, D1)', async () => {
    const tools = new Map<string, readonly string[]>();
    const go = gate();
    const wait: Act = async (run) => {
      await spawned(run, 'ROOT::S2', { role: 'leader' }, 'ROOT::S2');
      await spawned(run, 'ROOT::S2', { role: 'oracle' }, 'ROOT::S2');
      return undefined;
    };
    const run = acting(
      {
        [S1]: [
          async () => {
            await go.promise;
            return undefined;
          },
        ],
        'ROOT::S2': [wait],
      },
      {
        record: ({ agent, tools: all }) =>
          void tools.set(
            agent,
            all.map(({ name }) => name),
          ),
      },
    );
    await begun(run);
    await spawned(run, 'ROOT', { role: 'leader' });
    await run.until(({ agents }) => agents.get(AGENT('ROOT::S2::S2'))?.outcome === 'completed');
    go.resolve();
    await run.result;
    const own = (agent: string): readonly string[] =>
      (tools.get(agent) ?? []).filter((name) => ['read', 'write', 'bash', 'Task'].includes(name));
    expect(own('ROOT::S2')).toEqual(['read', 'write', 'Task']);
    expect(own('ROOT::S2::S1')).toEqual(['read', 'write']);
    expect(own('ROOT::S2::S2')).toEqual(['read', 'write']);
  });

  it('is refused to one that may not have any, and in the log as denied (D1)', async () => {
    const said: string[] = [];
    const asking: Act = async (of) => {
      said.push(await spawned(of, S1, {}, S1));
      return undefined;
    };
    const run = acting({ [S1]: [asking] }, filed(planOf(['a'])));
    await run.result;
    expect(said[0]).toMatch(/^Denied: spawning needs "spawn", which this agent does not have/);
    expect(run.events().filter((event) => event.type === 'policy.decided')).toMatchObject([
      { agent: S1, subject: 'mimir spawn', action: 'spawn', decision: 'deny' },
    ]);
    expect(outcomes(run)).toEqual([`${S1} completed`]);
  });

  it('is refused where only a person spawns (D35, S097)', async () => {
    const said: string[] = [];
    const manual = { value: 'manual', from: { ...RULES.enabled.from, rule: 'childAgents.mode: manual' } } as const;
    const run = acting(
      {
        [S1]: [
          async (of) => {
            said.push(await spawned(of, S1, {}, S1), await spawned(of, 'ROOT'));
            return undefined;
          },
        ],
      },
      { plan: LED, rules: rulesWith({ mode: manual }) },
    );
    await run.result;
    expect(said).toEqual(['Denied: childAgents.mode: manual: only a person may spawn (default)', 'ROOT::S2']);
  });

  it.each([
    ['confirm', 'auto'],
    ['yolo', 'supervised'],
  ] as const)('asks the person in mode %s where rules say %s, and waits for the answer (D35)', async (mode, how) => {
    const value = { value: how, from: { ...RULES.enabled.from, rule: `childAgents.mode: ${how}` } };
    for (const allow of [true, false]) {
      const said: string[] = [];
      const run = acting(
        {
          [S1]: [
            async (of) => {
              said.push(await spawned(of, S1, { prompt: 'the whole prompt', role: 'oracle' }, S1));
              return undefined;
            },
          ],
        },
        { plan: LED, mode, rules: rulesWith({ mode: value }) },
      );
      const { approvals, agents } = await run.until((state) => state.approvals.length === 1);
      expect([approvals[0]?.request.action, approvals[0]?.request.exact.includes('the whole prompt')]).toEqual([
        'spawn',
        true,
      ]);
      expect(agents.get(AGENT(S1))?.status).toBe('waiting');
      await run.tell({ do: 'answer', approval: approvals[0]?.id ?? '', allow, scope: 'once', text: 'not now' });
      await run.result;
      expect(said).toEqual([allow ? CHILD : 'the person denied this: not now']);
      expect(run.state().agents.has(AGENT(CHILD))).toBe(allow);
    }
  });

  it('is refused where nobody can be asked', async () => {
    const said: string[] = [];
    const run = acting(
      {
        [S1]: [
          async (of) => {
            said.push(await spawned(of, S1, { role: 'oracle' }, S1));
            return undefined;
          },
        ],
      },
      { plan: LED, mode: 'confirm', person: false },
    );
    await run.result;
    expect(said[0]).toMatch(/nobody can be asked here/);
  });

  it('is not made when its parent is killed while the person is asked', async () => {
    const said: string[] = [];
    const run = acting(
      {
        [S1]: [
          async (of) => {
            said.push(await spawned(of, S1, { role: 'oracle' }, S1));
            return undefined;
          },
        ],
      },
      { plan: LED, mode: 'confirm' },
    );
    await run.until((state) => state.approvals.length === 1);
    await run.tell({ do: 'kill', agent: AGENT(S1) });
    await run.result;
    expect(said).toEqual(['not spawned: the question was withdrawn']);
    expect([outcomes(run), notices(run)]).toEqual([[`${S1} killed`], []]);
  });

  it('is counted among its siblings at once: of many that are asked for together none is too many (S152)', async () => {
    const said: string[] = [];
    const rule = { value: 3, from: { ...RULES.enabled.from, rule: 'childAgents.maxPerParent: 3' } };
    const run = acting(
      {
        [S1]: [
          async (of) => {
            said.push(...(await Promise.all(Array.from({ length: 5 }, () => spawned(of, S1, {}, S1)))));
            return undefined;
          },
        ],
      },
      { plan: LED, rules: rulesWith({ maxPerParent: rule }) },
    );
    await run.result;
    expect(said.filter((one) => one.startsWith(S1))).toEqual([`${S1}::S1`, `${S1}::S2`, `${S1}::S3`]);
    expect(said.filter((one) => one.includes('3 children of this agent are not done')).length).toBe(2);
  });
});
