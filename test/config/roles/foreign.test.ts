/** Agents of other programs in the configuration: what may be written, where, and what becomes of it. */
import { describe, expect, it } from 'vitest';
import { foreignSetups } from '../../../src/config/index.ts';
import { loadConfig, type Loaded } from '../../../src/config/settings/load.ts';
import { faultText } from '../../../src/config/files/read-text.ts';
import { ModelId } from '../../../src/domain/ids.ts';
import { chooseModel, modelsOfRole } from '../../../src/policy/index.ts';
import { PACKAGE, somePlace } from '../some-place.ts';

type Files = Parameters<typeof somePlace>[0];

function load(files: Files, env: Readonly<Record<string, string>> = {}): Loaded | readonly string[] {
  const { home, project } = somePlace(files);
  const result = loadConfig({ packageRoot: PACKAGE, projectRoot: project, env: { HOME: home, ...env }, trusted: true });
  return result.ok ? result.value : result.fault.map(faultText);
}

function loaded(files: Files, env?: Readonly<Record<string, string>>): Loaded {
  const value = load(files, env);
  if (!('rules' in value)) throw new Error(value.join('\n'));
  return value;
}

const CLAUDE = 'agents: { claude: { acp: [claude-agent-acp] } }\n';

describe('an agent of another program in the configuration', () => {
  it('is a role that works in a tree of its own, by itself alone', () => {
    const { roles } = loaded({ user: CLAUDE });
    expect(roles.find(({ name }) => name === 'claude')).toMatchObject({
      description: 'The agent claude (claude-agent-acp), which works by itself in a tree of its own.',
      models: ['acp/claude'],
      capabilities: ['read', 'write', 'shell'],
      tree: 'own',
      planned: true,
      source: 'agents.claude',
    });
  });

  it('has the hosts and the login folder that are known by its name, or those that are written', () => {
    const user =
      'agents:\n  claude: { acp: [claude-agent-acp] }\n  gemini: { acp: [gemini, --acp], hosts: ["example.org:8443"] }\n  other: { acp: [/opt/other], env: [OTHER_KEY], mode: careful }\n';
    expect(foreignSetups(loaded({ user }).preferences)).toEqual([
      {
        name: 'claude',
        by: 'protocol',
        transcript: '.claude/projects',
        continues: ['--continue'],
        command: ['claude-agent-acp'],
        hosts: ['api.anthropic.com', 'platform.claude.com'],
        home: ['.claude', '.claude.json'],
        env: [],
        mode: null,
      },
      {
        name: 'gemini',
        by: 'protocol',
        transcript: null,
        continues: [],
        command: ['gemini', '--acp'],
        hosts: ['example.org:8443'],
        home: ['.gemini'],
        env: [],
        mode: null,
      },
      {
        name: 'other',
        by: 'protocol',
        transcript: null,
        continues: [],
        command: ['/opt/other'],
        hosts: [],
        home: [],
        env: ['OTHER_KEY'],
        mode: 'careful',
      },
    ]);
  });

  it('S094, S095, S117: works in a terminal where tmux or childAgents.command names its program', () => {
    const user =
      'agents: { codex: { tmux: [codex, --no-alt-screen] }, own: { tmux: [/opt/own], transcript: .own/logs } }\nclaude: { command: /opt/bin/Claude, args: [--fast] }\n';
    const { preferences, roles } = loaded({ user });
    const setups = foreignSetups(preferences);
    expect(setups.map(({ name, by, command, transcript }) => [name, by, command, transcript])).toEqual([
      ['claude', 'terminal', ['/opt/bin/Claude', '--fast'], '.claude/projects'],
      ['codex', 'terminal', ['codex', '--no-alt-screen'], '.codex/sessions'],
      ['own', 'terminal', ['/opt/own'], '.own/logs'],
    ]);
    expect(roles.find(({ name }) => name === 'codex')?.models).toEqual(['tmux/codex']);
  });

  it('gets the default model of children where its program is known to take one', () => {
    const commandOf = (command: string): readonly string[] | undefined =>
      foreignSetups(
        loaded({ user: `childAgents: { command: ${command}, args: [-x], defaultModel: opus }\n` }).preferences,
      )[0]?.command;
    expect([commandOf('claude'), commandOf('/opt/own')]).toEqual([
      ['claude', '--model', 'opus', '-x'],
      ['/opt/own', '-x'],
    ]);
  });

  it("S117: does not take a project's command", () => {
    expect(load({ project: 'childAgents: { command: /opt/own }\n' })).toEqual([
      expect.stringContaining('childAgents.command cannot be set by a project'),
    ]);
  });

  it('keeps its key out of what is written and shown', () => {
    const user = 'agents: { other: { acp: [other], env: [OTHER_KEY] } }\n';
    const { secrets } = loaded({ user }, { OTHER_KEY: 'a-key-of-the-other-agent' });
    expect(secrets).toContainEqual({ name: 'OTHER_KEY', value: 'a-key-of-the-other-agent' });
  });

  it("is not a project's to add", () => {
    expect(load({ project: CLAUDE })).toEqual([
      '.mimir/config.yml:1:21: agents.claude.acp cannot be set by a project — move it to your own config.yml (`mimir config show` prints its path)',
    ]);
  });

  it.each([
    ['agents: { code: { acp: [x] } }\n', 'agents.code: is also the name of a role (built-in) — choose another name'],
    ['agents: { c0de: { acp: [x] } }\n', 'agents.c0de: is also the name of a role (built-in) — choose another name'],
    ['agents: { other: { acp: [x], tmux: [y] } }\n', 'agents.other: has both acp and tmux — remove one of them'],
    ['agents: { other: { tmux: [x], transcript: /var/log } }\n', '~/.config/mimir/config.yml:1:'],
    ['agents: { other: { acp: [] } }\n', '~/.config/mimir/config.yml:1:'],
    ['agents: { other: { acp: [x], home: [../.ssh] } }\n', '~/.config/mimir/config.yml:1:'],
    ['agents: { other: { acp: [x], hosts: ["https://example.org"] } }\n', '~/.config/mimir/config.yml:1:'],
    ['agents: { other: { command: x } }\n', '~/.config/mimir/config.yml:1:'],
  ])('%s is refused', (user, fault) => {
    const faults = load({ user });
    expect(faults).toHaveLength(1);
    expect(Array.isArray(faults) ? faults[0] : '').toContain(fault);
  });
});

