import { describe, expect, it } from 'vitest';
import { committed } from '../../src/events/queries.ts';
import type { ModelRequest } from '../../src/ports/model.ts';
import {
  acting,
  ask,
  gate,
  LED,
  notices,
  outcomes,
  rulesWith,
  says,
  spawned,
  spawns,
  wishOf,
} from '../support/children.ts';
import type { Act } from '../support/children.ts';
import { AGENT, calling, FAST, RULES, SLOW, testRun } from '../support/run.ts';
import type { Setting, TestRun } from '../support/run.ts';

const ROOT = AGENT('ROOT');
const S1 = 'ROOT::S1';
const CHILD = 'ROOT::S1::S1';

/** A run whose planned agent waits until `go`; children answer at once. */
function held(setting: Setting = {}): { readonly run: TestRun; readonly go: PromiseWithResolvers<void> } {
  const go = gate();
  const wait: Act = async () => {
    await go.promise;
    return undefined;
  };
  return { run: acting({ [S1]: [wait] }, { plan: LED, ...setting }), go };
}
const begun = (run: TestRun): Promise<unknown> =>
  run.until(({ agents }) => (agents.get(AGENT(S1))?.iterations ?? 0) > 0);

describe('a child that a person spawns', () => {
  it('is an agent of the run beside the plan, which waits for it (S001, S022, S024, S043, S088, D33)', async () => {
    const { run, go } = held();
    await begun(run);
    expect(await spawned(run, 'ROOT', { prompt: 'As engineer, look there.' })).toBe('ROOT::S2');
    const { agents } = await run.until((state) => state.agents.get(AGENT('ROOT::S2'))?.outcome === 'completed');
    const child = agents.get(AGENT('ROOT::S2'));
    expect([child?.parent, child?.owner, child?.task, child?.taskId, child?.role, child?.spawned]).toEqual([
      'ROOT',
      'ROOT',
      'As engineer, look there.',
      null,
      'explore',
      { by: 'person', friendly: null, wait: null, workingDir: '' },
    ]);
    go.resolve();
    expect(await run.result).toMatchObject({ status: 'completed', metadata: { agentCount: 2 } });
  });

  it('goes through pending, initializing and running to its end (S118 to S121, S124)', async () => {
    const { run, go } = held();
    await begun(run);
    await spawned(run, 'ROOT');
    go.resolve();
    await run.result;
    const own = run.events().flatMap((event) => {
      if (!('agent' in event) || event.agent !== 'ROOT::S2') return [];
      return event.type === 'agent.status' || event.type === 'agent.finished' ? [event.status] : [event.type];
    });
    expect(own).toEqual([
      'agent.created',
      'initializing',
      'running',
      'agent.told',
      'model.started',
      'model.finished',
      'agent.message',
      'completed',
      'message.sent',
    ]);
  });

  it('is called as it was named, or by its short id (S023, S027, S033, S034, S115, S116)', async () => {
    const { run, go } = held({
      rules: rulesWith({ naming: { pattern: '{role}-{friendly_name}', fallback: 'child-{short_id}' } }),
    });
    await begun(run);
    const one = await ask(run, { do: 'spawn', parent: ROOT, wish: wishOf('x', { name: 'Ada' }) });
    const other = await ask(run, { do: 'spawn', parent: ROOT, wish: wishOf('x') });
    expect(one).toEqual({ ok: true, value: { text: 'spawned explore-Ada', agent: 'ROOT::S2' } });
    expect(other.ok && other.value.text).toMatch(/^spawned child-[0-9a-z]{6}$/);
    go.resolve();
    await run.result;
    expect(run.state().agents.get(AGENT('ROOT::S2'))?.name).toBe('explore-Ada');
  });

  it('may be of any role that is allowed, in any spelling, and of no other (S030, D22)', async () => {
    const { run, go } = held({ rules: { ...RULES, disabledRoles: [{ role: 'reviewer', from: RULES.enabled.from }] } });
    await begun(run);
    expect(await spawned(run, 'ROOT', { role: 'Explore' })).toBe('ROOT::S2');
    expect(await spawned(run, 'ROOT', { role: 'FINDER' })).toBe('ROOT::S3');
    expect(await spawned(run, 'ROOT', { role: 'reviewer' })).toMatch(/^Role 'reviewer' is switched off/);
    expect(await spawned(run, 'ROOT', { role: 'Engineer' })).toMatch(
      /^There is no role 'Engineer'; known roles: finder/,
    );
    expect(await spawned(run, 'ROOT', { role: 'main' })).toMatch(/never a sub-agent/);
    go.resolve();
    await run.result;
  });

  it('gets the model that was asked for, else that of the rules, else its role’s, as policy allows (S025, S031, S117)', async () => {
    const used = async (rules: Partial<typeof RULES>, model: string | null): Promise<unknown> => {
      const { run, go } = held({ rules: { ...RULES, ...rules } });
      await begun(run);
      const id = await spawned(run, 'ROOT', { model });
      go.resolve();
      await run.result;
      return run.state().agents.get(AGENT(id))?.model.used;
    };
    const only = [{ written: 'fast', pattern: FAST, from: RULES.enabled.from }];
    expect(await used({}, null)).toBe(FAST);
    expect(await used({}, 'slow')).toBe(SLOW);
    expect(await used({ children: { defaultModel: 'slow' } }, null)).toBe(SLOW);
    expect(await used({ children: { defaultModel: 'slow' } }, 'fast')).toBe(FAST);
    expect(await used({ allowedModels: [only] }, 'slow')).toBe(FAST);
  });

  it('works in a folder of the project, its parent’s where none is said, and nowhere else (S028, S113, S153)', async () => {
    const folder = (written: string): Promise<{ ok: true; value: string } | { ok: false; fault: string }> =>
      Promise.resolve(
        written.startsWith('/')
          ? { ok: false, fault: `${written}: outside the project` }
          : { ok: true, value: written },
      );
    const before = testRun();
    const go = gate();
    const wait: Act = async () => {
      await go.promise;
      return undefined;
    };
    const run = acting({ [S1]: [wait], 'ROOT::S2': [wait] }, { plan: LED, port: { ...before.options.tools, folder } });
    await before.result;
    await begun(run);
    expect(await spawned(run, 'ROOT', { role: 'leader', workingDir: 'src/ui' })).toBe('ROOT::S2');
    await run.until(({ agents }) => (agents.get(AGENT('ROOT::S2'))?.iterations ?? 0) > 0);
    expect(await spawned(run, 'ROOT::S2', { role: 'leader' })).toBe('ROOT::S2::S1');
    expect(await spawned(run, 'ROOT', { workingDir: '/etc' })).toBe('/etc: outside the project');
    go.resolve();
    await run.result;
    const folders = [...run.state().agents.values()].flatMap((one) => one.spawned?.workingDir ?? []);
    expect(folders).toEqual(['src/ui', 'src/ui']);
  });

  it('has to be given a folder where the rules want one (S113)', async () => {
    const { run, go } = held({ rules: rulesWith({ workingDir: 'specify' }) });
    await begun(run);
    expect(await spawned(run, 'ROOT')).toMatch(/say in which folder it works/);
    go.resolve();
    await run.result;
  });

  it('is refused below nobody, below one that has ended, or has not begun (I02)', async () => {
    const { run, go } = held({
      plan: {
        reason: '',
        tasks: [
          { id: 'a', description: 'a', role: 'leader', maySpawn: true },
          { id: 'b', description: 'b', role: 'finder' },
          { id: 'c', description: 'c', role: 'finder', dependsOn: ['a'] },
        ],
      },
    });
    await begun(run);
    await run.until(({ agents }) => agents.get(AGENT('ROOT::S2'))?.outcome === 'completed');
    expect(await spawned(run, 'ROOT::S9')).toBe('there is no agent ROOT::S9');
    expect(await spawned(run, 'ROOT::S2')).toBe('finder 1 has ended: what should work on its own is a child of main');
    expect(await spawned(run, 'ROOT::S3')).toBe('finder 2 has not begun, and has no children yet');
    go.resolve();
    await run.result;
    expect(await spawned(run, 'ROOT')).toBe('the run has ended');
  });

  it('is bound by the limits of the run all the same (S148, S152, D1)', async () => {
    const limited = async (rules: Partial<typeof RULES>, parent: string): Promise<string> => {
      const { run, go } = held({ rules: { ...RULES, ...rules } });
      await begun(run);
      const said = await spawned(run, parent);
      go.resolve();
      await run.result;
      return said;
    };
    const rule = <T>(value: T): { value: T; from: typeof RULES.enabled.from } => ({ value, from: RULES.enabled.from });
    expect(await limited({ maxNestingDepth: rule(1) }, S1)).toMatch(/Max nesting depth \(1\) exceeded/);
    expect(await limited({ maxNestingDepth: rule(1) }, 'ROOT')).toBe('ROOT::S2');
    expect(await limited({ maxAgentsPerRun: rule(1) }, 'ROOT')).toMatch(/the run has 1 agents already/);
    expect(await limited({ children: { maxPerParent: rule(0) } }, 'ROOT')).toMatch(/0 children of this agent/);
  });
});

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
    const run = acting({
      [S1]: [
        async (of) => {
          said.push(await spawned(of, S1, {}, S1));
          return undefined;
        },
      ],
    });
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
    expect(said).toEqual(['Denied: childAgents.mode: manual: only a person spawns (default)', 'ROOT::S2']);
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
              said.push(await spawned(of, S1, { prompt: 'the whole prompt' }, S1));
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
            said.push(await spawned(of, S1, {}, S1));
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
            said.push(await spawned(of, S1, {}, S1));
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
