/** The keys that an organisation restricts with, one by one: what several layers say of each, and what can't be said. */
import { describe, expect, it } from 'vitest';
import type { Layer } from '../../../src/config/files/layer.ts';
import { modelLists } from '../../../src/config/settings/model-lists.ts';
import type { Rules } from '../../../src/policy/rules.ts';
import { rulesOf, someLayer } from '../../support/layer-sets.ts';
import { holding } from '../../support/like.ts';
import { faults, loaded } from '../some-place.ts';

const PROJECT = '.mimir/config.yml';
const USER = '~/.config/mimir/config.yml';

describe('forced agents', () => {
  it('A09: are united by name: triggers together, the strictest failure, the model of the highest layer', () => {
    const rules = rulesOf([
      someLayer('project', {
        enforcement: {
          forcedSubAgents: {
            security: { enabled: true, trigger: 'always', onFailure: 'block', model: 'opus-4.5' },
            tester: { enabled: false, trigger: 'manual' },
          },
        },
      }),
      someLayer('user', { enforcement: { forcedSubAgents: { security: { enabled: false, trigger: 'manual' } } } }),
      someLayer('managed', {
        enforcement: {
          forcedSubAgents: { security: { enabled: true, trigger: 'on-commit', onFailure: 'warn', model: 'o3' } },
        },
      }),
    ]);
    expect(rules.forcedAgents?.map(({ from: { layer }, ...rule }) => ({ ...rule, layer }))).toEqual([
      { name: 'security', model: 'o3', triggers: ['always', 'on-commit'], onFailure: 'block', layer: 'managed' },
    ]);
  });

  it('run after each write and block, where nothing else is said', () => {
    const { rules } = loaded({ user: 'enforcement:\n  forcedSubAgents:\n    security: { enabled: true }\n' });
    expect(rules.forcedAgents).toEqual([
      {
        name: 'security',
        model: null,
        triggers: ['on-write'],
        onFailure: 'block',
        from: { rule: 'enforcement.forcedSubAgents.security: {enabled: true}', layer: 'user', file: USER, line: 3 },
      },
    ]);
  });

  it('A10: need a role that is there, and a model that every list allows', () => {
    const forced = (more: string): string =>
      `enforcement: { forcedSubAgents: { security: { enabled: true, ${more} } } }\n`;
    expect(faults({ user: forced('model: sonet-4.5') })).toEqual([
      `${USER}:1:62: "sonet-4.5" is not a known model — did you mean "sonnet-4.5"?`,
    ]);
    expect(faults({ user: forced('model: o3'), project: 'enforcement: { deniedModels: [o3] }\n' })).toEqual([
      `${USER}:1:62: the mandatory review security is pinned to o3, which is not allowed: enforcement.deniedModels: [o3] (project, ${PROJECT}:1) — pin it to a model that every list allows`,
    ]);
    expect(faults({ project: 'enforcement: { forcedSubAgents: { main: { enabled: true } } }\n' })).toEqual([
      expect.stringContaining('there is no role "main" for a mandatory review'),
    ]);
    expect(faults({ user: 'enforcement: { forcedSubAgents: { nobody: { enabled: false } } }\n' })).toEqual([]);
  });
});

describe('budgets of days and models', () => {
  const BUDGETS = 'budgets: { day: { maxCost: 20 }, model: { opus-4.5: { maxCost: 5 } }, atLimit: stop }\n';
  const picked = ({ dayBudget, modelBudgets, atLimit, answerWithin, costLimitSet }: Rules): unknown => ({
    day: dayBudget?.value,
    models: modelBudgets?.map(({ model, budget }) => [model.pattern, budget.value]),
    atLimit: atLimit?.value,
    answerWithin: answerWithin?.value,
    costLimitSet,
  });

  it('are rules only where somebody says them; a question waits for 12 hours', () => {
    expect(picked(loaded().rules)).toEqual({ answerWithin: 12 * 3_600_000, costLimitSet: false });
    expect(
      Object.keys(loaded().rules).filter((key) => /^(?:forcedAgents|dayBudget|modelBudgets|atLimit|box)$/.test(key)),
    ).toEqual([]);
  });

  it('meet over layers, whatever a model is called', () => {
    const project =
      'budgets: { day: { maxTokens: 1000 }, model: { claude-opus-4-5: { maxCost: 3, maxTokens: 9 } }, atLimit: finish }\napprovals: { answerWithin: 24h }\n';
    expect(picked(loaded({ user: BUDGETS, project }).rules)).toEqual({
      day: { maxCost: 20, maxTokens: 1000 },
      models: [['anthropic/claude-opus-4-5-20251101', { maxCost: 3, maxTokens: 9 }]],
      atLimit: 'stop',
      answerWithin: 12 * 3_600_000,
      costLimitSet: true,
    });
    expect(loaded({ user: 'approvals: { answerWithin: 24h }\n' }).rules.answerWithin?.value).toBe(24 * 3_600_000);
  });

  it('name known models, and no durations', () => {
    expect(faults({ user: 'budgets: { model: { opsu-4.5: { maxCost: 1 } } }\n' })).toEqual([
      `${USER}:1:21: budgets.model names "opsu-4.5", which is not a known model — did you mean "opus-4.5"?`,
    ]);
    expect(faults({ user: 'budgets: { day: { maxDuration: 1h } }\n' })).toEqual([
      `${USER}:1:19: unknown key budgets.day.maxDuration — use one of: maxCost, maxTokens`,
    ]);
  });
});

