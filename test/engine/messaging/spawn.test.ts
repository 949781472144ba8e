import { describe, expect, it } from 'vitest';
import { RoleName } from '../../../src/domain/ids.ts';
import type { Role } from '../../../src/domain/agents/role.ts';
import { type Act, acting, ask, gate, LEADER, LED, rulesWith, spawned, wishOf } from '../../support/children.ts';
import type { Tool } from '../../../src/ports/tool.ts';
import { brokenByRun } from '../../support/family-machine-promises.ts';
import { AGENT, calling, FAST, ROLES, RULES, type Setting, SLOW, type TestRun, testRun } from '../../support/run.ts';

const ROOT = AGENT('ROOT');
const S1 = 'ROOT::S1';

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

  it('is called otherwise than any other of the run, so that what is sent to a name reaches one (S023, S033)', async () => {
    const { run, go } = held({});
    await begun(run);
    const named = async (name: string): Promise<string> => {
      const done = await ask(run, { do: 'spawn', parent: ROOT, wish: wishOf('x', { name }) });
      return done.ok ? done.value.text : done.fault.text;
    };
    expect([await named('scout'), await named('Scout'), await named('scout'), await named('main')]).toEqual([
      'spawned scout',
      'spawned Scout 2',
      'spawned scout 3',
      'spawned main 2',
    ]);
    expect(await named('all')).toBe('spawned all 2');
    go.resolve();
    await run.result;
    expect(brokenByRun(run.events())).toEqual([]);
  });

  it('may be of any role that is allowed, in any spelling, and of no other (S030, D22)', async () => {
    const { run, go } = held({ rules: { ...RULES, disabledRoles: [{ role: 'reviewer', from: RULES.enabled.from }] } });
    await begun(run);
    expect(await spawned(run, 'ROOT', { role: 'Explore' })).toBe('ROOT::S2');
    expect(await spawned(run, 'ROOT', { role: 'FINDER' })).toBe('ROOT::S3');
    expect(await spawned(run, 'ROOT', { role: 'reviewer' })).toMatch(/^Role 'reviewer' is disabled/);
    expect(await spawned(run, 'ROOT', { role: 'main' })).toMatch(/never a sub-agent/);
    go.resolve();
    await run.result;
  });

  it('is named by a word before the prompt that is no role, implements, or explores below one that only reads, and says so (S030)', async () => {
    const code: Role = { ...LEADER, name: RoleName.parse('code') };
    const go = gate();
    const wait: Act = () => go.promise.then(() => undefined);
    const run = acting({ [S1]: [wait], 'ROOT::S2': [wait] }, { plan: LED, roles: [...ROLES, LEADER, code] });
    await begun(run);
    const engineer = await ask(run, { do: 'spawn', parent: ROOT, wish: wishOf('x', { role: 'Engineer' }) });
    const note = 'there is no role Engineer, so it is a name: engineer works as code';
    expect(engineer).toEqual({ ok: true, value: { text: `spawned engineer; ${note}`, agent: 'ROOT::S2', note } });
    const named = await spawned(run, 'ROOT', { role: 'Architect', name: 'architect-api' });
    expect(run.state().agents.get(AGENT(named))).toMatchObject({ name: 'architect-api', role: 'code' });
    const reader = await spawned(run, 'ROOT', { role: 'finder' });
    expect(run.state().agents.get(AGENT(reader))?.role).toBe('finder');
    expect(await spawned(run, 'ROOT', { role: 'Findr' })).toMatch(/^There is no role 'Findr'. Did you mean "finder"\?/);
    expect(await spawned(run, 'ROOT', { role: 'coder' })).toMatch(/Did you mean "code"\?/);
    go.resolve();
    await run.result;
  });

  it('is not made of a role with nothing to do (D13)', async () => {
    const { run, go } = held();
    await begun(run);
    expect(await spawned(run, 'ROOT', { role: null, prompt: 'Finder' })).toBe(
      '"Finder" is a role; the task is missing\n  mimir spawn finder "…"',
    );
    expect(await spawned(run, 'ROOT', { role: 'finder', prompt: 'finder' })).toBe('ROOT::S2');
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

  it.each(['opus', 'Sonnet', 'haiku'])('takes %s for the model of that line (S025)', async (line) => {
    const { run, go } = held({ rules: RULES });
    await begun(run);
    const id = await spawned(run, 'ROOT', { model: line });
    go.resolve();
    await run.result;
    expect(run.state().agents.get(AGENT(id))?.model).toMatchObject({ asked: `${line.toLowerCase()}-4.5` });
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
    const seen: unknown[] = [];
    const port = before.options.tools;
    const tools = port.tools.map(
      (tool): Tool => ({
        ...tool,
        run: (input, context) => {
          seen.push(context.workingDir);
          return tool.run(input, context);
        },
      }),
    );
    const reads: Act = async (of) => (await wait(of)) ?? calling('read x');
    const run = acting({ [S1]: [reads], 'ROOT::S2': [reads] }, { plan: LED, port: { ...port, tools, folder } });
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
    expect(new Set(seen)).toEqual(new Set([undefined, 'src/ui']));
  });

  it('has to be given a folder where the rules want one (S113)', async () => {
    const { run, go } = held({ rules: rulesWith({ workingDir: 'specify' }) });
    await begun(run);
    expect(await spawned(run, 'ROOT')).toMatch(/name its working directory/);
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
    expect(await spawned(run, 'ROOT::S2')).toBe('finder 1 has ended: spawn a child of main instead');
    expect(await spawned(run, 'ROOT::S3')).toBe('finder 2 has not begun and cannot have children yet');
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
    expect(await limited({ maxAgentsPerRun: rule(1) }, 'ROOT')).toMatch(/the run already has 1 agent/);
    expect(await limited({ children: { maxPerParent: rule(0) } }, 'ROOT')).toMatch(/0 children of this agent/);
  });
});
