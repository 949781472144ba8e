/** `mimir spawn` and what comes of it: the verb, its socket or door, the engine of a run with scripted models, and its log on the disk. */
import { describe, expect, it } from 'vitest';
import { spawnVerb } from '../../../src/cli/commands/spawn.ts';
import { rulesWith } from '../../support/children.ts';
import { openEngine } from '../../support/engine-stage.ts';
import type { EngineStage } from '../../support/engine-stage.ts';
import { like } from '../../support/like.ts';
import { AGENT, filed, RULES } from '../../support/run.ts';
import { said } from '../../support/session-stage.ts';

const PROMPT = 'As engineer, implement it';
const SHORT = /^[a-z0-9]{6}$/;
const S1 = AGENT('ROOT::S1');

/** The child as its run has it. */
function childIn({ run }: EngineStage, id: string): unknown {
  const { agents } = run.state();
  const child = agents.get(AGENT(id));
  if (child === undefined) return undefined;
  const { parent, role, name, task, spawned, model } = child;
  return { parent, role, name, task, spawned, model: model.used };
}

describe('mimir spawn', () => {
  it('S022, S023, S024, D13: makes a child of ROOT for the person, with the prompt as it is', async () => {
    const stage = await openEngine();
    expect(await stage.ask(spawnVerb, [PROMPT])).toEqual(said(like(/^Spawned child-\w{6} \(\w{6}\)$/)));
    expect(childIn(stage, 'ROOT::S2')).toEqual({
      parent: 'ROOT',
      role: 'code',
      name: like(/^child-\w{6}$/),
      task: PROMPT,
      spawned: { by: 'person', friendly: null, wait: null, workingDir: '' },
      model: 'scripted/fast',
    });
  });

  it('S025 to S028, S030: takes role, model, wait, name and folder; a role that is none names the child, which implements', async () => {
    const stage = await openEngine();
    const folder = ['--working-dir', `${stage.home.project}/packages/../packages/x`];
    const argv = ['Engineer', PROMPT, '--name', 'cache2', '--model', 'slow', '--wait', '600', ...folder];
    expect(await stage.ask(spawnVerb, argv)).toEqual(
      said(
        like(/^Spawned engineer-cache2 \(\w{6}\)$/),
        '  there is no role Engineer, so it is a name: engineer-cache2 works as code',
      ),
    );
    expect(childIn(stage, 'ROOT::S2')).toEqual({
      parent: 'ROOT',
      role: 'code',
      name: 'engineer-cache2',
      task: PROMPT,
      spawned: { by: 'person', friendly: 'engineer-cache2', wait: 600, workingDir: 'packages/x' },
      model: 'scripted/slow',
    });
  });

  it('S030: is named after a role that exists, which it then has', async () => {
    const stage = await openEngine();
    expect(await stage.ask(spawnVerb, ['Finder', 'Look', '--name', 'cache'])).toEqual(
      said(like(/^Spawned finder-cache \(\w{6}\)$/)),
    );
    expect(childIn(stage, 'ROOT::S2')).toMatchObject({ role: 'finder', name: 'finder-cache' });
  });

  it('S030: is refused with the role that was probably meant, and makes nothing', async () => {
    const stage = await openEngine();
    const { code, err } = await stage.ask(spawnVerb, ['Findr', 'Look']);
    expect([code, err.split('\n')[0]]).toEqual([3, like(/^There is no role 'Findr'. Did you mean "finder"\?/)]);
    expect(childIn(stage, 'ROOT::S2')).toBe(undefined);
  });

  it('S030: explores below a parent that only reads', async () => {
    const stage = await openEngine(filed({ tasks: [{ id: 'a', description: 'a', role: 'scout', maySpawn: true }] }));
    const door = await stage.door(S1);
    expect(await stage.ask(spawnVerb, ['Engineer', 'Look'], { door })).toEqual(
      said(
        like(/^Spawned engineer \(\w{6}\)$/),
        '  there is no role Engineer, so it is a name: engineer works as explore',
      ),
    );
    expect(childIn(stage, 'ROOT::S1::S1')).toMatchObject({ parent: S1, role: 'explore', name: 'engineer' });
  });

  it('S026, S043: returns at once, whatever it waits for: the run itself still works', async () => {
    const stage = await openEngine();
    expect(await stage.ask(spawnVerb, [PROMPT, '--wait', '86400'])).toMatchObject({ code: 0 });
    expect(stage.run.state().agents.get(S1)?.outcome).toBe(null);
  });

  it('S029, S032 to S038: prints JSON with every field', async () => {
    const stage = await openEngine();
    const argv = [PROMPT, '--name', 'cache2', '--json', '--working-dir', `${stage.home.project}/packages`];
    expect(await stage.ask(spawnVerb, argv)).toEqual({
      code: 0,
      out: [],
      err: '',
      json: [
        {
          session_id: like(SHORT),
          name: 'cache2',
          friendly_name: 'cache2',
          working_dir: `${stage.home.project}/packages`,
          parent_session_id: like(SHORT),
          tmux_session: null,
          created_at: '2026-01-01T00:00:00.000Z',
          agent: 'ROOT::S2',
          run: 'k7f3a2',
        },
      ],
    });
  });

  it('S022: asks as the agent at its door, for a child of its own', async () => {
    const stage = await openEngine();
    const door = await stage.door(S1);
    expect(await stage.ask(spawnVerb, [PROMPT], { door })).toEqual(said(like(/^Spawned child-\w{6} \(\w{6}\)$/)));
    expect(childIn(stage, 'ROOT::S1::S1')).toMatchObject({ parent: S1, spawned: { by: S1 } });
  });

  it('S148, S152: is exit 3 with the words of the rule that refuses', async () => {
    const none = { value: 0, from: { ...RULES.enabled.from, rule: 'childAgents.maxPerParent: 0' } };
    const stage = await openEngine({ rules: rulesWith({ maxPerParent: none }) });
    expect(await stage.ask(spawnVerb, [PROMPT])).toMatchObject({
      code: 3,
      out: [],
      err: like(/childAgents\.maxPerParent: 0/),
    });
    expect(childIn(stage, 'ROOT::S2')).toBe(undefined);
  });
});