describe('the box', () => {
  it('hides what any layer hides, and leaves writable what all of them do', () => {
    const { rules } = loaded({
      user: 'sandbox: { fs: { denyRead: [~/a], allowWrite: [src, test] } }\nenv: { passthrough: [JAVA_HOME] }\n',
      project: 'sandbox: { fs: { denyRead: [secrets], denyWrite: [deploy], allowWrite: [src] } }\n',
    });
    const { box } = rules;
    expect({
      denyRead: box?.denyRead.map(({ value, from }) => [value, from.rule]),
      denyWrite: box?.denyWrite.map(({ value }) => value),
      allowWrite: box?.allowWrite.map(({ value }) => value),
      passthrough: box?.passthrough.map(({ value }) => value),
    }).toEqual({
      denyRead: [
        ['~/a', 'sandbox.fs.denyRead: ~/a'],
        ['secrets', 'sandbox.fs.denyRead: secrets'],
      ],
      denyWrite: ['deploy'],
      allowWrite: [['src', 'test'], ['src']],
      passthrough: ['JAVA_HOME'],
    });
  });

  it('takes paths only, from a project only its own: a system folder that is hidden would leave no sandbox at all', () => {
    const fs = (text: string): string => `sandbox: { fs: { ${text} } }\n`;
    const outside = 'which is outside the project — name a path inside it';
    for (const written of ['/usr', '~/x', '../x', 'a/../../x']) {
      expect(faults({ project: fs(`denyRead: [${written}]`) })).toEqual([
        `.mimir/config.yml:1:29: denyRead names "${written}", ${outside}`,
      ]);
      expect(faults({ user: fs(`denyRead: [${written}]`) })).toEqual([]);
    }
    expect(faults({ project: fs('denyWrite: [/usr/lib]') })).toEqual([
      `.mimir/config.yml:1:30: denyWrite names "/usr/lib", ${outside}`,
    ]);
    for (const key of ['denyRead', 'denyWrite', 'allowWrite']) {
      expect(faults({ user: fs(`${key}: ["**/*.pem"]`) })).toEqual([
        holding(`${key} names "**/*.pem", but patterns are not supported — name each file or folder`),
      ]);
    }
  });

  it('passes on what an organisation lists as well, where it lists any', () => {
    const rules = rulesOf([
      someLayer('managed', { env: { passthrough: ['A', 'B'] } }),
      someLayer('user', { env: { passthrough: ['B', 'C'] } }),
    ]);
    expect(rules.box?.passthrough.map(({ value }) => value)).toEqual(['B']);
  });

  it('opens to commands what a person names, as far as an organisation does where it names any, and nothing for a project', () => {
    const opened = (...all: readonly (readonly ['managed' | 'user', readonly string[]])[]): unknown =>
      rulesOf(
        all.map(([name, allowRead]) => someLayer(name, { sandbox: { fs: { allowRead: [...allowRead] } } })),
      ).box?.allowRead?.map(({ value, from }) => [value, from.rule]);
    expect(opened(['user', ['~/sdk/', '/srv/data']])).toEqual([
      ['~/sdk', 'sandbox.fs.allowRead: ~/sdk/'],
      ['/srv/data', 'sandbox.fs.allowRead: /srv/data'],
    ]);
    const both = opened(['managed', ['/srv', '~/a/b']], ['user', ['/srv/data', '~/a', '~/sdk']]);
    expect(both).toEqual([
      ['/srv/data', 'sandbox.fs.allowRead: /srv/data'],
      ['~/a/b', 'sandbox.fs.allowRead: ~/a/b'],
    ]);
    expect(faults({ project: 'sandbox: { fs: { allowRead: [/srv] } }\n' })).toEqual([
      expect.stringContaining('sandbox.fs.allowRead cannot be set by a project'),
    ]);
    expect(faults({ user: 'sandbox: { fs: { allowRead: [sdk, ~/, ~/.ssh/id, "~/a*"] } }\n' })).toEqual([
      `${USER}:1:30: allowRead names "sdk", which is not outside the project — start it with / or ~/`,
      `${USER}:1:35: allowRead names "~/", which is too broad — name the folders that commands need`,
      `${USER}:1:39: allowRead names "~/.ssh/id", which contains credentials — name a folder without credentials`,
      `${USER}:1:50: allowRead names "~/a*", but patterns are not supported — name each file or folder`,
    ]);
  });

  it('has no place outside of the project to write, no odd names of variables, and no network yet', () => {
    expect(faults({ user: 'sandbox: { fs: { allowWrite: [../other] } }\n' })).toEqual([
      `${USER}:1:31: allowWrite names "../other", which is outside the project — name a path inside it`,
    ]);
    expect(faults({ user: 'env: { passthrough: ["A=B"] }\n' })).toEqual([
      `${USER}:1:22: env.passthrough[0] is not the name of a variable — use a variable name such as JAVA_HOME`,
    ]);
    expect(
      loaded({ user: 'sandbox: { network: { allowedDomains: [a.example] } }\nretention: { sessions: 90d }\n' }).notes,
    ).toEqual([
      `${USER}:1: sandbox.network.allowedDomains: commands have no network in this version`,
      `${USER}:2: retention.sessions: no session is deleted in this version`,
    ]);
    expect(faults({ project: 'env: { passthrough: [JAVA_HOME] }\n' })).toEqual([
      expect.stringContaining('env.passthrough cannot be set by a project'),
    ]);
  });
});