describe('the model of such a role', () => {
  /** The model that a role gets for what was asked, with this configuration. */
  const chosen = (user: string, name: string, asked: string | null): string => {
    const { rules, roles } = loaded({ user });
    const role = roles.find((one) => one.name === name);
    if (role === undefined) return 'no role';
    const usable = { yes: true } as const;
    const models = ['acp/claude', 'local/coder'].map((id) => ({
      id: ModelId.parse(id),
      label: id,
      aliases: [],
      window: 1000,
      outputLimit: 100,
      price: null,
      speed: 1,
      usable,
    }));
    const field = { rules, models, offlineOnly: false };
    const result = chooseModel({ ...field, role: name, asked, fallbacks: modelsOfRole(role, field) });
    return result.ok ? result.value.choice.used : result.fault.text;
  };

  it("is the agent, whatever is asked for, and it is no other role's", () => {
    expect(chosen(CLAUDE, 'claude', null)).toBe('acp/claude');
    expect(chosen(CLAUDE, 'claude', 'local/coder')).toBe('acp/claude');
    expect(chosen(CLAUDE, 'code', 'acp/claude')).toBe('local/coder');
  });

  it('is subject to the lists of models', () => {
    const listed = (list: string): string => chosen(`${CLAUDE}enforcement: { ${list} }\n`, 'claude', null);
    expect(listed('deniedModels: [acp/claude]')).toMatch(/^No model is left for claude/);
    expect(listed('allowedModels: [sonnet-4.5]')).toMatch(/^No model is left for claude/);
    expect(listed('allowedModels: [acp/claude]')).toBe('acp/claude');
  });

  it('is none where a limit of cost is set', () => {
    expect(chosen(`${CLAUDE}budgets: { run: { maxCost: 5 } }\n`, 'claude', null)).toMatch(
      /^No model is left for claude/,
    );
  });
});