describe('lists of roles', () => {
  it('with none in common refuse the start, and all of them are named (A02)', () => {
    expect(
      faults({
        user: 'enforcement: { allowedSubAgents: [finder, oracle] }\n',
        project: '#\nenforcement: { allowedSubAgents: [reviewer] }\n',
      }),
    ).toEqual([
      `${PROJECT}:2:16: allowedSubAgents has no role in common with enforcement.allowedSubAgents: [finder, oracle] in ${USER}:1 — allow at least one role in all of these lists`,
    ]);
  });
});

describe('keys of the administrator', () => {
  it('can close all models that no list of the administrator’s names', () => {
    const closed = someLayer('managed', { enforcement: { modelsDefault: 'deny' } }, '/etc/mimir/policy.yml');
    const list = { enforcement: { allowedModels: ['o3'] } };
    const told = (...more: readonly Layer[]): readonly string[] =>
      modelLists([closed, ...more], []).faults.map(({ problem }) => problem);
    const nothing = ['modelsDefault is deny and no managed file has allowedModels, so no model may be used'];
    expect([
      told(),
      told(someLayer('user', list)),
      told(someLayer('managed', list, '/etc/mimir/policy.d/1.yml')),
    ]).toEqual([nothing, nothing, []]);
  });

  it('are nobody else’s', () => {
    expect(faults({ user: 'enforcement: { modelsDefault: deny }\n' })).toEqual([
      `${USER}:1:16: enforcement.modelsDefault is only allowed in the managed policy — remove it`,
    ]);
  });
});

describe('permissions', () => {
  it('are a grant: of the user and of managed files, refused in a project', () => {
    expect(loaded({ user: 'permissions: { edits: allow }\n' }).rules.permissions).toEqual({
      edits: { value: 'allow', from: { rule: 'permissions.edits: allow', layer: 'user', file: USER, line: 1 } },
    });
    expect(faults({ project: 'permissions: { edits: allow }\n' })).toEqual([
      expect.stringMatching(/^\.mimir\/config\.yml:1:16: permissions\.edits /),
    ]);
  });

  it('are held at ask by any layer, and by nothing loosened', () => {
    const held = { rule: 'enforcement.permissions.commands: ask', layer: 'project', file: PROJECT, line: 1 };
    const { rules } = loaded({
      user: 'permissions: { commands: allow }\n',
      project: 'enforcement: { permissions: { commands: ask } }\n',
    });
    expect(rules.permissionsHeld).toEqual({ commands: held });
    expect(faults({ user: 'enforcement: { permissions: { commands: allow } }\n' })).toEqual([
      `${USER}:1:31: enforcement.permissions.commands is "allow" — use one of: ask`,
    ]);
  });
});
